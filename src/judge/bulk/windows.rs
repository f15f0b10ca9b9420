//! The trailing windows of a key, however they are counted.

use super::Bins;
use super::heights::Heights;
use super::lag::Lag;
use super::sums::Sums;
use crate::algorithm::Segment;
use crate::judge::Peak;
use crate::rate::Limit;

/// How trailing windows are counted.
pub(super) enum Windows {
    /// Where all costs are 1.
    Lag(Lag),
    /// Where they are not.
    Sums(Sums),
}

/// Times with what each costs; `None` where all cost 1.
pub(super) type Costing<'a> = (&'a [i64], Option<&'a [u32]>);

impl Windows {
    pub fn new(units: bool) -> Windows {
        match units {
            true => Windows::Lag(Lag::default()),
            false => Windows::Sums(Sums::default()),
        }
    }

    pub fn begin(&mut self, promise: Limit) {
        match self {
            Windows::Lag(lag) => lag.begin(promise),
            Windows::Sums(sums) => sums.begin(promise),
        }
    }

    /// The highest window; `None` before the first acceptance.
    pub fn peak(&self) -> Option<Peak> {
        match self {
            Windows::Lag(lag) => lag.peak(),
            Windows::Sums(sums) => sums.peak(),
        }
    }

    /// See [`Lag::accept`].
    pub fn accept(
        &mut self,
        bins: &Bins,
        accepted: Costing,
        base: usize,
        segments: &[Segment],
        heights: &mut Heights,
    ) -> u64 {
        match self {
            Windows::Lag(lag) => lag.accept(bins, accepted.0, base, segments, heights),
            Windows::Sums(sums) => sums.accept(bins, accepted, base, segments, heights),
        }
    }

    /// How many of some rejected attempts of one bin would have had room.
    pub fn with_room(
        &mut self,
        bins: &Bins,
        rejected: Costing,
        bin: usize,
        heights: &mut Heights,
    ) -> u64 {
        match self {
            Windows::Lag(lag) => lag.with_room(rejected.0),
            Windows::Sums(sums) => sums.with_room(bins, rejected, bin, heights),
        }
    }

    /// The key's history is over.
    pub fn end(&mut self, bins: &Bins, heights: &mut Heights) {
        match self {
            Windows::Lag(lag) => lag.end(bins, heights),
            Windows::Sums(sums) => sums.end(bins, heights),
        }
    }
}
