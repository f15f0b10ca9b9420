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

use super::schedule::{Due, Schedule};
use super::width::Nanos;
use super::{Algorithm, Backwards, Common, Footprint, Keyed, Kind, Limiter, Verdict, Wait};
use crate::params::Params;
use crate::rate::Limit;
use crate::time::Reading;

/// The registry's entry.
pub const KIND: Kind = Kind {
    name: "gcra",
    summary: "Compares a request with the time at which it would be due; a token bucket in one time.",
    weakness: "A time stored by a fast clock locks the key out until true time catches up.",
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
    Some(Box::new(Keyed::new(Gcra { schedule }, common.tick)))
}

struct Gcra<N> {
    schedule: Schedule<N>,
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

    #[inline]
    fn pass(&self, state: &mut Due<N>, now: Reading) -> Verdict {
        match self.schedule.pass(state, now) {
            Some(_) => Verdict::Admit,
            None => Verdict::Deny,
        }
    }

    fn is_flat(&self) -> bool {
        self.schedule.is_flat()
    }

    fn decide_all(&self, state: &mut Due<N>, times: &[i64], trail: &mut [Due<N>]) -> u64 {
        self.schedule.decide_all(state, times, trail)
    }

    fn as_of(&self, state: &Due<N>, now: Reading) -> Reading {
        self.schedule.as_of(state, now)
    }

    fn owe(&self, state: &mut Due<N>, now: Reading, cost: u32) {
        self.schedule.owe(state, now, cost);
    }

    fn deny(&self, state: &mut Due<N>, now: Reading, cost: u32) {
        self.schedule.deny(state, now, cost);
    }

    fn denial_writes(&self, _state: &Due<N>) -> bool {
        self.schedule.denial_writes()
    }

    fn footprint(&self, _state: &Due<N>, _now: Reading) -> Footprint {
        Footprint { entries: 1, bytes: size_of::<Due<N>>() as u64 }
    }

    fn neutral_from(&self, state: &Due<N>) -> Option<Reading> {
        self.schedule.neutral_from(state)
    }

    fn lasts_at_most(&self) -> i64 {
        self.schedule.lasts_at_most()
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{NEVER, SEC, Trial, wait};

    #[test]
    fn the_wait_is_up_to_the_tolerance_not_to_the_arrival_time() {
        let mut trial = Trial::new("gcra", "1/s", Some(5), "");
        assert_eq!(trial.flood(0, 5), 5);
        // TAT is 5 s: TAT + 1 - 5.
        assert_eq!(trial.ask(0), wait(SEC));
        assert_eq!(trial.ask_for(0, 3), wait(3 * SEC));
        assert_eq!(trial.ask_for(0, 6), NEVER);
    }

    #[test]
    fn a_burst_is_what_passes_at_once() {
        assert_eq!(Trial::new("gcra", "10/s", Some(5), "").flood(0, 10), 5);
        assert_eq!(Trial::new("gcra", "10/s", Some(6), "").flood(0, 10), 6);
    }

    #[test]
    fn an_interval_of_a_fraction_of_a_nanosecond_is_kept_exactly() {
        // 333 1/3 ns.
        let mut trial = Trial::new("gcra", "3000000/s", Some(1), "");
        assert_eq!(trial.passing([0, 333, 334, 667, 668]), [0, 334, 668]);
        let mut trial = Trial::new("gcra", "3000000/s", Some(3), "");
        assert_eq!(trial.flood(0, 4), 3);
        assert_eq!(trial.ask_for(0, 3), wait(1_000));
        let mut trial = Trial::new("gcra", "2000/s", Some(1), "");
        assert_eq!(trial.passing([0, 499_999, 500_000]), [0, 500_000]);
    }

    #[test]
    fn a_limit_of_none_passes_its_own_burst_once() {
        for burst in [1, 100] {
            let mut trial = Trial::new("gcra", "0/s", Some(burst), "");
            assert_eq!(trial.flood(0, 1_000), burst as usize);
            assert_eq!(trial.ask(i64::MAX / 2), NEVER);
            assert_eq!(trial.neutral_from(), None);
        }
        assert_eq!(Trial::new("gcra", "0/s", None, "").ask(0), NEVER);
    }

    #[test]
    fn a_clock_that_goes_back_locks_out_only_where_its_time_is_taken_as_it_is() {
        // 1/s, burst 2, at 10 s and 0 s in turns.
        let run = |backwards: &str| {
            let mut trial =
                Trial::new("gcra", "1/s", Some(2), &format!("backwards = \"{backwards}\""));
            let asked = (0..12).map(|n| if n % 2 == 0 { 10 * SEC } else { 0 });
            asked.map(|now| if trial.ask(now).is_ok() { 'A' } else { 'R' }).collect::<String>()
        };
        assert_eq!(run("freeze"), "AARRRRRRRRRR");
        assert_eq!(run("strict"), "ARARRRRRRRRR");
        // Ten seconds are earned again each time the clock returns.
        assert_eq!(run("rewind"), "AAAAAAAAAAAA");
    }

    #[test]
    fn wide_limits_are_as_exact_as_narrow_ones() {
        // 2^32 at once, one in ten years: the burst reaches beyond 64 bits of nanoseconds.
        let mut trial = Trial::new("gcra", "1/3650d", Some(1 << 32), "");
        assert_eq!(trial.ask_for(0, u32::MAX), Ok(0));
        assert_eq!(trial.ask(0), Ok(0));
        assert_eq!(trial.ask(0), wait(315_360_000 * SEC));
        assert_eq!(trial.ask(1), wait(315_360_000 * SEC - 1));
        assert_eq!(trial.ask_for(0, u32::MAX), NEVER);
    }
}
