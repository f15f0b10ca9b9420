//! The figures of a log.

use super::keys::KeyTable;
use super::peaks::{Peak, WINDOWS};
use crate::log::limited;
use crate::time::{Instant, SECOND};

/// What is in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figures {
    /// How many requests count: at least one.
    pub requests: u64,
    /// The first of them.
    pub first: Instant,
    /// The last of them.
    pub last: Instant,
    /// The peaks of all requests together, by window.
    pub peaks: [Peak; WINDOWS.len()],
    /// The longest time without a request; `None` where there is only one.
    pub silence: Option<Silence>,
    /// Of the stamps as logged.
    pub resolution: Resolution,
    /// What was answered.
    pub statuses: Statuses,
    /// How many had already been refused, and how many were retries of those.
    pub limited: limited::Count,
    /// Whether these were left out.
    pub handling: limited::Handling,
    /// How many requests filters left out, in the order of the filters.
    pub left_out: Vec<(String, u64)>,
    /// How many forwarded lists were too short.
    pub short_lists: u64,
    /// How many keys are made of an address and have none.
    pub nameless: u64,
    /// A sentence on parts of keys that no request has.
    pub lacking: Option<String>,
    /// The keys.
    pub keys: KeyTable,
}

impl Figures {
    /// The nanoseconds from the first request to the last: they may be more than a span has.
    pub fn nanos(&self) -> u64 {
        self.last.0.abs_diff(self.first.0)
    }
}

/// A time without a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    /// The request before it.
    pub from: Instant,
    /// How long it lasts, up to the next request, in nanoseconds; as above.
    pub nanos: u64,
}

impl Silence {
    /// The longest, and of several the first, between times in order.
    pub fn longest(times: &[Instant]) -> Option<Silence> {
        let mut longest: Option<Silence> = None;
        for (from, to) in times.iter().zip(times.iter().skip(1)) {
            let nanos = to.0.abs_diff(from.0);
            if longest.is_none_or(|longest| nanos > longest.nanos) {
                longest = Some(Silence { from: *from, nanos });
            }
        }
        longest
    }
}

/// The coarsest unit of which all stamps are multiples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Resolution {
    /// Whole seconds.
    #[default]
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl Resolution {
    /// Of one stamp.
    #[inline]
    pub fn of(stamp: Instant) -> Resolution {
        let nanos = stamp.0.rem_euclid(SECOND as i64);
        match nanos {
            0 => Resolution::Seconds,
            _ if nanos % 1_000_000 == 0 => Resolution::Milliseconds,
            _ if nanos % 1_000 == 0 => Resolution::Microseconds,
            _ => Resolution::Nanoseconds,
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Resolution::Seconds => "whole seconds",
            Resolution::Milliseconds => "milliseconds",
            Resolution::Microseconds => "microseconds",
            Resolution::Nanoseconds => "nanoseconds",
        }
    }

    /// The unit.
    pub fn unit(self) -> &'static str {
        match self {
            Resolution::Seconds => "s",
            Resolution::Milliseconds => "ms",
            Resolution::Microseconds => "us",
            Resolution::Nanoseconds => "ns",
        }
    }
}

/// How many requests were answered how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statuses {
    /// By the first digit of the status, from 1 to 5.
    pub classes: [u64; 5],
    /// With a status that is none of these.
    pub others: u64,
    /// Without one.
    pub none: u64,
}

impl Statuses {
    /// One more request.
    #[inline]
    pub fn count(&mut self, status: Option<&[u8]>) {
        match status {
            None => self.none += 1,
            Some([class @ b'1'..=b'5', a, b]) if a.is_ascii_digit() && b.is_ascii_digit() => {
                self.classes[usize::from(class - b'1')] += 1;
            }
            Some(_) => self.others += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_silence_is_the_first_of_the_longest() {
        let times = [0, 3, 5, 8, 8].map(Instant);
        let expected = Silence { from: Instant(0), nanos: 3 };
        assert_eq!(Silence::longest(&times), Some(expected));
        assert_eq!(Silence::longest(&times[..1]), None);
        let together = Silence { from: Instant(8), nanos: 0 };
        assert_eq!(Silence::longest(&times[3..]), Some(together));
    }

    #[test]
    fn a_resolution_is_that_of_the_finest_stamp() {
        let finest = |stamps: &[i64]| stamps.iter().map(|&at| Resolution::of(Instant(at))).max();
        assert_eq!(finest(&[0, -1_000_000_000]), Some(Resolution::Seconds));
        assert_eq!(finest(&[0, 1_500_000_000]), Some(Resolution::Milliseconds));
        assert_eq!(finest(&[-999_999_000, 0]), Some(Resolution::Microseconds));
        assert_eq!(finest(&[1_000, 1]), Some(Resolution::Nanoseconds));
    }

    #[test]
    fn statuses_are_counted_by_class() {
        let mut statuses = Statuses::default();
        let all: [Option<&[u8]>; 7] = [
            Some(b"200"),
            Some(b"204"),
            Some(b"503"),
            Some(b"000"),
            Some(b"2000"),
            Some(b"2x0"),
            None,
        ];
        all.into_iter().for_each(|status| statuses.count(status));
        assert_eq!(statuses, Statuses { classes: [0, 2, 0, 0, 1], others: 3, none: 1 });
    }
}
