//! One algorithm, as one thread runs it.

use crate::algorithm::{Batch, Decided, Limiter};
use crate::world::{Plan, Rules};

/// An algorithm over histories.
pub(super) struct Lane {
    /// By variant: the limit itself, then its tiers.
    limiters: Vec<Box<dyn Limiter>>,
    decided: Decided,
}

impl Lane {
    /// `units` if all attempts cost 1.
    pub fn new(plan: &Plan, mut rules: Rules, units: bool) -> Lane {
        rules.seed(plan.seed);
        let limiters = rules.limiters.into_iter().flatten().next().unwrap_or_default();
        let quick = |limiter: Box<dyn Limiter>| match limiter.in_time_order().filter(|_| units) {
            Some(quick) => quick,
            None => limiter,
        };
        let limiters = limiters.into_iter().map(quick).collect();
        Lane { limiters, decided: Decided::default() }
    }

    /// Decides a batch of keys of one variant.
    pub fn decide(&mut self, variant: usize, batch: &Batch) {
        self.limiters[variant].replay(batch, &mut self.decided);
    }

    /// What was decided on the last batch.
    pub fn decided(&self) -> &Decided {
        &self.decided
    }
}
