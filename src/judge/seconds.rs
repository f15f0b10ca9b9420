//! Attempts counted in seconds from an origin, whatever their number in a few numbers.

use crate::time::{Instant, SECOND, Span};

/// Attempts by seconds from an origin, of which the last alone is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seconds {
    pub origin: Instant,
    pub index: u64,
    /// The end of the second at hand, the first instant that is not in it.
    end: Instant,
    /// Attempts in it ...
    pub count: u64,
    /// ... at most in one of those before it ...
    most: u64,
    /// ... and in all of those before it.
    total: u64,
}

impl Seconds {
    pub fn from(origin: Instant) -> Seconds {
        Seconds { origin, index: 0, end: end_of(origin, 0), count: 0, most: 0, total: 0 }
    }

    /// Counts attempts of one instant. Gives the second that is over by then, if one is, with its count.
    #[inline]
    pub fn add(&mut self, at: Instant, attempts: u64) -> Option<(u64, u64)> {
        let over = (at >= self.end).then(|| self.turn(at));
        self.count += attempts;
        over
    }

    /// Goes on to the second of an instant after the one at hand.
    fn turn(&mut self, at: Instant) -> (u64, u64) {
        let over = (self.index, self.count);
        (self.most, self.total) = (self.most(), self.total());
        self.index = (at - self.origin).nanos() / SECOND;
        self.end = end_of(self.origin, self.index);
        self.count = 0;
        over
    }

    /// The most attempts in any second.
    pub fn most(&self) -> u64 {
        self.most.max(self.count)
    }

    /// All attempts.
    pub fn total(&self) -> u64 {
        self.total + self.count
    }
}

/// When a second from an origin ends.
pub(super) fn end_of(start: Instant, index: u64) -> Instant {
    let nanos = (u128::from(index) + 1) * u128::from(SECOND);
    start + Span::try_from_nanos(nanos).unwrap_or(Span::MAX)
}
