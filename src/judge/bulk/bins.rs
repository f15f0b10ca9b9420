//! The bins of a run's timeline, for finding the bin of a time.

use std::ops::Range;

use crate::algorithm::Segment;
use crate::judge::Timeline;
use crate::time::{Divisor, Window};

/// The bins of a run.
#[derive(Debug, Clone, Copy)]
pub struct Bins {
    start: i64,
    width: i64,
    divisor: Divisor,
    /// How many there are, at least one.
    pub count: usize,
}

impl Bins {
    /// Those of [`Timeline::over`].
    pub fn over(window: Window) -> Bins {
        let Timeline { start, width, bins } = Timeline::over(window);
        let divisor = Divisor::new(width.nanos());
        Bins { start: start.0, width: width.signed(), divisor, count: bins.len() }
    }

    /// The bin of a time within the run.
    pub fn index(&self, at: i64) -> usize {
        self.divisor.divide(at.abs_diff(self.start)).0 as usize
    }

    /// When a bin starts.
    pub fn start(&self, bin: usize) -> i64 {
        self.start.saturating_add(self.width.saturating_mul(bin as i64))
    }

    /// The first bin that starts at a time or later, but at most `most`.
    pub fn first_from(&self, at: i64, most: usize) -> usize {
        if at >= self.start(most) {
            return most;
        }
        match at.checked_sub(self.start) {
            Some(offset) if offset > 0 => {
                let (whole, rest) = self.divisor.divide(offset as u64);
                whole as usize + usize::from(rest > 0)
            }
            _ => 0,
        }
    }

    /// Cuts times of one key, which ascend and lie within the run, into segments of one bin each. `base` attempts of
    /// others come before them.
    pub fn cut(&self, times: &[i64], base: usize, segments: &mut Vec<Segment>) {
        self.each(times, |bin, range, stop, gap| {
            segments.push(Segment { bin: bin as u32, end: (base + range.end) as u32, stop, gap });
        });
    }

    /// Tells `each` of the bins of such times: which it is, which of them lie in it, when it ends, and whether the next
    /// bin is not the next of these.
    #[inline]
    pub fn each(&self, times: &[i64], mut each: impl FnMut(usize, Range<usize>, i64, bool)) {
        let Some(&first) = times.first() else { return };
        let mut bin = self.index(first);
        let mut stop = self.start(bin + 1);
        let mut from = 0;
        for (index, &at) in times.iter().enumerate() {
            if at >= stop {
                let next = stop.saturating_add(self.width);
                let gap = at >= next;
                each(bin, from..index, stop, gap);
                from = index;
                if gap {
                    bin = self.index(at);
                    stop = self.start(bin + 1);
                } else {
                    bin += 1;
                    stop = next;
                }
            }
        }
        each(bin, from..times.len(), stop, true);
    }
}
