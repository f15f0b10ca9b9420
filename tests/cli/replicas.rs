//! Replicas, the cases of a matrix, and how they are compared.

use serde_json::Value as Json;

use crate::support::{Bench, VARIED, assert_same, simulated};

/// Random traffic in four cases of three replicas each.
const MATRIX: &str = r#"name = "crossed"
duration = "30s"
seed = 7
replicas = 3
baseline = "requests 5, per 1s"

[limit]
requests = 8
per = "2s"

[[traffic]]
kind = "poisson"
clients = 4
rate = "20/s"

[matrix]
"limit.requests" = [5, 8]
limit.per = ["2s", "1s"]

[[expect]]
case = "requests 8, per 2s"
algorithm = "sliding-window-log"
metric = "over_limit"
is = 0
"#;

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

#[test]
fn a_run_with_replicas_in_80_columns() {
    let bench = Bench::with("it.toml", MATRIX);
    let printed = bench.prints(&["run", "it.toml", "--no-charts"]);
    insta::assert_snapshot!(printed);
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
}

#[test]
fn the_first_replica_is_the_run_without_replicas() {
    let alone = Bench::with("it.toml", MATRIX.replace("replicas = 3\n", ""));
    alone.prints(&["run", "it.toml", "--no-charts", "--quiet"]);
    let three = Bench::with("it.toml", MATRIX);
    three.prints(&["run", "it.toml", "--no-charts", "--quiet"]);
    for file in ["timeline", "limits", "keys", "clients"] {
        let file = format!("output/crossed/{file}.csv");
        assert_eq!(alone.read(&file), three.read(&file), "{file}");
    }
    let summary = |bench: &Bench| bench.read("output/crossed/summary.csv");
    let all = summary(&three);
    let first: Vec<&str> = all
        .lines()
        .enumerate()
        .filter(|(index, _)| *index == 0 || (index - 1).is_multiple_of(3))
        .map(|(_, line)| line)
        .collect();
    assert_eq!(first, lines(&summary(&alone)));
    assert!(!alone.path("output/crossed/comparison.csv").exists());
    // Asked for one, there is no trace of the others.
    three.prints(&["run", "it.toml", "--no-charts", "--quiet", "--replicas", "1"]);
    assert_same(&three.files_of("output"), &alone.files_of("output"));
}

#[test]
fn all_cases_and_algorithms_of_a_replica_share_a_seed_and_rows_are_in_order() {
    let bench = simulated("crossed", MATRIX);
    let sheet = bench.sheet("output/crossed/summary.csv");
    assert_eq!(sheet.rows.len(), 4 * 6 * 3);
    let mut seeds: Vec<&str> = Vec::new();
    for (index, row) in sheet.rows.iter().enumerate() {
        let replica = index % 3;
        assert_eq!(row["replica"], replica.to_string());
        match seeds.get(replica) {
            Some(seed) => assert_eq!(row["seed"], *seed),
            None => seeds.push(&row["seed"]),
        }
        let same = sheet.rows_with(&[("replica", &row["replica"])]);
        assert!(same.iter().all(|other| other["requests"] == row["requests"]));
    }
    assert_eq!(seeds[0], "7");
    let record = bench.record("crossed");
    let recorded: Vec<String> =
        record["cases"][2]["seeds"].as_array().unwrap().iter().map(Json::to_string).collect();
    assert_eq!(recorded, seeds);
    assert_eq!(
        (&record["replicas"], &record["baseline"]),
        (&Json::from(3), &Json::from("requests 5, per 1s"))
    );
}

