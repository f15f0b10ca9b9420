//! Calls to the store about attempts, from the node's question to what it makes of the answer, or of none.

use super::leases::Grant;
use super::{Ask, Fleet, Outcome, Step};
use crate::seed::below;
use crate::store::{Atomicity, Condition, Down, Exchange, OnFailure, TimeOf, bytes};
use crate::time::{Instant, Reading, Span};
use crate::world::desk::Desk;
use crate::world::gate::{Decision, Ruling};
use crate::world::keys::Met;
use crate::world::requests::Ticket;
use crate::world::{Asked, Fate};

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
    /// Whether nobody waits for the answer to what is under way.
    background: bool,
    /// Until when the node waits for the answer.
    deadline: Instant,
    /// How long the answer takes.
    back: Span,
    /// Whether the answer comes too late or never, if the store works on the call at all.
    late: bool,
    /// A number below a million by which an expiry may be lost.
    pub luck: u32,
    /// What the node decided.
    ruling: Ruling,
    /// The states that it read, as it means to write them.
    drafts: Vec<Met>,
    /// What became of the attempt, with the longest window of the limits that refused it.
    fate: Option<(Fate, Span)>,
    /// The quota that was fetched.
    pub granted: Option<Grant>,
}

impl Call {
    /// About an attempt that reached a node whose clock showed this.
    pub fn new(ask: Ask, node: usize, reading: Reading) -> Call {
        let at = ask.arrival.at;
        Call {
            ask,
            node,
            reading,
            read_at: at,
            phase: Phase::Script,
            background: false,
            deadline: at,
            back: Span::ZERO,
            late: false,
            luck: 0,
            ruling: Ruling::default(),
            drafts: Vec::new(),
            fate: None,
            granted: None,
        }
    }
}

