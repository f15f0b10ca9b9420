//! `wave`: a rate that rises and falls through the day, at random.

use std::f64::consts::TAU;

use super::Pattern;
use super::draw::{Process, poisson_bound};
use super::family::Family;
use super::period::{Period, mean};
use super::thinning::{Shape, Thinned};
use crate::params::Params;
use crate::rate::Rate;
use crate::time::Span;
use crate::traffic::{Context, Kind, Source};

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "wave",
    summary: "A rate that rises and falls through the day as a cosine, at random.",
    recorded: false,
    open,
};

struct Wave {
    rate: Rate,
    crest: Crest,
    period: Period,
}

/// The rate is `mean * (1 + amplitude * cos(2 pi (t - peak) / length))`.
#[derive(Debug, Clone, Copy)]
pub struct Crest {
    amplitude: f64,
    /// From one crest to the next, in nanoseconds.
    length: u64,
    /// The first crest of the run, below `length`.
    peak: u64,
}

fn open(params: &mut Params, context: &mut Context) -> Option<Box<dyn Source>> {
    let rate: Option<Rate> = params.required(
        "rate",
        "How many requests all clients make together, on average over a whole wave.",
    );
    let amplitude = params.or(
        "amplitude",
        0.5,
        "How far the rate rises and falls, as a part of the mean: 0 not at all, 1 down to nothing.",
    );
    let length =
        params.or("period", Span::from_secs(86_400), "How long a whole wave is, crest to crest.");
    let peak: Option<Span> = params.optional(
        "peak",
        "When the rate is highest, from the start of the run; by default half a period after it.",
    );
    let period = Period::read(params, context.window);
    let good = [
        params.require(
            "amplitude",
            (0.0..=1.0).contains(&amplitude),
            format!("an amplitude of {amplitude}"),
            "write a number from 0 to 1",
        ),
        params.require(
            "period",
            length > Span::ZERO,
            "a wave of no length",
            "write a span such as \"24h\"",
        ),
    ];
    let peak = peak.unwrap_or(Span::from_nanos(length.nanos() / 2));
    params.resolve("peak", peak.to_string().into());
    let family = Family::read(params, context)?;
    if good.contains(&false) {
        return None;
    }
    let length = length.nanos();
    let crest = Crest { amplitude, length, peak: peak.nanos() % length };
    Some(family.source(Wave { rate: rate?, crest, period: period? }))
}

impl Crest {
    /// How far an offset is behind a crest, as an angle.
    fn angle(self, offset: u64) -> f64 {
        let at = offset % self.length;
        let behind = if at >= self.peak { at - self.peak } else { at + self.length - self.peak };
        TAU * (behind as f64 / self.length as f64)
    }
}

impl Shape for Crest {
    fn share(&self, offset: u64) -> f64 {
        (1.0 + self.amplitude * libm::cos(self.angle(offset))) / (1.0 + self.amplitude)
    }
}

impl Pattern for Wave {
    type Times = Thinned<Crest>;

    fn times(&self, family: &Family, client: usize) -> Thinned<Crest> {
        let gap = family.shares.mean_gap(self.rate, client) / (1.0 + self.crest.amplitude);
        let candidates = Process::new(family.arrivals(client), gap, self.period.from);
        Thinned::new(candidates, self.crest, self.period.end)
    }

    /// The mean is the integral of the rate.
    fn bound(&self, _family: &Family) -> u64 {
        let Period { from, end, .. } = self.period;
        let sine = |offset| libm::sin(self.crest.angle(offset));
        let swing = self.crest.amplitude * mean(self.rate, self.crest.length) / TAU;
        let flat = mean(self.rate, self.period.length());
        poisson_bound((flat + swing * (sine(end) - sine(from))).max(0.0))
    }
}