#[test]
fn the_comparison_is_that_of_the_summary() {
    let bench = simulated("crossed", MATRIX);
    let text = bench.read("output/crossed/comparison.csv");
    let header = "scenario,case,algorithm,metric,n,never,mean,ci95_low,ci95_high,min,max,baseline,\
                  diff_mean,diff_ci95_low,diff_ci95_high,lower,equal,higher\n";
    assert!(text.starts_with(header), "{text}");
    let (summary, comparison) =
        (bench.sheet("output/crossed/summary.csv"), bench.sheet("output/crossed/comparison.csv"));
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    let base = "requests 5, per 1s";
    let mut compared = 0;
    for row in &comparison.rows {
        let of = |case: &str| -> Vec<f64> {
            let rows = summary.rows_with(&[("case", case), ("algorithm", &row["algorithm"])]);
            let cells = rows.iter().map(|found| &found[&row["metric"]]);
            cells.filter(|cell| !cell.is_empty()).map(|cell| number(cell)).collect()
        };
        let values = of(&row["case"]);
        assert_eq!(row["n"], values.len().to_string());
        if values.is_empty() {
            assert!(
                ["mean", "ci95_low", "min", "diff_mean"].iter().all(|name| row[*name].is_empty())
            );
            continue;
        }
        let mean = values.iter().sum::<f64>() / 3.0;
        // t of 2 degrees of freedom.
        let half = |values: &[f64], mean: f64| {
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            4.302_652_73 * (squares / 2.0 / 3.0).sqrt()
        };
        let all = values.iter().copied().chain(of(base));
        let scale = all.fold(1e-3_f64, |most, value| most.max(value.abs()));
        let near = |cell: &str, expected: f64| {
            let error = (number(cell) - expected).abs();
            assert!(error <= 1e-7 * scale, "{cell} {expected}: {row:?}");
        };
        if values.len() < 3 {
            continue;
        }
        compared += 1;
        near(&row["mean"], mean);
        near(&row["ci95_low"], mean - half(&values, mean));
        near(&row["ci95_high"], mean + half(&values, mean));
        if row["case"] == base {
            let cells =
                ["baseline", "diff_mean", "diff_ci95_low", "diff_ci95_high", "lower", "higher"];
            assert!(cells.iter().all(|name| row[*name].is_empty()), "{row:?}");
            continue;
        }
        if of(base).len() < 3 {
            continue;
        }
        assert_eq!(row["baseline"], base);
        let differences: Vec<f64> =
            values.iter().zip(of(base)).map(|(one, other)| one - other).collect();
        let mean = differences.iter().sum::<f64>() / 3.0;
        near(&row["diff_mean"], mean);
        near(&row["diff_ci95_low"], mean - half(&differences, mean));
        let count = |wanted: fn(&f64) -> bool| {
            differences.iter().filter(|&difference| wanted(difference)).count().to_string()
        };
        assert_eq!(row["lower"], count(|difference| *difference < 0.0));
        assert_eq!(row["equal"], count(|difference| *difference == 0.0));
        assert_eq!(row["higher"], count(|difference| *difference > 0.0));
    }
    assert!(compared > 400, "{compared}");
    assert_eq!(comparison.rows.len(), 4 * 6 * (summary.headers().len() - 5));
}

#[test]
fn threads_change_no_byte_and_every_replica_has_its_decisions() {
    let bench = Bench::with("it.toml", MATRIX);
    for (threads, out) in [("1", "one"), ("2", "two"), ("64", "many")] {
        bench.prints(&["run", "it.toml", "-q", "--threads", threads, "--out", out]);
    }
    let one = bench.files_of("one");
    assert!(one.contains_key("crossed/charts/comparison.png"));
    assert_same(&one, &bench.files_of("two"));
    assert_same(&one, &bench.files_of("many"));
    bench.prints(&["run", "it.toml", "-q", "--decisions", "--out", "told"]);
    let decisions = bench.sheet("told/crossed/decisions.csv");
    for row in &bench.sheet("told/crossed/summary.csv").rows {
        let of = ["case", "algorithm", "replica"].map(|name| (name, row[name].as_str()));
        assert_eq!(decisions.rows_with(&of).len().to_string(), row["attempts"]);
    }
    let mut told = bench.files_of("told");
    told.remove("crossed/decisions.csv");
    let record = String::from_utf8(told.remove("crossed/run.json").unwrap()).unwrap();
    let plain = String::from_utf8(one["crossed/run.json"].clone()).unwrap();
    assert_eq!(record.replace("    \"decisions.csv\",\n", ""), plain);
    told.insert("crossed/run.json".to_owned(), plain.into_bytes());
    assert_same(&one, &told);
}

