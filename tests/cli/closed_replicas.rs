//! Replicas of closed loops: what derives from their seeds, and what never came in some.

use std::collections::BTreeMap;

use crate::support::{Bench, simulated};

/// A burst that is the same in all replicas, so that nothing differs but what clients, the server and the
/// backend draw.
const CLOSED: &str = r#"name = "closed"
duration = "20s"
seed = 3
replicas = 3

[limit]
requests = 5
per = "1s"
key = "everything"

[clients]
retries = "exponential"
jitter = "full"
retry-after = "longer"
attempts = 9

[rejection]
jitter = "3s"

[backend]
slots = 2
service-time = "50ms"
service = "exponential"

[[traffic]]
kind = "burst"
requests = 40
clients = 40

[[case]]
name = "one"

[[case]]
name = "same"

[[algorithm]]
kind = "gcra"

[[algorithm]]
kind = "token-bucket"
"#;

#[test]
fn what_clients_draw_derives_from_the_replicas_seed_whatever_the_case_and_algorithm() {
    for varied in ["jitter = \"full\"", "jitter = \"3s\"", "service = \"exponential\""] {
        // Only one of the three is random at a time.
        let mut text = CLOSED.to_owned();
        for (random, plain) in [
            ("jitter = \"full\"", "jitter = \"none\""),
            ("jitter = \"3s\"", "jitter = \"0s\""),
            ("service = \"exponential\"", "service = \"constant\""),
        ] {
            if random != varied {
                text = text.replace(random, plain);
            }
        }
        let bench = simulated("closed", &text);
        let sheet = bench.sheet("output/closed/summary.csv");
        assert_eq!(sheet.rows.len(), 2 * 2 * 3);
        let told = |row: &BTreeMap<String, String>| {
            let mut row = row.clone();
            for name in ["case", "algorithm", "replica", "state_bytes_max", "state_entries_max"] {
                row.remove(name);
            }
            row
        };
        let mut found = Vec::new();
        for replica in ["0", "1", "2"] {
            let rows = sheet.rows_with(&[("replica", replica)]);
            assert!(rows.iter().all(|row| told(row) == told(rows[0])), "{varied}: {replica}");
            let alone = simulated(
                "closed",
                &text
                    .replace("replicas = 3\n", "")
                    .replace("seed = 3", &format!("seed = {}", rows[0]["seed"])),
            );
            let alone = alone.sheet("output/closed/summary.csv");
            assert_eq!(told(&alone.rows[0]), told(rows[0]), "{varied}: {replica}");
            found.push(rows[0]["time_to_success_mean_s"].clone());
        }
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 3, "{varied}: {found:?}");
    }
}

/// Nothing passes, and every client sends again at once, for as long as the run lasts.
const STUCK: &str = r#"name = "stuck"
duration = "20s"
replicas = 4

[limit]
requests = 0
per = "1s"

[trigger]
at = "5s"
for = "1s"

[[traffic]]
kind = "poisson"
rate = "2/s"

[[algorithm]]
kind = "gcra"

[[case]]
name = "retries"
set.clients = { retries = "fixed", delay = "100ms" }

[[case]]
name = "gives up"
set.clients = { patience = "1h" }

[[expect]]
case = "retries"
metric = "recovery_s"
is = "never"

[[expect]]
case = "gives up"
metric = "recovery_s"
at-most = 14
"#;

#[test]
fn what_never_came_is_counted_and_can_be_expected_in_every_replica() {
    let bench = Bench::with("it.toml", STUCK);
    let printed = bench.prints(&["run", "it.toml", "--no-charts"]);
    assert!(printed.contains("never"), "{printed}");
    let comparison = bench.sheet("output/stuck/comparison.csv");
    let of = |case: &str, name: &str| {
        comparison.cell(&[("case", case), ("metric", "recovery_s")], name).to_owned()
    };
    let cells = |case: &str| ["n", "never", "mean", "lower"].map(|name| of(case, name));
    assert_eq!(cells("retries"), ["0", "4", "", ""]);
    // 3.67 s in three, all lower than never; of the two that never came none is lower.
    let [n, never, mean, lower] = cells("gives up");
    assert_eq!([n.as_str(), &never, &lower], ["3", "1", "3"]);
    assert!(!mean.is_empty());
    assert_eq!(["diff_mean", "equal", "higher"].map(|name| of("gives up", name)), ["", "1", "0"]);
    for row in bench.sheet("output/stuck/summary.csv").rows {
        assert!(row["recovery_s"].is_empty() || row["case"] == "gives up", "{row:?}");
    }
    let outcome = bench.ratesim(&["check", "it.toml"]);
    assert_eq!(outcome.code, 1, "{outcome}");
    let told = [
        "ok    retries: gcra recovery_s = never",
        "<= 14: found never in replica 0, fails in 1 of 4",
    ];
    assert!(told.iter().all(|told| outcome.stdout.contains(told)), "{outcome}");
    let bench = bench.file("all.toml", STUCK.replace("at-most = 14", "at-least = 0"));
    assert!(bench.prints(&["check", "all.toml"]).ends_with("2 of 2 expectations hold, 0 fail\n"));
}

#[test]
fn of_several_runs_that_are_cut_off_the_first_is_told_with_any_number_of_threads() {
    let text = STUCK.replace("replicas = 4", "replicas = 4\nmax-attempts = 20000");
    let text = text.replace("delay = \"100ms\"", "delay = \"1ms\"");
    let bench = Bench::with("it.toml", text);
    let told = ["1", "2", "7"].map(|threads| {
        let outcome = bench.ratesim(&["run", "it.toml", "-q", "--threads", threads]);
        assert_eq!(outcome.code, 2, "{outcome}");
        outcome.stderr
    });
    assert!(told[0].contains("`max-attempts` = 20000"), "{}", told[0]);
    assert!(told[0] == told[1] && told[1] == told[2], "{told:?}");
}
