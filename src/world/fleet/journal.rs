//! Replicas that take over: what they have not heard of is taken down as it changes, and put back as it was.

use indexmap::IndexMap;

use super::Fleet;
use super::stock::{Entry, Id};
use crate::time::Instant;
use crate::world::desk::Desk;
use crate::world::keyring::Met;

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
                let (shelf, spot) = (self.shelf(), self.spot_of(desk, id));
                self.places.gate(shelf).duplicate(&spot)
            });
            self.journals[index].before.insert(id, (entry, copy));
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
