//! What the states of all keys take, bin by bin of a timeline, at a cost that does not depend on how
//! many bins a state is kept through.

use super::timeline::Timeline;
use crate::algorithm::Footprint;
use crate::time::Instant;

/// What one key's state takes now, and took at most in the bin of the last call.
#[derive(Debug, Clone)]
pub(super) struct Holding {
    now: Footprint,
    until: Instant,
    bin: usize,
    /// `None` if nothing was kept in the bin.
    most: Option<Footprint>,
}

impl Holding {
    /// A value that is known only once it was read from memory.
    #[inline]
    pub fn glimpse(&self) -> u64 {
        self.until.0 as u64
    }
}

impl Default for Holding {
    fn default() -> Holding {
        Holding { now: Footprint::default(), until: Instant(i64::MIN), bin: 0, most: None }
    }
}

/// The sums over keys of what each kept at most in each bin, as differences between bins: modulo 2^64,
/// because an end is noted by subtraction.
#[derive(Debug, Clone)]
pub(super) struct Holdings {
    steps: Vec<[u64; 3]>,
}

impl Holdings {
    pub fn over(timeline: &Timeline) -> Holdings {
        Holdings { steps: vec![[0; 3]; timeline.bins.len() + 1] }
    }

    /// From `at`, which lies in `bin`, on, the key's state takes `footprint`, before `until`. Calls
    /// for one key come in time order.
    pub fn hold(
        &mut self,
        key: &mut Holding,
        timeline: &Timeline,
        (bin, at): (usize, Instant),
        footprint: Footprint,
        until: Instant,
    ) {
        if bin != key.bin {
            let start = timeline.start_of(bin);
            self.settle(key, timeline, bin);
            key.most = (start < key.until.min(at)).then_some(key.now);
            key.bin = bin;
        }
        if at < until {
            key.most = Some(key.most.map_or(footprint, |most| Footprint {
                entries: most.entries.max(footprint.entries),
                bytes: most.bytes.max(footprint.bytes),
            }));
        }
        key.now = footprint;
        key.until = until;
    }

    /// Books what a key kept in the bin of its last call and in those after it, before `end`.
    pub fn settle(&mut self, key: &Holding, timeline: &Timeline, end: usize) {
        let end = timeline.first_from(key.until, end);
        match key.most {
            Some(most) if most == key.now => self.add(most, key.bin, end.max(key.bin + 1)),
            Some(most) => {
                self.add(most, key.bin, key.bin + 1);
                self.add(key.now, key.bin + 1, end);
            }
            // What is not kept in a bin is not kept after it.
            None => {}
        }
    }

    fn add(&mut self, footprint: Footprint, from: usize, to: usize) {
        if from < to {
            let amounts = [1, footprint.entries, footprint.bytes];
            for (sum, amount) in self.steps[from].iter_mut().zip(amounts) {
                *sum = sum.wrapping_add(amount);
            }
            for (sum, amount) in self.steps[to].iter_mut().zip(amounts) {
                *sum = sum.wrapping_sub(amount);
            }
        }
    }

    /// Writes the sums into the bins.
    pub fn write(&self, timeline: &mut Timeline) {
        let mut sums = [0_u64; 3];
        for (bin, step) in timeline.bins.iter_mut().zip(&self.steps) {
            for (sum, &amount) in sums.iter_mut().zip(step) {
                *sum = sum.wrapping_add(amount);
            }
            [bin.keys, bin.entries, bin.bytes] = sums;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Window;

    /// Entries and keys by bin of 10 ns (600 of them); one key's calls: at, entries, until.
    fn kept(keys: &[&[(i64, u64, Option<i64>)]], bins: usize) -> Vec<(u64, u64)> {
        let window = Window { start: Instant(0), end: Instant(6000) };
        let mut timeline = Timeline::over(window);
        let mut holdings = Holdings::over(&timeline);
        for calls in keys {
            let mut key = Holding::default();
            for &(at, entries, until) in *calls {
                let footprint = Footprint { entries, bytes: 8 * entries };
                let until = Instant(until.unwrap_or(i64::MAX));
                let place = (timeline.index(Instant(at)), Instant(at));
                holdings.hold(&mut key, &timeline, place, footprint, until);
            }
            holdings.settle(&key, &timeline, timeline.bins.len());
        }
        holdings.write(&mut timeline);
        assert!(timeline.bins.iter().all(|bin| bin.bytes == 8 * bin.entries));
        timeline.bins.iter().map(|bin| (bin.keys, bin.entries)).take(bins).collect()
    }

    #[test]
    fn a_state_counts_in_every_bin_it_is_kept_in() {
        // From 5 to before 30: bins 0, 1 and 2, not the one that starts at 30.
        assert_eq!(kept(&[&[(5, 2, Some(30))]], 4), [(1, 2), (1, 2), (1, 2), (0, 0)]);
        assert_eq!(kept(&[&[(5, 2, Some(31))]], 4), [(1, 2), (1, 2), (1, 2), (1, 2)]);
        let always = kept(&[&[(5, 2, None)]], 600);
        assert!(always.iter().all(|&bin| bin == (1, 2)), "{always:?}");
    }

    #[test]
    fn the_largest_of_a_bin_counts_what_is_carried_in_included() {
        // 7 entries are kept to 12, then 1: bin 1 saw both. At 20 sharp the 1 is replaced.
        let calls = [(0, 3, None), (4, 7, None), (12, 1, None), (20, 5, Some(21))];
        assert_eq!(kept(&[&calls], 4), [(1, 7), (1, 7), (1, 5), (0, 0)]);
    }

    #[test]
    fn what_may_be_forgotten_at_once_was_never_kept() {
        assert_eq!(kept(&[&[(5, 9, Some(5))]], 2), [(0, 0), (0, 0)]);
        assert_eq!(kept(&[&[(5, 9, Some(-3))]], 2), [(0, 0), (0, 0)]);
    }

    #[test]
    fn keys_add_up() {
        let one: &[_] = &[(0, 1, Some(15))];
        let other: &[_] = &[(3, 2, Some(4)), (18, 4, None)];
        assert_eq!(kept(&[one, other], 3), [(2, 3), (2, 5), (1, 4)]);
    }
}
