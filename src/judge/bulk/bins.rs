//! The bins of a run's timeline, for finding the bin of a time.

use std::ops::Range;

use crate::algorithm::{Gap, Segment};
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
    #[inline]
    pub fn first_from(&self, at: i64, most: usize) -> usize {
        let offset = at.saturating_sub(self.start).max(0) as u64;
        let (whole, rest) = self.divisor.divide(offset);
        most.min(whole as usize + usize::from(rest > 0))
    }

    /// Cuts times of one key, which ascend and lie within the run, into segments of one bin each. `base` attempts of
    /// others come before them.
    pub fn cut(&self, times: &[i64], base: usize, segments: &mut Vec<Segment>) {
        self.each(times, |bin, range| {
            segments.push(Segment { bin: bin as u32, end: (base + range.end) as u32 });
        });
    }

    /// Adds the gaps of a history that was cut into these segments.
    pub fn gaps(&self, segments: &[Segment], gaps: &mut Vec<Gap>) {
        let nexts = segments.iter().skip(1).map(|next| next.bin).chain([self.count as u32]);
        let is_last = |position| position + 1 == segments.len();
        for (position, (segment, to)) in segments.iter().zip(nexts).enumerate() {
            let from = segment.bin + 1;
            if from < to || is_last(position) {
                gaps.push(Gap { attempt: segment.end - 1, from, to });
            }
        }
    }

    /// Tells `each` of the bins of such times: which it is, and which of them lie in it.
    #[inline]
    pub fn each(&self, times: &[i64], mut each: impl FnMut(usize, Range<usize>)) {
        let Some(&first) = times.first() else { return };
        let mut bin = self.index(first);
        let mut stop = self.start(bin + 1);
        let mut from = 0;
        for (index, &at) in times.iter().enumerate() {
            if at >= stop {
                each(bin, from..index);
                from = index;
                let next = stop.saturating_add(self.width);
                if at >= next {
                    bin = self.index(at);
                    stop = self.start(bin + 1);
                } else {
                    bin += 1;
                    stop = next;
                }
            }
        }
        each(bin, from..times.len());
    }
}
