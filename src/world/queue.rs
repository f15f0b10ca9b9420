//! The event queue: events come out by instant, those of one instant in the order of insertion.
//!
//! A monotone radix heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990): events are kept in buckets by the
//! highest bit in which their time differs from the last one taken out, so that each is moved at
//! most once a bit instead of being compared along a path of a heap. Buckets keep the order of
//! insertion, so ties need no sequence number.

use std::collections::VecDeque;

use crate::time::Instant;

/// Events ordered by instant. No event may be added before the last one taken out.
#[derive(Debug)]
pub(super) struct Queue<T> {
    /// The time of the last event taken out.
    last: u64,
    /// Events of time `last`.
    due: VecDeque<T>,
    /// Bucket b: events whose time differs from `last` in bit b and no higher one.
    later: [Bucket<T>; 64],
    /// Bit b is set if bucket b is not empty.
    filled: u64,
    length: usize,
}

#[derive(Debug)]
struct Bucket<T> {
    least: u64,
    events: Vec<(u64, T)>,
}

impl<T> Queue<T> {
    /// An empty queue.
    pub(super) fn new() -> Queue<T> {
        Queue {
            last: 0,
            due: VecDeque::new(),
            later: std::array::from_fn(|_| Bucket { least: u64::MAX, events: Vec::new() }),
            filled: 0,
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

    fn place(&mut self, time: u64, event: T) {
        match (time ^ self.last).checked_ilog2() {
            None => self.due.push_back(event),
            Some(bit) => {
                let bucket = &mut self.later[bit as usize];
                bucket.least = bucket.least.min(time);
                bucket.events.push((time, event));
                self.filled |= 1 << bit;
            }
        }
    }

    /// Takes out the earliest event if it lies at `until` or before.
    pub(super) fn pop_until(&mut self, until: Instant) -> Option<(Instant, T)> {
        let until = ordered(until);
        if self.due.is_empty() {
            if self.filled == 0 {
                return None;
            }
            let bit = self.filled.trailing_zeros() as usize;
            let bucket = &mut self.later[bit];
            if bucket.least > until {
                return None;
            }
            self.filled &= self.filled - 1;
            self.last = std::mem::replace(&mut bucket.least, u64::MAX);
            let mut events = std::mem::take(&mut bucket.events);
            for (time, event) in events.drain(..) {
                self.place(time, event);
            }
            // Every event went to a lower bucket; the memory serves the next ones of this bucket.
            self.later[bit].events = events;
        } else if self.last > until {
            return None;
        }
        let event = self.due.pop_front()?;
        self.length -= 1;
        Some((instant(self.last), event))
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
        let order = std::iter::from_fn(|| queue.pop_until(Instant(5)));
        let order: Vec<_> = order.map(|(at, name)| (at.0, name)).collect();
        assert_eq!(order, [(-3, 'b'), (4, 'd'), (5, 'a'), (5, 'c'), (5, 'e')]);
        assert_eq!(queue.len(), 0);
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
                let expected = match map.first_entry() {
                    Some(mut entry) if *entry.key() <= at => {
                        let key = *entry.key();
                        let id = entry.get_mut().pop_front().unwrap();
                        if entry.get().is_empty() {
                            entry.remove();
                        }
                        now = key;
                        Some((Instant(key), id))
                    }
                    _ => None,
                };
                prop_assert_eq!(queue.pop_until(Instant(at)), expected);
                prop_assert_eq!(queue.len(), map.values().map(VecDeque::len).sum::<usize>());
            }
        }
    }
}
