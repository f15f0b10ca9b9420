//! Retry policies: the delay before each retry, before jitter. [`POLICIES`] lists them.
//!
//! A policy is a sequence of delays whose last one goes on for ever, worked out once when a scenario is
//! read, so that the delay before retry four million costs no more than the first and nothing can
//! overflow on the way there.
//!
//! # Adding one
//! A new file here with a `pub const POLICY: Policy`, one `mod` line below, one line in [`POLICIES`].
//! Its `delays` asks the [`Params`] for the policy's own options.

mod exponential;
mod fixed;
mod immediate;

use super::jitter::Jitter;
use crate::params::{Named, Params};
use crate::time::Span;

/// An entry of the registry.
#[derive(Debug)]
pub struct Policy {
    /// As written in a scenario.
    pub name: &'static str,
    /// One line for `ratesim list`.
    pub summary: &'static str,
    /// The delay before retry n, from n = 1.
    pub formula: &'static str,
    /// Where it is found.
    pub source: &'static str,
    /// The jitters that make sense with it.
    pub jitters: &'static [&'static str],
    /// Why others do not.
    pub unjittered: &'static str,
    /// Reads its options, given the jitter if that could be read; `None` for a policy that never retries.
    pub delays: Option<Delays>,
}

/// Reads the options of a policy. `None` after a problem was reported.
pub type Delays = fn(&mut Params, Option<&Jitter>) -> Option<Schedule>;

/// The registry, in the order in which policies are listed.
pub const POLICIES: &[Policy] = &[NONE, immediate::POLICY, fixed::POLICY, exponential::POLICY];

/// The policy of those who take no for an answer.
const NONE: Policy = Policy {
    name: "none",
    summary: "A request is one attempt, whatever becomes of it.",
    formula: "no retry",
    source: "the default of most HTTP libraries",
    jitters: &[],
    unjittered: "there is no delay to draw",
    delays: None,
};

impl Named for Policy {
    const WHAT: &'static str = "retry policy";

    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }
}

/// The delays of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The first, and those after it up to one that goes on for ever.
    first: Span,
    later: Vec<Span>,
    /// None is longer.
    pub cap: Span,
}

impl Schedule {
    /// The same delay before every retry.
    pub fn always(delay: Span) -> Schedule {
        Schedule { first: delay, later: Vec::new(), cap: delay }
    }

    /// The delay before retry `n`, from 1.
    pub fn delay(&self, n: u32) -> Span {
        let index = (n as usize).saturating_sub(2).min(self.later.len().saturating_sub(1));
        match self.later.get(index) {
            Some(delay) if n > 1 => *delay,
            _ => self.first,
        }
    }

    /// The delay before the first retry.
    pub fn base(&self) -> Span {
        self.first
    }
}
