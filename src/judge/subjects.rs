//! What each key, or each client, of a run met with.
//!
//! There may be hundreds of thousands of them under each of several algorithms, so what is kept of one is 24
//! bytes; who it is and how often it asked stands in a [`Roll`] that algorithms share.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::column::Column;
use super::evenness::{Evenness, share};
use super::roll::Roll;
use crate::rate::Limit;
use crate::time::Span;

/// What one key, or one client, met with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubjectTally {
    /// What was promised for it; `None` for a client.
    pub promise: Option<Limit>,
    /// Attempts.
    pub attempts: u64,
    /// Accepted by all limits.
    pub accepted: u64,
    /// Rejected by any limit.
    pub rejected: u64,
    /// Accepted attempts above the limit; for a client above any of its limits.
    pub over_limit: u64,
    /// The largest cost accepted in any trailing window; `None` for a client, and for a key of which
    /// nothing was accepted.
    pub peak: Option<u64>,
    /// The longest time from the first rejection after an acceptance (or since the start) to the next
    /// acceptance, or to when the last rejection said that one would be possible if that is sooner;
    /// to the last rejection if no acceptance followed.
    pub longest_lockout: Span,
}

/// The part of a [`SubjectTally`] that depends on the algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Met {
    /// Accepted by all limits.
    pub accepted: u64,
    /// Rejected by any limit.
    pub rejected: u64,
    /// Accepted attempts above the limit.
    pub over_limit: u64,
    /// The largest cost accepted in any trailing window; 0 where nothing was accepted.
    pub peak: u64,
    /// As in [`SubjectTally::longest_lockout`].
    pub longest_lockout: Span,
}

/// What a number of keys, or clients, met with, as a list.
///
/// Copies share everything. Two are equal if their lists say the same, however they are kept.
#[derive(Clone, Default)]
pub struct Subjects {
    roll: Arc<Roll>,
    rows: Arc<Rows>,
    evenness: OnceLock<Evenness>,
}

/// By place in the roll.
#[derive(Debug, Clone, Default)]
struct Rows {
    accepted: Column,
    rejected: Column,
    over_limit: Column,
    peak: Column,
    longest_lockout: Vec<Span>,
}

impl Rows {
    fn with_capacity(count: usize) -> Rows {
        Rows {
            accepted: Column::with_capacity(count),
            rejected: Column::with_capacity(count),
            over_limit: Column::with_capacity(count),
            peak: Column::with_capacity(count),
            longest_lockout: Vec::with_capacity(count),
        }
    }
}

impl Subjects {
    /// Those of a roll, of whom none has met with anything: that is yet to be [pushed](Subjects::push).
    pub fn new(roll: Arc<Roll>) -> Subjects {
        let rows = Rows::with_capacity(roll.places());
        Subjects { roll, rows: Arc::new(rows), ..Subjects::default() }
    }

    /// None of a roll that will be told of later, with room for so many.
    pub fn with_room(count: usize) -> Subjects {
        Subjects { rows: Arc::new(Rows::with_capacity(count)), ..Subjects::default() }
    }

    /// What the next of the roll met with, in the roll's own order. The roll may get to know of it later.
    pub fn push(&mut self, met: Met) {
        self.push_all([met]);
    }

    /// The same of the next ones.
    pub fn push_all(&mut self, all: impl IntoIterator<Item = Met, IntoIter: Clone>) {
        self.evenness.take();
        let all = all.into_iter();
        let rows = Arc::make_mut(&mut self.rows);
        rows.accepted.extend(all.clone().map(|met| met.accepted));
        rows.rejected.extend(all.clone().map(|met| met.rejected));
        rows.over_limit.extend(all.clone().map(|met| met.over_limit));
        rows.peak.extend(all.clone().map(|met| met.peak));
        rows.longest_lockout.extend(all.map(|met| met.longest_lockout));
    }

    /// The same as another roll tells it, which may list them in another order, or under other names.
    ///
    /// # Panics
    /// Unless that roll has as many as were pushed.
    pub fn under(&self, roll: Arc<Roll>) -> Subjects {
        assert_eq!(roll.places(), self.rows.longest_lockout.len(), "each met with something");
        Subjects { roll, rows: Arc::clone(&self.rows), ..Subjects::default() }
    }

    /// Who they are.
    pub fn roll(&self) -> &Roll {
        &self.roll
    }

