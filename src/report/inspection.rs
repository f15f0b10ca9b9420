//! What is in a log, as a text for a terminal and as JSON.

use serde_json::{Value as Json, json};

use super::format::{bytes, count, share, span};
use super::heading::{Fact, fact_lines};
use super::plain::Plain;
use super::words::{listed, printable, wrap};
use crate::inspect::{Figures, KeyFigures, MINUTE, Peak, Resolution, Statuses, WINDOWS};
use crate::log::limited::Handling;
use crate::params::Choice;
use crate::time::{DAY, SECOND};
use crate::traffic::{Input, Skipped};

/// A log with all that is told of it.
pub struct Inspection<'a> {
    /// The files.
    pub inputs: &'a [Input],
    /// The figures.
    pub figures: &'a Figures,
    /// What requests are told apart by.
    pub key: String,
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
        for input in self.inputs {
            facts.push(("file", file(input)));
            let reasons = input.skipped.iter().take(MOST_REASONS);
            facts.extend(reasons.map(|skipped| ("unusable", unusable(skipped))));
            if let Some(more) = input.skipped.get(MOST_REASONS..).filter(|more| !more.is_empty()) {
                let lines = more.iter().map(|skipped| skipped.lines).sum();
                let reasons = several(more.len() as u64, "more reason");
                facts.push(("unusable", format!("{}: {reasons}", several(lines, "line"))));
            }
            facts.extend(input.notes.iter().map(|note| ("note", printable(note))));
        }
        let when = match figures.requests {
            1 => format!("at {}", figures.first),
            _ => format!("in {} from {} to {}", span(figures.span()), figures.first, figures.last),
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
        facts.push(("stamps", stamps(figures.resolution)));
        if let Some(silence) = figures.silence {
            let text = format!("{} at most, from {}", span(silence.lasts), silence.from);
            facts.push(("silence", text));
        }
        facts
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

    /// The same for programs.
    pub fn json(&self) -> Json {
        let Figures { requests, keys, statuses, limited, handling, .. } = self.figures;
        let figures = self.figures;
        let peaks = |peaks: &[Peak; WINDOWS.len()]| -> Json {
            let windows = WINDOWS.iter().zip(peaks).map(|((window, _), peak)| {
                json!({ "window": window.to_string(), "requests": peak.requests, "at": peak.at.to_string() })
            });
            windows.collect()
        };
        let list = |list: &[KeyFigures]| -> Json {
            let key = |key: &KeyFigures| json!({ "key": key.name, "requests": key.requests, "peaks": peaks(&key.peaks) });
            list.iter().map(key).collect()
        };
        let [busiest, hundredth, tenth] = keys.shares.map(|share| {
            let of_all = share.requests as f64 / (*requests).max(1) as f64;
            json!({ "keys": share.keys, "requests": share.requests, "share": of_all })
        });
        let classes = (1..).zip(statuses.classes);
        let mut answers: serde_json::Map<String, Json> =
            classes.map(|(class, number)| (format!("{class}xx"), json!(number))).collect();
        answers.insert("other".to_owned(), json!(statuses.others));
        answers.insert("none".to_owned(), json!(statuses.none));
        let left_out = figures.left_out.iter();
        let left_out =
            left_out.map(|(filter, requests)| json!({ "filter": filter, "requests": requests }));
        json!({
            "files": self.inputs,
            "requests": requests,
            "first": figures.first.to_string(),
            "last": figures.last.to_string(),
            "span_s": figures.span().as_secs_f64(),
            "resolution": figures.resolution.unit(),
            "longest_silence": figures.silence.map(|silence| {
                json!({ "from": silence.from.to_string(), "lasts_s": silence.lasts.as_secs_f64() })
            }),
            "peaks": peaks(&figures.peaks),
            "statuses": answers,
            "limited": {
                "refused": limited.refused,
                "retries": limited.retries,
                "unwatched": limited.unwatched,
                "handling": handling.name(),
            },
            "left_out": left_out.collect::<Vec<_>>(),
            "short_forwarded_lists": figures.short_lists,
            "key": self.key,
            "keys": keys.keys,
            "busiest_key": busiest,
            "busiest_hundredth": hundredth,
            "busiest_tenth": tenth,
            "busiest": list(&keys.busiest),
            "highest_in_a_minute": list(&keys.highest),
            "threshold": {
                "requests_a_minute": keys.threshold.requests,
                "keys_above": keys.threshold.above,
            },
            "next": self.next,
        })
    }
}

/// `access.log: 2.4 MB; 9,997 of 10,000 lines used`.
fn file(input: &Input) -> String {
    let lines = match input.used == input.lines {
        true => format!("all {} used", several(input.lines, "line")),
        false => format!("{} of {} used", count(input.used), several(input.lines, "line")),
    };
    format!("{}: {}; {lines}", printable(&input.path), bytes(input.bytes))
}

