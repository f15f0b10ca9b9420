//! The grid of windows since 1970 that `fixed-window` and `sliding-window-counter` share.

use crate::time::Divisor;

/// Fewer attempts than this are not worth being taken in as those that there is room for.
const WORTH: usize = 16;

/// Windows [kW, (k+1)W).
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    /// W, in nanoseconds.
    pub width: i64,
    divisor: Divisor,
    /// Where a window starts, in 1823 or later unless windows are longer than that.
    origin: i64,
}

impl Grid {
    /// Windows of a width above zero.
    pub fn new(width: i64) -> Grid {
        let origin = -((1 << 62) / width * width);
        Grid { width, divisor: Divisor::new(width.unsigned_abs()), origin }
    }

    /// The first of some attempts, as many as there is `room` for, and when the last of them is made; `None` where they
    /// are too few to be worth it.
    #[inline]
    pub fn with_room(times: &[i64], room: u64) -> Option<(&[i64], i64)> {
        let count = usize::try_from(room).map_or(times.len(), |room| times.len().min(room));
        let first = &times[..count];
        first.last().filter(|_| count == times.len() || count >= WORTH).map(|&last| (first, last))
    }

    /// Where the window of a reading ends; saturates at the end of time.
    #[inline]
    pub fn end_of(&self, now: i64) -> i64 {
        let into = match u64::try_from(now.wrapping_sub(self.origin)) {
            Ok(since) => since - self.divisor.quotient(since) * self.width as u64,
            // Before the origin, or 292 years after it.
            Err(_) => now.rem_euclid(self.width) as u64,
        };
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
