//! How high trailing windows rose, by bin, and how often they rose above the limit.

use super::Bins;

/// Over a number of keys.
#[derive(Debug, Clone)]
pub(super) struct Heights {
    /// By bin, attempts let through above the limit.
    pub over: Vec<u64>,
    /// By bin, the highest window of any one key.
    pub highest: Vec<u64>,
    /// No bin is lower than this: what is no higher need not be looked at closely.
    pub floor: u64,
    /// Whether any may have risen since the floor was looked for.
    pub rose: bool,
    /// Batches since then.
    batches: u32,
}

/// The floor is looked for no more often than once in so many batches.
const REST: u32 = 16;

impl Heights {
    pub fn new(bins: &Bins) -> Heights {
        let none = vec![0; bins.count];
        Heights { over: none.clone(), highest: none, floor: 0, rose: false, batches: 0 }
    }

    /// Another batch begins, before which the lowest bin is looked for anew now and then.
    pub fn begin_batch(&mut self) {
        self.batches += 1;
        if self.rose && self.batches >= REST {
            (self.rose, self.batches) = (false, 0);
            self.floor = self.highest.iter().copied().min().unwrap_or(0);
        }
    }
}
