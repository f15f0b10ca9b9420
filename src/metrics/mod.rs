//! The numbers that a run is told by. [`METRICS`] carries name, unit, meaning and formula of each;
//! the table, the headers of the CSV files, `expect` and the docs read it.

use crate::judge::Tally;
use crate::scenario::Window;

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

/// A metric of a run.
pub struct Metric {
    /// Its name, the unit last.
    pub name: &'static str,
    /// Its unit in words: `attempts`, `s`, `bytes`, `ratio`.
    pub unit: &'static str,
    /// What it means, one sentence.
    pub meaning: &'static str,
    /// Which end is the bad one.
    pub worse: Worse,
    /// Its value; `None` where there is none (an empty cell).
    pub value: fn(&Tally) -> Option<Value>,
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

/// A value of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A finite number.
    Number(f64),
}

impl Value {
    /// As a number, for comparing.
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Count(count) => count as f64,
            Value::Number(number) => number,
        }
    }
}

/// The registry, in the order of the columns of `summary.csv`.
pub const METRICS: &[Metric] = &[];
