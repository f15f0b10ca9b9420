//! The requests of a log as two columns, times and keys, in the order of their times and by key: sixteen
//! bytes a request, the index by key included.

use std::ops::Range;

use crate::time::Instant;

/// There are at most so many requests.
pub const MOST: usize = u32::MAX as usize;

/// Requests in the order in which they were taken in, or sorted.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    at: Vec<Instant>,
    key: Vec<u32>,
}

/// Requests in the order of their times.
#[derive(Debug, Clone)]
pub struct Sorted {
    at: Vec<Instant>,
    key: Vec<u32>,
}

/// Which requests are whose.
#[derive(Debug, Clone)]
pub struct ByKey {
    positions: Vec<u32>,
    /// Where the positions of each key end.
    ends: Vec<u32>,
}

impl Columns {
    /// Takes a request of a key in.
    #[inline]
    pub fn push(&mut self, at: Instant, key: u32) {
        self.at.push(at);
        self.key.push(key);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// In the order of their times; of one time in the order in which they were taken in. Needs four more
    /// bytes a request for as long as it sorts.
    pub fn sorted(self) -> Sorted {
        let Columns { mut at, mut key } = self;
        if !at.is_sorted() {
            let mut order: Vec<u32> = (0..at.len() as u32).collect();
            order.sort_unstable_by_key(|&index| (at[index as usize], index));
            arrange(&mut order, &mut at, &mut key);
        }
        Sorted { at, key }
    }
}

/// Puts at each place what stands where `order` says, following one cycle after the other. What is in its
/// place is marked by an order that says so.
fn arrange(order: &mut [u32], at: &mut [Instant], key: &mut [u32]) {
    for start in 0..order.len() {
        let first = (at[start], key[start]);
        let mut place = start;
        loop {
            let from = order[place] as usize;
            order[place] = place as u32;
            if from == start {
                (at[place], key[place]) = first;
                break;
            }
            (at[place], key[place]) = (at[from], key[from]);
            place = from;
        }
    }
}

impl Sorted {
    /// All times.
    pub fn times(&self) -> &[Instant] {
        &self.at
    }

    /// The requests by key, of `keys` keys.
    pub fn by_key(&self, keys: usize) -> ByKey {
        // First how many each has, then where its next goes, which at last is where it ends.
        let mut ends = vec![0_u32; keys];
        self.key.iter().for_each(|&key| ends[key as usize] += 1);
        let mut start = 0;
        for slot in &mut ends {
            start += std::mem::replace(slot, start);
        }
        let mut positions = vec![0_u32; self.key.len()];
        for (position, &key) in (0_u32..).zip(&self.key) {
            let slot = &mut ends[key as usize];
            positions[*slot as usize] = position;
            *slot += 1;
        }
        ByKey { positions, ends }
    }

    /// The times of a key, put into `into` in their order.
    pub fn times_of(&self, by_key: &ByKey, key: usize, into: &mut Vec<Instant>) {
        into.clear();
        let positions = &by_key.positions[by_key.range(key)];
        into.extend(positions.iter().map(|&position| self.at[position as usize]));
    }
}

impl ByKey {
    /// How many requests a key has.
    pub fn requests(&self, key: usize) -> usize {
        self.range(key).len()
    }

    fn range(&self, key: usize) -> Range<usize> {
        let start = key.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[key] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A stable sort of pairs, and filters over it, are the reference.
        #[test]
        fn requests_are_sorted_and_grouped(requests in prop::collection::vec((0_i64..20, 0_u32..5), 0..40)) {
            let mut columns = Columns::default();
            requests.iter().for_each(|&(at, key)| columns.push(Instant(at), key));
            prop_assert_eq!(columns.len(), requests.len());
            let mut expected = requests;
            expected.sort_by_key(|(at, _)| *at);
            let sorted = columns.sorted();
            let found: Vec<(i64, u32)> = sorted.at.iter().zip(&sorted.key).map(|(at, key)| (at.0, *key)).collect();
            prop_assert_eq!(&found, &expected);
            let by_key = sorted.by_key(5);
            let mut times = Vec::new();
            for key in 0..5 {
                sorted.times_of(&by_key, key, &mut times);
                let of_key: Vec<Instant> =
                    expected.iter().filter(|(_, other)| *other as usize == key).map(|(at, _)| Instant(*at)).collect();
                prop_assert_eq!(&times, &of_key);
                prop_assert_eq!(by_key.requests(key), of_key.len());
            }
        }
    }
}
