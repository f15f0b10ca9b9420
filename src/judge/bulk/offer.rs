//! What is offered, and how high windows would rise if all of it were let through: the same for all algorithms, and
//! what is found under each that has denied nothing to a key.

use super::heights::Heights;
use super::lag::Lag;
use super::{Bins, Place};
use crate::algorithm::Batch;
use crate::judge::Peak;
use crate::rate::Limit;

/// All attempts, as if they were let through.
pub(super) struct Offer {
    /// `None` where attempts cost more than 1: then every algorithm is judged for itself.
    lag: Option<Lag>,
    accepted: u64,
    over_limit: u64,
    /// By bin, how many attempts were made ...
    offered: Vec<u64>,
    /// ... and by how many keys.
    asked: Vec<u64>,
    /// The bin of the last attempt of the key at hand.
    last: Option<u32>,
    /// By set of algorithms, a bit for each, what was found for keys to which just those had denied nothing.
    shared: Vec<(u64, Heights)>,
    /// The set of the key at hand.
    together: u64,
    bins: Bins,
}

impl Offer {
    pub fn new(bins: &Bins, units: bool) -> Offer {
        Offer {
            lag: units.then(Lag::default),
            accepted: 0,
            over_limit: 0,
            offered: vec![0; bins.count],
            asked: vec![0; bins.count],
            last: None,
            shared: Vec::new(),
            together: 0,
            bins: *bins,
        }
    }

    pub fn begin_batch(&mut self) {
        self.shared.iter_mut().for_each(|(_, heights)| heights.settle());
    }

    pub fn begin(&mut self, promise: Limit) {
        if let Some(lag) = &mut self.lag {
            lag.begin(promise);
        }
        (self.accepted, self.over_limit, self.last, self.together) = (0, 0, None, 0);
    }

    /// The window, if algorithms can be judged together.
    pub fn lag(&self) -> Option<&Lag> {
        self.lag.as_ref()
    }

    /// What was let through, and of that above the limit, by those who have denied nothing.
    pub fn counts(&self) -> (u64, u64) {
        (self.accepted, self.over_limit)
    }

    pub fn peak(&self) -> Option<Peak> {
        self.lag.as_ref().and_then(Lag::peak)
    }

    /// The attempts of a history are made.
    pub fn ask(&mut self, batch: &Batch, place: &Place) {
        let mut from = place.from as u32;
        for segment in &batch.segments[place.segment..place.segments_end] {
            let bin = segment.bin as usize;
            self.offered[bin] += u64::from(segment.end - from);
            self.asked[bin] += u64::from(self.last != Some(segment.bin));
            self.last = Some(segment.bin);
            from = segment.end;
        }
    }

    /// They are let through by these algorithms, which have denied nothing to the key.
    pub fn accept(&mut self, bins: &Bins, batch: &Batch, place: &Place, together: u64) {
        let Some(lag) = &mut self.lag else { return };
        let times = &batch.times[place.from..place.to];
        let segments = &batch.segments[place.segment..place.segments_end];
        let heights = heights(&mut self.shared, together, &self.bins);
        self.over_limit += lag.accept(bins, times, place.from, segments, heights);
        self.accepted += times.len() as u64;
        self.together = together;
    }

    /// The key's history is over.
    pub fn end(&mut self, bins: &Bins) {
        if let (Some(lag), true) = (&mut self.lag, self.together != 0) {
            lag.end(bins, heights(&mut self.shared, self.together, &self.bins));
        }
    }

    /// By bin, attempts and keys; and by set of algorithms, what they have in common.
    pub fn finish(self) -> (Vec<u64>, Vec<u64>, Vec<(u64, Heights)>) {
        (self.offered, self.asked, self.shared)
    }
}

/// What a set of algorithms has in common.
fn heights<'a>(shared: &'a mut Vec<(u64, Heights)>, together: u64, bins: &Bins) -> &'a mut Heights {
    let position = match shared.iter().position(|(set, _)| *set == together) {
        Some(position) => position,
        None => {
            shared.push((together, Heights::new(bins)));
            shared.len() - 1
        }
    };
    &mut shared[position].1
}
