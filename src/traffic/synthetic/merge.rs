//! The streams of a family: one alone, or all of them merged in time order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::Pattern;
use super::family::Family;
use super::mix::{Mark, Marks};
use crate::traffic::Arrival;

/// An open stream.
struct Open<T> {
    times: T,
    marks: Marks,
}

/// The stream of a client among others, which may be very many.
struct Asking<T> {
    client: u32,
    open: Open<T>,
}

impl<T> Open<T> {
    fn new<P: Pattern<Times = T>>(family: &Family, pattern: &P, client: usize) -> Open<T> {
        Open { times: pattern.times(family, client), marks: family.marks(client) }
    }
}

/// The requests of one client.
pub struct Alone<'a, T> {
    family: &'a Family,
    client: usize,
    open: Open<T>,
}

impl<'a, T> Alone<'a, T> {
    /// Opens the stream of a client.
    pub(super) fn open<P>(family: &'a Family, pattern: &P, client: usize) -> Alone<'a, T>
    where
        P: Pattern<Times = T>,
    {
        Alone { family, client, open: Open::new(family, pattern, client) }
    }
}

impl<T: Iterator<Item = u64>> Iterator for Alone<'_, T> {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let offset = self.open.times.next()?;
        let mark = self.family.mark(&mut self.open.marks);
        Some(self.family.arrival(self.client, offset, mark))
    }
}

/// The requests of all clients in time order; of one instant in the order of the clients.
///
/// One heap over hundreds of thousands of streams would miss the cache at every level. So time is cut
/// into slices in which about a quarter of the streams have a request: a sweep over all streams takes
/// the first request of each, which are sorted at once, and only the streams that have more in the
/// slice go through a heap. Slices change the speed alone; memory is bounded by the number of streams.
pub struct Merged<'a, T> {
    family: &'a Family,
    /// The streams of all clients that ask at all, in the order of the clients.
    asking: Vec<Asking<T>>,
    /// The next request of each stream that is not in the heap.
    heads: Vec<u64>,
    /// The first offset after the slice.
    end: u64,
    /// The first request of each stream in the slice, sorted.
    firsts: Vec<First>,
    /// How many of them were given out.
    given: usize,
    /// The next request of each stream that has more in the slice.
    more: BinaryHeap<Reverse<Rank>>,
    /// Heads from which the next slice is chosen.
    sample: Vec<u64>,
}

/// The head of a stream that has no more requests.
const NEVER: u64 = u64::MAX;

/// A time above, the position of the stream in the lowest 32 bits, so that one comparison orders both.
type Rank = u128;

struct First {
    rank: Rank,
    mark: Mark,
}

fn rank(offset: u64, position: usize) -> Rank {
    (u128::from(offset) << 32) | position as u128
}

fn unrank(rank: Rank) -> (u64, usize) {
    ((rank >> 32) as u64, rank as u32 as usize)
}

impl<'a, T: Iterator<Item = u64>> Merged<'a, T> {
    /// Opens the streams of all clients.
    pub(super) fn open<P>(family: &'a Family, pattern: &P) -> Merged<'a, T>
    where
        P: Pattern<Times = T>,
    {
        let mut asking = Vec::new();
        let mut heads = Vec::new();
        for client in 0..family.clients() {
            let mut times = pattern.times(family, client);
            // Of millions of clients, most may never ask.
            if let Some(head) = times.next() {
                let open = Open { times, marks: family.marks(client) };
                asking.push(Asking { client: client as u32, open });
                heads.push(head);
            }
        }
        Merged {
            family,
            asking,
            heads,
            end: 0,
            firsts: Vec::new(),
            given: 0,
            more: BinaryHeap::new(),
            sample: Vec::new(),
        }
    }

    /// Fills the next slice; it stays empty if there are no more requests.
    fn fill(&mut self) {
        self.end = self.next_end();
        self.firsts.clear();
        self.given = 0;
        for (position, head) in self.heads.iter_mut().enumerate() {
            if *head >= self.end {
                continue;
            }
            let open = &mut self.asking[position].open;
            let mark = self.family.mark(&mut open.marks);
            self.firsts.push(First { rank: rank(*head, position), mark });
            *head = open.times.next().unwrap_or(NEVER);
            if *head < self.end {
                self.more.push(Reverse(rank(*head, position)));
            }
        }
        self.firsts.sort_unstable_by_key(|first| first.rank);
    }

    /// Where the next slice ends: past the first quarter of the heads, by a sample of them, and past
    /// all of them where they are few.
    fn next_end(&mut self) -> u64 {
        const FEW: usize = 32;
        const MANY: usize = 4096;
        let step = (self.heads.len() / MANY).max(1);
        self.sample.clear();
        let heads = self.heads.iter().step_by(step);
        self.sample.extend(heads.filter(|&&head| head != NEVER));
        if self.sample.len() < FEW {
            return NEVER;
        }
        let quarter = self.sample.len() / 4;
        *self.sample.select_nth_unstable(quarter).1 + 1
    }
}

impl<T: Iterator<Item = u64>> Iterator for Merged<'_, T> {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        if self.given == self.firsts.len() && self.more.is_empty() {
            self.fill();
        }
        let more = self.more.peek_mut();
        if let Some(first) = self.firsts.get(self.given)
            && more.as_ref().is_none_or(|more| first.rank <= more.0)
        {
            self.given += 1;
            let (offset, position) = unrank(first.rank);
            let client = self.asking[position].client as usize;
            return Some(self.family.arrival(client, offset, first.mark));
        }
        let mut more = more?;
        let (offset, position) = unrank(more.0);
        let Asking { client, open } = &mut self.asking[position];
        let mark = self.family.mark(&mut open.marks);
        let head = open.times.next().unwrap_or(NEVER);
        if head < self.end {
            *more = Reverse(rank(head, position));
        } else {
            self.heads[position] = head;
            PeekMut::pop(more);
        }
        Some(self.family.arrival(*client as usize, offset, mark))
    }
}
