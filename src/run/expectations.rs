//! What a scenario must show, held against what it showed.

use super::contender::Contender;
use crate::algorithm::ALGORITHMS;
use crate::error::{Place, Problem, Problems, suggest};
use crate::judge::Tally;
use crate::metrics::{self, Comparison, METRICS, Row, SUBJECT_METRICS, Value};
use crate::scenario::{Expect, Scenario, Subject};

/// An expectation held against every run of an algorithm of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What was expected, of whom: "fixed-window over_limit = 100".
    pub expected: String,
    /// In which replica something else was found, the first of them; 0 where it holds.
    pub replica: usize,
    /// What was found in that replica; `None` where there is no such value.
    pub found: Option<Value>,
    /// In how many replicas it fails.
    pub failing: usize,
    /// How many replicas there are.
    pub replicas: usize,
    /// Whether it holds in all of them.
    pub holds: bool,
    /// Where the expectation stands.
    pub place: Place,
}

/// Reports the names in expectations that do not exist, before anything runs. Keys and clients are
/// only known afterwards. `contenders` are the algorithms by case.
pub(super) fn check_names(scenario: &Scenario, contenders: &[Vec<Contender>], problems: &Problems) {
    for expect in &scenario.expects {
        let is_known = |what: &str, name: &str, known: Vec<&str>| {
            let is_known = known.contains(&name);
            if !is_known {
                problems.add(Problem::unknown(expect.place_of(what), what, name, known));
            }
            is_known
        };
        let metrics = match expect.subject {
            Subject::Run => METRICS.iter().map(|metric| metric.name).collect(),
            _ => SUBJECT_METRICS.iter().map(|metric| metric.name).collect(),
        };
        is_known("metric", &expect.metric, metrics);
        let names = |case: usize| contenders[case].iter().map(|contender| contender.name.as_str());
        let all_cases = 0..scenario.cases.len();
        let cases: Vec<usize> = match &expect.case {
            None => all_cases.clone().collect(),
            Some(case) => {
                let known = scenario.cases.iter().map(|case| case.name.as_str());
                if scenario.all_cases {
                    is_known("case", case, known.collect());
                }
                all_cases.clone().filter(|&index| scenario.cases[index].name == *case).collect()
            }
        };
        let mut known: Vec<&str> = all_cases.clone().flat_map(names).collect();
        // Where an algorithm could not be read, any that exists may have been meant.
        let tables = |case: usize| scenario.cases[case].algorithms.len();
        let complete = |case: usize| tables(case) == 0 || tables(case) == contenders[case].len();
        if !all_cases.clone().all(complete) {
            known.extend(ALGORITHMS.iter().map(|kind| kind.name));
        }
        if let Some(algorithm) = &expect.algorithm
            && is_known("algorithm", algorithm, known)
            && all_cases.clone().all(complete)
            && !cases.is_empty()
            && !cases.iter().any(|&case| names(case).any(|name| name == algorithm))
        {
            let message = format!("`{algorithm}` is not among the algorithms of that case");
            let known = cases.into_iter().flat_map(names);
            let problem = Problem::at(expect.place_of("algorithm"), message);
            problems.add(problem.help(suggest(algorithm, known)));
        }
        if let Subject::Key { limit: Some(limit), .. } = &expect.subject {
            let limits = scenario.cases.iter().flat_map(|case| &case.limits);
            is_known("limit", limit, limits.map(|limit| limit.name.as_str()).collect());
        }
    }
}

/// Holds every expectation against the runs that it is about: each of them must show what is expected.
pub fn judge(scenario: &Scenario, comparison: &Comparison) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    for (index, expect) in scenario.expects.iter().enumerate() {
        let rows = comparison
            .rows
            .iter()
            .filter(|row| is_about(expect, &comparison.cases[row.case].name, &row.algorithm));
        judgements.extend(rows.map(|row| {
            let first = value(expect, &row.tally);
            let others =
                row.repeats.iter().map(|repeat| repeat.expected.get(index).copied().flatten());
            let found: Vec<Option<Value>> = std::iter::once(first).chain(others).collect();
            let fails = |found: &Option<Value>| !expect.bound.holds(found.map(Value::as_f64));
            let failing = found.iter().filter(|found| fails(found)).count();
            let replica = found.iter().position(fails).unwrap_or(0);
            Judgement {
                expected: words(expect, &comparison.cases[row.case].name, row),
                replica,
                found: found[replica],
                failing,
                replicas: found.len(),
                holds: failing == 0,
                place: expect.place.clone(),
            }
        }));
    }
    judgements
}

