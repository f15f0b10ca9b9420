//! Times as records write them, in the forms of RFC 3339 and of access logs; read from bytes, exactly,
//! without allocating.

use super::number::{digits_of, value_of};
use crate::time::{Instant, SECOND};

/// A time that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// When. A leap second (`:60`) is the first of the next minute.
    pub at: Instant,
    /// Whether no offset from UTC was given; it is then taken as UTC.
    pub local: bool,
    /// Whether it was a leap second.
    pub leap: bool,
}

/// Why a time cannot be used, for `Skipped::reason`.
pub const NOT_A_TIME: &str = "the time is in no known form";
/// Why a time cannot be used: 31 February, 25 o'clock.
pub const NO_SUCH_TIME: &str = "there is no such date or time of day";
/// Why a time cannot be used: it does not fit an [`Instant`].
pub const OUT_OF_RANGE: &str = "the time lies outside the years 1678 to 2261";

/// Reads `2023-11-16 18:17:03.97`, `2023-11-16T18:17:03Z` and `17/May/2015:10:05:03 +0000`, with or
/// without a fraction (of which nine digits count) and an offset (`Z`, `UTC`, `+08:00`, `+0800`,
/// `+08`).
///
/// # Errors
/// A reason for `Skipped`.
pub fn parse(text: &[u8]) -> Result<Stamp, &'static str> {
    let dated = match text.get(2) {
        Some(b'/') => day_month_year(text),
        _ => year_month_day(text),
    };
    let ((year, month, day), rest) = dated.ok_or(NOT_A_TIME)?;
    let (clock, rest) = clock(rest).ok_or(NOT_A_TIME)?;
    let offset = offset(rest).ok_or(NOT_A_TIME)?;
    let in_calendar = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    let on_clock = clock.hour < 24 && clock.minute < 60 && clock.second <= 60;
    if !in_calendar || !on_clock || offset.is_some_and(|seconds| seconds.abs() >= 86_400) {
        return Err(NO_SUCH_TIME);
    }
    let seconds = days_since_1970(year, month, day) * 86_400
        + i64::from(clock.hour * 3600 + clock.minute * 60 + clock.second)
        - offset.unwrap_or(0);
    let at = seconds
        .checked_mul(SECOND as i64)
        .and_then(|nanos| nanos.checked_add(i64::from(clock.nanos)))
        .ok_or(OUT_OF_RANGE)?;
    Ok(Stamp { at: Instant(at), local: offset.is_none(), leap: clock.second == 60 })
}

type Date = (i64, u32, u32);

/// `17/May/2015:` and what follows.
fn day_month_year(text: &[u8]) -> Option<(Date, &[u8])> {
    let (date, rest) = text.split_at_checked(12)?;
    let [d1, d2, b'/', m1, m2, m3, b'/', y1, y2, y3, y4, b':'] = *date else { return None };
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(&[m1, m2, m3]))?;
    let year = value_of(&[y1, y2, y3, y4])? as i64;
    Some(((year, month as u32 + 1, value_of(&[d1, d2])? as u32), rest))
}

/// `2023-11-16` or `2023/11/16`, the letter or space after it, and what follows.
fn year_month_day(text: &[u8]) -> Option<(Date, &[u8])> {
    let (date, rest) = text.split_at_checked(11)?;
    let [y1, y2, y3, y4, dash, m1, m2, same, d1, d2, b'T' | b't' | b' '] = *date else {
        return None;
    };
    if !matches!(dash, b'-' | b'/') || same != dash {
        return None;
    }
    let year = value_of(&[y1, y2, y3, y4])? as i64;
    Some(((year, value_of(&[m1, m2])? as u32, value_of(&[d1, d2])? as u32), rest))
}

const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

struct Clock {
    hour: u32,
    minute: u32,
    second: u32,
    nanos: u32,
}

/// `18:17:03.97` and what follows.
fn clock(text: &[u8]) -> Option<(Clock, &[u8])> {
    let (time, mut rest) = text.split_at_checked(8)?;
    let [h1, h2, b':', m1, m2, b':', s1, s2] = *time else { return None };
    let mut nanos = 0;
    if let [b'.' | b',', tail @ ..] = rest {
        let (digits, after) = digits_of(tail);
        if digits.is_empty() {
            return None;
        }
        let kept = &digits[..digits.len().min(9)];
        nanos = value_of(kept)? as u32 * 10_u32.pow(9 - kept.len() as u32);
        rest = after;
    }
    let part = |a, b| value_of(&[a, b]).map(|value| value as u32);
    let (hour, minute, second) = (part(h1, h2)?, part(m1, m2)?, part(s1, s2)?);
    Some((Clock { hour, minute, second, nanos }, rest))
}

