//! `ratesim check`: run scenarios and hold them against what they must show.

use std::path::PathBuf;

use serde_json::Value as Json;

use super::{Output, load};
use crate::error::Error;
use crate::report::json;
use crate::run::{self, Judgement, Progress};
use crate::scenario::{Changes, Scenario};

/// Arguments of `check`.
#[derive(Debug, Default)]
pub struct Options {
    /// Scenario files and folders of them.
    pub paths: Vec<PathBuf>,
    /// What the command line changes in them.
    pub changes: Changes,
    /// See [`run::Options`].
    pub threads: usize,
    /// List only what does not hold.
    pub quiet: bool,
    /// Write JSON instead of text.
    pub json: bool,
}

/// Runs every scenario and lists every expectation. Whether all hold.
///
/// # Errors
/// Every problem of the scenarios, before any is run.
pub fn check(
    options: &Options,
    output: &mut Output,
    progress: &dyn Progress,
) -> Result<bool, Error> {
    let files = load::files(&options.paths)?;
    let scenarios = load::prepare(&files, &options.changes, &[], progress, options.threads)?;
    let mut all = Vec::new();
    for prepared in &scenarios {
        let options = run::Options { threads: options.threads, ..run::Options::default() };
        let findings = run::simulate(prepared, options, progress)?;
        all.push((&prepared.scenario, run::judge(&prepared.scenario, &findings.comparison)));
    }
    let judgements = || all.iter().flat_map(|(_, judgements)| judgements);
    let (total, kept) = (judgements().count(), judgements().filter(|j| j.holds).count());
    if options.json {
        output.say(&document(&all).to_string())?;
        return Ok(kept == total);
    }
    for (scenario, judgements) in &all {
        let listed = judgements.iter().filter(|judgement| !options.quiet || !judgement.holds);
        let lines: Vec<String> = listed.map(line).collect();
        if !lines.is_empty() || !options.quiet {
            output.say(&scenario.path.display().to_string())?;
        }
        match lines.as_slice() {
            [] if !options.quiet => output.say("  no expectations")?,
            lines => lines.iter().try_for_each(|line| output.say(line))?,
        }
    }
    if !options.quiet || kept < total {
        let fail = total - kept;
        let expectations = if total == 1 { "expectation" } else { "expectations" };
        let hold = if kept == 1 { "holds" } else { "hold" };
        let fails = if fail == 1 { "fails" } else { "fail" };
        output.say(&format!("{kept} of {total} {expectations} {hold}, {fail} {fails}"))?;
    }
    Ok(kept == total)
}

fn line(judgement: &Judgement) -> String {
    if judgement.holds {
        return format!("  ok    {}", judgement.expected);
    }
    let found = match judgement.found {
        Some(value) => format!("found {value}"),
        None => "found nothing of the kind".to_owned(),
    };
    let Judgement { replica, failing, replicas, .. } = judgement;
    let found = match replicas {
        1 => found,
        _ => format!("{found} in replica {replica}, fails in {failing} of {replicas}"),
    };
    let (line, column) = judgement.place.line_column();
    let name = &judgement.place.source.name;
    format!("  FAIL  {}: {found}  ({name}:{line}:{column})", judgement.expected)
}

fn document(all: &[(&Scenario, Vec<Judgement>)]) -> Json {
    let rows = all.iter().flat_map(|(scenario, judgements)| {
        judgements.iter().map(|judgement| {
            let mut row = serde_json::json!({
                "scenario": scenario.name,
                "expected": judgement.expected,
                "found": json::number(judgement.found),
                "holds": judgement.holds,
                "line": judgement.place.line_column().0,
            });
            if judgement.replicas > 1 {
                row["replica"] = judgement.replica.into();
                row["failing"] = judgement.failing.into();
                row["replicas"] = judgement.replicas.into();
            }
            row
        })
    });
    Json::Array(rows.collect())
}
