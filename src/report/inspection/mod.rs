//! What is in a log, as a text for a terminal and as JSON.

mod json;
#[cfg(test)]
mod tests;

use super::format::{bytes, count, share, span};
use super::heading::{Fact, fact_lines};
use super::plain::Plain;
use super::words::{listed, printable, wrap};
use crate::inspect::{Figures, KeyFigures, MINUTE, Peak, Resolution, Statuses, WINDOWS};
use crate::log::limited::Handling;
use crate::log::read::{Report, Skipped};
use crate::time::{DAY, SECOND, Span};
use crate::traffic::durations_note;

/// A log with all that is told of it.
pub struct Inspection<'a> {
    /// The files.
    pub reports: &'a [Report],
    /// The figures.
    pub figures: &'a Figures,
    /// What requests are told apart by.
    pub key: String,
    /// What was done about requests out of order, to follow a semicolon.
    pub done: &'static str,
    /// What else must be known of all files together, one sentence each.
    pub more: Vec<String>,
    /// A command that goes on from here.
    pub next: String,
}

/// So many reasons for unusable lines are told of a file.
const MOST_REASONS: usize = 5;

impl Inspection<'_> {
    /// The text for a terminal of so many columns.
    pub fn text(&self, most: usize, styled: bool) -> String {
        let mut lines = fact_lines(&self.facts(), 0, most, styled);
        lines.push(String::new());
        lines.extend(self.peaks().lines(most, styled));
        let keys = &self.figures.keys;
        if keys.keys > 1 {
            lines.push(String::new());
            lines.extend(by_key("busiest keys", &keys.busiest, self.figures).lines(most, styled));
            lines.push(String::new());
            lines.extend(highest(&keys.highest).lines(most, styled));
        }
        lines.push(String::new());
        lines.extend(wrap(&self.threshold(), most));
        // A command stays in one piece, to be copied.
        lines.push(format!("  {}", self.next));
        lines.join("\n")
    }

    fn facts(&self) -> Vec<Fact> {
        let figures = self.figures;
        let mut facts: Vec<Fact> = Vec::new();
        for report in self.reports {
            facts.push(("file", file(report)));
            let reasons = report.skipped.iter().take(MOST_REASONS);
            facts.extend(reasons.map(|skipped| ("unusable", unusable(skipped))));
            let more = report.skipped.get(MOST_REASONS..).unwrap_or_default();
            if !more.is_empty() {
                let lines = more.iter().map(|skipped| skipped.lines).sum();
                let reasons = several(more.len() as u64, "more reason");
                facts.push(("unusable", format!("{} for {reasons}", several(lines, "line"))));
            }
            facts.extend(self.notes(report).map(|note| ("note", printable(&note))));
        }
        let when = match figures.requests {
            1 => format!("at {}", figures.first),
            _ => format!(
                "in {} from {} to {}",
                stretch(figures.nanos()),
                figures.first,
                figures.last
            ),
        };
        let mean = mean(figures).map_or(String::new(), |mean| format!("; {mean}"));
        facts.push(("requests", format!("{} {when}{mean}", count(figures.requests))));
        facts.push(("keys", self.keys()));
        facts.push(("answers", answers(&figures.statuses)));
        facts.extend(refused(figures).map(|text| ("refused", text)));
        let left_out = figures.left_out.iter();
        facts.extend(left_out.map(|(filter, requests)| {
            ("left out", format!("{} by {}", several(*requests, "request"), printable(filter)))
        }));
        if figures.short_lists > 0 {
            let lists = several(figures.short_lists, "forwarded list");
            facts.push(("note", format!("{lists} had fewer hops; the leftmost was taken.")));
        }
        facts.extend(self.more().map(|note| ("note", printable(&note))));
        let taken_off = self.reports.iter().any(|report| report.ends && report.has_durations);
        facts.push(("stamps", stamps(figures.resolution, taken_off)));
        if let Some(silence) = figures.silence {
            let text = format!("{} at most, from {}", stretch(silence.nanos), silence.from);
            facts.push(("silence", text));
        }
        facts
    }

    /// What else must be known of how a file was read, one sentence each.
    fn notes(&self, report: &Report) -> impl Iterator<Item = String> {
        let leap = (report.leap > 0).then(|| {
            format!("{} (:60), taken as the second after.", several(report.leap, "leap second"))
        });
        let own = report.notes.iter().chain(&report.zone_notes).cloned();
        let late = report.order.late_note(self.done);
        let durations = durations_note(report);
        own.chain(late).chain(report.order.step_note()).chain(durations).chain(leap)
    }

    /// What else must be known of all files together, one sentence each.
    fn more(&self) -> impl Iterator<Item = String> {
        let Figures { nameless, lacking, .. } = self.figures;
        let nameless = match nameless {
            0 => None,
            1 => Some("1 key is known by a name that is no IP address.".to_owned()),
            more => {
                Some(format!("{} keys are known by names that are no IP addresses.", count(*more)))
            }
        };
        self.more.iter().chain(lacking).cloned().chain(nameless)
    }

    fn keys(&self) -> String {
        let Figures { requests, keys, .. } = self.figures;
        let by = &self.key;
        let of = |number: u64| match keys.keys {
            1 => format!("1 by {by}"),
            keys => {
                format!("{} by {by}; the busiest has {}", count(keys), percent(number, *requests))
            }
        };
        let [one, hundredth, tenth] = keys.shares;
        let mut text = of(one.requests);
        for (share, part) in [(hundredth, "1 in 100"), (tenth, "1 in 10")] {
            if share.keys > 1 {
                let percent = percent(share.requests, *requests);
                text += &format!(", the busiest {} ({part}) {percent}", count(share.keys));
            }
        }
        text
    }

    fn peaks(&self) -> Plain {
        let mut table = Plain::new(["most requests within", "requests", "up to"]);
        for ((_, name), peak) in WINDOWS.iter().zip(self.figures.peaks) {
            let Peak { requests, at } = peak;
            table.rows.push(vec![(*name).to_owned(), count(requests), at.to_string()]);
        }
        table
    }

    fn threshold(&self) -> String {
        let keys = &self.figures.keys;
        let requests = several(keys.threshold.requests, "request");
        match (keys.keys, keys.threshold.above) {
            (1, _) => format!("There were never more than {requests} in a minute. To try a limit:"),
            (_, 0) => {
                format!("No key ever had more than {requests} in a minute. To try that as a limit:")
            }
            (keys, above) => format!(
                "{} of {} keys had more than {requests} in a minute, once at least. To try that as a limit:",
                count(above),
                count(keys)
            ),
        }
    }
}

