//! The part of one run, or of several side by side, that a chart shows, in bins.

use std::ops::Range;

use super::axis::Elapsed;
use super::panels::SMALL;
use crate::judge::{Bin, Timeline};
use crate::time::SECOND;

/// Numbers over time: each group of bins with its own.
pub type Steps = Vec<(Range<usize>, f64)>;

/// The part of a run that is drawn, in bins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The bins drawn; not empty.
    pub bins: Range<usize>,
    /// The length of a bin in nanoseconds.
    pub width: u64,
    /// The length of the whole run in bins.
    pub of: usize,
}

impl View {
    /// The whole of a run, or what `happens` with some context where that is less than `share` of
    /// it. `None` of a run without bins.
    pub fn of(timeline: &Timeline, share: f64, happens: impl Fn(usize) -> bool) -> Option<View> {
        let of = timeline.bins.len();
        let first = (0..of).find(|&bin| happens(bin));
        let last = (0..of).rev().find(|&bin| happens(bin));
        let whole = View { bins: 0..of, width: timeline.width.nanos().max(1), of };
        (of > 0).then(|| whole.around(share, first.zip(last)))
    }

    /// The same of several runs that are drawn as if they began together. Its bins are as long as
    /// divides those of all.
    pub fn of_all<'a>(
        timelines: impl Iterator<Item = &'a Timeline> + Clone,
        share: f64,
        happens: impl Fn(&Bin) -> bool,
    ) -> Option<View> {
        let all = timelines.filter(|timeline| !timeline.bins.is_empty());
        let width = all.clone().map(|timeline| timeline.width.nanos().max(1)).reduce(divisor)?;
        let view = View { bins: 0..0, width, of: 0 };
        let of = all.clone().map(|one| one.bins.len().saturating_mul(view.stride(one))).max()?;
        let busy = all.filter_map(|one| {
            let first = one.bins.iter().position(&happens)?;
            let last = one.bins.iter().rposition(&happens)?;
            let stride = view.stride(one);
            Some((first.saturating_mul(stride), (last + 1).saturating_mul(stride) - 1))
        });
        let busy = busy.reduce(|(first, last), other| (first.min(other.0), last.max(other.1)));
        Some(View { bins: 0..of, width, of }.around(share, busy))
    }

    /// From the first to the last bin in which something happens with some context, if that is less
    /// than `share` of the run; else all of it.
    fn around(self, share: f64, busy: Option<(usize, usize)>) -> View {
        let View { width, of, .. } = self;
        let Some((first, last)) = busy else { return self };
        let busy = last + 1 - first;
        if busy as f64 >= share * of as f64 {
            return self;
        }
        let context = (busy / 6).max(6);
        let from = first.saturating_sub(context);
        let to = last.saturating_add(1).saturating_add(context).min(of);
        if (to - from) as f64 >= 0.8 * of as f64 {
            return self;
        }
        View { bins: from..to, width, of }
    }

    /// Its axis over so many pixels.
    pub fn axis(&self, pixels: f64) -> Elapsed {
        let at = |bin: usize| self.width.saturating_mul(bin as u64);
        Elapsed::fitting(at(self.bins.start), at(self.bins.end), pixels, SMALL)
    }

    /// The length of the whole run in nanoseconds.
    pub fn run(&self) -> u64 {
        self.width.saturating_mul(self.of as u64)
    }

    /// The bins in at most `most` groups of equal length (but the last), in order.
    pub fn groups(&self, most: usize) -> impl Iterator<Item = Range<usize>> {
        groups(self.bins.clone(), self.group_size(most))
    }

    /// How many bins a group of [`View::groups`] has.
    pub fn group_size(&self, most: usize) -> usize {
        self.bins.len().div_ceil(most.max(1)).max(1)
    }

    /// How long a group of [`View::groups`] is, in nanoseconds.
    pub fn group_length(&self, most: usize) -> u64 {
        self.width.saturating_mul(self.group_size(most) as u64)
    }

    /// What a run counted per second, averaged over groups of its own bins that are as long as those of
    /// [`View::groups`], or one bin each where that is longer.
    pub fn rates(&self, timeline: &Timeline, most: usize, of: impl Fn(&Bin) -> u64) -> Steps {
        self.rates_over(timeline, self.group_size(most), of)
    }

    /// The highest rate in each of the groups of [`View::rates`], counted over [`View::spike`]: no spike is
    /// lost between seconds without any. `most_in_second` tells of bins longer than a second the most in any of
    /// its seconds.
    pub fn spikes(
        &self,
        timeline: &Timeline,
        most: usize,
        of: impl Fn(&Bin) -> u64,
        most_in_second: impl Fn(&Bin) -> u64,
    ) -> Steps {
        let unit = usize::try_from(self.spike(most) / self.width).unwrap_or(usize::MAX).max(1);
        let stride = self.stride(timeline);
        let own = (unit / stride).max(1).saturating_mul(stride);
        let each = self.group_size(most).div_ceil(own).max(1);
        let steps = match timeline.width.nanos() > SECOND && self.spike(most) == SECOND {
            true => self.over(timeline, unit, |bins, _| {
                bins.iter().map(&most_in_second).max().unwrap_or(0) as f64
            }),
            false => self.rates_over(timeline, unit, of),
        };
        steps
            .chunks(each)
            .map(|group| {
                let drawn = group[0].0.start..group[group.len() - 1].0.end;
                (drawn, group.iter().map(|(_, rate)| *rate).fold(0.0, f64::max))
            })
            .collect()
    }

    /// The largest number of a bin in each of the groups of [`View::rates`].
    pub fn highest(&self, timeline: &Timeline, most: usize, of: impl Fn(&Bin) -> u64) -> Steps {
        self.over(timeline, self.group_size(most), |bins, _| {
            bins.iter().map(&of).max().unwrap_or(0) as f64
        })
    }

    /// Over how many nanoseconds the rates of [`View::spikes`] are counted: a second, or a group of
    /// [`View::groups`] where that is shorter.
    pub fn spike(&self, most: usize) -> u64 {
        let bins = (SECOND / self.width).max(1);
        self.group_length(most).min(self.width.saturating_mul(bins)).min(SECOND)
    }

    /// The rates over groups of so many bins of the view.
    fn rates_over(&self, timeline: &Timeline, size: usize, of: impl Fn(&Bin) -> u64) -> Steps {
        self.over(timeline, size, |bins, seconds| {
            let total: u128 = bins.iter().map(|bin| u128::from(of(bin))).sum();
            total as f64 / seconds
        })
    }

    /// What `value` makes of groups of so many bins of the view and their length in seconds.
    fn over(&self, timeline: &Timeline, size: usize, value: impl Fn(&[Bin], f64) -> f64) -> Steps {
        let stride = self.stride(timeline);
        let end = self.bins.end.div_ceil(stride).min(timeline.bins.len());
        let own = (self.bins.start / stride).min(end)..end;
        let size = (size / stride).max(1);
        let seconds = timeline.width.nanos().saturating_mul(size as u64) as f64 / 1e9;
        groups(own, size)
            .map(|group| {
                let shorter = group.len() as f64 / size as f64;
                let bins = &timeline.bins[group.clone()];
                let value = value(bins, (seconds * shorter).max(1e-9));
                let end = group.end.saturating_mul(stride).min(self.bins.end);
                let drawn = (group.start * stride).clamp(self.bins.start, end)..end;
                (drawn, value)
            })
            .collect()
    }

    /// How many bins of the view one of a timeline has.
    fn stride(&self, timeline: &Timeline) -> usize {
        usize::try_from(timeline.width.nanos() / self.width).unwrap_or(usize::MAX).max(1)
    }
}

