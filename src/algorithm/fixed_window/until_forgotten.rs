//! The fixed window whose end is the expiry of its key in a store: a counter that is there or not.
//!
//! **Rule.** An attempt of cost c passes if the cost that passed since the key is there, plus c, is at most
//! L. The rule never looks at the time. A window opens at the first attempt that is charged to a key without
//! state, and ends when the store forgets the key, however late that is.
//!
//! **Source.** The second pattern of a rate limiter in the documentation of the Redis command `INCR`.
//!
//! **Weakness.** A key whose expiry was never set, or was lost, blocks for ever.
//!
//! When the state should be forgotten is known, a window after it opened, and with it the wait of a denied
//! attempt; both are promises that only the store can keep. Where it is past and the key still there, the
//! store owes its end by now, and no time is left to be told.

use super::super::{Algorithm, Common, Footprint, UNSEEN, Verdict, Wait};
use crate::rate::Limit;
use crate::time::Reading;

/// The rule.
pub(super) struct UntilForgotten {
    limit: u64,
    width: i64,
    common: Common,
}

/// What passed since the window opened, and when it should end; [`UNSEEN`] where none is open.
#[derive(Clone, Copy)]
pub(super) struct State {
    end: i64,
    count: u64,
}

impl UntilForgotten {
    pub(super) fn new(limit: &Limit, common: Common) -> UntilForgotten {
        UntilForgotten { limit: limit.requests, width: limit.per.signed(), common }
    }
}

impl Algorithm for UntilForgotten {
    type State = State;

    fn fresh(&self) -> State {
        State { end: UNSEEN, count: 0 }
    }

    fn check(&self, state: &State, _now: Reading, cost: u32) -> Verdict {
        let count = state.count.saturating_add(u64::from(cost));
        if count <= self.limit { Verdict::Admit } else { Verdict::Deny }
    }

    fn wait(&self, state: &State, now: Reading, cost: u32) -> Wait {
        if u64::from(cost) > self.limit {
            return Wait::Never;
        }
        Wait::nanos(i128::from(state.end) - i128::from(now.0))
    }

    fn charge(&self, state: &mut State, now: Reading, cost: u32) {
        if state.end == UNSEEN {
            state.end = now.0.saturating_add(self.width);
        }
        state.count = state.count.saturating_add(u64::from(cost));
    }

    fn deny(&self, state: &mut State, now: Reading, cost: u32) {
        if self.common.count_rejected {
            self.charge(state, now, cost);
        }
    }

    fn footprint(&self, _state: &State, _now: Reading) -> Footprint {
        Footprint { entries: 1, bytes: size_of::<State>() as u64 }
    }

    fn neutral_from(&self, state: &State) -> Option<Reading> {
        Some(Reading(state.end))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::UNSEEN;
    use super::super::super::trial::{NEVER, SEC, Trial, wait};

    fn trial(limit: &str, options: &str) -> Trial {
        let options = format!("anchor = \"expiry\"\n{options}");
        Trial::new("fixed-window", limit, None, &options)
    }

    #[test]
    fn a_window_ends_when_its_key_is_forgotten_and_only_then() {
        let mut trial = trial("3/10s", "");
        assert_eq!(trial.flood(7 * SEC, 5), 3);
        // It should be forgotten at 17 s.
        assert_eq!(trial.neutral_from(), Some(17 * SEC));
        assert_eq!(trial.ask(8 * SEC), wait(9 * SEC));
        // It is not: the store owes that by now.
        assert_eq!([17, 18, 1_000_000].map(|now| trial.ask(now * SEC)), [wait(0); 3]);
        trial.forget();
        assert_eq!(trial.flood(1_000_005 * SEC, 5), 3);
        assert_eq!(trial.neutral_from(), Some(1_000_015 * SEC));
    }

    #[test]
    fn a_key_that_is_forgotten_early_gives_a_quota_each_time() {
        let mut trial = trial("3/10s", "");
        let passed = (0..10).map(|now| {
            trial.forget();
            trial.flood(now * SEC, 5)
        });
        assert_eq!(passed.sum::<usize>(), 30);
    }

    #[test]
    fn an_older_reading_counts_as_any_other() {
        let mut trial = trial("2/10s", "");
        assert_eq!(trial.passing([30 * SEC, -50 * SEC, 31 * SEC]), [30 * SEC, -50 * SEC]);
        assert_eq!(trial.ask(-50 * SEC), wait(90 * SEC));
    }

    #[test]
    fn eight_five_and_one_of_ten_differ_by_whether_denials_count() {
        let run = |options: &str| {
            let mut trial = trial("10/60s", options);
            [8, 5, 1].map(|cost| trial.ask_for(0, cost).is_ok())
        };
        assert_eq!(run(""), [true, false, true]);
        assert_eq!(run("count-rejected = true"), [true, false, false]);
    }

    #[test]
    fn a_denial_opens_a_window_only_where_it_is_charged() {
        let run = |options: &str| {
            let mut trial = trial("10/60s", options);
            assert_eq!(trial.ask_for(5 * SEC, 11), NEVER);
            trial.neutral_from()
        };
        assert_eq!(run(""), Some(UNSEEN));
        assert_eq!(run("count-rejected = true"), Some(65 * SEC));
    }

    #[test]
    fn one_counter_is_kept() {
        let footprint = trial("10/60s", "").footprint(0);
        assert_eq!((footprint.entries, footprint.bytes), (1, 16));
    }
}
