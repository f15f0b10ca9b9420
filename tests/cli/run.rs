//! `ratesim run` and its options.

use serde_json::Value as Json;

use crate::support::{BOUNDARY, Bench, Sheet, VARIED};

#[test]
fn the_share_of_decisions_that_differ_from_those_of_a_named_algorithm_is_told() {
    let algorithm = |kind: &str, more: &str| format!("[[algorithm]]\nkind = \"{kind}\"\n{more}");
    let counted = |name: &str| format!("name = \"{name}\"\ncount-rejected = true\n");
    let text = "name = \"it\"\nduration = \"5m\"\nlimit = \"20/60s\"\n\
                [[traffic]]\nkind = \"on-off\"\nrate = \"1/s\"\non = \"20s\"\noff = \"30s\"\n"
        .to_owned()
        + &algorithm("sliding-window-log", "")
        + &algorithm("sliding-window-counter", "")
        + &algorithm("sliding-window-log", &counted("log"))
        + &algorithm("sliding-window-counter", &(counted("counter") + "compared-with = \"log\"\n"));
    let bench = Bench::with("it.toml", text);
    let printed = bench.prints(&["run", "it.toml", "--no-charts"]);
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "decided otherwise: counter than log (same past); others than sliding-window-log (own past)",
        "of all attempts otherwise than log, both with the same past",
        "of all attempts otherwise than sliding-window-log, each with a past of its own",
    ] {
        assert!(printed.contains(told), "{told}:\n{printed}");
    }
    let sheet = bench.sheet("output/it/summary.csv");
    assert_eq!(sheet.headers().last().unwrap(), "wrong_share", "it stands last");
    for algorithm in ["sliding-window-log", "sliding-window-counter", "log", "counter"] {
        let columns = ["wrongly_allowed", "wrongly_limited", "attempts", "wrong_share"];
        let cells = sheet.cells(algorithm, columns).map(|cell| cell.parse::<f64>().unwrap());
        let [allowed, limited, attempts, share] = cells;
        assert_eq!(share, (allowed + limited) / attempts, "{algorithm}");
        assert_eq!(share > 0.0, algorithm != "sliding-window-log", "{algorithm}");
    }
}

#[test]
fn the_table_of_the_boundary_stands_in_80_columns() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let printed = bench.prints(&["run", "boundary.toml", "--no-charts"]);
    insta::assert_snapshot!(printed);
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
}

#[test]
fn the_summary_of_the_boundary_as_a_whole() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    bench.prints(&["run", "boundary.toml", "--no-charts", "--quiet"]);
    insta::assert_snapshot!(bench.read("output/boundary/summary.csv"));
    let sheet = bench.sheet("output/boundary/summary.csv");
    let columns = ["accepted", "over_limit", "peak_window"];
    assert_eq!(sheet.cells("fixed-window", columns), ["200", "100", "200"]);
    assert_eq!(sheet.cells("sliding-window-log", columns), ["100", "0", "100"]);
}

#[test]
fn every_file_of_a_run_is_listed_in_its_record() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    bench.prints(&["run", "boundary.toml"]);
    let files: Vec<String> = bench.files_of("output/boundary").into_keys().collect();
    insta::assert_snapshot!(files.join("\n"));
    let listed: Vec<String> =
        serde_json::from_value(bench.record("boundary")["files"].clone()).unwrap();
    assert_eq!(listed, files);
}

#[test]
fn no_charts_draws_none_and_removes_old_ones() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    bench.prints(&["run", "boundary.toml"]);
    bench.prints(&["run", "boundary.toml", "--no-charts"]);
    let files: Vec<String> = bench.files_of("output/boundary").into_keys().collect();
    let expected =
        ["clients.csv", "keys.csv", "limits.csv", "run.json", "summary.csv", "timeline.csv"];
    assert_eq!(files, expected);
}

#[test]
fn json_instead_of_a_table() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let printed = bench.prints(&["run", "boundary.toml", "--no-charts", "--json"]);
    insta::assert_snapshot!(printed);
    let document: Json = serde_json::from_str(&printed).unwrap();
    let sheet = bench.sheet("output/boundary/summary.csv");
    for row in document["rows"].as_array().unwrap() {
        let algorithm = row["algorithm"].as_str().unwrap();
        assert_eq!(row["accepted"].to_string(), sheet.of(algorithm, "accepted"));
    }
}

