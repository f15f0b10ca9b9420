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

    /// Become what others are that are counted alike.
    pub fn copy(&mut self, other: &Windows) {
        match (self, other) {
            (Windows::Lag(own), Windows::Lag(other)) => own.copy(other),
            (Windows::Sums(own), Windows::Sums(other)) => own.clone_from(other),
            _ => unreachable!("all algorithms are asked for the same costs"),
        }
    }

    /// The highest window; `None` before the first acceptance.
    pub fn peak(&self) -> Option<Peak> {
        match self {
            Windows::Lag(lag) => lag.peak(),
            Windows::Sums(sums) => sums.peak(),
        }
    }

    /// Take in acceptances, of which `base` attempts come before; `segments` are those of the first of them and of all
    /// after it. Gives how many were above the limit, as far as that is known before the history is [settled].
    ///
    /// [settled]: Self::settle
    pub fn accept(
        &mut self,
        bins: &Bins,
        accepted: Costing,
        base: usize,
        segments: &[Segment],
        heights: &mut Heights,
    ) -> u64 {
        match self {
            Windows::Lag(lag) => {
                lag.accept(accepted.0);
                0
            }
            Windows::Sums(sums) => sums.accept(bins, accepted, base, segments, heights),
        }
    }

    /// A history was taken in. Gives how many more were above the limit.
    pub fn settle(&mut self, bins: &Bins, heights: &mut Heights) -> u64 {
        match self {
            Windows::Lag(lag) => lag.settle(bins, heights),
            Windows::Sums(_) => 0,
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
