//! Tables and logs as the traffic of a scenario: with columns by name, costs, several files, an order, a spread.

use std::collections::BTreeSet;
use std::path::Path;

use ratesim::error::Error;
use ratesim::run::{Prepared, prepare};
use ratesim::scenario::{Changes, Scenario};
use toml::{Table, Value};

use crate::Target;
use crate::choices::Choices;
use crate::file;

/// The target.
pub const TARGET: Target = Target { name: "rows", seeds, words: BTreeSet::new, run };

/// A scenario with such traffic made ready; `None` if it has problems, of which at least one is said.
pub fn ready(traffic: Table, more: &str) -> Option<Prepared> {
    let mut table = Table::new();
    table.insert("traffic".to_owned(), Value::Array(vec![traffic.into()]));
    let text = format!("name = \"t\"\n{more}\n{table}");
    let scenario = Scenario::parse(Path::new("t.toml"), text.clone(), &Changes::default());
    match scenario.and_then(|scenario| prepare(scenario, &[])) {
        Ok(prepared) => Some(prepared),
        Err(Error::Input(problems)) => {
            assert!(!problems.is_empty());
            None
        }
        Err(other) => panic!("{}", other.render(false)),
    }
}

fn run(data: &[u8]) {
    let mut choices = Choices(data);
    let kind = choices.of(&["csv", "log", "access-log"]);
    let format = choices.of(&["csv", "tsv", "auto", "json", "w3c"]);
    let [order, spread, arrival] = [
        choices.of(&["", "sort", "require"]),
        choices.of(&["", "none", "even", "random"]),
        choices.of(&["", "start", "end"]),
    ];
    let delimiter = choices.of(&["", "", ";", "\t", "|", " "]);
    let time_unit = choices.of(&["", "", "s", "ns"]);
    let strict = choices.of(&[false, false, true]);
    let columns = choices.line();
    let mut traffic = Table::new();
    let mut set = |name: &str, value: Value| drop(traffic.insert(name.to_owned(), value));
    set("kind", kind.into());
    for (name, value) in [("order", order), ("spread", spread), ("arrival", arrival)] {
        // An access log is always sorted.
        if !value.is_empty() && (name != "order" || kind == "log") {
            set(name, value.into());
        }
    }
    if strict {
        set("strict", true.into());
    }
    // What a column is called, by the names of fields: `time=at cost=tokens`.
    let pairs = columns.split(' ').filter_map(|pair| pair.split_once('='));
    let named: Table =
        pairs.clone().map(|(field, column)| (field.to_owned(), column.into())).collect();
    if kind != "access-log" {
        for (name, value) in [("delimiter", delimiter), ("time-unit", time_unit)] {
            if !value.is_empty() {
                set(name, value.into());
            }
        }
        let mut named = named;
        if kind == "log" {
            set("format", format.into());
            if let Some(cost) = named.remove("cost") {
                set("cost", cost);
            }
            for (field, name) in
                [("client", "client"), ("endpoint", "endpoint"), ("where", "where")]
            {
                if let Some(value) = named.remove(field) {
                    set(name, value);
                }
            }
        }
        set("columns", named.into());
    }
    let path = file::with(choices.0);
    set("path", path.display().to_string().into());
    ready(traffic, "limit = \"3/1m\"");
}

fn seeds() -> Vec<Vec<u8>> {
    let table = "at,ip,path,took,tokens\n2015-05-17T10:05:03Z,192.0.2.7,/a,12,3\n\
                 2015-05-17T10:05:02Z,\"192.0.2.7\",\"/a \"\"b\"\"\",0.5,1\n1431857103.586,::1,,,\n";
    let columns = [
        "time=at",
        "time=at client=ip cost=tokens endpoint=path duration=took",
        "time=at address=ip cost=tokens",
    ];
    let mut seeds = Vec::new();
    for kind in 0..2_u8 {
        for columns in columns {
            let head = [kind, 0, 0, 0, 0, 0, 0, 0];
            seeds.push([&head[..], columns.as_bytes(), b"\n", table.as_bytes()].concat());
        }
    }
    let line = "192.0.2.7 - frank [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 512\n";
    seeds.push([&[2, 0, 0, 0, 0, 0, 0, 0][..], b"\n", line.as_bytes(), line.as_bytes()].concat());
    seeds
}
