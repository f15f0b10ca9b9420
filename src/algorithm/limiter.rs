//! One algorithm over the states of many keys, behind an object-safe face with a blanket
//! implementation, so that an engine is compiled once and dispatches once a decision or a chunk.

use super::{Algorithm, Batch, Decided, Footprint, Verdict, Wait};
use crate::fetch::fetch;
use crate::seed::{Draws, Seed};
use crate::time::{Reading, Span};

/// An algorithm with the states of its keys, which are numbered from 0 in the order in which they
/// were first seen.
pub trait Limiter: Send {
    /// What its states draw from, if they draw anything; told before there are any.
    fn seed(&mut self, seed: Seed);

    /// Makes room for keys up to and including `key`.
    fn reserve(&mut self, key: usize);

    /// See [`Algorithm::check`].
    fn check(&self, key: usize, now: Reading, cost: u32) -> Verdict;

    /// See [`Algorithm::wait`]; asked after [`Limiter::deny`].
    fn wait(&self, key: usize, now: Reading, cost: u32) -> Wait;

    /// See [`Algorithm::charge`].
    fn charge(&mut self, key: usize, now: Reading, cost: u32);

    /// See [`Algorithm::as_of`].
    fn as_of(&self, key: usize, now: Reading) -> Reading;

    /// See [`Algorithm::owe`].
    fn owe(&mut self, key: usize, now: Reading, cost: u32);

    /// See [`Algorithm::deny`].
    fn deny(&mut self, key: usize, now: Reading, cost: u32);

    /// See [`Algorithm::denial_writes`].
    fn denial_writes(&self, key: usize) -> bool;

    /// Decides and charges an attempt that nobody else has a say in: all of the above in one call.
    fn settle(&mut self, key: usize, now: Reading, cost: u32) -> Settled;

    /// What is kept of a key.
    fn kept(&self, key: usize, now: Reading) -> Kept;

    /// The state of key `to` becomes that of key `from`.
    fn copy(&mut self, from: usize, to: usize);

    /// The state of a key becomes that of one that was never seen.
    fn forget(&mut self, key: usize);

    /// Has the states of keys fetched from memory, as they will be needed before long.
    fn fetch(&self, keys: &[u32]);

    /// See [`Algorithm::in_time_order`]; for a clock of full resolution.
    fn in_time_order(&self) -> Option<Box<dyn Limiter>>;

    /// Decides the next batch of histories. No other call but this is made of a limiter of which this is.
    fn replay(&mut self, batch: &Batch, decided: &mut Decided);
}

/// What became of an attempt under one limit alone, and what is kept of its key then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// What was said of it.
    pub verdict: Verdict,
    /// How long until it would have been admitted; no time at all for one that was not denied.
    pub wait: Wait,
    /// What is kept.
    pub kept: Kept,
}

/// What is kept of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// See [`Algorithm::footprint`].
    pub footprint: Footprint,
    /// See [`Algorithm::neutral_from`].
    pub neutral_from: Option<Reading>,
}

impl Kept {
    /// For how long after `now` it matters; `None` for ever.
    pub fn matters(&self, now: Reading) -> Option<Span> {
        let left = |neutral: Reading| (i128::from(neutral.0) - i128::from(now.0)).max(0) as u128;
        self.neutral_from.map(|neutral| Span::saturating(left(neutral)))
    }
}

/// The blanket implementation of [`Limiter`], with the clock's resolution applied around the rule.
pub struct Keyed<A: Algorithm> {
    pub(super) algorithm: A,
    pub(super) tick: i64,
    pub(super) draws: Draws,
    pub(super) states: Vec<A::State>,
    /// Room for the states after attempts that are decided together.
    pub(super) trail: Vec<A::State>,
}

impl<A: Algorithm> Keyed<A> {
    /// No keys yet; `tick` is the clock's resolution, at least 1 ns.
    pub fn new(algorithm: A, tick: Span) -> Keyed<A> {
        let draws = Seed(0).draws("state");
        Keyed {
            algorithm,
            tick: tick.signed().max(1),
            draws,
            states: Vec::new(),
            trail: Vec::new(),
        }
    }

    /// The reading as a clock of this resolution shows it.
    pub(super) fn cut(&self, now: Reading) -> Reading {
        match self.tick {
            1 => now,
            tick => Reading(now.0.div_euclid(tick).saturating_mul(tick)),
        }
    }

