//! A signed length of time: how far a clock is off.

use std::fmt;
use std::ops::{Add, Sub};

use super::{Reading, Span};

/// How far a clock is ahead, in nanoseconds; negative where it is behind. Never -2^63.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Offset(i64);

impl Offset {
    /// A clock that is right.
    pub const ZERO: Offset = Offset(0);

    /// So many nanoseconds; beyond what fits, the most that does.
    pub fn saturating(nanos: i128) -> Offset {
        let most = i128::from(i64::MAX);
        Offset(nanos.clamp(-most, most) as i64)
    }

    /// Its nanoseconds.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Parses a [`Span`] with a sign before it: `"-5s"`, `"+250ms"`, `"3s"`.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn parse(text: &str) -> Result<Offset, String> {
        let (sign, size) = match text.as_bytes().first() {
            Some(b'-') => (-1, &text[1..]),
            Some(b'+') => (1, &text[1..]),
            _ => (1, text),
        };
        if size.starts_with(['-', '+']) {
            return Err(format!("`{text}` has two signs"));
        }
        Span::parse(size).map(|span| Offset(sign * span.signed()))
    }

    /// What [`Offset::parse`] takes, for messages.
    pub const GRAMMAR: &str =
        "a span with a sign, such as \"-5s\" or \"+250ms\" (units: ns, us, ms, s, m, h, d, w)";
}

impl fmt::Display for Offset {
    /// An exact form that [`Offset::parse`] takes back.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(formatter, "{sign}{}", Span::from_nanos(self.0.unsigned_abs()))
    }
}

impl Add<Offset> for Reading {
    type Output = Reading;
    /// What a clock shows that is ahead by the offset. Saturates at both ends of time.
    fn add(self, offset: Offset) -> Reading {
        Reading(self.0.saturating_add(offset.0))
    }
}

impl Sub for Reading {
    type Output = Span;
    /// The span from the earlier reading to the later; zero if `earlier` is not earlier.
    fn sub(self, earlier: Reading) -> Span {
        Span(self.0.saturating_sub(earlier.0).max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_offset_is_a_span_with_or_without_a_sign() {
        for (text, nanos, shown) in [
            ("-5s", -5_000_000_000, "-5s"),
            ("+250ms", 250_000_000, "250ms"),
            ("3s", 3_000_000_000, "3s"),
            ("-0s", 0, "0s"),
            ("-1.5s", -1_500_000_000, "-1.5s"),
        ] {
            let offset = Offset::parse(text).unwrap();
            assert_eq!((offset.nanos(), offset.to_string().as_str()), (nanos, shown), "{text}");
        }
    }

    #[test]
    fn what_is_no_offset_is_refused_with_its_reason() {
        for (text, reason) in [
            ("-5", "`5` has no unit"),
            ("--5s", "`--5s` has two signs"),
            ("+-5s", "`+-5s` has two signs"),
            ("-", "a span is empty"),
            ("", "a span is empty"),
            ("- 5s", "` 5s` does not start with a number"),
            ("-20000w", "`20000w` is longer than 292 years"),
        ] {
            assert_eq!(Offset::parse(text), Err(reason.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_clock_that_is_off_shows_another_time_up_to_the_ends_of_time() {
        let ahead = Reading(10) + Offset(5);
        assert_eq!((ahead, ahead - Reading(10)), (Reading(15), Span::from_nanos(5)));
        assert_eq!(Reading(10) - ahead, Span::ZERO);
        assert_eq!(Reading(i64::MIN) + Offset(-1), Reading(i64::MIN));
        assert_eq!(Reading(i64::MAX) + Offset(1), Reading(i64::MAX));
        assert_eq!(Reading(i64::MAX) - Reading(i64::MIN), Span::MAX);
        assert_eq!(Offset::saturating(i128::MIN).nanos(), -i64::MAX);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(nanos in -i64::MAX..=i64::MAX) {
            let offset = Offset(nanos);
            prop_assert_eq!(Offset::parse(&offset.to_string()), Ok(offset));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[-+]?.{0,12}") {
            let _ = Offset::parse(&text);
        }
    }
}
