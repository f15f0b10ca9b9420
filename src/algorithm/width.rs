//! Integers of 64 bits where a limit lets everything fit, else of 128: chosen once, when an algorithm
//! is configured, so that decisions under ordinary limits run in machine words and are exact under
//! all.

use std::ops::{Add, Mul, Sub};

/// The integers in which whole nanoseconds are kept: 64 bits where everything fits, else 128.
pub(super) trait Nanos:
    Copy
    + Ord
    + Send
    + Sync
    + 'static
    + From<i64>
    + Into<i128>
    + TryFrom<i128>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
{
    /// How far ahead of the clock a schedule may reach so that nothing overflows.
    const REACH: i128;
    /// No schedule reaches farther ahead by what others let through.
    const FARTHEST: Self;

    /// As a time of 64 bits; the nearest, if it is beyond them.
    fn saturated(self) -> i64;
}

impl Nanos for i64 {
    /// Twice this after the end of the year 2200 is still within 64 bits.
    const REACH: i128 = 1 << 59;
    const FARTHEST: i64 = 1 << 59;

    fn saturated(self) -> i64 {
        self
    }
}

impl Nanos for i128 {
    const REACH: i128 = i128::MAX;
    const FARTHEST: i128 = 1 << 100;

    fn saturated(self) -> i64 {
        self.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

/// The integers in which a deficit is kept: 64 bits where everything fits, else 128.
pub(super) trait Units:
    Copy
    + Ord
    + Send
    + Sync
    + 'static
    + From<u64>
    + Into<u128>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
{
    /// The largest capacity that leaves room for the cost of one more attempt.
    const CAPACITY: u128;
    /// No deficit grows deeper by what others let through.
    const DEEPEST: Self;
    /// Whether a deficit may grow beyond the capacity.
    const UNBOUNDED: bool;

    fn saturating_sub(self, other: Self) -> Self;
    fn saturating_mul(self, other: Self) -> Self;
}

impl Units for u64 {
    const CAPACITY: u128 = (u64::MAX / 2) as u128;
    const DEEPEST: u64 = u64::MAX / 2;
    const UNBOUNDED: bool = false;

    fn saturating_sub(self, other: u64) -> u64 {
        u64::saturating_sub(self, other)
    }

    fn saturating_mul(self, other: u64) -> u64 {
        u64::saturating_mul(self, other)
    }
}

impl Units for u128 {
    const CAPACITY: u128 = u128::MAX / 2;
    const DEEPEST: u128 = u128::MAX / 2;
    const UNBOUNDED: bool = true;

    fn saturating_sub(self, other: u128) -> u128 {
        u128::saturating_sub(self, other)
    }

    fn saturating_mul(self, other: u128) -> u128 {
        u128::saturating_mul(self, other)
    }
}