fn unusable(skipped: &Skipped) -> String {
    let Skipped { reason, lines, first, .. } = skipped;
    let first = if *lines == 1 { format!("line {first}") } else { format!("first line {first}") };
    format!("{}: {} ({first})", several(*lines, "line"), printable(reason))
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
    let nanos = u128::from(figures.span().nanos());
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

fn stamps(resolution: Resolution) -> String {
    let words = resolution.words();
    match resolution {
        Resolution::Seconds => {
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

#[cfg(test)]
mod tests {
    use super::super::words::width;
    use super::*;
    use crate::inspect::{KeyTable, Share, Silence, Threshold};
    use crate::log::limited::Count;
    use crate::time::{Instant, Span};

    fn at(second: i64) -> Instant {
        Instant(Instant::MIDNIGHT.0 + second * SECOND as i64)
    }

    fn peaks(requests: [u64; 5]) -> [Peak; 5] {
        requests.map(|requests| Peak { requests, at: at(requests as i64) })
    }

    fn figures() -> Figures {
        let key = |name: &str, requests, of: [u64; 5]| KeyFigures {
            name: name.to_owned(),
            requests,
            peaks: peaks(of),
        };
        let all = [
            key("2001:db8:1234:5678:9abc:def0:1234:5678", 6000, [9, 60, 200, 800, 4000]),
            key("192.0.2.1", 3000, [3, 30, 90, 400, 1000]),
        ];
        Figures {
            requests: 12_345,
            first: at(0),
            last: at(86_400 + 7),
            peaks: peaks([12, 100, 300, 1200, 5000]),
            silence: Some(Silence { from: at(600), lasts: Span::from_secs(3700) }),
            resolution: Resolution::Seconds,
            statuses: Statuses { classes: [0, 12_000, 200, 100, 0], others: 5, none: 40 },
            limited: Count { refused: 90, retries: 70, unwatched: 0 },
            handling: Handling::Keep,
            left_out: vec![("path!=/health".to_owned(), 1440)],
            short_lists: 3,
            keys: KeyTable {
                keys: 250,
                busiest: all.to_vec(),
                highest: all.to_vec(),
                shares: [(1, 6000), (3, 9500), (25, 11_000)]
                    .map(|(keys, requests)| Share { keys, requests }),
                threshold: Threshold { requests: 90, above: 2 },
            },
        }
    }

    fn shown<R>(figures: &Figures, show: impl FnOnce(&Inspection) -> R) -> R {
        let skipped =
            Skipped { reason: "the time is in no known form".to_owned(), lines: 3, first: 17 };
        let input = Input {
            path: "access.log".to_owned(),
            bytes: 2_370_789,
            sha256: "00".to_owned(),
            lines: 13_788,
            used: 13_785,
            skipped: vec![skipped],
            notes: vec!["5 requests stand out of order, by 2s at most.".to_owned()],
        };
        let next = "ratesim replay access.log --limit 90/1m".to_owned();
        show(&Inspection { inputs: &[input], figures, key: "address".to_owned(), next })
    }

    #[test]
    fn a_log_in_80_columns() {
        let text = shown(&figures(), |inspection| inspection.text(80, false));
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_log_as_json() {
        insta::assert_snapshot!(shown(&figures(), |inspection| format!("{:#}", inspection.json())));
    }

    #[test]
    fn one_request_of_one_key_has_no_mean_and_no_list() {
        let mut one = figures();
        one.requests = 1;
        one.last = one.first;
        one.peaks = peaks([1; 5]);
        one.silence = None;
        one.limited = Count { refused: 1, retries: 0, unwatched: 0 };
        one.keys.keys = 1;
        one.keys.shares = [Share { keys: 1, requests: 1 }; 3];
        one.keys.threshold = Threshold { requests: 1, above: 0 };
        insta::assert_snapshot!(shown(&one, |inspection| inspection.text(80, false)));
    }

    #[test]
    fn a_mean_is_told_per_the_shortest_unit_that_has_one() {
        let mean = |requests, seconds| {
            let figures = Figures { requests, last: at(seconds), ..figures() };
            super::mean(&figures).unwrap_or_default()
        };
        assert_eq!(mean(25, 10), "2.5 a second on average");
        // 0.5 a second.
        assert_eq!(mean(5, 10), "30.0 a minute on average");
        assert_eq!(mean(2, 3600), "2.0 an hour on average");
        assert_eq!(mean(2, 4 * 86_400), "0.5 a day on average");
        assert_eq!(mean(2, 0), "");
    }
}
