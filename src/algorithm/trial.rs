//! A limiter of one key for the tests of the algorithms, asked and told as an engine does it.

use std::sync::Arc;

use super::{Footprint, Limiter, Verdict, Wait, find};
use crate::error::{Problems, Source};
use crate::params::{Node, Params};
use crate::rate::{Limit, Rate};
use crate::time::{Reading, Span};

pub(super) const MS: i64 = 1_000_000;
pub(super) const SEC: i64 = 1_000 * MS;

/// What an attempt was told: it passes after so many nanoseconds, or is denied.
pub(super) type Told = Result<u64, Wait>;

/// Denied, and told to come again after so many nanoseconds.
pub(super) fn wait(nanos: i64) -> Told {
    Err(Wait::After(Span::from_nanos(nanos as u64)))
}

/// Denied for ever.
pub(super) const NEVER: Told = Err(Wait::Never);

pub(super) struct Trial {
    limiter: Box<dyn Limiter>,
}

impl Trial {
    /// `limit` as in `"100/60s"`, `burst` as many if it is none, `options` as in a scenario.
    pub(super) fn new(name: &str, limit: &str, burst: Option<u64>, options: &str) -> Trial {
        let Rate { count, per } = Rate::parse(limit).unwrap();
        let limit = Limit { requests: count, per, burst: burst.unwrap_or(count) };
        let source = Source { name: "options".to_owned(), text: options.to_owned() };
        let problems = Problems::new();
        let node = Node::parse(Arc::new(source), &problems);
        let mut params = Params::new(&node, &problems);
        let limiter = find(name).unwrap().limiter(&limit, &mut params);
        params.finish();
        problems.into_result().unwrap();
        let mut limiter = limiter.unwrap();
        limiter.reserve(0);
        Trial { limiter }
    }

    pub(super) fn ask_for(&mut self, now: i64, cost: u32) -> Told {
        let now = Reading(now);
        let verdict = self.limiter.check(0, now, cost);
        if verdict == Verdict::Deny {
            self.limiter.deny(0, now, cost);
            return Err(self.limiter.wait(0, now, cost));
        }
        self.limiter.charge(0, now, cost);
        match verdict {
            Verdict::Queue(span) => Ok(span.nanos()),
            _ => Ok(0),
        }
    }

    /// As many as `cost` of one each pass by decisions made elsewhere.
    pub(super) fn owe(&mut self, now: i64, cost: u32) {
        (0..cost).for_each(|_| self.limiter.owe(0, Reading(now), 1));
    }

    pub(super) fn ask(&mut self, now: i64) -> Told {
        self.ask_for(now, 1)
    }

    /// As a store does when the time of the key has come.
    pub(super) fn forget(&mut self) {
        self.limiter.forget(0);
    }

    /// How many of `count` attempts at `now` pass.
    pub(super) fn flood(&mut self, now: i64, count: usize) -> usize {
        (0..count).filter(|_| self.ask(now).is_ok()).count()
    }

    /// Those of `times` at which an attempt passes.
    pub(super) fn passing(&mut self, times: impl IntoIterator<Item = i64>) -> Vec<i64> {
        times.into_iter().filter(|&now| self.ask(now).is_ok()).collect()
    }

    /// The largest cost that would pass at `now`, which is what is left.
    pub(super) fn left(&self, now: i64) -> u32 {
        let denied = |&cost: &u32| self.limiter.check(0, Reading(now), cost + 1) == Verdict::Deny;
        (0..).find(denied).unwrap()
    }

    pub(super) fn footprint(&self, now: i64) -> Footprint {
        self.limiter.kept(0, Reading(now)).footprint
    }

    pub(super) fn neutral_from(&self) -> Option<i64> {
        self.limiter.kept(0, Reading(0)).neutral_from.map(|reading| reading.0)
    }
}
