//! What goes to which stream, and what happens when a stream, a disk or the user gives out.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::support::{BOUNDARY, Bench, Outcome, assert_same, skipped};

/// Runs with whoever reads standard output gone from the start.
fn unread(bench: &Bench, arguments: &[&str]) -> Outcome {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = bench.command(arguments);
    command.stdout(writer).stderr(Stdio::piped());
    command.spawn().unwrap().wait_with_output().unwrap().into()
}

#[test]
fn a_closed_pipe_ends_every_command_in_silence() {
    let bench = Bench::with("boundary.toml", BOUNDARY).file("scenarios/boundary.toml", BOUNDARY);
    let commands: [&[&str]; 11] = [
        &["run", "boundary.toml", "--no-charts"],
        &["run", "boundary.toml", "--no-charts", "--json"],
        &["check", "boundary.toml"],
        &["check", "boundary.toml", "--json"],
        &["list", "metrics"],
        &["list", "metrics", "--json"],
        &["schema"],
        &["schema", "--markdown"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
    ];
    for arguments in commands {
        let outcome = unread(&bench, arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{arguments:?}: {outcome}");
    }
    assert!(bench.path("output/boundary/run.json").is_file(), "results are written all the same");
}

#[test]
fn a_reader_that_stops_after_one_line_ends_the_list_in_silence() {
    let bench = Bench::new();
    let mut child = bench
        .command(&["list", "metrics"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let outcome = Outcome::from(child.wait_with_output().unwrap());
    assert!(line.starts_with("name "), "{line}");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome}");
}

#[test]
fn a_full_disk_is_an_error_with_exit_code_3() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        return skipped("there is no /dev/full here");
    };
    let bench = Bench::with("boundary.toml", BOUNDARY);
    for arguments in [
        &["run", "boundary.toml", "--no-charts"][..],
        &["check", "boundary.toml"],
        &["list", "metrics"],
        &["schema"],
        &["man"],
        &["completions", "fish"],
    ] {
        let mut command = bench.command(arguments);
        let child = command.stdout(full.try_clone().unwrap()).stderr(Stdio::piped()).spawn();
        let outcome = Outcome::from(child.unwrap().wait_with_output().unwrap());
        assert_eq!(outcome.code, 3, "{arguments:?}: {outcome}");
        let message = "error: cannot write to the standard output: ";
        assert!(outcome.stderr.starts_with(message), "{arguments:?}: {outcome}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_with_exit_code_3() {
    // Nobody, not even root, can make a file there.
    if !std::path::Path::new("/proc/self").is_dir() {
        return skipped("there is no /proc here");
    }
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let before = bench.files();
    let outcome = bench.ratesim(&["run", "boundary.toml", "--out", "/proc/results"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (3, ""), "{outcome}");
    let message = "error: cannot write results to `/proc/results/boundary`: ";
    assert!(outcome.stderr.starts_with(message), "{outcome}");
    assert_same(&before, &bench.files());
}

/// Would make twenty billion requests.
const LONG: &str = r#"name = "long"
duration = "20000000s"
max-requests = 20000000000

[limit]
requests = 100
per = "60s"

[[traffic]]
kind = "steady"
rate = "1000/s"
"#;

/// A child that is ended with the test, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Starts a command and waits for the first line that it tells the user.
    fn until_it_tells(bench: &Bench, args: &[&str]) -> (Running, BufReader<ChildStderr>, String) {
        let mut command = bench.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Running(command.spawn().unwrap());
        let mut messages = BufReader::new(child.0.stderr.take().unwrap());
        let mut line = String::new();
        messages.read_line(&mut line).unwrap();
        (child, messages, line)
    }

    /// As Ctrl-C does.
    fn interrupt(&self) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    /// Waits for its end, half a minute at most.
    #[track_caller]
    fn end(&mut self) -> Option<i32> {
        for _ in 0..600 {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            sleep(Duration::from_millis(50));
        }
        panic!("it did not end within half a minute")
    }
}

#[test]
fn a_long_run_tells_how_far_it_is_and_an_interrupt_leaves_nothing_behind() {
    if Command::new("kill").arg("-l").stdout(Stdio::null()).status().is_err() {
        return skipped("there is no `kill` here");
    }
    let bench = Bench::with("long.toml", LONG);
    let before = bench.files();
    let (mut child, mut messages, line) = Running::until_it_tells(&bench, &["run", "long.toml"]);
    // Seven passes: one for each algorithm and one for the reference.
    let (done, rest) = line.strip_prefix("long: ").unwrap().split_once(' ').unwrap();
    assert!((1..140_000_000_000).contains(&done.parse::<u64>().unwrap()), "{line}");
    assert_eq!(rest, "of at most 140000000000 attempts\n");
    assert_ne!(bench.files().len(), before.len(), "results are in the making");
    child.interrupt();
    assert_eq!(child.end(), Some(130));
    let mut rest = String::new();
    messages.read_to_string(&mut rest).unwrap();
    let last = rest.lines().last().unwrap();
    assert_eq!(last, "error: interrupted; nothing was written");
    let mut printed = String::new();
    child.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(printed, "");
    assert_same(&before, &bench.files());
}

/// A thousand requests that are never given up would make fifty billion attempts under each algorithm.
const STORM: &str = r#"name = "long"
duration = "50000s"
limit = "0/s"
max-attempts = 1000000000000

[clients]
profile = "naive-loop"

[[traffic]]
kind = "burst"
requests = 1000
"#;

#[test]
fn a_storm_tells_how_far_it_is_and_an_interrupt_leaves_nothing_behind() {
    if Command::new("kill").arg("-l").stdout(Stdio::null()).status().is_err() {
        return skipped("there is no `kill` here");
    }
    let bench = Bench::with("long.toml", STORM);
    let before = bench.files();
    let (mut child, mut messages, line) = Running::until_it_tells(&bench, &["run", "long.toml"]);
    let percent = line.strip_prefix("long: ").and_then(|line| line.split_once('%')).unwrap();
    assert!(percent.0.parse::<u32>().unwrap() < 100, "{line}");
    assert_eq!(percent.1, " of the simulated time\n");
    child.interrupt();
    assert_eq!(child.end(), Some(130));
    let mut rest = String::new();
    messages.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.lines().last().unwrap(), "error: interrupted; nothing was written");
    assert_same(&before, &bench.files());
}

#[test]
fn an_interrupt_says_which_results_are_kept() {
    if Command::new("kill").arg("-l").stdout(Stdio::null()).status().is_err() {
        return skipped("there is no `kill` here");
    }
    let bench = Bench::with("boundary.toml", BOUNDARY).file("long.toml", LONG);
    let args = ["run", "boundary.toml", "long.toml", "--no-charts"];
    let (mut child, mut messages, mut text) = Running::until_it_tells(&bench, &args);
    assert!(text.starts_with("long: "), "{text}");
    child.interrupt();
    assert_eq!(child.end(), Some(130));
    messages.read_to_string(&mut text).unwrap();
    let last = text.lines().last().unwrap();
    assert_eq!(last, "error: interrupted; kept are the results in `output/boundary/`");
    assert!(bench.path("output/boundary/run.json").is_file());
    assert!(!bench.path("output/long").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_reading_of_a_pipe_through_which_nothing_comes() {
    for tool in ["kill", "mkfifo"] {
        if Command::new(tool).arg("--version").stdout(Stdio::null()).status().is_err() {
            return skipped("there is no `kill` or no `mkfifo` here");
        }
    }
    let bench = Bench::with("x.toml", BOUNDARY);
    let pipe = bench.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = bench.command(&["inspect", "pipe"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Running(command.spawn().unwrap());
    let mut writer = File::options().write(true).open(&pipe).unwrap();
    let line = "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 5\n";
    // More than is read before the format is told, and then no end.
    writer.write_all(line.repeat(10_000).as_bytes()).unwrap();
    sleep(Duration::from_millis(300));
    child.interrupt();
    assert_eq!(child.end(), Some(130));
    let mut told = String::new();
    child.0.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(told.lines().last().unwrap(), "error: interrupted; nothing was written");
    drop(writer);
}

#[test]
fn expectations_that_fail_stand_out_and_those_of_others_are_skipped() {
    let expect = "[[expect]]\nalgorithm = \"gcra\"\nmetric = \"accepted\"\nis = 123456\n";
    let bench = Bench::with("it.toml", format!("{BOUNDARY}\n{expect}"));
    let last = |options: &[&str]| {
        let printed = bench.prints(&[&["run", "it.toml", "--no-charts"], options].concat());
        printed.lines().last().unwrap().to_owned()
    };
    assert!(last(&[]).contains("1 of "), "{}", last(&[]));
    let (words, rest) = ("expectations fails (see ratesim check)", "; wrote output/boundary/");
    assert!(last(&[]).ends_with(&format!("{words}{rest}")));
    let styled = last(&["--color", "always"]);
    assert!(styled.starts_with("\u{1b}[1m\u{1b}[31m1 of "), "{styled:?}");
    assert!(styled.ends_with(&format!("{words}\u{1b}[0m{rest}")), "{styled:?}");
    assert!(!last(&["--only", "fixed-window"]).contains("fail"));
}

#[test]
fn colour_is_for_those_who_want_it() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let wrong = Bench::with("boundary.toml", BOUNDARY.replace("60s\"", "60\""));
    let coloured = |options: &[&str], environment: &[(&str, &str)]| {
        let arguments = [&["run", "boundary.toml", "--no-charts"], options].concat();
        let run = |bench: &Bench| {
            let mut command = bench.command(&arguments);
            Outcome::from(command.envs(environment.iter().copied()).output().unwrap())
        };
        let (table, message) = (run(&bench).stdout, run(&wrong).stderr);
        assert!(table.contains("fixed-window") && message.contains("error"));
        let styled = [table, message].map(|text| text.contains('\u{1b}'));
        assert_eq!(styled[0], styled[1], "{options:?} {environment:?}");
        styled[0]
    };
    assert!(!coloured(&[], &[]), "a pipe is no terminal");
    assert!(coloured(&["--color", "always"], &[]));
    assert!(!coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")]), "what was asked for wins");
}

#[test]
fn colour_changes_nothing_but_how_the_worst_is_marked() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let plain = bench.prints(&["run", "boundary.toml", "--no-charts"]);
    let styled = bench.prints(&["run", "boundary.toml", "--no-charts", "--color", "always"]);
    let mut stripped = String::new();
    for (index, part) in styled.split("\u{1b}[").enumerate() {
        stripped += if index == 0 { part } else { part.split_once('m').unwrap().1 };
    }
    let expected = plain.replace("* worst of its column\n", "").replace('*', " ");
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&stripped), trimmed(&expected));
}
