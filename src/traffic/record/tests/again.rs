//! A record under another seed is what a second reading would give, without one.

use std::path::Path;

use crate::scenario::{Changes, Scenario};
use crate::seed::Seed;
use crate::traffic::{self, Arrival, Traffic};

/// A log out of order, of whole seconds, with durations; and made-up requests of the same client and of
/// others.
fn scenario(seed: u64, spread: &str, start: &str) -> Scenario {
    let text = format!(
        "name = \"t\"\nseed = {seed}\nlimit = \"1/1s\"\n{start}\n\
         [[traffic]]\nkind = \"poisson\"\nrate = \"9/s\"\nclients = 3\nclient = \"b\"\n\
         [[traffic]]\nkind = \"csv\"\npath = \"record\"\nspread = \"{spread}\"\n\
         columns.time = \"at\"\ncolumns.client = \"who\"\ncolumns.duration = \"ms\"\n\
         columns.endpoint = \"what\"\nduration-unit = \"ms\"\n"
    );
    Scenario::parse(Path::new("t.toml"), text, &Changes::default()).unwrap()
}

fn record() -> String {
    let mut text = "at,who,what,ms\n".to_owned();
    for line in 0..400_u64 {
        let second = 10 + line * 7 % 40 / 3;
        let (who, what, ms) = (line % 5, line % 3, line * 31 % 2500);
        text += &format!("2026-01-01T12:00:{second}Z,b-{who},/{what},{ms}\n");
    }
    text
}

fn arrivals(traffic: &Traffic) -> Vec<Arrival> {
    traffic.merged().collect()
}

#[test]
fn a_record_under_another_seed_is_that_of_a_second_reading_without_one() {
    for spread in ["none", "even", "random"] {
        for start in ["", "start = \"12:00:12\"\nduration = \"5s\""] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("record");
            std::fs::write(&file, record()).unwrap();
            let build = |seed| {
                let scenario = scenario(seed, spread, start);
                traffic::build(&scenario.cases[0], folder.path()).unwrap().0
            };
            let (first, second) = (build(1), build(2));
            assert_ne!(arrivals(&first), arrivals(&second), "the made-up requests differ");
            std::fs::remove_file(&file).unwrap();
            // Of the scenario the seed alone may differ, and the seed that counts is the one given.
            let case = &scenario(77, spread, start).cases[0];
            for (seed, expected) in [(1, &first), (2, &second)] {
                let again = traffic::again(case, Seed(seed), &first).unwrap();
                assert_eq!(arrivals(&again), arrivals(expected), "{spread} {start}");
                assert_eq!((again.window, again.outside), (expected.window, expected.outside));
                let names =
                    |traffic: &Traffic| (traffic.clients.clone(), traffic.endpoints.clone());
                assert_eq!(names(&again), names(expected));
                assert_eq!(again.inputs, expected.inputs);
            }
        }
    }
}
