//! Sorts the columns of a record by time, in place and stably: requests of one instant stay as they are. Logs
//! are nearly in order, and then little is done; else four bytes a request are needed for the while.

use crate::time::Instant;

/// What moves with the times.
pub trait Rows {
    /// Exchanges two rows.
    fn swap(&mut self, one: usize, other: usize);
}

impl<T> Rows for Vec<T> {
    fn swap(&mut self, one: usize, other: usize) {
        self.as_mut_slice().swap(one, other);
    }
}

impl<T: Rows> Rows for Option<T> {
    fn swap(&mut self, one: usize, other: usize) {
        if let Some(rows) = self {
            rows.swap(one, other);
        }
    }
}

/// A request that is late is moved by so many places at most, on the average, before all are sorted.
const PLACES: usize = 8;

/// Sorts the times, at most 2^32 - 1 of them, and the rows with them.
pub fn sort(times: &mut Vec<Instant>, rows: &mut [&mut dyn Rows]) {
    let mut left = times.len().saturating_mul(PLACES);
    for index in 1..times.len() {
        let mut at = index;
        while at > 0 && times[at - 1] > times[at] {
            let Some(fewer) = left.checked_sub(1) else { return sort_all(times, rows) };
            left = fewer;
            times.swap(at - 1, at);
            rows.iter_mut().for_each(|rows| rows.swap(at - 1, at));
            at -= 1;
        }
    }
}

fn sort_all(times: &mut Vec<Instant>, rows: &mut [&mut dyn Rows]) {
    let mut order: Vec<u32> = (0..times.len() as u32).collect();
    order.sort_unstable_by_key(|&index| (times[index as usize], index));
    // The row that belongs at a place comes from `order[place]`; cycle after cycle, each is put there.
    for place in 0..order.len() {
        let mut at = place;
        loop {
            let from = order[at] as usize;
            order[at] = at as u32;
            if from == place {
                break;
            }
            times.swap(at, from);
            rows.iter_mut().for_each(|rows| rows.swap(at, from));
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_sorted_as_a_stable_sort_does(
            mut numbers in prop::collection::vec(0_i64..30, 0..200),
            nearly in any::<bool>(),
        ) {
            if nearly {
                numbers.sort_unstable();
                let last = numbers.len().saturating_sub(1);
                for at in (0..last).step_by(5) {
                    numbers.swap(at, at + 1);
                }
            }
            let mut times: Vec<Instant> = numbers.iter().map(|&number| Instant(number)).collect();
            let mut rows: Vec<usize> = (0..times.len()).collect();
            let mut expected: Vec<(Instant, usize)> = times.iter().copied().zip(rows.clone()).collect();
            expected.sort_by_key(|&(time, _)| time);
            sort(&mut times, &mut [&mut rows, &mut None::<Vec<u32>>]);
            prop_assert_eq!(times.into_iter().zip(rows).collect::<Vec<_>>(), expected);
        }
    }
}