#[test]
fn json_of_several_scenarios_is_one_list() {
    let bench = Bench::with("boundary.toml", BOUNDARY).file("varied.toml", VARIED);
    let arguments = ["run", "boundary.toml", "varied.toml", "--no-charts", "--json"];
    let document: Json = serde_json::from_str(&bench.prints(&arguments)).unwrap();
    let names: Vec<&str> =
        document.as_array().unwrap().iter().filter_map(|one| one["scenario"].as_str()).collect();
    assert_eq!(names, ["boundary", "varied"]);
}

#[test]
fn quiet_writes_and_says_nothing() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    for arguments in [["--quiet", "--no-charts"], ["-q", "--decisions"]] {
        let arguments = [&["run", "boundary.toml"][..], &arguments].concat();
        assert_eq!(bench.prints(&arguments), "");
        assert!(bench.path("output/boundary/summary.csv").is_file());
    }
}

#[test]
fn only_runs_the_algorithms_named() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    for arguments in
        [&["--only", "gcra,fixed-window"][..], &["--only", "gcra", "--only", "fixed-window"]]
    {
        bench.prints(&[&["run", "boundary.toml", "--no-charts"][..], arguments].concat());
        let sheet = bench.sheet("output/boundary/summary.csv");
        assert_eq!(sheet.column("accepted"), ["fixed-window 200", "gcra 103"]);
    }
}

#[test]
fn only_takes_the_names_that_the_scenario_gives() {
    let text = format!("{BOUNDARY}[[algorithm]]\nkind = \"fixed-window\"\n")
        + "[[algorithm]]\nkind = \"fixed-window\"\nname = \"first\"\nanchor = \"first-request\"\n";
    let bench = Bench::with("boundary.toml", text);
    bench.prints(&["run", "boundary.toml", "--no-charts", "--only", "first"]);
    let sheet = bench.sheet("output/boundary/summary.csv");
    assert_eq!(sheet.column("accepted"), ["first 100"]);
}

#[test]
fn an_unknown_name_after_only_is_refused_with_a_suggestion() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    insta::assert_snapshot!(bench.refuses(&[
        "run",
        "boundary.toml",
        "--only",
        "gcra,token-bukket"
    ]));
}

#[test]
fn another_seed_gives_other_traffic_and_is_recorded() {
    let bench = Bench::with("varied.toml", VARIED);
    let timeline = |seed: &str| {
        bench.prints(&["run", "varied.toml", "--no-charts", "--seed", seed]);
        let sheet = bench.sheet("output/varied/summary.csv");
        assert!(sheet.rows.iter().all(|row| row["seed"] == seed));
        assert_eq!(bench.record("varied")["cases"][0]["seeds"][0].to_string(), seed);
        bench.read("output/varied/timeline.csv")
    };
    let (one, two) = (timeline("1"), timeline("2"));
    assert_ne!(one, two);
    assert_eq!(one, timeline("1"));
    timeline("0");
    timeline("18446744073709551615");
}

#[test]
fn the_seed_of_the_scenario_is_the_same_as_that_of_the_command_line() {
    let bench = Bench::with("varied.toml", VARIED);
    bench.prints(&["run", "varied.toml", "--no-charts"]);
    let own = bench.read("output/varied/timeline.csv");
    bench.prints(&["run", "varied.toml", "--no-charts", "--seed", "7"]);
    assert_eq!(bench.read("output/varied/timeline.csv"), own);
}

#[test]
fn set_changes_a_setting_of_every_case() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let arguments = ["run", "boundary.toml", "--no-charts"];
    let set = ["--set", "limit.requests=50", "--set", "traffic.1.requests = 30"];
    bench.prints(&[&arguments[..], &set].concat());
    let sheet = bench.sheet("output/boundary/summary.csv");
    // 50 of the first hundred, and all of the thirty after the edge.
    assert_eq!(sheet.cells("fixed-window", ["attempts", "accepted"]), ["130", "80"]);
    let settings = &bench.record("boundary")["cases"][0]["settings"];
    assert_eq!(settings["limit"][0]["requests"], 50);
    assert_eq!(settings["traffic"][1]["requests"], 30);
}

#[test]
fn set_adds_what_the_scenario_left_out_and_takes_plain_texts() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let arguments = ["run", "boundary.toml", "--no-charts", "--set", "name=other/place"];
    let set = ["--set", "limit.burst=7", "--set", "limit.key=\"everything\""];
    bench.prints(&[&arguments[..], &set].concat());
    let sheet = bench.sheet("output/other/place/summary.csv");
    assert_eq!(sheet.of("token-bucket", "accepted"), "10");
}

