//! `ratesim replay`: recorded traffic against a limit given by flags. It writes the scenario that says so,
//! and runs it as `ratesim run` does.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::logs::{Logs, as_flags};
use super::{Output, run};
use crate::algorithm;
use crate::error::{Error, Problems};
use crate::metrics::{METRICS, Metric, Row};
use crate::params::Choice;
use crate::rate::Rate;
use crate::report::{self, affected, table};
use crate::run::{Findings, Prepared, Progress, prepare_with};
use crate::scenario::{Changes, Scenario};
use crate::traffic::Spread;

/// Arguments of `replay`.
#[derive(Debug)]
pub struct Options {
    /// What is replayed.
    pub logs: Logs,
    /// What is promised.
    pub limit: Rate,
    /// What may pass at once from rest; by default as much as the limit.
    pub burst: Option<u64>,
    /// The field that says what a request costs.
    pub cost: Option<String>,
    /// How requests of one second are spread; by default both ways, where it makes a difference.
    pub spread: Option<Spread>,
    /// The name of the folder of results; by default that of the first file.
    pub name: Option<String>,
    /// Print the scenario and run nothing: the logs are read only to know whether their stamps are whole seconds.
    pub print_scenario: bool,
    /// As of `run`; its scenarios are not looked at.
    pub run: run::Options,
}

/// The two ways in which requests of one second may have come: as smoothly as can be, which is how they are
/// spread by default, and all at once.
const BOUNDS: [(&str, Option<Spread>); 2] =
    [("spread evenly", None), ("as stamped", Some(Spread::None))];

/// Replays logs.
///
/// # Errors
/// Every problem of the arguments and of the logs, before anything is run; then whatever cannot be written.
pub fn replay(
    options: &Options,
    output: &mut Output,
    progress: &dyn Progress,
) -> Result<(), Error> {
    options.logs.check()?;
    let written = document(options, true)?;
    let mut prepared = prepare(written.clone(), options, progress).map_err(as_flags)?;
    let finer =
        prepared.scenario.cases.len() > 1 && prepared.resolved(0)["traffic"][0]["spread"] == "none";
    if options.print_scenario {
        return output.say(&if finer { document(options, false)? } else { written });
    }
    if finer {
        prepared.keep_first_case();
    }
    run::check_folders(std::slice::from_ref(&prepared), &options.run)?;
    let findings = run::carry_out(&mut prepared, &options.run, progress, |findings| {
        // Decisions are told by case, and are written by now.
        if !options.run.decisions && agree(findings) {
            findings.keep_first_case();
        }
    })?;
    let comparison = &findings.comparison;
    if options.run.json {
        let mut document = report::json::summary(comparison);
        document["affected"] = affected::json(comparison);
        return output.say(&format!("{document:#}"));
    }
    if !options.run.quiet {
        output.say(&table::table(comparison, output.width, output.styled))?;
        output.say("")?;
        output.say(&affected::text(comparison, output.width, output.styled))?;
        output.say("")?;
        output.say(&run::closing(&prepared, &findings, &options.run, output.styled))?;
    }
    Ok(())
}

