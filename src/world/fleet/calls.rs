//! Calls to the store about attempts: from a node's question to its answer.

use super::leases::Grant;
use super::stock::Id;
use super::trip::Trip;
use super::{Ask, Fleet, Outcome, Step};
use crate::store::{Atomicity, Breaker, Condition, Exchange, OnFailure, bytes};
use crate::time::{Instant, Reading, Span};
use crate::world::Fate;
use crate::world::desk::Desk;
use crate::world::gate::Ruling;
use crate::world::keyring::Met;
use crate::world::requests::Ticket;

/// What a call asks of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// To decide.
    Script,
    /// What is there.
    Read,
    /// To charge what the node has decided.
    Write,
    /// For a batch of quota.
    Lease,
}

/// An attempt about which a node asks the store.
#[derive(Debug)]
pub(super) struct Call {
    pub ask: Ask,
    pub node: usize,
    /// What tells the time of the decision; of the store where that does.
    pub reading: Reading,
    /// When that was read.
    pub read_at: Instant,
    pub phase: Phase,
    /// Whether the store was asked about the attempt at all, or a breaker was open.
    pub asked: bool,
    /// Whether nobody waits for the answer to what is under way.
    pub background: bool,
    /// The way of what is under way.
    pub trip: Trip,
    /// What the node decided.
    pub ruling: Ruling,
    /// By key, as of when: what it read may have seen a later reading.
    pub as_of: Vec<Reading>,
    /// The states that it read, as it means to write them.
    pub drafts: Vec<Met>,
    /// What became of the attempt, with the longest window of the limits that refused it.
    pub fate: Option<(Fate, Span)>,
    /// The quota that was fetched.
    pub granted: Option<Grant>,
}

impl Call {
    /// About an attempt that is at a node whose clock shows this at `at`.
    pub fn new(ask: Ask, node: usize, at: Instant, reading: Reading) -> Call {
        Call {
            ask,
            node,
            reading,
            read_at: at,
            phase: Phase::Script,
            asked: false,
            background: false,
            trip: Trip { arrives: None, back: Span::ZERO, deadline: at, late: false },
            ruling: Ruling::default(),
            as_of: Vec::new(),
            drafts: Vec::new(),
            fate: None,
            granted: None,
        }
    }
}

impl<'a> Fleet<'a> {
    /// A node asks the store about an attempt, unless its breaker is open.
    pub(super) fn call_for(
        &mut self,
        desk: &mut Desk<'a>,
        mut call: Call,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        let at = call.read_at;
        if call.phase != Phase::Lease {
            call.phase = match self.store.atomicity {
                Atomicity::Script => Phase::Script,
                _ => Phase::Read,
            };
        }
        if self.crosses(desk) {
            return;
        }
        let allowed = self.allows(call.node, at);
        let id = self.calls.add();
        self.shelve(id, call);
        match allowed {
            true => self.send(desk, at, id),
            false => self.give_up(desk, at, id, waits),
        }
    }

    /// Whether a node's breaker lets it make a call.
    fn allows(&mut self, node: usize, at: Instant) -> bool {
        self.breakers.get_mut(node).is_none_or(|breaker| breaker.allows(at))
    }

    /// Whether a script would touch keys of different slots; the run ends then.
    fn crosses(&mut self, desk: &Desk<'a>) -> bool {
        if self.store.clocks.len() == 1
            || desk.keys.len() < 2
            || self.store.atomicity != Atomicity::Script
            || desk.is_independent()
        {
            return false;
        }
        let template = &self.store.key_name;
        let id = |met: &Met| (met.limit, met.key);
        let first = self.names.of(desk, template, id(&desk.keys[0])).slot;
        for other in &desk.keys[1..] {
            let slot = self.names.of(desk, template, id(other)).slot;
            if slot != first {
                let name = |(limit, key)| desk.stored_name(template, limit, key);
                let names = [(name(id(&desk.keys[0])), first), (name(id(other)), slot)];
                self.crossed = Some(names);
                return true;
            }
        }
        false
    }

    /// What is wrong between a node and the shards of the keys at hand, of which the worst counts.
    pub(super) fn condition(&mut self, desk: &Desk<'a>, at: Instant, node: usize) -> Condition {
        let first = self.first_shard(desk);
        let mut worst = self.outages.condition(at, node, first);
        for index in 1..desk.keys.len() {
            let id = (desk.keys[index].limit, desk.keys[index].key);
            let shard = self.shard(desk, id);
            worst = worst.worse(self.outages.condition(at, node, shard));
        }
        worst
    }

