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

/// The breaker of one node.
#[derive(Debug, Clone)]
pub struct Breaker {
    spec: BreakerSpec,
    failures: u32,
    /// Until when it is open, since it was opened; `None` while it is closed.
    open_until: Option<Instant>,
    /// Whether the single call is under way.
    trying: bool,
    /// How often it was opened.
    pub trips: u64,
}

impl Breaker {
    /// Closed.
    pub fn new(spec: BreakerSpec) -> Breaker {
        Breaker { spec, failures: 0, open_until: None, trying: false, trips: 0 }
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

    /// A call was answered.
    pub fn succeeded(&mut self) {
        *self = Breaker { trips: self.trips, ..Breaker::new(self.spec) };
    }

    /// A call was not answered.
    pub fn failed(&mut self, at: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.trying || (self.open_until.is_none() && self.failures >= self.spec.failures) {
            self.open_until = Some(at + self.spec.open_for);
            self.trying = false;
            self.trips += 1;
        }
    }
}
