//! The event queue: events come out by instant, those of one instant in the order of insertion.
//!
//! A monotone radix heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990) with several buckets a level: an event lies
//! on the level of the highest digit in which its time differs from a base, in the bucket of that digit, and
//! moves down when its bucket is the first. So each is moved at most once a level instead of being compared
//! along a path of a heap. A first bucket of few events is sorted instead of moved down further: that is
//! quicker, and what those events need can be fetched from memory all at once. All events of one instant are
//! in one place, in the order of insertion, so ties need no sequence number.

use std::collections::VecDeque;

use crate::time::Instant;

/// Bits of a digit.
const BITS: u32 = 6;
/// Buckets of a level.
const DIGITS: usize = 1 << BITS;
/// Digits of a time.
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;

/// Events ordered by instant. No event may be added before the last one taken out.
#[derive(Debug)]
pub(super) struct Queue<T> {
    /// The time of the last event taken out.
    last: u64,
    /// The time of the earliest event, if there is one.
    next: u64,
    length: usize,
    /// The earliest events, in order: all whose time differs from `base` in digits below `depth` only.
    run: VecDeque<(u64, T)>,
    /// The levels below are empty.
    depth: u32,
    /// No later than `last`.
    base: u64,
    /// By level and digit.
    later: Vec<[Bucket<T>; DIGITS]>,
    /// By level, bit d is set if bucket d is not empty ...
    filled: [u64; LEVELS],
    /// ... and here bit l, if any of level l is.
    levels: u16,
    /// Empty chunks.
    spare: Vec<Vec<(u64, T)>>,
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

/// A first bucket of at most so many events is sorted.
const RUN: usize = 256;

/// A bucket of so many events is about to be taken out. Of those with fewer than the least, most have been
/// shown before as part of a larger one.
const SOON: std::ops::RangeInclusive<usize> = 16..=1024;

impl<T> Queue<T> {
    /// An empty queue.
    pub(super) fn new() -> Queue<T> {
        let empty = || Bucket { least: u64::MAX, chunks: Vec::new() };
        Queue {
            last: 0,
            next: u64::MAX,
            length: 0,
            run: VecDeque::new(),
            depth: 0,
            base: 0,
            later: (0..LEVELS).map(|_| std::array::from_fn(|_| empty())).collect(),
            filled: [0; LEVELS],
            levels: 0,
            spare: Vec::new(),
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
    #[inline]
    pub(super) fn push(&mut self, at: Instant, event: T) {
        let time = ordered(at);
        assert!(time >= self.last, "an event lies in the past");
        self.length += 1;
        self.next = self.next.min(time);
        self.place(time, event);
    }

    #[inline]
    fn place(&mut self, time: u64, event: T) {
        let level = match (time ^ self.base).checked_ilog2() {
            Some(bit) if bit / BITS >= self.depth => (bit / BITS) as usize,
            _ => return self.insert(time, event),
        };
        let digit = (time >> (level as u32 * BITS)) as usize % DIGITS;
        let bucket = &mut self.later[level][digit];
        bucket.push(time, event, &mut self.spare);
        self.filled[level] |= 1 << digit;
        self.levels |= 1 << level;
    }

    /// Adds an event to the run.
    fn insert(&mut self, time: u64, event: T) {
        if self.run.back().is_none_or(|(latest, _)| *latest <= time) {
            self.run.push_back((time, event));
        } else {
            let place = self.run.partition_point(|(other, _)| *other <= time);
            self.run.insert(place, (time, event));
        }
        // So that no run grows long to which events are added before its end: everything moves down.
        if self.depth > 0 && self.run.len() > 2 * RUN {
            self.depth = 0;
            self.base = self.last;
            for (time, event) in std::mem::take(&mut self.run) {
                self.place(time, event);
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
        (self.length > 0).then_some(instant(self.next))
    }

    /// Takes out the earliest event. `soon` is shown events that will be taken out before long, so
    /// that what they need can be fetched from memory all at once.
    #[inline]
    pub(super) fn pop(&mut self, soon: impl FnMut(&[(u64, T)])) -> Option<(Instant, T)> {
        if self.run.is_empty() {
            self.refill(soon)?;
        }
        let (time, event) = self.run.pop_front()?;
        self.length -= 1;
        self.last = time;
        self.next = self.earliest();
        Some((instant(time), event))
    }

    /// The time of the earliest event, if there is one.
    #[inline]
    fn earliest(&self) -> u64 {
        match (self.run.front(), self.first()) {
            (Some((time, _)), _) => *time,
            (None, Some((level, digit))) => self.later[level][digit].least,
            (None, None) => u64::MAX,
        }
    }

    /// Drops all events but those that `keep` names; the others keep their order.
    pub(super) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.run.retain(|(_, event)| keep(event));
        self.length = self.run.len();
        for level in 0..LEVELS {
            for digit in 0..DIGITS {
                let bucket = &mut self.later[level][digit];
                bucket.least = u64::MAX;
                for mut chunk in std::mem::take(&mut bucket.chunks) {
                    for (time, event) in chunk.drain(..).filter(|(_, event)| keep(event)) {
                        let bucket = &mut self.later[level][digit];
                        bucket.push(time, event, &mut self.spare);
                        self.length += 1;
                    }
                    self.discard(chunk);
                }
                if self.later[level][digit].chunks.is_empty() {
                    self.filled[level] &= !(1 << digit);
                }
            }
            if self.filled[level] == 0 {
                self.levels &= !(1 << level);
            }
        }
        self.next = self.earliest();
    }

    /// An empty chunk is kept for later, if there are not enough.
    fn discard(&mut self, chunk: Vec<(u64, T)>) {
        if self.spare.len() < SPARE {
            self.spare.push(chunk);
        }
    }

    /// Fills the empty run from the first bucket; what belongs to lower levels goes there.
    fn refill(&mut self, mut soon: impl FnMut(&[(u64, T)])) -> Option<()> {
        let (level, digit) = self.first()?;
        self.filled[level] &= !(1 << digit);
        if self.filled[level] == 0 {
            self.levels &= !(1 << level);
        }
        let bucket = &mut self.later[level][digit];
        self.base = std::mem::replace(&mut bucket.least, u64::MAX);
        let mut chunks = std::mem::take(&mut bucket.chunks);
        let events: usize = chunks.iter().map(Vec::len).sum();
        if SOON.contains(&events) {
            chunks.iter().for_each(|chunk| soon(chunk));
        }
        let sorts = events <= RUN;
        self.depth = if sorts { level as u32 } else { 0 };
        for mut chunk in chunks.drain(..) {
            if sorts {
                self.run.extend(chunk.drain(..));
            } else {
                chunk.drain(..).for_each(|(time, event)| self.place(time, event));
            }
            self.discard(chunk);
        }
        if sorts {
            self.run.make_contiguous().sort_by_key(|(time, _)| *time);
        }
        // Nothing came back to it.
        self.later[level][digit].chunks = chunks;
        Some(())
    }
}

impl<T> Bucket<T> {
    /// Adds an event; a chunk that is needed for it is taken from `spare`.
    #[inline(always)]
    fn push(&mut self, time: u64, event: T, spare: &mut Vec<Vec<(u64, T)>>) {
        self.least = self.least.min(time);
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push((time, event)),
            _ => {
                let mut chunk = spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK));
                chunk.push((time, event));
                self.chunks.push(chunk);
            }
        }
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

    /// Takes everything out, which is in order.
    fn drain(queue: &mut Queue<usize>) -> Vec<(i64, usize)> {
        let out = std::iter::from_fn(|| queue.pop(|_| {}));
        out.map(|(at, id)| (at.0, id)).collect()
    }

    #[test]
    fn many_events_may_be_added_between_the_earliest() {
        let mut queue = Queue::new();
        let mut expected = Vec::new();
        let mut add = |queue: &mut Queue<usize>, at: i64| {
            expected.push((at, expected.len()));
            queue.push(Instant(at), expected.len() - 1);
        };
        // All within one bucket of the highest level, so that the first of them, once taken out, leaves the rest
        // sorted; then many more, the later the earlier, at times that come up again and again.
        (0..100).for_each(|n| add(&mut queue, (1 << 40) + n * 1000));
        let first = queue.pop(|_| {}).map(|(at, id)| (at.0, id));
        for n in (0..5 * RUN as i64).rev() {
            add(&mut queue, (1 << 40) + n % 700 * 100);
        }
        assert_eq!(queue.len(), 99 + 5 * RUN);
        expected.sort_unstable();
        assert_eq!(first, Some(expected.remove(0)));
        assert_eq!(drain(&mut queue), expected);
    }

    #[test]
    fn what_comes_up_soon_is_shown_once_before_it_comes() {
        let mut queue = Queue::new();
        let count = 100_000;
        let times = (0..count).map(|n| n * 7919 % 100_003 * 1000);
        times.for_each(|at| queue.push(Instant(at), at));
        let shown = std::cell::RefCell::new(std::collections::BTreeSet::new());
        let soon = |events: &[(u64, i64)]| {
            events.iter().for_each(|(_, at)| assert!(shown.borrow_mut().insert(*at), "{at} again"));
        };
        let mut known = 0;
        while let Some((_, at)) = queue.pop(soon) {
            known += i64::from(shown.borrow().contains(&at));
        }
        assert!(known > count * 9 / 10, "{known}");
    }

    #[test]
    fn what_is_left_of_many_takes_no_more_chunks_than_it_needs() {
        let mut queue = Queue::new();
        let count = 40 * CHUNK;
        (0..count).for_each(|n| queue.push(Instant(1 << 40), n));
        queue.retain(|n| n % CHUNK == 0);
        let chunks = queue.later.iter().flatten().map(|bucket| bucket.chunks.len()).sum::<usize>();
        assert_eq!((queue.len(), chunks), (40, 1));
        assert_eq!(
            drain(&mut queue).iter().map(|(_, n)| n / CHUNK).collect::<Vec<_>>(),
            (0..40).collect::<Vec<_>>()
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Against a map from instant to the list of its events. Now and then hundreds are added or taken
        /// out at once, so that buckets are moved down and runs grow too long.
        #[test]
        fn order_is_that_of_a_sorted_map(
            steps in prop::collection::vec(
                (0_u8..20, 0_i64..60, 0_u32..40, prop_oneof![5 => Just(1_usize), 1 => 1..700_usize]),
                1..60,
            )
        ) {
            let mut queue = Queue::new();
            let mut map: BTreeMap<i64, VecDeque<usize>> = BTreeMap::new();
            let mut now = i64::from(i32::MIN);
            let mut id = 0;
            for (step, small, shift, count) in steps {
                if step == 0 {
                    let keep = |id: &usize| id % 3 != shift as usize % 3;
                    queue.retain(keep);
                    map.values_mut().for_each(|ids| ids.retain(keep));
                    map.retain(|_, ids| !ids.is_empty());
                    prop_assert_eq!(queue.len(), map.values().map(VecDeque::len).sum::<usize>());
                    continue;
                }
                for n in 0..count {
                    if step < 10 {
                        // Scattered where there are many, also before others.
                        let at = now + ((small * (1 + n as i64 * 37 % 101)) << shift);
                        queue.push(Instant(at), id);
                        map.entry(at).or_default().push_back(id);
                        id += 1;
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
                }
                prop_assert_eq!(queue.len(), map.values().map(VecDeque::len).sum::<usize>());
            }
        }
    }
}
