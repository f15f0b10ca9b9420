//! A run cut into a bounded number of bins of equal length.

use super::load::Second;
use crate::time::Window;
use crate::time::{DAY, Instant, Span, round_lengths};

/// The bins of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The start of the first bin.
    pub start: Instant,
    /// The length of a bin.
    pub width: Span,
    /// The bins.
    pub bins: Vec<Bin>,
}

/// What happened in one bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bin {
    /// Attempts made.
    pub offered: u64,
    /// Of these, retries; in a closed loop only, as the next four.
    pub retries: u64,
    /// The most first attempts in any second of the run that begins in the bin ...
    pub first_in_second: u64,
    /// ... and the most retries.
    pub retries_in_second: u64,
    /// Requests that succeeded.
    pub succeeded: u64,
    /// Requests that were given up.
    pub gave_up: u64,
    /// Attempts accepted (for those that queued: when they left the queue).
    pub accepted: u64,
    /// Attempts rejected.
    pub rejected: u64,
    /// Accepted attempts over a limit.
    pub over_limit: u64,
    /// The largest trailing-window cost of any one key of the first limit seen inside the bin, at an
    /// acceptance or carried in from before.
    pub window_max: u64,
    /// Keys with a state that a store may not forget yet, at some time within the bin.
    pub keys: u64,
    /// Entries of their states.
    pub entries: u64,
    /// Bytes of their states.
    pub bytes: u64,
    /// Calls of the store; in a fleet only, as all that follow.
    pub calls: u64,
    /// Calls of which it was learnt in the bin that there is no answer.
    pub failed_calls: u64,
    /// Attempts accepted without any decision.
    pub unlimited: u64,
    /// Attempts rejected for the store's sake.
    pub turned_down: u64,
    /// Attempts decided by a node's own fallback.
    pub fell_back: u64,
    /// The most keys in the store, at some time within the bin ...
    pub keys_in_store: u64,
    /// ... and the most of those that never expire.
    pub stuck_keys: u64,
}

impl Timeline {
    /// At most so many bins.
    pub const MOST: u64 = 600;

    /// Empty bins over a run: the shortest round length that needs no more than [`Timeline::MOST`].
    pub fn over(window: Window) -> Timeline {
        let width = round_length(window.span().nanos().div_ceil(Timeline::MOST));
        let count = window.span().nanos().div_ceil(width).max(1);
        Timeline {
            start: window.start,
            width: Span::from_nanos(width),
            bins: vec![Bin::default(); count as usize],
        }
    }

    /// The bin of an instant within the run.
    pub fn index(&self, at: Instant) -> usize {
        ((at - self.start).nanos() / self.width.nanos()) as usize
    }

    /// Takes in a second of the run that is over.
    pub(super) fn note(&mut self, second: Second) {
        let bin = self.index(second.start);
        let bin = &mut self.bins[bin];
        bin.first_in_second = bin.first_in_second.max(second.first);
        bin.retries_in_second = bin.retries_in_second.max(second.retries);
    }

    /// The first bin that starts at an instant or later, but at most `most`.
    pub fn first_from(&self, at: Instant, most: usize) -> usize {
        // Mostly far ahead, which saves a division.
        if at >= self.start_of(most) {
            return most;
        }
        (at - self.start).nanos().div_ceil(self.width.nanos()) as usize
    }

    /// When a bin starts.
    pub fn start_of(&self, bin: usize) -> Instant {
        self.start + Span::from_nanos(self.width.nanos() * bin as u64)
    }
}

/// The least round length, or whole number of days, that is not below `nanos`.
fn round_length(nanos: u64) -> u64 {
    round_lengths().find(|&length| length >= nanos).unwrap_or_else(|| nanos.div_ceil(DAY) * DAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND;

    #[test]
    fn three_minutes_are_cut_into_half_seconds() {
        let start = Instant::parse("12:00:00").unwrap();
        let window = Window { start, end: start + Span::from_secs(180) };
        let timeline = Timeline::over(window);
        assert_eq!(timeline.width.to_string(), "500ms");
        assert_eq!(timeline.bins.len(), 360);
        assert_eq!(timeline.index(start + Span::parse("59.9s").unwrap()), 119);
    }

    #[test]
    fn no_run_has_more_bins_than_it_should() {
        for nanos in [1, 599, 600, 601, 59 * SECOND, 86_400 * SECOND, 3_650 * 86_400 * SECOND] {
            let window = Window { start: Instant(0), end: Instant(nanos as i64) };
            let timeline = Timeline::over(window);
            assert!((1..=600).contains(&timeline.bins.len()), "{nanos}");
            assert!(timeline.index(Instant(nanos as i64 - 1)) < timeline.bins.len());
        }
    }
}
