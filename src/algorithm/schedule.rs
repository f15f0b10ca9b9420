//! The exact schedule of a rate, which `gcra` and `leaky-bucket` share: when the next unit falls due
//! if units are T = W/L apart, as whole nanoseconds and a fraction, and how far ahead of the clock
//! that may lie.

use std::hint::select_unpredictable;

use super::width::Nanos;
use super::{Backwards, Common, UNSEEN, Wait};
use crate::rate::{Limit, gcd};
use crate::time::Reading;

/// A time or span of `whole` ns and `parts` fractions of one, whose size the [`Schedule`] knows;
/// fewer than make a whole one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Exact<N> {
    whole: N,
    parts: u64,
}

impl<N: Nanos> Exact<N> {
    fn at(reading: i64) -> Exact<N> {
        Exact { whole: N::from(reading), parts: 0 }
    }

    /// The first whole nanosecond not before it.
    pub(super) fn ceil(self) -> i128 {
        self.whole.into() + i128::from(self.parts > 0)
    }

    /// The same, at most the end of time.
    pub(super) fn ceil_in_time(self) -> i64 {
        (self.whole + N::from(i64::from(self.parts > 0))).saturated()
    }
}

/// What is remembered of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Due<N> {
    /// When the next unit falls due: the theoretical arrival time of GCRA, the next free slot of a
    /// queue. Not later than the clock if nothing is owed.
    pub(super) next: Exact<N>,
    /// The key's last reading.
    pub(super) last: i64,
}

/// A rate of one unit each T, for one limit.
#[derive(Debug, Clone)]
pub(super) struct Schedule<N> {
    interval: Exact<N>,
    /// How many parts are a nanosecond.
    parts: u64,
    /// The largest cost that can ever pass.
    capacity: u64,
    /// How far `next` may lie ahead of the clock.
    reach: Exact<N>,
    common: Common,
}

impl<N: Nanos> Schedule<N> {
    /// T of a limit of none, 2^90 ns: by far longer than all time there is.
    const NEVER: i128 = 1 << 90;

    /// The schedule of a limit: costs up to `capacity` pass, and at most `ahead` units may be owed.
    /// `None` if `N` is too narrow for it.
    pub(super) fn new(
        limit: &Limit,
        capacity: u64,
        ahead: u64,
        common: Common,
    ) -> Option<Schedule<N>> {
        let (per, requests) = match limit.requests {
            0 => (Self::NEVER, 1),
            requests => (i128::from(limit.per.signed()), i128::from(requests)),
        };
        let divisor = gcd(per.unsigned_abs(), requests.unsigned_abs()) as i128;
        let (per, requests) = (per / divisor, requests / divisor);
        let units = |count: u64| {
            // One part of `requests` is less than 2^32, so this stays below 2^65.
            let parts = per % requests * i128::from(count);
            let whole = per / requests * i128::from(count) + parts / requests;
            let fits = whole <= N::REACH;
            let whole = N::try_from(whole).ok().filter(|_| fits)?;
            Some(Exact { whole, parts: (parts % requests) as u64 })
        };
        Some(Schedule {
            interval: units(1)?,
            parts: requests as u64,
            capacity,
            reach: units(ahead)?,
            common,
        })
    }

    /// Nothing owed, never seen.
    pub(super) fn fresh(&self) -> Due<N> {
        Due { next: Exact::at(UNSEEN), last: UNSEEN }
    }

    /// The state once an attempt at `now` is stored; its `last` is the reading at which the attempt
    /// is decided.
    pub(super) fn settled(&self, due: &Due<N>, now: Reading) -> Due<N> {
        let now = now.0;
        let older = now < due.last;
        let next = match self.common.backwards {
            // What is owed stays owed, counted from the older reading.
            Backwards::RewindOnAdmit | Backwards::Rewind if older => {
                let last = Exact::at(due.last);
                if due.next > last {
                    let whole = due.next.whole - N::from(due.last) + N::from(now);
                    Exact { whole, ..due.next }
                } else {
                    Exact::at(now)
                }
            }
            _ => due.next,
        };
        Due { next, last: self.common.backwards.stored_as(now, due.last) }
    }

