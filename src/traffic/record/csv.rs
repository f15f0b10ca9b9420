//! Tables as CSV: a heading, then one request a row, with the columns named in the scenario. Everything about a
//! client may have a column of its own.

use std::borrow::Cow;

use super::request::{Reading, address};
use super::{Settings, open};
use crate::error::Place;
use crate::log::format::{Column, Fault, Layout, named};
use crate::log::{Entry, Field, Number, TimeUnit, Unit, readable};
use crate::params::Params;
use crate::traffic::{Account, Client, Kind};

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "csv",
    summary: "A table with a heading and one request a row, as CSV.",
    recorded: true,
    open: |params, context| open(params, context, super::one_path, settings),
};

/// The columns that are used.
struct Columns {
    time: Column,
    /// Of who asked: name, API key, address, tenant, tier.
    who: [Option<Column>; 5],
    endpoint: Option<Column>,
    cost: Vec<Column>,
    duration: Option<Column>,
}

fn settings(params: &mut Params) -> Option<Settings> {
    let columns =
        params.table("columns", "The names of the columns, as they stand in the heading.", columns);
    let time_unit = params.or(
        "time-unit",
        TimeUnit::Auto,
        "The unit of times that are numbers, counted from 1970. Times that start near zero need \
         one.",
    );
    let duration_unit =
        params.or("duration-unit", Unit::Seconds, "The unit of `columns.duration`.");
    let delimiter = super::delimiter(params, Some(","));
    let Columns { time, who, endpoint, cost, duration } = columns?;
    let mut wanted = Wanted::default();
    let who = who.map(|column| column.map(|column| wanted.add(column)));
    let endpoint = endpoint.map(|column| wanted.add(column));
    let costs: Vec<(usize, String)> = cost
        .into_iter()
        .map(|column| {
            let name = column.name.clone();
            (wanted.add(column), name)
        })
        .collect();
    let layout = Layout {
        wanted: wanted.fields,
        time: Some(time),
        duration,
        columns: wanted.columns,
        named_only: true,
        time_unit,
        duration_unit: Some(duration_unit),
        delimiter: Some(delimiter??),
        place: Some(params.place_of("path")),
        ..Layout::default()
    };
    let reading = Box::new(Table { who, endpoint, costs });
    Some(Settings { format: named("csv"), ..Settings::new(layout, reading) })
}

fn columns(params: &mut Params) -> Option<Columns> {
    let column = |name, place: Place| Column { name, place: Some(place) };
    let time: Option<String> = params.required(
        "time",
        "When the request was made: RFC 3339, `2023-11-16 18:17:03.97`, the form of access logs, \
         or a number.",
    );
    let time = time.map(|name| column(name, params.place_of("time")));
    let mut optional = |key, meaning| {
        let name: Option<String> = params.optional(key, meaning);
        name.map(|name| column(name, params.place_of(key)))
    };
    let who = [
        optional(
            "client",
            "Who made it. By default the API key, the address or the tenant, whichever is given \
             first, else one client named `all`.",
        ),
        optional("api-key", "The client's API key."),
        optional("address", "The client's IP address."),
        optional("tenant", "The organisation the client belongs to."),
        optional("tier", "The plan the client pays for."),
    ];
    let endpoint = optional("endpoint", "What was asked for.");
    let duration = optional("duration", "How long the request took; a number.");
    let cost: Vec<String> = params.or(
        "cost",
        Vec::new(),
        "What it cost: a column of whole numbers, or several to be added up. By default 1.",
    );
    let place = params.place_of("cost");
    let cost = cost.into_iter().map(|name| column(name, place.clone())).collect();
    Some(Columns { time: time?, who, endpoint, cost, duration })
}

/// The fields that are wanted so far.
#[derive(Default)]
struct Wanted {
    fields: Vec<Field>,
    columns: Vec<(Field, Column)>,
}

impl Wanted {
    /// The position of a column, which is wanted from here on.
    fn add(&mut self, column: Column) -> usize {
        // As many columns as are asked for: two settings may name the same one, each at its place.
        let position = self.fields.len();
        let field = Field::Named(format!("{position} {}", column.name));
        self.fields.push(field.clone());
        self.columns.push((field, column));
        position
    }
}

