//! The requests under way in a closed loop.
//!
//! A request has a slot as long as it is under way. What happens to it later names the slot and the
//! stamp that the slot had then; the stamp changes whenever that would no longer mean anything (the
//! answer came, the client stopped waiting, the slot serves another request), so that nothing needs to be
//! searched for and taken back.

use super::stage::Stage;
use crate::client::Memory;
use crate::time::{Instant, Span};
use crate::traffic::Arrival;

/// A slot with the stamp it had at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket {
    pub slot: u32,
    pub stamp: u32,
}

impl Ticket {
    /// As one number.
    pub fn number(self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.stamp)
    }

    /// From [`Ticket::number`].
    pub fn from_number(number: u64) -> Ticket {
        Ticket { slot: (number >> 32) as u32, stamp: number as u32 }
    }
}

/// A request under way. There may be millions, and each event looks at one at random: it is one cache line
/// long.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Request {
    first: Instant,
    waited: Span,
    delay: Span,
    /// Until when its client waits for the answer to the attempt at hand.
    pub until: Instant,
    /// What belongs to the stage.
    detail: i64,
    /// Its number among all requests of the run, modulo 2^32, which names its random draws.
    pub number: u32,
    pub client: u32,
    endpoint: u32,
    cost: u32,
    pub stamp: u32,
    /// Attempts made in the lower [`TRIES`] bits, which stay at the most they can hold; above them the stage.
    tries_and_stage: u32,
}

const _: () = assert!(size_of::<Request>() == 64);

/// Bits for the number of attempts.
const TRIES: u32 = Memory::MOST_TRIES.count_ones();
const _: () = assert!(Memory::MOST_TRIES == (1 << TRIES) - 1);

impl Request {
    fn new(number: u64, arrival: &Arrival) -> Request {
        let Arrival { at, client, endpoint, cost } = *arrival;
        let mut request = Request {
            first: at,
            waited: Span::ZERO,
            delay: Span::ZERO,
            until: at,
            detail: 0,
            number: number as u32,
            client,
            endpoint,
            cost,
            stamp: 0,
            tries_and_stage: 0,
        };
        request.set_stage(Stage::Pausing { obeys: false });
        request
    }

    /// Its attempt at `at`.
    pub fn arrival(&self, at: Instant) -> Arrival {
        Arrival { at, client: self.client, endpoint: self.endpoint, cost: self.cost }
    }

    /// What its client remembers of it.
    pub fn memory(&self) -> Memory {
        let tries = self.tries_and_stage % (1 << TRIES);
        Memory { first: self.first, waited: self.waited, delay: self.delay, tries }
    }

    /// Replaces what its client remembers of its waits.
    pub fn remember(&mut self, memory: &Memory) {
        self.waited = memory.waited;
        self.delay = memory.delay;
    }

    /// Another attempt is made; how many were made by now.
    pub fn try_again(&mut self) -> u32 {
        let tries = self.tries_and_stage % (1 << TRIES);
        self.tries_and_stage += u32::from(tries + 1 < 1 << TRIES);
        self.tries_and_stage % (1 << TRIES)
    }

    /// Where it stands.
    #[inline]
    pub fn stage(&self) -> Stage {
        Stage::decode(self.tries_and_stage >> TRIES, self.detail)
    }

    /// Puts it into a stage.
    #[inline]
    pub fn set_stage(&mut self, stage: Stage) {
        let (kind, detail) = stage.encode();
        self.detail = detail;
        self.tries_and_stage = (self.tries_and_stage % (1 << TRIES)) | (kind << TRIES);
    }
}

/// Bytes of a request under way with what lies ahead of it: two tickets of its client, of which one may mean
/// nothing any more, and one in the limiter's queue.
pub const REQUEST_BYTES: usize = size_of::<Request>() + 3 * size_of::<(u64, Ticket)>();

/// Slots of a page, as a power of two.
const PAGE: u32 = 12;

type Page = [Request; 1 << PAGE];

/// All requests under way. They lie in pages, so that more of them need no copying and no room twice.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pages: Vec<Box<Page>>,
    /// Slots that were ever used.
    used: u32,
    free: Option<u32>,
    live: u64,
}

impl Requests {
    /// A request that is first meant to be sent at `arrival.at`.
    ///
    /// # Panics
    /// If 2^32 requests are under way at a time.
    pub fn add(&mut self, number: u64, arrival: &Arrival) -> u32 {
        self.live += 1;
        let fresh = Request::new(number, arrival);
        match self.free {
            Some(slot) => {
                let place = self.get_mut(slot);
                let Stage::Free(next) = place.stage() else { unreachable!("a free slot is free") };
                *place = Request { stamp: place.stamp, ..fresh };
                self.free = next;
                slot
            }
            None => {
                let slot = self.used;
                self.used = slot.checked_add(1).expect("fewer than 2^32 under way");
                if slot.is_multiple_of(1 << PAGE) {
                    let unused = Request { tries_and_stage: 0, ..fresh };
                    let page: Box<[Request]> = vec![unused; 1 << PAGE].into();
                    self.pages.push(page.try_into().expect("it has that length"));
                }
                *self.get_mut(slot) = fresh;
                slot
            }
        }
    }