    /// Whether a `settled` schedule owes nothing.
    pub(super) fn is_idle(&self, settled: &Due<N>) -> bool {
        settled.next <= Exact::at(settled.last)
    }

    /// When a `settled` schedule starts on a further cost.
    pub(super) fn start(&self, settled: &Due<N>) -> Exact<N> {
        settled.next.max(Exact::at(settled.last))
    }

    /// When a further cost, no more than the capacity, is done.
    pub(super) fn done(&self, settled: &Due<N>, cost: u32) -> Exact<N> {
        self.plus(self.start(settled), self.units(u64::from(cost)))
    }

    /// Whether `cost` has room in a `settled` schedule.
    pub(super) fn has_room(&self, settled: &Due<N>, cost: u32) -> bool {
        u64::from(cost) <= self.capacity
            && self.done(settled, cost) <= self.plus(Exact::at(settled.last), self.reach)
    }

    /// After a denial: until `cost` has room.
    pub(super) fn wait(&self, due: &Due<N>, now: Reading, cost: u32) -> Wait {
        if u64::from(cost) > self.capacity {
            return Wait::Never;
        }
        let (next, units, reach) = (due.next, self.units(u64::from(cost)), self.reach);
        // Parts make less than a whole one each, so that their sum, rounded up, is one of three; they are
        // below 2^32.
        let parts = next.parts + units.parts;
        let carried =
            i128::from(parts > reach.parts) + i128::from(parts > reach.parts + self.parts);
        let opens = next.whole.into() + units.whole.into() - reach.whole.into() + carried;
        Wait::nanos(opens - i128::from(now.0))
    }

    /// Charges `cost`; what is owed stops at the reach.
    pub(super) fn charge(&self, due: &mut Due<N>, now: Reading, cost: u32) {
        let settled = self.settled(due, now);
        let cost = u64::from(cost).min(self.capacity);
        let done = self.plus(self.start(&settled), self.units(cost));
        let full = self.plus(Exact::at(settled.last), self.reach);
        *due = Due { next: done.min(full).max(settled.next), last: settled.last };
    }

    /// A unit at a reading no older than any before: charges it, if it has room, and gives when it starts and is done.
    #[inline]
    pub(super) fn pass(&self, due: &mut Due<N>, now: Reading) -> Option<(Exact<N>, Exact<N>)> {
        let at = Exact::at(now.0);
        let start = if due.next.whole >= at.whole { due.next } else { at };
        let done = self.plus(start, self.interval);
        let full = Exact { whole: at.whole + self.reach.whole, parts: self.reach.parts };
        if self.capacity == 0 || done > full {
            return None;
        }
        *due = Due { next: done, last: now.0 };
        Some((start, done))
    }

    /// Whether `decide_all` may be asked.
    pub(super) fn is_flat(&self) -> bool {
        self.capacity > 0 && !self.denial_writes()
    }

    /// See [`Algorithm::decide_all`](super::Algorithm::decide_all).
    pub(super) fn decide_all(&self, due: &mut Due<N>, times: &[i64], trail: &mut [Due<N>]) -> u64 {
        match self.parts {
            1 => self.decide_whole(due, times, trail),
            _ => self.decide_parts(due, times, trail),
        }
    }

    /// Where an interval is of whole nanoseconds.
    fn decide_whole(&self, due: &mut Due<N>, times: &[i64], trail: &mut [Due<N>]) -> u64 {
        let (mut next, mut last) = (due.next.whole, due.last);
        let (interval, reach) = (self.interval.whole, self.reach.whole);
        let mut denied = 0;
        let room = next + N::from(times.len() as i64) * interval <= N::from(times[0]) + reach;
        if room && self.capacity >= times.len() as u64 {
            // All of them have room.
            for (&at, after) in times.iter().zip(trail) {
                next = next.max(N::from(at)) + interval;
                *after = Due { next: Exact { whole: next, parts: 0 }, last: at };
            }
            last = times[times.len() - 1];
        } else {
            for (n, (&at, after)) in times.iter().zip(trail).enumerate() {
                let now = N::from(at);
                let done = select_unpredictable(next >= now, next, now) + interval;
                let passes = done <= now + reach;
                next = select_unpredictable(passes, done, next);
                last = select_unpredictable(passes, at, last);
                denied |= u64::from(!passes) << n;
                *after = Due { next: Exact { whole: next, parts: 0 }, last };
            }
        }
        *due = Due { next: Exact { whole: next, parts: 0 }, last };
        denied
    }

