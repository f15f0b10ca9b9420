//! The keys of the store: which are there, how long they live, which go when its memory is full, and what a
//! replica that takes over does not know.
//!
//! This is about keys, not about their states: whoever drives it is told which are gone, and lets their states
//! go too.

use std::collections::BTreeSet;

use crate::store::{Deadline, Eviction, Memory};
use crate::time::Instant;
use crate::world::queue::Queue;

/// A key of a limit.
pub(super) type Id = (usize, usize);

/// A key of the store.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    /// Whether it is there.
    pub alive: bool,
    /// When it expires; `None` if never.
    pub deadline: Option<Instant>,
    /// What it takes with its name.
    pub bytes: u64,
    /// How often it was created.
    pub created: u32,
    /// How often anything about it has changed.
    pub changes: u64,
    /// When it is next looked at whether it expires; no later than its deadline.
    looked_at: Option<Instant>,
    /// When it was asked for last, as a number that grows.
    used: u64,
}

/// All keys of the store.
#[derive(Debug)]
pub(super) struct Stock {
    memory: Option<Memory>,
    /// By limit and key.
    entries: Vec<Vec<Entry>>,
    expiring: Queue<Id>,
    /// Where memory is bounded, all that may go, first what goes first.
    order: BTreeSet<(i128, Id)>,
    uses: u64,
    bytes: u64,
    alive: u64,
    stuck: u64,
}

impl Stock {
    /// No keys.
    pub fn new(limits: usize, memory: Option<Memory>) -> Stock {
        Stock {
            memory,
            entries: vec![Vec::new(); limits],
            expiring: Queue::new(),
            order: BTreeSet::new(),
            uses: 0,
            bytes: 0,
            alive: 0,
            stuck: 0,
        }
    }

    /// How many keys are there, and how many of them never expire.
    pub fn counts(&self) -> (u64, u64) {
        (self.alive, self.stuck)
    }

    /// A key.
    pub fn get(&self, (limit, key): Id) -> Entry {
        self.entries[limit].get(key).copied().unwrap_or_default()
    }

