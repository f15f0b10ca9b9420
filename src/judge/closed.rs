//! What becomes of requests where clients react to answers: the findings of a closed loop.

use super::distribution::Distribution;
use crate::server::Work;
use crate::time::{Instant, Span, Window};

/// What an attempt is to its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// The first.
    First,
    /// A later one; `obeys` tells whether it comes no sooner than a Retry-After told it to, because it was
    /// told so.
    Retry {
        /// Whether it obeys.
        obeys: bool,
    },
}

/// The findings of a closed loop beside those of its attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// From the first intended attempt to the answer, of requests that succeeded.
    pub time_to_success: Distribution,
    /// Retries that were rejected although they obeyed a Retry-After.
    pub broken_promises: u64,
    /// Attempts that were let through and turned away by a backend whose queue was full.
    pub turned_away: u64,
    /// Attempts that were let through, and whose client no longer waited when the answer came.
    pub abandoned: u64,
    /// Time of the backend's slots spent on answers, in nanoseconds ...
    pub worked: u128,
    /// ... and of that, on answers nobody waited for.
    pub wasted: u128,
    /// Time of the backend's slots spent on answers to rejected attempts, in nanoseconds.
    pub rejecting: u128,
}

impl Closed {
    /// Nothing happened yet in a run over `window`; `trigger` is what it may recover from.
    pub(super) fn new(_window: Window, _trigger: Option<Window>) -> Closed {
        Closed {
            time_to_success: Distribution::default(),
            broken_promises: 0,
            turned_away: 0,
            abandoned: 0,
            worked: 0,
            wasted: 0,
            rejecting: 0,
        }
    }

    /// An attempt is made; calls come in time order.
    pub(super) fn attempt(&mut self, _at: Instant) {}

    /// The backend's slot was busy for so long.
    pub(super) fn work(&mut self, work: Work, busy: Span, wasted: bool) {
        let nanos = u128::from(busy.nanos());
        match work {
            Work::Reject => self.rejecting += nanos,
            Work::Serve => {
                self.worked += nanos;
                self.wasted += if wasted { nanos } else { 0 };
            }
        }
    }
}
