//! A value of a metric, and how a CSV file shows it.

use std::fmt;

use crate::time::{SECOND, Span};

/// A value of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A span, in seconds.
    Seconds(Span),
    /// A finite number; see [`Value::number`].
    Number(f64),
    /// What is measured did not happen within the run, however long one waits: later than any span.
    Never,
}

impl Value {
    /// A number, `None` unless it is finite.
    pub fn number(number: f64) -> Option<Value> {
        number.is_finite().then_some(Value::Number(number))
    }

    /// As a number, for comparing and drawing; infinite for [`Value::Never`].
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Count(count) => count as f64,
            Value::Seconds(span) => span.as_secs_f64(),
            Value::Number(number) => number,
            Value::Never => f64::INFINITY,
        }
    }
}

impl fmt::Display for Value {
    /// As a cell of a CSV file: counts as integers, spans as seconds with all their nanoseconds and no
    /// more digits than that needs, numbers with the fewest digits that give the same number back.
    /// Never with an exponent. (`never` is a word for people; in the files that is an empty cell.)
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Count(count) => write!(formatter, "{count}"),
            Value::Seconds(span) => {
                let (seconds, mut fraction) = (span.nanos() / SECOND, span.nanos() % SECOND);
                if fraction == 0 {
                    return write!(formatter, "{seconds}");
                }
                let mut digits = 9;
                while fraction.is_multiple_of(10) {
                    fraction /= 10;
                    digits -= 1;
                }
                write!(formatter, "{seconds}.{fraction:0digits$}")
            }
            Value::Number(number) => write!(formatter, "{number}"),
            Value::Never => formatter.write_str("never"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seconds(nanos: u64) -> String {
        Value::Seconds(Span::from_nanos(nanos)).to_string()
    }

    #[test]
    fn spans_are_shown_as_exact_seconds() {
        assert_eq!(seconds(0), "0");
        assert_eq!(seconds(1), "0.000000001");
        assert_eq!(seconds(60_000_000_000), "60");
        assert_eq!(seconds(1_990_000_000), "1.99");
        assert_eq!(seconds(10_000_000_010), "10.00000001");
        // A float of so many seconds would end in ...775.807 or ...775.808.
        assert_eq!(seconds(Span::MAX.nanos()), "9223372036.854775807");
    }

    #[test]
    fn counts_are_integers_and_numbers_are_short_without_an_exponent() {
        assert_eq!(Value::Count(u64::MAX).to_string(), "18446744073709551615");
        assert_eq!(Value::Number(2.0).to_string(), "2");
        assert_eq!(Value::Number(0.1 + 0.2).to_string(), "0.30000000000000004");
        assert_eq!(Value::Number(1e-9).to_string(), "0.000000001");
        assert_eq!(Value::Number(1e18).to_string(), "1000000000000000000");
    }

    #[test]
    fn what_is_no_number_is_no_value() {
        assert_eq!(Value::number(f64::NAN), None);
        assert_eq!(Value::number(f64::INFINITY), None);
        assert_eq!(Value::number(0.25), Some(Value::Number(0.25)));
    }

    #[test]
    fn never_is_later_than_anything() {
        assert!(Value::Never.as_f64() > Value::Seconds(Span::MAX).as_f64());
        assert_eq!(Value::Never.to_string(), "never");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_in_showing(nanos in 0..=Span::MAX.nanos(), number in 0.0..1e15_f64) {
            let shown = seconds(nanos);
            prop_assert_eq!(Span::parse(&format!("{shown}s")), Ok(Span::from_nanos(nanos)));
            let shown = Value::Number(number).to_string();
            prop_assert!(!shown.contains('e'), "{}", shown);
            prop_assert_eq!(shown.parse(), Ok(number));
        }
    }
}
