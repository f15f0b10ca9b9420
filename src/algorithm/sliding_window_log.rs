//! The sliding window log: remembers when everything passed, and so knows the limit exactly.
//!
//! **Rule.** An attempt of cost c at `now` passes if the cost that passed in (now - W, now], plus c,
//! is at most L. With `edge = "closed"` what passed exactly W ago still counts.
//!
//! **Source.** P. Hayes, "Better Rate Limiting With Redis Sorted Sets", 2015.
//!
//! **Weakness.** Memory: one stamp for every request that passed within the window.
//!
//! Stamps are kept in order. A reading that goes back is stored in its place among them, so the
//! newest stamp never goes back; under `rewind` and `rewind-on-admit` the older stamp leaves the
//! window sooner, which is how a span is earned twice (a denial leaves no stamp, so the two are the
//! same here). Under `naive` every stamp newer than now - W counts, those of the future included,
//! and what is older is forgotten when something passes.
//!
//! Every request has an entry of its own here. Logs that name their entries less well (`member`) are in
//! `sorted_set`.

mod lag;
mod naming;
mod sorted_set;

use std::collections::VecDeque;

use lag::LagLog;
use naming::{Stamp, StampAndRandom};
use sorted_set::SortedSet;

use super::{Algorithm, Backwards, Common, Footprint, Keyed, Kind, Limiter, UNSEEN, Verdict, Wait};
use crate::params::{Choice, Params};
use crate::rate::Limit;
use crate::time::Reading;

/// The registry's entry.
pub const KIND: Kind = Kind {
    name: "sliding-window-log",
    summary: "Keeps a stamp of everything that passed in the trailing window.",
    weakness: "Memory grows with the limit: one stamp for every request in the window.",
    memory: "up to L stamps",
    queues: false,
    configure,
    backwards: &[Backwards::Freeze, Backwards::RewindOnAdmit, Backwards::Rewind, Backwards::Naive],
};

/// Whether what passed exactly one window ago still counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    HalfOpen,
    Closed,
}

impl Choice for Edge {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("half-open", Edge::HalfOpen, "what is exactly as old as the window no longer counts"),
        ("closed", Edge::Closed, "what is exactly as old as the window still counts"),
    ];
}

/// How an entry of the log is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Unique,
    Stamp,
    StampAndRandom,
    StampAndConstant,
}

impl Choice for Member {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("unique", Member::Unique, "none is named as another, so each of them counts"),
        ("stamp", Member::Stamp, "by its reading: all of one reading are one entry"),
        (
            "stamp-and-random",
            Member::StampAndRandom,
            "by its reading and one of 100,000 suffixes, drawn for each: of k entries of one reading \
             about k(k-1)/200,000 are lost",
        ),
        (
            "stamp-and-constant",
            Member::StampAndConstant,
            "by its reading and a suffix that is always the same, which is what a random one is where \
             each call of a script seeds the generator anew, as in Redis up to 6.2",
        ),
    ];
}

fn configure(limit: &Limit, common: Common, params: &mut Params) -> Option<Box<dyn Limiter>> {
    let edge = params.or(
        "edge",
        Edge::HalfOpen,
        "Whether what passed exactly one window ago still counts.",
    );
    // Not a default that every scenario's settings show: it means something only beside a clock whose
    // readings repeat.
    let member = params.optional(
        "member",
        "How an entry is named in the sorted set in which servers keep the log: two of one name are one, \
         and the limit counts them once. By default \"unique\".",
    );
    let lifetime = limit.per.signed() + i64::from(edge == Edge::Closed);
    let limit = limit.requests;
    Some(match member.unwrap_or(Member::Unique) {
        Member::Unique => {
            Box::new(Keyed::new(SlidingWindowLog { limit, lifetime, common }, common.tick))
        }
        Member::Stamp | Member::StampAndConstant => {
            Box::new(Keyed::new(SortedSet::<Stamp>::new(limit, lifetime, common), common.tick))
        }
        Member::StampAndRandom => {
            let rule = SortedSet::<StampAndRandom>::new(limit, lifetime, common);
            Box::new(Keyed::new(rule, common.tick))
        }
    })
}

struct SlidingWindowLog {
    limit: u64,
    /// How old a stamp is when it stops counting.
    lifetime: i64,
    common: Common,
}

/// What passed, the oldest first. Stamps no longer inside the window are dropped only where room is
/// needed; what they cost is part of `total` until then.
#[derive(Clone)]
struct State {
    stamps: VecDeque<i64>,
    /// The cost of each stamp; empty as long as all are 1, which halves the memory of most runs.
    costs: VecDeque<u32>,
    total: u64,
}

impl State {
    fn newest(&self) -> i64 {
        self.stamps.back().copied().unwrap_or(UNSEEN)
    }

