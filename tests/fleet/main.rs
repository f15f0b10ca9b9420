//! Several nodes and the store that they share, through the library as a program would use it: faults that users
//! of real limiters have met, with their right values; and what must not depend on where a state lies.

mod faults;
mod leases;
mod outages;
mod random;
mod sameness;
mod store;

use std::path::Path;

use ratesim::judge::Tally;
use ratesim::metrics;
use ratesim::run::{self, Silent};
use ratesim::scenario::{Changes, Scenario};

/// The findings of a scenario by case and algorithm, in order.
fn tallies(text: &str) -> Vec<(String, String, Tally)> {
    let text = format!("name = \"t\"\nstart = \"12:00:00\"\n{text}");
    let scenario = Scenario::parse(Path::new("t.toml"), text.clone(), &Changes::default());
    let prepared = scenario.and_then(|scenario| run::prepare(scenario, &[]));
    let findings = prepared
        .and_then(|prepared| run::simulate(&prepared, run::Options::default(), &Silent::default()));
    let findings = findings.unwrap_or_else(|error| panic!("{}\n{text}", error.render(false)));
    let comparison = findings.comparison;
    let named =
        |row: metrics::Row| (comparison.cases[row.case].name.clone(), row.algorithm, row.tally);
    comparison.rows.into_iter().map(named).collect()
}

/// Why a scenario ends with an error.
fn refused(text: &str) -> String {
    let text = format!("name = \"t\"\nstart = \"12:00:00\"\n{text}");
    let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default());
    let prepared = scenario.and_then(|scenario| run::prepare(scenario, &[]));
    let findings = prepared
        .and_then(|prepared| run::simulate(&prepared, run::Options::default(), &Silent::default()));
    findings.map(|_| ()).expect_err("it is refused").render(false)
}

/// What a scenario without cases comes to under one algorithm.
fn tally(text: &str, algorithm: &str) -> Tally {
    let table = match algorithm.contains('\n') {
        true => algorithm.to_owned(),
        false => format!("kind = \"{algorithm}\""),
    };
    tallies(&format!("{text}\n[[algorithm]]\n{table}\n")).remove(0).2
}

/// Attempts accepted and rejected.
fn fates(tally: &Tally) -> (u64, u64) {
    (tally.books.accepted, tally.books.rejected)
}

/// The value of a metric.
fn metric(tally: &Tally, name: &str) -> f64 {
    let value = (metrics::find(name).unwrap().value)(tally);
    value.unwrap_or_else(|| panic!("{name} has no value")).as_f64()
}

/// A burst of one client.
fn burst(at: &str, over: &str, requests: u32) -> String {
    format!(
        "[[traffic]]\nkind = \"burst\"\nat = \"{at}\"\nover = \"{over}\"\nrequests = {requests}\n"
    )
}
