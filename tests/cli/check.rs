//! `ratesim check`: expectations listed, judged, and found wanting.

use serde_json::Value as Json;

use crate::support::{BOUNDARY, Bench};

/// Expectations of every kind about one run, all of which hold.
const JUDGED: &str = r#"name = "judged"
duration = "30s"

[[limit]]
name = "own"
requests = 5
per = "10s"

[[limit]]
name = "all"
requests = 100
per = "10s"
key = "everything"

[[traffic]]
kind = "burst"
clients = 2
requests = 14

[[algorithm]]
kind = "fixed-window"

[[algorithm]]
kind = "token-bucket"

[[case]]
name = "as it is"

[[case]]
name = "tight"
set.limit.0.requests = 2

[[expect]]
metric = "attempts"
is = 14

[[expect]]
case = "tight"
metric = "accepted"
is = 4

[[expect]]
case = "as it is"
algorithm = "token-bucket"
metric = "rejected"
at-least = 4
at-most = 4.5

[[expect]]
case = "as it is"
key = "client-1"
metric = "accepted"
is = 5

[[expect]]
limit = "all"
key = "everything"
metric = "peak_ratio"
at-most = 0.1

[[expect]]
client = "client-2"
metric = "accepted_share"
at-least = 0.2857142857
"#;

#[test]
fn what_holds_is_listed_and_the_exit_code_is_0() {
    let bench = Bench::with("judged.toml", JUDGED);
    insta::assert_snapshot!(bench.prints(&["check", "judged.toml"]));
    assert_eq!(bench.files().len(), 1, "check writes nothing");
}

