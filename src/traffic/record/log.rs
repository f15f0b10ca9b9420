//! Logs of any format and any number of files, merged by time.

use serde_json::{Value as Json, json};

use super::csv::total;
use super::intake::Order;
use super::request::{Reading, append_address, client_at};
use super::{Settings, open};
use crate::error::Problem;
use crate::log::format::{Column, FORMATS, Fault, Format, Layout, named};
use crate::log::{Entry, Field, TimeUnit, Unit, Zone};
use crate::params::{Node, Params, Setting, Value};
use crate::traffic::{Client, Kind};

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "log",
    summary: "Logs of servers in any of the known formats, one file or several, packed or not.",
    recorded: true,
    open: |params, context| open(params, context, super::any_paths, settings),
};

/// A format by its name, or `auto`.
#[derive(Debug, Clone, Copy)]
struct Chosen(Option<&'static Format>);

impl Setting for Chosen {
    const EXPECTED: &'static str = "the name of a format of logs, or \"auto\"";

    fn read(node: &Node) -> Result<Self, Problem> {
        let text = String::read(node)?;
        match named(&text) {
            None if text != "auto" => {
                let known = FORMATS.iter().map(|format| format.name).chain(["auto"]);
                Err(Problem::unknown(&node.place, "format of logs", &text, known))
            }
            format => Ok(Chosen(format)),
        }
    }

    fn json(&self) -> Json {
        json!(self.0.map_or("auto", |format| format.name))
    }

    fn schema() -> Json {
        let auto =
            json!({ "const": "auto", "description": "Told from the first lines of each file." });
        let named = FORMATS
            .iter()
            .map(|format| json!({ "const": format.name, "description": format.summary }));
        let all: Vec<Json> = [auto].into_iter().chain(named).collect();
        json!({ "oneOf": all })
    }
}

fn settings(params: &mut Params) -> Option<Settings> {
    let Chosen(format) = params.or("format", Chosen(None), "What the lines look like.");
    let cost: Vec<String> = params.or(
        "cost",
        Vec::new(),
        "What a request cost: a field of whole numbers, or several to be added up. By default 1.",
    );
    let columns = columns(params);
    let pattern: Option<String> = params.optional(
        "pattern",
        "The expression of the format `regex`, with named groups: `time`, the names of fields, or \
         any other. It is meant where it is given.",
    );
    let pattern = pattern.map(|name| Column { name, place: Some(params.place_of("pattern")) });
    let zone: Option<Zone> =
        params.optional("tz", "The zone of times that have none. By default UTC, with a note.");
    let time_unit = params.or(
        "time-unit",
        TimeUnit::Auto,
        "The unit of times that are numbers, counted from 1970. Times that start near zero need \
         one.",
    );
    let duration_unit: Option<Unit> = params.optional(
        "duration-unit",
        "The unit of durations, where the format does not say it. In the combined format it says \
         that the last field of a line is one: `s` for `$request_time` of nginx, `us` for `%D` of \
         Apache.",
    );
    let delimiter = super::delimiter(params, None);
    let order = params.or("order", Order::Sort, "What becomes of requests that are out of order.");
    let mut wanted = vec![Field::Address];
    let mut costs = Vec::new();
    for name in cost {
        costs.push((wanted.len(), name.clone()));
        wanted.push(Field::of(&name));
    }
    let (time, duration, columns) = columns?;
    let layout = Layout {
        wanted,
        time,
        duration,
        columns,
        time_unit,
        duration_unit,
        delimiter: delimiter?,
        pattern,
        place: Some(params.place_of("path")),
        ..Layout::default()
    };
    let reading = Box::new(Log { costs });
    Some(Settings { format, zone, order, ..Settings::new(layout, reading) })
}

type Columns = (Option<Column>, Option<Column>, Vec<(Field, Column)>);

/// Where the time, the duration and other fields stand. `None` after a problem was reported.
fn columns(params: &mut Params) -> Option<Columns> {
    let fields: Vec<&str> = ["time", "duration"].into_iter().chain(Field::names()).collect();
    let meaning = format!(
        "Which column of a table, path in JSON (`request.headers.Host`) or other name in the format \
         is which field, where it cannot be told: {}.",
        fields.join(", ")
    );
    let mut all_known = true;
    let entries = params.entries(
        "columns",
        &meaning,
        |entry, problems| {
            if !fields.contains(&entry.key.as_str()) {
                problems.add(Problem::unknown(
                    &entry.place,
                    "field",
                    &entry.key,
                    fields.iter().copied(),
                ));
                all_known = false;
                return None;
            }
            match &entry.node.value {
                Value::String(name) => {
                    let column =
                        Column { name: name.clone(), place: Some(entry.node.place.clone()) };
                    Some(((entry.key.clone(), column), json!(name)))
                }
                other => {
                    let message = format!("expected the name of a column, found {}", other.kind());
                    problems.add(Problem::at(&entry.node.place, message));
                    all_known = false;
                    None
                }
            }
        },
        json!({ "type": "string" }),
    );
    if !all_known {
        return None;
    }
    let (mut time, mut duration, mut others) = (None, None, Vec::new());
    for (field, column) in entries {
        match field.as_str() {
            "time" => time = Some(column),
            "duration" => duration = Some(column),
            name => others.push((Field::of(name), column)),
        }
    }
    Some((time, duration, others))
}

const ADDRESS: usize = 0;

struct Log {
    costs: Vec<(usize, String)>,
}

impl Reading for Log {
    fn identity(&mut self, entry: &Entry, into: &mut Vec<u8>) {
        append_address(entry.get(ADDRESS).unwrap_or(b"-"), into);
    }

    fn client(&self, identity: &[u8]) -> (Client, bool) {
        client_at(identity)
    }

    fn endpoint(&mut self, _entry: &Entry, _into: &mut Vec<u8>) {}

    fn cost(&mut self, entry: &Entry) -> Result<u32, Fault> {
        total(entry, &self.costs)
    }
}
