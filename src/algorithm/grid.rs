//! The grid of windows since 1970 that `fixed-window` and `sliding-window-counter` share.

use std::hint::select_unpredictable;

use crate::time::Divisor;

/// Windows [kW, (k+1)W).
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    /// W, in nanoseconds.
    pub width: i64,
    divisor: Divisor,
    /// What is left of 2^63 ns, the time from the earliest reading to 1970.
    rest: u64,
}

impl Grid {
    /// Windows of a width above zero.
    pub fn new(width: i64) -> Grid {
        let divisor = Divisor::new(width.unsigned_abs());
        let (_, rest) = divisor.divide(1 << 63);
        Grid { width, divisor, rest }
    }

    /// Where the window of a reading ends; saturates at the end of time.
    #[inline]
    pub fn end_of(&self, now: i64) -> i64 {
        // Since the earliest reading, from which no window starts.
        let (_, since) = self.divisor.divide(now.abs_diff(i64::MIN));
        let ahead = since.wrapping_sub(self.rest);
        let wrapped = ahead.wrapping_add(self.width as u64);
        let into = select_unpredictable(since >= self.rest, ahead, wrapped);
        now.saturating_add_unsigned(self.width as u64 - into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn windows_end_at_whole_multiples_of_their_width(
            width in prop_oneof![1..i64::MAX, 1..100_i64], now in prop_oneof![any::<i64>(), -100..100_i64],
        ) {
            let end = now.saturating_add(width - now.rem_euclid(width));
            prop_assert_eq!(Grid::new(width).end_of(now), end);
        }
    }
}
