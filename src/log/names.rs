//! Numbers for what is met again and again, as bytes: the keys of a log. Most keys are short, and then finding
//! one takes a single look into memory.

use foldhash::fast::FixedState;
use indexmap::IndexMap;
use std::hash::BuildHasher;

use crate::fetch::fetch;

/// Keys of up to so many bytes lie in the table itself.
const SHORT: usize = 7;

/// Keys that were met, each with a number below 2^32 - 1 that it was given.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Keys of five bytes that start with `lead`, by the other four: nearly all keys of most logs are addresses of
    /// IPv4, and the smaller their table the more of it is near.
    fives: Table<u32>,
    /// With what the first key of five bytes started.
    lead: Option<u8>,
    /// Other short keys, with their lengths in the highest byte.
    short: Table<u64>,
    long: IndexMap<Box<[u8]>, u32, FixedState>,
}

/// Where a key is to be found.
enum Found {
    Five(u32),
    Short(u64),
    Long,
}

impl Names {
    /// The number of a key; a new one is given that of `number`.
    #[inline]
    pub fn get(&mut self, key: &[u8], number: impl FnOnce() -> u32) -> u32 {
        if let (5, None) = (key.len(), self.lead) {
            self.lead = key.first().copied();
        }
        match self.find(key) {
            Found::Five(rest) => self.fives.get(rest, number),
            Found::Short(packed) => self.short.get(packed, number),
            Found::Long => self.long(key, number),
        }
    }

    /// The numbers of many keys, one after the other; `number` gives that of a new one. Where all lie in memory
    /// is asked for before the first is waited for.
    #[inline]
    pub fn get_all<K: AsRef<[u8]>>(
        &mut self,
        keys: impl Iterator<Item = K> + Clone,
        mut number: impl FnMut(&[u8]) -> u32,
        mut each: impl FnMut(u32),
    ) {
        fetch(keys.clone().map(|key| match self.find(key.as_ref()) {
            Found::Five(rest) => u64::from(self.fives.first_slot(rest).taken),
            Found::Short(packed) => u64::from(self.short.first_slot(packed).taken),
            Found::Long => 0,
        }));
        for key in keys {
            let key = key.as_ref();
            each(self.get(key, || number(key)));
        }
    }

    #[inline]
    fn find(&self, key: &[u8]) -> Found {
        match *key {
            [lead, a, b, c, d] if Some(lead) == self.lead => {
                Found::Five(u32::from_le_bytes([a, b, c, d]))
            }
            _ => packed(key).map_or(Found::Long, Found::Short),
        }
    }

    fn long(&mut self, key: &[u8], number: impl FnOnce() -> u32) -> u32 {
        if let Some(&known) = self.long.get(key) {
            return known;
        }
        let number = number();
        self.long.insert(key.into(), number);
        number
    }
}

/// Numbers of keys that are numbers themselves. The slots are a power of two; a key stands in the first free one from
/// where its hash points.
#[derive(Debug, Clone)]
struct Table<K> {
    slots: Vec<Slot<K>>,
    used: usize,
    hasher: FixedState,
}

/// A key and its number plus one; of a free slot 0.
#[derive(Debug, Clone, Copy, Default)]
struct Slot<K> {
    key: K,
    taken: u32,
}

impl<K: Copy + Default> Default for Table<K> {
    fn default() -> Table<K> {
        Table { slots: vec![Slot::default(); 1024], used: 0, hasher: FixedState::with_seed(0) }
    }
}

impl<K: Copy + Default + Eq + Into<u64>> Table<K> {
    #[inline]
    fn get(&mut self, key: K, number: impl FnOnce() -> u32) -> u32 {
        let mut at = self.place(key);
        loop {
            let slot = self.slots[at];
            if slot.taken == 0 {
                break;
            }
            if slot.key == key {
                return slot.taken - 1;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let number = number();
        self.slots[at] = Slot { key, taken: number + 1 };
        self.used += 1;
        if self.used * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    fn first_slot(&self, key: K) -> &Slot<K> {
        &self.slots[self.place(key)]
    }

    fn place(&self, key: K) -> usize {
        let key: u64 = key.into();
        self.hasher.hash_one(key) as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![Slot::default(); old.len() * 2];
        for slot in old.into_iter().filter(|slot| slot.taken > 0) {
            let mut at = self.place(slot.key);
            while self.slots[at].taken > 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = slot;
        }
    }
}

/// Keys one after the other.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds the key that `write` appends.
    #[inline]
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }
}

/// A short key as a number, different from that of any other.
#[inline]
fn packed(key: &[u8]) -> Option<u64> {
    if key.len() > SHORT {
        return None;
    }
    // Of four bytes and more, the last four overlap the first: no copy of an unknown length.
    let bytes = match (key.first_chunk(), key.last_chunk()) {
        (Some(first), Some(last)) => {
            let [first, last] = [first, last].map(|&four| u64::from(u32::from_le_bytes(four)));
            first | last << (8 * (key.len() - 4))
        }
        _ => key.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte)),
    };
    Some(bytes | (key.len() as u64 + 1) << (8 * SHORT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_key_has_the_number_it_was_given_first(
            keys in prop::collection::vec(prop::collection::vec(0_u8..3, 0..10), 0..400),
            fives in prop::collection::vec(prop::array::uniform5(3_u8..6), 0..400),
            more in 0_u32..3000,
        ) {
            let mut names = Names::default();
            let mut plain = indexmap::IndexSet::new();
            let counted = (0..more).map(|number| number.to_le_bytes().to_vec());
            let mut many = Keys::default();
            let mut all = Vec::new();
            let fives = fives.iter().map(|key| key.to_vec());
            let others = keys.iter().cloned().chain(fives).chain(counted);
            for key in others.chain(keys.iter().cloned()) {
                let next = plain.len() as u32;
                let expected = plain.insert_full(key.clone()).0 as u32;
                prop_assert_eq!(names.get(&key, || next), expected);
                many.push(|into| into.extend_from_slice(&key));
                all.push(expected);
            }
            let (mut fresh, mut next, mut found) = (Names::default(), 0, Vec::new());
            let number = |key: &[u8]| {
                assert_eq!(plain.get_index_of(key), Some(next as usize));
                next += 1;
                next - 1
            };
            fresh.get_all(many.iter(), number, |number| found.push(number));
            prop_assert_eq!(found, all);
        }
    }
}
