//! What is in a log, for programs.

use serde_json::{Value as Json, json};

use super::Inspection;
use crate::inspect::{Figures, KeyFigures, Peak, WINDOWS};
use crate::log::read::Report;
use crate::params::Choice;
use crate::time::SECOND;

impl Inspection<'_> {
    /// All of it.
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
            "files": self.reports.iter().map(|report| self.of_file(report)).collect::<Json>(),
            "requests": requests,
            "first": figures.first.to_string(),
            "last": figures.last.to_string(),
            "span_s": seconds(figures.nanos()),
            "resolution": figures.resolution.unit(),
            "longest_silence": figures.silence.map(|silence| {
                json!({ "from": silence.from.to_string(), "lasts_s": seconds(silence.nanos) })
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
            "notes": self.more().collect::<Vec<_>>(),
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

    fn of_file(&self, report: &Report) -> Json {
        json!({
            "path": report.name,
            "format": report.format,
            "compression": report.compression,
            "bytes": report.bytes,
            "xxh128": report.xxh128,
            "lines": report.lines,
            "used": report.used,
            "left_out": report.passed,
            "unusable": report.skipped,
            "notes": self.notes(report).collect::<Vec<_>>(),
            "not_used": report.unusable,
        })
    }
}

/// Nanoseconds in seconds.
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / SECOND as f64
}