/// By expectation, what it is about in one run; `None` too where it is about others.
pub(super) fn found(
    scenario: &Scenario,
    case: &str,
    algorithm: &str,
    tally: &Tally,
) -> Vec<Option<Value>> {
    let of =
        |expect: &Expect| is_about(expect, case, algorithm).then(|| value(expect, tally)).flatten();
    scenario.expects.iter().map(of).collect()
}

fn is_about(expect: &Expect, case: &str, algorithm: &str) -> bool {
    expect.case.as_ref().is_none_or(|name| name == case)
        && expect.algorithm.as_ref().is_none_or(|name| name == algorithm)
}

fn value(expect: &Expect, tally: &Tally) -> Option<Value> {
    let subject = match &expect.subject {
        Subject::Run => return metrics::find(&expect.metric).and_then(|m| (m.value)(tally)),
        Subject::Key { limit, key } => {
            let mut limits = tally.limits.iter();
            let limit = match limit {
                Some(name) => limits.find(|limit| limit.name == *name)?,
                None => limits.next()?,
            };
            limit.keys.get(limit.keys.find(key)?)
        }
        Subject::Client(name) => tally.clients.get(tally.clients.find(name)?),
    };
    metrics::find_in(SUBJECT_METRICS, &expect.metric).and_then(|metric| (metric.value)(&subject))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Options, Silent, prepare, simulate};
    use crate::scenario::Changes;
    use std::path::Path;

    const BASE: &str = "name = \"t\"\nstart = \"12:00:00\"\nduration = \"1m\"\nlimit = \"2/60s\"\n\
                        [[traffic]]\nkind = \"burst\"\nrequests = 6\nclients = 2\n\
                        [[algorithm]]\nkind = \"fixed-window\"\n[[algorithm]]\nkind = \"gcra\"\n";

    fn judged(text: &str) -> Result<Vec<String>, String> {
        let text = format!("{BASE}{text}");
        let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default());
        let prepared = scenario.and_then(|scenario| prepare(scenario, &[]));
        let prepared = prepared.map_err(|error| error.render(false))?;
        let findings = simulate(&prepared, Options::default(), &Silent::default()).unwrap();
        let judgements = judge(&prepared.scenario, &findings.comparison);
        let shown = judgements.iter().map(|judgement| {
            let found = judgement.found.map_or("nothing".to_owned(), |value| value.to_string());
            format!("{}, found {found}: {}", judgement.expected, judgement.holds)
        });
        Ok(shown.collect())
    }

    #[test]
    fn an_expectation_is_held_against_every_row_it_is_about() {
        // Two clients ask three times each at one instant; two of each pass.
        assert_eq!(
            judged("[[expect]]\nmetric = \"accepted\"\nis = 4\n").unwrap(),
            ["fixed-window accepted = 4, found 4: true", "gcra accepted = 4, found 4: true"]
        );
        assert_eq!(
            judged("[[expect]]\nalgorithm = \"gcra\"\nclient = \"client-2\"\nmetric = \"rejected\"\nat-most = 0\n").unwrap(),
            ["gcra client client-2 rejected <= 0, found 1: false"]
        );
        assert_eq!(
            judged("[[expect]]\nalgorithm = \"gcra\"\nkey = \"client-1\"\nlimit = \"2 per 60s\"\nmetric = \"peak_window\"\nis = 2\n").unwrap(),
            ["gcra key client-1 of 2 per 60s peak_window = 2, found 2: true"]
        );
    }

    #[test]
    fn every_replica_is_judged_and_the_first_that_fails_is_told() {
        let text = "name = \"t\"\nreplicas = 9\nduration = \"1m\"\nlimit = \"2/60s\"\n\
                    algorithm = { kind = \"gcra\" }\n\
                    [[traffic]]\nkind = \"poisson\"\nrate = \"1/s\"\nclients = 2\n";
        let judgement = |expect: &str| {
            let text = format!("{text}[[expect]]\n{expect}\n");
            let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default());
            let prepared = prepare(scenario.unwrap(), &[]).unwrap();
            let findings = simulate(&prepared, Options::default(), &Silent::default()).unwrap();
            let values: Vec<f64> = findings.comparison.rows[0]
                .singles()
                .map(|single| single.values[0].unwrap().as_f64())
                .collect();
            (judge(&prepared.scenario, &findings.comparison).remove(0), values)
        };
        let (holds, requests) = judgement("metric = \"requests\"\nat-least = 1");
        assert!((holds.holds, holds.failing, holds.replicas) == (true, 0, 9), "{holds:?}");
        // Only what exceeds the third replica's number fails.
        let bound = requests[2];
        let failing: Vec<usize> = (0..9).filter(|&index| requests[index] > bound).collect();
        assert!((1..8).contains(&failing.len()), "{requests:?}");
        let (fails, _) = judgement(&format!("metric = \"requests\"\nat-most = {bound}"));
        assert!(!fails.holds);
        assert_eq!((fails.replica, fails.failing), (failing[0], failing.len()));
        assert_eq!(fails.found.map(Value::as_f64), Some(requests[failing[0]]));
        // What is asked of a key or client is found in every replica, too.
        let (client, _) = judgement("client = \"client-2\"\nmetric = \"accepted\"\nat-least = 2");
        assert!(client.holds, "{client:?}");
        let (nobody, _) = judgement("client = \"client-3\"\nmetric = \"accepted\"\nat-least = 0");
        assert_eq!((nobody.failing, nobody.found), (9, None));
    }

    #[test]
    fn what_has_no_value_does_not_hold() {
        assert_eq!(
            judged("[[expect]]\nalgorithm = \"gcra\"\nclient = \"nobody\"\nmetric = \"rejected\"\nat-least = 0\n").unwrap(),
            ["gcra client nobody rejected >= 0, found nothing: false"]
        );
        assert_eq!(
            judged("[[expect]]\nalgorithm = \"gcra\"\nmetric = \"wait_max_s\"\nat-least = 0\n")
                .unwrap(),
            ["gcra wait_max_s >= 0, found nothing: false"]
        );
        assert_eq!(
            judged("[[expect]]\nalgorithm = \"gcra\"\nmetric = \"wait_max_s\"\nis = \"absent\"\n")
                .unwrap(),
            ["gcra wait_max_s absent, found nothing: true"]
        );
    }

    #[test]
    fn a_name_that_does_not_exist_is_a_problem_where_it_stands() {
        for (text, message) in [
            ("metric = \"acepted\"", "unknown metric `acepted`"),
            ("metric = \"keys_max\"\nclient = \"a\"", "unknown metric `keys_max`"),
            ("metric = \"accepted\"\nalgorithm = \"gcar\"", "unknown algorithm `gcar`"),
            ("metric = \"accepted\"\nkey = \"a\"\nlimit = \"b\"", "unknown limit `b`"),
            ("metric = \"accepted\"\ncase = \"b\"", "unknown case `b`"),
        ] {
            let shown = judged(&format!("[[expect]]\nis = 1\n{text}\n")).unwrap_err();
            assert!(shown.contains(message) && shown.contains("--> t.toml:1"), "{text}:\n{shown}");
        }
    }

    /// Nothing would be judged, and the expectation would seem to hold.
    #[test]
    fn an_algorithm_that_the_case_does_not_run_is_a_problem() {
        let cases = "[[case]]\nname = \"both\"\n\
                     [[case]]\nname = \"one\"\nset.algorithm = [{ kind = \"token-bucket\" }]\n";
        let expect = |case: &str| {
            format!(
                "{cases}[[expect]]\nmetric = \"accepted\"\nis = 4\ncase = \"{case}\"\nalgorithm = \"gcra\"\n"
            )
        };
        assert_eq!(judged(&expect("both")).unwrap().len(), 1);
        let shown = judged(&expect("one")).unwrap_err();
        assert!(shown.contains("`gcra` is not among the algorithms of that case"), "{shown}");
        assert!(shown.contains("known are: token-bucket"), "{shown}");
    }
}
