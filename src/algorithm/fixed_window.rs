//! The fixed window: one counter, wiped whenever a new window begins.
//!
//! **Rule.** An attempt of cost c at `now` passes if the cost that passed in the window of `now`,
//! plus c, is at most L. Windows are [kW, (k+1)W): since 1970 (`anchor = "epoch"`), or from the
//! first request after the last window ended (`anchor = "first-request"`). With `anchor = "expiry"` a
//! window ends when a store forgets the key, for which see `until_forgotten`.
//!
//! **Source.** The rate limiter patterns in the documentation of the Redis command `INCR`.
//!
//! **Weakness.** Twice the limit passes in little more than no time, around the edge of two windows.

mod until_forgotten;

use std::hint::select_unpredictable;

use until_forgotten::UntilForgotten;

use super::grid::Grid;
use super::{Algorithm, Backwards, Common, Footprint, Keyed, Kind, Limiter, UNSEEN, Verdict, Wait};
use crate::params::{Choice, Params};
use crate::rate::Limit;
use crate::time::Reading;

/// The registry's entry.
pub const KIND: Kind = Kind {
    name: "fixed-window",
    summary: "Counts what passes in each window of a grid.",
    weakness: "Lets twice the limit through around the edge of two windows.",
    memory: "1 counter",
    queues: false,
    configure,
    backwards: &[Backwards::Freeze, Backwards::RewindOnAdmit, Backwards::Rewind, Backwards::Naive],
};

/// Where windows begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Epoch,
    FirstRequest,
    Expiry,
}

impl Choice for Anchor {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("epoch", Anchor::Epoch, "at whole multiples of the span since 1970, for all keys alike"),
        ("first-request", Anchor::FirstRequest, "at a key's first request after its last window"),
        (
            "expiry",
            Anchor::Expiry,
            "at a key's first request while the store does not know it, until the store forgets it: only \
             with `[store]` and `placement = \"shared\"`",
        ),
    ];
}

fn configure(limit: &Limit, common: Common, params: &mut Params) -> Option<Box<dyn Limiter>> {
    let anchor = params.or("anchor", Anchor::Epoch, "Where windows begin.");
    let grid = match anchor {
        Anchor::Epoch => Some(Grid::new(limit.per.signed())),
        Anchor::FirstRequest => None,
        Anchor::Expiry => {
            let mode = common.backwards;
            let known = params.require(
                "backwards",
                mode == Backwards::Freeze,
                format!("`{}` has no effect on a window that only its expiry ends", mode.name()),
                "leave it out: with `anchor = \"expiry\"` no reading is looked at",
            );
            let rule = UntilForgotten::new(limit, common);
            return known.then(|| Box::new(Keyed::new(rule, common.tick)) as Box<dyn Limiter>);
        }
    };
    let rule = FixedWindow { limit: limit.requests, width: limit.per.signed(), grid, common };
    Some(Box::new(Keyed::new(rule, common.tick)))
}

struct FixedWindow {
    limit: u64,
    width: i64,
    /// The grid of the epoch, unless a key opens its own windows.
    grid: Option<Grid>,
    common: Common,
}

/// The window last opened: where it ends, and what passed in it.
#[derive(Clone, Copy)]
struct State {
    end: i64,
    count: u64,
}

impl FixedWindow {
    /// Where the window that opens for `now` ends.
    fn end_of(&self, now: i64) -> i64 {
        match &self.grid {
            Some(grid) => grid.end_of(now),
            None => now.saturating_add(self.width),
        }
    }

    /// Whether `now`, which lies before the end of the window, lies before its beginning too.
    fn precedes(&self, now: i64, state: &State) -> bool {
        now < state.end - self.width
    }

    fn denies_in_writing(&self) -> bool {
        self.common.count_rejected || self.common.backwards == Backwards::Rewind
    }

    /// What counts against an attempt at `now`.
    fn count(&self, state: &State, now: i64) -> u64 {
        let wiped = now >= state.end
            || (self.common.backwards == Backwards::Naive && self.precedes(now, state));
        if wiped { 0 } else { state.count }
    }

