//! Recorded traffic through both engines, which find the same numbers.

use std::collections::BTreeSet;

use ratesim::judge::{Distribution, Tally};
use ratesim::log::format::FORMATS;
use ratesim::metrics::Row;
use ratesim::run::{Engine, Options, Prepared, Silent, simulate};
use toml::{Table, Value};

use crate::Target;
use crate::choices::Choices;
use crate::{file, rows};

/// The target.
pub const TARGET: Target = Target { name: "replay", seeds, words: BTreeSet::new, run };

fn run(data: &[u8]) {
    let mut choices = Choices(data);
    let requests = choices.of(&[3, 0, 1, 2, 7, 20]);
    let per = choices.of(&["10s", "1ns", "50ms", "1s", "7.000000003s", "60s", "10m", "2d", "365d"]);
    let burst = choices.of(&["", "burst = 0", "burst = 1", "burst = 5", "burst = 200"]);
    let counts = choices.of(&["", "counts = \"requests\""]);
    let all = [
        "kind = \"fixed-window\"",
        "kind = \"fixed-window\"\nanchor = \"first-request\"",
        "kind = \"sliding-window-log\"",
        "kind = \"sliding-window-log\"\nedge = \"closed\"",
        "kind = \"sliding-window-log\"\nmember = \"stamp\"",
        "kind = \"sliding-window-counter\"",
        "kind = \"sliding-window-counter\"\nround = \"none\"",
        "kind = \"token-bucket\"",
        "kind = \"token-bucket\"\ninitial = 0",
        "kind = \"token-bucket\"\nrefill = \"interval\"",
        "kind = \"leaky-bucket\"",
        "kind = \"leaky-bucket\"\nfirst = \"immediate\"",
        "kind = \"gcra\"",
    ];
    let common = ["", "", "count-rejected = true", "tick = \"10ms\"", "backwards = \"rewind\""];
    let mut text = format!("[limit]\nrequests = {requests}\nper = \"{per}\"\n{burst}\n{counts}\n");
    for index in 0..choices.of(&[0, 1, 2, 3]) {
        let (kind, common) = (choices.of(&all), choices.of(&common));
        text += &format!("[[algorithm]]\n{kind}\n{common}\nname = \"a{index}\"\n");
    }
    let threads = choices.of(&[1, 1, 1, 1, 1, 1, 1, 2]);
    let formats: Vec<&str> = FORMATS.iter().map(|format| format.name).chain(["auto"]).collect();
    let mut traffic = Table::new();
    let mut set = |name: &str, value: &str| {
        if !value.is_empty() {
            traffic.insert(name.to_owned(), Value::from(value));
        }
    };
    set("kind", "log");
    set("format", choices.of(&formats));
    set("spread", choices.of(&["", "none", "even", "random"]));
    set("client", choices.of(&["address", "address/24/48", "user+method", "everything", "path"]));
    set("endpoint", choices.of(&["", "", "path", "method"]));
    set("limited", choices.of(&["", "", "drop", "drop-retries"]));
    set("cost", choices.of(&["", "", "", "bytes", "status"]));
    set("path", &file::with(choices.0).display().to_string());
    let Some(prepared) = rows::ready(traffic, &text) else { return };
    // Only what goes through both is worth the time, which a long run of bins would take.
    if !prepared.is_bulk() || prepared.decisions().1 > 5_000 {
        return;
    }
    let events = findings(&prepared, Engine::Events, 1);
    let bulk = findings(&prepared, Engine::Fastest, threads);
    assert_eq!(bulk.len(), events.len());
    for (bulk, events) in bulk.iter().zip(&events) {
        assert_eq!(bulk.algorithm, events.algorithm);
        same(&bulk.tally, &events.tally, &bulk.algorithm);
    }
}

fn findings(prepared: &Prepared, engine: Engine, threads: usize) -> Vec<Row> {
    let options = Options { threads, engine, ..Options::default() };
    match simulate(prepared, options, &Silent::default()) {
        Ok(findings) => findings.comparison.rows,
        Err(error) => panic!("{}", error.render(false)),
    }
}

fn same(bulk: &Tally, events: &Tally, what: &str) {
    assert_eq!(bulk.books, events.books, "{what}");
    assert_eq!(bulk.over_limit, events.over_limit, "{what}");
    assert_eq!(bulk.needless_rejections, events.needless_rejections, "{what}");
    assert_eq!(bulk.wrong, events.wrong, "{what}");
    assert_eq!(bulk.limits, events.limits, "{what}");
    assert_eq!(bulk.clients, events.clients, "{what}");
    assert_eq!(bulk.timeline, events.timeline, "{what}");
    assert_eq!(described(&bulk.queue_waits), described(&events.queue_waits), "{what}");
    assert_eq!(described(&bulk.denial_waits), described(&events.denial_waits), "{what}");
    assert_eq!(bulk.denied_for_ever, events.denied_for_ever, "{what}");
    assert_eq!(bulk.kept, events.kept, "{what}");
}

/// All that is told of a distribution, in whatever order it was recorded.
fn described(spans: &Distribution) -> impl PartialEq + std::fmt::Debug + use<> {
    let quantiles: Vec<_> = (0..=100).map(|percent| spans.percentile(percent)).collect();
    (spans.count(), spans.mean_secs(), spans.min(), spans.max(), quantiles)
}

fn seeds() -> Vec<Vec<u8>> {
    // How many bytes choose where all algorithms run.
    const HEAD: usize = 12;
    let mut seeds = Vec::new();
    let line = |second: u32, host: u32| {
        format!(
            "192.0.2.{host} - frank [17/May/2015:10:05:{second:02} +0000] \"GET /a?b=c HTTP/1.1\" 200 5 \
             \"-\" \"curl/8.5\"\n"
        )
    };
    let log: String = (0..40).map(|number| line(number / 3, number % 2)).collect();
    for algorithms in 0..13_u8 {
        // One algorithm and its options, then the rest of the choices, which are the first of each.
        let mut head = [0; HEAD + 2];
        head[4] = 1;
        head[5] = algorithms;
        seeds.push([&head[..], log.as_bytes()].concat());
    }
    for (index, format) in FORMATS.iter().enumerate() {
        let mut head = [0; HEAD];
        head[6] = index as u8;
        seeds
            .push([&head[..], format!("{0}\n{0}\n{0}\n{0}\n", format.example).as_bytes()].concat());
    }
    seeds
}
