//! Made-up requests: when they come is a [`Pattern`], everything else about them a [`Family`].
//!
//! Every client of a source is a stream of its own, and so is every purpose for which it draws:
//! arrivals, endpoints and costs come from different random streams, so that a change of the costs
//! leaves the arrivals as they were. Merged traffic is the same streams, opened all at once.
//!
//! Inside this folder, time is an offset in nanoseconds from the start of the run.

pub mod burst;
pub mod on_off;
pub mod poisson;
pub mod ramp;
pub mod steady;
pub mod wave;

mod address;
mod cost;
mod draw;
mod family;
mod merge;
mod mix;
mod period;
mod population;
mod share;
mod slope;
mod spacing;
#[cfg(test)]
mod tests;
mod thinning;

use family::Family;
use merge::{Alone, Merged};

use super::{Arrival, Source, Times};
use crate::time::Instant;

/// When the clients of a source ask.
trait Pattern: Send + Sync + 'static {
    /// The times of one client, ascending: offsets from the start of the run.
    type Times: Iterator<Item = u64> + Send;

    /// Opens the times of a client.
    fn times(&self, family: &Family, client: usize) -> Self::Times;

    /// At most so many requests of all clients together.
    fn bound(&self, family: &Family) -> u64;
}

/// A source of made-up requests.
struct Synthetic<P> {
    family: Family,
    pattern: P,
}

impl<P: Pattern> Source for Synthetic<P> {
    fn streams(&self) -> usize {
        self.family.clients()
    }

    fn stream(&self, index: usize) -> Box<dyn Iterator<Item = Arrival> + Send + '_> {
        Box::new(Alone::open(&self.family, &self.pattern, index))
    }

    fn client(&self, index: usize) -> u32 {
        self.family.client(index)
    }

    fn first(&self, index: usize) -> Option<(Instant, u64)> {
        let offset = self.pattern.times(&self.family, index).next()?;
        Some((self.family.instant(offset), index as u64))
    }

    fn times(&self, index: usize) -> Box<dyn Times + Send + '_> {
        match self.has_costs() {
            true => Box::new(Alone::open(&self.family, &self.pattern, index)),
            false => Box::new(self.family.plain(self.pattern.times(&self.family, index))),
        }
    }

    fn has_costs(&self) -> bool {
        self.family.has_costs()
    }

    fn merged(&self) -> Box<dyn Iterator<Item = Arrival> + Send + '_> {
        match self.family.clients() {
            1 => self.stream(0),
            _ => Box::new(Merged::open(&self.family, &self.pattern)),
        }
    }

    fn bound(&self) -> u64 {
        self.pattern.bound(&self.family)
    }
}
