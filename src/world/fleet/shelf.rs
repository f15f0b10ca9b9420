//! The store's side: what a hit does to a key, and how keys go.

use indexmap::IndexMap;

use super::Fleet;
use super::stock::{Entry, Id};
use crate::algorithm::{Footprint, Kept};
use crate::nodes::Placement;
use crate::seed::below;
use crate::store::{Deadline, Hit, KeyName, hash_slot, shard_of};
use crate::time::{Instant, Reading, Span};
use crate::world::desk::Desk;
use crate::world::gate::Ruling;
use crate::world::keys::Met;

/// What is known of the names of keys.
#[derive(Debug)]
pub(super) struct Names {
    /// By limit and key.
    known: Vec<Vec<Option<Name>>>,
}

/// The name of a key in the store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    /// Its length in bytes.
    pub length: usize,
    /// Its hash slot.
    pub slot: u16,
}

impl Names {
    pub fn new(limits: usize) -> Names {
        Names { known: vec![Vec::new(); limits] }
    }

    /// The name of a key, which is made of the names of its limit and its own.
    pub fn of(&mut self, desk: &Desk, template: &KeyName, (limit, key): Id) -> Name {
        let known = &mut self.known[limit];
        if known.len() <= key {
            known.resize(key + 1, None);
        }
        *known[key].get_or_insert_with(|| {
            let name = desk.stored_name(template, limit, key);
            Name { length: name.len(), slot: hash_slot(name.as_bytes()) }
        })
    }
}

/// What was there when a replica last learned of it, of all keys that have changed since.
#[derive(Debug)]
pub(super) struct Journal {
    shard: Option<usize>,
    active: bool,
    before: IndexMap<Id, (Entry, Option<Met>)>,
}

impl Journal {
    /// Of one shard, or of all.
    pub fn new(shard: Option<usize>) -> Journal {
        Journal { shard, active: false, before: IndexMap::new() }
    }

    /// From now on changes are lost.
    pub fn begin(&mut self) {
        self.active = true;
    }
}

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
    fn gone(&mut self, desk: &mut Desk<'a>, at: Instant, id: Id, early: bool) {
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
    fn stays(
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

    fn spot_of(&mut self, desk: &Desk<'a>, id: Id) -> Met {
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

    /// Takes down what a journal must know before a key changes.
    pub(super) fn remember(&mut self, desk: &Desk<'a>, id: Id) {
        for index in 0..self.journals.len() {
            let Journal { shard, active, before } = &self.journals[index];
            if !active || before.contains_key(&id) {
                continue;
            }
            if shard.is_some_and(|shard| shard != self.shard(desk, id)) {
                continue;
            }
            let entry = self.stock.get(id);
            let copy = entry.alive.then(|| {
                let (shelf, met) = (self.shelf(), desk.ring.met(id.0, id.1));
                let spot = self.places.spot(shelf, met);
                let gate = self.places.gate(shelf);
                let copy = Met { key: gate.take(met.limit, met.variant), ..met };
                gate.copy(&spot, &copy);
                copy
            });
            self.journals[index].before.insert(id, (entry, copy));
        }
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

    /// A replica takes over, which does not know what its journal says.
    pub(super) fn take_over(&mut self, desk: &mut Desk<'a>, at: Instant, index: usize) {
        self.journals[index].active = false;
        for (id, (entry, copy)) in std::mem::take(&mut self.journals[index].before) {
            self.remember(desk, id);
            let lives = self.stock.restore(id, at, entry);
            match copy {
                Some(copy) if lives => {
                    let (shelf, spot) = (self.shelf(), self.spot_of(desk, id));
                    let gate = self.places.gate(shelf);
                    gate.copy(&copy, &spot);
                    gate.give_back(&copy);
                    let kept = gate.kept(&spot, at.exact());
                    self.stays(desk, at, id, &kept, kept.matters(at.exact()));
                }
                copy => {
                    if let Some(copy) = copy {
                        let shelf = self.shelf();
                        self.places.gate(shelf).give_back(&copy);
                    }
                    self.gone(desk, at, id, true);
                }
            }
        }
    }
}
