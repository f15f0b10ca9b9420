//! Trailing windows of attempts that cost more than 1.

use super::Bins;
use super::heights::Heights;
use crate::algorithm::Segment;
use crate::judge::Peak;
use crate::judge::trailing::Trailing;
use crate::rate::Limit;
use crate::time::Instant;

/// The window of the key at hand.
#[derive(Clone, Default)]
pub(super) struct Sums {
    window: Option<Trailing>,
    /// The last bin that knows what the window carries into it.
    seen: usize,
}

impl Sums {
    pub fn begin(&mut self, promise: Limit) {
        self.window = Some(Trailing::new(promise));
        self.seen = 0;
    }

    /// The highest window; `None` before the first acceptance.
    pub fn peak(&self) -> Option<Peak> {
        self.window.as_ref()?.peak()
    }

    /// See [`Windows::accept`](super::windows::Windows::accept).
    pub fn accept(
        &mut self,
        bins: &Bins,
        (times, costs): (&[i64], Option<&[u32]>),
        base: usize,
        segments: &[Segment],
        heights: &mut Heights,
    ) -> u64 {
        let (mut from, mut all) = (0, 0);
        for segment in segments {
            let to = (segment.end as usize - base).min(times.len());
            let bin = segment.bin as usize;
            self.carry(bins, bin, heights);
            let Some(window) = &mut self.window else { return all };
            for (index, &at) in times.iter().enumerate().take(to).skip(from) {
                let over = u64::from(window.accept(Instant(at), cost(costs, index)));
                heights.highest[bin] = heights.highest[bin].max(window.sum());
                heights.over[bin] += over;
                all += over;
            }
            from = to;
            if to == times.len() {
                break;
            }
        }
        all
    }

    /// How many of some attempts of one bin after the last acceptance would, each alone, have kept the window at or
    /// below the limit.
    pub fn with_room(
        &mut self,
        bins: &Bins,
        (times, costs): (&[i64], Option<&[u32]>),
        bin: usize,
        heights: &mut Heights,
    ) -> u64 {
        // What is looked at expires, so the bin must have been told before.
        self.carry(bins, bin, heights);
        let Some(window) = &mut self.window else { return 0 };
        let has_room = |(index, &at): (usize, &i64)| {
            u64::from(window.room_for(Instant(at), cost(costs, index)))
        };
        times.iter().enumerate().map(has_room).sum()
    }

    /// Raises the bins to the end of the run.
    pub fn end(&mut self, bins: &Bins, heights: &mut Heights) {
        self.carry(bins, bins.count - 1, heights);
    }

    /// Raises the bins after the last one seen, up to `bin`, to what the window carries into them.
    fn carry(&mut self, bins: &Bins, bin: usize, heights: &mut Heights) {
        if bin <= self.seen {
            return;
        }
        let next = std::mem::replace(&mut self.seen, bin) + 1;
        let Some(window) = &mut self.window else { return };
        for bin in next..=bin {
            match window.sum_at(Instant(bins.start(bin))) {
                0 => return,
                sum => heights.highest[bin] = heights.highest[bin].max(sum),
            }
        }
    }
}

fn cost(costs: Option<&[u32]>, index: usize) -> u32 {
    costs.map_or(1, |costs| costs[index])
}
