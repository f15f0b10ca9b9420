//! Time in whole nanoseconds, in three types that cannot be mixed up: an [`Instant`] is true
//! simulated time, a [`Reading`] is what some clock shows at an instant, a [`Span`] is a length.
//! A [`Window`] is the time between two instants.

mod divisor;
mod offset;

use std::fmt;
use std::ops::{Add, Sub};

pub use divisor::Divisor;
pub use offset::Offset;

/// Nanoseconds in a second.
pub const SECOND: u64 = 1_000_000_000;

/// True simulated time: nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
/// Reaches from the year 1677 to 2262.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub i64);

/// What a clock shows: nanoseconds since 1970-01-01T00:00:00Z by that clock. May lie before the
/// run's start, and may go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reading(pub i64);

/// A length of time in nanoseconds; never negative, at most about 292 years (2^63 - 1 ns).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest span.
    pub const MAX: Span = Span(i64::MAX as u64);

    /// A span of so many nanoseconds.
    ///
    /// # Panics
    /// If it is longer than [`Span::MAX`].
    pub const fn from_nanos(nanos: u64) -> Span {
        assert!(nanos <= i64::MAX as u64, "a span reaches to 2^63 - 1 ns");
        Span(nanos)
    }

    /// A span of so many nanoseconds, `None` beyond [`Span::MAX`].
    pub fn try_from_nanos(nanos: u128) -> Option<Span> {
        u64::try_from(nanos).ok().filter(|&n| n <= Span::MAX.0).map(Span)
    }

    /// A span of so many nanoseconds, [`Span::MAX`] beyond that.
    pub fn saturating(nanos: u128) -> Span {
        Span::try_from_nanos(nanos).unwrap_or(Span::MAX)
    }

    /// A span of whole seconds.
    ///
    /// # Panics
    /// If it is longer than [`Span::MAX`].
    pub const fn from_secs(seconds: u64) -> Span {
        match seconds.checked_mul(SECOND) {
            Some(nanos) => Span::from_nanos(nanos),
            None => panic!("a span reaches to 2^63 - 1 ns"),
        }
    }

    /// Its nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Its nanoseconds as a signed number, which always fits.
    pub const fn signed(self) -> i64 {
        self.0 as i64
    }

    /// For metrics and drawing only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }

    /// Whole seconds, rounded up.
    pub fn ceil_secs(self) -> u64 {
        self.0.div_ceil(SECOND)
    }

    /// Parses `"250ms"`, `"1.5s"`, `"1h30m"`: numbers each followed by one of the units `ns`,
    /// `us`, `ms`, `s`, `m` (minute), `h`, `d`, `w`, the larger unit first, without spaces.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn parse(text: &str) -> Result<Span, String> {
        let mut rest = text;
        let mut nanos: u128 = 0;
        let mut smallest = u128::MAX;
        if text.is_empty() {
            return Err("a span is empty".to_owned());
        }
        if text.starts_with('-') {
            return Err(format!("a span cannot be negative, as `{text}` is"));
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let (number, tail) = rest.split_at(digits);
            let letters = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(letters);
            if number.is_empty() {
                return Err(format!("`{text}` does not start with a number"));
            }
            if unit.is_empty() {
                return Err(format!("`{text}` has no unit"));
            }
            let Some(&(_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
                return Err(format!("`{unit}` is not a unit of time"));
            };
            if factor >= smallest {
                return Err(format!("the units of `{text}` do not go from large to small"));
            }
            smallest = factor;
            nanos += decimal(number, factor).map_err(|what| format!("`{text}`: {what}"))?;
            rest = tail;
        }
        Span::try_from_nanos(nanos).ok_or_else(|| format!("`{text}` is longer than 292 years"))
    }

    /// What [`Span::parse`] takes, for messages.
    pub const GRAMMAR: &str =
        "a span such as \"250ms\", \"60s\" or \"1h30m\" (units: ns, us, ms, s, m, h, d, w)";
}

/// Round lengths for bins and the steps of axes, ascending, in nanoseconds: 1, 2 and 5 times a power
/// of ten up to 5 s, then 10, 15 and 30 s, 1, 2, 5, 10, 15 and 30 min, 1, 2, 3, 6 and 12 h.
pub fn round_lengths() -> impl Iterator<Item = u64> {
    const ABOVE: [u64; 14] =
        [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200];
    let decimal = (0..10).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
    decimal.chain(ABOVE.map(|seconds| seconds * SECOND))
}

