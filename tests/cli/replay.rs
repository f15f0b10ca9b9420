//! `ratesim replay`: logs against a limit given by flags.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value as Json;

use crate::support::{Bench, Outcome, assert_same};

/// Requests of an address, so many in each of some seconds after 04:34:00.
fn requests(address: &str, each: usize, seconds: std::ops::Range<u32>) -> String {
    let line = |second: u32| {
        format!("{address} - - [04/Oct/2022:04:34:{second:02} +0000] \"GET /a HTTP/1.1\" 200 1\n")
    };
    seconds.map(|second| line(second).repeat(each)).collect()
}

/// A smooth client with 50 requests a second for ten seconds, and one that asks once a second.
fn smooth() -> String {
    requests("192.0.2.1", 50, 0..10) + &requests("192.0.2.2", 1, 10..20)
}

/// The same limit for all of these: 50 a second, 10 at once.
const LIMIT: [&str; 4] = ["--limit", "50/s", "--burst", "10"];

fn replay(arguments: &[&str]) -> Vec<String> {
    let all = ["replay"].iter().chain(arguments).chain(&LIMIT);
    all.map(|argument| (*argument).to_owned()).collect()
}

#[track_caller]
fn prints(bench: &Bench, arguments: &[&str]) -> String {
    let all = replay(arguments);
    bench.prints(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

fn json(bench: &Bench, arguments: &[&str]) -> Json {
    let more = [arguments, &["--json", "--no-charts"]].concat();
    serde_json::from_str(&prints(bench, &more)).unwrap()
}

/// Case and accepted of the token bucket.
fn accepted(found: &Json) -> Vec<(String, u64)> {
    let rows = found["rows"].as_array().unwrap().iter();
    let rows = rows.filter(|row| row["algorithm"] == "token-bucket");
    rows.map(|row| (row["case"].as_str().unwrap().to_owned(), row["accepted"].as_u64().unwrap()))
        .collect()
}

#[test]
fn stamps_of_whole_seconds_are_replayed_both_ways_in_80_columns() {
    let bench = Bench::with("access.log", smooth());
    let printed = prints(&bench, &["access.log", "--no-charts"]);
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    insta::assert_snapshot!(printed);
}

#[test]
fn the_truth_lies_between_500_and_100_of_a_smooth_second() {
    // Spread evenly a token is there for every request; as stamped, ten of each second pass. The other
    // client's ten pass either way.
    let bench = Bench::with("access.log", smooth());
    let found = json(&bench, &["access.log"]);
    assert_eq!(
        accepted(&found),
        [("spread evenly".to_owned(), 510), ("as stamped".to_owned(), 110)]
    );
    let only = |spread: &str| accepted(&json(&bench, &["access.log", "--spread", spread]));
    assert_eq!(only("even"), [(String::new(), 510)]);
    assert_eq!(only("none"), [(String::new(), 110)]);
    let [(_, random)] = only("random")[..] else { panic!("one case") };
    assert!((110..510).contains(&random), "{random}");
}

#[test]
fn where_both_bounds_agree_or_stamps_are_finer_there_is_one_case() {
    let bench = Bench::with("slow.log", requests("192.0.2.2", 1, 0..20)).file(
        "fine.csv",
        "time,ip\n2022-10-04T04:34:49.5Z,192.0.2.1\n2022-10-04T04:34:50Z,192.0.2.1\n",
    );
    for log in ["slow.log", "fine.csv"] {
        let found = json(&bench, &[log, "--name", "it"]);
        assert!(found["rows"].as_array().unwrap().iter().all(|row| row["case"] == ""), "{log}");
        let record = bench.record("it");
        assert_eq!(record["cases"].as_array().unwrap().len(), 1, "{log}");
        assert!(record["cases"][0].get("case").is_none_or(|name| name == ""), "{log}");
    }
}

#[test]
fn a_replay_is_the_run_of_the_scenario_that_it_prints() {
    let bench = Bench::with("logs/access.log", smooth());
    let scenario = prints(&bench, &["logs/access.log", "--print-scenario"]);
    insta::assert_snapshot!(scenario);
    assert!(!bench.path("output").exists());
    prints(&bench, &["logs/access.log", "--quiet"]);
    let bench = bench.file("kept.toml", scenario);
    bench.prints(&["run", "kept.toml", "--quiet", "--out", "run"]);
    let without_record = |folder: &str| {
        let mut files = bench.files_of(folder);
        files.remove("run.json").unwrap();
        files
    };
    let replayed = without_record("output/replay-access");
    assert!(replayed.contains_key("report.html") && replayed.contains_key("keys.csv"));
    assert_same(&replayed, &without_record("run/replay-access"));
}

#[test]
fn the_scenario_printed_has_what_the_flags_say_and_the_cases_that_would_be_run() {
    let fine = "time,ip\n2022-10-04T04:34:49.5Z,192.0.2.1\n2022-10-04T04:34:50Z,192.0.2.1\n";
    let bench = Bench::with("access.log", smooth()).file("fine.csv", fine);
    for (number, flags) in [
        vec!["access.log", "--only", "gcra,token-bucket", "--seed", "7", "--spread", "random"],
        vec!["fine.csv"],
    ]
    .iter()
    .enumerate()
    {
        let name = format!("it-{number}");
        let flags = [&flags[..], &["--name", &name, "--no-charts"]].concat();
        let scenario = prints(&bench, &[&flags[..], &["--print-scenario"]].concat());
        prints(&bench, &[&flags[..], &["--quiet"]].concat());
        std::fs::write(bench.path("kept.toml"), scenario).unwrap();
        bench.prints(&["run", "kept.toml", "--quiet", "--no-charts", "--out", "run"]);
        let summary = |folder: &str| bench.read(&format!("{folder}/{name}/summary.csv"));
        assert_eq!(summary("output"), summary("run"), "{flags:?}");
    }
}

#[test]
fn a_part_of_a_key_that_no_request_has_is_told() {
    let bench = Bench::with("access.log", smooth());
    let told = "No request has `header:x-api-key`: `-` stands for it in every key.";
    let key = ["--key", "header:x-api-key+address"];
    let replayed = prints(&bench, &[&["access.log", "--no-charts"], &key[..]].concat());
    let inspected = bench.prints(&[&["inspect", "access.log"], &key[..]].concat());
    for printed in [replayed, inspected] {
        let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(printed.contains(told), "{printed}");
    }
}

#[test]
fn requests_out_of_order_are_what_order_says() {
    let log = requests("192.0.2.1", 1, 5..9) + &requests("192.0.2.1", 2, 2..3);
    let bench = Bench::with("access.log", log);
    let requests = |order: &str| {
        let printed = bench.prints(&["inspect", "--json", "access.log", "--order", order]);
        let found: Json = serde_json::from_str(&printed).unwrap();
        (found["first"].clone(), found["last"].clone(), found["peaks"][0]["requests"].clone())
    };
    let at = |second: u32| Json::from(format!("2022-10-04T04:34:0{second}Z"));
    assert_eq!(requests("sort"), (at(2), at(8), 2.into()));
    assert_eq!(requests("file"), (at(5), at(8), 3.into()));
    for command in ["inspect", "replay"] {
        let limit: &[&str] = if command == "replay" { &LIMIT } else { &[] };
        let arguments = [&[command, "access.log", "--order", "error"], limit].concat();
        let message = bench.refuses(&arguments);
        assert!(message.contains("line 5") && message.contains("leave `--order` out"), "{message}");
    }
}

#[test]
fn a_zone_may_lie_west_of_greenwich() {
    let bench = Bench::with("it.csv", "time,ip\n2022-10-04 04:34:49.5,192.0.2.1\n");
    let printed = bench.prints(&["inspect", "it.csv", "--tz", "-05:30"]);
    assert!(printed.contains("at 2022-10-04T10:04:49.5Z"), "{printed}");
    assert!(printed.contains("--tz -05:30 --limit"), "{printed}");
}

#[test]
fn who_would_be_hit_is_told_for_each_case_and_algorithm() {
    let bench = Bench::with("access.log", smooth());
    let found = json(&bench, &["access.log", "--only", "token-bucket"]);
    let affected = found["affected"].as_array().unwrap();
    assert_eq!(affected.len(), 2);
    assert_eq!((&affected[0]["keys"], &affected[0]["affected_keys"]), (&2.into(), &0.into()));
    assert_eq!(affected[1]["affected_keys"], 1);
    assert_eq!(affected[1]["affected_requests"], 500);
    assert_eq!(affected[1]["most_affected"][0]["key"], "192.0.2.1");
    assert_eq!(affected[1]["most_affected"][0]["rejected"], 400);
}

#[test]
fn keys_filters_and_costs_are_those_of_the_flags() {
    let csv = "time,ip,user,path,tokens\n\
               2022-10-04T04:34:49.1Z,192.0.2.1,ann,/a,30\n\
               2022-10-04T04:34:49.2Z,192.0.2.2,ann,/a,30\n\
               2022-10-04T04:34:49.3Z,192.0.2.2,bob,/b,30\n\
               2022-10-04T04:34:49.4Z,192.0.2.2,bob,/a,30\n";
    let bench = Bench::with("it.csv", csv);
    let replayed = |flags: &[&str]| {
        let log = [
            "replay",
            "it.csv",
            "--limit",
            "50/s",
            "--only",
            "sliding-window-log",
            "--no-charts",
            "--json",
        ];
        let printed = bench.prints(&[&log, flags].concat());
        let found: Json = serde_json::from_str(&printed).unwrap();
        let row = &found["rows"][0];
        (row["attempts"].as_u64().unwrap(), row["accepted"].as_u64().unwrap())
    };
    assert_eq!(replayed(&[]), (4, 4));
    // 30 and 30 are more than 50 for each of two users; for all of them three are too many.
    assert_eq!(replayed(&["--cost", "tokens", "--key", "user"]), (4, 2));
    assert_eq!(replayed(&["--cost", "tokens", "--key", "everything"]), (4, 1));
    assert_eq!(replayed(&["--cost", "tokens", "--where", "path=/a", "--key", "user"]), (3, 2));
    assert_eq!(replayed(&["--where", "key=192.0.2.2"]), (3, 3));
}

#[test]
fn retries_of_refused_requests_can_be_left_out() {
    let line = |second: u32, status: u32| {
        format!(
            "192.0.2.1 - - [04/Oct/2022:04:34:{second:02} +0000] \"GET /a HTTP/1.1\" {status} 1\n"
        )
    };
    let log: String = [(0, 200), (1, 429), (2, 429), (3, 200), (4, 200)]
        .into_iter()
        .map(|(second, status)| line(second, status))
        .collect();
    let bench = Bench::with("access.log", log);
    let attempts = |limited: &str| {
        json(&bench, &["access.log", "--limited", limited])["rows"][0]["attempts"].as_u64().unwrap()
    };
    assert_eq!(["keep", "drop-retries", "drop"].map(attempts), [5, 3, 2]);
}

#[test]
fn a_pipe_is_replayed_as_a_file_is() {
    let bench = Bench::with("stdin.log", smooth());
    let of_file = prints(&bench, &["stdin.log", "--no-charts"]);
    let all = replay(&["-", "--no-charts"]);
    let mut command = bench.command(&all.iter().map(String::as_str).collect::<Vec<_>>());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(smooth().as_bytes()).unwrap();
    let outcome = Outcome::from(child.wait_with_output().unwrap());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome}");
    let said = outcome.stdout.replace("recorded in -", "recorded in stdin.log");
    assert_eq!(said.replace("note     -:", "note     stdin.log:"), of_file);
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bench = Bench::with("access.log", smooth());
    let program = env!("CARGO_BIN_EXE_ratesim");
    let script = format!(
        "'{program}' replay access.log --limit 9/s --no-charts | true; echo ${{PIPESTATUS[0]}}"
    );
    let mut command = std::process::Command::new("bash");
    command.args(["-c", &script]).current_dir(bench.path(""));
    let outcome = Outcome::from(command.output().unwrap());
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("0\n", ""));
}

