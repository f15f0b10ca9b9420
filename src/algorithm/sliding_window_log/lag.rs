//! The log by lag: for attempts of unit cost that come in time order. With A the stamps, one at `now` passes if and
//! only if the L-th last of them, A[n-L], has left. It decides and keeps exactly what [`SlidingWindowLog`] does then,
//! without a ring: stamps are appended to a list, whose beginning is dropped now and then.

use super::super::replay::Course;
use super::super::{
    Algorithm, Batch, Decided, Footprint, History, Mark, Segment, UNSEEN, Verdict, Wait,
};
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

/// So many stamps are looked at, at once.
const STEP: usize = 8;

impl State {
    /// Counts those of the first stamps, so many, as left that are no newer than `gone`.
    #[inline(always)]
    fn leave(&mut self, count: usize, gone: i64) {
        // Where few are inside, those that were need not be known.
        let newest = self.stamps[..count].split_last_chunk::<STEP>();
        let left = newest.map_or(0, |(_, newest)| count_left(newest, gone));
        match left {
            0 => self.leave_earlier(count, gone),
            _ => self.inside = count - STEP + left,
        }
    }

    /// The same where the newest have not left, or are few.
    fn leave_earlier(&mut self, count: usize, gone: i64) {
        let State { stamps, inside, .. } = self;
        let stamps = &stamps[..count];
        while let Some(some) = stamps[*inside..].first_chunk::<STEP>() {
            let left = count_left(some, gone);
            *inside += left;
            if left < STEP {
                return;
            }
        }
        *inside += stamps[*inside..].iter().take_while(|&&stamp| stamp <= gone).count();
    }

    /// Drops in earnest those that are not kept.
    #[inline]
    fn forget(&mut self, limit: usize) {
        if self.first > SLACK + limit {
            self.stamps.drain(..self.first);
            self.inside -= self.first;
            self.first = 0;
        }
    }
}

/// How many of some stamps are no newer than `gone`.
#[inline]
fn count_left(stamps: &[i64; STEP], gone: i64) -> usize {
    // The sign of a difference is quicker to add up than a comparison.
    let has_left = |stamp: &i64| (stamp.wrapping_sub(gone).wrapping_sub(1) as u64) >> 63;
    stamps.iter().map(has_left).sum::<u64>() as usize
}

/// The marks of a history.
struct Marking<'a> {
    rule: &'a LagLog,
    /// The segments that are not over.
    segments: &'a [Segment],
    marks: &'a mut Vec<Mark>,
    /// Of the segment at hand, where its stamps begin, how many had left before it, how many were kept before some
    /// went, and whether anything was denied.
    begun: usize,
    left: usize,
    kept: usize,
    denied: bool,
}

impl Marking<'_> {
    /// Attempts up to a place in the batch were denied.
    #[inline]
    fn refuse(&mut self, state: &State, to: usize) {
        self.denied = true;
        while let [segment, rest @ ..] = self.segments
            && segment.end as usize <= to
        {
            let full = self.rule.of(self.rule.limit, self.rule.limit);
            let newest = state.stamps[state.stamps.len() - 1];
            self.mark(full, full, newest);
            (self.segments, self.begun, self.left) = (rest, state.stamps.len(), state.inside);
            // So is what there is of the next.
            self.denied = (segment.end as usize) < to;
        }
    }

    /// So many from a place in the batch on have passed; their stamps are those from `before` on.
    #[inline]
    fn accept(&mut self, state: &mut State, from: usize, before: usize, count: usize) {
        while let [segment, rest @ ..] = self.segments
            && segment.end as usize <= from + count
        {
            let end = before + segment.end as usize - from;
            let newest = state.stamps[end - 1];
            state.leave(end, self.rule.gone(newest));
            let inside = end - state.inside;
            let now = self.rule.of(end - state.first, inside);
            let most = if self.denied {
                self.rule.of(self.rule.limit, self.rule.limit)
            } else if end - self.begun == 1 || state.inside == self.left {
                self.rule.of(self.kept.max(end - state.first), inside)
            } else {
                let inside = self.rule.most_inside(&state.stamps[..end], self.begun, inside);
                self.rule.of(self.kept.max(end - state.first), inside)
            };
            self.mark(most, now, newest);
            (self.segments, self.begun, self.left) = (rest, end, state.inside);
        }
    }

    #[inline]
    fn mark(&mut self, most: Footprint, now: Footprint, newest: i64) {
        let until = newest.saturating_add_unsigned(self.rule.lifetime);
        self.marks.push(Mark { most: Some(most), now, until });
        (self.kept, self.denied) = (0, false);
    }
}

impl LagLog {
    /// The newest stamp that has left by a reading.
    #[inline]
    fn gone(&self, now: i64) -> i64 {
        now.saturating_sub_unsigned(self.lifetime)
    }

    /// The most inside the window after any of the stamps from `from` on, at least `most`: one more is inside if the
    /// one so many before has not left.
    #[inline]
    fn most_inside(&self, stamps: &[i64], from: usize, mut most: usize) -> usize {
        for n in from.max(most)..stamps.len() {
            while n >= most && !self.has_left(stamps[n - most], Reading(stamps[n])) {
                most += 1;
            }
        }
        most
    }

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
        }
        stamps.push(now.0);
        *most_kept = (*most_kept).max(stamps.len() - *first);
        *most_inside = (*most_inside).max(stamps.len() - *inside);
        state.forget(self.limit);
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

    fn decide_history(
        &self,
        state: &mut State,
        batch: &Batch,
        history: &History,
        course: &mut Course,
        decided: &mut Decided,
    ) -> bool {
        if self.count_rejected || self.limit == 0 {
            return false;
        }
        let times = &batch.times[..history.end as usize];
        let mut marking = Marking {
            rule: self,
            segments: &batch.segments[course.segment..history.segments_end as usize],
            marks: &mut decided.marks,
            begun: state.stamps.len(),
            left: state.inside,
            kept: 0,
            denied: false,
        };
        while let Some(&at) = times.get(course.index) {
            let mut room = self.limit + state.first - state.stamps.len();
            if room == 0 {
                let gone = self.gone(at);
                let oldest = state.stamps[state.first];
                if oldest > gone {
                    course.shut(at, oldest.abs_diff(gone));
                    course.index += 1;
                    let refused = course.refused(&times[course.index..]);
                    course.refuse(refused as u32);
                    course.index += refused;
                    marking.refuse(state, course.index);
                    continue;
                }
                // Room is needed: what has left goes.
                if marking.begun < state.stamps.len() {
                    marking.kept = self.limit;
                }
                state.leave(state.stamps.len(), gone);
                state.first = state.inside;
                room = self.limit + state.first - state.stamps.len();
            }
            // What has room passes whenever it comes.
            let some = &times[course.index..times.len().min(course.index + room)];
            let before = state.stamps.len();
            match some {
                [one] => state.stamps.push(*one),
                _ => state.stamps.extend_from_slice(some),
            }
            course.accept(some.len() as u32, &mut decided.runs);
            marking.accept(state, course.index, before, some.len());
            course.index += some.len();
        }
        state.forget(self.limit);
        true
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