#[test]
fn what_fails_is_told_with_expected_found_and_place_and_the_exit_code_is_1() {
    let wrong = JUDGED.replace("metric = \"accepted\"\nis = 4", "metric = \"accepted\"\nis = 5");
    let bench = Bench::with("judged.toml", wrong);
    let outcome = bench.ratesim(&["check", "judged.toml"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (1, ""), "{outcome}");
    insta::assert_snapshot!(outcome.stdout);
    let quiet = bench.ratesim(&["check", "judged.toml", "--quiet"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (1, ""), "{quiet}");
    insta::assert_snapshot!("only_what_fails", quiet.stdout);
}

#[test]
fn every_wrong_number_is_caught() {
    for (right, wrong) in [
        ("is = 14", "is = 13"),
        ("is = 4", "is = 3.999"),
        ("at-least = 4\n", "at-least = 4.01\n"),
        ("at-least = 4\nat-most = 4.5", "at-least = 2\nat-most = 3"),
        ("at-most = 0.1", "at-most = 0.0999"),
        ("at-least = 0.2857142857", "at-least = 0.2858"),
    ] {
        assert_eq!(JUDGED.matches(right).count(), 1, "{right}");
        let bench = Bench::with("judged.toml", JUDGED.replace(right, wrong));
        let outcome = bench.ratesim(&["check", "judged.toml", "-q"]);
        assert_eq!(outcome.code, 1, "{wrong}: {outcome}");
        let number = wrong.rsplit("= ").next().unwrap().trim();
        assert!(outcome.stdout.contains(number), "{wrong}: {outcome}");
    }
}

#[test]
fn quiet_says_nothing_of_what_holds() {
    let bench = Bench::with("judged.toml", JUDGED);
    assert_eq!(bench.prints(&["check", "judged.toml", "--quiet"]), "");
}

#[test]
fn a_key_that_never_came_is_a_failure_not_an_error() {
    let bench = Bench::with("judged.toml", JUDGED.replace("\"client-1\"", "\"client-9\""));
    let outcome = bench.ratesim(&["check", "judged.toml", "--quiet"]);
    assert_eq!(outcome.code, 1, "{outcome}");
    assert!(outcome.stdout.contains("key client-9 accepted = 5: found nothing of the kind"));
}

#[test]
fn judgements_as_json() {
    let wrong = JUDGED.replace("client = \"client-2\"", "client = \"client-3\"");
    let bench = Bench::with("judged.toml", wrong);
    let outcome = bench.ratesim(&["check", "judged.toml", "--json"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (1, ""), "{outcome}");
    let document: Json = serde_json::from_str(&outcome.stdout).unwrap();
    insta::assert_snapshot!(format!("{document:#}"));
    let failed = document.as_array().unwrap().iter().filter(|one| one["holds"] == false);
    assert!(failed.clone().count() == 4 && failed.clone().all(|one| one["found"].is_null()));
}

#[test]
fn folders_are_searched_and_files_taken_as_they_are() {
    let bench = Bench::with("all/b/two.toml", JUDGED)
        .file("all/a.toml", BOUNDARY)
        .file("all/readme.txt", "no scenario")
        .file("apart.toml", BOUNDARY.replace("\"boundary\"", "\"apart\""));
    let printed = bench.prints(&["check", "all", "apart.toml"]);
    let files: Vec<&str> = printed.lines().filter(|line| line.ends_with(".toml")).collect();
    assert_eq!(files, ["all/a.toml", "all/b/two.toml", "apart.toml"]);
    assert!(printed.ends_with("19 of 19 expectations hold, 0 fail\n"), "{printed}");
}

#[test]
fn without_arguments_the_folder_of_scenarios_is_checked() {
    let bench = Bench::with("scenarios/boundary.toml", BOUNDARY);
    let printed = bench.prints(&["check"]);
    assert!(printed.starts_with("scenarios/boundary.toml\n  ok    "), "{printed}");
    let message = Bench::new().refuses(&["check"]);
    assert!(message.contains("`scenarios`"), "{message}");
}

#[test]
fn a_scenario_without_expectations_is_said_to_have_none() {
    let text = BOUNDARY.split("[[expect]]").next().unwrap();
    let bench = Bench::with("plain.toml", text);
    let expected = "plain.toml\n  no expectations\n0 of 0 expectations hold, 0 fail\n";
    assert_eq!(bench.prints(&["check", "plain.toml"]), expected);
}

#[test]
fn a_folder_without_scenarios_is_a_mistake() {
    let message = Bench::with("all/readme.txt", "no scenario").refuses(&["check", "all"]);
    insta::assert_snapshot!(message);
}

#[test]
fn names_that_do_not_exist_are_mistakes_with_a_suggestion() {
    let mut messages = Vec::new();
    for (right, wrong) in [
        ("metric = \"rejected\"", "metric = \"rejekted\""),
        ("metric = \"accepted_share\"", "metric = \"fairness\""),
        ("algorithm = \"token-bucket\"", "algorithm = \"tokenbucket\""),
        ("algorithm = \"token-bucket\"", "algorithm = \"gcra\""),
        ("case = \"tight\"", "case = \"thight\""),
        ("limit = \"all\"", "limit = \"al\""),
        ("is = 14", "is = nan"),
        ("is = 14", "is = \"14\""),
        ("is = 14", ""),
        ("is = 14", "is = 14\nat-least = 3"),
        ("client = \"client-2\"", "client = \"client-2\"\nkey = \"client-2\""),
        ("client = \"client-2\"", "client = \"client-2\"\nlimit = \"own\""),
    ] {
        assert!(JUDGED.contains(right), "{right}");
        let bench = Bench::with("judged.toml", JUDGED.replacen(right, wrong, 1));
        messages.push(format!("### {wrong}\n{}", bench.refuses(&["check", "judged.toml"])));
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn mistakes_in_several_files_are_reported_together() {
    let bench = Bench::with("all/a.toml", BOUNDARY.replace("fixed-window", "fixed-windo"))
        .file("all/b.toml", JUDGED.replace("duration", "durration"))
        .file("all/c.toml", "");
    let message = bench.refuses(&["check", "all"]);
    insta::assert_snapshot!(message);
    let order = ["all/a.toml", "all/b.toml", "all/c.toml"].map(|file| message.find(file).unwrap());
    assert!(order.is_sorted(), "{message}");
}

/// A storm that a brown-out starts and that never ends: clients give up on answers that would come a little
/// later, and ask again.
const STORM: &str = r#"name = "storm"
duration = "60s"
limit = { requests = 100000, per = "1s", key = "everything" }

[clients]
retries = "fixed"
delay = "100ms"
timeout = "1s"

[backend]
slots = 10
service-time = "100ms"
queue = 400

[[backend.brown-out]]
at = "10s"
for = "5s"
slots = 0

[[traffic]]
kind = "steady"
rate = "90/s"
clients = 100

[[algorithm]]
kind = "gcra"
"#;

#[test]
fn expectations_speak_of_closed_loops() {
    let expect = |lines: &str| format!("\n[[expect]]\nalgorithm = \"gcra\"\n{lines}\n");
    // 90 requests a second for a minute. A hundred a second are served; what waits in the queue of 400 when
    // it works again is older than a second when its turn comes.
    let holding: String = [
        "metric = \"requests\"\nis = 5400",
        "metric = \"recovery_s\"\nis = \"never\"",
        "metric = \"recovery_s\"\nat-least = 1000000",
        "metric = \"gave_up\"\nis = 0",
        "metric = \"unfinished\"\nat-least = 1000",
        "metric = \"wasted_work_share\"\nat-least = 0.5\nat-most = 1",
        "metric = \"amplification\"\nat-least = 2",
        "metric = \"time_to_success_p50_s\"\nat-most = 0.2",
        "metric = \"broken_promises\"\nis = 0",
        "metric = \"failed\"\nis = 0",
    ]
    .map(expect)
    .concat();
    let bench = Bench::with("storm.toml", STORM.to_owned() + &holding);
    insta::assert_snapshot!(bench.prints(&["check", "storm.toml"]));
    let calm = STORM.replace("slots = 0", "slots = 9") + &expect("metric = \"recovery_s\"\nis = 0");
    let recovers = Bench::with("calm.toml", calm.clone());
    assert!(recovers.prints(&["check", "calm.toml"]).contains("ok    gcra recovery_s = 0"));
    for (text, wrong) in [
        (calm, "metric = \"recovery_s\"\nis = \"never\""),
        (STORM.to_owned(), "metric = \"recovery_s\"\nat-most = 45"),
        (STORM.to_owned(), "metric = \"unfinished\"\nis = 0"),
    ] {
        let bench = Bench::with("it.toml", text + &expect(wrong));
        let outcome = bench.ratesim(&["check", "it.toml", "--quiet"]);
        assert_eq!(outcome.code, 1, "{wrong}: {outcome}");
    }
}
