//! Numbers for what is met again and again, as bytes: the keys of a log. Most keys are short, and then finding
//! one takes a single look into memory.

use foldhash::fast::FixedState;
use indexmap::IndexMap;
use std::hash::BuildHasher;

use crate::fetch::fetch;

/// Keys of up to so many bytes lie in the table itself.
const SHORT: usize = 7;

/// Keys that were met, each with a number that it was given.
#[derive(Debug, Clone)]
pub struct Names {
    /// Slots of short keys, a power of two; a key stands in the first free one from where its hash points.
    slots: Vec<Slot>,
    used: usize,
    long: IndexMap<Box<[u8]>, u32, FixedState>,
    hasher: FixedState,
}

/// A short key, its length in the highest byte, and its number. No key is written as zero.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    key: u64,
    number: u32,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            slots: vec![Slot::default(); 1024],
            used: 0,
            long: IndexMap::default(),
            hasher: FixedState::with_seed(0),
        }
    }
}

impl Names {
    /// The number of a key; a new one is given that of `number`.
    #[inline]
    pub fn get(&mut self, key: &[u8], number: impl FnOnce() -> u32) -> u32 {
        let Some(packed) = packed(key) else { return self.long(key, number) };
        let mut at = self.place(packed);
        loop {
            let slot = self.slots[at];
            if slot.key == packed {
                return slot.number;
            }
            if slot.key == 0 {
                break;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let number = number();
        self.slots[at] = Slot { key: packed, number };
        self.used += 1;
        if self.used * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    /// The numbers of many keys, one after the other; `number` gives that of a new one. Where all lie in memory
    /// is asked for before the first is waited for.
    pub fn get_all(
        &mut self,
        keys: &Keys,
        mut number: impl FnMut(&[u8]) -> u32,
        mut each: impl FnMut(u32),
    ) {
        fetch(keys.iter().filter_map(packed).map(|packed| self.slots[self.place(packed)].key));
        for key in keys.iter() {
            each(self.get(key, || number(key)));
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

    fn place(&self, packed: u64) -> usize {
        self.hasher.hash_one(packed) as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![Slot::default(); old.len() * 2];
        for slot in old.into_iter().filter(|slot| slot.key != 0) {
            let mut at = self.place(slot.key);
            while self.slots[at].key != 0 {
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

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }
}

/// A short key as a number other than zero, different from that of any other.
#[inline]
fn packed(key: &[u8]) -> Option<u64> {
    if key.len() > SHORT {
        return None;
    }
    let mut bytes = [0; 8];
    bytes[..key.len()].copy_from_slice(key);
    bytes[SHORT] = key.len() as u8 + 1;
    Some(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_key_has_the_number_it_was_given_first(
            keys in prop::collection::vec(prop::collection::vec(0_u8..3, 0..10), 0..400),
            more in 0_u32..3000,
        ) {
            let mut names = Names::default();
            let mut plain = indexmap::IndexSet::new();
            let counted = (0..more).map(|number| number.to_le_bytes().to_vec());
            let mut many = Keys::default();
            let mut all = Vec::new();
            for key in keys.iter().cloned().chain(counted).chain(keys.iter().cloned()) {
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
            fresh.get_all(&many, number, |number| found.push(number));
            prop_assert_eq!(found, all);
        }
    }
}
