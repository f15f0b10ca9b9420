//! `ratesim inspect`: small logs with everything in them that real ones have, and what is told of them.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value as Json;

use crate::support::{Bench, Outcome};

/// A line of the combined format.
fn line(address: &str, time: &str, request: &str, status: u16) -> String {
    format!("{address} - - [17/May/2015:{time} +0000] \"{request}\" {status} 512 \"-\" \"curl\"\n")
}

/// Two clients, one of which was limited and came back, and a scanner.
fn log() -> String {
    let mut log = String::new();
    for second in [1, 1, 1, 3, 9] {
        log +=
            &line("192.0.2.1", &format!("10:00:0{second}"), "GET /users/42?page=2 HTTP/1.1", 200);
    }
    log += &line("2001:db8::7", "10:00:30", "POST /login HTTP/1.1", 429);
    log += &line("2001:0db8::7", "10:00:41", "POST /login HTTP/1.1", 429);
    log += &line("2001:db8::7", "10:01:00", "POST /login HTTP/1.1", 302);
    // Written late.
    log += &line("198.51.100.9", "10:00:50", "\\x16\\x03\\x01", 400);
    log += "not a line of a log\n";
    log += &line("192.0.2.1", "10:61:00", "GET / HTTP/1.1", 200);
    log
}

fn json(bench: &Bench, arguments: &[&str]) -> Json {
    let printed = bench.prints(&[&["inspect", "--json"], arguments].concat());
    serde_json::from_str(&printed).unwrap()
}

/// Runs the program with a text for its standard input.
fn piped(bench: &Bench, arguments: &[&str], text: &[u8]) -> Outcome {
    let mut command = bench.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    child.wait_with_output().unwrap().into()
}

#[cfg(unix)]
#[test]
fn the_standard_input_may_be_a_file_that_is_named_too() {
    let bench = Bench::with("access.log", log());
    for (names, refused) in [
        (&["-", "access.log"][..], "error: `-` and `access.log` are the same file"),
        (&["/dev/stdin", "-"][..], "error: `/dev/stdin` and `-` are the same file"),
        (&["-"][..], ""),
    ] {
        let mut command = bench.command(&[&["inspect", "--quiet"], names].concat());
        command.stdin(std::fs::File::open(bench.path("access.log")).unwrap());
        let outcome = Outcome::from(
            command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap(),
        );
        assert_eq!(outcome.stderr.lines().next().unwrap_or(""), refused, "{names:?}");
    }
}

#[test]
fn a_log_in_80_columns() {
    let printed = Bench::with("access.log", log()).prints(&["inspect", "access.log"]);
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    insta::assert_snapshot!(printed);
}

#[test]
fn figures_are_those_that_were_counted_by_hand() {
    let bench = Bench::with("access.log", log());
    let found = json(&bench, &["access.log"]);
    assert_eq!((&found["requests"], &found["keys"]), (&Json::from(9), &Json::from(3)));
    // From 10:00:01 to 10:01:00.
    assert_eq!(found["span_s"], 59.0);
    let peaks: Vec<u64> = found["peaks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|peak| peak["requests"].as_u64().unwrap())
        .collect();
    // Three in second 1; with 3 and 9 five in ten seconds; all nine within (10:00:00, 10:01:00].
    assert_eq!(peaks, [3, 5, 9, 9, 9]);
    assert_eq!(found["statuses"]["4xx"], 3);
    assert_eq!(found["limited"]["refused"], 2);
    assert_eq!(found["limited"]["retries"], 2);
    // From 10:00:09 to 10:00:30.
    assert_eq!(found["longest_silence"]["lasts_s"], 21.0);
    assert_eq!(found["files"][0]["unusable"].as_array().unwrap().len(), 2);
}

#[test]
fn requests_are_told_apart_and_left_out_as_the_flags_say() {
    let bench = Bench::with("access.log", log());
    let found = json(&bench, &["access.log", "--key", "endpoint", "--where", "status!=400"]);
    assert_eq!(found["busiest"][0]["key"], "GET /users/{id}");
    assert_eq!(found["left_out"][0]["requests"], 1);
    assert_eq!(found["files"][0]["left_out"], 1);
    let found =
        json(&bench, &["access.log", "--where", "key=192.0.*", "--where", "time=10:00:03.."]);
    assert_eq!(found["requests"], 2);
    let found = json(&bench, &["access.log", "--limited", "drop-retries"]);
    assert_eq!(found["requests"], 7);
    let next = found["next"].as_str().unwrap();
    assert_eq!(next, "ratesim replay access.log --limited drop-retries --limit 5/1m");
}

#[test]
fn many_files_are_one_log_whatever_their_order() {
    let text = log();
    let (first, second) = text.split_at(text.find("2001").unwrap());
    let bench =
        Bench::with("access.log", second).file("access.log.1", first).file("whole.log", &text);
    let mut both = json(&bench, &["access.log", "access.log.1"]);
    let mut whole = json(&bench, &["whole.log"]);
    for found in [&mut both, &mut whole] {
        found["files"] = Json::Null;
        found["next"] = Json::Null;
    }
    assert_eq!(both, whole);
}

#[test]
fn a_pipe_is_read_as_a_file_is() {
    let bench = Bench::with("access.log", log());
    let outcome = piped(&bench, &["inspect", "-"], log().as_bytes());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome}");
    let of_file = bench.prints(&["inspect", "access.log"]);
    let rest = |text: &str| {
        text.lines().skip(1).collect::<Vec<_>>().join("\n").replace("replay -", "replay access.log")
    };
    assert_eq!(rest(&outcome.stdout), rest(&of_file));
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bench = Bench::with("access.log", log());
    let script = format!(
        "'{}' inspect access.log | true; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_ratesim")
    );
    let mut command = std::process::Command::new("bash");
    command.args(["-c", &script]).current_dir(bench.path(""));
    let outcome = Outcome::from(command.output().unwrap());
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("0\n", ""));
}