#[test]
fn a_record_is_replayed_in_every_replica_and_read_once() {
    let line = |n: u64| {
        let (second, client) = (n / 9, n % 4);
        format!(
            "10.0.0.{client} - - [17/May/2015:10:05:{second:02} +0000] \"GET / HTTP/1.1\" 200 5\n"
        )
    };
    let log: String = (0..300).map(line).collect();
    let text = "name = \"crossed\"\nlimit = \"5/3s\"\nreplicas = 4\n\
                [[traffic]]\nkind = \"access-log\"\npath = \"a.log\"\nspread = \"SPREAD\"\n\
                [matrix]\nlimit = [\"5/3s\", \"9/3s\"]\n";
    for (spread, same) in [("even", true), ("random", false)] {
        let bench = Bench::with("it.toml", text.replace("SPREAD", spread)).file("a.log", &log);
        bench.prints(&["run", "it.toml", "-q", "--no-charts"]);
        let sheet = bench.sheet("output/crossed/summary.csv");
        assert!(sheet.rows.iter().all(|row| row["requests"] == "300"));
        let rows = sheet.rows_with(&[("case", "limit 5/3s"), ("algorithm", "gcra")]);
        let waits: Vec<&str> = rows.iter().map(|row| row["retry_after_mean_s"].as_str()).collect();
        assert_eq!(waits.iter().all(|wait| *wait == waits[0]), same, "{spread}: {waits:?}");
    }
}

#[test]
fn check_judges_every_replica_and_says_which_fails() {
    let bench = Bench::with("it.toml", MATRIX);
    assert!(bench.prints(&["check", "it.toml"]).ends_with("1 of 1 expectation holds, 0 fail\n"));
    let wrong =
        MATRIX.replace("metric = \"over_limit\"\nis = 0", "metric = \"requests\"\nis = 561");
    let bench = Bench::with("it.toml", wrong);
    let outcome = bench.ratesim(&["check", "it.toml", "--quiet"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (1, ""), "{outcome}");
    insta::assert_snapshot!(outcome.stdout);
    let document = bench.ratesim(&["check", "it.toml", "--json", "--replicas", "2"]).stdout;
    let document: Json = serde_json::from_str(&document).unwrap();
    assert_eq!(document[0]["replicas"], 2);
}

#[test]
fn json_has_rows_and_comparison() {
    let bench = Bench::with("it.toml", MATRIX);
    let printed = bench.prints(&["run", "it.toml", "--no-charts", "--json"]);
    let document: Json = serde_json::from_str(&printed).unwrap();
    assert_eq!(document["rows"].as_array().unwrap().len(), 4 * 6 * 3);
    assert_eq!(document["comparison"][0]["metric"], "requests");
    assert_eq!(document["comparison"][0]["n"], 3);
}

#[test]
fn a_setting_of_the_command_line_that_cases_set_is_said_to_give_way() {
    let bench = Bench::with("it.toml", MATRIX).file("varied.toml", VARIED);
    let arguments = ["run", "it.toml", "--no-charts", "--set", "limit.requests=50"];
    let printed = bench.prints(&arguments);
    let note = "`--set limit.requests=50` gives way: the case sets `limit.requests` itself.";
    let unbroken = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(unbroken.matches(note).count(), 1, "{printed}");
    assert_eq!(bench.record("crossed")["cases"][3]["notes"][0], note);
    let outcome = bench.ratesim(&[&arguments[..], &["--json"]].concat());
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(outcome.stderr.lines().count(), 4, "{outcome}");
    assert!(outcome.stderr.starts_with(&format!("requests 5, per 2s: {note}\n")), "{outcome}");
    // Where only one of the cases sets it, only that one says so.
    bench.prints(&["run", "varied.toml", "--no-charts", "--set", "limit.0.requests=9"]);
    let notes = |case: usize| bench.record("varied")["cases"][case]["notes"].to_string();
    assert_eq!(notes(0), "[]");
    assert!(notes(1).contains("the case sets `limit.0.requests` itself"), "{}", notes(1));
}