    /// The state once `now` is the key's last reading.
    fn settled(&self, state: &State, now: i64) -> State {
        let count = self.count(state, now);
        let moves = now >= state.end
            || (self.common.backwards != Backwards::Freeze && self.precedes(now, state));
        State { end: if moves { self.end_of(now) } else { state.end }, count }
    }
}

impl Algorithm for FixedWindow {
    type State = State;

    fn fresh(&self) -> State {
        State { end: UNSEEN, count: 0 }
    }

    fn check(&self, state: &State, now: Reading, cost: u32) -> Verdict {
        let count = self.count(state, now.0).saturating_add(u64::from(cost));
        if count <= self.limit { Verdict::Admit } else { Verdict::Deny }
    }

    fn wait(&self, state: &State, now: Reading, cost: u32) -> Wait {
        if u64::from(cost) > self.limit {
            return Wait::Never;
        }
        Wait::nanos(i128::from(state.end) - i128::from(now.0))
    }

    fn charge(&self, state: &mut State, now: Reading, cost: u32) {
        *state = self.settled(state, now.0);
        state.count = state.count.saturating_add(u64::from(cost));
    }

    #[inline]
    fn pass(&self, state: &mut State, now: Reading) -> Verdict {
        if now.0 >= state.end && self.limit > 0 {
            *state = State { end: self.end_of(now.0), count: 1 };
        } else if state.count < self.limit {
            state.count += 1;
        } else {
            return Verdict::Deny;
        }
        Verdict::Admit
    }

    fn is_flat(&self) -> bool {
        self.limit > 0 && !self.denies_in_writing()
    }

    fn decide_all(&self, state: &mut State, times: &[i64], trail: &mut [State]) -> u64 {
        let State { mut end, mut count } = *state;
        let mut denied = 0;
        for (n, (&at, after)) in times.iter().zip(trail).enumerate() {
            let opens = at >= end;
            end = select_unpredictable(opens, self.end_of(at), end);
            count = select_unpredictable(opens, 0, count);
            let passes = count < self.limit;
            count += u64::from(passes);
            denied |= u64::from(!passes) << n;
            *after = State { end, count };
        }
        *state = State { end, count };
        denied
    }

    fn admit_first(&self, state: &mut State, times: &[i64]) -> usize {
        let (Some(grid), [first, ..]) = (&self.grid, times) else { return 0 };
        let counted = if *first < state.end { state.count } else { 0 };
        let room = self.limit.saturating_sub(counted);
        let Some((times, last)) = Grid::with_room(times, room) else { return 0 };
        if last < state.end {
            state.count += times.len() as u64;
        } else {
            let end = grid.end_of(last);
            let before = times.partition_point(|&at| at < end - self.width);
            *state = State { end, count: (times.len() - before) as u64 };
        }
        times.len()
    }

    fn until_after(&self, at: i64) -> i64 {
        self.end_of(at)
    }

    fn as_of(&self, state: &State, now: Reading) -> Reading {
        let freezes = self.common.backwards == Backwards::Freeze;
        let precedes = now.0 < state.end && self.precedes(now.0, state);
        if freezes && precedes { Reading(state.end - self.width) } else { now }
    }

    fn owe(&self, state: &mut State, now: Reading, cost: u32) {
        let freezes = self.common.backwards == Backwards::Freeze;
        let is_over = now.0 < state.end && self.precedes(now.0, state);
        if !(self.grid.is_some() && freezes && is_over) {
            self.charge(state, now, cost);
        }
    }

    fn deny(&self, state: &mut State, now: Reading, cost: u32) {
        if self.common.count_rejected {
            self.charge(state, now, cost);
        } else if self.common.backwards == Backwards::Rewind {
            *state = self.settled(state, now.0);
        }
    }

    fn denial_writes(&self, _state: &State) -> bool {
        self.denies_in_writing()
    }

    fn footprint(&self, _state: &State, _now: Reading) -> Footprint {
        Footprint { entries: 1, bytes: size_of::<State>() as u64 }
    }

    fn neutral_from(&self, state: &State) -> Option<Reading> {
        Some(Reading(state.end))
    }

