//! `steady`: requests at a constant rate, evenly spaced.

use super::Pattern;
use super::family::Family;
use super::period::Period;
use super::spacing::{Even, Progression, before};
use crate::params::Params;
use crate::rate::Rate;
use crate::traffic::{Context, Kind, Source};

/// The entry of the registry.
pub const KIND: Kind =
    Kind { name: "steady", summary: "A constant rate, evenly spaced.", recorded: false, open };

struct Steady {
    even: Even,
}

fn open(params: &mut Params, context: &mut Context) -> Option<Box<dyn Source>> {
    let rate: Option<Rate> = params.required(
        "rate",
        "How many requests all clients make together. Request k, from 0, comes at \
         `from + k * per / count`, rounded down to the nanosecond; a count of 0 makes none.",
    );
    let period = Period::read(params, context.window);
    let family = Family::read(params, context)?;
    let (Rate { count, per }, period) = (rate?, period?);
    let requests = before(period.length(), per.nanos(), count);
    let spacing = (per.nanos(), count);
    let (length, end) = (period.length(), period.end);
    let even = Even::new(&family.shares, period.from, spacing, requests, length, end);
    Some(family.source(Steady { even }))
}

impl Pattern for Steady {
    type Times = Progression;

    fn times(&self, family: &Family, client: usize) -> Progression {
        self.even.times(family, client)
    }

    fn bound(&self, family: &Family) -> u64 {
        self.even.total(family)
    }
}
