//! `ratesim check`: run scenarios and hold them against what they must show.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::Output;
use crate::error::{Error, Problem};
use crate::report::format;
use crate::run::{self, Judgement, Progress};
use crate::scenario::{Changes, Scenario};

/// Arguments of `check`.
#[derive(Debug, Default)]
pub struct Options {
    /// Scenario files and folders of them.
    pub paths: Vec<PathBuf>,
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
    let mut scenarios = Vec::new();
    for path in files(&options.paths)? {
        scenarios.push(Scenario::load(&path, &Changes::default())?);
    }
    let mut all = Vec::new();
    for scenario in &scenarios {
        let options = run::Options { threads: options.threads, ..run::Options::default() };
        let findings = run::simulate(scenario, options, progress)?;
        all.push((scenario, run::judge(scenario, &findings.comparison)));
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
        let scenarios = format::count_of(scenarios.len() as u64, "scenario");
        let expectations = format::count_of(total as u64, "expectation");
        output.say(&format!("{scenarios}, {expectations}: {kept} hold, {} fail", total - kept))?;
    }
    Ok(kept == total)
}

fn line(judgement: &Judgement) -> String {
    if judgement.holds {
        return format!("  ok    {}", judgement.expected);
    }
    let found = match judgement.found {
        Some(value) => format!("found {}", format::exact(value)),
        None => "found nothing of the kind".to_owned(),
    };
    let (line, column) = judgement.place.line_column();
    let name = &judgement.place.source.name;
    format!("  FAIL  {}: {found}  ({name}:{line}:{column})", judgement.expected)
}

fn document(all: &[(&Scenario, Vec<Judgement>)]) -> Json {
    let rows = all.iter().flat_map(|(scenario, judgements)| {
        judgements.iter().map(|judgement| {
            json!({
                "scenario": scenario.name,
                "expected": judgement.expected,
                "found": judgement.found.map(crate::report::format::json),
                "holds": judgement.holds,
                "line": judgement.place.line_column().0,
            })
        })
    });
    Json::Array(rows.collect())
}

/// The scenario files among `paths` and in folders among them, folders in the order of names.
///
/// # Errors
/// If a path does not exist, cannot be read, or a folder has no scenario.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        let before = found.len();
        collect(path, &mut found)?;
        if found.len() == before {
            let message = format!("`{}` has no scenario (*.toml)", path.display());
            return Err(Error::input(Problem::new(message)));
        }
    }
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unreadable = |cause| Error::failed(format!("read the folder `{}`", folder.display()), cause);
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    Ok(())
}