impl<'a> Fleet<'a> {
    /// A node asks the store about an attempt, unless its breaker is open.
    pub(super) fn call_for(&mut self, desk: &mut Desk<'a>, mut call: Call) {
        let at = call.ask.arrival.at;
        if call.phase != Phase::Lease {
            call.phase = match self.store.atomicity {
                Atomicity::Script => Phase::Script,
                _ => Phase::Read,
            };
        }
        if self.crosses(desk) {
            return;
        }
        let allowed = self.breakers.get_mut(call.node).is_none_or(|breaker| breaker.allows(at));
        let id = self.calls.add();
        self.shelve(id, call);
        match allowed {
            true => self.send(desk, at, id),
            false => self.give_up(desk, at, id, &|_| true),
        }
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
    fn condition(&mut self, desk: &Desk<'a>, at: Instant, node: usize) -> Condition {
        let first = self.first_shard(desk);
        let mut worst = self.outages.condition(at, node, first);
        for index in 1..desk.keys.len() {
            let id = (desk.keys[index].limit, desk.keys[index].key);
            let shard = self.shard(desk, id);
            worst = worst.worse(self.outages.condition(at, node, shard));
        }
        worst
    }

    fn first_shard(&mut self, desk: &Desk<'a>) -> usize {
        let id = (desk.keys[0].limit, desk.keys[0].key);
        self.shard(desk, id)
    }

    /// A call leaves its node; the keys of its attempt are at hand.
    pub(super) fn send(&mut self, desk: &mut Desk<'a>, at: Instant, id: u32) {
        let mut call = self.calls.take(id);
        let condition = self.condition(desk, at, call.node);
        let second = u64::from(call.phase == Phase::Write);
        let part = u64::from(call.ask.attempt) << 1 | second;
        let mut stream = self.draws.part(u64::from(call.ask.number), part);
        let round_trip = condition.stretch(self.store.round_trip.draw(&mut stream));
        let chance = |stream: &mut _| below(stream, 1_000_000) as u32;
        let lost = chance(&mut stream) < condition.lost_calls_ppm;
        let unanswered = chance(&mut stream) < condition.lost_answers_ppm;
        call.luck = chance(&mut stream);
        let (out, back) = (round_trip.nanos() / 2, round_trip.nanos().div_ceil(2));
        let out = Span::from_nanos(out);
        call.back = Span::from_nanos(back);
        call.deadline = match self.store.on_failure {
            OnFailure::OpenAfter(after) => (call.ask.arrival.at + after).max(at),
            _ => at + self.store.timeout,
        };
        call.late = lost || unanswered || at + round_trip > call.deadline;
        let exchange = match call.phase {
            Phase::Script | Phase::Lease => Exchange::Script,
            Phase::Read => Exchange::Read,
            Phase::Write if self.store.atomicity == Atomicity::CheckThenIncrement => {
                Exchange::Increment
            }
            Phase::Write => Exchange::Write,
        };
        let sent = self.size(desk, exchange);
        desk.judge.called(at, sent);
        if call.late && !call.background {
            let deadline = call.deadline;
            self.expect(id, deadline, Step::Fails(id));
        }
        if !lost {
            self.expect(id, at + out, Step::Executes(id));
        }
        self.shelve(id, call);
    }

    /// Bytes of a call about the keys at hand.
    fn size(&mut self, desk: &Desk<'a>, exchange: Exchange) -> u64 {
        let keys: Vec<(usize, u64)> = desk
            .keys
            .iter()
            .map(|met| {
                let id = (met.limit, met.key);
                let name = self.names.of(desk, &self.store.key_name, id).length;
                (name, self.stock.get(id).bytes.saturating_sub(name as u64))
            })
            .collect();
        bytes(exchange, keys.into_iter())
    }

    /// The store works on a call.
    pub(super) fn execute(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        id: u32,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        let mut call = self.calls.take_up(id);
        desk.look_up(&call.ask.arrival);
        let shard = self.first_shard(desk);
        let down = self.condition(desk, at, call.node).down;
        // Of a call that is late anyway its node knows already, and of one in the background nobody does.
        let told = !call.late && !call.background;
        let fails = match down {
            None => (!self.make_room(desk, at)).then_some(at + call.back),
            Some(Down::Refuses) => Some(at + call.back),
            Some(Down::Silent) => Some(call.deadline),
        };
        if let Some(fails) = fails {
            if told {
                self.expect(id, fails, Step::Fails(id));
            }
            return self.shelve(id, call);
        }
        if self.store.time == TimeOf::Store && call.phase != Phase::Write {
            call.reading = self.store.clocks[shard].reading(self.run.start, at);
            call.read_at = at;
        }
        let shelf = self.shelf();
        self.find_spots(desk, shelf);
        for index in 0..desk.keys.len() {
            let met = desk.keys[index];
            if call.phase != Phase::Read {
                self.remember(desk, (met.limit, met.key));
            }
        }
        let decision = match call.phase {
            Phase::Script => {
                call.ruling = self.places.gate(shelf).rule(&self.spots, call.reading);
                Some(self.enact(desk, at, &call))
            }
            Phase::Read => self.read(desk, at, &mut call),
            Phase::Write => Some(self.write(desk, at, &mut call)),
            Phase::Lease => {
                self.grant(desk, at, &mut call);
                None
            }
        };
        if let (Some(decision), false) = (decision, call.background) {
            self.decided_far_away(desk, at, &mut call, decision, waits);
        }
        if told {
            let answered = at + call.back;
            self.expect(id, answered, Step::Answered(id));
        }
        self.shelve(id, call);
    }

    /// Charges the states at hand as a call's ruling says.
    fn enact(&mut self, desk: &mut Desk<'a>, at: Instant, call: &Call) -> Decision {
        let shelf = self.shelf();
        let decision = self.places.gate(shelf).enact(&self.spots, call.reading, &call.ruling);
        self.hit(desk, at, call.reading, &call.ruling, call.luck);
        decision
    }

    /// The store tells a node what is there: what it decides by that, if it refuses; else it writes first.
    fn read(&mut self, desk: &mut Desk<'a>, at: Instant, call: &mut Call) -> Option<Decision> {
        let shelf = self.shelf();
        let gate = self.places.gate(shelf);
        call.ruling = gate.rule(&self.spots, call.reading);
        let mut decision = gate.decision(&self.spots, call.reading, &call.ruling);
        if self.store.atomicity == Atomicity::ReadModifyWrite {
            call.drafts.clear();
            for spot in &self.spots {
                let draft = Met { key: gate.take(spot.limit, spot.variant), ..*spot };
                gate.copy(spot, &draft);
                call.drafts.push(draft);
            }
            decision = gate.enact(&call.drafts, call.reading, &call.ruling);
        }
        self.hit(desk, at, call.reading, &Ruling::default(), call.luck);
        (call.ruling.refused != 0).then_some(decision)
    }

    /// The store is told what a node made of what it had read.
    fn write(&mut self, desk: &mut Desk<'a>, at: Instant, call: &mut Call) -> Decision {
        let shelf = self.shelf();
        if self.store.atomicity == Atomicity::CheckThenIncrement {
            let gate = self.places.gate(shelf);
            gate.enact_elsewhere(&self.spots, call.reading, &call.ruling);
        }
        // Without drafts where it was not what was read that is written back.
        for (index, (spot, draft)) in self.spots.iter().zip(&call.drafts).enumerate() {
            if (call.ruling.charged | call.ruling.refused) >> index & 1 == 1 {
                self.places.gate(shelf).copy(draft, spot);
            }
        }
        self.hit(desk, at, call.reading, &call.ruling, call.luck);
        match call.ruling.queued {
            Span::ZERO => Decision::Admit,
            span => Decision::Queue(span),
        }
    }

    /// The store, or what was read from it, has decided an attempt. Its node learns of it when the answer is there.
    fn decided_far_away(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        call: &mut Call,
        decision: Decision,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        let (ask, node) = (call.ask, call.node);
        let asked = Asked { node: None, reading: call.reading };
        if call.late || !waits(ask.ticket) {
            let fate = decision.fate();
            return self.outcomes.push(Outcome::InVain { ask, node, at, fate, asked });
        }
        let fate = desk.settle(at, &ask.arrival, ask.number, decision);
        call.fate = Some((fate, desk.window()));
        let departs = match fate {
            // Its place in the queue counts from the time by which it was decided.
            Fate::Queued(span) => (call.read_at + span).max(at + call.back),
            _ => at,
        };
        let asked = Some(asked);
        self.outcomes.push(Outcome::Decided { ask, node, at, fate, asked, departs });
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
                true => self.write_back(desk, at, id, call),
                false => self.end_call(id, call),
            };
        }
        desk.judge.waited_for_store(at - ask.arrival.at);
        if let Some((fate, window)) = call.fate {
            self.outcomes.push(Outcome::Answered { ask, at, fate, window });
        }
        if call.phase == Phase::Read && self.denials_write {
            call.background = true;
            self.calls.close(id);
            return self.write_back(desk, at, id, call);
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
        if let Some(breaker) = self.breakers.get_mut(call.node) {
            let trips = breaker.trips;
            breaker.failed(at);
            if breaker.trips > trips {
                desk.judge.tripped();
            }
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
            self.do_without(desk, at, call.ask, call.node, call.reading);
        }
        self.end_call(id, call);
    }