/// Nanoseconds in a day.
pub const DAY: u64 = 86_400 * SECOND;

/// The units of a span, the largest first, with their nanoseconds.
const UNITS: [(&str, u128); 8] = [
    ("w", 604_800_000_000_000),
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// `number` (digits with at most one point) times `factor`, exactly.
fn decimal(number: &str, factor: u128) -> Result<u128, &'static str> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.contains('.') || number.ends_with('.') {
        return Err("a number is digits, with at most one point between them");
    }
    if whole.len() > 20 || fraction.len() > 15 {
        return Err("the number has too many digits");
    }
    let whole: u128 = whole.parse().map_err(|_| "not a number")?;
    let scale = 10u128.pow(fraction.len() as u32);
    let parts: u128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse::<u128>().map_err(|_| "not a number")? * factor
    };
    if !parts.is_multiple_of(scale) {
        return Err("the number is finer than a nanosecond");
    }
    Ok(whole * factor + parts / scale)
}

impl fmt::Display for Span {
    /// An exact form that [`Span::parse`] takes back: one number in the largest unit that divides
    /// it, but `60s` rather than `1m`, `24h` rather than `1d` and `1.5s` rather than `1500ms`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = u128::from(self.0);
        let reads_well = |unit: &str, factor: u128| match unit {
            "w" => false,
            "d" => nanos >= 3 * factor,
            "m" => nanos > factor,
            _ => true,
        };
        let (unit, factor) = UNITS
            .into_iter()
            .find(|&(unit, factor)| nanos.is_multiple_of(factor) && reads_well(unit, factor))
            .unwrap_or(("ns", 1));
        let tenth_of = UNITS.into_iter().find(|&(upper, size)| {
            matches!(upper, "s" | "ms" | "us") && size == 1000 * factor && nanos > size
        });
        match tenth_of {
            _ if nanos == 0 => formatter.write_str("0s"),
            Some((upper, size)) if nanos.is_multiple_of(size / 10) => {
                write!(formatter, "{}.{}{upper}", nanos / size, nanos % size / (size / 10))
            }
            _ => write!(formatter, "{}{unit}", nanos / factor),
        }
    }
}

impl Add<Span> for Instant {
    type Output = Instant;
    /// Saturates at the end of time.
    fn add(self, span: Span) -> Instant {
        Instant(self.0.saturating_add(span.signed()))
    }
}

impl Sub<Span> for Instant {
    type Output = Instant;
    /// Saturates at the beginning of time.
    fn sub(self, span: Span) -> Instant {
        Instant(self.0.saturating_sub(span.signed()))
    }
}

impl Sub for Instant {
    type Output = Span;
    /// The span from the earlier instant to the later; zero if `earlier` is not earlier.
    fn sub(self, earlier: Instant) -> Span {
        Span(self.0.saturating_sub(earlier.0).max(0) as u64)
    }
}

impl Add<Span> for Reading {
    type Output = Reading;
    /// Saturates at the end of time.
    fn add(self, span: Span) -> Reading {
        Reading(self.0.saturating_add(span.signed()))
    }
}

impl Instant {
    /// The start of the day whose time a bare time of day is: 2026-01-01, UTC.
    pub const MIDNIGHT: Instant = Instant(1_767_225_600_000_000_000);

    /// What a clock without any error shows.
    pub const fn exact(self) -> Reading {
        Reading(self.0)
    }

    /// Parses an RFC 3339 time, or a time of day, which is one of 2026-01-01, UTC.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn parse(text: &str) -> Result<Instant, String> {
        let bare = text.len() >= 5 && text.as_bytes()[2] == b':';
        let stamp = if bare { format!("2026-01-01T{text}Z") } else { text.to_owned() };
        let stamp: jiff::Timestamp = stamp
            .parse()
            .map_err(|_| format!("`{text}` is neither a time of day nor an RFC 3339 time"))?;
        i64::try_from(stamp.as_nanosecond())
            .map(Instant)
            .map_err(|_| format!("`{text}` lies outside the years 1677 to 2262"))
    }

    /// What [`Instant::parse`] takes, for messages.
    pub const GRAMMAR: &str =
        "a time such as \"12:00:00\" (of 2026-01-01, UTC) or \"2026-03-01T08:00:00Z\"";
}

impl fmt::Display for Instant {
    /// RFC 3339 in UTC.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_nanosecond(i128::from(self.0)) {
            Ok(stamp) => stamp.fmt(formatter),
            Err(_) => write!(formatter, "{} ns after 1970", self.0),
        }
    }
}

