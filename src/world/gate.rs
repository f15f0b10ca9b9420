//! The limits of one run acting together: what becomes of an attempt under all of them.

use super::keys::Met;
use crate::algorithm::{Footprint, Limiter, Verdict, Wait};
use crate::scenario::Combine;
use crate::time::{Reading, Span};

/// What the limits decided together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// It passes now.
    Admit,
    /// It passes after a span longer than zero.
    Queue(Span),
    /// It does not pass.
    Deny {
        /// Bit i: whether the limit of the i-th key refused.
        refused: u64,
        /// How long until all limits would admit it.
        wait: Wait,
    },
}

/// By limit and variant (the limit itself, then its tiers), the configured algorithm.
pub type Limiters = Vec<Vec<Box<dyn Limiter>>>;

/// The states of all limits.
pub(super) struct Gate {
    combine: Combine,
    limiters: Limiters,
    /// By limit and key, the key's number within its variant's limiter.
    local: Vec<Vec<u32>>,
    /// By limit and variant, how many keys its limiter has.
    counts: Vec<Vec<u32>>,
}

impl Gate {
    pub(super) fn new(combine: Combine, limiters: Limiters) -> Gate {
        let counts = limiters.iter().map(|variants| vec![0; variants.len()]).collect();
        let local = limiters.iter().map(|_| Vec::new()).collect();
        Gate { combine, limiters, local, counts }
    }

    /// Makes room for a key that was met first.
    pub(super) fn meet(&mut self, met: &Met) {
        let count = &mut self.counts[met.limit][met.variant];
        self.limiters[met.limit][met.variant].reserve(*count as usize);
        self.local[met.limit].push(*count);
        *count += 1;
    }

    /// Decides an attempt that is counted under `keys`, and charges it.
    pub(super) fn decide(&mut self, keys: &[Met], now: Reading) -> Decision {
        match self.combine {
            Combine::AllOrNothing => self.all_or_nothing(keys, now),
            Combine::Sequential => self.one_by_one(keys, now, true),
            Combine::Independent => self.one_by_one(keys, now, false),
        }
    }

    fn all_or_nothing(&mut self, keys: &[Met], now: Reading) -> Decision {
        let mut queued = Span::ZERO;
        let mut refused = 0;
        for (index, met) in keys.iter().enumerate() {
            let (limiter, key) = self.of(met);
            match limiter.check(key, now, met.cost) {
                Verdict::Admit => {}
                Verdict::Queue(span) => queued = queued.max(span),
                Verdict::Deny => refused |= 1 << index,
            }
        }
        let mut wait = Wait::After(Span::ZERO);
        for (index, met) in keys.iter().enumerate() {
            let (limiter, key) = self.of(met);
            if refused == 0 {
                limiter.charge(key, now, met.cost);
            } else if refused & (1 << index) != 0 {
                limiter.deny(key, now, met.cost);
                wait = wait.max(limiter.wait(key, now, met.cost));
            }
        }
        decision(refused, queued, wait)
    }

    fn one_by_one(&mut self, keys: &[Met], now: Reading, stop_at_refusal: bool) -> Decision {
        let mut queued = Span::ZERO;
        let mut refused = 0;
        let mut wait = Wait::After(Span::ZERO);
        for (index, met) in keys.iter().enumerate() {
            let (limiter, key) = self.of(met);
            let verdict = limiter.check(key, now, met.cost);
            if verdict == Verdict::Deny {
                refused |= 1 << index;
                limiter.deny(key, now, met.cost);
                wait = wait.max(limiter.wait(key, now, met.cost));
                if stop_at_refusal {
                    break;
                }
                continue;
            }
            limiter.charge(key, now, met.cost);
            if let Verdict::Queue(span) = verdict {
                queued = queued.max(span);
            }
        }
        decision(refused, queued, wait)
    }

    /// What a key's state takes at `now`, and from when on it may be forgotten.
    pub(super) fn kept(&mut self, met: &Met, now: Reading) -> (Footprint, Option<Reading>) {
        let (limiter, key) = self.of(met);
        (limiter.footprint(key, now), limiter.neutral_from(key))
    }

    fn of(&mut self, met: &Met) -> (&mut dyn Limiter, usize) {
        let key = self.local[met.limit][met.key] as usize;
        (self.limiters[met.limit][met.variant].as_mut(), key)
    }
}

fn decision(refused: u64, queued: Span, wait: Wait) -> Decision {
    match (refused, queued) {
        (0, Span::ZERO) => Decision::Admit,
        (0, span) => Decision::Queue(span),
        (refused, _) => Decision::Deny { refused, wait },
    }
}
