//! The log by lag: for attempts of unit cost that come in time order. With A the stamps, one at `now` passes if and
//! only if the L-th last of them, A[n-L], has left. It decides and keeps exactly what [`SlidingWindowLog`] does then,
//! without a ring: stamps are appended to a list, whose beginning is dropped now and then.

use super::super::{Algorithm, Footprint, UNSEEN, Verdict, Wait};
use super::SlidingWindowLog;
use crate::time::Reading;

/// The rule.
pub(super) struct LagLog {
    limit: usize,
    lifetime: u64,
    count_rejected: bool,
}

/// What passed, the oldest first.
#[derive(Clone, Default)]
pub(super) struct State {
    stamps: Vec<i64>,
    /// From where on they are kept: the others were dropped where room was needed.
    first: usize,
    /// From where on they had not left at the last charge.
    inside: usize,
    /// Since the most was asked for: how many stamps were kept at most, and how many of them inside the window.
    most_kept: usize,
    most_inside: usize,
}

/// So many dropped stamps are put up with.
const SLACK: usize = 1 << 12;

impl LagLog {
    /// `None` where the rule does more than that of the lag.
    pub(super) fn for_units(rule: &SlidingWindowLog) -> Option<LagLog> {
        // Where every charge drops what has left, lists are shorter.
        let plain = rule.common.backwards != super::Backwards::Naive;
        let limit = usize::try_from(rule.limit).ok().filter(|_| plain)?;
        let lifetime = rule.lifetime.unsigned_abs();
        Some(LagLog { limit, lifetime, count_rejected: rule.common.count_rejected })
    }

    /// What so many stamps take, of which so many are inside the window.
    #[inline]
    fn of(&self, kept: usize, inside: usize) -> Footprint {
        let bytes = (size_of::<super::State>() + size_of::<i64>() * kept) as u64;
        Footprint { entries: inside as u64, bytes }
    }

    #[inline]
    fn has_left(&self, stamp: i64, now: Reading) -> bool {
        now.0.wrapping_sub(stamp) as u64 >= self.lifetime
    }
}

impl Algorithm for LagLog {
    type State = State;

    const GROWS: bool = true;
    const TELLS_MOST: bool = true;

    fn fresh(&self) -> State {
        State::default()
    }

    #[inline]
    fn check(&self, state: &State, now: Reading, _cost: u32) -> Verdict {
        match state.stamps.len().checked_sub(self.limit) {
            None => Verdict::Admit,
            Some(index) => match state.stamps.get(index) {
                Some(&stamp) if self.has_left(stamp, now) => Verdict::Admit,
                _ => Verdict::Deny,
            },
        }
    }

    fn wait(&self, state: &State, now: Reading, _cost: u32) -> Wait {
        let index = state.stamps.len().wrapping_sub(self.limit);
        match state.stamps.get(index) {
            None => Wait::Never,
            Some(&stamp) => {
                Wait::nanos(i128::from(stamp) + i128::from(self.lifetime) - i128::from(now.0))
            }
        }
    }

    #[inline]
    fn charge(&self, state: &mut State, now: Reading, _cost: u32) {
        if self.limit == 0 {
            return;
        }
        let State { stamps, first, inside, most_kept, most_inside } = state;
        while *inside < stamps.len() && self.has_left(stamps[*inside], now) {
            *inside += 1;
        }
        if stamps.len() - *first == self.limit {
            // What has not left stays, unless it is a denied attempt that is charged: then the oldest goes.
            *first = (*inside).max(stamps.len() + 1 - self.limit.min(stamps.len() + 1));
            *inside = (*inside).max(*first);
            if *first > SLACK + self.limit {
                stamps.drain(..*first);
                *inside -= *first;
                *first = 0;
            }
        }
        stamps.push(now.0);
        *most_kept = (*most_kept).max(stamps.len() - *first);
        *most_inside = (*most_inside).max(stamps.len() - *inside);
    }

    #[inline]
    fn most(&self, state: &mut State, denied: bool) -> Option<Footprint> {
        if state.stamps.is_empty() {
            return None;
        }
        let kept = std::mem::take(&mut state.most_kept);
        let inside = std::mem::take(&mut state.most_inside);
        Some(match denied {
            // What is denied finds as many inside as there may be.
            true => self.of(self.limit, self.limit),
            false => self.of(kept, inside),
        })
    }

    #[inline]
    fn deny(&self, state: &mut State, now: Reading, cost: u32) {
        if self.count_rejected {
            self.charge(state, now, cost);
        }
    }

    fn denial_writes(&self, _state: &State) -> bool {
        self.count_rejected
    }

    #[inline]
    fn footprint(&self, state: &State, now: Reading) -> Footprint {
        let State { stamps, first, inside, .. } = state;
        let left = stamps[*inside..].iter().take_while(|&&stamp| self.has_left(stamp, now)).count();
        self.of(stamps.len() - first, stamps.len() - inside - left)
    }

    #[inline]
    fn neutral_from(&self, state: &State) -> Option<Reading> {
        let newest = state.stamps.last();
        let end = |stamp: &i64| stamp.saturating_add_unsigned(self.lifetime);
        Some(Reading(newest.map_or(UNSEEN, end)))
    }
}