/// An offset from UTC in seconds that ends the text; `Some(None)` where there is none.
fn offset(text: &[u8]) -> Option<Option<i64>> {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let (sign, digits) = match text {
        [] => return Some(None),
        b"Z" | b"z" | b"UTC" | b"GMT" => return Some(Some(0)),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match *digits {
        [h1, h2] => ([h1, h2], [b'0', b'0']),
        [h1, h2, m1, m2] | [h1, h2, b':', m1, m2] => ([h1, h2], [m1, m2]),
        _ => return None,
    };
    let (hours, minutes) = (value_of(&hours)? as i64, value_of(&minutes)? as i64);
    // An offset with 60 minutes or more is none; a day or more makes it refused as a time.
    (minutes < 60).then_some(Some(sign * (hours * 3600 + minutes * 60)))
}

/// The seconds of `+08:00`, `+0800` or `+08`; `None` for anything else.
pub fn offset_of(text: &[u8]) -> Option<i64> {
    offset(text).flatten().filter(|_| matches!(text, [b'+' | b'-', ..]))
}

fn days_in(year: i64, month: u32) -> u32 {
    let leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap_year => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, for years from 0 up. Counting years
/// from March puts the leap day last (the method of Hinnant's `days_from_civil`).
fn days_since_1970(year: i64, month: u32, day: u32) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // Months from March: 0, 31, 61, 92, … days before each.
    let day_of_year = i64::from((153 * month + 2) / 5 + day - 1);
    365 * year + leap_days + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> Result<String, &'static str> {
        parse(text.as_bytes()).map(|stamp| stamp.at.to_string())
    }

    #[test]
    fn every_form_of_one_instant_is_that_instant() {
        for text in [
            "08/Aug/2016:16:49:16 +0800",
            "08/Aug/2016:08:49:16 +0000",
            "08/Aug/2016:08:49:16",
            "07/aug/2016:22:49:16 -1000",
            "2016-08-08T08:49:16Z",
            "2016-08-08 08:49:16",
            "2016/08/08 08:49:16",
            "2016-08-08 08:49:16 UTC",
            "2016-08-08t10:19:16.000+01:30",
            "2016-08-08T09:49:16+01",
        ] {
            assert_eq!(shown(text).as_deref(), Ok("2016-08-08T08:49:16Z"), "{text}");
        }
    }

    #[test]
    fn fractions_count_to_the_nanosecond_and_are_cut_beyond() {
        assert_eq!(shown("2023-11-16 18:17:03.9799600").unwrap(), "2023-11-16T18:17:03.97996Z");
        assert_eq!(
            shown("2023-11-16T18:17:03,1234567899Z").unwrap(),
            "2023-11-16T18:17:03.123456789Z"
        );
        assert_eq!(shown("2023-11-16T18:17:03.Z"), Err(NOT_A_TIME));
    }

    #[test]
    fn a_leap_second_is_the_first_of_the_next_minute() {
        let stamp = parse(b"31/Dec/2016:23:59:60 +0000").unwrap();
        assert_eq!(stamp.at.to_string(), "2017-01-01T00:00:00Z");
        assert!(stamp.leap && !stamp.local);
    }

    #[test]
    fn what_is_no_time_is_refused_with_its_reason() {
        for (text, reason) in [
            ("31/Feb/2015:10:05:03 +0000", NO_SUCH_TIME),
            ("29/Feb/2015:10:05:03 +0000", NO_SUCH_TIME),
            ("29/Feb/1900:10:05:03 +0000", NO_SUCH_TIME),
            ("00/May/2015:10:05:03 +0000", NO_SUCH_TIME),
            ("2015-13-01T00:00:00Z", NO_SUCH_TIME),
            ("17/May/2015:24:00:00 +0000", NO_SUCH_TIME),
            ("17/May/2015:10:60:00 +0000", NO_SUCH_TIME),
            ("17/May/2015:10:05:61 +0000", NO_SUCH_TIME),
            ("17/May/2015:10:05:03 +2400", NO_SUCH_TIME),
            ("17/May/2015:10:05:03 +0060", NOT_A_TIME),
            ("17/Mai/2015:10:05:03 +0000", NOT_A_TIME),
            ("17/May/2015:10:05 +0000", NOT_A_TIME),
            ("17/May/2015:10:05:03 +000", NOT_A_TIME),
            ("2015-05-17", NOT_A_TIME),
            ("", NOT_A_TIME),
            ("1500-01-01T00:00:00Z", OUT_OF_RANGE),
            ("2300-01-01T00:00:00Z", OUT_OF_RANGE),
        ] {
            assert_eq!(shown(text), Err(reason), "{text}");
        }
        assert!(shown("29/Feb/2000:10:05:03 +0000").is_ok());
    }

    proptest! {
        /// jiff is the reference for the calendar.
        #[test]
        fn all_times_agree_with_the_calendar(
            seconds in -9_223_000_000_i64..9_223_000_000,
            offset in -50_399_i32..50_400,
        ) {
            let offset = offset / 60 * 60;
            let stamp = jiff::Timestamp::from_second(seconds).unwrap();
            let local = jiff::tz::Offset::from_seconds(offset).unwrap().to_datetime(stamp);
            let sign = if offset < 0 { '-' } else { '+' };
            let (hours, minutes) = (offset.abs() / 3600, offset.abs() / 60 % 60);
            let month = std::str::from_utf8(MONTHS[local.month() as usize - 1]).unwrap();
            let (day, year, time) = (local.day(), local.year(), local.time());
            for text in [
                format!("{local}{sign}{hours:02}:{minutes:02}"),
                format!("{day:02}/{month}/{year}:{time} {sign}{hours:02}{minutes:02}"),
            ] {
                let at = parse(text.as_bytes()).map(|stamp| stamp.at);
                prop_assert_eq!(at, Ok(Instant(seconds * SECOND as i64)), "{}", text);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = parse(&text);
        }

        /// Nearly right texts reach deeper than arbitrary bytes.
        #[test]
        fn no_nearly_right_text_makes_it_panic(text in "[0-9]{2}/(Feb|May)/[0-9]{4}:[0-9]{2}:[0-9]{2}:[0-9]{2}(.[0-9]{0,12})? ?[+-]?[0-9:]{0,5}") {
            let _ = parse(text.as_bytes());
        }
    }
}
