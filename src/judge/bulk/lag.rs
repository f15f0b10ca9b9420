//! Trailing windows of attempts that all cost 1, by lag: with A the instants of acceptance, the n-th brings the
//! window above L if and only if A[n] - A[n-L] < W. One load and one comparison an attempt, and nothing to expire.

use std::ops::Range;

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
    /// How many of them were looked at.
    settled: usize,
    /// The most in any window so far ...
    most: usize,
    /// ... with the first and the last acceptance of that window.
    reached: (i64, i64),
    /// The last bin that knows what the window carries into it.
    seen: usize,
    /// Segments of acceptances; kept to reuse their memory.
    segments: Vec<Segment>,
}

/// So many instants that nobody looks at any more are put up with before they are dropped.
const SLACK: usize = 1 << 12;

impl Lag {
    pub fn begin(&mut self, promise: Limit) {
        self.limit = usize::try_from(promise.requests).unwrap_or(usize::MAX);
        self.width = promise.per.nanos();
        self.passed.clear();
        self.settled = 0;
        self.most = 0;
        self.seen = 0;
    }

    /// Becomes what another is.
    pub fn copy(&mut self, other: &Lag) {
        self.passed.clear();
        self.passed.extend_from_slice(&other.passed);
        (self.limit, self.width) = (other.limit, other.width);
        (self.settled, self.most, self.reached) = (other.settled, other.most, other.reached);
        self.seen = other.seen;
    }

    /// The highest window; `None` before the first acceptance.
    pub fn peak(&self) -> Option<Peak> {
        let (from, to) = self.reached;
        let peak = Peak { cost: self.most as u64, from: Instant(from), to: Instant(to) };
        (self.most > 0).then_some(peak)
    }

    /// Takes in acceptances, which are looked at when all of a history are known.
    #[inline]
    pub fn accept(&mut self, times: &[i64]) {
        match times {
            [at] => self.passed.push(*at),
            times => self.passed.extend_from_slice(times),
        }
    }

    /// Looks at the acceptances since this was done last. Gives how many were above the limit.
    pub fn settle(&mut self, bins: &Bins, heights: &mut Heights) -> u64 {
        let first = self.settled;
        if first == self.passed.len() {
            return 0;
        }
        self.settled = self.passed.len();
        let (passed, width) = (&self.passed[..], self.width);
        let mut most = self.most;
        let mut next = first.max(most);
        while next < passed.len() {
            // Few windows are higher than all before.
            let later = &passed[next..];
            let lower = count_lower(later, &passed[next - most..], width);
            let Some(&at) = later.get(lower) else { break };
            next += lower;
            while next >= most && within(at, passed[next - most], width) {
                most += 1;
            }
            self.reached = (passed[next + 1 - most], at);
            next += 1;
        }
        self.most = most;
        let over = if most > self.limit { self.tell_over(bins, first, heights) } else { 0 };
        self.raise(bins, first, heights);
        self.forget();
        over
    }

    /// How many bins may rise by acceptances from `first` on.
    #[inline]
    fn may_rise(&self, first: usize, heights: &Heights) -> usize {
        heights.may_rise(self.most as u64, |height| {
            let height = usize::try_from(height).unwrap_or(usize::MAX);
            self.above(first, height).next().is_some()
        })
    }

    /// Those acceptances from `first` on that brought the window above `height`.
    fn above(&self, first: usize, height: usize) -> impl Iterator<Item = usize> {
        let passed = &self.passed[..];
        let skipped = first.max(height);
        let lagging = passed.iter().skip(skipped.saturating_sub(height));
        let pairs = passed.iter().skip(skipped).zip(lagging);
        let width = self.width;
        let is_above = move |(n, (&at, &earlier)): (usize, (&i64, &i64))| {
            within(at, earlier, width).then_some(skipped + n)
        };
        pairs.enumerate().filter_map(is_above)
    }

