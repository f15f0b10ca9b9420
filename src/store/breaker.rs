//! The circuit breaker of a node: after so many failures in a row it makes no calls for a while.

use crate::params::Params;
use crate::time::{Instant, Span};

/// The `[store.breaker]` table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerSpec {
    /// So many calls in a row without an answer open it.
    pub failures: u32,
    /// How long it then stays open. After that a single call is tried, while others still fail at once.
    pub open_for: Span,
}

impl BreakerSpec {
    pub(super) const MEANING: &str = "The circuit breaker of each node. Left out: there is none.";

    /// Reads the table. Something stands in for what could not be read.
    pub(super) fn read(params: &mut Params) -> BreakerSpec {
        let failures = params.within(1..=u64::from(u32::MAX)).or(
            "failures",
            5,
            "After so many calls in a row without an answer, a node makes none for a while.",
        );
        let open_for = params.or(
            "open-for",
            Span::from_secs(10),
            "How long; after that it tries a single call, which ends or renews this.",
        );
        params.require(
            "open-for",
            open_for != Span::ZERO,
            "a breaker that opens for no time at all",
            "write a span such as \"10s\"",
        );
        BreakerSpec { failures, open_for: open_for.max(Span::from_nanos(1)) }
    }
}

/// The breaker of one node. While it is open, how calls end that were made before says nothing: only that of the
/// single call does. Calls are not told apart, so where `open_for` is shorter than a call may take, one that was made
/// before and ends while the single call is under way counts as that one.
#[derive(Debug, Clone)]
pub struct Breaker {
    spec: BreakerSpec,
    /// Calls in a row without an answer, while it is closed.
    failures: u32,
    /// Until when it is open, since it was opened; `None` while it is closed.
    open_until: Option<Instant>,
    /// Whether the single call is under way.
    trying: bool,
}

impl Breaker {
    /// Closed.
    pub fn new(spec: BreakerSpec) -> Breaker {
        Breaker { spec, failures: 0, open_until: None, trying: false }
    }

    /// Whether a call may be made at `at`; if so it must be told how that ended.
    pub fn allows(&mut self, at: Instant) -> bool {
        match self.open_until {
            None => true,
            Some(until) if at < until || self.trying => false,
            Some(_) => {
                self.trying = true;
                true
            }
        }
    }

    /// Whether calls are made as they come.
    pub fn is_closed(&self) -> bool {
        self.open_until.is_none()
    }

    /// A call was answered.
    pub fn succeeded(&mut self) {
        if self.counts() {
            *self = Breaker::new(self.spec);
        }
    }

    /// A call was not answered; returns whether that opened it.
    pub fn failed(&mut self, at: Instant) -> bool {
        if !self.counts() {
            return false;
        }
        self.failures = self.failures.saturating_add(1);
        let opens = self.trying || self.failures >= self.spec.failures;
        if opens {
            *self = Breaker::new(self.spec);
            self.open_until = Some(at + self.spec.open_for);
        }
        opens
    }

    /// Whether it matters how a call ends.
    fn counts(&self) -> bool {
        self.open_until.is_none() || self.trying
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens after 3 failures, for 10 ns.
    fn breaker() -> Breaker {
        Breaker::new(BreakerSpec { failures: 3, open_for: Span::from_nanos(10) })
    }

    /// A breaker that was opened at 0.
    fn open() -> Breaker {
        let mut breaker = breaker();
        assert_eq!([(); 3].map(|()| breaker.failed(Instant(0))), [false, false, true]);
        breaker
    }

    #[test]
    fn three_failures_in_a_row_open_it_and_a_success_between_them_starts_anew() {
        let mut breaker = breaker();
        for ends in [false, false, true, false, false] {
            assert!(breaker.allows(Instant(0)));
            match ends {
                true => breaker.succeeded(),
                false => assert!(!breaker.failed(Instant(0))),
            }
        }
        assert!(breaker.allows(Instant(0)));
        assert!(breaker.failed(Instant(1)));
        assert!(!breaker.allows(Instant(1)) && !breaker.allows(Instant(10)));
    }

    #[test]
    fn after_a_while_a_single_call_is_made_whose_success_closes_it() {
        let mut breaker = open();
        assert!(!breaker.allows(Instant(9)));
        assert!(breaker.allows(Instant(10)));
        assert!(!breaker.allows(Instant(10)) && !breaker.allows(Instant(100)));
        breaker.succeeded();
        assert!(breaker.allows(Instant(100)) && breaker.allows(Instant(100)));
        // And three more failures are needed.
        (0..2).for_each(|_| assert!(!breaker.failed(Instant(100))));
        assert!(breaker.allows(Instant(100)));
        assert!(breaker.failed(Instant(100)));
        assert!(!breaker.allows(Instant(100)));
    }

    #[test]
    fn a_single_call_that_fails_opens_it_for_as_long_again() {
        let mut breaker = open();
        assert!(breaker.allows(Instant(15)));
        assert!(breaker.failed(Instant(20)));
        assert!(!breaker.allows(Instant(29)));
        assert!(breaker.allows(Instant(30)));
    }

    #[test]
    fn what_was_called_before_it_opened_neither_closes_it_nor_keeps_it_open() {
        let mut breaker = open();
        breaker.succeeded();
        assert!(!breaker.allows(Instant(5)));
        (0..9).for_each(|_| assert!(!breaker.failed(Instant(9))));
        assert!(breaker.allows(Instant(10)));
    }
}
