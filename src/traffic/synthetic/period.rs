//! From when to when a source asks, within the run.

use crate::params::Params;
use crate::rate::Rate;
use crate::time::Span;
use crate::time::Window;

/// A half-open span of the run, in nanoseconds from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// The first offset.
    pub from: u64,
    /// The first offset after it, as the scenario has it; may lie beyond the run.
    pub until: u64,
    /// The first offset after it that is not part of the run; not before `from`.
    pub end: u64,
}

impl Period {
    /// Reads `from` and `until`. `None` after a problem was reported.
    pub fn read(params: &mut Params, window: Window) -> Option<Period> {
        let from = params.or("from", Span::ZERO, "When it starts, from the start of the run.");
        let until: Option<Span> = params.optional(
            "until",
            "When it ends, from the start of the run; nothing is sent at that instant any more. \
             By default at the end of the run.",
        );
        let run = window.span();
        let holds = until.is_none_or(|until| from < until);
        let good = params.require(
            "until",
            holds,
            format!("ends at {} but starts at {from}", until.unwrap_or(run)),
            "`until` must be later than `from`; both count from the start of the run",
        );
        let until = until.unwrap_or(run).nanos().max(from.nanos());
        let end = until.min(run.nanos()).max(from.nanos());
        good.then_some(Period { from: from.nanos(), until, end })
    }

    /// Its length as far as it is part of the run.
    pub fn length(self) -> u64 {
        self.end - self.from
    }
}

/// The mean number of requests in `length` nanoseconds.
pub fn mean(rate: Rate, length: u64) -> f64 {
    rate.count as f64 * (length as f64 / rate.per.nanos() as f64)
}
