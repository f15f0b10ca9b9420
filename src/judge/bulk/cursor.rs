//! Where in the lists of what an algorithm decided on a batch the history at hand is told of.

use std::ops::Range;

use crate::algorithm::{Decided, Run};

/// The place of a history in what one algorithm decided.
#[derive(Debug, Clone, Default)]
pub(super) struct Cursor {
    /// Its runs: none if nothing was denied.
    pub runs: Range<usize>,
    /// The first of its departures, where there is a queue.
    pub leaves: usize,
    /// How many of its attempts were let through.
    passed: usize,
}

impl Cursor {
    /// Goes on to the history with this number, of so many attempts.
    #[inline]
    pub fn advance(&mut self, decided: &Decided, number: usize, attempts: usize) {
        let outcome = decided.outcomes[number];
        self.runs = self.runs.end..outcome.runs_end as usize;
        self.leaves += self.passed;
        self.passed = attempts - outcome.denied as usize;
    }

    /// The runs of the history.
    #[inline]
    pub fn runs<'a>(&self, decided: &'a Decided) -> &'a [Run] {
        &decided.runs[self.runs.clone()]
    }
}
