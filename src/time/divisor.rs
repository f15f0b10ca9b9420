//! Division by a number that stays the same, without a division.

use std::hint::select_unpredictable;

/// Divides by a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Divisor {
    by: u64,
    /// 2^64 / by, cut down; one less for 1.
    reciprocal: u64,
}

impl Divisor {
    /// # Panics
    /// If it is zero.
    pub fn new(by: u64) -> Divisor {
        Divisor { by, reciprocal: (u128::from(u64::MAX) / u128::from(by)) as u64 }
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

    proptest! {
        #[test]
        fn all_numbers_are_divided_as_by_a_division(
            by in prop_oneof![1..=u64::MAX, 1..1000_u64], number: u64,
        ) {
            prop_assert_eq!(Divisor::new(by).divide(number), (number / by, number % by));
        }
    }
}
