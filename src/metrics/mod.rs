//! The numbers that a run is told by. [`METRICS`] carries name, unit, meaning and formula of each;
//! the table, the headers of the CSV files, `expect` and the docs read it. [`SUBJECT_METRICS`] does the
//! same for one key or client, [`LIMIT_METRICS`] for one limit.

mod fairness;
mod parts;
mod run;
mod value;

use crate::judge::{SubjectTally, Tally};
use crate::scenario::Window;

pub use parts::{LIMIT_METRICS, SUBJECT_METRICS};
pub use run::METRICS;
pub use value::Value;

/// Everything that a command compares: the rows of one scenario.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The scenario's name.
    pub scenario: String,
    /// What it shows.
    pub about: String,
    /// By case, in the order of the scenario.
    pub cases: Vec<CaseInfo>,
    /// One a case, algorithm and replica, in this order.
    pub rows: Vec<Row>,
}

/// What a reader must know of a case.
#[derive(Debug, Clone)]
pub struct CaseInfo {
    /// Its name; empty where the scenario has no `[[case]]`.
    pub name: String,
    /// Its limits in words, in order: name and "100 per 60s for each client".
    pub limits: Vec<(String, String)>,
    /// From when to when it ran.
    pub window: Window,
    /// What else a reader must know: how an input was read, what was left out. One sentence each.
    pub notes: Vec<String>,
}

/// One run of one algorithm.
#[derive(Debug, Clone)]
pub struct Row {
    /// The position of its case in [`Comparison::cases`].
    pub case: usize,
    /// The algorithm's name in the table.
    pub algorithm: String,
    /// The position of its kind in the registry of algorithms, which decides its colour.
    pub kind: usize,
    /// Which replica, from 0.
    pub replica: u32,
    /// Its seed.
    pub seed: u64,
    /// What it found.
    pub tally: Tally,
}

/// A metric of what a `T` holds; of a run, unless said otherwise.
pub struct Metric<T: 'static = Tally> {
    /// Its name, the unit last.
    pub name: &'static str,
    /// Its unit in words: `requests`, `attempts`, `cost`, `ratio`, `s`, `keys`, `entries` or `bytes`.
    pub unit: &'static str,
    /// What it means, one sentence.
    pub meaning: &'static str,
    /// Which end is the bad one.
    pub worse: Worse,
    /// Its value; `None` where there is none (an empty cell).
    pub value: fn(&T) -> Option<Value>,
}

/// Which end of a metric is the bad one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worse {
    /// More is worse.
    More,
    /// Less is worse.
    Less,
    /// Neither.
    Neither,
}

/// Finds a metric of a run by its name.
pub fn find(name: &str) -> Option<&'static Metric> {
    find_in(METRICS, name)
}

/// Finds a metric by its name in any of the registries.
pub fn find_in<T>(metrics: &'static [Metric<T>], name: &str) -> Option<&'static Metric<T>> {
    metrics.iter().find(|metric| metric.name == name)
}

fn peak_cost(key: &SubjectTally) -> u64 {
    key.peak.map_or(0, |peak| peak.cost)
}

/// The peak of a key in units of its promise, which is 0 where nothing was accepted; `None` for a
/// promise of nothing, and for clients.
fn peak_ratio(key: &SubjectTally) -> Option<Value> {
    let requests = key.promise?.requests as f64;
    Value::number(peak_cost(key) as f64 / requests)
}