#[test]
fn a_wrong_set_is_refused_at_its_place() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let wrong = [
        "limit.request=50",
        "traffic.7.requests=5",
        "traffic.first.requests=5",
        "limit.per=10/60",
        "limit.per.x=3",
        "limit..per=3",
        "seed=-1",
        "seed=18446744073709551616",
        "traffic.0.at=-1s",
        "traffic.0.kind=brust",
        "nonsense",
        "=3",
    ];
    let messages = wrong.map(|set| {
        let message = bench.refuses(&["run", "boundary.toml", "--set", set]);
        format!("### --set {set}\n{message}")
    });
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn out_chooses_the_folder() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let printed =
        bench.prints(&["run", "boundary.toml", "--no-charts", "--out", "some/where/else"]);
    assert!(printed.contains("wrote some/where/else/boundary/"), "{printed}");
    assert!(bench.path("some/where/else/boundary/summary.csv").is_file());
    assert!(!bench.path("output").exists());
}

#[test]
fn several_scenarios_in_one_call_are_those_of_single_calls() {
    let bench = Bench::with("boundary.toml", BOUNDARY).file("varied.toml", VARIED);
    let single = ["boundary.toml", "varied.toml"]
        .map(|file| bench.prints(&["run", file, "--no-charts", "--out", "single"]));
    let both =
        bench.prints(&["run", "boundary.toml", "varied.toml", "--no-charts", "--out", "both"]);
    assert_eq!(both, single.concat().replace("wrote single/", "wrote both/"));
    crate::support::assert_same(&bench.files_of("single"), &bench.files_of("both"));
}

#[test]
fn two_scenarios_of_one_name_are_refused_before_anything_runs() {
    let bench = Bench::with("one.toml", BOUNDARY).file("two.toml", BOUNDARY);
    insta::assert_snapshot!(bench.refuses(&["run", "one.toml", "two.toml"]));
}

#[test]
fn one_wrong_scenario_stops_all() {
    let wrong = VARIED.replace("\"2s\"", "\"2\"");
    let bench = Bench::with("boundary.toml", BOUNDARY).file("varied.toml", wrong);
    let message = bench.refuses(&["run", "boundary.toml", "varied.toml"]);
    assert!(message.contains("varied.toml:8:7"), "{message}");
}

#[test]
fn decisions_are_announced_and_agree_with_the_summary() {
    let bench = Bench::with("varied.toml", VARIED);
    let outcome = bench.ratesim(&["run", "varied.toml", "--no-charts", "--decisions"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    let announced = outcome.stderr.strip_prefix("decisions.csv will take up to about ");
    let (size, rest) = announced.unwrap().split_once('\n').unwrap();
    assert_eq!(rest, "", "{outcome}");
    let text = bench.read("output/varied/decisions.csv");
    let kilobytes: f64 = size.strip_suffix(" kB").unwrap().parse().unwrap();
    assert!(text.len() as f64 <= kilobytes * 1000.0, "{} bytes, {size} announced", text.len());
    let decisions = Sheet::parse(text.as_bytes());
    let summary = bench.sheet("output/varied/summary.csv");
    assert_eq!(summary.rows.len(), 12);
    for row in &summary.rows {
        let of = [("case", row["case"].as_str()), ("algorithm", &row["algorithm"])];
        let number = |column: &str| row[column].parse::<usize>().unwrap();
        let decided = |what| decisions.rows_with(&[&of[..], &[("decision", what)]].concat()).len();
        assert_eq!(decisions.rows_with(&of).len(), number("attempts"), "{of:?}");
        assert_eq!(decided("deny"), number("rejected"), "{of:?}");
        let passed = number("accepted") + number("pending");
        assert_eq!(decided("admit") + decided("queue"), passed, "{of:?}");
        assert_eq!(decided("queue") > 0, row["algorithm"] == "leaky-bucket", "{of:?}");
    }
}

#[test]
fn wrong_arguments_are_refused_with_the_usage() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let wrong: [&[&str]; 7] = [
        &["run"],
        &["frobnicate"],
        &["run", "boundary.toml", "--frobnicate"],
        &["run", "boundary.toml", "--seed", "one"],
        &["run", "boundary.toml", "--threads", "0"],
        &["list", "nonsense"],
        &["--color", "sometimes", "list", "metrics"],
    ];
    let messages = wrong.map(|arguments| {
        format!("### ratesim {}\n{}", arguments.join(" "), bench.refuses(arguments))
    });
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn expectations_that_fail_are_told_under_the_table_and_change_no_exit_code() {
    let bench = Bench::with("boundary.toml", BOUNDARY.replace("is = 100", "is = 99"));
    let printed = bench.prints(&["run", "boundary.toml", "--no-charts"]);
    let last = printed.lines().last().unwrap();
    assert_eq!(last, "the expectation fails (see ratesim check); wrote output/boundary/");
}
