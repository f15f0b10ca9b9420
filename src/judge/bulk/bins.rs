//! The bins of a run's timeline, for finding the bin of a time.

use crate::algorithm::{Gap, Segment};
use crate::judge::Timeline;
use crate::time::{Divisor, Window};

/// So many attempts are looked at, at once.
const GROUP: usize = 8;

/// The bins of a run.
#[derive(Debug, Clone, Copy)]
pub struct Bins {
    start: i64,
    /// When the last ends.
    end: i64,
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
        let count = bins.len();
        let end = start.0.saturating_add(width.signed().saturating_mul(count as i64));
        Bins { start: start.0, end, width: width.signed(), divisor, count }
    }

    /// The bin of a time within the run.
    pub fn index(&self, at: i64) -> usize {
        self.divisor.quotient(at.wrapping_sub(self.start) as u64) as usize
    }

    /// When a bin starts.
    pub fn start(&self, bin: usize) -> i64 {
        self.start.saturating_add(self.width.saturating_mul(bin as i64))
    }

    /// The first bin that starts at a time or later, but at most `most`.
    #[inline]
    pub fn first_from(&self, at: i64, most: usize) -> usize {
        // Runs, of at most 250 years, and one bin more are less than 2^63 ns.
        let since = at.clamp(self.start, self.end).wrapping_sub(self.start) as u64;
        most.min(self.divisor.quotient(since + (self.width as u64 - 1)) as usize)
    }

    /// Cuts times of one key, which ascend and lie within the run, into segments of one bin each. `base` attempts of
    /// others come before them.
    pub fn cut(&self, times: &[i64], base: usize, segments: &mut Vec<Segment>) {
        let Some(&first) = times.first() else { return };
        let mut bin = self.index(first);
        let mut stop = self.start(bin + 1);
        let mut end = base;
        for group in times.chunks(GROUP) {
            if group[group.len() - 1] >= stop {
                // Where bins change often, it does not pay to ask whether they do.
                let mut ended = [Segment { bin: 0, end: 0 }; GROUP];
                let mut count = 0;
                for (n, &at) in group.iter().enumerate() {
                    let next = self.index(at);
                    ended[count % GROUP] = Segment { bin: bin as u32, end: (end + n) as u32 };
                    count += usize::from(next != bin);
                    bin = next;
                }
                add(segments, ended, count);
                stop = self.start(bin + 1);
            }
            end += group.len();
        }
        segments.push(Segment { bin: bin as u32, end: end as u32 });
    }

    /// Adds the gaps of a history that was cut into these segments; `times` are those of all attempts up to its end.
    pub fn gaps(&self, times: &[i64], segments: &[Segment], gaps: &mut Vec<Gap>) {
        let Some((last, before)) = segments.split_last() else { return };
        let gap = |segment: &Segment, to| {
            let (attempt, from) = (segment.end - 1, segment.bin + 1);
            let after = self.start(from as usize).saturating_sub(times[attempt as usize]);
            Gap { attempt, from, to, after }
        };
        for (group, nexts) in before.chunks(GROUP).zip(segments[1..].chunks(GROUP)) {
            let mut found = [Gap { attempt: 0, from: 0, to: 0, after: 0 }; GROUP];
            let mut count = 0;
            for (segment, next) in group.iter().zip(nexts) {
                found[count % GROUP] = gap(segment, next.bin);
                count += usize::from(segment.bin + 1 < next.bin);
            }
            add(gaps, found, count);
        }
        gaps.push(gap(last, self.count as u32));
    }
}

/// Adds the first of some values, so many: all are copied, which is quicker.
#[inline]
fn add<T: Copy>(all: &mut Vec<T>, values: [T; GROUP], count: usize) {
    all.extend_from_slice(&values);
    all.truncate(all.len() - (GROUP - count));
}
