//! The sliding window counter: two counters, from which the trailing window is estimated.
//!
//! **Rule.** With `cur` the cost that passed in the window of the grid [kW, (k+1)W) in which `now`
//! lies, e into it, and `prev` that of the window before: an attempt of cost c passes if
//! floor(prev (W - e) / W) + cur + c is at most L. For c = 1 this is "the exact estimate is below L".
//! With `round = "none"` the estimate plus c must be at most L.
//!
//! **Source.** J. Desgats, "How we built rate limiting capable of scaling to millions of domains",
//! Cloudflare, 2017.
//!
//! **Weakness.** It takes what passed in the previous window as spread evenly; where it was not,
//! the trailing window holds more than the limit, or less than it could.

#[cfg(test)]
mod tests;

use std::hint::select_unpredictable;

use super::grid::Grid;
use super::{Algorithm, Backwards, Common, Footprint, Keyed, Kind, Limiter, UNSEEN, Verdict, Wait};
use crate::params::{Choice, Params};
use crate::rate::Limit;
use crate::time::Reading;

/// The registry's entry.
pub const KIND: Kind = Kind {
    name: "sliding-window-counter",
    summary: "Estimates the trailing window from this window's count and the last one's share.",
    weakness: "Takes the previous window as evenly spread, and is wrong where it was not.",
    memory: "2 counters",
    queues: false,
    configure,
    backwards: &[Backwards::Freeze, Backwards::RewindOnAdmit, Backwards::Rewind, Backwards::Naive],
};

/// What becomes of the fraction in the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    Floor,
    None,
}

impl Choice for Round {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("floor", Round::Floor, "the previous window's share is cut down to a whole number"),
        ("none", Round::None, "the previous window's share is kept exactly"),
    ];
}

fn configure(limit: &Limit, common: Common, params: &mut Params) -> Option<Box<dyn Limiter>> {
    let round = params.or("round", Round::Floor, "What becomes of the fraction in the estimate.");
    let width = limit.per.signed();
    let rule = SlidingWindowCounter {
        limit: limit.requests,
        width,
        grid: Grid::new(width),
        round,
        common,
        narrow: limit.requests < i64::MAX as u64 / limit.per.nanos(),
    };
    Some(Box::new(Keyed::new(rule, common.tick)))
}

struct SlidingWindowCounter {
    limit: u64,
    width: i64,
    grid: Grid,
    round: Round,
    common: Common,
    /// Whether shares, times the width, of counts up to the limit fit into 64 bits.
    narrow: bool,
}

/// The current window: where it ends, what passed in it and in the one before, and the last reading.
#[derive(Clone, Copy)]
struct State {
    end: i64,
    previous: u64,
    current: u64,
    last: i64,
}

impl SlidingWindowCounter {
    fn end_of(&self, now: i64) -> i64 {
        self.grid.end_of(now)
    }

    /// Whether the share of `previous` with so much of the window left fits into `spare`.
    #[inline]
    fn fits(&self, previous: u64, rest: u64, spare: u128) -> bool {
        let share = u128::from(previous) * u128::from(rest);
        let width = self.width as u128;
        match self.round {
            Round::Floor => share < (spare + 1) * width,
            Round::None => share <= spare * width,
        }
    }

    fn denies_in_writing(&self) -> bool {
        self.common.count_rejected || self.common.backwards == Backwards::Rewind
    }

    /// The window in which `at` lies. A reading before the window of `state` counts in that, except
    /// where it wipes the counts.
    fn rolled(&self, state: &State, at: i64) -> State {
        let wipes = self.common.backwards == Backwards::Naive;
        if at < state.end && !(wipes && at < state.end - self.width) {
            *state
        } else if state.current > 0 && at >= state.end && at.abs_diff(state.end) < self.width as u64
        {
            let end = state.end.saturating_add(self.width);
            State { end, previous: state.current, current: 0, last: state.last }
        } else {
            State { end: self.end_of(at), previous: 0, current: 0, last: state.last }
        }
    }

    /// The state once `now` is the key's last reading.
    fn settled(&self, state: &State, now: i64) -> State {
        let backwards = self.common.backwards;
        let mut settled = self.rolled(state, backwards.decided_at(now, state.last));
        settled.last = backwards.stored_as(now, state.last);
        if settled.last < settled.end - self.width {
            settled.end = self.end_of(settled.last);
        }
        settled
    }

    /// Decides attempts in time order; `OPENS` if any of them may open a window.
    #[inline(always)]
    fn decide_flat<const OPENS: bool>(
        &self,
        state: &mut State,
        times: &[i64],
        trail: &mut [State],
    ) -> u64 {
        let State { mut end, mut previous, mut current, mut last } = *state;
        let width = self.width as u64;
        // How much of a share does not matter, times the width.
        let cut = if self.round == Round::Floor { 0 } else { width - 1 };
        let mut denied = 0;
        for (n, (&at, after)) in times.iter().zip(trail).enumerate() {
            if OPENS {
                let opens = at >= end;
                let new = self.end_of(at);
                let follows = new.wrapping_sub(end) as u64 <= width;
                let before = select_unpredictable(follows, current, 0);
                previous = select_unpredictable(opens, before, previous);
                current = select_unpredictable(opens, 0, current);
                end = select_unpredictable(opens, new, end);
            }
            let room = (self.limit - current) * width;
            let passes = previous * end.abs_diff(at) + cut < room;
            current += u64::from(passes);
            last = select_unpredictable(passes, at, last);
            denied |= u64::from(!passes) << n;
            *after = State { end, previous, current, last };
        }
        *state = State { end, previous, current, last };
        denied
    }