    fn cost(&self, index: usize) -> u64 {
        self.costs.get(index).copied().map_or(1, u64::from)
    }

    fn insert(&mut self, stamp: i64, cost: u32) {
        if cost != 1 && self.costs.is_empty() {
            self.costs.resize(self.stamps.len(), 1);
        }
        let has_costs = cost != 1 || !self.costs.is_empty();
        if stamp >= self.newest() {
            self.stamps.push_back(stamp);
            if has_costs {
                self.costs.push_back(cost);
            }
        } else {
            let index = self.stamps.partition_point(|&earlier| earlier <= stamp);
            self.stamps.insert(index, stamp);
            if has_costs {
                self.costs.insert(index, cost);
            }
        }
        self.total += u64::from(cost);
    }

    fn drop_oldest(&mut self) {
        self.total -= self.cost(0);
        self.stamps.pop_front();
        self.costs.pop_front();
    }
}

impl SlidingWindowLog {
    /// The earliest reading at which `cost`, at most the limit, has room, given that `total` leaves
    /// none: when enough of the oldest stamps have stopped counting.
    fn opens_at(&self, state: &State, cost: u64) -> Option<i64> {
        let mut total = state.total;
        for (index, stamp) in state.stamps.iter().enumerate() {
            total -= state.cost(index);
            if total + cost <= self.limit {
                return Some(stamp.saturating_add(self.lifetime));
            }
        }
        None
    }
}

impl SlidingWindowLog {
    /// Adds `cost` that passed at `now` under a stamp.
    fn add(&self, state: &mut State, now: Reading, stamp: i64, cost: u32) {
        let at = self.common.backwards.decided_at(now.0, state.newest());
        let full = state.total + u64::from(cost) > self.limit;
        if full || self.common.backwards == Backwards::Naive {
            while state.stamps.front().is_some_and(|s| s.saturating_add(self.lifetime) <= at) {
                state.drop_oldest();
            }
        }
        state.insert(stamp, cost);
        // Where denied attempts are charged: a stamp that only counts while newer ones fill the
        // limit by themselves decides nothing.
        while state.total > self.limit && state.total - state.cost(0) >= self.limit {
            state.drop_oldest();
        }
    }
}

impl Algorithm for SlidingWindowLog {
    type State = State;

    const GROWS: bool = true;

    fn fresh(&self) -> State {
        State { stamps: VecDeque::new(), costs: VecDeque::new(), total: 0 }
    }

    fn check(&self, state: &State, now: Reading, cost: u32) -> Verdict {
        let cost = u64::from(cost);
        let at = self.common.backwards.decided_at(now.0, state.newest());
        let fits = state.total + cost <= self.limit
            || (cost <= self.limit && self.opens_at(state, cost).is_some_and(|opens| opens <= at));
        if fits { Verdict::Admit } else { Verdict::Deny }
    }

    fn wait(&self, state: &State, now: Reading, cost: u32) -> Wait {
        if u64::from(cost) > self.limit {
            return Wait::Never;
        }
        let opens = self.opens_at(state, u64::from(cost)).unwrap_or(now.0);
        Wait::nanos(i128::from(opens) - i128::from(now.0))
    }

    fn charge(&self, state: &mut State, now: Reading, cost: u32) {
        let stamp = self.common.backwards.stored_as(now.0, state.newest());
        self.add(state, now, stamp, cost);
    }

    fn as_of(&self, state: &State, now: Reading) -> Reading {
        self.common.backwards.as_of(now, state.newest())
    }

    fn owe(&self, state: &mut State, now: Reading, cost: u32) {
        let stamp = match self.common.backwards {
            Backwards::Freeze => now.0,
            backwards => backwards.stored_as(now.0, state.newest()),
        };
        self.add(state, now, stamp, cost);
    }

    fn deny(&self, state: &mut State, now: Reading, cost: u32) {
        if self.common.count_rejected {
            self.charge(state, now, cost);
        }
    }

    fn denial_writes(&self, _state: &State) -> bool {
        self.common.count_rejected
    }

    fn footprint(&self, state: &State, now: Reading) -> Footprint {
        let at = self.common.backwards.decided_at(now.0, state.newest());
        let has_left = |stamp: &i64| stamp.saturating_add(self.lifetime) <= at;
        // Most often none has, and then the oldest alone tells.
        let left = match state.stamps.front() {
            Some(oldest) if has_left(oldest) => state.stamps.partition_point(has_left),
            _ => 0,
        };
        let heap =
            size_of_val(&0_i64) * state.stamps.len() + size_of_val(&0_u32) * state.costs.len();
        Footprint {
            entries: (state.stamps.len() - left) as u64,
            bytes: (size_of::<State>() + heap) as u64,
        }
    }

