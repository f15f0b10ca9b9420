//! The generic cell rate algorithm: one time, at which the next request is expected if requests
//! come evenly.
//!
//! **Rule.** With T = W/L, capacity B and the theoretical arrival time TAT: an attempt of cost c at
//! `now` passes if max(TAT, now) - now is at most (B - c)T; then TAT becomes max(TAT, now) + cT.
//! It decides exactly as a token bucket of capacity B does, waits included.
//!
//! **Source.** ITU-T Recommendation I.371, "Traffic control and congestion control in B-ISDN",
//! the virtual scheduling form, with the tolerance (B - 1)T.
//!
//! **Weakness.** A clock that goes back (`backwards = "strict"`, as most implementations do) denies
//! everything until true time has caught up with the time stored.

use super::schedule::{Due, Nanos, Schedule};
use super::{Algorithm, Backwards, Common, Footprint, Keyed, Kind, Limiter, Verdict, Wait};
use crate::params::Params;
use crate::rate::Limit;
use crate::time::Reading;

/// The registry's entry.
pub const KIND: Kind = Kind {
    name: "gcra",
    summary: "compares a request with the time at which it would be due; a token bucket in one time",
    weakness: "a time stored by a fast clock locks the key out until true time catches up",
    memory: "1 time",
    queues: false,
    configure,
    backwards: &[
        Backwards::Freeze,
        Backwards::RewindOnAdmit,
        Backwards::Rewind,
        Backwards::Strict,
        Backwards::Naive,
    ],
};

fn configure(limit: &Limit, common: Common, _params: &mut Params) -> Option<Box<dyn Limiter>> {
    match limiter::<i64>(limit, common) {
        None => limiter::<i128>(limit, common),
        narrow => narrow,
    }
}

fn limiter<N: Nanos>(limit: &Limit, common: Common) -> Option<Box<dyn Limiter>> {
    let schedule = Schedule::<N>::new(limit, limit.burst, limit.burst, common)?;
    Some(Box::new(Keyed::new(Gcra { schedule, common }, common.tick)))
}

struct Gcra<N> {
    schedule: Schedule<N>,
    common: Common,
}

impl<N: Nanos> Algorithm for Gcra<N> {
    type State = Due<N>;

    fn fresh(&self) -> Due<N> {
        self.schedule.fresh()
    }

    fn check(&self, state: &Due<N>, now: Reading, cost: u32) -> Verdict {
        let settled = self.schedule.settled(state, now);
        if self.schedule.has_room(&settled, cost) { Verdict::Admit } else { Verdict::Deny }
    }

    fn wait(&self, state: &Due<N>, now: Reading, cost: u32) -> Wait {
        self.schedule.wait(state, now, cost)
    }

    fn charge(&self, state: &mut Due<N>, now: Reading, cost: u32) {
        self.schedule.charge(state, now, cost);
    }

    fn deny(&self, state: &mut Due<N>, now: Reading, cost: u32) {
        if self.common.count_rejected {
            self.schedule.charge(state, now, cost);
        } else if self.common.backwards == Backwards::Rewind {
            *state = self.schedule.settled(state, now);
        }
    }

    fn footprint(&self, _state: &Due<N>, _now: Reading) -> Footprint {
        Footprint { entries: 1, bytes: size_of::<Due<N>>() as u64 }
    }

    fn neutral_from(&self, state: &Due<N>) -> Option<Reading> {
        self.schedule.neutral_from(state)
    }
}