    /// Tells the bins of the acceptances from `first` on that were above the limit, and gives how many there were.
    fn tell_over(&mut self, bins: &Bins, first: usize, heights: &mut Heights) -> u64 {
        let Self { passed, segments, limit, width, .. } = self;
        segments.clear();
        bins.cut(&passed[first..], first, segments);
        let (mut from, mut all) = (first.max(*limit), 0);
        for segment in segments.iter() {
            let to = segment.end as usize;
            if from < to {
                let earlier = &passed[from - *limit..to - *limit];
                let apart = passed[from..to].iter().zip(earlier).map(|pair| apart(pair, *width));
                let over = apart.map(|apart| apart as u64 >> 63).sum::<u64>();
                heights.over[segment.bin as usize] += over;
                all += over;
                from = to;
            }
        }
        all
    }

    /// Raises the bins up to that of the last acceptance; those from `first` on are new.
    fn raise(&mut self, bins: &Bins, first: usize, heights: &mut Heights) {
        // What a window carries into later bins begins with the last acceptance looked at before.
        let count = self.may_rise(first.saturating_sub(1), heights);
        let all = self.passed.len();
        let end = match count < bins.count {
            true => first + self.passed[first..].partition_point(|&at| at < bins.start(count)),
            false => all,
        };
        if first < end {
            self.raise_to(bins, first..end, heights);
        }
        if end < all && count > 0 {
            self.carry(bins, (end, None), count - 1, heights);
        }
    }

    /// Raises the bins up to that of the last of some acceptances.
    fn raise_to(&mut self, bins: &Bins, range: Range<usize>, heights: &mut Heights) {
        let mut from = range.start;
        heights.rose = true;
        let mut before = None;
        let mut segments = std::mem::take(&mut self.segments);
        segments.clear();
        bins.cut(&self.passed[range.clone()], range.start, &mut segments);
        for segment in &segments {
            let bin = segment.bin as usize;
            self.carry(bins, (from, before), bin, heights);
            before = Some(bin);
            let (passed, to) = (&self.passed[..], segment.end as usize);
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
        }
        self.segments = segments;
    }

    /// Raises the bins after the last one seen, up to `bin`, to what the first acceptances, so many, carry into them;
    /// the last of them was in the bin `before`, if that is known.
    fn carry(
        &mut self,
        bins: &Bins,
        (count, before): (usize, Option<usize>),
        bin: usize,
        heights: &mut Heights,
    ) {
        if bin <= self.seen {
            return;
        }
        let next = std::mem::replace(&mut self.seen, bin) + 1;
        let Some(&last) = self.passed[..count].last() else { return };
        let before = before.unwrap_or_else(|| bins.index(last));
        for bin in next.max(before + 1)..=bin {
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
        let count = self.may_rise(self.passed.len().saturating_sub(1), heights);
        if count > 0 {
            self.carry(bins, (self.passed.len(), None), count - 1, heights);
        }
    }

    /// How many of some attempts after the last acceptance would have kept the window at or below the limit.
    #[inline]
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
    fn forget(&mut self) {
        let reach = self.limit.max(self.most).saturating_add(2);
        if self.passed.len() > reach.saturating_add(SLACK) {
            self.passed.drain(..self.passed.len() - reach);
            self.settled = self.passed.len();
        }
    }
}

/// So many instants are looked at, at once.
const GROUP: usize = 8;

/// How many times, from the first on, lie a width or more after the earlier ones of the same places.
#[inline]
fn count_lower(times: &[i64], earlier: &[i64], width: u64) -> usize {
    let earlier = &earlier[..times.len()];
    let mut groups = times.chunks_exact(GROUP).zip(earlier.chunks_exact(GROUP));
    let is_low = |(times, earlier): &(&[i64], &[i64])| {
        let apart = times.iter().zip(*earlier).map(|pair| apart(pair, width));
        apart.fold(0, |all, apart| all | apart) >= 0
    };
    let low = groups.by_ref().take_while(is_low).count() * GROUP;
    let rest = times[low..].iter().zip(&earlier[low..]);
    low + rest.take_while(|&(&at, &earlier)| !within(at, earlier, width)).count()
}

/// How far a time of a run lies behind the end of a width that begins at an earlier one; below zero if it is within. The
/// sign is quicker to add up, or to put together, than comparisons.
#[inline]
fn apart((at, earlier): (&i64, &i64), width: u64) -> i64 {
    at.wrapping_sub(*earlier).wrapping_sub(width as i64)
}

/// Whether a time lies less than a width after an earlier one.
#[inline]
fn within(at: i64, earlier: i64, width: u64) -> bool {
    (at.wrapping_sub(earlier) as u64) < width
}
