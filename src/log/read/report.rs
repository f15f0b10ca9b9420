//! What was read of one file: how it was understood, what was used, and what was not and why.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::Serialize;

use super::detect::shortened;
use crate::log::Plain;
use crate::log::entry::Entry;
use crate::log::order::Order;
use crate::time::SECOND;

/// A reason for which lines of a file could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The reason, to follow "12 lines: ".
    pub reason: String,
    /// How many lines.
    pub lines: u64,
    /// The number of the first of them, from 1.
    pub first: u64,
    /// That line, as far as it can be shown.
    pub example: String,
}

/// What was read of a file.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// How the user knows it.
    pub name: String,
    /// The name of its format; `None` if it could not be opened or told.
    pub format: Option<&'static str>,
    /// How it is packed; `None` if it is not.
    pub compression: Option<&'static str>,
    /// How many of its bytes were read.
    pub bytes: u64,
    /// Their digest by XXH3 of 128 bits, in hexadecimal, as `xxh128sum` prints it: it tells files apart that
    /// nobody has forged.
    pub xxh128: String,
    /// Lines or records, headings and blank lines at the end aside.
    pub lines: u64,
    /// Of these, how many became requests.
    pub used: u64,
    /// How many were understood, but not taken.
    pub passed: u64,
    /// Why the others could not be used, most frequent first.
    pub skipped: Vec<Skipped>,
    /// What became of the file, and how its format was understood, one sentence each.
    pub notes: Vec<String>,
    /// What was assumed of times without a zone, one sentence each.
    pub zone_notes: Vec<String>,
    /// How far it is out of order.
    pub order: Order,
    /// How many of the used stamps are no whole seconds, milliseconds, microseconds.
    pub finer_than: [u64; 3],
    /// How many of the used stamps are leap seconds.
    pub leap: u64,
    /// How many of the used entries have no duration.
    pub without_duration: u64,
    /// Whether its entries come with durations.
    pub has_durations: bool,
    /// Whether its stamps are of the ends of requests, where these have durations.
    pub ends: bool,
    /// Why nothing, or nothing more, of it could be used.
    pub unusable: Option<String>,
}

impl Report {
    /// Of a file that could not be used, or not to its end.
    pub(super) fn unused(name: &str, tally: Tally, why: &str) -> Report {
        Report { unusable: Some(why.to_owned()), ..tally.report(name) }
    }
}

/// The counts of a file that is being read.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Entries that were taken.
    pub used: u64,
    /// Entries that were not.
    pub passed: u64,
    order: Order,
    skipped: IndexMap<Cow<'static, str>, Skipped>,
    finer_than: [u64; 3],
    leap: u64,
    without_duration: u64,
}

impl Tally {
    /// An entry was taken.
    #[inline]
    pub fn use_one(&mut self, entry: &Entry, line: u64) {
        self.used += 1;
        self.order.push(entry.stamp.at, line);
        let nanos = entry.stamp.at.0;
        if nanos % SECOND as i64 != 0 {
            self.finer_than[0] += 1;
            self.finer_than[1] += u64::from(nanos % 1_000_000 != 0);
            self.finer_than[2] += u64::from(nanos % 1_000 != 0);
        }
        self.leap += u64::from(entry.stamp.leap);
        self.without_duration += u64::from(entry.took.is_none());
    }

    /// Requests of lines that follow one another, the first of them `line`, were taken.
    pub fn use_plain(&mut self, plain: &[Plain], line: u64) {
        self.used += plain.len() as u64;
        for (line, request) in (line..).zip(plain) {
            self.order.push(request.at(), line);
        }
        self.without_duration += plain.len() as u64;
    }

    /// So many lines, the first of them `first`, cannot be used.
    pub fn skip(&mut self, reason: Cow<'static, str>, first: u64, lines: u64, line: &[u8]) {
        match self.skipped.get_mut(&reason) {
            Some(skipped) => skipped.lines += lines,
            None => {
                let shown = reason.clone().into_owned();
                let skipped = Skipped { reason: shown, lines, first, example: shortened(line) };
                self.skipped.insert(reason, skipped);
            }
        }
    }

    /// The reason for which most lines could not be used, of several the first.
    pub fn commonest(&self) -> Option<&Skipped> {
        self.skipped.values().rev().max_by_key(|skipped| skipped.lines)
    }

    /// The counts as a report.
    pub fn report(self, name: &str) -> Report {
        let mut skipped: Vec<Skipped> = self.skipped.into_values().collect();
        skipped.sort_by_key(|skipped| (std::cmp::Reverse(skipped.lines), skipped.first));
        let unusable: u64 = skipped.iter().map(|skipped| skipped.lines).sum();
        Report {
            name: name.to_owned(),
            lines: self.used + self.passed + unusable,
            used: self.used,
            passed: self.passed,
            skipped,
            order: self.order,
            finer_than: self.finer_than,
            leap: self.leap,
            without_duration: self.without_duration,
            ..Report::default()
        }
    }
}
