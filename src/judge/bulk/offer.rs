//! What is offered: the same for all algorithms.

use super::Bins;
use crate::algorithm::Batch;

/// All attempts.
pub(super) struct Offer {
    /// By bin, how many attempts were made ...
    pub attempts: Vec<u64>,
    /// ... and by how many keys.
    pub keys: Vec<u64>,
    /// The bin of the last attempt of the key at hand.
    last: Option<u32>,
}

impl Offer {
    pub fn new(bins: &Bins) -> Offer {
        Offer { attempts: vec![0; bins.count], keys: vec![0; bins.count], last: None }
    }

    /// The attempts of a batch are made.
    pub fn ask(&mut self, batch: &Batch) {
        let (mut from, mut segment) = (0, 0);
        for history in batch.histories {
            if history.starts {
                self.last = None;
            }
            let range = segment..history.segments_end as usize;
            segment = range.end;
            for segment in &batch.segments[range] {
                let bin = segment.bin as usize;
                self.attempts[bin] += u64::from(segment.end - from);
                self.keys[bin] += u64::from(self.last != Some(segment.bin));
                self.last = Some(segment.bin);
                from = segment.end;
            }
        }
    }
}
