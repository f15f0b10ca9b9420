//! Draws from a random stream that come out the same on every machine: integer arithmetic, the basic
//! operations of IEEE 754, and `libm` for everything else.

use crate::seed::Stream;

pub use crate::seed::{exponential, normal, unit};

/// 2^63.
const LONG: f64 = (1_u64 << 63) as f64;

/// A Poisson process: times at which something happens at random at a constant mean rate.
pub struct Process {
    stream: Stream,
    /// Nanoseconds from one to the next.
    mean: f64,
    at: u64,
    /// What `at` lacks of the exact time, below one nanosecond, so that rounding loses nothing.
    rest: f64,
}

impl Process {
    /// A process that starts at offset `from`; an infinite mean is one in which nothing happens.
    pub fn new(stream: Stream, mean: f64, from: u64) -> Process {
        Process { stream, mean, at: from, rest: 0.0 }
    }

    /// When it happens next; `u64::MAX` stands for never.
    pub fn step(&mut self) -> u64 {
        let gap = exponential(&mut self.stream) * self.mean + self.rest;
        // 2^63 ns and more, or what is no number, is never. A signed number is made of the others in one step.
        if gap < LONG {
            let whole = gap as i64;
            self.rest = gap - whole as f64;
            self.at = self.at.saturating_add(whole as u64);
        } else {
            self.at = u64::MAX;
        }
        self.at
    }

    /// The stream it draws from.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }
}

/// A number that a count whose mean is `mean` does not exceed: ten standard deviations of a Poisson
/// distribution above it, and a hundred more for small means. Saturates.
pub fn poisson_bound(mean: f64) -> u64 {
    libm::ceil(mean + 10.0 * libm::sqrt(mean) + 100.0) as u64
}