    fn lasts_at_most(&self) -> i64 {
        self.width
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{NEVER, SEC, Trial, wait};

    #[test]
    fn a_full_quota_passes_on_each_side_of_an_edge() {
        let mut trial = Trial::new("fixed-window", "100/60s", None, "");
        assert_eq!(trial.flood(59 * SEC, 150), 100);
        assert_eq!(trial.ask(59 * SEC), wait(SEC));
        assert_eq!(trial.flood(60 * SEC, 150), 100);
    }

    #[test]
    fn windows_of_the_epoch_reach_before_1970_without_a_seam() {
        let mut trial = Trial::new("fixed-window", "1/10s", None, "");
        // -15 s lies in [-20, -10), -3 s in [-10, 0).
        assert_eq!(trial.ask(-15 * SEC), Ok(0));
        assert_eq!(trial.ask(-11 * SEC), wait(SEC));
        assert_eq!(trial.passing([-10 * SEC, -3 * SEC, 0]), [-10 * SEC, 0]);
    }

    #[test]
    fn a_window_of_the_first_request_opens_when_it_comes() {
        let mut trial = Trial::new("fixed-window", "2/10s", None, "anchor = \"first-request\"");
        let times = [7, 12, 16, 17, 30, 39, 40].map(|s| s * SEC);
        // [7, 17), [17, 27), then [30, 40), [40, 50).
        assert_eq!(trial.passing(times), [7, 12, 17, 30, 39, 40].map(|s| s * SEC));
        assert_eq!(trial.neutral_from(), Some(50 * SEC));
    }

    #[test]
    fn a_cost_above_the_limit_never_passes_and_a_smaller_one_may() {
        let mut trial = Trial::new("fixed-window", "10/60s", None, "");
        assert_eq!(trial.ask_for(0, 8), Ok(0));
        assert_eq!(trial.ask_for(0, 5), wait(60 * SEC));
        assert_eq!(trial.ask_for(0, 11), NEVER);
        assert_eq!(trial.ask_for(0, 2), Ok(0));
    }

    #[test]
    fn a_counted_denial_spends_what_a_smaller_cost_would_have_had() {
        let mut trial = Trial::new("fixed-window", "10/60s", None, "count-rejected = true");
        assert_eq!(trial.ask_for(0, 8), Ok(0));
        assert_eq!(trial.ask_for(0, 5), wait(60 * SEC));
        assert_eq!(trial.ask_for(0, 1), wait(60 * SEC));
    }

    #[test]
    fn an_older_window_is_frozen_rewound_to_or_wiped() {
        let run = |backwards: &str| {
            let options = format!("backwards = \"{backwards}\"");
            let mut trial = Trial::new("fixed-window", "2/10s", None, &options);
            // One in the second window, one stamped in the first, then the second again.
            trial.passing([11, 9, 12, 12, 12].map(|s| s * SEC)).len()
        };
        assert_eq!(run("freeze"), 2);
        assert_eq!(run("rewind-on-admit"), 4);
        assert_eq!(run("naive"), 4);
    }

    #[test]
    fn a_denial_rewinds_only_where_it_is_always_stored() {
        let run = |backwards: &str| {
            let options = format!("backwards = \"{backwards}\"");
            let mut trial = Trial::new("fixed-window", "2/10s", None, &options);
            // The second window is full when the first comes again, and then the second.
            trial.passing([11, 11, 9, 12, 12].map(|s| s * SEC)).len()
        };
        assert_eq!((run("freeze"), run("rewind-on-admit"), run("rewind")), (2, 2, 4));
    }

    #[test]
    fn asking_twice_a_minute_is_admitted_the_same_whether_denials_count_or_not() {
        for count in [false, true] {
            let options = format!("count-rejected = {count}");
            let mut trial = Trial::new("fixed-window", "10/10m", None, &options);
            // Twelve windows of ten.
            assert_eq!(trial.passing((0..240).map(|n| n * 30 * SEC)).len(), 120);
        }
    }

    #[test]
    fn one_counter_is_kept() {
        let footprint = Trial::new("fixed-window", "10/60s", None, "").footprint(0);
        assert_eq!((footprint.entries, footprint.bytes), (1, 16));
    }
}