/// `access.log: combined, gzip, 2.4 MB; 9,997 of 10,000 lines used`.
fn file(report: &Report) -> String {
    let name = printable(&report.name);
    if let Some(why) = &report.unusable {
        return format!("{name}: not used, since {}", printable(why));
    }
    let kind = report.format.iter().chain(report.compression.iter());
    let kind: Vec<String> =
        kind.map(|kind| (*kind).to_owned()).chain([bytes(report.bytes)]).collect();
    let all = several(report.lines, "line");
    let lines = match report.used == report.lines {
        true => format!("all {all} used"),
        false => format!("{} of {all} used", count(report.used)),
    };
    format!("{name}: {}; {lines}", kind.join(", "))
}

fn unusable(skipped: &Skipped) -> String {
    let Skipped { reason, lines, first, example } = skipped;
    let first =
        if *lines == 1 { "" } else { "the first is " }.to_owned() + &format!("line {first}");
    let example =
        if example.is_empty() { String::new() } else { format!(": {}", printable(example)) };
    format!("{}: {} ({first}{example})", several(*lines, "line"), printable(reason))
}

/// So many nanoseconds, which may be more than a span has.
fn stretch(nanos: u64) -> String {
    match nanos <= Span::MAX.nanos() {
        true => span(Span::from_nanos(nanos)),
        false => format!("{}d", (u128::from(nanos) + u128::from(DAY / 2)) / u128::from(DAY)),
    }
}

