//! Who the keys or clients of a run are, what was promised for each, and how often each asked: what is the
//! same for all algorithms over the same open-loop traffic, and is kept once for all of them.

use std::sync::Arc;

use super::column::Column;
use crate::rate::Limit;

/// Keys or clients by position, in the order in which they are listed. It is their order in the roll, too,
/// unless [another](Roll::in_order) was given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roll {
    names: Arc<Names>,
    attempts: Arc<Column>,
    promises: Promises,
    /// By position in the list, the place in the roll; `None` where they are the same.
    order: Option<Vec<u32>>,
}

/// Names one after the other, with the end of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Names {
    text: String,
    ends: Column,
}

/// What was promised: the different promises, and which each has; empty as long as all have the first.
#[derive(Debug, Clone, Default, PartialEq)]
struct Promises {
    kinds: Vec<Option<Limit>>,
    which: Vec<u32>,
}

impl Names {
    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len() as u64);
    }

    fn get(&self, place: usize) -> &str {
        let start = place.checked_sub(1).map_or(0, |before| self.ends.get(before));
        &self.text[start as usize..self.ends.get(place) as usize]
    }
}

impl Promises {
    /// Adds the next after so many.
    fn push(&mut self, count: usize, promise: Option<Limit>) {
        let known = self.kinds.iter().position(|&kind| kind == promise);
        let kind = known.unwrap_or(self.kinds.len());
        if known.is_none() {
            self.kinds.push(promise);
        }
        if self.kinds.len() > 1 {
            self.which.resize(count, 0);
            self.which.push(kind as u32);
        }
    }

    fn get(&self, place: usize) -> Option<Limit> {
        match self.kinds[..] {
            [] => None,
            [only] => only,
            _ => self.kinds[self.which[place] as usize],
        }
    }
}

impl Roll {
    /// Adds the next: who it is, how often it asked, and what was promised for it (nothing for a client).
    ///
    /// # Panics
    /// If there are 2^32 of them.
    pub fn push(&mut self, name: &str, attempts: u64, promise: Option<Limit>) {
        let place = self.places();
        if let Some(order) = &mut self.order {
            order.push(number(place));
        }
        self.promises.push(place, promise);
        Arc::make_mut(&mut self.names).push(name);
        Arc::make_mut(&mut self.attempts).push(attempts);
    }

    /// The same in another order: by position in the list, the place in the roll. Who is not named is not
    /// listed.
    ///
    /// # Panics
    /// If it names a place that there is not.
    pub fn in_order(self, order: Vec<u32>) -> Roll {
        let places = self.places();
        assert!(order.iter().all(|&place| (place as usize) < places), "all are in the roll");
        let plain = order.len() == places && order.iter().copied().eq(0..number(places));
        Roll { order: (!plain).then_some(order), ..self }
    }

    /// The clients of whom each has one of these keys and no other, in the order of their numbers; those that
    /// never asked are not listed. `owners` are their numbers by place in the roll. Nothing was promised to
    /// them.
    ///
    /// # Panics
    /// Unless each key has an owner.
    pub fn of_owners<N: AsRef<str>>(
        &self,
        owners: &[u32],
        client_names: impl Fn(usize) -> N,
    ) -> Roll {
        let places = self.places();
        assert_eq!(places, owners.len(), "each key has an owner");
        let asked = |place: &u32| self.attempts.get(*place as usize) > 0;
        let mut order: Vec<u32> = (0..number(places)).filter(asked).collect();
        order.sort_unstable_by_key(|&place| owners[place as usize]);
        let mut names = Names::default();
        owners.iter().for_each(|&client| names.push(client_names(client as usize).as_ref()));
        let names = if names == *self.names { Arc::clone(&self.names) } else { Arc::new(names) };
        let attempts = Arc::clone(&self.attempts);
        Roll { names, attempts, ..Roll::default() }.in_order(order)
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.order.as_ref().map_or(self.places(), Vec::len)
    }

    /// Whether none is listed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many are in the roll, listed or not.
    pub(super) fn places(&self) -> usize {
        self.attempts.len()
    }

