//! `on-off`: clients that ask for a while and are silent for a while, in turns.
//!
//! Requests are placed on the axis of active time, the time for which a client has been on, evenly or
//! at random; a [`Schedule`] says which time of the run that is.

use super::Pattern;
use super::draw::{Process, exponential, poisson_bound, unit};
use super::family::Family;
use super::period::{Period, mean};
use super::spacing::{Even, Progression, Spacing, before, phase};
use crate::params::{Choice, Params};
use crate::rate::Rate;
use crate::seed::Stream;
use crate::time::Span;
use crate::traffic::{Context, Kind, Source};

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "on-off",
    summary: "Clients that ask at a rate for a while and are silent for a while, in turns.",
    recorded: false,
    open,
};

/// More turns than this, drawn one by one for every client, take too long.
const MOST_TURNS: f64 = 1e9;

struct OnOff {
    rate: Rate,
    on: u64,
    off: u64,
    lengths: Lengths,
    phases: Phases,
    period: Period,
    /// The requests in active time, where they are evenly spaced.
    even: Option<Even>,
}

/// How long clients are on and off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lengths {
    Fixed,
    Exponential,
}

impl Choice for Lengths {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("fixed", Lengths::Fixed, "always as long as `on` and `off` say"),
        ("exponential", Lengths::Exponential, "at random, `on` and `off` being the means"),
    ];
}

/// Whether clients are on at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phases {
    Together,
    Spread,
}

impl Choice for Phases {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("together", Phases::Together, "all are on and off at the same times, at first on"),
        ("spread", Phases::Spread, "each for itself, at any time as many as at any other"),
    ];
}

fn open(params: &mut Params, context: &mut Context) -> Option<Box<dyn Source>> {
    let rate: Option<Rate> = params.required(
        "rate",
        "How many requests all clients make together while all are on. With `spacing = \"even\"` \
         request k, from 0, comes after `k * per / count` of active time.",
    );
    let on: Option<Span> = params.required("on", "How long a client asks.");
    let off: Option<Span> = params.required("off", "How long it is silent then.");
    let lengths = params.or("lengths", Lengths::Fixed, "Whether these spans are exact or means.");
    let spacing = params.or("spacing", Spacing::Even, "How requests lie while a client is on.");
    let phases = params.or("phase", Phases::Together, "Whether clients are on at the same time.");
    let period = Period::read(params, context.window);
    let family = Family::read(params, context);
    let positive = [("on", on), ("off", off)].map(|(name, span)| {
        let message = format!("`{name}` for no time at all");
        let help = "write a span such as \"10s\"; `steady` and `poisson` are never off";
        params.require(name, span != Some(Span::ZERO), message, help)
    });
    if positive.contains(&false) {
        return None;
    }
    let (rate, period, family) = (rate?, period?, family?);
    let (on, off) = (on?.nanos(), off?.nanos());
    let turns = period.length() as f64 / (on + off) as f64 * family.clients() as f64;
    let few = params.require(
        "on",
        lengths == Lengths::Fixed || turns <= MOST_TURNS,
        "the clients would be on more than a billion times",
        "make `on` and `off` longer, have fewer clients, or leave `lengths` at \"fixed\"",
    );
    if !few {
        return None;
    }
    let length = period.length();
    let even = (spacing == Spacing::Even).then(|| {
        let (span, count) = (rate.per.nanos(), rate.count);
        let requests = before(length, span, count);
        Even::new(&family.shares, 0, (span, count), requests, length, length)
    });
    Some(family.source(OnOff { rate, on, off, lengths, phases, period, even }))
}

/// The times of one client.
pub struct Times {
    active: Active,
    schedule: Schedule,
    end: u64,
}

/// Requests in active time.
enum Active {
    Even(Progression),
    Poisson(Process),
}

/// When a client is on.
enum Schedule {
    Fixed(Fixed),
    Random(Random),
}

/// A client that is on for `on` of every `cycle`.
struct Fixed {
    on: u64,
    cycle: u64,
    /// When it is on for the first time.
    first: u64,
    /// How long it has been on then.
    spent: u64,
}

/// A client whose turns are drawn one by one.
struct Random {
    stream: Stream,
    on: u64,
    off: u64,
    /// When the present turn began.
    begin: u64,
    length: u64,
    /// Active time before it.
    before: u64,
}

impl Iterator for Times {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let active = match &mut self.active {
            Active::Even(times) => times.next()?,
            Active::Poisson(process) => process.step(),
        };
        let at = match &mut self.schedule {
            Schedule::Fixed(fixed) => fixed.offset(active),
            Schedule::Random(random) => random.offset(active, self.end),
        };
        Some(at).filter(|&at| at < self.end)
    }
}

