//! When the requests of a linearly changing rate are due, exactly in whole nanoseconds.

use crate::rate::{Rate, gcd};

/// A rate that changes linearly from `start / unit` to `end / unit` requests a nanosecond.
///
/// After t of its length T, `(start * t * (2T - t) + end * t^2) / (2 * T * unit)` requests are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slope {
    start: u128,
    end: u128,
    unit: u128,
    length: u128,
}

impl Slope {
    /// `None` if the exact numbers do not fit into 128 bits.
    pub fn new(start: Rate, end: Rate, length: u64) -> Option<Slope> {
        let (first, second) = (u128::from(start.per.nanos()), u128::from(end.per.nanos()));
        let common = gcd(first, second);
        let (start, end) = (u128::from(start.count), u128::from(end.count));
        let mut slope = Slope {
            start: start.checked_mul(second / common)?,
            end: end.checked_mul(first / common)?,
            unit: first.checked_mul(second / common)?,
            length: length.max(1).into(),
        };
        let common = gcd(gcd(slope.start, slope.end), slope.unit);
        slope.start /= common;
        slope.end /= common;
        slope.unit /= common;
        // The largest of all products that occur, with one request more than are ever due.
        let area = slope.start.checked_add(slope.end)?.checked_mul(slope.length)?;
        area.checked_mul(slope.length)?.checked_add(slope.step_checked()?)?;
        Some(slope)
    }

    fn step_checked(&self) -> Option<u128> {
        self.unit.checked_mul(2)?.checked_mul(self.length)
    }

    /// What [`Slope::area`] grows by from one request to the next.
    fn step(&self) -> u128 {
        2 * self.unit * self.length
    }

    /// The requests due after `time`, times [`Slope::step`]. `time` is at most the length.
    fn area(&self, time: u64) -> u128 {
        let time = u128::from(time);
        self.start * (time * (2 * self.length - time)) + self.end * (time * time)
    }

    /// How many requests come before `time`; `None` if they are too many to number.
    pub fn due(&self, time: u64) -> Option<u64> {
        u64::try_from(self.area(time).div_ceil(self.step())).ok()
    }

    /// When request `number`, from 0, comes: the last nanosecond at which no more than `number` are
    /// due. For a number below that of [`Slope::due`] at the end.
    pub fn time(&self, number: u64) -> u64 {
        let target = self.step() * u128::from(number);
        let reached = |time: u64| self.area(time) <= target;
        // From a guess, doubling steps enclose the answer: `low` is reached, `high` is not.
        let length = self.length as u64;
        let (mut low, mut high, mut step) = (self.guess(number).min(length), length, 1);
        if reached(low) {
            while low + step < length && reached(low + step) {
                low += step;
                step *= 2;
            }
            high = high.min(low + step);
        }
        while !reached(low) {
            high = low;
            low = low.saturating_sub(step);
            step *= 2;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if reached(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// About where [`Slope::time`] lies. However wrong it is, the exact search corrects it.
    fn guess(&self, number: u64) -> u64 {
        let (start, end) = (self.start as f64, self.end as f64);
        let (length, area) = (self.length as f64, self.step() as f64 * number as f64);
        let root = libm::sqrt(start * start * length * length + (end - start) * area);
        let time = area / (start * length + root);
        if time.is_finite() { time as u64 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use proptest::prelude::*;

    fn slope(start: u64, end: u64, per: u64, length: u64) -> Slope {
        let rate = |count| Rate { count, per: Span::from_nanos(per) };
        Slope::new(rate(start), rate(end), length).unwrap()
    }

    #[test]
    fn from_0_to_10_a_second_in_10_s_request_k_comes_at_the_root_of_2k_seconds() {
        let slope = slope(0, 10, 1_000_000_000, 10_000_000_000);
        assert_eq!(slope.due(10_000_000_000), Some(50));
        let times: Vec<u64> = [0, 1, 2, 8, 18, 49].map(|k| slope.time(k)).to_vec();
        // Roots of 0, 2, 4, 16, 36, 98, cut to nanoseconds.
        let worked = [0, 1_414_213_562, 2_000_000_000, 4_000_000_000, 6_000_000_000, 9_899_494_936];
        assert_eq!(times, worked);
    }

    #[test]
    fn a_falling_slope_mirrors_a_rising_one() {
        let slope = slope(10, 0, 1_000_000_000, 10_000_000_000);
        // Of 50, k are due after 10 - sqrt(100 - 2k) s: for 18 that is 2 s, for 32 it is 4 s.
        assert_eq!([0, 18, 32, 42].map(|k| slope.time(k) / 1_000_000_000), [0, 2, 4, 6]);
        assert_eq!(slope.due(2_000_000_000), Some(18));
        assert_eq!(slope.due(2_000_000_001), Some(19));
    }

    #[test]
    fn rates_that_would_need_more_than_128_bits_are_refused() {
        let rate = |per| Rate { count: 1 << 32, per: Span::from_nanos(per) };
        assert_eq!(Slope::new(rate(1_000_000_007), rate(998_244_353), 1 << 62), None);
    }

    proptest! {
        #[test]
        fn times_are_those_of_a_linear_search(
            start in 0..50u64, end in 0..50u64, per in 1..200u64, length in 1..500u64,
        ) {
            let slope = slope(start, end, per, length);
            for number in 0..slope.due(length).unwrap().min(200) {
                let target = slope.step() * u128::from(number);
                let searched = (0..=length).rfind(|&time| slope.area(time) <= target).unwrap();
                prop_assert_eq!(slope.time(number), searched);
                prop_assert!(searched < length);
            }
        }
    }
}
