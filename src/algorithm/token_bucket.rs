//! The token bucket: tokens trickle in at the rate of the limit, and every request takes its cost.
//!
//! **Rule.** A bucket of capacity B starts full and gains L/W tokens a nanosecond, exactly; an attempt of cost c
//! passes if it holds c tokens, and takes them. `initial` says how many it holds at a key's first request. With
//! `refill = "interval"` L tokens come at once, at every W after that request.
//!
//! **Source.** S. Shenker and J. Wroclawski, "General Characterization Parameters for Integrated
//! Service Network Elements", RFC 2215, 1997.
//!
//! **Weakness.** A window of W may pass B + L, twice the limit where the burst is left at its default.
//!
//! What is kept is the deficit, capacity minus tokens, in units of 1/(W/gcd(L, W)) token, of which
//! L/gcd(L, W) come in each nanosecond: so no division is needed, a full bucket is zero, and arithmetic
//! that saturates is exact after idling of any length. An interval bucket has steps of W, and whole tokens.

use super::width::Units;
use super::{Algorithm, Backwards, Common, Footprint, Keyed, Kind, Limiter, UNSEEN, Verdict, Wait};
use crate::params::{Choice, Params};
use crate::rate::{Limit, gcd};
use crate::time::Reading;

/// The registry's entry.
pub const KIND: Kind = Kind {
    name: "token-bucket",
    summary: "Tokens come at the rate of the limit, up to the burst; each request takes its cost.",
    weakness: "A burst and a window's refill may pass within one window.",
    memory: "level, time",
    queues: false,
    configure,
    backwards: &[Backwards::Freeze, Backwards::RewindOnAdmit, Backwards::Rewind, Backwards::Naive],
};

/// How tokens come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refill {
    Continuous,
    Interval,
}

impl Choice for Refill {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("continuous", Refill::Continuous, "evenly, fractions of a token included"),
        ("interval", Refill::Interval, "all of a span at once, counted from a key's first request"),
    ];
}

fn configure(limit: &Limit, common: Common, params: &mut Params) -> Option<Box<dyn Limiter>> {
    let initial = params.optional::<u64>(
        "initial",
        "Tokens that a key holds at its first request; the burst if left out.",
    );
    let refill = params.or("refill", Refill::Continuous, "How tokens come.");
    let initial = initial.unwrap_or(limit.burst);
    let fits = params.require(
        "initial",
        initial <= limit.burst,
        format!("{initial} tokens do not fit into a bucket of {}", limit.burst),
        &format!("write at most {}, or raise the burst", limit.burst),
    );
    if !fits {
        return None;
    }
    let narrow = limiter::<u64>(limit, initial, refill, common);
    narrow.or_else(|| limiter::<u128>(limit, initial, refill, common))
}

fn limiter<U: Units>(
    limit: &Limit,
    initial: u64,
    refill: Refill,
    common: Common,
) -> Option<Box<dyn Limiter>> {
    let rule = TokenBucket::<U>::new(limit, initial, refill, common)?;
    Some(Box::new(Keyed::new(rule, common.tick)))
}

struct TokenBucket<U> {
    /// In tokens.
    burst: u64,
    /// In units.
    capacity: U,
    /// Units of a token.
    token: U,
    /// Units that come in a step.
    gain: U,
    /// Nanoseconds of a step: 1, or the interval.
    step: u64,
    /// The deficit of a key that was never seen.
    initial: U,
    /// Whether time starts to count at a key's first request.
    starts_late: bool,
    common: Common,
}

/// What a full bucket would hold more, and as of when: the key's last reading, or the beginning of
/// the interval in which that lies.
#[derive(Clone, Copy)]
struct State<U> {
    deficit: U,
    last: i64,
}

impl<U: Units> TokenBucket<U> {
    /// `None` if `U` is too narrow for it.
    fn new(limit: &Limit, initial: u64, refill: Refill, common: Common) -> Option<TokenBucket<U>> {
        let (token, gain, step) = match refill {
            Refill::Interval => (1, limit.requests, limit.per.nanos()),
            Refill::Continuous => {
                let divisor = gcd(limit.per.nanos().into(), limit.requests.into()) as u64;
                (limit.per.nanos() / divisor, limit.requests / divisor, 1)
            }
        };
        let bounded = common.backwards != Backwards::Naive;
        let fits = u128::from(limit.burst) * u128::from(token) <= U::CAPACITY;
        (fits && (bounded || U::UNBOUNDED)).then(|| TokenBucket {
            burst: limit.burst,
            capacity: U::from(limit.burst) * U::from(token),
            token: U::from(token),
            gain: U::from(gain),
            step,
            initial: U::from(limit.burst - initial) * U::from(token),
            starts_late: refill == Refill::Interval || initial != limit.burst,
            common,
        })
    }

