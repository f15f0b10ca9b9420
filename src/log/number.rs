//! Numbers as records write them, in a unit of time or as a count; read from bytes, exactly, without
//! allocating.

use crate::params::Choice;
use crate::time::SECOND;

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl Choice for Unit {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("s", Unit::Seconds, "seconds"),
        ("ms", Unit::Milliseconds, "milliseconds"),
        ("us", Unit::Microseconds, "microseconds"),
        ("ns", Unit::Nanoseconds, "nanoseconds"),
    ];
}

impl Unit {
    /// Its length.
    pub const fn nanos(self) -> u64 {
        match self {
            Unit::Seconds => SECOND,
            Unit::Milliseconds => 1_000_000,
            Unit::Microseconds => 1_000,
            Unit::Nanoseconds => 1,
        }
    }

    /// Its name in full.
    pub fn word(self) -> &'static str {
        Unit::CHOICES.iter().find(|choice| choice.1 == self).map_or("", |choice| choice.2)
    }

    /// The unit in which a time since 1970 has so many digits before the point, if it lies in the
    /// years 2001 to 2286.
    pub const fn of_digits(digits: u32) -> Option<Unit> {
        match digits {
            10 => Some(Unit::Seconds),
            13 => Some(Unit::Milliseconds),
            16 => Some(Unit::Microseconds),
            19 => Some(Unit::Nanoseconds),
            _ => None,
        }
    }
}

/// A number such as `1762265258.239`, exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    negative: bool,
    whole: u64,
    /// The first digits after the point, and ten to the power of how many.
    fraction: (u64, u64),
}

impl Number {
    /// Reads digits with an optional sign before, and an optional fraction and exponent (`1.5e9`) after them. `None` if
    /// the text is anything else, or beyond 64 bits.
    pub fn parse(text: &[u8]) -> Option<Number> {
        let (negative, digits) = match text.strip_prefix(b"-") {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, rest) = digits_of(digits);
        let (fraction, rest) = match rest {
            [b'.', tail @ ..] => {
                let (all, rest) = digits_of(tail);
                (Some(all).filter(|all| !all.is_empty())?, rest)
            }
            rest => (&[][..], rest),
        };
        if whole.is_empty() {
            return None;
        }
        match rest {
            [] => {
                let kept = &fraction[..fraction.len().min(18)];
                let fraction = (value_of(kept)?, 10_u64.pow(kept.len() as u32));
                Some(Number { negative, whole: value_of(whole)?, fraction })
            }
            [b'e' | b'E', exponent @ ..] => Number::shifted(negative, whole, fraction, exponent),
            _ => None,
        }
    }

    /// The number of these digits, times ten to the power of the exponent.
    fn shifted(negative: bool, whole: &[u8], fraction: &[u8], exponent: &[u8]) -> Option<Number> {
        let (down, exponent) = match exponent {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] => (false, digits),
            digits => (false, digits),
        };
        let places = i128::from(value_of(exponent).filter(|_| !exponent.is_empty())?);
        // Digits before the point have the places from 0 up, those after it from -1 down.
        let point = match down {
            true => whole.len() as i128 - places,
            false => whole.len() as i128 + places,
        };
        let digits = || whole.iter().chain(fraction).map(|digit| u64::from(digit - b'0'));
        let digit = |place: i128| {
            let index = usize::try_from(point - 1 - place).ok();
            index.and_then(|index| digits().nth(index)).unwrap_or(0)
        };
        // What stands above the largest power of ten of 64 bits must be zero.
        const HIGHEST: i128 = 19;
        let above = usize::try_from(point - 1 - HIGHEST).unwrap_or(0);
        if digits().take(above).any(|digit| digit != 0) {
            return None;
        }
        let mut value = 0_u64;
        for place in (0..=HIGHEST).rev() {
            value = value.checked_mul(10)?.checked_add(digit(place))?;
        }
        let digits = (1..=18).fold(0, |digits, place| digits * 10 + digit(-place));
        Some(Number { negative, whole: value, fraction: (digits, 10_u64.pow(18)) })
    }

    /// How many digits it has before the point, leading zeros aside; 0 for zero.
    pub fn digits(&self) -> u32 {
        self.whole.checked_ilog10().map_or(0, |log| log + 1)
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.whole == 0 && self.fraction.0 == 0
    }

    /// The number if it is whole and not negative.
    pub fn as_count(&self) -> Option<u64> {
        (self.fraction.0 == 0 && (!self.negative || self.whole == 0)).then_some(self.whole)
    }

    /// So many units in nanoseconds; what is finer than a nanosecond is cut. `None` beyond 64 bits.
    pub fn nanos(&self, unit: Unit) -> Option<i64> {
        let unit = u128::from(unit.nanos());
        let (digits, scale) = self.fraction;
        let parts = u128::from(digits) * unit / u128::from(scale);
        let nanos = i64::try_from(u128::from(self.whole) * unit + parts).ok()?;
        Some(if self.negative { -nanos } else { nanos })
    }
}

