//! Where states lie: the same keys have states at several places (nodes, the store), each of which is a number
//! within a gate.

use crate::algorithm::Footprint;
use crate::time::Instant;
use crate::world::gate::Gate;
use crate::world::keys::Met;

/// The states of keys at several places.
pub(super) struct Places {
    gates: Vec<Gate>,
    /// By place.
    sites: Vec<Site>,
}

struct Site {
    gate: usize,
    /// By limit and key, the number of its state plus one; 0 where it has none yet.
    numbers: Vec<Vec<u32>>,
}

impl Places {
    /// Places without states; `gates` says of each place which gate its states belong to.
    pub fn new(limits: usize, gates: Vec<Gate>, of: impl Iterator<Item = usize>) -> Places {
        let site = |gate| Site { gate, numbers: vec![Vec::new(); limits] };
        Places { gates, sites: of.map(site).collect() }
    }

    /// The gate of a place.
    pub fn gate(&mut self, place: usize) -> &mut Gate {
        &mut self.gates[self.sites[place].gate]
    }

    /// Replaces the keys of an attempt by the numbers of their states at a place.
    pub fn locate(&mut self, place: usize, keys: &mut [Met]) {
        for met in keys {
            *met = self.spot(place, *met);
        }
    }

    /// A key with the number of its state at a place.
    pub fn spot(&mut self, place: usize, met: Met) -> Met {
        let site = &mut self.sites[place];
        let numbers = &mut site.numbers[met.limit];
        if numbers.len() <= met.key {
            numbers.resize(met.key + 1, 0);
        }
        if numbers[met.key] == 0 {
            numbers[met.key] = self.gates[site.gate].take(met.limit, met.variant) as u32 + 1;
        }
        Met { key: numbers[met.key] as usize - 1, ..met }
    }

    /// The keys of a limit that have a state at a place.
    pub fn keys(&self, place: usize, limit: usize) -> impl Iterator<Item = usize> + '_ {
        let numbers = self.sites[place].numbers[limit].iter().enumerate();
        numbers.filter(|(_, number)| **number > 0).map(|(key, _)| key)
    }
}

/// What the states of keys take at all places together.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    /// By limit and key: the place, what it takes, until when.
    keys: Vec<Vec<Vec<(u32, Footprint, Instant)>>>,
}

impl Holdings {
    /// The state of a key at a place takes so much from `at` until a time: what all of its states take then, and
    /// until when any does.
    pub fn hold(
        &mut self,
        (limit, key): (usize, usize),
        place: usize,
        at: Instant,
        footprint: Footprint,
        until: Instant,
    ) -> (Footprint, Instant) {
        if self.keys.len() <= limit {
            self.keys.resize(limit + 1, Vec::new());
        }
        let keys = &mut self.keys[limit];
        if keys.len() <= key {
            keys.resize(key + 1, Vec::new());
        }
        let held = &mut keys[key];
        held.retain(|(other, _, until)| *other != place as u32 && *until > at);
        held.push((place as u32, footprint, until));
        let sum = held.iter().fold(Footprint::default(), |sum, (_, one, _)| Footprint {
            entries: sum.entries + one.entries,
            bytes: sum.bytes + one.bytes,
        });
        (sum, held.iter().map(|(_, _, until)| *until).max().unwrap_or(at))
    }
}
