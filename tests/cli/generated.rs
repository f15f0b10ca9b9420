//! What holds for every scenario, over generated ones: no panic, balanced books, no number that is
//! none, and the promises between algorithms.

use std::collections::BTreeMap;

use proptest::prelude::*;
use ratesim::command::{Output, run};
use ratesim::run::Silent;
use serde_json::Value as Json;

use crate::scenarios;
use crate::schema;
use crate::support::{Files, Sheet, files_under};

/// Runs a scenario named `it` to its end with every file that a run can write. What it wrote.
fn results(text: &str, charts: bool) -> Files {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("it.toml");
    std::fs::write(&file, text).unwrap();
    let options = run::Options {
        scenarios: vec![file],
        out: place.path().to_owned(),
        decisions: true,
        charts,
        threads: 1,
        ..run::Options::default()
    };
    let mut printed = Vec::new();
    let mut output = Output { out: &mut printed, width: 80, styled: false };
    run::run(&options, &mut output, &Silent::default())
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut files = files_under(&place.path().join("it"));
    files.insert("the table".to_owned(), printed);
    files
}

fn sheet(files: &Files, name: &str) -> Sheet {
    Sheet::parse(&files[&format!("{name}.csv")])
}

/// The case and algorithm of a row, to find its rows in other files.
fn names(row: &BTreeMap<String, String>) -> [(&'static str, &str); 2] {
    [("case", &row["case"]), ("algorithm", &row["algorithm"])]
}

fn number(row: &BTreeMap<String, String>, column: &str) -> i64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {}", row[column]))
}

