//! How high trailing windows rose, and for which key above its promise the highest.

use crate::rate::Limit;
use crate::time::Instant;

/// The largest cost accepted for one key in any trailing window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// The cost.
    pub cost: u64,
    /// The first acceptance in that window.
    pub from: Instant,
    /// The last, at which the peak was reached first.
    pub to: Instant,
}

impl Peak {
    /// The peak in units of the limit; `None` for a limit of zero.
    pub fn ratio(&self, promise: &Limit) -> Option<f64> {
        (promise.requests > 0).then(|| self.cost as f64 / promise.requests as f64)
    }
}

/// A key as it is compared with others of its limit, of which the one is told whose trailing window rose highest
/// above its promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worst {
    /// The key, by its position in the list.
    pub key: usize,
    /// What was promised for it.
    pub promise: Limit,
    /// How high its window rose; `None` where nothing was accepted.
    pub peak: Option<Peak>,
}

impl Worst {
    /// The one of two keys of a limit that rose higher; of equals the first of the list.
    pub fn worse(self, other: Worst) -> Worst {
        let (first, second) = if self.key <= other.key { (self, other) } else { (other, self) };
        if second.rose_higher(&first) { second } else { first }
    }

    /// The cost of its peak; 0 where nothing was accepted.
    pub fn cost(&self) -> u64 {
        self.peak.map_or(0, |peak| peak.cost)
    }

    /// Whether this key's peak, in units of its promise, is above another's. Anything accepted under
    /// a promise of nothing is above all else.
    pub(super) fn rose_higher(&self, other: &Worst) -> bool {
        let cost = |key: &Worst| u128::from(key.cost());
        let promised = |key: &Worst| u128::from(key.promise.requests);
        match (promised(self), promised(other)) {
            (0, 0) => cost(self) > cost(other),
            (0, _) => cost(self) > 0,
            (_, 0) => cost(other) == 0 && cost(self) > 0,
            (own, others) => cost(self) * others > cost(other) * own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn key(key: usize, requests: u64, cost: Option<u64>) -> Worst {
        let peak = cost.map(|cost| Peak { cost, from: Instant(0), to: Instant(1) });
        Worst { key, promise: Limit::new(requests, Span::from_secs(1)), peak }
    }

    #[test]
    fn the_worst_is_found_in_whatever_order_keys_are_compared() {
        let highest = [
            // 3/2 and 6/4 are equal, 4/3 is less.
            (vec![key(0, 3, Some(4)), key(1, 4, Some(6)), key(2, 2, Some(3))], 1),
            // Anything above nothing is highest, and of those the higher.
            (vec![key(0, 1, Some(9)), key(1, 0, Some(1)), key(2, 0, Some(2))], 2),
            (vec![key(0, 0, None), key(1, 5, Some(1)), key(2, 0, None)], 1),
            (vec![key(0, 5, None), key(1, 0, None)], 0),
        ];
        for (mut keys, worst) in highest {
            for _ in 0..keys.len() {
                keys.rotate_left(1);
                let found = keys.iter().copied().reduce(Worst::worse).unwrap();
                assert_eq!(found.key, worst, "{keys:?}");
            }
            keys.reverse();
            assert_eq!(keys.into_iter().reduce(Worst::worse).unwrap().key, worst);
        }
    }
}
