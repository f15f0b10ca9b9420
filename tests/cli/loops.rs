//! Closed loops from outside: books that balance in every file, loops that never end, the same draws under
//! every algorithm, and what a user is told of it all.

use std::collections::BTreeMap;

use proptest::prelude::*;
use ratesim::algorithm::ALGORITHMS;
use ratesim::command::run::Options;

use crate::closed;
use crate::generated::{names, number, results, sheet, sum};
use crate::scenarios;
use crate::support::{Bench, Files, Sheet, assert_same, simulated, summary};

fn with_decisions() -> Options {
    Options { decisions: true, threads: 1, ..Options::default() }
}

/// The attempts of a row, by request: when each was made.
fn attempts(decisions: &Sheet, of: &[(&str, &str)]) -> BTreeMap<i64, Vec<(i64, f64)>> {
    let mut found: BTreeMap<i64, Vec<(i64, f64)>> = BTreeMap::new();
    for row in decisions.rows_with(of) {
        let at = row["t_s"].parse().unwrap();
        found.entry(number(row, "request")).or_default().push((number(row, "attempt"), at));
    }
    found
}

fn check_books(files: &Files) -> Result<(), TestCaseError> {
    let [timeline, clients, decisions] =
        ["timeline", "clients", "decisions"].map(|name| sheet(files, name));
    for row in &sheet(files, "summary").rows {
        let of = names(row);
        let n = |column| number(row, column);
        prop_assert_eq!(n("attempts"), n("accepted") + n("rejected") + n("failed") + n("pending"));
        prop_assert_eq!(n("requests"), n("succeeded") + n("gave_up") + n("unfinished"));
        prop_assert!(n("over_limit") <= n("accepted"));
        prop_assert!(n("needless_rejections") <= n("rejected"));
        prop_assert!(n("broken_promises") <= n("rejected"));
        prop_assert!(n("succeeded") + n("turned_away") + n("abandoned") <= n("accepted"));
        // The same by time and by client (there are fewer than are listed).
        let parts = [("offered", "attempts"), ("accepted", "accepted"), ("rejected", "rejected")];
        let more =
            [("over_limit", "over_limit"), ("succeeded", "succeeded"), ("gave_up", "gave_up")];
        for (part, whole) in parts.into_iter().chain(more) {
            prop_assert_eq!(sum(&timeline, &of, part), n(whole), "{}", part);
        }
        for column in ["attempts", "accepted", "rejected", "over_limit"] {
            prop_assert_eq!(sum(&clients, &of, column), n(column), "{}", column);
        }
        // And one by one. Each request is tried once at a time, and in order.
        let requests = attempts(&decisions, &of);
        let made: usize = requests.values().map(Vec::len).sum();
        prop_assert_eq!(made as i64, n("attempts"));
        prop_assert_eq!(made as i64 - requests.len() as i64, sum(&timeline, &of, "retries"));
        prop_assert!(requests.len() as i64 <= n("requests"));
        prop_assert!(requests.keys().all(|request| *request < n("requests")));
        for tries in requests.values() {
            prop_assert!(tries.iter().zip(1..).all(|((attempt, _), n)| *attempt == n), "{tries:?}");
            prop_assert!(tries.is_sorted_by(|one, next| one.1 < next.1), "{tries:?}");
        }
        let decided =
            |what| decisions.rows_with(&[&of[..], &[("decision", what)]].concat()).len() as i64;
        prop_assert_eq!(decided("deny"), n("rejected"));
        prop_assert_eq!(
            decided("admit") + decided("queue"),
            n("accepted") + n("failed") + n("pending")
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_books_of_any_closed_loop_balance_in_every_file(
        open in scenarios::any(),
        closed in closed::closed(),
    ) {
        let text = open + &closed;
        let files = results(&text, with_decisions());
        check_books(&files).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        // Again, several at a time.
        let again = results(&text, Options { threads: 3, ..Options::default() });
        let sheets: Vec<&String> = again.keys().filter(|name| name.ends_with(".csv")).collect();
        prop_assert_eq!(sheets.len(), 5);
        for name in sheets {
            prop_assert!(files[name] == again[name], "{}\n{}", name, text);
        }
    }
}

/// Clients with everything that is drawn: jitter of their own and on top of a header, clocks that are off,
/// jitter of the server, service times.
const DRAWN: &str = r#"
[clients]
rtt = "10ms"
retries = "exponential"
base = "50ms"
jitter = "decorrelated"
attempts = 6
retry-after = "obey-plus-jitter"
clock-spread = "300ms"
timeout = "900ms"
budget = { kind = "share", share = "80%", floor = "5/s" }

[rejection]
form = "date"
jitter = "400ms"

[backend]
slots = 3
service-time = "60ms"
service = "exponential"
queue = 20
reject-cost = "1ms"

[[backend.brown-out]]
at = "8s"
for = "3s"
slots = 1
slow-down = 2
"#;

/// Random traffic of five clients under every algorithm, in two cases, one of them without retries.
fn drawn(order: &[usize]) -> String {
    let tables = order
        .iter()
        .map(|&index| format!("\n[[algorithm]]\nkind = \"{}\"\n", ALGORITHMS[index].name));
    format!(
        "name = \"drawn\"\nduration = \"20s\"\nseed = 3\n\
         [[limit]]\nrequests = 8\nper = \"2s\"\n\
         [[traffic]]\nkind = \"poisson\"\nclients = 5\nrate = \"30/s\"\n\
         [[traffic]]\nkind = \"burst\"\nat = \"9s\"\nrequests = 40\n\
         [[case]]\nname = \"as it is\"\n[[case]]\nname = \"one at a time\"\nset.clients.in-flight = 1\n\
         {DRAWN}{}",
        tables.collect::<String>()
    )
}

#[test]
fn threads_and_the_order_of_algorithms_change_no_byte_of_a_closed_loop() {
    let bench = Bench::with("one.toml", drawn(&[0, 1, 2, 3, 4, 5]))
        .file("other.toml", drawn(&[4, 2, 5, 0, 3, 1]));
    for (file, threads, out) in [
        ("one.toml", "1", "one"),
        ("one.toml", "2", "two"),
        ("one.toml", "64", "many"),
        ("other.toml", "2", "turned"),
    ] {
        bench.prints(&["run", file, "--quiet", "--threads", threads, "--out", out]);
    }
    let files = bench.files_of("one");
    assert!(files.keys().any(|name| name.ends_with(".png")), "charts are compared, too");
    for other in ["two", "many"] {
        assert_same(&files, &bench.files_of(other));
    }
    // All but the name of the file that was run, and the charts and the page, which list algorithms in
    // their order.
    let sheets = |folder: &str| {
        let mut files = bench.files_of(folder);
        files.retain(|name, _| name.ends_with(".csv"));
        files
    };
    let sorted = |files: Files| -> BTreeMap<String, Vec<String>> {
        let lines = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        files.into_iter().map(|(name, bytes)| (name, lines(bytes))).collect()
    };
    assert_eq!(sorted(sheets("one")), sorted(sheets("turned")));
}

/// Every decision of a scenario, by algorithm: when it was made, for which request, and which attempt it is.
fn decided(name: &str, text: &str) -> Vec<Vec<[String; 3]>> {
    let bench = Bench::with("it.toml", text);
    let outcome = bench.ratesim(&["run", "it.toml", "--no-charts", "--decisions", "--quiet"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    let sheet = bench.sheet(&format!("output/{name}/decisions.csv"));
    let of = |kind: &ratesim::algorithm::Kind| {
        let rows = sheet.rows_with(&[("algorithm", kind.name)]);
        rows.iter()
            .map(|row| ["t_s", "request", "attempt"].map(|column| row[column].clone()))
            .collect()
    };
    ALGORITHMS.iter().map(of).collect()
}

#[test]
fn an_attempt_draws_the_same_whatever_the_algorithm() {
    // Nothing passes: what is drawn is all that makes a difference, and none is made.
    for jitter in ["full", "equal", "proportional", "decorrelated"] {
        let text = format!(
            "name = \"same\"\nduration = \"20s\"\nlimit = \"0/s\"\n\
             [clients]\nretries = \"exponential\"\njitter = \"{jitter}\"\nattempts = 5\n\
             [rejection]\nretry-after = \"1s\"\njitter = \"1s\"\n\
             [backend]\nslots = 1\nservice-time = \"1ms\"\nreject-cost = \"2ms\"\n\
             [[traffic]]\nkind = \"poisson\"\nrate = \"5/s\"\nclients = 3\n"
        );
        let all = decided("same", &text);
        assert!(all[0].len() > 400, "{}", all[0].len());
        assert!(all.iter().all(|decisions| *decisions == all[0]), "{jitter}");
        let other = decided("same", &text.replace("name = \"same\"", "name = \"same\"\nseed = 2"));
        assert_ne!(other[0], all[0]);
    }
}

#[test]
fn a_retry_waits_as_long_under_every_algorithm_that_refused_the_attempt_before() {
    // Of the requests that two algorithms refuse at first, at whatever time it is for both.
    let text = "name = \"same\"\nduration = \"20s\"\nlimit = \"3/2s\"\n\
                [clients]\nretries = \"fixed\"\ndelay = \"1s\"\njitter = \"full\"\nattempts = 3\n\
                [[traffic]]\nkind = \"poisson\"\nrate = \"8/s\"\nclients = 3\n";
    let waits = |decisions: &[[String; 3]]| -> BTreeMap<String, f64> {
        let at = |attempt: &str| -> BTreeMap<String, f64> {
            let of = decisions.iter().filter(|decision| decision[2] == attempt);
            of.map(|decision| (decision[1].clone(), decision[0].parse().unwrap())).collect()
        };
        let (first, second) = (at("1"), at("2"));
        second.into_iter().map(|(request, at)| (request.clone(), at - first[&request])).collect()
    };
    let all: Vec<_> = decided("same", text).iter().map(|decisions| waits(decisions)).collect();
    let mut compared = 0;
    for (request, wait) in &all[0] {
        for other in all[1..].iter().filter_map(|waits| waits.get(request)) {
            assert!((wait - other).abs() < 1e-9, "request {request}: {wait} and {other}");
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

/// A naive client under a limit that lets nothing pass: each 10 ms an attempt for 60 s.
const FOR_EVER: &str = "name = \"ever\"\nduration = \"60s\"\nlimit = \"0/s\"\n\
    [clients]\nrtt = \"10ms\"\nretries = \"immediate\"\n\
    [[traffic]]\nkind = \"burst\"\nrequests = 12\n\
    [[traffic]]\nkind = \"burst\"\nat = \"59995ms\"\nrequests = 1\n";

#[test]
fn a_loop_that_never_gives_up_is_cut_off_by_the_end_of_the_run_and_said_to_be() {
    // 12 requests of 6,000 attempts each, and one of a single attempt, whose answer never comes.
    let bench = Bench::with("it.toml", FOR_EVER);
    let printed = bench.prints(&["run", "it.toml", "--no-charts"]);
    let told =
        "every algorithm had 13 requests cut off by the end of the run, 12 of them still retrying";
    assert!(printed.replace("\n  ", " ").contains(told), "{printed}");
    let summary = bench.sheet("output/ever/summary.csv");
    for kind in ALGORITHMS {
        let columns = ["requests", "attempts", "rejected", "succeeded", "gave_up", "unfinished"];
        let expected = ["13", "72001", "72001", "0", "0", "13"];
        assert_eq!(summary.cells(kind.name, columns), expected, "{}", kind.name);
    }
    // Those that end are no news.
    let text =
        FOR_EVER.replace("\"immediate\"", "\"immediate\"\nattempts = 3").replace("59995ms", "1s");
    let printed = Bench::with("it.toml", text).prints(&["run", "it.toml", "--no-charts"]);
    assert!(!printed.contains("cut off"), "{printed}");
}

#[test]
fn a_loop_with_more_attempts_than_allowed_is_a_mistake_and_writes_nothing() {
    // The 12 clients have made 600 attempts after 490 ms; the next comes at 500 ms.
    let text = format!("max-attempts = 600\n{FOR_EVER}");
    let message = Bench::with("it.toml", &text).refuses(&["run", "it.toml"]);
    insta::assert_snapshot!(message);
    assert_eq!(Bench::with("it.toml", &text).refuses(&["check", "it.toml"]), message);
    // One too few for all, and just enough.
    for (most, code) in [(72_000, 2), (72_001, 0)] {
        let bench = Bench::with("it.toml", format!("max-attempts = {most}\n{FOR_EVER}"));
        let outcome = bench.ratesim(&["run", "it.toml", "--no-charts", "--quiet"]);
        assert_eq!(outcome.code, code, "{outcome}");
    }
}

/// Two of ten are let through at once, the others when their Retry-After says so.
const OBEDIENT: &str = "name = \"obey\"\nduration = \"10s\"\nlimit = { requests = 2, per = \"1s\", key = \"everything\" }\n\
    [clients]\nretries = \"fixed\"\ndelay = \"1s\"\nretry-after = \"obey\"\n\
    [[traffic]]\nkind = \"burst\"\nrequests = 10\nclients = 10\n\
    [[algorithm]]\nkind = \"fixed-window\"\n";

#[test]
fn decisions_of_closed_loops_name_request_and_attempt_and_their_size_is_announced() {
    let bench = Bench::with("it.toml", OBEDIENT);
    let outcome = bench.ratesim(&["run", "it.toml", "--no-charts", "--decisions", "--quiet"]);
    // Quiet says nothing of progress, nor of sizes.
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome}");
    let sheet = bench.sheet("output/obey/decisions.csv");
    assert_eq!(sheet.headers()[7..], ["decision", "wait_s", "request", "attempt"]);
    let told: Vec<_> =
        sheet.rows.iter().map(|row| format!("{}.{}", row["request"], row["attempt"])).collect();
    // Eight are told of 1 s, six of them again, and so on.
    let mut expected = Vec::new();
    for attempt in 1..=5 {
        expected.extend((2 * (attempt - 1)..10).map(|request| format!("{request}.{attempt}")));
    }
    assert_eq!(told, expected);
    let outcome = bench.ratesim(&["run", "it.toml", "--no-charts", "--decisions"]);
    let announced = "decisions.csv will take about 900 B if every request is sent once, and up to 90 GB as \
                     clients retry\n";
    assert_eq!(outcome.stderr, announced);
    let capped = OBEDIENT.replace("delay = \"1s\"", "delay = \"1s\"\nattempts = 4");
    let outcome =
        Bench::with("it.toml", capped).ratesim(&["run", "it.toml", "--no-charts", "--decisions"]);
    assert!(outcome.stderr.contains("and up to 3.6 kB as"), "{outcome}");
}

#[test]
fn beside_a_closed_loop_the_decisions_of_an_open_one_name_their_requests_too() {
    let (clients, rest) = OBEDIENT.split_once("[[traffic]]").unwrap();
    let (top, settings) = clients.split_once("[clients]\n").unwrap();
    let set: String = settings.lines().map(|line| format!("set.clients.{line}\n")).collect();
    let cases = format!("[[case]]\nname = \"open\"\n[[case]]\nname = \"closed\"\n{set}");
    let text = format!("{top}[[traffic]]{rest}{cases}");
    let bench = Bench::with("it.toml", text);
    bench.prints(&["run", "it.toml", "--no-charts", "--decisions", "--quiet"]);
    let sheet = bench.sheet("output/obey/decisions.csv");
    let open = sheet.rows_with(&[("case", "open")]);
    let told: Vec<_> =
        open.iter().map(|row| format!("{}.{}", row["request"], row["attempt"])).collect();
    assert_eq!(told, (0..10).map(|request| format!("{request}.1")).collect::<Vec<_>>());
    assert_eq!(sheet.rows_with(&[("case", "closed")]).len(), 30);
}

#[test]
fn a_closed_loop_has_its_bounds_in_the_record() {
    let text = OBEDIENT.replace("delay = \"1s\"", "delay = \"1s\"\nattempts = 4");
    let record = simulated("obey", &text).record("obey");
    let bounds = &record["cases"][0]["bounds"];
    assert_eq!((&bounds["requests"], &bounds["attempts"]), (&10.into(), &40.into()), "{bounds}");
    let open = OBEDIENT.split("[clients]").next().unwrap().to_owned()
        + "[[traffic]]\nkind = \"burst\"\nrequests = 10\n";
    let record = simulated("obey", &open).record("obey");
    assert!(record["cases"][0]["bounds"].get("attempts").is_none());
}

#[test]
fn of_a_wait_of_1_s_900_rounded_down_a_try_is_wasted_and_none_is_rounded_up() {
    // Refused 100 ms into a window of 2 s. A round trip takes 500 ms: back at 1.6 s, or at 2.6 s.
    let text = |rounding: &str| {
        format!(
            "name = \"round\"\nduration = \"10s\"\nlimit = \"1/2s\"\n\
             [rejection]\nrounding = \"{rounding}\"\n\
             [clients]\nrtt = \"500ms\"\nretries = \"immediate\"\nretry-after = \"obey\"\n\
             [[traffic]]\nkind = \"burst\"\nrequests = 1\n\
             [[traffic]]\nkind = \"burst\"\nat = \"100ms\"\nrequests = 1\n\
             [[algorithm]]\nkind = \"fixed-window\"\n"
        )
    };
    let columns = ["attempts", "broken_promises", "time_to_success_max_s"];
    for (rounding, expected) in [("down", ["4", "1", "2.5"]), ("up", ["3", "0", "3"])] {
        let summary = summary("round", &text(rounding));
        assert_eq!(summary.cells("fixed-window", columns), expected, "{rounding}");
    }
}