    /// A request has ended; its slot is free for another.
    pub fn remove(&mut self, slot: u32) {
        self.live -= 1;
        let next = self.free.replace(slot);
        let place = self.get_mut(slot);
        place.stamp = place.stamp.wrapping_add(1);
        place.set_stage(Stage::Free(next));
    }

    /// Puts a request into another stage; what was said of the one before means nothing any more.
    #[inline]
    pub fn enter(&mut self, slot: u32, stage: Stage) -> Ticket {
        let place = self.get_mut(slot);
        place.stamp = place.stamp.wrapping_add(1);
        place.set_stage(stage);
        Ticket { slot, stamp: place.stamp }
    }

    /// Whether what was said of a ticket still means something.
    pub fn is_current(&self, ticket: Ticket) -> bool {
        self.get(ticket.slot).stamp == ticket.stamp
    }

    /// The request of a slot.
    #[inline]
    pub fn get(&self, slot: u32) -> &Request {
        &self.pages[(slot >> PAGE) as usize][slot as usize % (1 << PAGE)]
    }

    /// The request of a slot.
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> &mut Request {
        &mut self.pages[(slot >> PAGE) as usize][slot as usize % (1 << PAGE)]
    }

    /// How many of those under way are tried again: their last attempt failed and another follows, or they
    /// are at it.
    pub fn retrying(&self) -> u64 {
        let retries = |request: &&Request| match request.stage() {
            Stage::Free(_) | Stage::Backlog(_) | Stage::Leaving => false,
            Stage::Pausing { .. } => true,
            Stage::Asking
            | Stage::Queued(_)
            | Stage::Working
            | Stage::Refused(_)
            | Stage::Answered(_) => request.memory().tries > 1,
        };
        self.pages.iter().flat_map(|page| page.iter()).filter(retries).count() as u64
    }

    /// About how many of those under way nodes ask the store.
    pub fn asking(&self) -> u64 {
        let asking = |request: &&Request| request.stage() == Stage::Asking;
        self.pages.iter().flat_map(|page| page.iter()).filter(asking).count() as u64
    }

    /// How many are under way.
    pub fn live(&self) -> u64 {
        self.live
    }
}

/// Requests of one client that are under way, and those that wait for one of them to end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line {
    /// Under way.
    pub busy: u32,
    /// The first and the last that wait.
    ends: Option<(u32, u32)>,
}

impl Line {
    /// A request joins those that wait.
    pub fn join(&mut self, requests: &mut Requests, slot: u32) {
        requests.get_mut(slot).set_stage(Stage::Backlog(None));
        self.ends = match self.ends {
            None => Some((slot, slot)),
            Some((first, last)) => {
                requests.get_mut(last).set_stage(Stage::Backlog(Some(slot)));
                Some((first, slot))
            }
        };
    }

    /// The first of those that wait.
    pub fn next(&mut self, requests: &Requests) -> Option<u32> {
        let (first, last) = self.ends?;
        self.ends = match requests.get(first).stage() {
            Stage::Backlog(Some(next)) => Some((next, last)),
            _ => None,
        };
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stage_of_a_request_does_not_change_how_often_it_was_tried() {
        let mut request = Request::new(0, &arrival(1));
        for (tried, stage) in [(1, Stage::Leaving), (2, Stage::Queued(Instant(-1)))] {
            assert_eq!(request.try_again(), tried);
            request.set_stage(stage);
            assert_eq!((request.stage(), request.memory().tries), (stage, tried));
        }
    }

    fn arrival(client: u32) -> Arrival {
        Arrival { at: Instant(7), client, endpoint: 0, cost: 1 }
    }

    #[test]
    fn a_ticket_means_nothing_once_its_slot_serves_another() {
        let mut requests = Requests::default();
        let [first, second] = [0, 1].map(|number| requests.add(number, &arrival(3)));
        let ticket = requests.enter(first, Stage::Working);
        assert_eq!(Ticket::from_number(ticket.number()), ticket);
        assert!(requests.is_current(ticket));
        requests.remove(first);
        assert!(!requests.is_current(ticket));
        assert_eq!(requests.add(2, &arrival(4)), first, "the slot serves again");
        assert!(!requests.is_current(ticket));
        assert_eq!((requests.live(), requests.get(first).client, second), (2, 4, 1));
    }

    #[test]
    fn those_that_wait_come_out_in_the_order_in_which_they_joined() {
        let mut requests = Requests::default();
        let mut line = Line::default();
        for number in 0..3 {
            let slot = requests.add(number, &arrival(0));
            line.join(&mut requests, slot);
        }
        let order: Vec<_> = std::iter::from_fn(|| line.next(&requests)).collect();
        assert_eq!(order, [0, 1, 2]);
        let slot = requests.add(3, &arrival(0));
        line.join(&mut requests, slot);
        assert_eq!((line.next(&requests), line.next(&requests)), (Some(3), None));
    }
}
