//! `ramp`: a rate that changes evenly from one value to another.

use super::Pattern;
use super::draw::{Process, poisson_bound};
use super::family::Family;
use super::period::{Period, mean};
use super::slope::Slope;
use super::spacing::{Even, Progression, Spacing};
use super::thinning::{Shape, Thinned};
use crate::params::Params;
use crate::rate::Rate;
use crate::traffic::{Context, Kind, Source};

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "ramp",
    summary: "A rate that changes evenly from one value to another.",
    recorded: false,
    open,
};

struct Ramp {
    start: Rate,
    end: Rate,
    period: Period,
    /// The requests by number, and when each is due, where they are evenly spaced.
    even: Option<(Even, Slope)>,
}

fn open(params: &mut Params, context: &mut Context) -> Option<Box<dyn Source>> {
    let start: Option<Rate> =
        params.required("start-rate", "How many requests all clients make together at `from`.");
    let end: Option<Rate> = params
        .required("end-rate", "How many they make at `until`; in between, the rate is a line.");
    let spacing = params.or(
        "spacing",
        Spacing::Even,
        "How requests lie: `even` makes request k, from 0, when k are due.",
    );
    let period = Period::read(params, context.window);
    let family = Family::read(params, context)?;
    let (start, end, period) = (start?, end?, period?);
    let even = match spacing {
        Spacing::Poisson => None,
        Spacing::Even => {
            let slope = Slope::new(start, end, period.until - period.from);
            let slope = slope.filter(|slope| slope.due(period.length()).is_some());
            let message = "the ramp is too long or its rates have too little in common for \
                           `spacing = \"even\"`";
            let help = "write both rates per the same span, such as \"1/s\" and \"50/s\", or set \
                        `spacing = \"poisson\"`";
            params.require("spacing", slope.is_some(), message, help);
            let slope = slope?;
            let requests = slope.due(period.length())?;
            let even = Even::new(&family.shares, 0, (1, 1), requests, requests, requests);
            Some((even, slope))
        }
    };
    Some(family.source(Ramp { start, end, period, even }))
}

/// The times of one client.
pub enum Times {
    /// Evenly spaced: which requests of all are the client's, and when they are due.
    Even {
        /// Their numbers.
        numbers: Progression,
        /// When each is due, from `from`.
        slope: Slope,
        /// Where the ramp starts.
        from: u64,
    },
    /// At random.
    Poisson(Thinned<Incline>),
}

impl Iterator for Times {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        match self {
            Times::Even { numbers, slope, from } => Some(*from + slope.time(numbers.next()?)),
            Times::Poisson(times) => times.next(),
        }
    }
}

/// The rate as a share of the highest.
#[derive(Debug, Clone, Copy)]
pub struct Incline {
    from: u64,
    length: f64,
    start: f64,
    end: f64,
}

impl Shape for Incline {
    fn share(&self, offset: u64) -> f64 {
        let part = (offset - self.from) as f64 / self.length;
        self.start + (self.end - self.start) * part
    }
}

impl Ramp {
    /// The rate at the highest end, and both as shares of it.
    fn peak(&self) -> (Rate, f64, f64) {
        let ratio = |of: Rate, to: Rate| {
            (of.count as f64 / to.count as f64) * (to.per.nanos() as f64 / of.per.nanos() as f64)
        };
        let product = |one: Rate, other: Rate| u128::from(one.count) * other.per.nanos() as u128;
        if product(self.start, self.end) >= product(self.end, self.start) {
            (self.start, 1.0, ratio(self.end, self.start))
        } else {
            (self.end, ratio(self.start, self.end), 1.0)
        }
    }
}

impl Pattern for Ramp {
    type Times = Times;

    fn times(&self, family: &Family, client: usize) -> Times {
        let Period { from, until, end } = self.period;
        if let Some((even, slope)) = &self.even {
            return Times::Even { numbers: even.times(family, client), slope: *slope, from };
        }
        let (peak, start, finish) = self.peak();
        let shape = Incline { from, length: (until - from) as f64, start, end: finish };
        let gap = family.shares.mean_gap(peak, client);
        let candidates = Process::new(family.arrivals(client), gap, from);
        Times::Poisson(Thinned::new(candidates, shape, end))
    }

    /// The mean is the area under the line.
    fn bound(&self, family: &Family) -> u64 {
        if let Some((even, _)) = &self.even {
            return even.total(family);
        }
        let Period { from, until, .. } = self.period;
        let length = self.period.length();
        let part = length as f64 / (until - from).max(1) as f64;
        let rise = mean(self.end, length) - mean(self.start, length);
        poisson_bound(mean(self.start, length) + rise * part / 2.0)
    }
}