/// Where in an entry the columns are found.
struct Table {
    who: [Option<usize>; 5],
    endpoint: Option<usize>,
    costs: Vec<(usize, String)>,
}

impl Reading for Table {
    fn identity(&mut self, entry: &Entry, into: &mut Vec<u8>) {
        for position in self.who {
            // The length with one added, or 0 where there is none; most are short, and one byte tells it.
            let part = position.and_then(|position| entry.get(position));
            let length = part.map_or(0, |part| part.len() as u64 + 1);
            match u8::try_from(length) {
                Ok(short) if short < u8::MAX => into.push(short),
                _ => {
                    into.push(u8::MAX);
                    into.extend_from_slice(&length.to_le_bytes());
                }
            }
            into.extend_from_slice(part.unwrap_or(&[]));
        }
    }

    /// The client is named by the first that is there, in the order name, API key, address, tenant; one
    /// that nothing is known of is named `all`, or `-` if there might have been something.
    fn client(&self, identity: &[u8]) -> (Client, bool) {
        let [name, api_key, shown, tenant, tier] = parts(identity);
        let text = |part: Option<&[u8]>| part.map(readable);
        let address = shown.and_then(address);
        let place = address.map(|address| address.to_string()).or_else(|| text(shown));
        let nothing = match self.who[..4].iter().any(Option::is_some) {
            true => "-",
            false => "all",
        };
        let name = text(name).or_else(|| text(api_key)).or(place).or_else(|| text(tenant));
        let account = Account { api_key: text(api_key), tenant: text(tenant), tier: text(tier) };
        let name = name.unwrap_or_else(|| nothing.to_owned());
        let client = Client::new(name, address).with(account);
        let nameless = shown.is_some() && address.is_none();
        (client, nameless)
    }

    fn endpoint(&mut self, entry: &Entry, into: &mut Vec<u8>) {
        let endpoint = self.endpoint.and_then(|position| entry.get(position));
        into.extend_from_slice(endpoint.unwrap_or(&[]));
    }

    fn cost(&mut self, entry: &Entry) -> Result<u32, Fault> {
        total(entry, &self.costs)
    }
}

/// Name, API key, address, tenant and tier of an identity.
fn parts(identity: &[u8]) -> [Option<&[u8]>; 5] {
    let mut rest = identity;
    std::array::from_fn(|_| {
        let (&short, tail) = rest.split_first()?;
        let (length, tail) = match (short, tail.split_first_chunk()) {
            (u8::MAX, Some((long, tail))) => (u64::from_le_bytes(*long), tail),
            _ => (u64::from(short), tail),
        };
        let (part, tail) = tail.split_at(length.saturating_sub(1) as usize);
        rest = tail;
        (length > 0).then_some(part)
    })
}

/// The sum of some fields, given by their positions and names; 1 if there are none.
///
/// # Errors
/// One of them is no whole number, or the sum is none from 1 up.
pub fn total(entry: &Entry, costs: &[(usize, String)]) -> Result<u32, Fault> {
    if costs.is_empty() {
        return Ok(1);
    }
    let mut sum = 0_u64;
    for (position, name) in costs {
        let wrong = |reason: String| Err(Fault::Skip(Cow::Owned(reason)));
        let Some(text) = entry.get(*position) else {
            return wrong(format!("it has no `{name}`, which says what it costs"));
        };
        let Some(part) = Number::parse(text).and_then(|number| number.as_count()) else {
            return match text.iter().all(u8::is_ascii_digit) {
                true => Err(TOO_MUCH.into()),
                false => wrong(format!("`{name}` is not a whole number")),
            };
        };
        sum = sum.saturating_add(part);
    }
    match u32::try_from(sum) {
        Ok(0) => Err("it costs 0, and a cost is 1 at least".into()),
        Ok(cost) => Ok(cost),
        Err(_) => Err(TOO_MUCH.into()),
    }
}

const TOO_MUCH: &str = "it costs more than 4294967295";
