//! What nodes do without the store: after a call of which no answer came, and while a breaker is open.

use super::calls::{Call, Phase};
use super::{Ask, Fleet, Step};
use crate::store::OnFailure;
use crate::time::{Instant, Window};
use crate::world::By;
use crate::world::desk::Desk;
use crate::world::gate::Decision;
use crate::world::requests::Ticket;

impl<'a> Fleet<'a> {
    /// A node has no answer, or an error for one.
    pub(super) fn fail(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        id: u32,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        let call = self.calls.take_up(id);
        desk.judge.call_failed(at);
        if self.breakers.get_mut(call.node).is_some_and(|breaker| breaker.failed(at)) {
            desk.judge.tripped();
        }
        self.shelve(id, call);
        self.give_up(desk, at, id, waits);
    }

    /// A node decides without the store.
    pub(super) fn give_up(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        id: u32,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        let call = self.calls.take(id);
        if call.phase == Phase::Lease {
            self.not_fetched(desk, at, &call, waits);
        } else if waits(call.ask.ticket) {
            self.do_without(desk, at, call.ask, &call);
        }
        self.end_call(id, call);
    }

    /// A node has no answer to a call for an attempt: it decides without, or holds it.
    pub(super) fn do_without(&mut self, desk: &mut Desk<'a>, at: Instant, ask: Ask, call: &Call) {
        let node = call.node;
        let OnFailure::OpenAfter(after) = self.store.on_failure else {
            return self.decide_without(desk, at, ask, call);
        };
        let id = self.calls.add();
        let opens = (ask.arrival.at + after).max(at);
        self.expect(id, opens, Step::LetsThrough(id));
        let reading = self.nodes.clocks[node].reading(self.run.start, at);
        self.shelve(id, Call { asked: call.asked, ..Call::new(ask, node, at, reading) });
    }

    /// A node lets an attempt through that it held.
    pub(super) fn let_through(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        id: u32,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        let call = self.calls.take_up(id);
        if waits(call.ask.ticket) {
            self.decide_without(desk, at, call.ask, &call);
        }
        self.end_call(id, call);
    }

    /// What a node makes of an attempt of which it learns nothing from the store.
    pub(super) fn decide_without(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        ask: Ask,
        call: &Call,
    ) {
        let node = call.node;
        desk.look_up(&ask.arrival);
        match call.asked {
            true => desk.judge.waited_for_store(at - ask.arrival.at),
            false => desk.judge.short_circuited(),
        }
        let reading = self.nodes.clocks[node].reading(self.run.start, at);
        if let Some(fallback) = &mut self.fallback {
            let (_, decision) = fallback.decide(node, &desk.keys, &mut self.spots, reading);
            self.decided_at_once(desk, ask, node, at, decision, By::Fallback(reading));
            return desk.judge.fell_back(at);
        }
        if self.opens() {
            self.decided_at_once(desk, ask, node, at, Decision::Admit, By::Nothing);
            return desk.judge.unlimited(at);
        }
        let fate = desk.turn_down(at, &ask.arrival, ask.number);
        self.conclude(desk, ask, node, fate, By::Nothing, Window { start: at, end: at });
    }
}
