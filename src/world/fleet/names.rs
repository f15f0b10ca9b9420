//! What keys are called in the store.

use super::stock::Id;
use crate::store::{KeyName, hash_slot};
use crate::world::desk::Desk;

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
