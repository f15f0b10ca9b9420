//! What one key or one client meets with, attempt by attempt.

use super::subjects::SubjectTally;
use crate::algorithm::Wait;
use crate::rate::Limit;
use crate::time::{Instant, Span};

/// The course of one key or client through a run, told in time order.
///
/// There may be millions of them, and each attempt looks at one at random: they are one cache line long.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Course {
    pub attempts: u64,
    pub accepted: u64,
    pub rejected: u64,
    pub over_limit: u64,
    /// The first rejection since the last acceptance; [`NONE`] without any.
    locked_since: Instant,
    /// The last rejection.
    last: Instant,
    /// When that would have been let through; [`NONE`] for never.
    opens: Instant,
    longest_lockout: Span,
}

const _: () = assert!(size_of::<Course>() == 64);

/// No instant of a run.
const NONE: Instant = Instant(i64::MAX);

impl Default for Course {
    fn default() -> Course {
        Course {
            attempts: 0,
            accepted: 0,
            rejected: 0,
            over_limit: 0,
            locked_since: NONE,
            last: NONE,
            opens: NONE,
            longest_lockout: Span::ZERO,
        }
    }
}

impl Course {
    /// An attempt was let through; `over` tells whether it broke a limit.
    #[inline]
    pub fn accept(&mut self, at: Instant, over: bool) {
        self.accepted += 1;
        self.over_limit += u64::from(over);
        if self.locked_since != NONE {
            // Who comes back later than it was told to was not locked out in the meantime.
            let end = self.opens.min(at);
            self.longest_lockout = self.longest_lockout.max(end - self.locked_since);
            self.locked_since = NONE;
        }
    }

    /// An attempt was refused, and told to wait.
    #[inline]
    pub fn reject(&mut self, at: Instant, wait: Wait) {
        self.rejected += 1;
        self.locked_since = self.locked_since.min(at);
        self.last = at;
        self.opens = match wait {
            Wait::After(span) => at + span,
            Wait::Never => NONE,
        };
    }

    /// Whether no more attempts were decided than made; the rest is queued.
    pub fn is_sound(&self) -> bool {
        self.accepted + self.rejected <= self.attempts && self.over_limit <= self.accepted
    }

    /// The findings. A lockout that nothing ended lasted to the last rejection.
    pub fn finish(self, promise: Option<Limit>, peak: Option<u64>) -> SubjectTally {
        // No instant is after none, so this is no time at all where nothing is open.
        let open = self.last - self.locked_since;
        SubjectTally {
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
        subject.finish(None, None).longest_lockout.nanos()
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
