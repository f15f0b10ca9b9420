//! `poisson`: requests at random at a constant mean rate, every client for itself.

use super::Pattern;
use super::draw::{Process, poisson_bound};
use super::family::Family;
use super::period::{Period, mean};
use crate::params::Params;
use crate::rate::Rate;
use crate::traffic::{Context, Kind, Source};

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "poisson",
    summary: "A constant mean rate, at random: every client is a Poisson process.",
    recorded: false,
    open,
};

struct Poisson {
    rate: Rate,
    period: Period,
}

/// The times of one client.
pub struct Times {
    process: Process,
    end: u64,
}

fn open(params: &mut Params, context: &mut Context) -> Option<Box<dyn Source>> {
    let rate: Option<Rate> = params.required(
        "rate",
        "How many requests all clients make together, on average; a count of 0 makes none.",
    );
    let period = Period::read(params, context.window);
    let family = Family::read(params, context)?;
    Some(family.source(Poisson { rate: rate?, period: period? }))
}

impl Pattern for Poisson {
    type Times = Times;

    fn times(&self, family: &Family, client: usize) -> Times {
        let gap = family.shares.mean_gap(self.rate, client);
        let process = Process::new(family.arrivals(client), gap, self.period.from);
        Times { process, end: self.period.end }
    }

    fn bound(&self, _family: &Family) -> u64 {
        poisson_bound(mean(self.rate, self.period.length()))
    }
}

impl Iterator for Times {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.process.step()).filter(|&at| at < self.end)
    }
}
