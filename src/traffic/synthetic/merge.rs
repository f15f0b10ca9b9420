//! The streams of a family: one alone, or all of them merged in time order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::Pattern;
use super::family::Family;
use super::mix::Marks;
use crate::traffic::Arrival;

/// An open stream.
struct Open<T> {
    times: T,
    marks: Marks,
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
        Some(self.family.arrival(self.client, offset, &mut self.open.marks))
    }
}

/// The requests of all clients in time order; of one instant in the order of the clients.
pub struct Merged<'a, T> {
    family: &'a Family,
    open: Vec<Open<T>>,
    heads: BinaryHeap<Reverse<Head>>,
}

/// The next request of a stream: its time above, the number of the stream in the lowest 32 bits, so
/// that one comparison orders both.
type Head = u128;

fn head(offset: u64, client: usize) -> Reverse<Head> {
    Reverse((u128::from(offset) << 32) | client as u128)
}

impl<'a, T: Iterator<Item = u64>> Merged<'a, T> {
    /// Opens the streams of all clients.
    pub(super) fn open<P>(family: &'a Family, pattern: &P) -> Merged<'a, T>
    where
        P: Pattern<Times = T>,
    {
        let mut open: Vec<Open<T>> =
            (0..family.clients()).map(|client| Open::new(family, pattern, client)).collect();
        let heads = open
            .iter_mut()
            .enumerate()
            .filter_map(|(client, open)| Some(head(open.times.next()?, client)))
            .collect();
        Merged { family, open, heads }
    }
}

impl<T: Iterator<Item = u64>> Iterator for Merged<'_, T> {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let mut first = self.heads.peek_mut()?;
        let (offset, client) = ((first.0 >> 32) as u64, first.0 as u32 as usize);
        let open = &mut self.open[client];
        let arrival = self.family.arrival(client, offset, &mut open.marks);
        match open.times.next() {
            Some(next) => *first = head(next, client),
            None => {
                PeekMut::pop(first);
            }
        }
        Some(arrival)
    }
}
