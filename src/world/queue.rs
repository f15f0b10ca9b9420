//! The event queue: events come out by instant, those of one instant in the order of insertion.
//!
//! A monotone radix heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990) with several buckets a level: an event lies
//! on the level of the highest digit in which its time differs from the last one taken out, in the bucket
//! of that digit, and moves down when its bucket is the first. So each is moved at most once a level
//! instead of being compared along a path of a heap. All events of one instant are in one bucket, in the
//! order of insertion, so ties need no sequence number.

use std::collections::VecDeque;

use crate::time::Instant;

/// Bits of a digit.
const BITS: u32 = 4;
/// Buckets of a level.
const DIGITS: usize = 1 << BITS;
/// Digits of a time.
const LEVELS: usize = (u64::BITS / BITS) as usize;

/// Events ordered by instant. No event may be added before the last one taken out.
#[derive(Debug)]
pub(super) struct Queue<T> {
    /// The time of the last event taken out.
    last: u64,
    /// Events of time `last`.
    due: VecDeque<T>,
    /// By level and digit.
    later: Vec<[Bucket<T>; DIGITS]>,
    /// By level, bit d is set if bucket d is not empty ...
    filled: [u16; LEVELS],
    /// ... and here bit l, if any of level l is.
    levels: u16,
    /// Empty chunks.
    spare: Vec<Vec<(u64, T)>>,
    length: usize,
}

/// Chunks rather than one list that grows by doubling: a million events take no more than their own size, and
/// nothing is copied.
#[derive(Debug)]
struct Bucket<T> {
    least: u64,
    chunks: Vec<Vec<(u64, T)>>,
}

/// Events of a chunk.
const CHUNK: usize = 256;

/// So many empty chunks are kept for later.
const SPARE: usize = 64;

/// A bucket of at most so many events is about to be taken out. Of those with fewer than the least, most have
/// been shown before as part of a larger one.
const SOON: std::ops::RangeInclusive<usize> = 8..=CHUNK;

impl<T> Queue<T> {
    /// An empty queue.
    pub(super) fn new() -> Queue<T> {
        let empty = || Bucket { least: u64::MAX, chunks: Vec::new() };
        Queue {
            last: 0,
            due: VecDeque::new(),
            later: (0..LEVELS).map(|_| std::array::from_fn(|_| empty())).collect(),
            filled: [0; LEVELS],
            levels: 0,
            spare: Vec::new(),
            length: 0,
        }
    }

    /// How many events are in it.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Adds an event.
    ///
    /// # Panics
    /// If it lies before the last event taken out.
    pub(super) fn push(&mut self, at: Instant, event: T) {
        let time = ordered(at);
        assert!(time >= self.last, "an event lies in the past");
        self.length += 1;
        self.place(time, event);
    }

    #[inline]
    fn place(&mut self, time: u64, event: T) {
        let Some(bit) = (time ^ self.last).checked_ilog2() else {
            return self.due.push_back(event);
        };
        let level = (bit / BITS) as usize;
        let digit = (time >> (level as u32 * BITS)) as usize % DIGITS;
        let bucket = &mut self.later[level][digit];
        bucket.least = bucket.least.min(time);
        self.filled[level] |= 1 << digit;
        self.levels |= 1 << level;
        match bucket.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push((time, event)),
            _ => {
                let fresh = || Vec::with_capacity(CHUNK);
                let mut chunk = self.spare.pop().unwrap_or_else(fresh);
                chunk.push((time, event));
                bucket.chunks.push(chunk);
            }
        }
    }

    /// The level and digit of the first bucket that is not empty.
    #[inline]
    fn first(&self) -> Option<(usize, usize)> {
        let level = self.levels.trailing_zeros() as usize;
        let digits = *self.filled.get(level)?;
        Some((level, digits.trailing_zeros() as usize))
    }

    /// When the earliest event lies.
    #[inline]
    pub(super) fn next_at(&self) -> Option<Instant> {
        if !self.due.is_empty() {
            return Some(instant(self.last));
        }
        let (level, digit) = self.first()?;
        Some(instant(self.later[level][digit].least))
    }

    /// Takes out the earliest event. `soon` is shown events that will be taken out before long, so
    /// that what they need can be fetched from memory all at once.
    #[inline]
    pub(super) fn pop(&mut self, soon: impl Fn(&[(u64, T)])) -> Option<(Instant, T)> {
        if self.due.is_empty() {
            self.refill(soon)?;
        }
        let event = self.due.pop_front()?;
        self.length -= 1;
        Some((instant(self.last), event))
    }

    /// Moves the events of the first bucket to lower levels, the earliest to `due`.
    fn refill(&mut self, soon: impl Fn(&[(u64, T)])) -> Option<()> {
        let (level, digit) = self.first()?;
        self.filled[level] &= !(1 << digit);
        if self.filled[level] == 0 {
            self.levels &= !(1 << level);
        }
        let bucket = &mut self.later[level][digit];
        self.last = std::mem::replace(&mut bucket.least, u64::MAX);
        let mut chunks = std::mem::take(&mut bucket.chunks);
        if let [only] = &chunks[..]
            && SOON.contains(&only.len())
        {
            soon(only);
        }
        for mut chunk in chunks.drain(..) {
            for (time, event) in chunk.drain(..) {
                self.place(time, event);
            }
            if self.spare.len() < SPARE {
                self.spare.push(chunk);
            }
        }
        // Every event went to a lower level.
        self.later[level][digit].chunks = chunks;
        Some(())
    }
}

/// Instants as unsigned numbers in the same order.
fn ordered(at: Instant) -> u64 {
    (at.0 as u64) ^ (1 << 63)
}

fn instant(time: u64) -> Instant {
    Instant((time ^ (1 << 63)) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn events_of_one_instant_come_out_in_the_order_of_insertion() {
        let mut queue = Queue::new();
        for (at, name) in [(5, 'a'), (-3, 'b'), (5, 'c'), (4, 'd'), (5, 'e')] {
            queue.push(Instant(at), name);
        }
        let order = std::iter::from_fn(|| queue.pop(|_| {}));
        let order: Vec<_> = order.map(|(at, name)| (at.0, name)).collect();
        assert_eq!(order, [(-3, 'b'), (4, 'd'), (5, 'a'), (5, 'c'), (5, 'e')]);
        assert_eq!((queue.len(), queue.next_at()), (0, None));
    }

    proptest! {
        /// Against a map from instant to the list of its events.
        #[test]
        fn order_is_that_of_a_sorted_map(
            steps in prop::collection::vec((any::<bool>(), 0_i64..60, 0_u32..40), 1..300)
        ) {
            let mut queue = Queue::new();
            let mut map: BTreeMap<i64, VecDeque<usize>> = BTreeMap::new();
            let mut now = i64::from(i32::MIN);
            for (id, (push, small, shift)) in steps.into_iter().enumerate() {
                let at = now + (small << (shift % 40));
                if push {
                    queue.push(Instant(at), id);
                    map.entry(at).or_default().push_back(id);
                    continue;
                }
                let expected = map.first_entry().map(|mut entry| {
                    now = *entry.key();
                    let id = entry.get_mut().pop_front().unwrap();
                    if entry.get().is_empty() {
                        entry.remove();
                    }
                    (Instant(now), id)
                });
                prop_assert_eq!(queue.next_at(), expected.map(|(at, _)| at));
                prop_assert_eq!(queue.pop(|_| {}), expected);
                prop_assert_eq!(queue.len(), map.values().map(VecDeque::len).sum::<usize>());
            }
        }
    }
}