    /// The state once `now` is stored; also the one from which an attempt at `now` is decided.
    fn settled(&self, state: &State<U>, now: i64) -> State<U> {
        let State { deficit, last } = *state;
        if self.starts_late && last == UNSEEN {
            return State { deficit, last: now };
        }
        let apart = now.abs_diff(last);
        if now >= last {
            let steps = if self.step == 1 { apart } else { apart / self.step };
            let earned = U::from(steps).saturating_mul(self.gain);
            let last = last.wrapping_add((steps * self.step) as i64);
            return State { deficit: deficit.saturating_sub(earned), last };
        }
        let steps = if self.step == 1 { apart } else { apart.div_ceil(self.step) };
        let earlier = last.wrapping_sub((steps * self.step) as i64);
        match self.common.backwards {
            Backwards::Freeze => *state,
            Backwards::RewindOnAdmit | Backwards::Rewind => State { deficit, last: earlier },
            Backwards::Strict | Backwards::Naive => {
                State { deficit: deficit + U::from(steps) * self.gain, last: earlier }
            }
        }
    }
}

impl<U: Units> Algorithm for TokenBucket<U> {
    type State = State<U>;

    fn fresh(&self) -> State<U> {
        State { deficit: self.initial, last: UNSEEN }
    }

    fn check(&self, state: &State<U>, now: Reading, cost: u32) -> Verdict {
        let cost = u64::from(cost);
        let deficit = self.settled(state, now.0).deficit;
        let fits = cost <= self.burst && deficit + U::from(cost) * self.token <= self.capacity;
        if fits { Verdict::Admit } else { Verdict::Deny }
    }

    fn wait(&self, state: &State<U>, now: Reading, cost: u32) -> Wait {
        let gain: u128 = self.gain.into();
        if u64::from(cost) > self.burst || gain == 0 {
            return Wait::Never;
        }
        let wanted: u128 = (state.deficit + U::from(u64::from(cost)) * self.token).into();
        let capacity: u128 = self.capacity.into();
        // Below zero only where an older reading is taken as it is: the bucket may have enough even
        // before its last reading.
        let missing = wanted as i128 - capacity as i128;
        let steps = -(-missing).div_euclid(gain as i128);
        let last = if self.starts_late && state.last == UNSEEN { now.0 } else { state.last };
        let opens = i128::from(last) + steps * i128::from(self.step);
        Wait::nanos(opens - i128::from(now.0))
    }

    fn charge(&self, state: &mut State<U>, now: Reading, cost: u32) {
        let State { deficit, last } = self.settled(state, now.0);
        let cost = U::from(u64::from(cost).min(self.burst)) * self.token;
        *state = State { deficit: (deficit + cost).min(self.capacity).max(deficit), last };
    }

    fn as_of(&self, state: &State<U>, now: Reading) -> Reading {
        self.common.backwards.as_of(now, state.last)
    }

    fn owe(&self, state: &mut State<U>, now: Reading, cost: u32) {
        let State { deficit, last } = self.settled(state, now.0);
        let mut cost = U::from(u64::from(cost).min(self.burst)) * self.token;
        if now.0 < last && deficit == U::from(0) {
            // Where it was full by the last reading, it counts as if it had been at its own, and is refilled since.
            let steps = now.0.abs_diff(last).div_ceil(self.step);
            cost = cost.saturating_sub(U::from(steps).saturating_mul(self.gain));
        }
        *state = State { deficit: (deficit + cost).min(U::DEEPEST).max(deficit), last };
    }

    fn deny(&self, state: &mut State<U>, now: Reading, cost: u32) {
        if self.common.count_rejected {
            self.charge(state, now, cost);
        } else if self.denial_writes(state) {
            *state = self.settled(state, now.0);
        }
    }

    fn denial_writes(&self, state: &State<U>) -> bool {
        self.common.count_rejected
            || self.common.backwards == Backwards::Rewind
            || (self.starts_late && state.last == UNSEEN)
    }