    /// Where it is not.
    fn decide_parts(&self, due: &mut Due<N>, times: &[i64], trail: &mut [Due<N>]) -> u64 {
        let Due { mut next, mut last } = *due;
        let mut denied = 0;
        for (n, (&at, after)) in times.iter().zip(trail).enumerate() {
            let now = N::from(at);
            let is_later = next.whole >= now;
            let start = Exact {
                whole: select_unpredictable(is_later, next.whole, now),
                parts: select_unpredictable(is_later, next.parts, 0),
            };
            let (done, full) = (self.plus(start, self.interval), now + self.reach.whole);
            let passes =
                (done.whole < full) | ((done.whole == full) & (done.parts <= self.reach.parts));
            next.whole = select_unpredictable(passes, done.whole, next.whole);
            next.parts = select_unpredictable(passes, done.parts, next.parts);
            last = select_unpredictable(passes, at, last);
            denied |= u64::from(!passes) << n;
            *after = Due { next, last };
        }
        *due = Due { next, last };
        denied
    }

    /// When a further unit started of which `due` is the state since, at a reading.
    pub(super) fn started(&self, due: &Due<N>) -> Exact<N> {
        let borrows = due.next.parts < self.interval.parts;
        let parts = due.next.parts + if borrows { self.parts } else { 0 } - self.interval.parts;
        let whole = due.next.whole - self.interval.whole - N::from(i64::from(borrows));
        Exact { whole, parts }
    }

    /// The reading by which an attempt at `now` is decided.
    pub(super) fn as_of(&self, due: &Due<N>, now: Reading) -> Reading {
        self.common.backwards.as_of(now, due.last)
    }

    /// Charges `cost` by a decision that was made elsewhere; what is owed does not stop at the reach.
    pub(super) fn owe(&self, due: &mut Due<N>, now: Reading, cost: u32) {
        let settled = self.settled(due, now);
        let cost = u64::from(cost).min(self.capacity);
        // Where nothing was owed by the last reading, it counts as if nothing had been at its own.
        let start = match self.is_idle(&settled) {
            true => Exact::at(now.0.min(settled.last)),
            false => settled.next,
        };
        let done = self.plus(start, self.units(cost));
        let farthest = Exact { whole: N::from(settled.last) + N::FARTHEST, parts: 0 };
        *due = Due { next: done.min(farthest).max(settled.next), last: settled.last };
    }

    /// `cost` was denied.
    pub(super) fn deny(&self, due: &mut Due<N>, now: Reading, cost: u32) {
        if self.common.count_rejected {
            self.charge(due, now, cost);
        } else if self.common.backwards == Backwards::Rewind {
            *due = self.settled(due, now);
        }
    }

    /// Whether a denial is written.
    pub(super) fn denial_writes(&self) -> bool {
        self.common.count_rejected || self.common.backwards == Backwards::Rewind
    }

    /// How long after an attempt anything is owed at most, where readings never go back.
    pub(super) fn lasts_at_most(&self) -> i64 {
        self.reach.ceil_in_time()
    }

    /// From when on nothing is owed.
    pub(super) fn neutral_from(&self, due: &Due<N>) -> Option<Reading> {
        i64::try_from(due.next.ceil()).ok().map(Reading)
    }

    /// The span of `count` units; a division only for more than one unit of a broken interval.
    fn units(&self, count: u64) -> Exact<N> {
        if count == 1 {
            return self.interval;
        }
        // A cost is below 2^32, and so are the parts of an interval.
        let parts = self.interval.parts * count;
        let (carried, parts) = match self.parts {
            1 => (0, 0),
            size => (parts / size, parts % size),
        };
        let count = N::from(count as i64);
        Exact { whole: self.interval.whole * count + N::from(carried as i64), parts }
    }

    fn plus(&self, time: Exact<N>, span: Exact<N>) -> Exact<N> {
        let parts = time.parts + span.parts;
        let carry = parts >= self.parts;
        let whole = time.whole + span.whole + N::from(i64::from(carry));
        Exact { whole, parts: if carry { parts - self.parts } else { parts } }
    }
}
