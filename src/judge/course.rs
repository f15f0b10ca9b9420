//! What one key or one client meets with, attempt by attempt.

use super::tally::{Peak, SubjectTally};
use crate::rate::Limit;
use crate::time::{Instant, Span};

/// The course of one key or client through a run, told in time order.
#[derive(Debug, Clone, Default)]
pub(super) struct Course {
    pub attempts: u64,
    pub accepted: u64,
    pub rejected: u64,
    pub over_limit: u64,
    /// The first and the last rejection since the last acceptance.
    locked: Option<(Instant, Instant)>,
    longest_lockout: Span,
}

impl Course {
    /// An attempt was let through; `over` tells whether it broke a limit.
    #[inline]
    pub fn accept(&mut self, at: Instant, over: bool) {
        self.accepted += 1;
        self.over_limit += u64::from(over);
        if let Some((since, _)) = self.locked.take() {
            self.longest_lockout = self.longest_lockout.max(at - since);
        }
    }

    /// An attempt was refused.
    #[inline]
    pub fn reject(&mut self, at: Instant) {
        self.rejected += 1;
        let since = self.locked.map_or(at, |(since, _)| since);
        self.locked = Some((since, at));
    }

    /// Whether no more attempts were decided than made; the rest is queued.
    pub fn is_sound(&self) -> bool {
        self.accepted + self.rejected <= self.attempts && self.over_limit <= self.accepted
    }

    /// The findings. A lockout that nothing ended lasted to the last rejection.
    pub fn finish(self, name: String, promise: Option<Limit>, peak: Option<Peak>) -> SubjectTally {
        let open = self.locked.map_or(Span::ZERO, |(since, last)| last - since);
        SubjectTally {
            name,
            promise,
            attempts: self.attempts,
            accepted: self.accepted,
            rejected: self.rejected,
            over_limit: self.over_limit,
            peak,
            longest_lockout: self.longest_lockout.max(open),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest lockout of a course of acceptances (`true`) and rejections.
    fn lockout(course: &[(i64, bool)]) -> u64 {
        let mut subject = Course::default();
        for &(at, accepted) in course {
            if accepted { subject.accept(Instant(at), false) } else { subject.reject(Instant(at)) }
        }
        subject.finish(String::new(), None, None).longest_lockout.nanos()
    }

    #[test]
    fn a_lockout_lasts_from_the_first_rejection_to_the_next_acceptance() {
        assert_eq!(lockout(&[(0, true), (3, false), (5, false), (9, true)]), 9 - 3);
        assert_eq!(lockout(&[(2, false), (9, true), (10, false), (12, true)]), 9 - 2);
    }

    #[test]
    fn a_lockout_that_nothing_ends_lasts_to_the_last_rejection() {
        assert_eq!(lockout(&[(0, true), (3, false), (5, false), (9, false)]), 9 - 3);
        assert_eq!(lockout(&[(4, false)]), 0);
        assert_eq!(lockout(&[(1, false), (8, true), (20, false), (25, false)]), 8 - 1);
    }

    #[test]
    fn who_is_never_refused_is_never_locked_out() {
        assert_eq!(lockout(&[]), 0);
        assert_eq!(lockout(&[(0, true), (100, true)]), 0);
    }
}