fn groups(bins: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = bins.end;
    bins.step_by(size).map(move |from| from..from.saturating_add(size).min(end))
}

/// The greatest that divides both.
fn divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Instant, Span};

    fn timeline(width: u64, offered: &[u64]) -> Timeline {
        let bins = offered.iter().map(|&offered| Bin { offered, ..Bin::default() });
        Timeline { start: Instant(0), width: Span::from_nanos(width), bins: bins.collect() }
    }

    #[test]
    fn runs_with_bins_of_two_and_of_five_seconds_are_drawn_in_bins_of_one() {
        let (twos, fives) = (timeline(2 * SECOND, &[8; 5]), timeline(5 * SECOND, &[10, 20, 30]));
        let view = View::of_all([&twos, &fives].into_iter(), 0.5, |bin| bin.offered > 0).unwrap();
        assert_eq!((view.bins.clone(), view.width, view.of), (0..15, SECOND, 15));
        // Five groups of three seconds at most: one bin each.
        let offered = |timeline: &Timeline| view.rates(timeline, 5, |bin| bin.offered);
        assert_eq!(offered(&fives), [(0..5, 2.0), (5..10, 4.0), (10..15, 6.0)]);
        assert_eq!(offered(&twos).last(), Some(&(8..10, 4.0)));
        // Three of five seconds: two bins of two seconds each, and one that is left.
        let threes = view.rates(&twos, 3, |bin| bin.offered);
        assert_eq!(threes, [(0..4, 4.0), (4..8, 4.0), (8..10, 4.0)]);
    }

    #[test]
    fn a_spike_is_as_high_as_its_second() {
        // 90 in the second half of the fourth second, of ten seconds in bins of half a second.
        let mut halves = timeline(SECOND / 2, &[1; 20]);
        halves.bins[7].offered = 90;
        let view = View::of_all([&halves].into_iter(), 0.5, |_| true).unwrap();
        let spikes = |groups| view.spikes(&halves, groups, |bin| bin.offered, |_| 0);
        assert_eq!((view.spike(3), view.group_length(3)), (SECOND, 7 * SECOND / 2));
        // Groups of seven bins, which are four seconds, as far as there are.
        assert_eq!(spikes(3), [(0..8, 91.0), (8..16, 2.0), (16..20, 2.0)]);
        // Groups of half a second are shorter than a second: 90 in one of them are 180 a second.
        assert_eq!((view.spike(20), spikes(20)[7].clone()), (SECOND / 2, (7..8, 180.0)));
    }

    #[test]
    fn spikes_of_longer_bins_are_those_of_their_seconds() {
        let ones = timeline(SECOND, &[1; 20]);
        let mut fives = timeline(5 * SECOND, &[10, 20, 30, 40]);
        fives.bins[1].retries_in_second = 7;
        let view = View::of_all([&ones, &fives].into_iter(), 0.5, |_| true).unwrap();
        let spikes = view.spikes(&fives, 2, |bin| bin.offered, |bin| bin.retries_in_second);
        assert_eq!((view.spike(2), spikes), (SECOND, vec![(0..10, 7.0), (10..20, 0.0)]));
    }

    #[test]
    fn of_a_long_run_the_busy_part_of_all_is_drawn_with_context() {
        let mut one = timeline(SECOND, &[0; 200]);
        let mut other = one.clone();
        one.bins[100].offered = 1;
        other.bins[111].offered = 1;
        let view = View::of_all([&one, &other].into_iter(), 0.3, |bin| bin.offered > 0).unwrap();
        assert_eq!(view.bins, 94..118);
        // What lies before and after is in no group.
        assert_eq!(view.rates(&one, 4, |bin| bin.offered).len(), 4);
        assert_eq!(View::of_all([].into_iter(), 0.3, |_| true), None);
    }
}
