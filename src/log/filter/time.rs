//! Times from one to another: of every day, or of one stretch of the record.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::time::{DAY, Instant, SECOND};

/// What [`Times::parse`] takes, for messages.
pub const GRAMMAR: &str = "from and to with `..` between them, such as 10:00..11:00 (every day), \
                           2015-05-17T10:00:00Z..2015-05-18T10:00:00Z or 2015-05-17..2015-05-19; \
                           either may be left out";

/// Times from the first, included, to the last, not included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Times {
    /// Of every day, in nanoseconds since midnight; over midnight if the first is not the smaller.
    OfDay(u64, u64),
    /// Of the record.
    Stretch(Option<Bound>, Option<Bound>),
}

/// An end of a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// With its offset from UTC.
    Exact(Instant),
    /// As clocks show it.
    Local(DateTime),
}

impl Times {
    /// Parses what [`GRAMMAR`] says.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn parse(text: &str) -> Result<Times, String> {
        let Some((from, to)) = text.split_once("..") else {
            return Err(format!("`{text}` has no `..`; write {GRAMMAR}"));
        };
        let is_of_day = |text: &str| text.as_bytes().get(2) == Some(&b':');
        match (from, to) {
            ("", "") => Err(format!("`..` is any time; write {GRAMMAR}")),
            (from, to) if is_of_day(from) || is_of_day(to) => {
                let (from, to) = (of_day(from, 0)?, of_day(to, DAY)?);
                match from == to {
                    true => Err(format!("`{text}` is no time at all")),
                    false => Ok(Times::OfDay(from, to)),
                }
            }
            (from, to) => {
                let ends = (bound(from)?, bound(to)?);
                let is_empty = match ends {
                    (Some(Bound::Exact(from)), Some(Bound::Exact(to))) => to <= from,
                    (Some(Bound::Local(from)), Some(Bound::Local(to))) => to <= from,
                    _ => false,
                };
                match is_empty {
                    true => Err(format!("`{text}` is no time at all: it ends before it begins")),
                    false => Ok(Times::Stretch(ends.0, ends.1)),
                }
            }
        }
    }

    /// The times by the clocks of a zone.
    ///
    /// # Errors
    /// If a time is none there, or too far from today.
    pub fn within(&self, zone: &TimeZone) -> Result<Selected, String> {
        match *self {
            Times::OfDay(from, to) => {
                Ok(Selected::OfDay { from, to, clock: Clock::of(zone.clone()) })
            }
            Times::Stretch(from, to) => {
                let instant =
                    |bound: Option<Bound>| bound.map(|bound| bound.within(zone)).transpose();
                let from = instant(from)?.unwrap_or(Instant(i64::MIN));
                Ok(Selected::Stretch { from, to: instant(to)? })
            }
        }
    }
}

/// A time of day in nanoseconds since midnight; `default` where there is none.
fn of_day(text: &str, default: u64) -> Result<u64, String> {
    match text {
        "" => Ok(default),
        "24:00" | "24:00:00" => Ok(DAY),
        _ if text.as_bytes().get(2) == Some(&b':') => {
            Instant::parse(text).map(|instant| (instant - Instant::MIDNIGHT).nanos())
        }
        _ => Err(format!("`{text}` is no time of day, as the other end is")),
    }
}

fn bound(text: &str) -> Result<Option<Bound>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let exact = text.parse::<jiff::Timestamp>().ok();
    if let Some(stamp) = exact {
        let nanos = i64::try_from(stamp.as_nanosecond());
        let outside = |_| format!("`{text}` lies outside the years 1677 to 2262");
        return nanos.map(|nanos| Some(Bound::Exact(Instant(nanos)))).map_err(outside);
    }
    let local = text.parse::<DateTime>().ok();
    let local = local.or_else(|| {
        text.parse::<Date>().ok().map(|date| date.to_datetime(jiff::civil::Time::midnight()))
    });
    match local {
        Some(local) => Ok(Some(Bound::Local(local))),
        None => Err(format!("`{text}` is no time; write {GRAMMAR}")),
    }
}

impl Bound {
    fn within(self, zone: &TimeZone) -> Result<Instant, String> {
        match self {
            Bound::Exact(instant) => Ok(instant),
            Bound::Local(local) => {
                let stamp = zone.to_timestamp(local).ok();
                let nanos = stamp.and_then(|stamp| i64::try_from(stamp.as_nanosecond()).ok());
                nanos
                    .map(Instant)
                    .ok_or_else(|| format!("`{local}` lies outside the years 1677 to 2262"))
            }
        }
    }
}

/// Times by the clocks of a zone.
#[derive(Debug, Clone)]
pub enum Selected {
    /// Of every day.
    OfDay {
        /// In nanoseconds since midnight.
        from: u64,
        /// In nanoseconds since midnight.
        to: u64,
        /// The zone's clocks.
        clock: Clock,
    },
    /// Of the record.
    Stretch {
        /// The first instant.
        from: Instant,
        /// The first instant after it, if it ends.
        to: Option<Instant>,
    },
}

impl Selected {
    /// Whether an instant is among them.
    pub fn contains(&mut self, instant: Instant) -> bool {
        match self {
            Selected::Stretch { from, to } => *from <= instant && to.is_none_or(|to| instant < to),
            Selected::OfDay { from, to, clock } => {
                let time = clock.time_of_day(instant);
                match from < to {
                    true => (*from..*to).contains(&time),
                    false => time >= *from || time < *to,
                }
            }
        }
    }
}

