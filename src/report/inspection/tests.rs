//! A log with everything in it, told in full and in little.

use super::super::words::width;
use super::*;
use crate::inspect::{KeyTable, Share, Silence, Threshold};
use crate::log::limited::Count;
use crate::time::Instant;

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
        silence: Some(Silence { from: at(600), nanos: 3700 * SECOND }),
        resolution: Resolution::Seconds,
        statuses: Statuses { classes: [0, 12_000, 200, 100, 0], others: 5, none: 40 },
        limited: Count { refused: 90, retries: 70, unwatched: 0 },
        handling: Handling::Keep,
        left_out: vec![("path!=/health".to_owned(), 1440)],
        short_lists: 3,
        nameless: 2,
        lacking: Some("No request has `user`.".to_owned()),
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

#[test]
fn a_log_may_span_more_than_a_span_has() {
    // 300 years, 72 of them leap years: of the 75 that four divides 1700, 1800 and 1900 are none. 109,572 days.
    let first: Instant = Instant::parse("1700-01-01T00:00:00Z").unwrap();
    let last = Instant::parse("2000-01-01T00:00:00Z").unwrap();
    let silence = Some(Silence { from: first, nanos: 109_572 * DAY });
    let figures = Figures { requests: 2, first, last, silence, ..figures() };
    let text = shown(&figures, |inspection| inspection.text(200, false));
    assert!(text.contains("2 in 109572d from 1700-01-01T00:00:00Z"), "{text}");
    assert!(text.contains("109572d at most, from 1700-01-01"), "{text}");
}

fn shown<R>(figures: &Figures, show: impl FnOnce(&Inspection) -> R) -> R {
    let skipped = Skipped {
        reason: "the time is in no known form".to_owned(),
        lines: 3,
        first: 17,
        example: "192.0.2.1 - - [yesterday] \"GET / HTTP/1.1\" 200".to_owned(),
    };
    let report = Report {
        name: "access.log".to_owned(),
        format: Some("combined"),
        compression: Some("gzip"),
        bytes: 2_370_789,
        xxh128: "00".to_owned(),
        lines: 13_788,
        used: 12_345,
        passed: 1440,
        skipped: vec![skipped],
        notes: vec!["The file grew while it was read.".to_owned()],
        leap: 1,
        ..Report::default()
    };
    let gone = Report {
        name: "gone.log".to_owned(),
        unusable: Some("cannot read `gone.log`: no such file".to_owned()),
        ..Report::default()
    };
    let next = "ratesim replay access.log --limit 90/1m".to_owned();
    let reports = [report, gone];
    let (key, done) = ("address".to_owned(), "each counts at its time");
    let more = vec!["Files are named in another order.".to_owned()];
    show(&Inspection { reports: &reports, figures, key, done, more, next })
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
