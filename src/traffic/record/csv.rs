//! Tables as CSV: a heading, then one request a row, with the columns named in the scenario. A quote
//! that is not closed spoils its line, not the file.

use std::borrow::Cow;

use super::{Format, Parsed, Request, Who};
use crate::error::{Place, Problem, suggest};
use crate::log::format::row::{self, Row};
use crate::log::format::{End, Fault};
use crate::log::stamp::{self, OUT_OF_RANGE, Stamp};
use crate::log::{Number, Unit, readable};
use crate::params::{Choice, Params};
use crate::time::{Instant, Span};
use crate::traffic::Kind;

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "csv",
    summary: "A table with a heading and one request a row, as CSV.",
    recorded: true,
    open: |params, context| super::open(params, context, settings),
};

struct Csv {
    delimiter: u8,
    columns: Columns,
    time_unit: TimeUnit,
    duration_unit: Unit,
    place: Place,
    /// How many fields the heading has; `None` before it was read.
    width: Option<usize>,
    row: Row,
}

/// The columns that are used.
struct Columns {
    time: Wanted,
    client: Option<Wanted>,
    api_key: Option<Wanted>,
    address: Option<Wanted>,
    tenant: Option<Wanted>,
    tier: Option<Wanted>,
    endpoint: Option<Wanted>,
    cost: Vec<Wanted>,
    duration: Option<Wanted>,
}

/// A column named in the scenario.
struct Wanted {
    name: String,
    place: Place,
    /// Its position, once the heading was read.
    index: usize,
}

/// The unit of times that are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeUnit {
    /// To be told from the first number that is not zero.
    Auto,
    /// As was told.
    Told(Unit),
    /// As the scenario says.
    Given(Unit),
}

impl Choice for TimeUnit {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("auto", TimeUnit::Auto, "told by the number of digits: 10 are s, 13 ms, 16 us, 19 ns"),
        ("s", TimeUnit::Given(Unit::Seconds), "seconds"),
        ("ms", TimeUnit::Given(Unit::Milliseconds), "milliseconds"),
        ("us", TimeUnit::Given(Unit::Microseconds), "microseconds"),
        ("ns", TimeUnit::Given(Unit::Nanoseconds), "nanoseconds"),
    ];
}

fn settings(params: &mut Params) -> Option<Csv> {
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
    let delimiter = params.or("delimiter", ",".to_owned(), "What stands between fields.");
    let good =
        matches!(delimiter.as_bytes(), &[byte] if byte.is_ascii() && !b"\"\r\n".contains(&byte));
    let message = "a delimiter is one character of ASCII, and neither a quote nor a line break";
    params.require("delimiter", good, message, "write \",\", \";\" or \"\\t\"");
    Some(Csv {
        delimiter: *delimiter.as_bytes().first().filter(|_| good)?,
        columns: columns?,
        time_unit,
        duration_unit,
        place: params.place_of("path"),
        width: None,
        row: Row::default(),
    })
}

fn columns(params: &mut Params) -> Option<Columns> {
    let time: Option<String> = params.required(
        "time",
        "When the request was made: RFC 3339, `2023-11-16 18:17:03.97`, the form of access logs, \
         or a number.",
    );
    let time = time.map(|name| Wanted { name, place: params.place_of("time"), index: 0 });
    let mut optional = |key, meaning| {
        let name: Option<String> = params.optional(key, meaning);
        name.map(|name| Wanted { name, place: params.place_of(key), index: 0 })
    };
    let client = optional(
        "client",
        "Who made it. By default the API key, the address or the tenant, whichever is given first, \
         else one client named `all`.",
    );
    let api_key = optional("api-key", "The client's API key.");
    let address = optional("address", "The client's IP address.");
    let tenant = optional("tenant", "The organisation the client belongs to.");
    let tier = optional("tier", "The plan the client pays for.");
    let endpoint = optional("endpoint", "What was asked for.");
    let duration = optional("duration", "How long the request took; a number.");
    let cost: Vec<String> = params.or(
        "cost",
        Vec::new(),
        "What it cost: a column of whole numbers, or several to be added up. By default 1.",
    );
    let place = params.place_of("cost");
    let cost = cost.into_iter().map(|name| Wanted { name, place: place.clone(), index: 0 });
    let cost = cost.collect();
    Some(Columns { time: time?, client, api_key, address, tenant, tier, endpoint, cost, duration })
}

impl Columns {
    fn all(&mut self) -> impl Iterator<Item = &mut Wanted> {
        let Columns { time, client, api_key, address, tenant, tier, endpoint, cost, duration } =
            self;
        let optional = [client, api_key, address, tenant, tier, endpoint, duration];
        std::iter::once(time).chain(optional.into_iter().flatten()).chain(cost)
    }

    fn identify(&self) -> bool {
        [&self.client, &self.api_key, &self.address, &self.tenant].into_iter().any(Option::is_some)
    }
}

impl Format for Csv {
    const EXPECTED: &'static str = "a row has as many fields as the heading, and in the column \
         `time` a time such as `2023-11-16T18:17:03.97Z` or a number";
    const TAKES_CUT_LINES: bool = false;

