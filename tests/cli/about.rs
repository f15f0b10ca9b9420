//! What the program tells about itself: lists, a scenario to start from, completions, manual, help.

use serde_json::Value as Json;

use ratesim::algorithm::ALGORITHMS;
use ratesim::client::{BUDGETS, JITTERS, POLICIES, PROFILES};
use ratesim::log::format::FORMATS;
use ratesim::log::key::PARTS;
use ratesim::metrics::METRICS;
use ratesim::traffic::SOURCES;

use crate::support::{BOUNDARY, Bench};

const WHAT: [&str; 10] = [
    "algorithms",
    "traffic",
    "formats",
    "keys",
    "charts",
    "metrics",
    "retries",
    "budgets",
    "profiles",
    "scenarios",
];

#[test]
fn each_list_names_everything_once_as_text_and_as_json() {
    let bench = Bench::with("scenarios/deep/boundary.toml", BOUNDARY);
    for what in WHAT {
        let printed = bench.prints(&["list", what]);
        assert!(printed.lines().all(|line| line.chars().count() <= 80), "{what}: {printed}");
        let document: Json =
            serde_json::from_str(&bench.prints(&["list", what, "--json"])).unwrap();
        let rows = document.as_array().unwrap();
        assert!(!rows.is_empty(), "{what}");
        for row in rows {
            let (name, about) = (row["name"].as_str().unwrap(), row["about"].as_str().unwrap());
            assert!(!about.is_empty(), "{what}: {name}");
            let lines = printed.lines().filter(|line| line.split(' ').next() == Some(name));
            let same = rows.iter().filter(|other| other["name"] == name).count();
            assert_eq!(lines.count(), same, "{what}: {name}\n{printed}");
        }
    }
}

#[test]
fn lists_are_those_of_the_registries() {
    let bench = Bench::new();
    let names = |what: &str| -> Vec<String> {
        let document: Json =
            serde_json::from_str(&bench.prints(&["list", what, "--json"])).unwrap();
        let rows = document.as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("algorithms"), ALGORITHMS.iter().map(|a| a.name).collect::<Vec<_>>());
    assert_eq!(names("traffic"), SOURCES.iter().map(|s| s.name).collect::<Vec<_>>());
    assert_eq!(names("formats"), FORMATS.iter().map(|f| f.name).collect::<Vec<_>>());
    assert_eq!(names("keys"), PARTS.iter().map(|part| part.form).collect::<Vec<_>>());
    let retries = POLICIES.iter().map(|p| p.name).chain(JITTERS.iter().map(|j| j.name));
    assert_eq!(names("retries"), retries.collect::<Vec<_>>());
    assert_eq!(names("budgets"), BUDGETS.iter().map(|b| b.name).collect::<Vec<_>>());
    assert_eq!(names("profiles"), PROFILES.iter().map(|p| p.name).collect::<Vec<_>>());
    let metrics: Vec<_> = METRICS.iter().map(|metric| metric.name).collect();
    assert_eq!(names("metrics")[..metrics.len()], metrics);
}

#[test]
fn the_list_of_algorithms_is_for_reading() {
    insta::assert_snapshot!(Bench::new().prints(&["list", "algorithms"]));
}

#[test]
fn the_lists_about_logs_are_for_reading() {
    let bench = Bench::new();
    let lists = ["formats", "keys"].map(|what| bench.prints(&["list", what]));
    insta::assert_snapshot!(lists.join("\n"));
}

#[test]
fn a_format_shows_what_a_log_of_it_looks_like() {
    let bench = Bench::new();
    for format in FORMATS {
        assert_eq!(
            bench.prints(&["list", "formats", format.name]),
            format!("{}\n", format.example)
        );
    }
    let message = bench.refuses(&["list", "formats", "combind"]);
    assert!(message.contains("unknown format `combind`") && message.contains("`combined`"));
    let message = bench.refuses(&["list", "charts", "waits"]);
    assert!(message.contains("only of scripts and formats"), "{message}");
}

#[test]
fn the_lists_about_clients_are_for_reading() {
    let bench = Bench::new();
    let lists = ["retries", "budgets", "profiles"].map(|what| bench.prints(&["list", what]));
    insta::assert_snapshot!(lists.join("\n"));
}

