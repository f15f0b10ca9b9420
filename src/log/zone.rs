//! The zone of times that have none. Where clocks were set back, an hour comes twice, and only the records
//! around it tell which of the two is meant; where they were set forward, an hour is missing.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use serde_json::{Value as Json, json};

use super::count;
use crate::error::Problem;
use crate::params::{Node, Setting};
use crate::time::{Instant, SECOND};

/// A time zone.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// Parses the name of a zone of the IANA database, `UTC`, or an offset.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn parse(text: &str) -> Result<Zone, String> {
        let zone = match text.as_bytes() {
            [b'+' | b'-', ..] => {
                let seconds = super::stamp::offset_of(text.as_bytes());
                let seconds = seconds.filter(|seconds| seconds.abs() < 86_400);
                let offset = seconds.and_then(|seconds| Offset::from_seconds(seconds as i32).ok());
                TimeZone::fixed(offset.ok_or_else(|| format!("`{text}` is no offset from UTC"))?)
            }
            _ => TimeZone::get(text).map_err(|_| format!("`{text}` is no known time zone"))?,
        };
        Ok(Zone { name: text.to_owned(), zone })
    }

    /// Its clocks.
    pub fn clocks(&self) -> &TimeZone {
        &self.zone
    }

    /// What [`Zone::parse`] takes, for messages.
    pub const GRAMMAR: &str = "a time zone such as \"Europe/Berlin\", \"UTC\" or \"+08:00\"";
}

impl Zone {
    /// The zone itself.
    pub fn time_zone(&self) -> &TimeZone {
        &self.zone
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

impl Setting for Zone {
    const EXPECTED: &'static str = Zone::GRAMMAR;

    fn read(node: &Node) -> Result<Zone, Problem> {
        let text = String::read(node)?;
        Zone::parse(&text).map_err(|message| {
            Problem::at(&node.place, message).help(format!("write {}", Zone::GRAMMAR))
        })
    }

    fn json(&self) -> Json {
        json!(self.name)
    }

    fn schema() -> Json {
        json!({ "type": "string", "title": Zone::GRAMMAR })
    }
}

/// Why a time cannot be used: the clocks of its zone never showed it.
pub const SKIPPED: &str = "the clocks of its time zone were set forward over this time";

/// So long a stretch is looked at when what was found is kept.
const STRETCH: i64 = 900 * SECOND as i64;

/// Gives the times of one file their zone.
#[derive(Debug)]
pub struct Localiser {
    zone: Option<Zone>,
    /// A stretch of local time over which the offset, in nanoseconds, is the same and no other.
    known: Option<(i64, i64)>,
    /// The last time that was given a zone.
    last: Option<i64>,
    local: u64,
    repeated: u64,
    second: u64,
}

impl Localiser {
    /// Times without a zone are of this one; of UTC if there is none.
    pub fn new(zone: Option<Zone>) -> Localiser {
        Localiser { zone, known: None, last: None, local: 0, repeated: 0, second: 0 }
    }

    /// The instant at which clocks of the zone showed `local`, which is given as if they showed UTC. Of
    /// two, the one nearer to the record before.
    ///
    /// # Errors
    /// [`SKIPPED`].
    #[inline]
    pub fn instant(&mut self, local: Instant) -> Result<Instant, &'static str> {
        self.local += 1;
        if self.zone.is_none() {
            return Ok(local);
        }
        let stretch = local.0.div_euclid(STRETCH);
        let at = match self.known {
            Some((known, offset)) if known == stretch => local.0.saturating_sub(offset),
            _ => self.look_up(local.0, stretch)?,
        };
        self.last = Some(at);
        Ok(Instant(at))
    }

    fn look_up(&mut self, local: i64, stretch: i64) -> Result<i64, &'static str> {
        let at = |offset: Offset| local.saturating_sub(nanos(offset));
        match self.offset(local) {
            AmbiguousOffset::Unambiguous { offset } => {
                let start = stretch.saturating_mul(STRETCH);
                let ends = [start, start.saturating_add(STRETCH - 1)];
                let same = |local: i64| matches!(self.offset(local), AmbiguousOffset::Unambiguous { offset: other } if other == offset);
                if ends.into_iter().all(same) {
                    self.known = Some((stretch, nanos(offset)));
                }
                Ok(at(offset))
            }
            AmbiguousOffset::Gap { .. } => Err(SKIPPED),
            AmbiguousOffset::Fold { before, after } => {
                self.repeated += 1;
                let (first, second) = (at(before), at(after));
                let nearer =
                    self.last.is_some_and(|last| last.abs_diff(second) < last.abs_diff(first));
                self.second += u64::from(nearer);
                Ok(if nearer { second } else { first })
            }
        }
    }

    fn offset(&self, local: i64) -> AmbiguousOffset {
        let shown =
            Timestamp::from_nanosecond(i128::from(local)).map(|at| Offset::UTC.to_datetime(at));
        match (&self.zone, shown) {
            (Some(zone), Ok(shown)) => zone.zone.to_ambiguous_timestamp(shown).offset(),
            _ => AmbiguousOffset::Unambiguous { offset: Offset::UTC },
        }
    }