    pub(super) fn first_shard(&mut self, desk: &Desk<'a>) -> usize {
        let id = (desk.keys[0].limit, desk.keys[0].key);
        self.shard(desk, id)
    }

    /// A call leaves its node; the keys of its attempt are at hand.
    pub(super) fn send(&mut self, desk: &mut Desk<'a>, at: Instant, id: u32) {
        let mut call = self.calls.take(id);
        call.asked = true;
        let condition = self.condition(desk, at, call.node);
        let second = u64::from(call.phase == Phase::Write);
        let part = u64::from(call.ask.attempt) << 1 | second;
        let stream = self.draws.part(u64::from(call.ask.number), part);
        let mut deadline = at + self.store.timeout;
        if let OnFailure::OpenAfter(after) = self.store.on_failure {
            deadline = deadline.min((call.ask.arrival.at + after).max(at));
        }
        let round_trip = &self.store.round_trip;
        let trip = Trip::draw(round_trip, condition, (at, deadline), stream);
        call.trip = trip;
        let exchange = match call.phase {
            Phase::Script | Phase::Lease => Exchange::Script,
            Phase::Read => Exchange::Read,
            Phase::Write if self.store.atomicity == Atomicity::CheckThenIncrement => {
                Exchange::Increment
            }
            Phase::Write => Exchange::Write,
        };
        desk.judge.called(at, self.size(desk, exchange));
        if trip.late && !call.background {
            self.expect(id, deadline, Step::Fails(id));
        }
        if let Some(arrives) = trip.arrives {
            self.expect(id, arrives, Step::Executes(id));
        }
        self.shelve(id, call);
    }

    /// Bytes of a call about the keys at hand.
    fn size(&mut self, desk: &Desk<'a>, exchange: Exchange) -> u64 {
        self.size_about(desk, exchange, desk.keys.iter().map(|met| (met.limit, met.key)))
    }

    /// Bytes of a call about these keys.
    pub(super) fn size_about(
        &mut self,
        desk: &Desk<'a>,
        exchange: Exchange,
        keys: impl Iterator<Item = Id>,
    ) -> u64 {
        let Fleet { names, store, stock, .. } = self;
        let sizes = keys.map(|id| {
            let name = names.of(desk, &store.key_name, id).length;
            (name, stock.get(id).bytes.saturating_sub(name as u64))
        });
        bytes(exchange, sizes)
    }

    /// A node has the answer to a call.
    pub(super) fn answer(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        id: u32,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        let mut call = self.calls.take_up(id);
        if let Some(breaker) = self.breakers.get_mut(call.node) {
            breaker.succeeded();
        }
        if call.phase == Phase::Lease {
            self.fetched(desk, at, &call, waits);
            return self.end_call(id, call);
        }
        let ask = call.ask;
        if call.phase == Phase::Read && call.ruling.refused == 0 {
            return match waits(ask.ticket) {
                true if self.allows(call.node, at) => self.write_back(desk, at, id, call),
                true => {
                    self.shelve(id, call);
                    self.give_up(desk, at, id, waits);
                }
                false => self.end_call(id, call),
            };
        }
        if waits(ask.ticket) {
            desk.judge.waited_for_store(at - ask.arrival.at);
        }
        if let Some((fate, window)) = call.fate {
            self.outcomes.push(Outcome::Answered { ask, at, fate, window });
        }
        let calls = self.breakers.get(call.node).is_none_or(Breaker::is_closed);
        if call.phase == Phase::Read && call.ruling.written() != 0 && calls {
            // What a refused attempt is charged is written too, but nobody waits for that.
            call.background = true;
            self.write_back(desk, at, id, call);
            call = self.calls.take(id);
        }
        self.end_call(id, call);
    }

    /// A node writes what it has decided.
    fn write_back(&mut self, desk: &mut Desk<'a>, at: Instant, id: u32, mut call: Call) {
        call.phase = Phase::Write;
        desk.look_up(&call.ask.arrival);
        self.shelve(id, call);
        self.send(desk, at, id);
    }

    /// Something will happen to a call, unless the run is over then.
    pub(super) fn expect(&mut self, id: u32, at: Instant, step: Step) {
        self.calls.expect(id);
        self.later(at, step);
    }

    /// Puts a call back.
    pub(super) fn shelve(&mut self, id: u32, call: Call) {
        let shelf = self.shelf();
        let over = self.calls.put(id, call);
        for draft in over.into_iter().flat_map(|call| call.drafts) {
            self.places.gate(shelf).give_back(&draft);
        }
    }

    /// A node is done with a call; the store may still work on it.
    pub(super) fn end_call(&mut self, id: u32, call: Call) {
        self.calls.close(id);
        self.shelve(id, call);
    }
}