    /// Keeps one roll for these and others if theirs says the same.
    pub fn share_roll(&mut self, others: &Subjects) {
        if self.roll == others.roll {
            self.roll = Arc::clone(&others.roll);
        }
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.roll.len()
    }

    /// Whether none is listed.
    pub fn is_empty(&self) -> bool {
        self.roll.is_empty()
    }

    /// Who is listed at a position.
    ///
    /// # Panics
    /// If the list is shorter.
    pub fn name(&self, position: usize) -> &str {
        self.roll.name(position)
    }

    /// The first of a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        (0..self.len()).find(|&position| self.name(position) == name)
    }

    /// What is told of the one at a position.
    ///
    /// # Panics
    /// If the list is shorter, or nothing was pushed for it.
    pub fn get(&self, position: usize) -> SubjectTally {
        let promise = self.roll.promise(position);
        let (place, rows) = (self.roll.place(position), &self.rows);
        SubjectTally {
            promise,
            attempts: self.roll.attempts(position),
            accepted: rows.accepted.get(place),
            rejected: rows.rejected.get(place),
            over_limit: rows.over_limit.get(place),
            peak: promise.and(Some(rows.peak.get(place))).filter(|&cost| cost > 0),
            longest_lockout: rows.longest_lockout[place],
        }
    }

    /// What is told of each, in the order of the list.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = SubjectTally> + ExactSizeIterator {
        (0..self.len()).map(|position| self.get(position))
    }

    /// How evenly acceptances are shared out among them.
    pub fn evenness(&self) -> Evenness {
        let share = |position: usize| {
            share(self.rows.accepted.get(self.roll.place(position)), self.roll.attempts(position))
        };
        *self.evenness.get_or_init(|| (0..self.len()).filter_map(share).collect())
    }

    /// How many attempts of each were over the limit, and how many were rejected, in the order of the list.
    pub fn hits(&self) -> impl Iterator<Item = (u64, u64)> {
        (0..self.len()).map(|position| {
            let place = self.roll.place(position);
            (self.rows.over_limit.get(place), self.rows.rejected.get(place))
        })
    }

    /// How many attempts of all that are listed were accepted, and how many rejected.
    ///
    /// # Panics
    /// If more of any were decided than it made, which is a bug.
    pub fn decided(&self) -> [u64; 2] {
        let mut all = [0, 0];
        for position in 0..self.len() {
            let (place, rows) = (self.roll.place(position), &self.rows);
            let decided = [&rows.accepted, &rows.rejected].map(|column| column.get(place));
            let attempts = self.roll.attempts(position);
            let name = || self.name(position);
            assert!(decided[0] + decided[1] <= attempts, "more was decided than asked: {}", name());
            all.iter_mut().zip(decided).for_each(|(all, decided)| *all += decided);
        }
        all
    }

    /// The longest lockout of any that is listed.
    pub fn longest_lockout(&self) -> Option<Span> {
        (0..self.len()).map(|position| self.rows.longest_lockout[self.roll.place(position)]).max()
    }

    /// The same with the names.
    pub fn named(&self) -> impl DoubleEndedIterator<Item = (&str, SubjectTally)> {
        (0..self.len()).map(|position| (self.name(position), self.get(position)))
    }
}

impl<N: AsRef<str>> Extend<(N, SubjectTally)> for Subjects {
    fn extend<I: IntoIterator<Item = (N, SubjectTally)>>(&mut self, subjects: I) {
        for (name, subject) in subjects {
            let SubjectTally { promise, attempts, accepted, rejected, over_limit, .. } = subject;
            Arc::make_mut(&mut self.roll).push(name.as_ref(), attempts, promise);
            let (peak, longest_lockout) = (subject.peak.unwrap_or(0), subject.longest_lockout);
            self.push(Met { accepted, rejected, over_limit, peak, longest_lockout });
        }
    }
}

impl<N: AsRef<str>> FromIterator<(N, SubjectTally)> for Subjects {
    fn from_iter<I: IntoIterator<Item = (N, SubjectTally)>>(subjects: I) -> Subjects {
        let subjects = subjects.into_iter();
        let rows = Rows::with_capacity(subjects.size_hint().0);
        let mut all = Subjects { rows: Arc::new(rows), ..Subjects::default() };
        all.extend(subjects);
        all
    }
}

impl PartialEq for Subjects {
    fn eq(&self, other: &Subjects) -> bool {
        self.named().eq(other.named())
    }
}