    /// A span that ends on a tick.
    fn round_up(&self, span: Span) -> Option<Span> {
        match self.tick as u64 {
            1 => Some(span),
            tick => {
                Span::try_from_nanos(u128::from(span.nanos().div_ceil(tick)) * u128::from(tick))
            }
        }
    }

    // What the rule says of a state at a reading that was cut down, as the clock's resolution makes of it.

    #[inline]
    pub(super) fn checked(&self, state: &A::State, now: Reading, cost: u32) -> Verdict {
        match self.algorithm.check(state, now, cost) {
            Verdict::Queue(span) => Verdict::Queue(self.round_up(span).unwrap_or(Span::MAX)),
            verdict => verdict,
        }
    }

    #[inline]
    pub(super) fn waits(&self, state: &A::State, now: Reading, cost: u32) -> Wait {
        match self.algorithm.wait(state, now, cost) {
            Wait::After(span) => self.round_up(span).map_or(Wait::Never, Wait::After),
            Wait::Never => Wait::Never,
        }
    }

    #[inline]
    pub(super) fn neutral(&self, state: &A::State) -> Option<Reading> {
        let reading = self.algorithm.neutral_from(state)?;
        // The first reading that, cut down, is not before it.
        Some(match self.tick {
            1 => reading,
            tick => {
                let ticks = reading.0.div_euclid(tick) + i64::from(reading.0.rem_euclid(tick) != 0);
                Reading(ticks.saturating_mul(tick))
            }
        })
    }
}

impl<A: Algorithm> Limiter for Keyed<A> {
    fn seed(&mut self, seed: Seed) {
        self.draws = seed.draws("state");
    }

    fn reserve(&mut self, key: usize) {
        while self.states.len() <= key {
            self.states.push(self.algorithm.fresh_of(self.states.len(), self.draws));
        }
    }

    fn check(&self, key: usize, now: Reading, cost: u32) -> Verdict {
        self.checked(&self.states[key], self.cut(now), cost)
    }

    fn wait(&self, key: usize, now: Reading, cost: u32) -> Wait {
        self.waits(&self.states[key], self.cut(now), cost)
    }

    fn charge(&mut self, key: usize, now: Reading, cost: u32) {
        let now = self.cut(now);
        self.algorithm.charge(&mut self.states[key], now, cost);
    }

    fn as_of(&self, key: usize, now: Reading) -> Reading {
        self.algorithm.as_of(&self.states[key], self.cut(now))
    }

    fn owe(&mut self, key: usize, now: Reading, cost: u32) {
        let now = self.cut(now);
        self.algorithm.owe(&mut self.states[key], now, cost);
    }

    fn deny(&mut self, key: usize, now: Reading, cost: u32) {
        let now = self.cut(now);
        self.algorithm.deny(&mut self.states[key], now, cost);
    }

    fn denial_writes(&self, key: usize) -> bool {
        self.algorithm.denial_writes(&self.states[key])
    }

    fn settle(&mut self, key: usize, now: Reading, cost: u32) -> Settled {
        let (cut, state) = (self.cut(now), &self.states[key]);
        let verdict = self.checked(state, cut, cost);
        let wait = if verdict == Verdict::Deny {
            self.algorithm.deny(&mut self.states[key], cut, cost);
            self.waits(&self.states[key], cut, cost)
        } else {
            self.algorithm.charge(&mut self.states[key], cut, cost);
            Wait::After(Span::ZERO)
        };
        let state = &self.states[key];
        let footprint = self.algorithm.footprint(state, cut);
        Settled { verdict, wait, kept: Kept { footprint, neutral_from: self.neutral(state) } }
    }

    fn kept(&self, key: usize, now: Reading) -> Kept {
        let state = &self.states[key];
        let footprint = self.algorithm.footprint(state, self.cut(now));
        Kept { footprint, neutral_from: self.neutral(state) }
    }

    fn copy(&mut self, from: usize, to: usize) {
        self.states[to] = self.states[from].clone();
    }

    fn forget(&mut self, key: usize) {
        self.states[key] = self.algorithm.fresh_of(key, self.draws);
    }

    fn fetch(&self, keys: &[u32]) {
        fetch(keys.iter().map(|&key| {
            let reading = self.algorithm.neutral_from(&self.states[key as usize]);
            reading.map_or(0, |reading| reading.0 as u64)
        }));
    }

    fn in_time_order(&self) -> Option<Box<dyn Limiter>> {
        self.algorithm.in_time_order().filter(|_| self.tick == 1)
    }

    fn replay(&mut self, batch: &Batch, decided: &mut Decided) {
        self.decide(batch, decided);
    }
}