/// The clocks of a zone, quick for instants that lie close together.
#[derive(Debug, Clone)]
pub struct Clock {
    zone: TimeZone,
    /// Seconds east of UTC, for instants from the first second, included, to the last, not included.
    offset: i64,
    from: i64,
    to: i64,
}

impl Clock {
    fn of(zone: TimeZone) -> Clock {
        Clock { zone, offset: 0, from: 0, to: 0 }
    }

    /// Nanoseconds since midnight, as the clocks show them.
    fn time_of_day(&mut self, instant: Instant) -> u64 {
        let second = instant.0.div_euclid(SECOND as i64);
        if !(self.from..self.to).contains(&second)
            && let Ok(stamp) = jiff::Timestamp::from_second(second)
        {
            self.offset = i64::from(self.zone.to_offset(stamp).seconds());
            let second_of = |change: jiff::tz::TimeZoneTransition| change.timestamp().as_second();
            // A change at this very second is the start of what holds from here.
            let next = jiff::Timestamp::from_second(second + 1).unwrap_or(stamp);
            self.from = self.zone.preceding(next).next().map_or(i64::MIN, second_of);
            self.to = self.zone.following(stamp).next().map_or(i64::MAX, second_of);
        }
        let local = i128::from(instant.0) + i128::from(self.offset) * i128::from(SECOND);
        local.rem_euclid(i128::from(DAY)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    fn selected(text: &str, zone: &str) -> Selected {
        Times::parse(text).unwrap().within(&TimeZone::get(zone).unwrap()).unwrap()
    }

    #[test]
    fn a_time_of_day_is_that_of_every_day_by_the_clocks_of_the_zone() {
        for (range, zone, instant, inside) in [
            ("10:00..11:00", "UTC", "2015-05-17T10:00:00Z", true),
            ("10:00..11:00", "UTC", "2015-05-18T10:59:59.999999999Z", true),
            ("10:00..11:00", "UTC", "2015-05-17T11:00:00Z", false),
            ("22:00..06:00", "UTC", "2015-05-17T23:00:00Z", true),
            ("22:00..06:00", "UTC", "2015-05-17T05:59:59Z", true),
            ("22:00..06:00", "UTC", "2015-05-17T06:00:00Z", false),
            ("10:00..", "UTC", "2015-05-17T23:59:59Z", true),
            ("..10:00", "UTC", "2015-05-17T10:00:00Z", false),
            // Summer time in Berlin is two hours ahead, winter time one.
            ("10:00..11:00", "Europe/Berlin", "2015-05-17T08:30:00Z", true),
            ("10:00..11:00", "Europe/Berlin", "2015-12-17T08:30:00Z", false),
            ("10:00..11:00", "Europe/Berlin", "2015-12-17T09:30:00Z", true),
            ("00:00..01:00", "Asia/Tokyo", "1969-12-31T15:00:00Z", true),
        ] {
            let found = selected(range, zone).contains(at(instant));
            assert_eq!(found, inside, "{range} {zone} {instant}");
        }
    }

    #[test]
    fn a_stretch_has_two_ends_or_one() {
        for (range, zone, instant, inside) in [
            ("2015-05-17T10:00:00Z..2015-05-17T11:00:00Z", "UTC", "2015-05-17T10:00:00Z", true),
            ("2015-05-17T10:00:00Z..2015-05-17T11:00:00Z", "UTC", "2015-05-17T11:00:00Z", false),
            ("2015-05-17T10:00:00+02:00..", "UTC", "2015-05-17T08:00:00Z", true),
            ("..2015-05-17T10:00:00+02:00", "UTC", "2015-05-17T08:00:00Z", false),
            ("2015-05-17..2015-05-18", "UTC", "2015-05-17T23:59:59Z", true),
            ("2015-05-17..2015-05-18", "Asia/Tokyo", "2015-05-16T15:00:00Z", true),
            ("2015-05-17..2015-05-18", "Asia/Tokyo", "2015-05-17T15:00:00Z", false),
            ("2015-05-17T10:00..", "Asia/Tokyo", "2015-05-17T01:00:00Z", true),
        ] {
            let found = selected(range, zone).contains(at(instant));
            assert_eq!(found, inside, "{range} {zone} {instant}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "10:00",
            "..",
            "10:00..10:00",
            "10:00..2015-05-17",
            "25:00..26:00",
            "yesterday..",
            "2015-02-30..",
            "9999-01-01T00:00:00Z..",
            "..10h",
        ] {
            assert!(Times::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        /// jiff without what is remembered from instant to instant is the reference, across changes of
        /// summer time.
        #[test]
        fn clocks_agree_with_the_zone(seconds in prop::collection::vec(1_420_000_000_i64..1_460_000_000, 1..20)) {
            let zone = TimeZone::get("America/New_York").unwrap();
            let mut clock = Clock::of(zone.clone());
            for second in seconds {
                let stamp = jiff::Timestamp::from_second(second).unwrap();
                let time = zone.to_datetime(stamp).time();
                let expected = (i64::from(time.hour()) * 3600 + i64::from(time.minute()) * 60 + i64::from(time.second())) as u64 * SECOND;
                prop_assert_eq!(clock.time_of_day(Instant(second * SECOND as i64)), expected);
            }
        }
    }
}