#[test]
fn scenarios_are_listed_from_the_folder_given() {
    let bench = Bench::with("mine/boundary.toml", BOUNDARY);
    let expected = "mine/boundary.toml  A full quota on each side of a minute edge.\n";
    assert_eq!(bench.prints(&["list", "scenarios", "--folder", "mine"]), expected);
    let message = bench.refuses(&["list", "scenarios", "--folder", "yours"]);
    assert!(message.contains("`yours`"), "{message}");
}

#[test]
fn a_new_scenario_runs_and_holds_as_it_stands() {
    let bench = Bench::new();
    let printed = bench.prints(&["new", "my-api"]);
    assert_eq!(printed, "wrote ./my-api.toml; next: ratesim run ./my-api.toml\n");
    bench.prints(&["run", "my-api.toml", "--no-charts"]);
    bench.prints(&["check", "my-api.toml"]);
    assert!(bench.path("output/my-api/summary.csv").is_file());
    let text = bench.read("my-api.toml");
    assert!(!text.contains("NAME"), "{text}");
}

#[test]
fn new_takes_a_folder_and_never_writes_over_a_file() {
    let bench = Bench::with("mine/it.toml", "precious");
    insta::assert_snapshot!(bench.refuses(&["new", "it", "--folder", "mine"]));
    bench.prints(&["new", "other", "--folder", "mine"]);
    assert!(bench.path("mine/other.toml").is_file());
}

#[test]
fn new_refuses_names_that_cannot_name_a_scenario() {
    let bench = Bench::new();
    for name in ["Big", "a b", "../up", "", "/abs", "a/", "ä", "-x", "a\"b"] {
        let outcome = bench.ratesim(&["new", "--", name]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{name}: {outcome}");
        assert!(outcome.stderr.contains("cannot name a scenario"), "{name}: {outcome}");
    }
    assert!(bench.files().is_empty());
}

#[test]
fn a_folder_that_does_not_exist_is_said_to_be_missing() {
    let outcome = Bench::new().ratesim(&["new", "it", "--folder", "absent"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (3, ""), "{outcome}");
    assert!(outcome.stderr.starts_with("error: cannot create `absent/it.toml`: "), "{outcome}");
}

#[test]
fn completions_for_each_shell_know_commands_and_options() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = Bench::new().prints(&["completions", shell]);
        for word in ["ratesim", "check", "no-charts", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn the_manual_has_a_page_for_the_program_and_for_each_command() {
    let manual = Bench::new().prints(&["man"]);
    assert_eq!(manual.matches("\n.TH ").count(), 11, "{manual}");
    for command in [
        "run",
        "check",
        "inspect",
        "replay",
        "verify",
        "list",
        "new",
        "schema",
        "completions",
        "man",
    ] {
        assert!(manual.contains(&format!(".TH ratesim-{command} 1")), "{command}");
    }
}

#[test]
fn help_tells_every_command_and_option() {
    let bench = Bench::new();
    insta::assert_snapshot!("help", bench.prints(&["--help"]));
    insta::assert_snapshot!("help_of_run", bench.prints(&["run", "--help"]));
    insta::assert_snapshot!("help_of_inspect", bench.prints(&["inspect", "--help"]));
    insta::assert_snapshot!("help_of_replay", bench.prints(&["replay", "--help"]));
    for command in ["check", "verify", "list", "new", "schema", "completions", "man"] {
        let help = bench.prints(&[command, "--help"]);
        assert!(help.contains(&format!("Usage: ratesim {command}")), "{help}");
        assert_eq!(bench.prints(&["help", command]), help);
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let expected = format!("ratesim {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(Bench::new().prints(&["--version"]), expected);
    assert_eq!(Bench::new().prints(&["-V"]), expected);
}

#[test]
fn without_arguments_the_help_is_shown_and_the_exit_code_is_2() {
    let outcome = Bench::new().ratesim(&[]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome}");
    assert!(outcome.stderr.contains("Usage: ratesim"), "{outcome}");
}