#[test]
fn unusable_lines_are_counted_and_told() {
    let bench = Bench::with("access.log", smooth() + "junk\n");
    let printed = prints(&bench, &["access.log", "--no-charts"]);
    assert!(printed.contains("1 line"), "{printed}");
    let all = replay(&["access.log", "--strict"]);
    let message = bench.refuses(&all.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(message.contains("line 511 of `access.log`"), "{message}");
}

#[test]
fn names_folders_and_decisions_are_as_asked() {
    let bench = Bench::with("access.log", smooth());
    let flags =
        ["access.log", "--name", "mine", "--out", "here", "--no-charts", "--decisions", "--quiet"];
    let outcome = bench.ratesim(&replay(&flags).iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, ""), "{outcome}");
    let decisions = bench.read("here/mine/decisions.csv");
    // 510 requests in two cases under six algorithms.
    assert_eq!(decisions.lines().count(), 1 + 510 * 2 * 6);
    assert!(!bench.path("here/mine/charts").exists());
}

#[test]
fn what_cannot_be_replayed_is_refused_with_its_reason() {
    let bench =
        Bench::with("access.log", smooth()).file("empty.log", "").file("junk.log", "one\ntwo\n");
    let shown: Vec<String> = [
        &["access.log"][..],
        &["access.log", "--limit", "10/60"],
        &["access.log", "--limit", "10/0s"],
        &["access.log", "--limit", "10/99999d"],
        &["access.log", "--limit", "9/s", "--only", "gcar"],
        &["access.log", "--limit", "9/s", "--name", "Big"],
        &["access.log", "--limit", "9/s", "--where", "status=500"],
        &["access.log", "access.log", "--limit", "9/s"],
        &["empty.log", "--limit", "9/s"],
        &["junk.log", "--limit", "9/s"],
        &["none.log", "--limit", "9/s"],
        &["access.log", "--limit", "9/s", "--cost", "tokens"],
    ]
    .iter()
    .map(|arguments| {
        let message = bench.refuses(&[&["replay"], *arguments].concat());
        format!("$ ratesim replay {}\n{message}", arguments.join(" "))
    })
    .collect();
    insta::assert_snapshot!(shown.join("\n"));
}
