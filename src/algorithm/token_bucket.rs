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

#[cfg(test)]
mod tests;

use std::hint::select_unpredictable;

use super::width::Units;
use super::{Algorithm, Backwards, Common, Footprint, Keyed, Kind, Limiter, UNSEEN, Verdict, Wait};
use crate::params::{Choice, Params};
use crate::rate::{Limit, gcd};
use crate::time::{Divisor, Reading};

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
    /// Divides by that; nothing can where none come.
    by_gain: Option<Divisor>,
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
            by_gain: (gain > 0).then(|| Divisor::new(gain)),
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

    /// See [`Algorithm::decide_all`]: from what is `settled` at the first reading; `ALL` if all have room.
    #[inline(always)]
    fn decide_each<const ALL: bool>(
        &self,
        state: &mut State<U>,
        mut settled: State<U>,
        times: &[i64],
        trail: &mut [State<U>],
        settle: impl Fn(State<U>, i64) -> State<U>,
    ) -> u64 {
        let mut denied = 0;
        for (n, (&at, after)) in times.iter().zip(trail).enumerate() {
            // Where the last was denied, what has come since comes in two steps, but comes the same.
            settled = settle(settled, at);
            let deficit = settled.deficit + self.token;
            let passes = ALL || deficit <= self.capacity;
            settled.deficit = select_unpredictable(passes, deficit, settled.deficit);
            denied |= u64::from(!passes) << n;
            *after = settled;
        }
        *state = settled;
        denied
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

    #[inline]
    fn pass(&self, state: &mut State<U>, now: Reading) -> Verdict {
        let State { deficit, last } = self.settled(state, now.0);
        let deficit = deficit + self.token;
        if self.burst == 0 || deficit > self.capacity {
            return Verdict::Deny;
        }
        *state = State { deficit, last };
        Verdict::Admit
    }

    fn is_flat(&self) -> bool {
        self.burst > 0 && !self.common.count_rejected && self.common.backwards != Backwards::Rewind
    }

    fn decide_all(&self, state: &mut State<U>, times: &[i64], trail: &mut [State<U>]) -> u64 {
        let first = self.settled(state, times[0]);
        // Tokens come evenly from then on, even if time starts to count only there.
        let even = |State { deficit, last }: State<U>, at: i64| {
            let earned = U::from(at.wrapping_sub(last) as u64).saturating_mul(self.gain);
            State { deficit: deficit.saturating_sub(earned), last: at }
        };
        let count = times.len() as u64;
        let all =
            count <= self.burst && first.deficit <= self.capacity - U::from(count) * self.token;
        match (self.step, all) {
            (1, true) => self.decide_each::<true>(state, first, times, trail, even),
            (1, false) => self.decide_each::<false>(state, first, times, trail, even),
            _ => {
                let settled = |state, at| self.settled(&state, at);
                self.decide_each::<false>(state, first, times, trail, settled)
            }
        }
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
        if self.starts_late {
            return None;
        }
        let deficit: u128 = state.deficit.into();
        if deficit == 0 {
            return Some(Reading(state.last));
        }
        if let Ok(deficit) = u64::try_from(deficit) {
            let (whole, rest) = self.by_gain?.divide(deficit);
            return state.last.checked_add_unsigned(whole + u64::from(rest > 0)).map(Reading);
        }
        let gain: u128 = self.gain.into();
        let span = i128::try_from((gain > 0).then(|| deficit.div_ceil(gain))?).ok()?;
        i64::try_from(span + i128::from(state.last)).ok().map(Reading)
    }

    fn is_neutral(&self, state: &State<U>, now: Reading) -> bool {
        // Where time counts from the first request on, no state is like another.
        !self.starts_late && self.settled(state, now.0).deficit == U::from(0)
    }

    fn lasts_at_most(&self) -> i64 {
        let empty = State { deficit: self.capacity, last: 0 };
        let stops_at_empty = self.common.backwards != Backwards::Naive;
        let full = self.neutral_from(&empty).filter(|_| stops_at_empty);
        full.map_or(i64::MAX, |reading| reading.0)
    }
}
