//! `ratesim list`: what there is, read from the registries.

use std::path::Path;

use clap::ValueEnum;
use serde_json::{Value as Json, json};

use super::Output;
use super::load::files;
use crate::algorithm::ALGORITHMS;
use crate::client::{self, BUDGETS, JITTERS, POLICIES, PROFILES};
use crate::error::{Error, Problem, suggest};
use crate::log::format::{FORMATS, Stamps};
use crate::log::key::PARTS;
use crate::metrics::{LIMIT_METRICS, METRICS, Metric, SUBJECT_METRICS};
use crate::params::Params;
use crate::rate::Limit;
use crate::redis::SCRIPTS;
use crate::report::chart::CHARTS;
use crate::report::words::{width, wrap};
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
    /// The formats of logs; with a name, what a log of it looks like.
    Formats,
    /// What requests of a log can be told apart by: the parts of `--key`.
    Keys,
    /// The charts.
    Charts,
    /// The metrics, with units and meanings.
    Metrics,
    /// The retry policies of clients, and the jitters of their delays.
    Retries,
    /// The kinds of retry budgets.
    Budgets,
    /// The clients whose settings have a name.
    Profiles,
    /// The scenarios in a folder.
    Scenarios,
    /// The Lua scripts for Redis that decide as the algorithms do; with a name, its text.
    Scripts,
}

