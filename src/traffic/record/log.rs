//! Logs of any format and any number of files, merged by time.

use std::cell::Cell;

use serde_json::{Value as Json, json};

use foldhash::fast::FixedState;
use indexmap::IndexMap;
use jiff::tz::TimeZone;

use super::costs::Costs;
use super::order::Order;
use super::request::Reading;
use super::{Settings, open};
use crate::error::Problem;
use crate::log::filter::{Filter, Sieve};
use crate::log::format::{Column, FORMATS, Fault, Format, Layout, named};
use crate::log::key::address::Prefix;
use crate::log::key::{Key, KeyReader};
use crate::log::limited::{Count, Handling, TOO_MANY_REQUESTS, WITHIN, Watch};
use crate::log::wanted::Wanted;
use crate::log::{Entry, Field, TimeUnit, Unit, Zone, count};
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
        "What a request cost: a field of whole numbers, or several to be added up; 1 where that is nothing. \
         By default 1.",
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
    let client =
        params.or("client", Key::address(), "What tells clients apart: parts of a request.");
    let endpoint: Option<Key> = params
        .optional("endpoint", "What tells endpoints apart. By default all requests are for one.");
    let filters: Vec<Filter> = params.or(
        "where",
        Vec::new(),
        "What must hold of requests that count: a filter, or several that must all hold.",
    );
    let handling: Option<Handling> = params.optional(
        "limited",
        "What becomes of requests that were already answered 429, and of their retries. By default \
         nobody looks at that.",
    );
    let clocks = zone.as_ref().map_or(TimeZone::UTC, |zone| zone.clocks().clone());
    let mut wanted = Wanted::default();
    let reader = client.reader(&mut wanted);
    let endpoint = endpoint.map(|key| (key.reader(&mut wanted), key));
    let sieve = match Sieve::new(&filters, &mut wanted, &clocks) {
        Ok(sieve) => sieve,
        Err(wrong) => {
            params.problems().add(Problem::at(&params.place_of("where"), wrong));
            return None;
        }
    };
    let watch = handling
        .map(|handling| (handling, Watch::new(vec![TOO_MANY_REQUESTS], WITHIN, &mut wanted)));
    let costs: Vec<(usize, String)> =
        cost.into_iter().map(|name| (wanted.position(Field::of(&name)), name)).collect();
    let wanted = wanted.fields().to_vec();
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
    let costs = Costs::of(costs);
    let (judging, key, judged) = (reader.clone(), Vec::new(), IndexMap::default());
    let present = Cell::new(None);
    let reading = Box::new(Log {
        client,
        reader,
        judging,
        key,
        endpoint,
        sieve,
        judged,
        watch,
        costs,
        present,
    });
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

struct Log {
    client: Key,
    reader: KeyReader,
    /// Makes the key where it has a part in whether a request counts.
    judging: KeyReader,
    key: Vec<u8>,
    endpoint: Option<(KeyReader, Key)>,
    sieve: Sieve,
    /// What filters of keys say of those that were met, if there are any.
    judged: IndexMap<Box<[u8]>, Result<(), usize>, FixedState>,
    watch: Option<(Handling, Watch)>,
    costs: Costs,
    /// Which components of keys any client had; `None` before the first.
    present: Cell<Option<u64>>,
}

impl Log {
    /// Whether a request of a key counts, as far as its key has a part in it.
    fn keeps_key(&mut self, entry: &Entry, key: &[u8]) -> bool {
        if self.sieve.has_keys()
            && let Err(filter) = self.judge(key)
        {
            self.sieve.left_out_by_key(filter);
            return false;
        }
        let watch = self.watch.as_mut();
        watch.is_none_or(|(handling, watch)| handling.keeps(watch.judge(entry, key)))
    }

    /// What filters of keys say of one.
    fn judge(&mut self, key: &[u8]) -> Result<(), usize> {
        if let Some(known) = self.judged.get(key) {
            return *known;
        }
        let found = self.sieve.keeps_key(&self.client.name(key));
        self.judged.insert(key.into(), found);
        found
    }
}

impl Reading for Log {
    fn identity(&mut self, entry: &Entry, into: &mut Vec<u8>) {
        self.reader.append(entry, into);
    }

    fn prefix(&self) -> Option<Prefix> {
        let all_count = self.sieve.is_empty() && self.watch.is_none();
        let alike = self.endpoint.is_none() && self.costs.is_none();
        self.client.prefix().filter(|_| all_count && alike)
    }

    fn keeps(&mut self, entry: &Entry) -> bool {
        if !self.sieve.keeps(entry) {
            return false;
        }
        if !self.sieve.has_keys() && self.watch.is_none() {
            return true;
        }
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        self.judging.append(entry, &mut key);
        let keeps = self.keeps_key(entry, &key);
        self.key = key;
        keeps
    }

    fn client(&self, identity: &[u8]) -> (Client, bool) {
        self.present.update(|present| Some(present.unwrap_or(0) | self.client.present(identity)));
        let address = self.client.address_in(identity);
        let nameless = self.client.has_address() && address.is_none();
        let name = self.client.name(identity);
        (Client::new(name, address), nameless)
    }

    fn endpoint(&mut self, entry: &Entry, into: &mut Vec<u8>) {
        if let Some((reader, _)) = &mut self.endpoint {
            reader.append(entry, into);
        }
    }

    fn endpoint_name(&self, bytes: &[u8]) -> String {
        self.endpoint.as_ref().map_or_else(String::new, |(_, key)| key.name(bytes))
    }

    fn cost(&mut self, entry: &Entry) -> Result<u32, Fault> {
        self.costs.total(entry)
    }

    fn mistake(&self) -> Option<String> {
        self.costs.mistake()
    }

    fn notes(&self) -> Vec<String> {
        let left_out = self.sieve.left_out().into_iter().filter(|(_, requests)| *requests > 0);
        let mut notes: Vec<String> = left_out
            .map(|(filter, requests)| {
                format!(
                    "{} left out by `{filter}`.",
                    count(requests, "request was", "requests were")
                )
            })
            .collect();
        notes.extend(
            self.watch
                .as_ref()
                .and_then(|(handling, watch)| limited_note(*handling, watch.count())),
        );
        notes.extend(self.present.get().and_then(|present| self.client.lacking_note(present)));
        match self.reader.short_lists() {
            0 => {}
            lists => notes.push(format!(
                "{} fewer hops than were asked for; the leftmost was taken.",
                count(lists, "forwarded list has", "forwarded lists have")
            )),
        }
        notes.extend(self.costs.note());
        notes
    }
}

/// A sentence on requests that had already been refused, if there were any.
fn limited_note(handling: Handling, found: Count) -> Option<String> {
    if found.refused == 0 {
        return None;
    }
    let refused = count(found.refused, "request", "requests");
    let retries = count(found.retries, "retry", "retries");
    let handled = match handling {
        Handling::Keep => "all count",
        Handling::DropRetries => "retries are left out",
        Handling::Drop => "both are left out",
    };
    let unwatched = match found.unwatched {
        0 => String::new(),
        some => format!("; {some} could not be watched for retries"),
    };
    Some(format!(
        "The log has {refused} that were already refused and {retries} of such: {handled}{unwatched}."
    ))
}
