//! `ratesim list`: what there is, read from the registries.

use std::path::Path;

use clap::ValueEnum;
use serde_json::{Value as Json, json};

use super::Output;
use super::load::files;
use crate::algorithm::{ALGORITHMS, Kind};
use crate::error::Error;
use crate::metrics::{LIMIT_METRICS, METRICS, Metric, SUBJECT_METRICS};
use crate::params::Params;
use crate::rate::Limit;
use crate::report::chart::CHARTS;
use crate::report::format::{width, wrap};
use crate::scenario::{Changes, Scenario};
use crate::time::Span;
use crate::traffic::SOURCES;

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The algorithms.
    Algorithms,
    /// The kinds of traffic, made up and recorded.
    Traffic,
    /// The formats of recorded traffic.
    Formats,
    /// The charts.
    Charts,
    /// The metrics, with units and meanings.
    Metrics,
    /// The scenarios in a folder.
    Scenarios,
}

/// One line of a list.
struct Entry {
    name: String,
    about: String,
    more: Vec<(&'static str, String)>,
}

impl Entry {
    fn new(name: &str, about: &str) -> Entry {
        Entry { name: name.to_owned(), about: about.to_owned(), more: Vec::new() }
    }

    fn with(mut self, key: &'static str, value: impl Into<String>) -> Entry {
        self.more.push((key, value.into()));
        self
    }
}

/// Lists `what`; `folder` is where scenarios are looked for.
///
/// # Errors
/// If a scenario in the folder cannot be read.
pub fn list(what: What, folder: &Path, json: bool, output: &mut Output) -> Result<(), Error> {
    let entries = entries(what, folder)?;
    if json {
        return output.say(&format!("{:#}", document(&entries)));
    }
    let names = entries.iter().map(|entry| width(&entry.name)).max().unwrap_or(0);
    for entry in &entries {
        let more = entry.more.iter().map(|(key, value)| format!("{key}: {value}"));
        let texts = std::iter::once(entry.about.clone()).chain(more);
        let mut name = entry.name.as_str();
        for text in texts {
            for line in wrap(&text, output.width.saturating_sub(names + 2).max(20)) {
                output.say(&format!("{name:<names$}  {line}"))?;
                name = "";
            }
        }
    }
    Ok(())
}

fn entries(what: What, folder: &Path) -> Result<Vec<Entry>, Error> {
    let recorded = |only: bool| {
        let kinds = SOURCES.iter().filter(move |kind| kind.recorded || !only);
        kinds.map(|kind| Entry::new(kind.name, kind.summary)).collect()
    };
    Ok(match what {
        What::Algorithms => ALGORITHMS
            .iter()
            .map(|kind| {
                Entry::new(kind.name, kind.summary)
                    .with("keeps", kind.memory)
                    .with("weakness", kind.weakness)
                    .with("options", options(kind).join(", "))
            })
            .collect(),
        What::Traffic => recorded(false),
        What::Formats => recorded(true),
        What::Charts => CHARTS.iter().map(|c| Entry::new(c.name, c.meaning)).collect(),
        What::Metrics => {
            let mut all: Vec<Entry> = METRICS.iter().map(|m| metric(m, "run")).collect();
            all.extend(LIMIT_METRICS.iter().map(|m| metric(m, "limit")));
            all.extend(SUBJECT_METRICS.iter().map(|m| metric(m, "key or client")));
            all
        }
        What::Scenarios => {
            let mut all = Vec::new();
            for path in files(&[folder.to_owned()])? {
                let scenario = Scenario::load(&path, &Changes::default())?;
                all.push(Entry::new(&path.display().to_string(), &scenario.about));
            }
            all
        }
    })
}

/// The names of an algorithm's options.
fn options(kind: &Kind) -> Vec<String> {
    let any = Limit::new(1, Span::from_secs(1));
    let fields = Params::describe(|params| {
        kind.limiter(&any, params);
    });
    fields.into_iter().map(|field| field.name).collect()
}

fn metric<T>(metric: &Metric<T>, of: &str) -> Entry {
    Entry::new(metric.name, metric.meaning).with("unit", metric.unit).with("of", of)
}

fn document(entries: &[Entry]) -> Json {
    let rows = entries.iter().map(|entry| {
        let mut row = json!({ "name": entry.name, "about": entry.about });
        for (key, value) in &entry.more {
            row[key] = json!(value);
        }
        row
    });
    Json::Array(rows.collect())
}
