//! Whole sources, read from scenarios: times worked by hand, statistics, and what holds for all.

use std::path::Path;

use crate::scenario::{Changes, Scenario};
use crate::time::SECOND;
use crate::traffic::{Arrival, Traffic, build};

/// The traffic of a run of `duration` with these tables, which starts at 0 s of 1970.
fn traffic_for(duration: &str, tables: &str) -> Result<Traffic, String> {
    let head = format!(
        "name = \"t\"\nstart = \"1970-01-01T00:00:00Z\"\nduration = \"{duration}\"\n\
         limit = \"1/s\"\n"
    );
    let path = Path::new("t.toml");
    let scenario = Scenario::parse(path, format!("{head}{tables}"), &Changes::default());
    let scenario = scenario.map_err(|error| error.render(false))?;
    let built = build(&scenario.cases[0], Path::new("")).map_err(|error| error.render(false))?;
    Ok(built.0)
}

fn traffic(duration: &str, tables: &str) -> Traffic {
    traffic_for(duration, tables).unwrap_or_else(|message| panic!("{message}"))
}

/// The arrivals of the first source, merged.
fn merged(duration: &str, table: &str) -> Vec<Arrival> {
    let table = format!("[[traffic]]\n{table}");
    traffic(duration, &table).sources[0].merged().collect()
}

/// The times of the first source in nanoseconds, merged.
fn times(duration: &str, table: &str) -> Vec<i64> {
    merged(duration, table).iter().map(|arrival| arrival.at.0).collect()
}

const S: i64 = SECOND as i64;

#[test]
fn a_burst_of_100_over_a_second_comes_every_10_ms() {
    let table = "kind = \"burst\"\nat = \"60s\"\nover = \"1s\"\nrequests = 100";
    let worked: Vec<i64> = (0..100).map(|i| 60 * S + i * 10_000_000).collect();
    assert_eq!(times("3m", table), worked);
}
