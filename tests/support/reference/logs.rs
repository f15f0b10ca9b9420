//! The logs: everything that passed, in lists and sets.

use std::collections::BTreeSet;

use ratesim::rate::Limit;
use ratesim::seed::{Seed, Stream, below};

use super::{Common, Outcome, Rule, outcome};

/// Everything that passed.
pub struct Log {
    limit: Limit,
    common: Common,
    closed: bool,
    passed: Vec<(i64, u32)>,
}

impl Log {
    pub fn new(limit: Limit, common: Common, closed: bool) -> Log {
        Log { limit, common, closed, passed: Vec::new() }
    }

    fn counts(&self, stamp: i64, at: i64) -> bool {
        let age = i128::from(at) - i128::from(stamp);
        let width = i128::from(self.limit.per.signed());
        if self.closed { age <= width } else { age < width }
    }
}

impl Rule for Log {
    fn attempt(&mut self, now: i64, cost: u32) -> Outcome {
        let newest = self.passed.iter().map(|&(stamp, _)| stamp).max();
        let at = self.common.at(now, newest);
        let inside = self.passed.iter().filter(|&&(stamp, _)| self.counts(stamp, at));
        let held: u64 = inside.map(|&(_, cost)| u64::from(cost)).sum();
        let fits = held + u64::from(cost) <= self.limit.requests;
        if fits || self.common.counts_denials {
            if !self.common.freezes && !self.common.rewinds {
                let kept = self.passed.iter().copied().filter(|&(s, _)| self.counts(s, at));
                self.passed = kept.collect();
            }
            self.passed.push((if self.common.freezes { at } else { now }, cost));
        }
        outcome(fits)
    }
}

/// Everything that passed, by names of which none is there twice: a stamp, and what follows it.
pub struct NamedLog {
    limit: Limit,
    common: Common,
    closed: bool,
    names: BTreeSet<(i64, u64)>,
    /// Where what follows is drawn from, unless it is always the same.
    draws: Option<Stream>,
}

/// For the first key, from when a stamp newer than all before comes.
fn draws(stamp: i64) -> Stream {
    Seed(0).draws("state").part(0, stamp as u64)
}

impl NamedLog {
    pub fn new(limit: Limit, common: Common, closed: bool, draws_suffixes: bool) -> NamedLog {
        let draws = draws_suffixes.then(|| draws(0));
        NamedLog { limit, common, closed, names: BTreeSet::new(), draws }
    }
}

impl Rule for NamedLog {
    fn attempt(&mut self, now: i64, cost: u32) -> Outcome {
        let newest = self.names.last().map(|&(stamp, _)| stamp);
        let at = self.common.at(now, newest);
        let width = i128::from(self.limit.per.signed()) + i128::from(self.closed);
        let counts = |stamp: i64| i128::from(at) - i128::from(stamp) < width;
        let held = self.names.iter().filter(|&&(stamp, _)| counts(stamp)).count() as u64;
        let fits = held + u64::from(cost) <= self.limit.requests;
        if fits || self.common.counts_denials {
            if !self.common.freezes && !self.common.rewinds {
                self.names.retain(|&(stamp, _)| counts(stamp));
            }
            let stamp = if self.common.freezes { at } else { now };
            match &mut self.draws {
                None => drop(self.names.insert((stamp, 0))),
                Some(stream) => {
                    if newest.is_none_or(|newest| newest < stamp) {
                        *stream = draws(stamp);
                    }
                    self.names.extend((0..cost).map(|_| (stamp, below(stream, 100_000))));
                }
            }
        }
        outcome(fits)
    }
}
