//! The log as real limiters keep it in a sorted set: an entry has a name, and two of one name are one.
//!
//! A cost of c adds c entries, each under its own name, and what counts is how many are in the set. What
//! passes at one reading may be one entry, and the limit does not see the rest.

use std::collections::VecDeque;
use std::marker::PhantomData;

use super::super::{Algorithm, Backwards, Common, Footprint, UNSEEN, Verdict, Wait};
use super::naming::Naming;
use crate::seed::{Draws, Seed};
use crate::time::Reading;

/// The rule.
pub(super) struct SortedSet<N> {
    limit: u64,
    /// How old a stamp is when it stops counting.
    lifetime: i64,
    common: Common,
    naming: PhantomData<fn() -> N>,
}

impl<N: Naming> SortedSet<N> {
    pub(super) fn new(limit: u64, lifetime: i64, common: Common) -> SortedSet<N> {
        SortedSet { limit, lifetime, common, naming: PhantomData }
    }

    /// When a name of this stamp stops counting.
    fn end(&self, stamp: i64) -> i64 {
        stamp.saturating_add(self.lifetime)
    }

    /// The earliest reading at which `cost`, at most the limit, has room: when as many of the oldest names
    /// have stopped counting as stand in its way. `None` if none does.
    fn opens_at(&self, state: &State<N>, cost: u64) -> Option<i64> {
        let too_many = (state.names.len() as u64 + cost).saturating_sub(self.limit);
        let last = state.names.get(usize::try_from(too_many.checked_sub(1)?).ok()?);
        last.map(|&(stamp, _)| self.end(stamp))
    }
}

impl<N: Naming> SortedSet<N> {
    /// Adds `cost` that passed at `now` under names of a stamp.
    fn add(&self, state: &mut State<N>, now: Reading, stamp: i64, cost: u32) {
        let at = self.common.backwards.decided_at(now.0, state.newest());
        let full = state.names.len() as u64 + u64::from(cost) > self.limit;
        if full || self.common.backwards == Backwards::Naive {
            while state.names.front().is_some_and(|&(stamp, _)| self.end(stamp) <= at) {
                state.names.pop_front();
            }
        }
        let State { names, naming } = state;
        naming.add(names, stamp, cost);
        // Where denied attempts are charged: a name that only counts while newer ones fill the limit by
        // themselves decides nothing, and were it added again, it would be the first to go again.
        while names.len() as u64 > self.limit {
            names.pop_front();
        }
    }
}

/// The set of a key, in order. Names no longer inside the window are dropped only where room is needed.
#[derive(Clone)]
pub(super) struct State<N: Naming> {
    names: VecDeque<(i64, N::Suffix)>,
    naming: N,
}

impl<N: Naming> State<N> {
    fn newest(&self) -> i64 {
        self.names.back().map_or(UNSEEN, |&(stamp, _)| stamp)
    }
}

impl<N: Naming> Algorithm for SortedSet<N> {
    type State = State<N>;

    const GROWS: bool = true;

    fn fresh(&self) -> State<N> {
        self.fresh_of(0, Seed(0).draws("state"))
    }

    fn fresh_of(&self, key: usize, draws: Draws) -> State<N> {
        State { names: VecDeque::new(), naming: N::of(key, draws) }
    }

    fn check(&self, state: &State<N>, now: Reading, cost: u32) -> Verdict {
        let at = self.common.backwards.decided_at(now.0, state.newest());
        let cost = u64::from(cost);
        let fits = cost <= self.limit && self.opens_at(state, cost).is_none_or(|opens| opens <= at);
        if fits { Verdict::Admit } else { Verdict::Deny }
    }

    fn wait(&self, state: &State<N>, now: Reading, cost: u32) -> Wait {
        if u64::from(cost) > self.limit {
            return Wait::Never;
        }
        let opens = self.opens_at(state, u64::from(cost)).unwrap_or(now.0);
        Wait::nanos(i128::from(opens) - i128::from(now.0))
    }

    fn charge(&self, state: &mut State<N>, now: Reading, cost: u32) {
        let stamp = self.common.backwards.stored_as(now.0, state.newest());
        self.add(state, now, stamp, cost);
    }

    fn as_of(&self, state: &State<N>, now: Reading) -> Reading {
        self.common.backwards.as_of(now, state.newest())
    }

    fn owe(&self, state: &mut State<N>, now: Reading, cost: u32) {
        let stamp = match self.common.backwards {
            Backwards::Freeze => now.0,
            backwards => backwards.stored_as(now.0, state.newest()),
        };
        self.add(state, now, stamp, cost);
    }

    fn deny(&self, state: &mut State<N>, now: Reading, cost: u32) {
        if self.common.count_rejected {
            self.charge(state, now, cost);
        }
    }

    fn denial_writes(&self, _state: &State<N>) -> bool {
        self.common.count_rejected
    }

    fn footprint(&self, state: &State<N>, now: Reading) -> Footprint {
        let at = self.common.backwards.decided_at(now.0, state.newest());
        let left = state.names.partition_point(|&(stamp, _)| self.end(stamp) <= at);
        let heap = size_of::<(i64, N::Suffix)>() * state.names.len();
        Footprint {
            entries: (state.names.len() - left) as u64,
            bytes: (size_of::<State<N>>() + heap) as u64,
        }
    }

