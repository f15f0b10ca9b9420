//! Where states lie: the same keys have states at several places (nodes, the store), each of which is a number
//! within a gate.

use crate::algorithm::Footprint;
use crate::time::{Instant, Reading};
use crate::world::gate::{Decision, Gate, Ruling};
use crate::world::keyring::Met;

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

    /// Decides an attempt by the states at a place, and charges them. `spots` becomes the numbers of their keys.
    pub fn decide(
        &mut self,
        place: usize,
        keys: &[Met],
        spots: &mut Vec<Met>,
        reading: Reading,
    ) -> (Ruling, Decision) {
        spots.clear();
        spots.extend_from_slice(keys);
        self.locate(place, spots);
        let gate = self.gate(place);
        let ruling = gate.rule(spots, reading);
        (ruling, gate.enact(spots, reading, &ruling))
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
}

/// What the states of keys take at all places together.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    /// By limit and key.
    keys: Vec<Vec<Held>>,
}

/// What the states of a key take.
#[derive(Debug)]
struct Held {
    /// By place, in their order: what its state takes, and until when.
    parts: Vec<(u32, Footprint, Instant)>,
    sum: Footprint,
    /// None of the parts ends before this ...
    first: Instant,
    /// ... or after this.
    last: Instant,
}

impl Held {
    const NOTHING: Held = Held {
        parts: Vec::new(),
        sum: Footprint { entries: 0, bytes: 0 },
        first: Instant(i64::MAX),
        last: Instant(i64::MIN),
    };

    fn put(&mut self, place: u32, footprint: Footprint, until: Instant) {
        match self.parts.binary_search_by_key(&place, |part| part.0) {
            Ok(index) => {
                let part = &mut self.parts[index];
                let old = part.1;
                *part = (place, footprint, until);
                self.sum = Footprint {
                    entries: self.sum.entries - old.entries + footprint.entries,
                    bytes: self.sum.bytes - old.bytes + footprint.bytes,
                };
            }
            Err(index) => {
                self.parts.insert(index, (place, footprint, until));
                self.sum.entries += footprint.entries;
                self.sum.bytes += footprint.bytes;
            }
        }
        self.first = self.first.min(until);
        self.last = self.last.max(until);
    }

    /// Lets go of what has ended by `at`.
    fn end(&mut self, at: Instant) {
        let parts = std::mem::take(self).parts;
        parts.into_iter().filter(|part| part.2 > at).for_each(|(place, footprint, until)| {
            self.put(place, footprint, until);
        });
    }
}

impl Default for Held {
    fn default() -> Held {
        Held::NOTHING
    }
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
            self.keys.resize_with(limit + 1, Vec::new);
        }
        let keys = &mut self.keys[limit];
        if keys.len() <= key {
            keys.resize_with(key + 1, Held::default);
        }
        let held = &mut keys[key];
        held.put(place as u32, footprint, until);
        // Bounds that may be wider than what is there are made anew only where that could matter.
        if held.first <= at || until < held.last {
            held.end(at);
        }
        (held.sum, held.last.max(at))
    }
}