impl Fixed {
    /// `position` is how much of a cycle, which starts by being on, is over at `from`.
    fn new((on, off): (u64, u64), position: u64, from: u64) -> Fixed {
        let cycle = on + off;
        let waiting = position >= on;
        let wait = if waiting { cycle - position } else { 0 };
        let spent = if waiting { 0 } else { position };
        Fixed { on, cycle, first: from.saturating_add(wait), spent }
    }

    /// The offset of an active time; what lies beyond 2^63 is beyond every run.
    fn offset(&self, active: u64) -> u64 {
        let active = active.saturating_add(self.spent);
        let cycles = (active / self.on).saturating_mul(self.cycle);
        let past_first = cycles.saturating_add(active % self.on) - self.spent;
        self.first.saturating_add(past_first)
    }

    /// The active time before `end`.
    fn active(&self, end: u64) -> u64 {
        let past = u128::from(end.saturating_sub(self.first)) + u128::from(self.spent);
        let (cycle, on) = (u128::from(self.cycle), u128::from(self.on));
        let active = past / cycle * on + (past % cycle).min(on);
        (active - u128::from(self.spent)) as u64
    }
}

impl Random {
    fn draw(&mut self, mean: u64) -> u64 {
        (libm::round(exponential(&mut self.stream) * mean as f64) as u64).max(1)
    }

    /// A client that begins to be on at `from`, or, if `settled`, that has been at it for ever.
    fn new(stream: Stream, (on, off): (u64, u64), settled: bool, from: u64) -> Random {
        let mut random = Random { stream, on, off, begin: from, length: 0, before: 0 };
        // What is left of a turn is as long as a whole one: the distribution has no memory.
        let off_first = settled && unit(&mut random.stream) * (on + off) as f64 > on as f64;
        if off_first {
            random.begin = from.saturating_add(random.draw(off));
        }
        random.length = random.draw(on);
        random
    }

    /// The offset of an active time, not less than the last asked for; `u64::MAX` where it lies
    /// beyond the turns that begin before `end`.
    fn offset(&mut self, active: u64, end: u64) -> u64 {
        while active - self.before >= self.length {
            self.before += self.length;
            let pause = self.draw(self.off);
            self.begin = self.begin.saturating_add(self.length).saturating_add(pause);
            self.length = self.draw(self.on);
            if self.begin >= end {
                return u64::MAX;
            }
        }
        self.begin.saturating_add(active - self.before)
    }
}

impl OnOff {
    fn fixed(&self, client: usize) -> Fixed {
        let position = match self.phases {
            Phases::Together => 0,
            Phases::Spread => phase(client, self.on + self.off),
        };
        Fixed::new((self.on, self.off), position, self.period.from)
    }
}

impl Pattern for OnOff {
    type Times = Times;

    fn times(&self, family: &Family, client: usize) -> Times {
        let active = match &self.even {
            Some(even) => Active::Even(even.times(family, client)),
            None => {
                let gap = family.shares.mean_gap(self.rate, client);
                Active::Poisson(Process::new(family.arrivals(client), gap, 0))
            }
        };
        let spread = self.phases == Phases::Spread;
        let schedule = match self.lengths {
            Lengths::Fixed => Schedule::Fixed(self.fixed(client)),
            Lengths::Exponential => {
                // Clients that are on together draw the same turns.
                let stream = family.cycles(if spread { client } else { 0 });
                let turn = (self.on, self.off);
                Schedule::Random(Random::new(stream, turn, spread, self.period.from))
            }
        };
        Times { active, schedule, end: self.period.end }
    }

    /// For fixed lengths the active time is known, and with it the requests or their mean. For random
    /// ones it is bounded by all of the time, and by ten standard deviations above the mean of an
    /// alternating renewal process, and the longest turn that can be drawn, at its beginning.
    fn bound(&self, family: &Family) -> u64 {
        let length = self.period.length();
        if self.lengths == Lengths::Fixed {
            let active = |client| self.fixed(client).active(self.period.end);
            return match &self.even {
                Some(even) => (0..family.clients()).fold(0, |sum, client| {
                    sum.saturating_add(even.times(family, client).before(active(client)))
                }),
                None => poisson_bound(
                    (0..family.clients())
                        .map(|client| {
                            let gap = family.shares.mean_gap(self.rate, client);
                            active(client) as f64 / gap
                        })
                        .sum(),
                ),
            };
        }
        let always = match &self.even {
            Some(even) => even.total(family),
            None => poisson_bound(mean(self.rate, length)),
        };
        let (on, cycle) = (self.on as f64, (self.on + self.off) as f64);
        let share = on / cycle;
        let turns = length as f64 / cycle;
        let in_a_turn = mean(self.rate, self.on);
        let expected = mean(self.rate, length) * share;
        let deviation = in_a_turn * (1.0 - share) * libm::sqrt(2.0 * turns);
        let usual = expected + 40.0 * in_a_turn + 10.0 * deviation + family.clients() as f64;
        always.min(poisson_bound(usual))
    }
}