/// The digits that start a text, and what follows.
pub fn digits_of(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// The number that digits make. `None` if there is another byte, or beyond 64 bits.
pub fn value_of(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then_some(())?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_exactly() {
        let nanos = |text: &str, unit| Number::parse(text.as_bytes()).unwrap().nanos(unit);
        assert_eq!(nanos("1762265258", Unit::Seconds), Some(1_762_265_258_000_000_000));
        assert_eq!(nanos("1762265258.239", Unit::Seconds), Some(1_762_265_258_239_000_000));
        assert_eq!(nanos("1762265258239", Unit::Milliseconds), Some(1_762_265_258_239_000_000));
        assert_eq!(nanos("10.005", Unit::Seconds), Some(10_005_000_000));
        assert_eq!(nanos("-0.5", Unit::Milliseconds), Some(-500_000));
        assert_eq!(nanos("0.1234567890123456789", Unit::Seconds), Some(123_456_789));
        assert_eq!(nanos("9223372036854775808", Unit::Nanoseconds), None);
        for text in [
            "",
            "-",
            ".5",
            "1.",
            "1e",
            "1e+",
            "1e1.5",
            "1e20",
            "e9",
            "1.5.1",
            "+1",
            "0x10",
            "99999999999999999999",
        ] {
            assert_eq!(Number::parse(text.as_bytes()), None, "{text}");
        }
        let digits = |text: &str| Number::parse(text.as_bytes()).unwrap().digits();
        assert_eq!(
            [digits("0"), digits("9"), digits("0010"), digits("1762265258.9")],
            [0, 1, 2, 10]
        );
        let count = |text: &str| Number::parse(text.as_bytes()).unwrap().as_count();
        assert_eq!(
            [count("12"), count("12.0"), count("12.5"), count("-1")],
            [Some(12), Some(12), None, None]
        );
    }

    #[test]
    fn an_exponent_moves_the_point() {
        for (text, same) in [
            ("1.672531200123e9", "1672531200.123"),
            ("1.672531201123E+09", "1672531201.123"),
            ("-25e-1", "-2.5"),
            ("0.0005e4", "5"),
            ("1e0", "1"),
            ("0e999999999999", "0"),
            ("1e-40", "0"),
            ("123456789e-9", "0.123456789"),
            ("18446744073709551615e0", "18446744073709551615"),
            ("0.00000000000000000000001e24", "10"),
        ] {
            let number = |text: &str| {
                let number = Number::parse(text.as_bytes()).unwrap();
                (number.negative, number.whole, number.nanos(Unit::Seconds), number.digits())
            };
            assert_eq!(number(text), number(same), "{text}");
        }
        assert_eq!(Number::parse(b"18446744073709551616e0"), None);
        assert_eq!(Number::parse(b"1e99999999999999999999"), None);
        assert_eq!(Number::parse(b"1e999999999"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..30)) {
            let _ = Number::parse(&text).map(|number| number.nanos(Unit::Seconds));
        }

        #[test]
        fn nanoseconds_are_read_back_from_any_unit(nanos in 0_i64..=i64::MAX) {
            for (unit, digits) in [(Unit::Seconds, 9), (Unit::Milliseconds, 6), (Unit::Microseconds, 3)] {
                let size = unit.nanos() as i64;
                let text = format!("{}.{:0digits$}", nanos / size, nanos % size);
                let number = Number::parse(text.as_bytes()).unwrap();
                prop_assert_eq!(number.nanos(unit), Some(nanos));
            }
        }
    }
}
