//! The keys of a log: which are the busiest, and how much of all requests is theirs.

use std::cmp::Reverse;

use super::columns::Sorted;
use super::peaks::{MINUTE, Peak, WINDOWS, peaks};
use crate::time::Instant;

/// One key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFigures {
    /// Its name.
    pub name: String,
    /// How many requests it has.
    pub requests: u64,
    /// Its peaks, by window.
    pub peaks: [Peak; WINDOWS.len()],
}

/// All keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyTable {
    /// How many there are.
    pub keys: u64,
    /// Those with the most requests, the busiest first.
    pub busiest: Vec<KeyFigures>,
    /// Those with the highest peaks in a minute, the highest first.
    pub highest: Vec<KeyFigures>,
    /// The requests of the busiest key, of the busiest hundredth of all keys and of the busiest tenth; each
    /// has one key at least.
    pub shares: [Share; 3],
    /// A limit that few would meet.
    pub threshold: Threshold,
}

/// The requests of the busiest keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// How many keys.
    pub keys: u64,
    /// How many requests they have together.
    pub requests: u64,
}

/// A number of requests in a minute that at most one key in a hundred goes above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold {
    /// The number: the 99th percentile of the keys' peaks in a minute, by the nearest rank.
    pub requests: u64,
    /// How many keys go above it.
    pub above: u64,
}

impl KeyTable {
    /// Of requests of so many keys, with the `top` keys of each list, named by `name`; those that are equal stand in
    /// the order of their `bytes`.
    ///
    /// # Panics
    /// If there is no request, or a key has none.
    pub fn of<'b>(
        sorted: &Sorted,
        keys: usize,
        top: usize,
        bytes: &dyn Fn(usize) -> &'b [u8],
        name: &dyn Fn(usize) -> String,
    ) -> KeyTable {
        let by_key = sorted.by_key(keys);
        let mut times: Vec<Instant> = Vec::new();
        let mut in_a_minute: Vec<u32> = Vec::with_capacity(keys);
        for key in 0..keys {
            sorted.times_of(&by_key, key, &mut times);
            in_a_minute.push(peaks(&times)[MINUTE].requests as u32);
        }
        let mut order: Vec<u32> = (0..keys as u32).collect();
        let by = |rank: &dyn Fn(usize) -> Reverse<usize>, order: &mut [u32]| {
            order.sort_unstable_by(|&one, &other| {
                let (one, other) = (one as usize, other as usize);
                rank(one).cmp(&rank(other)).then_with(|| bytes(one).cmp(bytes(other)))
            });
        };
        by(&|key| Reverse(by_key.requests(key)), &mut order);
        let mut figures = |order: &[u32]| -> Vec<KeyFigures> {
            let of = |&key: &u32| {
                let key = key as usize;
                sorted.times_of(&by_key, key, &mut times);
                KeyFigures { name: name(key), requests: times.len() as u64, peaks: peaks(&times) }
            };
            order.iter().take(top).map(of).collect()
        };
        let busiest = figures(&order);
        let shares = [keys.min(1), keys.div_ceil(100), keys.div_ceil(10)].map(|first| Share {
            keys: first as u64,
            requests: order[..first].iter().map(|&key| by_key.requests(key as usize) as u64).sum(),
        });
        by(&|key| Reverse(in_a_minute[key] as usize), &mut order);
        let highest = figures(&order);
        let threshold = Threshold::of(in_a_minute);
        KeyTable { keys: keys as u64, busiest, highest, shares, threshold }
    }
}

impl Threshold {
    /// Of the peaks of all keys, at least one.
    fn of(mut peaks: Vec<u32>) -> Threshold {
        peaks.sort_unstable();
        let rank = (peaks.len() * 99).div_ceil(100);
        let requests = peaks[rank - 1];
        let above = peaks.iter().filter(|&&peak| peak > requests).count();
        Threshold { requests: u64::from(requests), above: above as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::Columns;
    use super::*;
    use crate::time::SECOND;

    /// Requests as (second, key).
    fn table(requests: &[(i64, u32)], keys: usize, top: usize) -> KeyTable {
        let mut columns = Columns::default();
        requests
            .iter()
            .for_each(|&(second, key)| columns.push(Instant(second * SECOND as i64), key));
        let names: Vec<String> = (0..keys).map(|key| format!("k{key}")).collect();
        let bytes = |key: usize| names[key].as_bytes();
        KeyTable::of(&columns.sorted(), keys, top, &bytes, &|key| names[key].clone())
    }

    #[test]
    fn the_busiest_and_the_highest_need_not_be_the_same() {
        // Key 0: one a minute for four minutes. Key 1: three at once. Key 2: one.
        let requests = [(0, 0), (60, 0), (120, 0), (180, 0), (30, 1), (30, 1), (30, 1), (90, 2)];
        let table = table(&requests, 3, 2);
        let names = |list: &[KeyFigures]| -> Vec<String> {
            list.iter()
                .map(|key| format!("{} {} {}", key.name, key.requests, key.peaks[MINUTE].requests))
                .collect()
        };
        assert_eq!(names(&table.busiest), ["k0 4 1", "k1 3 3"]);
        assert_eq!(names(&table.highest), ["k1 3 3", "k0 4 1"]);
        assert_eq!(
            table.shares.map(|share| (share.keys, share.requests)),
            [(1, 4), (1, 4), (1, 4)]
        );
        assert_eq!(table.threshold, Threshold { requests: 3, above: 0 });
    }

    #[test]
    fn of_two_hundred_keys_two_are_a_hundredth_and_two_may_go_above() {
        // Key k has k requests at once, from 1 to 200: 20,100 in all. The nearest rank of the 99th
        // percentile of 200 is the 198th: 198 a minute, which 199 and 200 go above.
        let requests: Vec<(i64, u32)> =
            (1..=200_u32).flat_map(|count| (0..count).map(move |_| (0, count - 1))).collect();
        let table = table(&requests, 200, 1);
        let shares = table.shares.map(|share| (share.keys, share.requests));
        // 181 to 200 are 20 numbers of 190.5 on average: 3,810.
        assert_eq!(shares, [(1, 200), (2, 399), (20, 3810)]);
        assert_eq!(table.threshold, Threshold { requests: 198, above: 2 });
    }

    #[test]
    fn of_one_key_that_key_is_all() {
        let table = table(&[(0, 0), (1, 0)], 1, 10);
        assert_eq!(table.shares.map(|share| share.requests), [2, 2, 2]);
        assert_eq!(table.threshold, Threshold { requests: 2, above: 0 });
    }
}