/// Reads the logs of the scenario.
fn prepare(
    document: String,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Prepared, Error> {
    let run::Options { only, threads, .. } = &options.run;
    let scenario = Scenario::parse(Path::new("replay"), document, &Changes::default())?;
    let problems = Problems::new();
    let prepared = prepare_with(scenario, only, &problems, progress, *threads)?;
    problems.into_result()?;
    Ok(prepared)
}

/// Whether several cases have the same numbers under every algorithm.
fn agree(findings: &Findings) -> bool {
    let comparison = &findings.comparison;
    let rows = |case: usize| comparison.rows.iter().filter(move |row| row.case == case);
    // Most metrics take a look at every key: the first that differs decides.
    let same = |one: &Row, other: &Row| {
        let equal = |metric: &Metric| (metric.value)(&one.tally) == (metric.value)(&other.tally);
        one.algorithm == other.algorithm && METRICS.iter().all(equal)
    };
    let agrees = |case: usize| {
        rows(case).count() == rows(0).count()
            && rows(0).zip(rows(case)).all(|(one, other)| same(one, other))
    };
    comparison.cases.len() > 1 && (1..comparison.cases.len()).all(agrees)
}

/// The scenario; with `bounds` one in which stamps may be whole seconds.
fn document(options: &Options, bounds: bool) -> Result<String, Error> {
    let mut limit = Table::new();
    limit.insert("requests".to_owned(), whole(options.limit.count));
    limit.insert("per".to_owned(), options.limit.per.to_string().into());
    if let Some(burst) = options.burst {
        limit.insert("burst".to_owned(), whole(burst));
    }
    let mut traffic = options.logs.traffic()?;
    if let Some(cost) = &options.cost {
        traffic.insert("cost".to_owned(), cost.as_str().into());
    }
    let mut cases = Vec::new();
    match options.spread {
        Some(spread) => drop(traffic.insert("spread".to_owned(), spread.name().into())),
        None if !bounds => {}
        None => cases.extend(BOUNDS.map(|(name, spread)| {
            let mut case = Table::new();
            case.insert("name".to_owned(), name.into());
            if let Some(spread) = spread {
                let table = |name: &str, value: Value| -> Value {
                    Value::Table([(name.to_owned(), value)].into_iter().collect())
                };
                let first = table("0", table("spread", spread.name().into()));
                case.insert("set".to_owned(), table("traffic", first));
            }
            Value::Table(case)
        })),
    }
    let mut document = Table::new();
    let mut set = |name: &str, value: Value| drop(document.insert(name.to_owned(), value));
    set("name", name(options).into());
    set("about", format!("The requests recorded in {}.", options.logs.names()).into());
    if let Some(seed) = options.run.changes.seed {
        set("seed", whole(seed));
    }
    set("limit", Value::Table(limit));
    set("traffic", Value::Array(vec![Value::Table(traffic)]));
    // A name that is not known is told as one of `--only`.
    let only = &options.run.only;
    if !only.is_empty() && only.iter().all(|name| algorithm::position(name).is_some()) {
        let mut kinds: Vec<&String> = only.iter().collect();
        kinds.sort_by_key(|name| algorithm::position(name));
        kinds.dedup();
        let kinds = kinds.into_iter().map(|name| {
            Value::Table([("kind".to_owned(), name.as_str().into())].into_iter().collect())
        });
        set("algorithm", Value::Array(kinds.collect()));
    }
    if !cases.is_empty() {
        set("case", Value::Array(cases));
    }
    toml::to_string_pretty(&document).map_err(|cause| Error::failed("write the scenario", cause))
}

/// Counts stay far below 2^63.
fn whole(count: u64) -> Value {
    Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}

/// `replay-access` for `logs/access.log.2.gz`.
fn name(options: &Options) -> String {
    if let Some(name) = &options.name {
        return name.clone();
    }
    let file = options.logs.paths.first().map_or(Path::new(""), PathBuf::as_path);
    let file =
        file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or("");
    let stem = if stem == "-" { "stdin" } else { stem };
    let fit = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let fit: String = stem.chars().map(fit).take(80).collect();
    match fit.trim_matches('-') {
        "" => "replay".to_owned(),
        stem => format!("replay-{stem}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn options(paths: &[&str]) -> Options {
        let paths = paths.iter().map(PathBuf::from).collect();
        Options {
            logs: Logs::new(paths),
            limit: Rate { count: 100, per: Span::from_secs(60) },
            burst: None,
            cost: None,
            spread: None,
            name: None,
            print_scenario: false,
            run: run::Options::default(),
        }
    }

    #[test]
    fn the_scenario_of_a_log_is_one_that_a_person_could_have_written() {
        let both = document(&options(&["logs/access.log"]), true).unwrap();
        let only = ["token-bucket", "gcra", "token-bucket"].map(str::to_owned).to_vec();
        let changes = Changes { seed: Some(7), ..Changes::default() };
        let one = Options {
            burst: Some(20),
            spread: Some(Spread::Random),
            cost: Some("tokens".to_owned()),
            run: run::Options { only, changes, ..run::Options::default() },
            ..options(&["a.log", "b.log"])
        };
        let finer = document(&options(&["logs/access.log"]), false).unwrap();
        let all = [both, document(&one, true).unwrap(), finer];
        insta::assert_snapshot!(all.join("\n---\n"));
    }

    #[test]
    fn a_folder_of_results_is_named_after_the_first_file() {
        for (path, name) in [
            ("access.log", "replay-access"),
            ("/var/log/Access_Log-2015.log.2.gz", "replay-access-log-2015"),
            ("-", "replay-stdin"),
            (".log", "replay-log"),
            ("...", "replay"),
            ("ä.log", "replay"),
            ("../charts", "replay-charts"),
        ] {
            assert_eq!(super::name(&options(&[path])), name, "{path}");
        }
        let named = Options { name: Some("mine".to_owned()), ..options(&["a.log"]) };
        assert_eq!(super::name(&named), "mine");
    }
}
