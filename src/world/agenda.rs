//! What lies ahead in a closed loop, in the order in which it happens.
//!
//! Of one instant, in this order: work is done, the backend's capacity changes, attempts leave the
//! limiter's queue, nodes and their store act, clients that have already sent something act (they hear of an answer, wait no longer, try
//! again), requests are made for the first time. What becomes free at an instant can be taken at that
//! instant. Of each kind, in the order in which they were scheduled.

use std::collections::VecDeque;

use super::queue::Queue;
use super::requests::{Requests, Ticket};
use crate::server::Running;
use crate::time::Instant;

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    /// A job in service is done.
    Done,
    /// The backend's capacity changes.
    Changes,
    /// An attempt leaves the limiter's queue.
    Departs,
    /// Something happens to nodes or store.
    Steps,
    /// A client acts on a request under way.
    Acts,
    /// A request is made for the first time.
    Arrives,
}

/// All that lies ahead but for requests that were not made yet.
#[derive(Debug)]
pub(super) struct Agenda {
    pub done: Queue<Running>,
    /// In time order.
    pub changes: VecDeque<Instant>,
    pub departures: Queue<Ticket>,
    /// What clients do. By the stage of its request, a ticket in `Pausing` makes another attempt, one in
    /// `Answered` hears of it, one in `Leaving` leaves, and any other has waited for too long.
    pub acts: Queue<Ticket>,
    /// So many may lie in `acts` before those are dropped that mean nothing any more.
    room: usize,
}

/// It is not worth while to look for meaningless tickets among fewer than so many.
const FEW: usize = 1 << 10;

impl Agenda {
    /// Nothing but changes of capacity, which are in time order.
    pub fn new(changes: Vec<Instant>) -> Agenda {
        Agenda {
            done: Queue::new(),
            changes: changes.into(),
            departures: Queue::new(),
            acts: Queue::new(),
            room: FEW,
        }
    }

    /// What happens next, and when; `step` is when something happens to nodes or store next, `arrival` when the
    /// next request is made. `None` if nothing does.
    #[inline]
    pub fn next(&self, step: Option<Instant>, arrival: Option<Instant>) -> Option<(Instant, Turn)> {
        let ahead = [
            (self.done.next_at(), Turn::Done),
            (self.changes.front().copied(), Turn::Changes),
            (self.departures.next_at(), Turn::Departs),
            (step, Turn::Steps),
            (self.acts.next_at(), Turn::Acts),
            (arrival, Turn::Arrives),
        ];
        // No event lies at the end of time. This is asked before every event, and a plain loop is quickest.
        let mut next = (Instant(i64::MAX), None);
        for (at, turn) in ahead {
            let at = at.unwrap_or(Instant(i64::MAX));
            if at < next.0 {
                next = (at, Some(turn));
            }
        }
        Some((next.0, next.1?))
    }

    /// A client acts on a request at `at`, if the ticket still means something then. Takes no more room
    /// than for two tickets of each request that was ever under way at a time.
    #[inline]
    pub fn remind(&mut self, at: Instant, ticket: Ticket, requests: &Requests) {
        if self.acts.len() >= self.room {
            self.acts.retain(|ticket| requests.is_current(*ticket));
            self.room = FEW.max(2 * self.acts.len());
        }
        self.acts.push(at, ticket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use crate::traffic::Arrival;
    use crate::world::stage::Stage;

    #[test]
    fn of_one_instant_each_kind_has_its_turn() {
        let at = Instant(5);
        let mut agenda = Agenda::new(vec![at]);
        let ticket = Ticket { slot: 0, stamp: 0 };
        agenda.acts.push(at, ticket);
        agenda.departures.push(at, ticket);
        agenda.done.push(at, Running(0));
        let mut order = Vec::new();
        let mut step = Some(at);
        while let Some((_, turn)) = agenda.next(step, Some(at)) {
            order.push(turn);
            match turn {
                Turn::Steps => step = None,
                Turn::Done => drop(agenda.done.pop(|_| {})),
                Turn::Changes => drop(agenda.changes.pop_front()),
                Turn::Departs => drop(agenda.departures.pop(|_| {})),
                Turn::Acts => drop(agenda.acts.pop(|_| {})),
                Turn::Arrives => break,
            }
        }
        use Turn::{Acts, Arrives, Changes, Departs, Done, Steps};
        assert_eq!(order, [Done, Changes, Departs, Steps, Acts, Arrives]);
        agenda.done.push(Instant(6), Running(0));
        assert_eq!(agenda.next(None, Some(at)), Some((at, Arrives)), "the instant goes first");
        assert_eq!(agenda.next(None, None), Some((Instant(6), Done)));
    }

    #[test]
    fn tickets_that_mean_nothing_take_no_room_for_long() {
        let mut requests = Requests::default();
        let arrival = Arrival { at: Instant(0), client: 0, endpoint: 0, cost: 1 };
        let slots = [0, 1, 2].map(|number| requests.add(number, &arrival));
        let mut agenda = Agenda::new(Vec::new());
        let mut at = Instant(0);
        for _ in 0..100_000 {
            at = at + Span::from_nanos(1);
            for slot in slots {
                let ticket = requests.enter(slot, Stage::Working);
                agenda.remind(at, ticket, &requests);
            }
        }
        assert!(agenda.acts.len() <= FEW, "{}", agenda.acts.len());
        let mut left = Vec::new();
        while let Some((at, ticket)) = agenda.acts.pop(|_| {}) {
            if requests.is_current(ticket) {
                left.push((at, ticket.slot));
            }
        }
        assert_eq!(left, slots.map(|slot| (at, slot)), "what means something is kept in its order");
    }
}
