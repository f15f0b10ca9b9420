//! `burst`: a number of requests at one instant, or spread evenly over a span.

use super::Pattern;
use super::family::Family;
use super::spacing::{Even, Progression};
use crate::params::Params;
use crate::time::Span;
use crate::traffic::{Context, Kind, Source};

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "burst",
    summary: "A number of requests at one instant, or spread evenly over a span.",
    recorded: false,
    open,
};

struct Burst {
    even: Even,
}

fn open(params: &mut Params, context: &mut Context) -> Option<Box<dyn Source>> {
    let at = params.or("at", Span::ZERO, "When it starts, from the start of the run.");
    let requests: Option<u64> =
        params.required("requests", "How many requests all clients make together.");
    let over = params.or(
        "over",
        Span::ZERO,
        "Over how long they are spread: request i of n, from 0, comes at `at + i * over / n`, \
         rounded down to the nanosecond. By default all come at once.",
    );
    let family = Family::read(params, context)?;
    let (requests, over) = (requests?, over.nanos());
    let end = context.window.span().nanos();
    let even = Even::new(&family.shares, at.nanos(), (over, requests), requests, over, end);
    Some(family.source(Burst { even }))
}

impl Pattern for Burst {
    type Times = Progression;

    fn times(&self, family: &Family, client: usize) -> Progression {
        self.even.times(family, client)
    }

    fn bound(&self, family: &Family) -> u64 {
        self.even.total(family)
    }
}
