//! Maxima over ranges of bins, at a cost that does not depend on how long the ranges are.

/// A maximum for each of a number of bins, raised range by range in constant time.
///
/// Level k holds what was raised over the 2^k bins from each on; any range is the union of two such
/// blocks, which may overlap, because a maximum does not mind.
#[derive(Debug, Clone)]
pub(super) struct Maxima {
    levels: Vec<Vec<u64>>,
}

impl Maxima {
    /// All zero.
    pub fn new(bins: usize) -> Maxima {
        let levels = bins.max(1).ilog2() as usize + 1;
        Maxima { levels: vec![vec![0; bins]; levels] }
    }

    /// Raises the bins `from..to`, at least one, to at least `value`.
    pub fn raise(&mut self, from: usize, to: usize, value: u64) {
        let level = (to - from).ilog2() as usize;
        for block in [from, to - (1 << level)] {
            let most = &mut self.levels[level][block];
            *most = (*most).max(value);
        }
    }

    /// The maximum of each bin.
    pub fn into_bins(mut self) -> Vec<u64> {
        for level in (1..self.levels.len()).rev() {
            let (lower, upper) = self.levels.split_at_mut(level);
            let (below, half) = (&mut lower[level - 1], 1 << (level - 1));
            for (block, &value) in upper[0].iter().enumerate().filter(|&(_, &value)| value > 0) {
                for part in [block, block + half] {
                    below[part] = below[part].max(value);
                }
            }
        }
        self.levels.swap_remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_raise_each_of_their_bins_and_no_other(
            bins in 1..40_usize,
            ranges in prop::collection::vec((0..40_usize, 1..40_usize, 1..9_u64), 0..6),
        ) {
            let mut maxima = Maxima::new(bins);
            let mut plain = vec![0; bins];
            for (from, length, value) in ranges {
                let from = from % bins;
                let to = (from + length).min(bins);
                maxima.raise(from, to, value);
                plain[from..to].iter_mut().for_each(|most| *most = value.max(*most));
            }
            prop_assert_eq!(maxima.into_bins(), plain);
        }
    }
}
