//! The trailing window of one key: what was accepted in the last `per`, at any instant.

use std::collections::VecDeque;

use super::peak::Peak;
use crate::rate::Limit;
use crate::time::Instant;

/// The cost accepted for one key in (t-W, t], fed in time order; what falls on one instant counts in
/// the order of the calls. Every call takes amortised constant time.
///
/// In the order of the fields: what a rejection looks at comes first.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Trailing {
    /// When the sum next falls if nothing more is accepted; [`NEVER`] for an empty window.
    falls_at: Instant,
    sum: u64,
    promise: Limit,
    peak: Option<Peak>,
    /// Instants of acceptance within the window, each with what was accepted at it.
    recent: VecDeque<(Instant, u64)>,
}

/// No instant of a run.
const NEVER: Instant = Instant(i64::MAX);

impl Trailing {
    /// The window of a key that was never accepted.
    pub fn new(promise: Limit) -> Trailing {
        Trailing { promise, recent: VecDeque::new(), sum: 0, falls_at: NEVER, peak: None }
    }

    /// What was promised for the key.
    pub fn promise(&self) -> Limit {
        self.promise
    }

    /// The largest cost accepted in any window so far; `None` before the first acceptance.
    pub fn peak(&self) -> Option<Peak> {
        self.peak
    }

    /// The cost in the window at the instant of the last call.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// When the sum next falls if nothing more is accepted; `None` if the window is empty.
    pub fn falls_at(&self) -> Option<Instant> {
        (self.falls_at != NEVER).then_some(self.falls_at)
    }

    /// Adds an acceptance of `cost` and says whether the window, it included, is above the limit.
    #[inline]
    pub fn accept(&mut self, at: Instant, cost: u32) -> bool {
        let cost = u64::from(cost);
        self.sum = self.sum_at(at) + cost;
        match self.recent.back_mut() {
            Some((last, together)) if *last == at => *together += cost,
            _ => self.recent.push_back((at, cost)),
        }
        if self.falls_at == NEVER {
            self.falls_at = at + self.promise.per;
        }
        if self.peak.is_none_or(|peak| self.sum > peak.cost) {
            let from = self.recent.front().map_or(at, |first| first.0);
            self.peak = Some(Peak { cost: self.sum, from, to: at });
        }
        self.sum > self.promise.requests
    }

    /// Whether an attempt of `cost` at `at` would have kept the window at or below the limit.
    #[inline]
    pub fn room_for(&mut self, at: Instant, cost: u32) -> bool {
        self.sum_at(at) + u64::from(cost) <= self.promise.requests
    }

    /// The cost accepted in (`at` - W, `at`], `at` being no earlier than in any call before.
    #[inline]
    pub fn sum_at(&mut self, at: Instant) -> u64 {
        debug_assert!(self.recent.back().is_none_or(|last| last.0 <= at), "fed in time order");
        if at >= self.falls_at {
            self.expire(at);
        }
        self.sum
    }

    /// Out of line, so that nobody fetches the list from memory who does not need it.
    #[cold]
    #[inline(never)]
    fn expire(&mut self, at: Instant) {
        while let Some(&(first, cost)) = self.recent.front() {
            if at - first < self.promise.per {
                self.falls_at = first + self.promise.per;
                return;
            }
            self.sum -= cost;
            self.recent.pop_front();
        }
        self.falls_at = NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn three_per_ten() -> Trailing {
        Trailing::new(Limit::new(3, Span::from_nanos(10)))
    }

    #[test]
    fn an_acceptance_exactly_w_ago_is_no_longer_in_the_window() {
        let mut window = three_per_ten();
        assert!(!window.accept(Instant(0), 3));
        assert!(!window.room_for(Instant(9), 1));
        assert!(window.room_for(Instant(10), 3));
        assert_eq!(window.sum_at(Instant(10)), 0);

        let mut window = three_per_ten();
        window.accept(Instant(0), 3);
        assert!(window.accept(Instant(9), 1), "(-1, 9] holds 3 + 1");
        assert!(!window.accept(Instant(10), 2), "(0, 10] holds 1 + 2");
    }

    #[test]
    fn what_falls_on_one_instant_counts_in_order() {
        let mut window = three_per_ten();
        let over: Vec<bool> = (0..5).map(|_| window.accept(Instant(7), 1)).collect();
        assert_eq!(over, [false, false, false, true, true]);
    }

    #[test]
    fn the_peak_is_that_of_the_window_which_reached_it_first() {
        let mut window = three_per_ten();
        for at in [0, 4, 8, 12, 16, 20, 40, 44, 48] {
            window.accept(Instant(at), 1);
        }
        // (-2, 8] holds 0, 4 and 8; (2, 12] has three again, which is no more.
        let peak = Peak { cost: 3, from: Instant(0), to: Instant(8) };
        assert_eq!(window.peak(), Some(peak));
        window.accept(Instant(48), 2);
        // (38, 48] holds 40, 44, 48 and twice more at 48.
        assert_eq!(window.peak(), Some(Peak { cost: 5, from: Instant(40), to: Instant(48) }));
    }

    #[test]
    fn a_cost_above_the_limit_never_has_room_and_a_limit_of_zero_never_any() {
        assert!(!three_per_ten().room_for(Instant(0), 4));
        let mut nothing = Trailing::new(Limit::new(0, Span::from_nanos(10)));
        assert!(!nothing.room_for(Instant(0), 1));
        assert!(nothing.accept(Instant(0), 1));
    }

    #[test]
    fn the_largest_limits_and_costs_neither_overflow_nor_round() {
        let mut window = Trailing::new(Limit::new(1 << 32, Limit::MAX_PER));
        let ends = [Instant(i64::MIN), Instant(i64::MIN + 1)];
        assert!(!window.accept(ends[0], u32::MAX));
        assert!(window.room_for(ends[1], 1), "2^32 - 1 + 1 is the limit");
        assert!(window.accept(ends[1], 2));
        assert_eq!(window.sum_at(Instant(i64::MAX)), 0);
    }
}
