//! Trailing windows of attempts that all cost 1, by lag: with A the instants of acceptance, the n-th brings the
//! window above L if and only if A[n] - A[n-L] < W. One load and one comparison an attempt, and nothing to expire.

use super::Bins;
use super::heights::Heights;
use crate::algorithm::Segment;
use crate::judge::Peak;
use crate::rate::Limit;
use crate::time::Instant;

/// The window of the key at hand.
#[derive(Debug, Clone, Default)]
pub(super) struct Lag {
    limit: usize,
    width: u64,
    /// Instants of acceptance, at least all of the trailing window and as many as the limit and the peak reach back.
    passed: Vec<i64>,
    /// The most in any window so far ...
    most: usize,
    /// ... with the first and the last acceptance of that window.
    reached: (i64, i64),
    /// The last bin that knows what the window carries into it.
    seen: usize,
}

/// So many instants that nobody looks at any more are put up with before they are dropped.
const SLACK: usize = 1 << 12;

impl Lag {
    pub fn begin(&mut self, promise: Limit) {
        self.limit = usize::try_from(promise.requests).unwrap_or(usize::MAX);
        self.width = promise.per.nanos();
        self.passed.clear();
        self.most = 0;
        self.seen = 0;
    }

    /// Becomes what another is.
    pub fn copy(&mut self, other: &Lag) {
        self.passed.clear();
        self.passed.extend_from_slice(&other.passed);
        let passed = std::mem::take(&mut self.passed);
        *self = Lag { passed, ..*other };
    }

    /// The highest window; `None` before the first acceptance.
    pub fn peak(&self) -> Option<Peak> {
        let (from, to) = self.reached;
        let peak = Peak { cost: self.most as u64, from: Instant(from), to: Instant(to) };
        (self.most > 0).then_some(peak)
    }

    /// Takes in acceptances, of which `base` attempts come before; `segments` are those of the first of them and of
    /// all after it. Gives how many were above the limit.
    #[inline]
    pub fn accept(
        &mut self,
        bins: &Bins,
        times: &[i64],
        base: usize,
        segments: &[Segment],
        heights: &mut Heights,
    ) -> u64 {
        self.forget();
        let first = self.passed.len();
        self.passed.extend_from_slice(times);
        let (passed, width) = (&self.passed[..], self.width);
        let mut most = self.most;
        for n in first.max(most)..passed.len() {
            if n >= most && within(passed[n], passed[n - most], width) {
                while n >= most && within(passed[n], passed[n - most], width) {
                    most += 1;
                }
                self.reached = (passed[n + 1 - most], passed[n]);
            }
        }
        self.most = most;
        let over = match most > self.limit {
            true => self.over(first, base, segments, heights),
            false => 0,
        };
        if most as u64 > heights.floor {
            self.raise(bins, first, base, segments, heights);
        }
        over
    }

    /// How many of the acceptances from `first` on were above the limit.
    fn over(&self, first: usize, base: usize, segments: &[Segment], heights: &mut Heights) -> u64 {
        let passed = &self.passed[..];
        let (mut from, mut all) = (first, 0);
        for segment in segments {
            let to = (first + segment.end as usize - base).min(passed.len());
            let range = from.max(self.limit)..to;
            let is_over = |&n: &usize| within(passed[n], passed[n - self.limit], self.width);
            let over = range.filter(is_over).count() as u64;
            heights.over[segment.bin as usize] += over;
            all += over;
            from = to;
            if to == passed.len() {
                break;
            }
        }
        all
    }

    /// Raises the bins up to that of the last acceptance; those from `first` on are new.
    fn raise(
        &mut self,
        bins: &Bins,
        first: usize,
        base: usize,
        segments: &[Segment],
        heights: &mut Heights,
    ) {
        let mut from = first;
        for segment in segments {
            let bin = segment.bin as usize;
            self.carry(bins, from, bin, heights);
            let passed = &self.passed[..];
            let to = (first + segment.end as usize - base).min(passed.len());
            let highest = &mut heights.highest[bin];
            // The bin's highest may be that of another key.
            if self.most as u64 > *highest {
                let mut high = *highest as usize;
                for n in from.max(high)..to {
                    while n >= high && within(passed[n], passed[n - high], self.width) {
                        high += 1;
                    }
                }
                *highest = high as u64;
            }
            from = to;
            if to == passed.len() {
                return;
            }
        }
    }

    /// Raises the bins after the last one seen, up to `bin`, to what the first acceptances, so many, carry into them.
    fn carry(&mut self, bins: &Bins, count: usize, bin: usize, heights: &mut Heights) {
        if bin <= self.seen {
            return;
        }
        let next = std::mem::replace(&mut self.seen, bin) + 1;
        let Some(&last) = self.passed[..count].last() else { return };
        for bin in next.max(bins.index(last) + 1)..=bin {
            let start = bins.start(bin);
            if !within(start, last, self.width) {
                return;
            }
            let highest = &mut heights.highest[bin];
            if self.most as u64 > *highest {
                let mut high = *highest as usize;
                while let Some(index) = count.checked_sub(high + 1)
                    && within(start, self.passed[index], self.width)
                {
                    high += 1;
                }
                *highest = high as u64;
            }
        }
    }

    /// Raises the bins to the end of the run.
    pub fn end(&mut self, bins: &Bins, heights: &mut Heights) {
        if self.most as u64 > heights.floor {
            self.carry(bins, self.passed.len(), bins.count - 1, heights);
        }
    }

    /// How many of some attempts after the last acceptance would have kept the window at or below the limit.
    pub fn with_room(&self, times: &[i64]) -> u64 {
        let Some(index) = self.passed.len().checked_sub(self.limit) else {
            return times.len() as u64;
        };
        let Some(&oldest) = self.passed.get(index) else { return 0 };
        let full = match times {
            [.., last] if within(*last, oldest, self.width) => times.len(),
            _ => times.partition_point(|&at| within(at, oldest, self.width)),
        };
        (times.len() - full) as u64
    }

    /// Drops what nothing reaches back to.
    #[inline]
    fn forget(&mut self) {
        let reach = self.limit.max(self.most).saturating_add(1);
        if self.passed.len() > reach.saturating_add(SLACK) {
            self.passed.drain(..self.passed.len() - reach);
        }
    }
}

/// Whether a time lies less than a width after an earlier one.
#[inline]
fn within(at: i64, earlier: i64, width: u64) -> bool {
    (at.wrapping_sub(earlier) as u64) < width
}