impl fmt::Debug for Subjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.named()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn subject() -> impl Strategy<Value = (String, SubjectTally)> {
        let count = || prop_oneof![0..9_u64, Just(u64::from(u32::MAX)), any::<u64>()];
        let promise = (0..3_u64).prop_map(|requests| Limit::new(requests, Span::from_secs(1)));
        let counts = [count(), count(), count(), count(), count()];
        (select(vec!["", "ann", "bob"]), prop::option::of(promise), counts, 0..9_u64).prop_map(
            |(name, promise, [attempts, accepted, rejected, over_limit, peak], lockout)| {
                let peak = promise.and(Some(peak).filter(|&cost| cost > 0));
                let longest_lockout = Span::from_nanos(lockout);
                let subject = SubjectTally {
                    promise,
                    attempts,
                    accepted,
                    rejected,
                    over_limit,
                    peak,
                    longest_lockout,
                };
                (name.to_owned(), subject)
            },
        )
    }

    fn listed(subjects: &Subjects) -> Vec<(String, SubjectTally)> {
        subjects.named().map(|(name, subject)| (name.to_owned(), subject)).collect()
    }

    proptest! {
        #[test]
        fn the_list_tells_what_was_put_in(
            subjects in prop::collection::vec(subject(), 0..6),
            more in prop::collection::vec(subject(), 0..4),
        ) {
            let mut list: Subjects = subjects.iter().cloned().collect();
            prop_assert_eq!(&listed(&list), &subjects);
            let before = list.clone();
            list.extend(more.iter().cloned());
            prop_assert_eq!(listed(&list), [&subjects[..], &more].concat());
            prop_assert_eq!(listed(&before), subjects, "a copy keeps what it had");
            for name in ["", "ann", "nobody"] {
                let first = listed(&list).iter().position(|(other, _)| other == name);
                prop_assert_eq!(list.find(name), first);
            }
        }

        #[test]
        fn another_roll_tells_the_same_rows_in_its_order(
            subjects in prop::collection::vec(subject(), 0..6),
            seed in any::<[u8; 6]>(),
        ) {
            let list: Subjects = subjects.iter().cloned().collect();
            let mut order: Vec<u32> = (0..subjects.len() as u32).collect();
            order.sort_by_key(|&place| seed[place as usize]);
            let turned = list.under(Arc::new(list.roll().clone().in_order(order.clone())));
            let expected: Vec<_> =
                order.iter().map(|&place| subjects[place as usize].clone()).collect();
            prop_assert_eq!(listed(&turned), expected.clone());
            prop_assert_eq!(turned, expected.into_iter().collect());
        }
    }

    #[test]
    fn what_the_next_of_a_roll_met_with_takes_24_bytes() {
        let mut roll = Roll::default();
        (0..1000).for_each(|key| roll.push("key", key, None));
        let mut subjects = Subjects::new(Arc::new(roll));
        (0..1000).for_each(|accepted| subjects.push(Met { accepted, ..Met::default() }));
        assert_eq!((subjects.get(7).attempts, subjects.get(9).accepted), (7, 9));
        let Rows { accepted, rejected, over_limit, peak, longest_lockout } = &*subjects.rows;
        let columns = [accepted, rejected, over_limit, peak].map(|column| match column {
            Column::Narrow(counts) => 4 * counts.capacity(),
            Column::Wide(counts) => 8 * counts.capacity(),
        });
        let bytes = columns.iter().sum::<usize>() + 8 * longest_lockout.capacity();
        assert_eq!((bytes, size_of::<Span>()), (24 * 1000, 8));
    }

    #[test]
    fn rolls_that_say_the_same_are_kept_once() {
        let list = |attempts| {
            let subject = SubjectTally {
                promise: None,
                attempts,
                accepted: 1,
                rejected: 0,
                over_limit: 0,
                peak: None,
                longest_lockout: Span::ZERO,
            };
            [("ann", subject)].into_iter().collect::<Subjects>()
        };
        let (first, mut same, mut other) = (list(1), list(1), list(2));
        same.share_roll(&first);
        other.share_roll(&first);
        assert!(Arc::ptr_eq(&same.roll, &first.roll));
        assert_eq!((other.roll.attempts(0), first == other), (2, false));
    }

    #[test]
    #[should_panic(expected = "each met with something")]
    fn a_roll_of_others_is_refused() {
        let mut roll = Roll::default();
        roll.push("ann", 1, None);
        let _ = Subjects::default().under(Arc::new(roll));
    }
}