    fn neutral_from(&self, state: &State<N>) -> Option<Reading> {
        let newest = state.names.back();
        Some(Reading(newest.map_or(UNSEEN, |&(stamp, _)| self.end(stamp))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::trial::{MS, NEVER, SEC, Trial, wait};
    use super::super::naming::{Stamp, StampAndRandom};
    use super::State;

    fn trial(limit: &str, member: &str) -> Trial {
        let options = format!("member = \"{member}\"\ntick = \"1ms\"");
        Trial::new("sliding-window-log", limit, None, &options)
    }

    /// A for each that passes of `count` attempts at `now`, R for each that does not.
    fn told(trial: &mut Trial, now: i64, count: usize) -> String {
        (0..count).map(|_| if trial.ask(now).is_ok() { 'A' } else { 'R' }).collect()
    }

    #[test]
    fn six_in_one_millisecond_and_six_in_the_next_under_a_limit_of_three() {
        let mut unique = trial("3/10s", "unique");
        assert_eq!([told(&mut unique, 0, 6), told(&mut unique, MS, 6)], ["AAARRR", "RRRRRR"]);
        for member in ["stamp", "stamp-and-constant"] {
            let mut trial = trial("3/10s", member);
            // Where in its millisecond one comes is not seen.
            assert_eq!(told(&mut trial, 0, 3) + &told(&mut trial, MS - 1, 3), "AAAAAA");
            assert_eq!(trial.footprint(0).entries, 1);
            assert_eq!(told(&mut trial, MS, 6), "AAAAAA");
            assert_eq!(trial.footprint(MS).entries, 2);
            // The third name fills the set.
            assert_eq!(told(&mut trial, 2 * MS, 6), "ARRRRR");
            assert_eq!(trial.ask(2 * MS), wait(10 * SEC - 2 * MS));
        }
    }

    #[test]
    fn of_a_thousand_in_one_millisecond_a_hundred_pass_or_all() {
        let run = |member: &str| {
            let mut trial = trial("100/60s", member);
            (trial.flood(7 * MS, 1_000), trial.footprint(7 * MS).entries)
        };
        assert_eq!(run("unique"), (100, 100));
        assert_eq!(run("stamp-and-constant"), (1_000, 1));
        // Of a hundred names one is lost one in twenty times.
        let random = |stamp| {
            let mut trial = trial("100/60s", "stamp-and-random");
            (trial.flood(stamp * MS, 1_000), trial.footprint(stamp * MS).entries)
        };
        let lost: usize = (1..=100)
            .map(|stamp| match random(stamp) {
                (passed @ 100..=102, 100) => passed - 100,
                other => panic!("{stamp}: {other:?}"),
            })
            .sum();
        assert!((1..=12).contains(&lost), "{lost}");
    }

    #[test]
    fn a_cost_is_as_many_entries_but_of_one_name() {
        let mut named = trial("10/10s", "stamp");
        assert_eq!(named.ask_for(0, 8), Ok(0));
        // One entry and nine are ten, one and ten are not.
        assert_eq!(named.ask_for(0, 9), Ok(0));
        assert_eq!(named.ask_for(4 * SEC, 10), wait(6 * SEC));
        assert_eq!(named.ask_for(0, 11), NEVER);
        let mut random = trial("10/10s", "stamp-and-random");
        assert_eq!(random.ask_for(0, 8), Ok(0));
        assert_eq!((random.left(0), random.footprint(0).entries), (2, 8));
    }

    #[test]
    fn a_cost_waits_for_as_many_of_the_oldest_as_stand_in_its_way() {
        for member in ["stamp", "stamp-and-random"] {
            let mut trial = trial("3/10s", member);
            assert_eq!(trial.passing([0, SEC, 2 * SEC]).len(), 3);
            assert_eq!(trial.ask_for(5 * SEC, 1), wait(5 * SEC));
            assert_eq!(trial.ask_for(5 * SEC, 2), wait(6 * SEC));
            assert_eq!(trial.ask_for(5 * SEC, 3), wait(7 * SEC));
        }
    }

    #[test]
    fn an_older_reading_is_an_older_name_unless_it_is_frozen() {
        let run = |backwards: &str| {
            let options =
                format!("member = \"stamp\"\ntick = \"1ms\"\nbackwards = \"{backwards}\"");
            let mut trial = Trial::new("sliding-window-log", "3/10s", None, &options);
            trial.passing([5 * SEC, 2 * SEC, 2 * SEC, 5 * SEC]);
            trial.footprint(5 * SEC).entries
        };
        // Frozen, all four are of 5 s.
        assert_eq!(["freeze", "rewind", "naive"].map(run), [1, 2, 2]);
    }

    #[test]
    fn counted_denials_are_kept_only_as_far_as_they_decide() {
        for member in ["stamp", "stamp-and-random"] {
            let options = format!("member = \"{member}\"\ntick = \"1ms\"\ncount-rejected = true");
            let mut trial = Trial::new("sliding-window-log", "10/10m", None, &options);
            let passed = trial.passing((0..1_000).map(|n| n * MS));
            assert_eq!(passed.len(), 10);
            assert_eq!(trial.footprint(999 * MS).entries, 10);
            // The oldest that is kept is that of 990 ms.
            assert_eq!(trial.ask(SEC), wait(600 * SEC + 991 * MS - SEC));
        }
    }

    #[test]
    fn a_name_takes_its_stamp_and_its_suffix() {
        for (member, state, name) in [
            ("stamp", size_of::<State<Stamp>>(), 8),
            ("stamp-and-random", size_of::<State<StampAndRandom>>(), 16),
        ] {
            let mut trial = trial("5/10s", member);
            trial.passing([0, SEC, 2 * SEC]);
            let kept = [2, 11].map(|now| trial.footprint(now * SEC));
            // At 11 s two have left the window; they stay in memory until room is needed.
            assert_eq!(kept.map(|kept| kept.entries), [3, 1]);
            assert_eq!(kept.map(|kept| kept.bytes), [(state + 3 * name) as u64; 2]);
            assert_eq!(trial.neutral_from(), Some(12 * SEC));
        }
    }
}