    /// The place in the roll of who is listed at a position, of which there must be one.
    pub(super) fn place(&self, position: usize) -> usize {
        self.order.as_ref().map_or(position, |order| order[position] as usize)
    }

    /// Who is listed at a position.
    ///
    /// # Panics
    /// If the list is shorter.
    pub fn name(&self, position: usize) -> &str {
        self.names.get(self.place(position))
    }

    /// How often it asked.
    ///
    /// # Panics
    /// If the list is shorter.
    pub fn attempts(&self, position: usize) -> u64 {
        self.attempts.get(self.place(position))
    }

    /// What was promised for it; `None` for a client.
    ///
    /// # Panics
    /// If the list is shorter, unless all have the same promise.
    pub fn promise(&self, position: usize) -> Option<Limit> {
        self.promises.get(self.place(position))
    }

    /// The different promises of all in the roll.
    pub fn promises(&self) -> impl Iterator<Item = Limit> {
        self.promises.kinds.iter().copied().flatten()
    }
}

/// A place as it is kept.
fn number(place: usize) -> u32 {
    u32::try_from(place).expect("fewer than 2^32 keys")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn limit(requests: u64) -> Option<Limit> {
        Some(Limit::new(requests, Span::from_secs(1)))
    }

    fn listed(roll: &Roll) -> Vec<(&str, u64, Option<Limit>)> {
        (0..roll.len()).map(|at| (roll.name(at), roll.attempts(at), roll.promise(at))).collect()
    }

    fn roll(of: &[(&str, u64, Option<Limit>)]) -> Roll {
        let mut roll = Roll::default();
        of.iter().for_each(|&(name, attempts, promise)| roll.push(name, attempts, promise));
        roll
    }

    #[test]
    fn names_of_any_length_and_promises_alike_or_not_are_told_as_they_were() {
        for promises in [[limit(5); 4], [limit(5), limit(5), limit(9), None], [None; 4]] {
            let names = ["ann", "", "böb", "ann"];
            let all: Vec<_> = (0..4).map(|i| (names[i], i as u64, promises[i])).collect();
            assert_eq!(listed(&roll(&all)), all);
        }
        let two = roll(&[("a", 1, limit(5)), ("b", 1, limit(9)), ("c", 1, limit(5))]);
        assert!(two.promises().eq([limit(5), limit(9)].into_iter().flatten()));
        assert!(roll(&[]).is_empty());
    }

    #[test]
    fn who_comes_after_an_order_was_given_is_listed_last() {
        let all = [("a", 1, limit(1)), ("b", 2, limit(2)), ("c", 3, limit(3))];
        let mut turned = roll(&all).in_order(vec![2, 0]);
        turned.push("d", 4, limit(4));
        assert_eq!(listed(&turned), [all[2], all[0], ("d", 4, limit(4))]);
    }

    #[test]
    fn an_order_that_changes_nothing_takes_no_room() {
        let all = [("a", 1, None), ("b", 2, None)];
        assert_eq!(roll(&all).in_order(vec![0, 1]), roll(&all));
        assert_ne!(roll(&all).in_order(vec![0]), roll(&all));
    }

    #[test]
    fn owners_are_listed_by_number_and_have_the_names_of_their_keys_where_those_are_alike() {
        let keys = roll(&[("b", 2, limit(7)), ("c", 0, limit(7)), ("a", 3, limit(7))]);
        let owners = keys.of_owners(&[1, 2, 0], |client| ["a", "b", "c"][client]);
        assert_eq!(listed(&owners), [("a", 3, None), ("b", 2, None)], "c never asked");
        assert!(Arc::ptr_eq(&owners.names, &keys.names));
        assert!(Arc::ptr_eq(&owners.attempts, &keys.attempts));
        let others = keys.of_owners(&[1, 2, 0], |client| format!("client {client}"));
        assert_eq!(listed(&others), [("client 0", 3, None), ("client 1", 2, None)]);
        assert!(Arc::ptr_eq(&others.attempts, &keys.attempts));
    }
}