#[test]
fn the_first_bad_line_ends_a_strict_reading() {
    let bench = Bench::with("access.log", log());
    let message = bench.refuses(&["inspect", "access.log", "--strict"]);
    assert!(message.contains("line 10 of `access.log`"), "{message}");
}

#[test]
fn what_cannot_be_inspected_is_refused_with_its_reason() {
    let bench = Bench::with("empty.log", "")
        .file("junk.log", "one\ntwo\nthree\n")
        .file("access.log", log())
        .file("folder/x.log", log());
    let shown: Vec<String> = [
        &["empty.log"][..],
        &["junk.log"],
        &["none.log"],
        &["folder"],
        &["access.log", "./access.log"],
        &["access.log", "--where", "status=302", "--where", "method=GET"],
        &["access.log", "--format", "caddy"],
        &["access.log", "--key", "adress"],
        &["access.log", "--where", "sttus=1"],
        &["access.log", "--tz", "Berlin"],
    ]
    .iter()
    .map(|arguments| {
        let outcome = bench.ratesim(&[&["inspect"], *arguments].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}\n{outcome}");
        format!("$ ratesim inspect {}\n{}", arguments.join(" "), outcome.stderr)
    })
    .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn of_several_files_those_that_can_be_read_are_used_and_the_others_named() {
    let bench = Bench::with("access.log", log()).file("empty.log", "");
    let printed = bench.prints(&["inspect", "empty.log", "access.log"]);
    assert!(printed.contains("empty.log: not used, since `empty.log` is empty"), "{printed}");
    let message = bench.refuses(&["inspect", "empty.log", "access.log", "--strict"]);
    assert!(message.contains("`empty.log` is empty"), "{message}");
}

#[test]
fn a_rotated_set_says_the_same_however_its_files_are_named() {
    let at =
        |second: u32, status| line("192.0.2.1", &format!("10:00:{second:02}"), "GET /", status);
    let other = |second: u32| line("192.0.2.9", &format!("10:00:{second:02}"), "GET /", 200);
    let bench = Bench::with("access.log", at(30, 200) + &other(31) + &other(32))
        .file("access.log.1", at(10, 429) + &at(11, 429) + &other(12));
    let told = |files: [&str; 2]| {
        let mut found = json(&bench, &files);
        ["files", "next"].iter().for_each(|name| found[name] = Json::Null);
        found
    };
    let found = told(["access.log", "access.log.1"]);
    assert_eq!(
        (&found["limited"]["refused"], &found["limited"]["retries"]),
        (&2.into(), &2.into())
    );
    assert_eq!(found["busiest"][0]["key"], "192.0.2.1", "of equals, the first by its address");
    assert_eq!(found, told(["access.log.1", "access.log"]));
}

#[test]
fn quiet_prints_nothing_and_top_says_how_many_keys() {
    let bench = Bench::with("access.log", log());
    assert_eq!(bench.prints(&["inspect", "access.log", "--quiet"]), "");
    let found = json(&bench, &["access.log", "--top", "1", "--quiet"]);
    assert_eq!(found["busiest"].as_array().unwrap().len(), 1);
}
