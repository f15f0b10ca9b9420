//! What one key or one client meets with, attempt by attempt.

use super::tally::{Peak, SubjectTally};
use crate::algorithm::Wait;
use crate::rate::Limit;
use crate::time::{Instant, Span};

/// The course of one key or client through a run, told in time order.
#[derive(Debug, Clone, Default)]
pub(super) struct Course {
    pub attempts: u64,
    pub accepted: u64,
    pub rejected: u64,
    pub over_limit: u64,
    locked: Option<Lockout>,
    longest_lockout: Span,
}

/// What began with the first rejection since the last acceptance.
#[derive(Debug, Clone, Copy)]
struct Lockout {
    /// The first rejection.
    since: Instant,
    /// The last one.
    last: Instant,
    /// When the last one would have been let through; `None` for never.
    opens: Option<Instant>,
}

impl Course {
    /// An attempt was let through; `over` tells whether it broke a limit.
    #[inline]
    pub fn accept(&mut self, at: Instant, over: bool) {
        self.accepted += 1;
        self.over_limit += u64::from(over);
        if let Some(Lockout { since, opens, .. }) = self.locked.take() {
            // Who comes back later than it was told to was not locked out in the meantime.
            let end = opens.map_or(at, |opens| opens.min(at));
            self.longest_lockout = self.longest_lockout.max(end - since);
        }
    }

    /// An attempt was refused, and told to wait.
    #[inline]
    pub fn reject(&mut self, at: Instant, wait: Wait) {
        self.rejected += 1;
        let since = self.locked.map_or(at, |lockout| lockout.since);
        let opens = match wait {
            Wait::After(span) => Some(at + span),
            Wait::Never => None,
        };
        self.locked = Some(Lockout { since, last: at, opens });
    }

    /// Whether no more attempts were decided than made; the rest is queued.
    pub fn is_sound(&self) -> bool {
        self.accepted + self.rejected <= self.attempts && self.over_limit <= self.accepted
    }

    /// The findings. A lockout that nothing ended lasted to the last rejection.
    pub fn finish(self, name: String, promise: Option<Limit>, peak: Option<Peak>) -> SubjectTally {
        let open = self.locked.map_or(Span::ZERO, |lockout| lockout.last - lockout.since);
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

    /// The longest lockout of a course of acceptances (`None`) and rejections, each with its wait.
    fn lockout(course: &[(i64, Option<Wait>)]) -> u64 {
        let mut subject = Course::default();
        for &(at, rejected) in course {
            match rejected {
                None => subject.accept(Instant(at), false),
                Some(wait) => subject.reject(Instant(at), wait),
            }
        }
        subject.finish(String::new(), None, None).longest_lockout.nanos()
    }

    const LONG: Option<Wait> = Some(Wait::After(Span::from_nanos(1000)));
    const NEVER: Option<Wait> = Some(Wait::Never);

    #[test]
    fn a_lockout_lasts_from_the_first_rejection_to_the_next_acceptance() {
        assert_eq!(lockout(&[(0, None), (3, LONG), (5, LONG), (9, None)]), 9 - 3);
        assert_eq!(lockout(&[(2, LONG), (9, None), (10, NEVER), (12, None)]), 9 - 2);
    }

    #[test]
    fn who_comes_back_late_was_locked_out_until_it_might_have_come() {
        let two = Some(Wait::After(Span::from_nanos(2)));
        assert_eq!(lockout(&[(0, None), (3, LONG), (5, two), (900, None)]), 5 + 2 - 3);
    }

    #[test]
    fn a_lockout_that_nothing_ends_lasts_to_the_last_rejection() {
        assert_eq!(lockout(&[(0, None), (3, LONG), (5, LONG), (9, LONG)]), 9 - 3);
        assert_eq!(lockout(&[(4, LONG)]), 0);
        assert_eq!(lockout(&[(1, LONG), (8, None), (20, LONG), (25, NEVER)]), 8 - 1);
    }

    #[test]
    fn who_is_never_refused_is_never_locked_out() {
        assert_eq!(lockout(&[]), 0);
        assert_eq!(lockout(&[(0, None), (100, None)]), 0);
    }
}