/// A span of simulated time that an event may fall in: from `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first instant.
    pub start: Instant,
    /// The first instant after it.
    pub end: Instant,
}

impl Window {
    /// No run starts before the year 1700.
    pub const FIRST: Instant = Instant(-8_520_336_000_000_000_000);
    /// No run ends after the start of the year 2200: far enough from the end of 64-bit nanoseconds
    /// that no algorithm's arithmetic meets it.
    pub const LAST: Instant = Instant(7_258_118_400_000_000_000);
    /// No run is longer than 250 years of 365 days: its last bin ends within the longest [`Span`].
    pub const LONGEST: Span = Span::from_secs(250 * 365 * 86_400);

    /// Whether `instant` falls in.
    pub fn contains(&self, instant: Instant) -> bool {
        self.start <= instant && instant < self.end
    }

    /// Its length; [`Span::MAX`] if it is longer than that.
    pub fn span(&self) -> Span {
        self.end - self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bare_time_is_one_of_the_day_that_starts_at_midnight() {
        assert_eq!(Instant::parse("00:00:00"), Ok(Instant::MIDNIGHT));
        assert_eq!(Instant::parse("00:01"), Ok(Instant::MIDNIGHT + Span::from_secs(60)));
    }

    #[test]
    fn a_window_is_half_open_and_its_bounds_are_new_years() {
        let at = |text: &str| Instant::parse(text).unwrap();
        let window = Window { start: at("12:00:00"), end: at("12:03:00") };
        assert!(window.contains(window.start) && !window.contains(window.end));
        assert!(window.contains(at("12:02:59.999999999")));
        assert_eq!(window.span(), Span::from_secs(180));
        assert_eq!(Window::FIRST, at("1700-01-01T00:00:00Z"));
        assert_eq!(Window::LAST, at("2200-01-01T00:00:00Z"));
    }

    #[test]
    fn spans_are_read_exactly() {
        for (text, nanos) in [
            ("250ms", 250_000_000),
            ("60s", 60_000_000_000),
            ("1m", 60_000_000_000),
            ("1.5s", 1_500_000_000),
            ("1h30m", 5_400_000_000_000),
            ("61.000000007s", 61_000_000_007),
            ("0s", 0),
            ("3650d", 315_360_000_000_000_000),
        ] {
            assert_eq!(Span::parse(text).map(Span::nanos), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_span_is_refused_with_its_reason() {
        for (text, reason) in [
            ("10/60", "`/` is not a unit of time"),
            ("100", "`100` has no unit"),
            ("1mo", "`mo` is not a unit of time"),
            ("1 month", "` month` is not a unit of time"),
            ("perr", "`perr` does not start with a number"),
            ("-1s", "a span cannot be negative, as `-1s` is"),
            ("1s1m", "the units of `1s1m` do not go from large to small"),
            ("1.s", "`1.s`: a number is digits, with at most one point between them"),
            ("0.5ns", "`0.5ns`: the number is finer than a nanosecond"),
            ("20000w", "`20000w` is longer than 292 years"),
            ("", "a span is empty"),
            ("1S", "`S` is not a unit of time"),
        ] {
            assert_eq!(Span::parse(text), Err(reason.to_owned()), "{text}");
        }
    }

    #[test]
    fn spans_are_shown_in_the_unit_people_use() {
        for text in ["60s", "1h", "90m", "2m", "1s", "1.5s", "250ms", "3d", "24h", "10ms", "1ns"] {
            let span = Span::parse(text).unwrap();
            assert_eq!(span.to_string(), text);
        }
        assert_eq!(Span::parse("90s").unwrap().to_string(), "90s");
    }

    #[test]
    fn a_bare_time_of_day_is_one_of_the_first_of_january_2026() {
        let noon = Instant::parse("12:00:00").unwrap();
        assert_eq!(noon.to_string(), "2026-01-01T12:00:00Z");
        assert_eq!(Instant::parse("2026-01-01T13:00:00+01:00"), Ok(noon));
        assert_eq!(Instant::parse("12:00"), Ok(noon));
        assert!(Instant::parse("noon").is_err());
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(nanos in 0..=Span::MAX.nanos()) {
            let span = Span::from_nanos(nanos);
            prop_assert_eq!(Span::parse(&span.to_string()), Ok(span));
        }

        #[test]
        fn no_text_makes_the_parsers_panic(text in ".{0,12}") {
            let _ = Span::parse(&text);
            let _ = Instant::parse(&text);
        }
    }
}