    /// Sentences on what was assumed.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.local > 0 {
            let stamps =
                count(self.local, "stamp without an offset is", "stamps without an offset are");
            let zone = self.zone.as_ref().map_or("UTC", |zone| &zone.name);
            let taken = if self.zone.is_some() {
                format!("times of {zone}")
            } else {
                format!("taken as {zone}")
            };
            notes.push(format!("{stamps} {taken}."));
        }
        if self.repeated > 0 {
            notes.push(format!(
                "{} in an hour that came twice when clocks were set back; {} taken as of its second time, \
                 being nearer to the line before.",
                count(self.repeated, "stamp falls", "stamps fall"),
                count(self.second, "is", "are"),
            ));
        }
        notes
    }
}

fn nanos(offset: Offset) -> i64 {
    i64::from(offset.seconds()) * SECOND as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Local times of a zone, given as if of UTC, as instants.
    fn instants(zone: &str, locals: &[&str]) -> (Vec<String>, String) {
        let mut localiser = Localiser::new(Some(Zone::parse(zone).unwrap()));
        let shown = locals.iter().map(|local| {
            let local = Instant::parse(&format!("{local}Z")).unwrap();
            localiser.instant(local).map_or_else(str::to_owned, |at| at.to_string())
        });
        (shown.collect(), localiser.notes().join("\n"))
    }

    #[test]
    fn a_time_is_that_of_its_zone() {
        for (zone, at) in [
            ("UTC", "2015-05-17T10:05:03Z"),
            ("+08:00", "2015-05-17T02:05:03Z"),
            ("-0330", "2015-05-17T13:35:03Z"),
            ("Europe/Berlin", "2015-05-17T08:05:03Z"),
            ("America/New_York", "2015-05-17T14:05:03Z"),
        ] {
            assert_eq!(instants(zone, &["2015-05-17T10:05:03"]).0, [at], "{zone}");
        }
        assert_eq!(Zone::parse("+25:00"), Err("`+25:00` is no offset from UTC".to_owned()));
        assert_eq!(
            Zone::parse("Berlin/Europe"),
            Err("`Berlin/Europe` is no known time zone".to_owned())
        );
    }

    #[test]
    fn an_hour_that_came_twice_is_told_apart_by_the_records_around() {
        // On 2023-10-29 clocks in Berlin went from 03:00 back to 02:00, at 01:00 UTC.
        let (shown, notes) = instants(
            "Europe/Berlin",
            &[
                "2023-10-29T01:59:59",
                "2023-10-29T02:00:01",
                "2023-10-29T02:59:58",
                "2023-10-29T02:00:00",
                // Written late, of the first time.
                "2023-10-29T02:59:59",
                "2023-10-29T02:00:02",
                "2023-10-29T02:59:59",
                "2023-10-29T03:00:00",
            ],
        );
        assert_eq!(
            shown[..5],
            [
                "2023-10-28T23:59:59Z",
                "2023-10-29T00:00:01Z",
                "2023-10-29T00:59:58Z",
                "2023-10-29T01:00:00Z",
                "2023-10-29T00:59:59Z",
            ]
        );
        assert_eq!(shown[5], "2023-10-29T01:00:02Z");
        // 57 minutes of silence cannot be told from a line that came late.
        assert_eq!(shown[6..], ["2023-10-29T00:59:59Z", "2023-10-29T02:00:00Z"]);
        assert!(notes.contains("6 stamps fall in an hour that came twice"), "{notes}");
        assert!(notes.contains("2 are taken as of its second time"), "{notes}");
    }

    #[test]
    fn an_hour_that_is_missing_has_no_times() {
        let (shown, notes) = instants(
            "Europe/Berlin",
            &["2023-03-26T01:59:59", "2023-03-26T02:30:00", "2023-03-26T03:00:00"],
        );
        assert_eq!(shown, ["2023-03-26T00:59:59Z", SKIPPED, "2023-03-26T01:00:00Z"]);
        assert_eq!(notes, "3 stamps without an offset are times of Europe/Berlin.");
    }

    proptest! {
        /// What is kept from one time never shows in another.
        #[test]
        fn times_after_one_another_are_as_each_alone(
            seconds in prop::collection::vec(-3_000_000_000_i64..3_000_000_000, 1..20),
            step in 0_i64..4000,
            zone in prop::sample::select(vec!["Europe/Amsterdam", "America/St_Johns", "Australia/Lord_Howe", "+01:30"]),
        ) {
            let zone = Zone::parse(zone).unwrap();
            let mut kept = Localiser::new(Some(zone.clone()));
            for second in seconds.iter().flat_map(|&second| [second, second + step]) {
                let local = Instant(second * SECOND as i64);
                let alone = Localiser::new(Some(zone.clone())).instant(local);
                let found = kept.instant(local);
                if kept.repeated == 0 {
                    prop_assert_eq!(found, alone);
                }
                kept.repeated = 0;
            }
        }
    }
}