    fn in_time_order(&self) -> Option<Box<dyn Limiter>> {
        LagLog::for_units(self)
            .map(|rule| Box::new(Keyed::new(rule, self.common.tick)) as Box<dyn Limiter>)
    }

    fn neutral_from(&self, state: &State) -> Option<Reading> {
        let newest = state.stamps.back();
        Some(Reading(newest.map_or(UNSEEN, |stamp| stamp.saturating_add(self.lifetime))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{MS, NEVER, SEC, Trial, wait};

    #[test]
    fn the_wait_is_for_the_oldest_stamp_not_the_newest() {
        let mut trial = Trial::new("sliding-window-log", "2/m", None, "");
        assert_eq!(trial.passing([0, 10 * SEC]).len(), 2);
        // The stamp of 0 s leaves at 60 s.
        assert_eq!(trial.ask(20 * SEC), wait(40 * SEC));
    }

    #[test]
    fn a_cost_waits_until_enough_of_the_oldest_have_left() {
        let mut trial = Trial::new("sliding-window-log", "10/60s", None, "");
        for (now, cost) in [(0, 3), (10, 1), (20, 6)] {
            assert_eq!(trial.ask_for(now * SEC, cost), Ok(0));
        }
        // 4 need the stamps of 0 s and 10 s gone, 5 that of 20 s too.
        assert_eq!(trial.ask_for(30 * SEC, 3), wait(30 * SEC));
        assert_eq!(trial.ask_for(30 * SEC, 4), wait(40 * SEC));
        assert_eq!(trial.ask_for(30 * SEC, 5), wait(50 * SEC));
        assert_eq!(trial.ask_for(30 * SEC, 11), NEVER);
    }

    #[test]
    fn what_is_exactly_as_old_as_the_window_counts_only_in_a_closed_one() {
        let mut half_open = Trial::new("sliding-window-log", "1/60s", None, "");
        assert_eq!(half_open.passing([0, 60 * SEC - 1, 60 * SEC]), [0, 60 * SEC]);
        let mut closed = Trial::new("sliding-window-log", "1/60s", None, "edge = \"closed\"");
        assert_eq!(closed.ask(0), Ok(0));
        assert_eq!(closed.ask(60 * SEC), wait(1));
        assert_eq!(closed.ask(60 * SEC + 1), Ok(0));
    }

    #[test]
    fn a_limit_of_one_passes_one_in_every_window() {
        let mut trial = Trial::new("sliding-window-log", "1/10s", None, "");
        let passing = trial.passing((0..1000).map(|n| n * 100 * MS));
        assert_eq!(passing, (0..10).map(|n| n * 10 * SEC).collect::<Vec<_>>());
    }

    #[test]
    fn counted_denials_keep_out_a_client_that_asks_too_often() {
        let asks = || (0..240).map(|n| n * 30 * SEC);
        let run = |options: &str| {
            Trial::new("sliding-window-log", "10/10m", None, options).passing(asks()).len()
        };
        assert_eq!((run(""), run("count-rejected = true")), (120, 10));
    }

    #[test]
    fn counted_denials_are_kept_only_as_far_as_they_decide() {
        let options = "count-rejected = true";
        let mut trial = Trial::new("sliding-window-log", "10/10m", None, options);
        trial.flood(0, 1_000);
        assert_eq!(trial.footprint(0).entries, 10);
    }

    #[test]
    fn an_older_stamp_is_raised_kept_in_its_place_or_decides_by_itself() {
        let run = |backwards: &str| {
            let options = format!("backwards = \"{backwards}\"");
            let mut trial = Trial::new("sliding-window-log", "2/10s", None, &options);
            // At 10.5 s the stamp that was written as 0.5 s has left, if it was left at that.
            trial.passing([6 * SEC, 500 * MS, 500 * MS, 10_500 * MS]).len()
        };
        assert_eq!((run("freeze"), run("rewind-on-admit"), run("naive")), (2, 3, 3));
    }

    #[test]
    fn a_stamp_a_request_is_kept_and_the_cost_only_where_it_is_not_one() {
        let empty = size_of::<super::State>() as u64;
        let mut trial = Trial::new("sliding-window-log", "5/10s", None, "");
        trial.passing([0, SEC, 2 * SEC]);
        assert_eq!(
            (trial.footprint(2 * SEC).entries, trial.footprint(2 * SEC).bytes),
            (3, empty + 24)
        );
        // Two have left the window; they stay in memory until room is needed.
        assert_eq!(
            (trial.footprint(11 * SEC).entries, trial.footprint(11 * SEC).bytes),
            (1, empty + 24)
        );
        trial.ask_for(11 * SEC, 2).unwrap();
        assert_eq!(
            (trial.footprint(11 * SEC).entries, trial.footprint(11 * SEC).bytes),
            (2, empty + 48)
        );
        assert_eq!(trial.neutral_from(), Some(21 * SEC));
    }
}
