//! Scenarios: any text is read to a scenario that can be made ready to run, or to problems that can be shown.

use std::collections::BTreeSet;
use std::path::Path;

use ratesim::command::schema::schema;
use ratesim::error::Error;
use ratesim::params::{Node, Value};
use ratesim::run::prepare;
use ratesim::scenario::{Changes, Scenario};
use ratesim::traffic::SOURCES;
use serde_json::Value as Json;

use crate::Target;

/// The target.
pub const TARGET: Target = Target { name: "scenario", seeds, words, run };

/// Whether a table of traffic has a kind that reads files, or none that is known.
fn reads(traffic: &Node) -> bool {
    let Value::Table(table) = &traffic.value else { return true };
    match table.get("kind").map(|kind| &kind.node.value) {
        Some(Value::String(name)) => {
            SOURCES.iter().find(|kind| kind.name == name).is_none_or(|kind| kind.recorded)
        }
        _ => true,
    }
}

fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let scenario = Scenario::parse(Path::new("t.toml"), text.to_owned(), &Changes::default());
    let mut scenario = match scenario {
        Ok(scenario) => scenario,
        Err(error) => return shown(&error),
    };
    if scenario.cases.iter().flat_map(|case| &case.traffic).any(reads) {
        return;
    }
    for case in &mut scenario.cases {
        case.max_requests = case.max_requests.min(10_000);
        case.max_memory_mib = case.max_memory_mib.min(256);
    }
    match prepare(scenario, &[]) {
        Ok(prepared) => {
            let (least, most) = prepared.decisions();
            assert!(least <= most);
        }
        Err(error) => shown(&error),
    }
}

/// What is wrong can be shown.
fn shown(error: &Error) {
    assert!(matches!(error, Error::Input(problems) if !problems.is_empty()));
    assert!(!error.render(true).is_empty());
}

fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut seeds = Vec::new();
    for folder in [folder.clone(), folder.join("worked")] {
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut paths: Vec<_> = files.map(|file| file.path()).collect();
        paths.sort();
        for path in paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == "toml")) {
            seeds.extend(std::fs::read(path));
        }
    }
    seeds
}

/// The names of all settings, and the words that are their values.
fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    collect(&schema(), &mut words);
    words
}

fn collect(schema: &Json, words: &mut BTreeSet<String>) {
    let fields = schema.as_object().into_iter().flatten();
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("const", Json::String(word)) => drop(words.insert(format!("\"{word}\""))),
            ("properties", Json::Object(properties)) => words.extend(properties.keys().cloned()),
            _ => {}
        }
        collect(value, words);
    }
    schema.as_array().into_iter().flatten().for_each(|value| collect(value, words));
}
