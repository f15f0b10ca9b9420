//! What the store does when a call has reached it, by what is atomic: decide, tell what is there, take what
//! is written.

use super::calls::{Call, Phase};
use super::{Fleet, Outcome, Step};
use crate::store::{Atomicity, TimeOf};
use crate::time::{Instant, Span, Window};
use crate::world::desk::Desk;
use crate::world::gate::{Decision, Ruling};
use crate::world::keyring::Met;
use crate::world::requests::Ticket;
use crate::world::{Asked, By, Fate};

impl<'a> Fleet<'a> {
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
        // Of a call that is late anyway its node knows already, and of one in the background nobody does.
        let told = !call.trip.late && !call.background;
        let ends = match self.condition(desk, at, call.node).down {
            Some(down) => (call.trip.fails(at, down), Step::Fails(id)),
            None if self.work(desk, at, &mut call, waits) => {
                (at + call.trip.back, Step::Answered(id))
            }
            None => (at + call.trip.back, Step::Fails(id)),
        };
        if told {
            self.expect(id, ends.0, ends.1);
        }
        self.shelve(id, call);
    }

    /// The store does what a call asks; false if that would write and there is no room.
    fn work(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        call: &mut Call,
        waits: &dyn Fn(Ticket) -> bool,
    ) -> bool {
        let has_room = self.make_room(desk, at);
        if self.store.time == TimeOf::Store && call.phase != Phase::Write {
            let shard = self.first_shard(desk);
            call.reading = self.store.clocks[shard].reading(self.run.start, at);
            call.read_at = at;
        }
        let shelf = self.shelf();
        self.find_spots(desk, shelf);
        for index in 0..desk.keys.len() {
            let Met { limit, key, .. } = desk.keys[index];
            self.remember(desk, (limit, key));
        }
        let decision = match call.phase {
            Phase::Script => {
                call.ruling = self.places.gate(shelf).rule(&self.spots, call.reading);
                if !has_room && call.ruling.written() != 0 {
                    return false;
                }
                Some(self.enact(desk, at, call))
            }
            Phase::Read => self.read(desk, at, call),
            Phase::Write if !has_room => return false,
            Phase::Write => Some(self.write(desk, at, call)),
            Phase::Lease => match self.grant(desk, at, call, has_room) {
                true => None,
                false => return false,
            },
        };
        if let (Some(decision), false) = (decision, call.background) {
            self.decided_in_store(desk, at, call, decision, waits);
        }
        true
    }

    /// Charges the states at hand as a call's ruling says.
    fn enact(&mut self, desk: &mut Desk<'a>, at: Instant, call: &Call) -> Decision {
        let shelf = self.shelf();
        let decision = self.places.gate(shelf).enact(&self.spots, call.reading, &call.ruling);
        self.hit(desk, at, call.reading, &call.ruling);
        decision
    }

    /// The store tells a node what is there: what it decides by that, if it refuses; else it writes first.
    fn read(&mut self, desk: &mut Desk<'a>, at: Instant, call: &mut Call) -> Option<Decision> {
        let shelf = self.shelf();
        let gate = self.places.gate(shelf);
        call.ruling = gate.rule(&self.spots, call.reading);
        call.as_of.clear();
        call.as_of.extend(self.spots.iter().map(|spot| gate.as_of(spot, call.reading)));
        // What it answers is what it makes of its copies, whether it writes these or what it added to them.
        call.drafts = self.spots.iter().map(|spot| gate.duplicate(spot)).collect();
        let decision = gate.enact(&call.drafts, call.reading, &call.ruling);
        if self.store.atomicity == Atomicity::CheckThenIncrement {
            call.drafts.drain(..).for_each(|draft| gate.give_back(&draft));
        }
        self.hit(desk, at, call.reading, &Ruling::default());
        (call.ruling.refused != 0).then_some(decision)
    }

    /// The store is told what a node made of what it had read.
    fn write(&mut self, desk: &mut Desk<'a>, at: Instant, call: &mut Call) -> Decision {
        let shelf = self.shelf();
        if self.store.atomicity == Atomicity::CheckThenIncrement {
            let gate = self.places.gate(shelf);
            gate.enact_elsewhere(&self.spots, &call.as_of, &call.ruling);
        }
        // Without drafts where it was not what was read that is written back.
        for (index, (spot, draft)) in self.spots.iter().zip(&call.drafts).enumerate() {
            if call.ruling.written() >> index & 1 == 1 {
                self.places.gate(shelf).copy(draft, spot);
            }
        }
        self.hit(desk, at, call.reading, &call.ruling);
        match call.ruling.queued {
            Span::ZERO => Decision::Admit,
            span => Decision::Queue(span),
        }
    }

    /// The store, or what was read from it, has decided an attempt. Its node learns of it when the answer is there.
    fn decided_in_store(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        call: &mut Call,
        decision: Decision,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        let (ask, node) = (call.ask, call.node);
        let by = By::Store(Asked { node: None, reading: call.reading });
        if call.trip.late || !waits(ask.ticket) {
            let fate = decision.fate();
            return self.outcomes.push(Outcome::InVain { ask, node, at, fate, by });
        }
        let fate = desk.settle(at, &ask.arrival, ask.number, decision);
        call.fate = Some((fate, desk.window()));
        let queued = match fate {
            // Its place in the queue counts from the time by which it was decided.
            Fate::Queued(span) => {
                let end = (call.read_at + span).max(at + call.trip.back);
                Window { start: call.read_at, end }
            }
            _ => Window { start: at, end: at },
        };
        self.outcomes.push(Outcome::Decided { ask, node, at, fate, by, queued });
    }
}