    fn end(&self, bytes: &[u8]) -> Option<End> {
        row::end_of_record(bytes, self.delimiter)
    }

    fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<Parsed<'a>, Fault> {
        self.row.split(record, self.delimiter)?;
        let Some(width) = self.width else {
            return self.read_heading(record).map(|()| Parsed::Heading);
        };
        if self.row.len() != width {
            return Err("it has not as many fields as the heading".into());
        }
        let stamp = self.stamp(record)?;
        let Csv { columns, row, .. } = self;
        let get = |wanted: &Option<Wanted>| {
            wanted
                .as_ref()
                .map(|wanted| row.field(wanted.index, record))
                .filter(|text| !text.is_empty())
        };
        let mut who = Who {
            name: get(&columns.client),
            api_key: get(&columns.api_key),
            address: get(&columns.address),
            tenant: get(&columns.tenant),
            tier: get(&columns.tier),
        };
        let unnamed = [who.name, who.api_key, who.address, who.tenant].iter().all(Option::is_none);
        if unnamed && columns.identify() {
            who.name = Some(b"-");
        }
        let took = get(&columns.duration)
            .and_then(|text| Number::parse(text)?.nanos(self.duration_unit))
            .and_then(|nanos| u64::try_from(nanos).ok())
            .map(Span::from_nanos);
        let cost = cost(&columns.cost, row, record)?;
        let endpoint = get(&columns.endpoint).unwrap_or(&[]);
        Ok(Parsed::Request(Request { stamp, who, endpoint, cost, took }))
    }

    fn has_durations(&self) -> bool {
        self.columns.duration.is_some()
    }

    fn notes(&self) -> Vec<String> {
        match self.time_unit {
            TimeUnit::Told(unit) => {
                let (word, name) = (unit.word(), unit.name());
                vec![format!("Times are {word}, by their digits (`time-unit = \"{name}\"`).")]
            }
            _ => Vec::new(),
        }
    }
}

impl Csv {
    /// Finds the columns by their names.
    fn read_heading(&mut self, record: &[u8]) -> Result<(), Fault> {
        let fields = 0..self.row.len();
        let names: Vec<String> =
            fields.map(|index| readable(self.row.field(index, record).trim_ascii())).collect();
        let mut problems = Vec::new();
        for wanted in self.columns.all() {
            let known = || names.iter().map(String::as_str);
            let mut found = (0..names.len()).filter(|&index| names[index] == wanted.name);
            match (found.next(), found.next()) {
                (Some(index), None) => wanted.index = index,
                (None, _) => {
                    let message = format!("there is no column `{}`", wanted.name);
                    let help = suggest(&wanted.name, known());
                    problems.push(Problem::at(&wanted.place, message).help(help));
                }
                (Some(_), Some(_)) => {
                    let message = format!("two columns are named `{}`", wanted.name);
                    let help = "give one of them another name";
                    problems.push(Problem::at(&wanted.place, message).help(help));
                }
            }
        }
        if !problems.is_empty() {
            return Err(Fault::Stop(problems));
        }
        self.width = Some(names.len());
        Ok(())
    }

    fn stamp(&mut self, record: &[u8]) -> Result<Stamp, Fault> {
        let text = self.row.field(self.columns.time.index, record);
        let Some(number) = Number::parse(text) else { return Ok(stamp::parse(text)?) };
        let unit = match (self.time_unit, Unit::of_digits(number.digits())) {
            (TimeUnit::Given(unit), _) => unit,
            // Zero is the same instant in every unit.
            _ if number.is_zero() => Unit::Nanoseconds,
            (TimeUnit::Auto, Some(unit)) => {
                self.time_unit = TimeUnit::Told(unit);
                unit
            }
            (TimeUnit::Told(told), Some(unit)) if told == unit => unit,
            (told, _) => {
                let shown = readable(text);
                let message = match told {
                    TimeUnit::Told(unit) => {
                        let told = unit.word();
                        format!(
                            "the time `{shown}` is not in {told}, as those before it seem to be"
                        )
                    }
                    _ => format!("the unit of the time `{shown}` cannot be told"),
                };
                let help = "say it: `time-unit = \"ms\"`, or \"s\", \"us\", \"ns\"";
                return Err(Fault::Stop(vec![Problem::at(&self.place, message).help(help)]));
            }
        };
        let nanos = number.nanos(unit).ok_or(OUT_OF_RANGE)?;
        Ok(Stamp { at: Instant(nanos), local: false, leap: false })
    }
}

fn cost(columns: &[Wanted], row: &Row, record: &[u8]) -> Result<u32, Fault> {
    if columns.is_empty() {
        return Ok(1);
    }
    let mut sum = 0_u64;
    for wanted in columns {
        let part =
            Number::parse(row.field(wanted.index, record)).and_then(|number| number.as_count());
        let Some(part) = part else {
            let reason = format!("`{}` is not a whole number from 0 up", wanted.name);
            return Err(Fault::Skip(Cow::Owned(reason)));
        };
        sum = sum.saturating_add(part);
    }
    match u32::try_from(sum) {
        Ok(0) => Err("it costs nothing".into()),
        Ok(cost) => Ok(cost),
        Err(_) => Err("it costs more than 4294967295".into()),
    }
}