    /// How much cost has room besides what passed in the current window and `cost` itself.
    fn spare(&self, current: u64, cost: u32) -> Option<u128> {
        self.limit.checked_sub(current)?.checked_sub(u64::from(cost)).map(u128::from)
    }

    /// The longest rest of the window, if any, at which the share of `previous` fits into `spare`.
    fn longest_rest(&self, previous: u64, spare: u128) -> u128 {
        let (width, previous) = (self.width as u128, u128::from(previous));
        if previous == 0 {
            return width;
        }
        let rest = match self.round {
            Round::Floor => ((spare + 1) * width).div_ceil(previous) - 1,
            Round::None => spare * width / previous,
        };
        rest.min(width)
    }
}

impl Algorithm for SlidingWindowCounter {
    type State = State;

    fn fresh(&self) -> State {
        State { end: UNSEEN, previous: 0, current: 0, last: UNSEEN }
    }

    fn check(&self, state: &State, now: Reading, cost: u32) -> Verdict {
        let at = self.common.backwards.decided_at(now.0, state.last);
        let State { end, previous, current, .. } = self.rolled(state, at);
        let Some(spare) = self.spare(current, cost) else { return Verdict::Deny };
        let fits = self.fits(previous, end.abs_diff(at), spare);
        if fits { Verdict::Admit } else { Verdict::Deny }
    }

    fn wait(&self, state: &State, now: Reading, cost: u32) -> Wait {
        if u64::from(cost) > self.limit {
            return Wait::Never;
        }
        let at = self.common.backwards.decided_at(now.0, state.last);
        let State { end, previous, current, .. } = self.rolled(state, at);
        let width = i128::from(self.width);
        // This window, the next, in which `current` is the previous, and the edge after that.
        let shares = [(previous, current), (current, 0), (0, 0)];
        let ends = (0..).map(|windows| i128::from(end) + windows * width);
        let opens = shares.into_iter().zip(ends).find_map(|((previous, current), end)| {
            let rest = self.longest_rest(previous, self.spare(current, cost)?) as i128;
            (rest > 0).then_some(end - rest)
        });
        opens.map_or(Wait::Never, |opens| Wait::nanos(opens - i128::from(now.0)))
    }

    fn charge(&self, state: &mut State, now: Reading, cost: u32) {
        *state = self.settled(state, now.0);
        state.current = state.current.saturating_add(u64::from(cost));
    }

    #[inline]
    fn pass(&self, state: &mut State, now: Reading) -> Verdict {
        let at = now.0;
        let State { end, previous, current, .. } =
            if at < state.end { *state } else { self.rolled(state, at) };
        // In whole numbers, what is left besides this attempt, which itself may take the last.
        let Some(spare) = self.limit.checked_sub(current).and_then(|left| left.checked_sub(1))
        else {
            return Verdict::Deny;
        };
        if previous > 0 && !self.fits(previous, end.abs_diff(at), spare.into()) {
            return Verdict::Deny;
        }
        *state = State { end, previous, current: current + 1, last: at };
        Verdict::Admit
    }

    fn is_flat(&self) -> bool {
        self.narrow && self.limit > 0 && !self.denies_in_writing()
    }

    fn decide_all(&self, state: &mut State, times: &[i64], trail: &mut [State]) -> u64 {
        match times[times.len() - 1] < state.end {
            true => self.decide_flat::<false>(state, times, trail),
            false => self.decide_flat::<true>(state, times, trail),
        }
    }

    fn admit_first(&self, state: &mut State, times: &[i64]) -> usize {
        let [first, ..] = *times else { return 0 };
        // No share of a window is more than the window.
        let counted = match first.checked_sub(state.end) {
            Some(since) if since < 0 => state.previous + state.current,
            Some(since) if since < self.width => state.current,
            _ => 0,
        };
        let room = self.limit.saturating_sub(counted);
        let Some((times, last)) = Grid::with_room(times, room) else { return 0 };
        let count = times.len() as u64;
        if last < state.end {
            (state.current, state.last) = (state.current + count, last);
        } else {
            let end = self.end_of(last);
            let start = end - self.width;
            let earlier = times.partition_point(|&at| at < start);
            let long_ago = times[..earlier].partition_point(|&at| at < start - self.width);
            let known = if state.end == start { state.current } else { 0 };
            let previous = known + (earlier - long_ago) as u64;
            *state = State { end, previous, current: count - earlier as u64, last };
        }
        times.len()
    }

    fn until_after(&self, at: i64) -> i64 {
        self.end_of(at).saturating_add(self.width)
    }

    fn as_of(&self, state: &State, now: Reading) -> Reading {
        self.common.backwards.as_of(now, state.last)
    }

    fn owe(&self, state: &mut State, now: Reading, cost: u32) {
        let starts = state.end.saturating_sub(self.width);
        if self.common.backwards != Backwards::Freeze || now.0 >= starts {
            self.charge(state, now, cost);
        } else if now.0 >= starts.saturating_sub(self.width) {
            state.previous = state.previous.saturating_add(u64::from(cost));
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
        Footprint { entries: 2, bytes: size_of::<State>() as u64 }
    }

    fn neutral_from(&self, state: &State) -> Option<Reading> {
        let windows = if state.current > 0 { self.width } else { 0 };
        Some(Reading(state.end.saturating_add(windows)))
    }

    fn lasts_at_most(&self) -> i64 {
        self.width.saturating_mul(2)
    }
}
