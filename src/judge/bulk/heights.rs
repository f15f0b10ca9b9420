//! How high trailing windows rose, by bin, and how often they rose above the limit.

use super::Bins;

/// Over a number of keys.
#[derive(Debug, Clone)]
pub(super) struct Heights {
    /// By bin, attempts let through above the limit.
    pub over: Vec<u64>,
    /// By bin, the highest window of any one key, as far as it matters: no lower than where it did.
    pub highest: Vec<u64>,
    /// No bin is lower than this ...
    lowest: u64,
    /// ... and none from the bin `early` on is lower than this: a run may begin with bins that stay low, since windows
    /// reach back beyond it there.
    floor: u64,
    early: usize,
    /// Whether any bin may have risen since all of them were last raised to a level.
    pub rose: bool,
}

impl Heights {
    pub fn new(bins: &Bins) -> Heights {
        let none = vec![0; bins.count];
        Heights { over: none.clone(), highest: none, lowest: 0, floor: 0, early: 0, rose: false }
    }

    /// Raises every bin to a level that is told of it, and looks for the lowest.
    pub fn raise_to(&mut self, levels: impl Iterator<Item = u64>) {
        self.rose = false;
        for (highest, level) in self.highest.iter_mut().zip(levels) {
            *highest = level.max(*highest);
        }
        let lowest = |bins: &[u64]| bins.iter().copied().min().unwrap_or(0);
        self.lowest = lowest(&self.highest);
        self.floor = lowest(&self.highest[self.highest.len() / 2..]);
        self.early =
            self.highest.iter().rposition(|&bin| bin < self.floor).map_or(0, |bin| bin + 1);
    }

    /// How many bins, from the first of the run on, may rise by windows up to `most`; `is_above` tells whether any
    /// window is above a height.
    #[inline]
    pub fn may_rise(&self, most: u64, is_above: impl Fn(u64) -> bool) -> usize {
        if most > self.floor && is_above(self.floor) {
            self.highest.len()
        } else if most > self.lowest {
            self.early
        } else {
            0
        }
    }
}
