//! The store's side: what a hit does to a key, and how keys go.

use super::Fleet;
use super::stock::Id;
use crate::algorithm::{Footprint, Kept};
use crate::nodes::Placement;
use crate::seed::below;
use crate::store::{Deadline, Hit, shard_of};
use crate::time::{Instant, Reading, Span};
use crate::world::desk::Desk;
use crate::world::gate::Ruling;
use crate::world::keyring::Met;

impl<'a> Fleet<'a> {
    /// The place of the store's states.
    pub(super) fn shelf(&self) -> usize {
        self.nodes.count
    }

    /// The shard of a key.
    pub(super) fn shard(&mut self, desk: &Desk<'a>, id: Id) -> usize {
        let slot = self.names.of(desk, &self.store.key_name, id).slot;
        shard_of(slot, self.store.clocks.len())
    }

    /// Lets go of keys whose time has come by `at`.
    pub(super) fn expire(&mut self, desk: &mut Desk<'a>, at: Instant) {
        while let Some((when, id)) = self.stock.expire(at) {
            self.remember(desk, id);
            self.stock.remove(id);
            self.gone(desk, when, id, false);
        }
    }

    /// A key is gone from the stock: its state goes too.
    pub(super) fn gone(&mut self, desk: &mut Desk<'a>, at: Instant, id: Id, early: bool) {
        let spot = self.spot_of(desk, id);
        let shelf = self.shelf();
        self.places.gate(shelf).forget(&spot);
        if early {
            self.hold(desk, at, id, Footprint::default(), at);
        }
        self.count_keys(desk, at);
    }

    /// Tells the judge how many keys are there.
    fn count_keys(&self, desk: &mut Desk<'a>, at: Instant) {
        let (alive, stuck) = self.stock.counts();
        desk.judge.keys_in_store(at, alive, stuck);
    }

    /// Tells the judge of a key that is there: its state counts for as long as it means something and is kept.
    pub(super) fn stays(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        id: Id,
        kept: &Kept,
        matters: Option<Span>,
    ) {
        let never = Instant(i64::MAX);
        let deadline = self.stock.get(id).deadline.unwrap_or(never);
        let until = matters.map_or(never, |matters| at + matters).min(deadline);
        self.hold(desk, at, id, kept.footprint, until);
        self.count_keys(desk, at);
    }

    fn hold(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        id: Id,
        footprint: Footprint,
        until: Instant,
    ) {
        let (footprint, until) = self.holdings.hold(id, self.shelf(), at, footprint, until);
        desk.judge.kept(id.0, id.1, at, footprint, Some(until));
    }

    pub(super) fn spot_of(&mut self, desk: &Desk<'a>, id: Id) -> Met {
        let shelf = self.shelf();
        self.places.spot(shelf, desk.ring.met(id.0, id.1))
    }

    /// Makes room for what may be written; false if there is none to be had.
    pub(super) fn make_room(&mut self, desk: &mut Desk<'a>, at: Instant) -> bool {
        while !self.stock.has_room() {
            let Some(id) = self.stock.first_to_go() else { return false };
            self.remember(desk, id);
            self.stock.remove(id);
            desk.judge.evicted();
            self.gone(desk, at, id, true);
        }
        true
    }

    /// The keys at hand were asked for at `at`, and `ruling` says which of their states were written.
    pub(super) fn hit(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        reading: Reading,
        ruling: &Ruling,
    ) {
        for index in 0..self.spots.len() {
            let (met, spot) = (desk.keys[index], self.spots[index]);
            let id = (met.limit, met.key);
            let written = ruling.written() >> index & 1 == 1;
            let entry = self.stock.get(id);
            if !written && !entry.alive {
                continue;
            }
            let shelf = self.shelf();
            let kept = self.places.gate(shelf).kept(&spot, reading);
            let matters = kept.matters(reading);
            let created = written && !entry.alive;
            let window = desk.promise(&met).per;
            // What nodes have charged by then may come a round and a call later.
            let late = self.lateness();
            let lives = matters.map(|span| Span::saturating(u128::from(span.nanos()) + late));
            let hit = Hit { created, written, matters: lives, window };
            // Each time a key is created is one of its own.
            let luck = || {
                let (limit, key) = (id.0 as u64, id.1 as u64);
                let mut stream = self.lucks.part(limit << 32 | key, u64::from(entry.created));
                below(&mut stream, 1_000_000) as u32
            };
            let deadline = match self.store.expiry.deadline(hit, luck) {
                // By the clock of its shard, whoever told the time of the decision.
                Deadline::After(span) => {
                    let clock = &self.store.clocks[self.shard(desk, id)];
                    Deadline::After(clock.passes(self.run.start, at, span) - at)
                }
                deadline => deadline,
            };
            let name = self.names.of(desk, &self.store.key_name, id).length as u64;
            let bytes = name + kept.footprint.bytes;
            if self.stock.touch(id, at, bytes, deadline) {
                self.stays(desk, at, id, &kept, matters);
            } else {
                self.gone(desk, at, id, true);
            }
        }
    }

    /// By how many nanoseconds what a node charges may be told later than it was charged, if the store answers.
    fn lateness(&self) -> u128 {
        match self.nodes.placement {
            Placement::Synced { every } => {
                u128::from(every.nanos()) + u128::from(self.store.timeout.nanos())
            }
            _ => 0,
        }
    }

    /// All that is in some shards is lost.
    pub(super) fn lose(&mut self, desk: &mut Desk<'a>, at: Instant, loss: usize) {
        let ids: Vec<Id> = self.stock.alive().collect();
        for id in ids {
            let shard = self.shard(desk, id);
            let shards = &self.losses[loss];
            if shards.is_empty() || shards.contains(&shard) {
                self.remember(desk, id);
                self.stock.remove(id);
                self.gone(desk, at, id, true);
            }
        }
    }
}