fn sum(sheet: &Sheet, of: &[(&str, &str)], column: &str) -> i64 {
    sheet.rows_with(of).into_iter().map(|row| number(row, column)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_books_balance_in_every_file(text in scenarios::any()) {
        let files = results(&text, false);
        let [timeline, clients, decisions] = ["timeline", "clients", "decisions"].map(|n| sheet(&files, n));
        for row in &sheet(&files, "summary").rows {
            let of = names(row);
            let [attempts, accepted, rejected, over_limit, pending] =
                ["attempts", "accepted", "rejected", "over_limit", "pending"].map(|n| number(row, n));
            prop_assert_eq!(attempts, accepted + rejected + pending);
            prop_assert_eq!(number(row, "requests"), attempts);
            prop_assert!(over_limit <= accepted && number(row, "needless_rejections") <= rejected);
            prop_assert!(number(row, "denied_for_ever") <= rejected);
            // The same by time, by client (there are fewer than are listed), and one by one.
            prop_assert_eq!(sum(&timeline, &of, "offered"), attempts);
            prop_assert_eq!(sum(&timeline, &of, "accepted"), accepted);
            prop_assert_eq!(sum(&timeline, &of, "rejected"), rejected);
            prop_assert_eq!(sum(&timeline, &of, "over_limit"), over_limit);
            prop_assert_eq!(sum(&clients, &of, "attempts"), attempts);
            prop_assert_eq!(sum(&clients, &of, "accepted"), accepted);
            prop_assert_eq!(sum(&clients, &of, "rejected"), rejected);
            prop_assert_eq!(sum(&clients, &of, "over_limit"), over_limit);
            let decided = |what| {
                let of = [&of[..], &[("decision", what)]].concat();
                decisions.rows_with(&of).len() as i64
            };
            prop_assert_eq!(decided("deny"), rejected);
            prop_assert_eq!(decided("admit") + decided("queue"), accepted + pending);
        }
    }

    #[test]
    fn limits_and_keys_agree(text in scenarios::any()) {
        let files = results(&text, false);
        let keys = sheet(&files, "keys");
        for row in &sheet(&files, "limits").rows {
            let of = [&names(row)[..], &[("limit", row["limit"].as_str())]].concat();
            prop_assert_eq!(keys.rows_with(&of).len() as i64, number(row, "keys"));
            for column in ["attempts", "accepted", "over_limit"] {
                prop_assert_eq!(sum(&keys, &of, column), number(row, column), "{}", column);
            }
            prop_assert!(number(row, "refused") <= number(row, "attempts") - number(row, "accepted"));
            let peaks = keys.rows_with(&of).into_iter().map(|key| number(key, "peak_window"));
            prop_assert!(peaks.max().unwrap_or(0) >= number(row, "peak_window"));
        }
    }

    #[test]
    fn the_log_keeps_its_promise_exactly(text in scenarios::with_defaults()) {
        let summary = sheet(&results(&text, false), "summary");
        prop_assert_eq!(summary.rows.len(), 6);
        let columns = ["over_limit", "needless_rejections"];
        prop_assert_eq!(summary.cells("sliding-window-log", columns), ["0"; 2]);
        let columns = ["wrongly_allowed", "wrongly_limited"];
        prop_assert_eq!(summary.cells("sliding-window-log", columns), ["0"; 2]);
    }

    #[test]
    fn what_differs_from_the_log_explains_the_difference(text in scenarios::with_defaults()) {
        let summary = sheet(&results(&text, false), "summary");
        let passed = |row| number(row, "accepted") + number(row, "pending");
        let log = passed(summary.rows_with(&[("algorithm", "sliding-window-log")])[0]);
        for row in summary.rows.iter().filter(|row| number(row, "attempts") > 0) {
            let wrong = number(row, "wrongly_allowed") - number(row, "wrongly_limited");
            prop_assert_eq!(passed(row) - log, wrong, "{}", &row["algorithm"]);
        }
    }

    #[test]
    fn gcra_decides_as_the_token_bucket_does(text in scenarios::twins()) {
        let files = results(&text, false);
        let summary = sheet(&files, "summary");
        let columns = summary.headers().iter().filter(|column| {
            // What they keep and what they are called is their own.
            !column.starts_with("state_") && *column != "algorithm"
        });
        for column in columns {
            let [bucket, gcra] = ["token-bucket", "gcra"].map(|name| summary.of(name, column));
            prop_assert_eq!(bucket, gcra, "{}", column);
        }
        let decisions = sheet(&files, "decisions");
        let of = |name| {
            let rows = decisions.rows_with(&[("algorithm", name)]).into_iter();
            rows.map(|row| (row["t_s"].clone(), row["decision"].clone(), row["wait_s"].clone()))
                .collect::<Vec<_>>()
        };
        prop_assert_eq!(of("token-bucket"), of("gcra"));
    }

    #[test]
    fn what_runs_is_what_the_schema_says(text in scenarios::any()) {
        let schema = ratesim::command::schema::schema();
        if let Err(fault) = schema::validate(&schema::as_json(&text), &schema, "it") {
            return Err(TestCaseError::fail(fault));
        }
    }

    #[test]
    fn any_bytes_are_a_scenario_or_a_mistake(text in "[a-z.\\[\\]=\"0-9 \n{}-]{0,60}") {
        let place = std::path::Path::new("it.toml");
        let changes = ratesim::scenario::Changes::default();
        if let Err(error) = ratesim::scenario::Scenario::parse(place, text, &changes) {
            prop_assert_eq!(error.exit_code(), 2);
            prop_assert!(error.render(false).starts_with("error: "));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn no_file_has_a_number_that_is_none(text in scenarios::any(), replicas in 1..4_u32) {
        for (name, bytes) in results(&format!("replicas = {replicas}\n{text}"), true) {
            if name.ends_with(".png") {
                continue;
            }
            let text = String::from_utf8(bytes).unwrap();
            let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
            let wrong = words.find(|word| {
                ["nan", "inf", "infinity"].iter().any(|none| word.eq_ignore_ascii_case(none))
            });
            prop_assert_eq!(wrong, None, "{}", name);
            if name.ends_with(".json") {
                prop_assert!(serde_json::from_str::<Json>(&text).is_ok(), "{}", name);
            }
        }
    }
}
