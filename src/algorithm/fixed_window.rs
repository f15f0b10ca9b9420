//! The fixed window: one counter, wiped whenever a new window begins.
//!
//! **Rule.** An attempt of cost c at `now` passes if the cost that passed in the window of `now`,
//! plus c, is at most L. Windows are [kW, (k+1)W): since 1970 (`anchor = "epoch"`), or from the
//! first request after the last window ended (`anchor = "first-request"`).
//!
//! **Source.** The rate limiter patterns in the documentation of the Redis command `INCR`.
//!
//! **Weakness.** Twice the limit passes in little more than no time, around the edge of two windows.

use super::{Algorithm, Backwards, Common, Footprint, Keyed, Kind, Limiter, UNSEEN, Verdict, Wait};
use crate::params::{Choice, Params};
use crate::rate::Limit;
use crate::time::Reading;

/// The registry's entry.
pub const KIND: Kind = Kind {
    name: "fixed-window",
    summary: "counts what passes in each window of a grid",
    weakness: "lets twice the limit through around the edge of two windows",
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
}

impl Choice for Anchor {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("epoch", Anchor::Epoch, "at whole multiples of the span since 1970, for all keys alike"),
        ("first-request", Anchor::FirstRequest, "at a key's first request after its last window"),
    ];
}

fn configure(limit: &Limit, common: Common, params: &mut Params) -> Option<Box<dyn Limiter>> {
    let anchor = params.or("anchor", Anchor::Epoch, "Where windows begin.");
    let rule = FixedWindow { limit: limit.requests, width: limit.per.signed(), anchor, common };
    Some(Box::new(Keyed::new(rule, common.tick)))
}

struct FixedWindow {
    limit: u64,
    width: i64,
    anchor: Anchor,
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
        match self.anchor {
            Anchor::Epoch => now.saturating_add(self.width - now.rem_euclid(self.width)),
            Anchor::FirstRequest => now.saturating_add(self.width),
        }
    }

    /// Whether `now`, which lies before the end of the window, lies before its beginning too.
    fn precedes(&self, now: i64, state: &State) -> bool {
        now < state.end - self.width
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

    fn deny(&self, state: &mut State, now: Reading, cost: u32) {
        if self.common.count_rejected {
            self.charge(state, now, cost);
        } else if self.common.backwards == Backwards::Rewind {
            *state = self.settled(state, now.0);
        }
    }

    fn footprint(&self, _state: &State, _now: Reading) -> Footprint {
        Footprint { entries: 1, bytes: size_of::<State>() as u64 }
    }

    fn neutral_from(&self, state: &State) -> Option<Reading> {
        Some(Reading(state.end))
    }
}