/// One line of a list.
struct Entry {
    name: String,
    about: String,
    /// What stands between its name and what it is about.
    columns: Vec<(&'static str, String)>,
    /// What stands below.
    more: Vec<(&'static str, String)>,
    /// The whole text of what it is; told on its own, and in JSON.
    text: Option<&'static str>,
}

impl Entry {
    fn new(name: &str, about: &str) -> Entry {
        Entry {
            name: name.to_owned(),
            about: about.to_owned(),
            columns: Vec::new(),
            more: Vec::new(),
            text: None,
        }
    }

    fn column(mut self, key: &'static str, value: &str) -> Entry {
        self.columns.push((key, value.to_owned()));
        self
    }

    /// Nothing is added where there is nothing to say.
    fn with(mut self, key: &'static str, value: impl Into<String>) -> Entry {
        let value = value.into();
        if !value.is_empty() {
            self.more.push((key, value));
        }
        self
    }
}

/// Lists `what`; `folder` is where scenarios are looked for. With a `name`, the text of the script of that name,
/// or the example of the format.
///
/// # Errors
/// If a scenario in the folder cannot be read, or nothing that has a text goes by the name.
pub fn list(
    what: What,
    name: Option<&str>,
    folder: &Path,
    json: bool,
    output: &mut Output,
) -> Result<(), Error> {
    let mut entries = entries(what, folder)?;
    if let Some(name) = name {
        if !entries.iter().any(|entry| entry.text.is_some()) {
            let message = format!("`{name}`: only of scripts and formats one can be shown");
            let help = "ratesim list scripts NAME, or ratesim list formats NAME";
            return Err(Error::input(Problem::new(message).help(help)));
        }
        if !entries.iter().any(|entry| entry.name == name) {
            let known: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
            let one = if what == What::Scripts { "script" } else { "format" };
            let problem = Problem::new(format!("unknown {one} `{name}`"));
            return Err(Error::input(problem.help(suggest(name, known))));
        }
        entries.retain(|entry| entry.name == name);
    }
    if json {
        return output.say(&format!("{:#}", document(&entries)));
    }
    if name.is_some() {
        return entries.iter().filter_map(|entry| entry.text).try_for_each(|text| output.say(text));
    }
    for line in lines(&entries, output.width) {
        output.say(&line)?;
    }
    Ok(())
}

/// Cells of a column between name and meaning are broken into lines of at most so many places.
const COLUMN: usize = 8;

/// The entries side by side with what they are, under headers where there are columns between.
fn lines(entries: &[Entry], most: usize) -> Vec<String> {
    let cells = |entry: &Entry| -> Vec<Vec<String>> {
        let columns = entry.columns.iter().map(|(_, value)| wrap(value, COLUMN));
        std::iter::once(vec![entry.name.clone()]).chain(columns).collect()
    };
    let Some(first) = entries.first() else { return Vec::new() };
    let keys = first.columns.iter().map(|(key, _)| (*key).to_owned());
    let heads: Vec<Vec<String>> =
        std::iter::once("name".to_owned()).chain(keys).map(|head| vec![head]).collect();
    let headed = heads.len() > 1;
    let mut rows: Vec<(Vec<Vec<String>>, Vec<String>)> = Vec::new();
    if headed {
        rows.push((heads, vec!["meaning".to_owned()]));
    }
    rows.extend(entries.iter().map(|entry| {
        let more = entry.more.iter().map(|(key, value)| format!("{key}: {value}"));
        (cells(entry), std::iter::once(entry.about.clone()).chain(more).collect())
    }));
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|(cells, _)| cells.get(column)).flatten();
        cells.map(|line| width(line)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..=first.columns.len()).map(widest).collect();
    let left: usize = widths.iter().map(|width| width + 2).sum();
    let room = most.saturating_sub(left).max(20);
    let mut lines = Vec::new();
    for (cells, texts) in &rows {
        let about: Vec<String> = texts.iter().flat_map(|text| wrap(text, room)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(about.len());
        for index in 0..height {
            let mut line = String::new();
            for (cell, most) in cells.iter().zip(&widths) {
                let text = cell.get(index).map_or("", String::as_str);
                line.push_str(text);
                line.push_str(&" ".repeat(most - width(text) + 2));
            }
            line.push_str(about.get(index).map_or("", String::as_str));
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
}

fn entries(what: What, folder: &Path) -> Result<Vec<Entry>, Error> {
    Ok(match what {
        What::Algorithms => ALGORITHMS
            .iter()
            .map(|kind| {
                Entry::new(kind.name, kind.summary)
                    .with("keeps", kind.memory)
                    .with("weakness", kind.weakness)
                    .with("options", options(|params| kind.limiter(&ANY, params)))
            })
            .collect(),
        What::Traffic => SOURCES.iter().map(|kind| Entry::new(kind.name, kind.summary)).collect(),
        What::Formats => formats(),
        What::Keys => PARTS.iter().map(|part| Entry::new(part.form, part.summary)).collect(),
        What::Charts => CHARTS.iter().map(|c| Entry::new(c.name, c.meaning)).collect(),
        What::Metrics => {
            let mut all: Vec<Entry> = METRICS.iter().map(|m| metric(m, "run")).collect();
            all.extend(LIMIT_METRICS.iter().map(|m| metric(m, "limit")));
            all.extend(SUBJECT_METRICS.iter().map(|m| metric(m, "key or client")));
            all
        }
        What::Retries => retries(),
        What::Budgets => budgets(),
        What::Profiles => profiles(),
        What::Scenarios => {
            let mut all = Vec::new();
            for path in files(&[folder.to_owned()])? {
                let scenario = Scenario::load(&path, &Changes::default())?;
                all.push(Entry::new(&path.display().to_string(), &scenario.about));
            }
            all
        }
        What::Scripts => SCRIPTS
            .iter()
            .map(|script| {
                let entry =
                    Entry::new(script.name, script.kind().summary).with("keeps", script.keeps);
                Entry { text: Some(script.text), ..entry }
            })
            .collect(),
    })
}

const ANY: Limit = Limit::new(1, Span::from_secs(1));

/// The names of the settings that a reader asks for.
fn options<R>(reader: impl FnOnce(&mut Params) -> R) -> String {
    let fields = Params::describe(|params| drop(reader(params)));
    fields.into_iter().map(|field| field.name).collect::<Vec<_>>().join(", ")
}

/// The formats of logs, with an example each.
fn formats() -> Vec<Entry> {
    let entry = |format: &crate::log::format::Format| {
        let stamps = match format.stamps {
            Stamps::Start => "when requests came",
            Stamps::End => "when requests were done",
            Stamps::EndIfTimed => {
                "when requests were done, where it has durations; else when they came"
            }
        };
        let entry = Entry::new(format.name, format.summary).with("its times say", stamps);
        Entry { text: Some(format.example), ..entry }
    };
    FORMATS.iter().map(entry).collect()
}

/// What there is for the settings `retries` and `jitter` of clients.
fn retries() -> Vec<Entry> {
    let policies = POLICIES.iter().map(|policy| {
        let options = options(|params| policy.delays.map(|delays| delays(params, None)));
        Entry::new(policy.name, policy.summary)
            .column("setting", "retries")
            .with("delay", policy.formula)
            .with("options", options)
            .with("source", policy.source)
    });
    let jitters = JITTERS.iter().map(|jitter| {
        let options = options(|params| jitter.options.map(|read| read(params)));
        Entry::new(jitter.name, jitter.summary)
            .column("setting", "jitter")
            .with("delay", jitter.formula)
            .with("options", options)
            .with("source", jitter.source)
            .with("good for", jitter.good_for)
    });
    policies.chain(jitters).collect()
}

/// The kinds of retry budgets.
fn budgets() -> Vec<Entry> {
    let entry = |kind: &client::BudgetKind| {
        let options = options(|params| kind.read.map(|read| read(params)));
        Entry::new(kind.name, kind.summary).with("options", options).with("source", kind.source)
    };
    BUDGETS.iter().map(entry).collect()
}

/// The clients whose settings have a name.
fn profiles() -> Vec<Entry> {
    let entry = |profile: &client::Profile| {
        let settings = profile.settings.lines().map(str::trim).filter(|line| !line.is_empty());
        Entry::new(profile.name, profile.summary)
            .with("settings", settings.collect::<Vec<_>>().join("; "))
            .with("source", profile.source)
    };
    PROFILES.iter().map(entry).collect()
}

fn metric<T>(metric: &Metric<T>, of: &str) -> Entry {
    Entry::new(metric.name, metric.meaning).column("unit", metric.unit).column("of", of)
}

fn document(entries: &[Entry]) -> Json {
    let rows = entries.iter().map(|entry| {
        let mut row = json!({ "name": entry.name, "about": entry.about });
        for (key, value) in entry.columns.iter().chain(&entry.more) {
            row[key] = json!(value);
        }
        if let Some(text) = entry.text {
            row["text"] = json!(text);
        }
        row
    });
    Json::Array(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_between_name_and_meaning_and_break_between_words() {
        let entries = [
            Entry::new("accepted", "Attempts that went through.")
                .column("unit", "attempts")
                .column("of", "key or client"),
            Entry::new("b", "Short.").column("unit", "s").column("of", "run"),
        ];
        assert_eq!(
            lines(&entries, 48),
            [
                "name      unit      of      meaning",
                "accepted  attempts  key or  Attempts that went",
                "                    client  through.",
                "b         s         run     Short.",
            ]
        );
    }

    #[test]
    fn without_columns_there_is_no_header() {
        let entries = [Entry::new("a", "What it is.").with("keeps", "one stamp")];
        assert_eq!(lines(&entries, 80), ["a  What it is.", "   keeps: one stamp"]);
    }
}