    fn footprint(&self, _state: &State<U>, _now: Reading) -> Footprint {
        Footprint { entries: 2, bytes: size_of::<State<U>>() as u64 }
    }

    fn neutral_from(&self, state: &State<U>) -> Option<Reading> {
        let (deficit, gain): (u128, u128) = (state.deficit.into(), self.gain.into());
        if self.starts_late {
            return None;
        }
        if deficit == 0 {
            return Some(Reading(state.last));
        }
        let span =
            i128::try_from(deficit.checked_div(gain)?).ok()? + i128::from(deficit % gain > 0);
        i64::try_from(span + i128::from(state.last)).ok().map(Reading)
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{MS, NEVER, SEC, Trial, wait};

    const DAY: i64 = 86_400 * SEC;

    #[test]
    fn ten_pass_at_once_the_eleventh_waits_half_a_second_six_pass_after_three() {
        let mut trial = Trial::new("token-bucket", "2/s", Some(10), "");
        assert_eq!(trial.flood(0, 10), 10);
        assert_eq!(trial.ask(0), wait(500 * MS));
        assert_eq!(trial.flood(3 * SEC, 20), 6);
        assert_eq!(trial.flood(23 * SEC, 40), 10);
    }

    #[test]
    fn what_others_have_let_through_is_owed_and_paid_back() {
        let mut trial = Trial::new("token-bucket", "2/s", Some(4), "");
        assert_eq!(trial.flood(0, 9), 4);
        // Six more by decisions made elsewhere: 6 below empty, so that one fits after 3.5 s.
        trial.owe(0, 6);
        assert_eq!(trial.ask(0), wait(3_500 * MS));
        assert_eq!(trial.ask(3_500 * MS), Ok(0));
        // A charge of a denied attempt stops at empty.
        let mut trial = Trial::new("token-bucket", "2/s", Some(4), "count-rejected = true");
        assert_eq!(trial.flood(0, 9), 4);
        assert_eq!(trial.ask(500 * MS), Ok(0));
    }

    #[test]
    fn a_burst_is_what_passes_at_once() {
        assert_eq!(Trial::new("token-bucket", "10/s", Some(5), "").flood(0, 10), 5);
        assert_eq!(Trial::new("token-bucket", "10/s", Some(6), "").flood(0, 10), 6);
        assert_eq!(Trial::new("token-bucket", "1/10s", Some(1), "").flood(0, 6), 1);
    }

    #[test]
    fn a_bucket_is_full_after_idling_of_any_length() {
        let mut trial = Trial::new("token-bucket", "300000/h", None, "");
        for now in [0, 12 * 3600 * SEC, 12 * 3600 * SEC + 365 * DAY] {
            assert_eq!(trial.ask_for(now, 300_000), Ok(0));
            assert_eq!(trial.ask_for(now, 300_001), NEVER);
        }
    }

    #[test]
    fn ten_in_thirteen_seconds_are_one_in_1300_ms() {
        let mut trial = Trial::new("token-bucket", "10/13s", None, "");
        assert_eq!(trial.flood(0, 11), 10);
        assert_eq!(trial.ask(1_300 * MS - 1), wait(1));
        assert_eq!(trial.ask(1_300 * MS), Ok(0));
    }

    #[test]
    fn a_fraction_of_a_token_is_never_lost_however_often_one_asks() {
        let mut trial = Trial::new("token-bucket", "10/30s", None, "");
        for (now, left) in (0..).map(|n| n * SEC).zip([9, 8, 7, 7, 6, 5, 5, 4, 3, 3, 2]) {
            trial.ask(now).unwrap();
            assert_eq!(trial.left(now), left, "{now}");
        }
        let mut trial = Trial::new("token-bucket", "1/s", None, "");
        assert_eq!(trial.passing((0..6).map(|n| n * 500 * MS)), [0, SEC, 2 * SEC]);
    }

    #[test]
    fn an_older_reading_earns_nothing_unless_it_is_stored() {
        let left = |backwards: &str| {
            let options = format!("backwards = \"{backwards}\"");
            let mut trial = Trial::new("token-bucket", "1/s", Some(10), &options);
            assert_eq!(trial.flood(10 * SEC, 11), 10);
            assert!(trial.ask(5 * SEC).is_err());
            trial.left(10 * SEC)
        };
        assert_eq!(left("freeze"), 0);
        assert_eq!(left("rewind-on-admit"), 0);
        assert_eq!(left("rewind"), 5);
        assert_eq!(left("naive"), 0);
    }

    #[test]
    fn an_admitted_older_reading_is_stored_where_admissions_are() {
        let left = |backwards: &str| {
            let options = format!("backwards = \"{backwards}\"");
            let mut trial = Trial::new("token-bucket", "1/s", Some(10), &options);
            assert_eq!(trial.flood(10 * SEC, 9), 9);
            (trial.ask(8 * SEC).is_ok(), trial.left(10 * SEC))
        };
        assert_eq!(left("freeze"), (true, 0));
        assert_eq!(left("rewind-on-admit"), (true, 2));
        // Two seconds back cost the one token that was left.
        assert_eq!(left("naive"), (false, 1));
    }

    #[test]
    fn a_limit_of_none_passes_its_own_burst_once() {
        for burst in [1, 100] {
            let mut trial = Trial::new("token-bucket", "0/s", Some(burst), "");
            assert_eq!(trial.flood(0, 1_000), burst as usize);
            assert_eq!(trial.ask(365 * DAY), NEVER);
            assert_eq!(trial.neutral_from(), None);
        }
        assert_eq!(Trial::new("token-bucket", "0/s", None, "").ask(0), NEVER);
    }

    #[test]
    fn a_window_may_pass_the_burst_and_what_comes_in_it() {
        let tenths = |to| (0..to).map(|n| n * 100 * MS);
        let run = |to| Trial::new("token-bucket", "60/m", None, "").passing(tenths(to)).len();
        // [0 s, 60 s) and [0 s, 60 s].
        assert_eq!((run(600), run(601)), (119, 120));
        let hundredths = |to| (0..to).map(|n| n * 10 * MS);
        let run = |to| Trial::new("token-bucket", "1200/m", None, "").passing(hundredths(to)).len();
        // Two minutes: 1200 and 2400, half above the rate.
        assert_eq!((run(12_000), run(12_001)), (3_599, 3_600));
        let run =
            |to| Trial::new("token-bucket", "120/60s", Some(10), "").passing(hundredths(to)).len();
        assert_eq!((run(6_000), run(6_001)), (129, 130));
    }

    #[test]
    fn asking_twice_a_minute_against_ten_in_ten() {
        let asks = || (0..240).map(|n| n * 30 * SEC);
        let run = |options: &str| {
            Trial::new("token-bucket", "10/10m", None, options).passing(asks()).len()
        };
        // 10 and one a minute in 119.5 minutes; counted, the half token of each denial is wiped.
        assert_eq!((run(""), run("count-rejected = true")), (129, 19));
    }

    #[test]
    fn an_interval_bucket_gains_all_at_once_on_the_grid_of_its_first_request() {
        let options = "refill = \"interval\"";
        let mut trial = Trial::new("token-bucket", "3/10s", Some(5), options);
        // Grid at 7, 17, 27, ... s.
        assert_eq!(trial.flood(7 * SEC, 6), 5);
        assert_eq!(trial.ask(16 * SEC), wait(SEC));
        assert_eq!(trial.flood(17 * SEC, 6), 3);
        assert_eq!(trial.ask_for(18 * SEC, 4), wait(19 * SEC));
        assert_eq!(trial.flood(38 * SEC, 6), 5);
        assert_eq!(trial.neutral_from(), None);
    }

    #[test]
    fn a_bucket_that_starts_empty_fills_from_its_first_request_on() {
        let mut trial = Trial::new("token-bucket", "1/s", Some(5), "initial = 0");
        assert_eq!(trial.ask(100 * SEC), wait(SEC));
        assert_eq!(trial.ask(101 * SEC), Ok(0));
        assert_eq!(trial.neutral_from(), None);
    }

    #[test]
    #[should_panic(expected = "6 tokens do not fit into a bucket of 5")]
    fn more_initial_tokens_than_the_burst_are_a_mistake() {
        Trial::new("token-bucket", "1/s", Some(5), "initial = 6");
    }

    #[test]
    fn two_numbers_are_kept_until_the_bucket_is_full() {
        let mut trial = Trial::new("token-bucket", "3/s", Some(5), "");
        trial.ask(0).unwrap();
        assert_eq!((trial.footprint(0).entries, trial.footprint(0).bytes), (2, 16));
        // A third of a second, rounded up.
        assert_eq!(trial.neutral_from(), Some(333_333_334));
    }
}