/// `1 line`, `2,000 lines`.
fn several(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

fn percent(part: u64, whole: u64) -> String {
    share(part as f64 / whole.max(1) as f64)
}

/// `12.5 a minute`, per the shortest unit in which there is one at least; `None` where no time passes.
fn mean(figures: &Figures) -> Option<String> {
    let nanos = u128::from(figures.nanos());
    if nanos == 0 {
        return None;
    }
    let units = [
        (SECOND, "a second"),
        (60 * SECOND, "a minute"),
        (3600 * SECOND, "an hour"),
        (DAY, "a day"),
    ];
    let tenths =
        |unit: u64| (u128::from(figures.requests) * 10 * u128::from(unit) + nanos / 2) / nanos;
    let (unit, name) = units.into_iter().find(|(unit, _)| tenths(*unit) >= 10).unwrap_or(units[3]);
    let tenths = tenths(unit);
    let whole = u64::try_from(tenths / 10).unwrap_or(u64::MAX);
    Some(format!("{}.{} {name} on average", count(whole), tenths % 10))
}

fn answers(statuses: &Statuses) -> String {
    let classes = (1..).zip(statuses.classes).filter(|(_, number)| *number > 0);
    let mut parts: Vec<String> =
        classes.map(|(class, number)| format!("{class}xx {}", count(number))).collect();
    let more = [("other", statuses.others), ("without a status", statuses.none)];
    let more = more.iter().filter(|(_, number)| *number > 0);
    parts.extend(more.map(|(name, number)| format!("{name} {}", count(*number))));
    parts.join(", ")
}

/// What a limit that was in force has left in the log; `None` if nothing.
fn refused(figures: &Figures) -> Option<String> {
    let limited = figures.limited;
    if limited.refused == 0 {
        return None;
    }
    let (them, are) = match (limited.refused, limited.retries) {
        (1, _) => ("1 request had already been refused".to_owned(), "is"),
        (more, _) => (format!("{} requests had already been refused", count(more)), "are"),
    };
    let retries = match limited.retries {
        0 => "none came back".to_owned(),
        1 => "1 is a retry".to_owned(),
        more => format!("{} are retries", count(more)),
    };
    let handled = match figures.handling {
        Handling::Keep => {
            format!("all {are} counted here; --limited drop-retries leaves retries out")
        }
        Handling::DropRetries => "retries are left out here".to_owned(),
        Handling::Drop => "both are left out here".to_owned(),
    };
    let mut parts = vec![them, retries];
    if limited.unwatched > 0 {
        parts.push(format!("{} could not be watched for retries", count(limited.unwatched)));
    }
    Some(format!("{}; {handled}", listed(&parts)))
}

fn stamps(resolution: Resolution, durations_taken_off: bool) -> String {
    let words = resolution.words();
    match resolution {
        Resolution::Seconds if !durations_taken_off => {
            format!("{words}: the peak over 1 s is that of a second as logged")
        }
        _ => words.to_owned(),
    }
}

/// Keys with their requests and peaks.
fn by_key(head: &str, keys: &[KeyFigures], figures: &Figures) -> Plain {
    let windows = WINDOWS.iter().map(|(_, name)| *name);
    let mut table = Plain::new([head, "requests", "of all"].into_iter().chain(windows));
    for key in keys {
        let mut row = vec![
            printable(&key.name),
            count(key.requests),
            percent(key.requests, figures.requests),
        ];
        row.extend(key.peaks.iter().map(|peak| count(peak.requests)));
        table.rows.push(row);
    }
    table
}

/// Keys with their peaks in a minute and when these were.
fn highest(keys: &[KeyFigures]) -> Plain {
    let mut table = Plain::new(["highest in a minute", WINDOWS[MINUTE].1, "up to", "requests"]);
    for key in keys {
        let Peak { requests, at } = key.peaks[MINUTE];
        let row = vec![printable(&key.name), count(requests), at.to_string(), count(key.requests)];
        table.rows.push(row);
    }
    table
}
