//! Division by a number that stays the same, without a division.

use std::hint::select_unpredictable;

/// Divides by a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Divisor {
    by: u64,
    /// 2^64 / by, cut down; one less for 1.
    reciprocal: u64,
    /// ceil(2^(63 + shift) / by), where 2^shift is the least power of two that is not less than it; both are 0 where
    /// that is 2^64.
    factor: u64,
    shift: u32,
}

impl Divisor {
    /// # Panics
    /// If it is zero.
    pub fn new(by: u64) -> Divisor {
        let (factor, shift) = match u64::BITS - (by - 1).leading_zeros() {
            // The quotient of every number below 2^63 is 0.
            u64::BITS => (0, 0),
            shift => ((1_u128 << (63 + shift)).div_ceil(u128::from(by)) as u64, shift),
        };
        Divisor { by, reciprocal: (u128::from(u64::MAX) / u128::from(by)) as u64, factor, shift }
    }

    /// The quotient of a number below 2^63, cut down.
    ///
    /// The factor is too large by less than 1, so the product is by less than 2^63 times what the number is divided by,
    /// and what is cut off from it is too large by less than one part of as many.
    /// T. Granlund, P. Montgomery, "Division by invariant integers using multiplication", PLDI 1994.
    #[inline]
    pub fn quotient(self, number: u64) -> u64 {
        debug_assert!(number < 1 << 63);
        let product = u128::from(number << 1) * u128::from(self.factor);
        ((product >> 64) as u64) >> (self.shift & (u64::BITS - 1))
    }

    /// The quotient, cut down, and the remainder.
    #[inline]
    pub fn divide(self, number: u64) -> (u64, u64) {
        // At most one too small, since the reciprocal is at most 1 too small and the number below 2^64.
        let quotient = ((u128::from(number) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = number - quotient * self.by;
        let more = rest >= self.by;
        (quotient + u64::from(more), select_unpredictable(more, rest.wrapping_sub(self.by), rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn extremes_are_divided_as_by_a_division() {
        for by in [1, 2, 3, 1 << 32, 60_000_000_000, (1 << 63) - 1, 1 << 63, u64::MAX] {
            for number in [0, 1, by - 1, by, by.wrapping_mul(7), u64::MAX - 1, u64::MAX] {
                assert_eq!(Divisor::new(by).divide(number), (number / by, number % by));
            }
        }
    }

    #[test]
    fn quotients_of_extremes_are_those_of_a_division() {
        for by in [
            1,
            2,
            3,
            1 << 32,
            (1 << 32) + 1,
            60_000_000_000,
            (1 << 62) + 1,
            (1 << 63) - 1,
            1 << 63,
            u64::MAX,
        ] {
            let most = (1 << 63) - 1;
            let close = [
                by.saturating_sub(1),
                by,
                by.saturating_add(1),
                most / by * by,
                (most / by * by).saturating_sub(1),
            ];
            for number in
                close.into_iter().chain([0, 1, most - 1, most]).filter(|&number| number <= most)
            {
                assert_eq!(Divisor::new(by).quotient(number), number / by, "{number} by {by}");
            }
        }
    }

    proptest! {
        #[test]
        fn all_quotients_are_those_of_a_division(
            by in prop_oneof![1..=u64::MAX, 1..1000_u64, 1..1_u64 << 40], number in 0..1_u64 << 63,
        ) {
            let near = number / by * by;
            for number in [number, near, near.saturating_sub(1)] {
                prop_assert_eq!(Divisor::new(by).quotient(number), number / by);
            }
        }

        #[test]
        fn all_numbers_are_divided_as_by_a_division(
            by in prop_oneof![1..=u64::MAX, 1..1000_u64], number: u64,
        ) {
            prop_assert_eq!(Divisor::new(by).divide(number), (number / by, number % by));
        }
    }
}
