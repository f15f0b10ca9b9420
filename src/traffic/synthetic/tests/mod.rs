//! Whole sources, read from scenarios: times worked by hand, statistics, and what holds for all.

mod problems;
mod statistics;
mod streams;
mod times;

use std::path::Path;

use crate::scenario::{Changes, Scenario};
use crate::time::SECOND;
use crate::traffic::{Arrival, Traffic, build};

/// Nanoseconds in a second.
const S: i64 = SECOND as i64;

/// The traffic of a run of `duration` with these tables, which starts at 0 s of 1970.
fn traffic_or_problems(duration: &str, tables: &str) -> Result<Traffic, String> {
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
    traffic_or_problems(duration, tables).unwrap_or_else(|message| panic!("{message}"))
}

/// The traffic of a single source, whose settings are separated by semicolons.
fn source(duration: &str, settings: &str) -> Traffic {
    traffic(duration, &format!("[[traffic]]\n{}", settings.replace("; ", "\n")))
}

/// All requests of a single source.
fn merged(duration: &str, settings: &str) -> Vec<Arrival> {
    source(duration, settings).sources[0].merged().collect()
}

/// Their times in nanoseconds.
fn times(duration: &str, settings: &str) -> Vec<i64> {
    merged(duration, settings).iter().map(|arrival| arrival.at.0).collect()
}

/// How many times fall into each of the bins of this width.
fn bins(times: &[i64], width: i64, bins: usize) -> Vec<f64> {
    let mut counts = vec![0.0; bins];
    for time in times {
        counts[(time / width) as usize] += 1.0;
    }
    counts
}

/// Asserts that a count of independent events lies within five standard deviations of its mean.
fn assert_near(count: f64, mean: f64) {
    let off = (count - mean).abs() / mean.sqrt();
    assert!(off <= 5.0, "{count} where {mean} are expected: off by {off} standard deviations");
}
