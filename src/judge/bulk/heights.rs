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
}

impl Heights {
    pub fn new(bins: &Bins) -> Heights {
        Heights { over: vec![0; bins.count], highest: vec![0; bins.count], floor: 0 }
    }

    /// Looks anew for the lowest bin.
    pub fn settle(&mut self) {
        self.floor = self.highest.iter().copied().min().unwrap_or(0);
    }

    pub fn merge(&mut self, other: &Heights) {
        for (own, others) in self.over.iter_mut().zip(&other.over) {
            *own += others;
        }
        for (own, others) in self.highest.iter_mut().zip(&other.highest) {
            *own = (*own).max(*others);
        }
    }
}