    /// A node has no answer for an attempt: it decides without, or holds it.
    pub(super) fn do_without(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        ask: Ask,
        node: usize,
        reading: Reading,
    ) {
        let OnFailure::OpenAfter(after) = self.store.on_failure else {
            return self.decide_without(desk, at, ask, node);
        };
        let id = self.calls.add();
        let opens = (ask.arrival.at + after).max(at);
        self.expect(id, opens, Step::LetsThrough(id));
        self.shelve(id, Call::new(ask, node, reading));
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
            self.decide_without(desk, at, call.ask, call.node);
        }
        self.end_call(id, call);
    }

    /// What a node makes of an attempt of which it learns nothing from the store.
    pub(super) fn decide_without(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        ask: Ask,
        node: usize,
    ) {
        desk.look_up(&ask.arrival);
        desk.judge.waited_for_store(at - ask.arrival.at);
        let reading = self.nodes.clocks[node].reading(self.run.start, at);
        if let Some(fallback) = &mut self.fallback {
            self.spots.clear();
            self.spots.extend_from_slice(&desk.keys);
            fallback.locate(node, &mut self.spots);
            let gate = fallback.gate(node);
            let ruling = gate.rule(&self.spots, reading);
            let decision = gate.enact(&self.spots, reading, &ruling);
            self.decided_at_once(desk, ask, node, at, decision, None);
            return desk.judge.fell_back(at);
        }
        if self.opens() {
            self.decided_at_once(desk, ask, node, at, Decision::Admit, None);
            return desk.judge.unlimited(at);
        }
        let fate = desk.turn_down(at, &ask.arrival, ask.number);
        self.conclude(desk, ask, node, at, fate, None, at);
    }

    /// Something will happen to a call, unless the run is over then.
    fn expect(&mut self, id: u32, at: Instant, step: Step) {
        self.calls.expect(id);
        self.later(at, step);
    }

    /// Puts a call back.
    fn shelve(&mut self, id: u32, call: Call) {
        let shelf = self.shelf();
        let over = self.calls.put(id, call);
        for draft in over.into_iter().flat_map(|call| call.drafts) {
            self.places.gate(shelf).give_back(&draft);
        }
    }

    /// A node is done with a call; the store may still work on it.
    fn end_call(&mut self, id: u32, call: Call) {
        self.calls.close(id);
        self.shelve(id, call);
    }
}