    /// The keys that are there.
    pub fn alive(&self) -> impl Iterator<Item = Id> + '_ {
        let limits = self.entries.iter().enumerate();
        limits.flat_map(|(limit, keys)| {
            let alive = keys.iter().enumerate().filter(|(_, entry)| entry.alive);
            alive.map(move |(key, _)| (limit, key))
        })
    }

    /// The next key that expires by `at`, and when; whoever asks removes it.
    pub fn expire(&mut self, at: Instant) -> Option<(Instant, Id)> {
        while self.expiring.next_at().is_some_and(|next| next <= at) {
            let (when, id) = self.expiring.pop(|_| {})?;
            let entry = self.get(id);
            if entry.looked_at != Some(when) {
                continue;
            }
            self.entries[id.0][id.1].looked_at = None;
            match entry.deadline.filter(|_| entry.alive) {
                Some(deadline) if deadline <= when => return Some((when, id)),
                Some(later) => self.look_at(id, later),
                None => {}
            }
        }
        None
    }

    /// It will be looked at whether a key expires, unless it will be before.
    fn look_at(&mut self, id: Id, when: Instant) {
        let entry = &mut self.entries[id.0][id.1];
        if entry.looked_at.is_none_or(|before| before > when) {
            entry.looked_at = Some(when);
            self.expiring.push(when, id);
        }
    }

    /// Whether no more is there than the memory holds: nothing need go before something is written, which may then
    /// lead beyond it.
    pub fn has_room(&self) -> bool {
        self.memory.is_none_or(|memory| self.bytes <= memory.bytes)
    }

    /// What goes next so that there is more room; `None` if nothing may.
    pub fn first_to_go(&self) -> Option<Id> {
        self.order.first().map(|&(_, id)| id)
    }

    /// A key is gone.
    pub fn remove(&mut self, id: Id) {
        let entry = self.get(id);
        self.put(id, Entry { alive: false, bytes: 0, deadline: None, ..entry });
    }

    /// A key was asked for at `at`, and takes so many bytes now. It is gone at once if its deadline says so; then
    /// this is false.
    pub fn touch(&mut self, id: Id, at: Instant, bytes: u64, deadline: Deadline) -> bool {
        self.uses += 1;
        let entry = self.get(id);
        let when = match deadline {
            Deadline::Same => entry.deadline,
            Deadline::Never => None,
            Deadline::After(span) => Some(at + span),
        };
        let lives = when.is_none_or(|when| when > at);
        if !lives {
            self.remove(id);
            return false;
        }
        let created = entry.created + u32::from(!entry.alive);
        let used = self.uses;
        self.put(id, Entry { alive: true, deadline: when, bytes, used, created, ..entry });
        true
    }

    /// Puts a key back as it was, unless it would have expired by `at`; then this is false.
    pub fn restore(&mut self, id: Id, at: Instant, entry: Entry) -> bool {
        let lives = entry.alive && entry.deadline.is_none_or(|when| when > at);
        match lives {
            true => self.put(id, Entry { created: self.get(id).created, ..entry }),
            false => self.remove(id),
        }
        lives
    }

    fn put(&mut self, id: Id, entry: Entry) {
        let keys = &mut self.entries[id.0];
        if keys.len() <= id.1 {
            keys.resize(id.1 + 1, Entry::default());
        }
        let old = keys[id.1];
        keys[id.1] = Entry { looked_at: old.looked_at, changes: old.changes + 1, ..entry };
        if let (true, Some(when)) = (entry.alive, entry.deadline) {
            self.look_at(id, when);
        }
        let stuck = |entry: &Entry| u64::from(entry.alive && entry.deadline.is_none());
        self.alive = self.alive + u64::from(entry.alive) - u64::from(old.alive);
        self.stuck = self.stuck + stuck(&entry) - stuck(&old);
        self.bytes = self.bytes + entry.bytes - old.bytes;
        if let Some(memory) = self.memory {
            let place = |entry: &Entry| match memory.eviction {
                _ if !entry.alive => None,
                Eviction::Refuse => None,
                Eviction::LeastRecentlyUsed => Some(i128::from(entry.used)),
                Eviction::SoonestToExpire => entry.deadline.map(|when| i128::from(when.0)),
            };
            if let Some(place) = place(&old) {
                self.order.remove(&(place, id));
            }
            if let Some(place) = place(&entry) {
                self.order.insert((place, id));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    const A: Id = (0, 0);
    const B: Id = (0, 1);
    const C: Id = (0, 2);

    fn stock(memory: Option<(u64, Eviction)>) -> Stock {
        Stock::new(1, memory.map(|(bytes, eviction)| Memory { bytes, eviction }))
    }

    fn after(nanos: u64) -> Deadline {
        Deadline::After(Span::from_nanos(nanos))
    }

    /// Takes out what expires by `at`.
    fn expired(stock: &mut Stock, at: i64) -> Vec<(i64, Id)> {
        let mut gone = Vec::new();
        while let Some((when, id)) = stock.expire(Instant(at)) {
            stock.remove(id);
            gone.push((when.0, id));
        }
        gone
    }

    #[test]
    fn a_key_lives_until_its_last_deadline_and_one_without_for_ever() {
        let mut stock = stock(None);
        assert!(stock.touch(A, Instant(0), 10, after(5)));
        assert!(stock.touch(B, Instant(0), 10, after(7)));
        assert!(stock.touch(C, Instant(1), 10, Deadline::Never));
        assert!(stock.touch(A, Instant(4), 12, after(5)), "renewed");
        assert!(stock.touch(B, Instant(4), 12, Deadline::Same));
        assert_eq!(stock.counts(), (3, 1));
        assert_eq!(expired(&mut stock, 6), []);
        assert_eq!(expired(&mut stock, 100), [(7, B), (9, A)]);
        assert_eq!(stock.counts(), (1, 1));
        assert_eq!(stock.alive().collect::<Vec<_>>(), [C]);
        assert!(!stock.touch(A, Instant(100), 10, after(0)), "an expiry of nothing deletes it");
        assert_eq!(stock.counts(), (1, 1));
    }

    #[test]
    fn what_was_asked_for_longest_ago_goes_first_or_what_expires_soonest() {
        for (eviction, order) in [
            (Eviction::LeastRecentlyUsed, vec![B, C, A]),
            (Eviction::SoonestToExpire, vec![A, B]),
            (Eviction::Refuse, vec![]),
        ] {
            let mut stock = stock(Some((25, eviction)));
            stock.touch(A, Instant(0), 10, after(5));
            stock.touch(B, Instant(0), 10, after(7));
            assert!(stock.has_room());
            stock.touch(C, Instant(0), 10, Deadline::Never);
            stock.touch(A, Instant(1), 10, Deadline::Same);
            assert!(!stock.has_room(), "30 bytes of 25");
            let mut gone = Vec::new();
            while let Some(id) = stock.first_to_go() {
                stock.remove(id);
                gone.push(id);
            }
            assert_eq!(gone, order, "{eviction:?}");
        }
    }

    #[test]
    fn a_key_that_is_put_back_lives_as_long_as_it_would_have() {
        let mut stock = stock(None);
        stock.touch(A, Instant(0), 10, after(50));
        let before = stock.get(A);
        stock.touch(A, Instant(10), 20, Deadline::Never);
        assert!(stock.restore(A, Instant(20), before));
        assert_eq!(stock.counts(), (1, 0));
        assert_eq!(expired(&mut stock, 60), [(50, A)]);
        assert!(!stock.restore(A, Instant(70), before), "it would have expired by then");
        assert!(!stock.restore(A, Instant(70), Entry::default()), "it was not there");
        assert_eq!(stock.counts(), (0, 0));
    }
}
