//! What a reader of the results must know of the files that were read.

use super::order::{InOrder, Order};
use super::spread::Spread;
use crate::log::format::Layout;
use crate::log::read::Report;
use crate::log::{TimeUnit, count};
use crate::params::Choice;
use crate::traffic::Input;

/// What is known of all files together, told with the first of them that was used.
pub struct Notes {
    /// What became of requests out of order.
    pub order: Order,
    /// How the requests of a second were spread, if all stamps are whole seconds.
    pub seconds: Option<Spread>,
    /// How they were to be, if that was said.
    pub wanted: Option<Spread>,
    /// How many clients are known by an address that is none.
    pub without_address: u64,
    /// What the kind of source has to say, one sentence each.
    pub more: Vec<String>,
}

impl Notes {
    /// A file that was read, with its notes.
    pub fn input(&mut self, report: Report) -> Input {
        let used = report.used > 0;
        let mut notes = report.notes.clone();
        notes.extend(report.order.late_note(InOrder::done(self.order)));
        notes.extend(report.order.step_note());
        notes.extend(self.spread_note().filter(|_| used));
        notes.extend(durations_note(&report));
        notes.extend(report.zone_notes.iter().cloned());
        if report.leap > 0 {
            let stamps = count(report.leap, "leap second (:60) is", "leap seconds (:60) are");
            notes.push(format!("{stamps} taken as the second after."));
        }
        if used && self.without_address > 0 {
            let clients = count(
                self.without_address,
                "client is known by a name that is no IP address",
                "clients are known by names that are no IP addresses",
            );
            notes.push(format!("{clients}."));
        }
        if used {
            notes.append(&mut self.more);
            (self.seconds, self.wanted, self.without_address) = (None, None, 0);
        }
        Input {
            path: report.name,
            format: report.format.map(str::to_owned),
            compression: report.compression.map(str::to_owned),
            bytes: report.bytes,
            xxh128: report.xxh128,
            lines: report.lines,
            used: report.used,
            skipped: report.skipped,
            unusable: report.unusable,
            notes,
        }
    }

    fn spread_note(&self) -> Option<String> {
        if let Some(spread) = self.seconds {
            return Some(spread_note(spread));
        }
        self.wanted.map(|wanted| {
            let name = wanted.name();
            format!("`spread = \"{name}\"` has no effect: stamps are finer than a second.")
        })
    }
}

/// A sentence on how the requests of a second were spread, where stamps are whole seconds.
pub fn spread_note(spread: Spread) -> String {
    format!(
        "Stamps are whole seconds: the requests of each second {}; another `spread` gives other \
         numbers.",
        spread.done()
    )
}

/// A sentence on durations that were taken off, if they were.
pub fn durations_note(report: &Report) -> Option<String> {
    if !report.ends || !report.has_durations {
        return None;
    }
    let without = match report.without_duration {
        0 => String::new(),
        some => {
            let requests = count(some, "request has", "requests have");
            format!("; {requests} none, and arrived when stamped")
        }
    };
    Some(format!("Arrivals are the stamps less the durations{without}."))
}

/// Formats whose fields something stands between that may be another thing.
const DELIMITED: [&str; 2] = ["csv", "tsv"];
/// Formats in which a time is never a number.
const WRITTEN_TIMES: [&str; 6] = ["combined", "haproxy", "cloudfront", "w3c", "alb", "elb"];
/// Formats in which time and duration have their places.
const PLACED: [&str; 5] = ["combined", "haproxy", "alb", "elb", "squid"];

/// Sentences on settings that say nothing of the formats of any of the files.
pub fn idle_notes(layout: &Layout, reports: &[Report]) -> Vec<String> {
    let formats: Vec<&str> = reports.iter().filter_map(|report| report.format).collect();
    let all_in =
        |names: &[&str]| !formats.is_empty() && formats.iter().all(|format| names.contains(format));
    let none_in = |names: &[&str]| {
        !formats.is_empty() && !formats.iter().any(|format| names.contains(format))
    };
    let settings = [
        ("delimiter", layout.delimiter.is_some() && none_in(&DELIMITED)),
        ("time-unit", layout.time_unit != TimeUnit::Auto && all_in(&WRITTEN_TIMES)),
        ("columns.time", layout.time.is_some() && all_in(&PLACED)),
        ("columns.duration", layout.duration.is_some() && all_in(&PLACED)),
    ];
    let mut formats = formats;
    formats.sort_unstable();
    formats.dedup();
    let idle = settings.iter().filter(|(_, idle)| *idle);
    idle.map(|(name, _)| format!("`{name}` has no effect on {}.", formats.join(" and "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::format::{Column, named};

    #[test]
    fn settings_that_say_nothing_of_the_formats_are_told() {
        let names = DELIMITED.iter().chain(&WRITTEN_TIMES).chain(&PLACED);
        assert!(names.clone().all(|name| named(name).is_some()));
        let column = Some(Column { name: "t".to_owned(), place: None });
        let layout = Layout {
            delimiter: Some(b';'),
            time_unit: TimeUnit::Given(crate::log::Unit::Milliseconds),
            time: column,
            ..Layout::default()
        };
        let told = |formats: &[&'static str]| {
            let report =
                |format: &&'static str| Report { format: Some(format), ..Report::default() };
            idle_notes(&layout, &formats.iter().map(report).collect::<Vec<_>>())
        };
        assert_eq!(
            told(&["combined", "combined"]),
            ["delimiter", "time-unit", "columns.time"]
                .map(|name| format!("`{name}` has no effect on combined."))
        );
        assert_eq!(told(&["combined", "csv"]), Vec::<String>::new());
        assert_eq!(told(&["json"]), ["`delimiter` has no effect on json."]);
        assert_eq!(told(&[]), Vec::<String>::new());
    }
}
