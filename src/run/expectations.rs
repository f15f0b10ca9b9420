//! What a scenario must show, held against what it showed.

use super::contender::Contender;
use crate::error::{Place, Problem, Problems, suggest};
use crate::metrics::{self, Comparison, METRICS, Row, SUBJECT_METRICS, Value};
use crate::scenario::{Bound, Expect, Scenario, Subject};

/// An expectation held against one row of the results.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What was expected, of whom: "fixed-window over_limit = 100".
    pub expected: String,
    /// What was found; `None` where there is no such value.
    pub found: Option<Value>,
    /// Whether it holds.
    pub holds: bool,
    /// Where the expectation stands.
    pub place: Place,
}

/// Reports the names in expectations that do not exist, before anything runs. Keys and clients are
/// only known afterwards. `contenders` are the algorithms by case.
pub(super) fn check_names(scenario: &Scenario, contenders: &[Vec<Contender>], problems: &Problems) {
    for expect in &scenario.expects {
        let unknown = |what: &str, name: &str, known: Vec<&str>| {
            if !known.contains(&name) {
                let place = expect.place_of(what);
                let message = format!("unknown {what} `{name}`");
                problems.add(Problem::at(place, message).help(suggest(name, known)));
            }
        };
        let metrics = match expect.subject {
            Subject::Run => METRICS.iter().map(|metric| metric.name).collect(),
            _ => SUBJECT_METRICS.iter().map(|metric| metric.name).collect(),
        };
        unknown("metric", &expect.metric, metrics);
        if let Some(case) = &expect.case {
            let known = scenario.cases.iter().map(|case| case.name.as_str());
            unknown("case", case, known.collect());
        }
        if let Some(algorithm) = &expect.algorithm {
            let contenders = contenders.iter().flatten();
            unknown("algorithm", algorithm, distinct(contenders.map(|c| c.name.as_str())));
        }
        if let Subject::Key { limit: Some(limit), .. } = &expect.subject {
            let limits = scenario.cases.iter().flat_map(|case| &case.limits);
            unknown("limit", limit, distinct(limits.map(|limit| limit.name.as_str())));
        }
    }
}

/// Names in their order, each once.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known: Vec<&str> = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

/// Holds every expectation against the rows that it is about.
pub fn judge(scenario: &Scenario, comparison: &Comparison) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    for expect in &scenario.expects {
        let rows = comparison.rows.iter().filter(|row| {
            let case = &comparison.cases[row.case].name;
            expect.case.as_ref().is_none_or(|name| name == case)
                && expect.algorithm.as_ref().is_none_or(|name| *name == row.algorithm)
        });
        judgements.extend(rows.map(|row| {
            let found = value(expect, row);
            Judgement {
                expected: words(expect, &comparison.cases[row.case].name, row),
                found,
                holds: holds(&expect.bound, found),
                place: expect.place.clone(),
            }
        }));
    }
    judgements
}

fn holds(bound: &Bound, found: Option<Value>) -> bool {
    found.is_some_and(|value| bound.holds(value.as_f64()))
}

fn value(expect: &Expect, row: &Row) -> Option<Value> {
    let subject = match &expect.subject {
        Subject::Run => return metrics::find(&expect.metric).and_then(|m| (m.value)(&row.tally)),
        Subject::Key { limit, key } => {
            let limits = &row.tally.limits;
            let limit = match limit {
                Some(name) => limits.iter().find(|limit| limit.name == *name)?,
                None => limits.first()?,
            };
            limit.keys.iter().find(|subject| subject.name == *key)?
        }
        Subject::Client(name) => row.tally.clients.iter().find(|client| client.name == *name)?,
    };
    metrics::find_in(SUBJECT_METRICS, &expect.metric).and_then(|metric| (metric.value)(subject))
}

fn words(expect: &Expect, case: &str, row: &Row) -> String {
    let case = if case.is_empty() { String::new() } else { format!("{case}: ") };
    let subject = match &expect.subject {
        Subject::Run => String::new(),
        Subject::Key { limit: Some(limit), key } => format!(" key {key} of {limit}"),
        Subject::Key { limit: None, key } => format!(" key {key}"),
        Subject::Client(client) => format!(" client {client}"),
    };
    format!("{case}{}{subject} {} {}", row.algorithm, expect.metric, expect.bound)
}
