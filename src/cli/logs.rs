//! The flags that `inspect` and `replay` share: which logs, what requests are told apart by, which of them
//! count, and how logs are read.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};

use crate::command::logs;
use crate::log::filter::Filter;
use crate::log::format::{self, FORMATS, Format};
use crate::log::key::Key;
use crate::log::limited::Handling;
use crate::log::{TimeUnit, Unit, Zone};
use crate::params::Choice;
use crate::traffic::{Arriving, Order};

/// Logs, and which of their requests count for whom.
#[derive(Debug, Args)]
pub(super) struct Logs {
    /// Log files, plain, gzip or zstd, in any order; `-` is the standard input.
    #[arg(required = true, value_name = "LOG", value_hint = ValueHint::FilePath)]
    logs: Vec<PathBuf>,

    /// What tells requests apart: address, address/24/56, user, header:NAME, forwarded:N, endpoint and
    /// more, joined with `+`; `ratesim list keys` has all.
    #[arg(long, value_name = "KEY", default_value = "address", value_parser = Key::parse)]
    key: Key,

    /// Count only requests that fit, such as status=4xx, method=GET,POST, path=/api/*, path~^/v[0-9]+/,
    /// address!=192.0.2.0/24, time=10:00..11:00 or key=NAME; given several times, all must hold.
    #[arg(long = "where", value_name = "FILTER", value_parser = Filter::parse)]
    filters: Vec<Filter>,

    /// What becomes of requests that were already answered 429, and of their retries: attempts of the same
    /// key for the same method and target within 60 s after one.
    #[arg(long, value_name = "WHAT", value_parser = choice::<Handling>())]
    limited: Option<Handling>,
}

/// How logs are read. Stands last among the flags of a command: what follows would share its heading.
#[derive(Debug, Args)]
#[command(next_help_heading = "How logs are read")]
pub(super) struct Reading {
    /// The format, where it cannot be told from the first lines; `ratesim list formats` has all.
    #[arg(long, value_name = "FORMAT", value_parser = named_format(), hide_possible_values = true)]
    format: Option<&'static Format>,

    /// The time zone of times that have none, and of times of day in filters: Europe/Berlin, +08:00, -05:30.
    /// Without it, UTC.
    #[arg(long, value_name = "ZONE", value_parser = zone, allow_hyphen_values = true)]
    tz: Option<Zone>,

    /// The unit of times that are numbers.
    #[arg(long, value_name = "UNIT", value_parser = choice::<TimeUnit>())]
    time_unit: Option<TimeUnit>,

    /// The unit of durations; in an access log, that the last field of a line is one.
    #[arg(long, value_name = "UNIT", value_parser = choice::<Unit>())]
    duration_unit: Option<Unit>,

    /// What times say.
    #[arg(long, value_name = "WHAT", value_parser = choice::<Arriving>())]
    arrival: Option<Arriving>,

    /// What becomes of requests that are out of order.
    #[arg(long, value_name = "HOW", value_parser = choice::<Order>())]
    order: Option<Order>,

    /// Where a field stands, in formats that have columns or names: time=ts, address=client.ip.
    #[arg(long, value_name = "FIELD=COLUMN", value_parser = column)]
    column: Vec<(String, String)>,

    /// What stands between the fields of a table.
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter, allow_hyphen_values = true)]
    delimiter: Option<u8>,

    /// A regular expression with named groups (time, address, user, method, target, status and others),
    /// for logs that have no format of their own.
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    pattern: Option<String>,

    /// Stop at the first line that cannot be used, instead of counting it.
    #[arg(long)]
    strict: bool,
}

impl Logs {
    /// As commands take them.
    pub(super) fn read(self, reading: Reading) -> logs::Logs {
        logs::Logs {
            paths: self.logs,
            key: self.key,
            filters: self.filters,
            limited: self.limited,
            format: reading.format,
            pattern: reading.pattern,
            columns: reading.column,
            delimiter: reading.delimiter,
            zone: reading.tz,
            time_unit: reading.time_unit,
            duration_unit: reading.duration_unit,
            arrival: reading.arrival,
            order: reading.order,
            strict: reading.strict,
        }
    }
}

/// One of the names of a setting, each with its meaning.
pub(super) fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let value = |(name, _, meaning): &(&'static str, T, &'static str)| {
        PossibleValue::new(*name).help(*meaning)
    };
    PossibleValuesParser::new(T::CHOICES.iter().map(value)).try_map(|chosen| {
        let found = T::CHOICES.iter().find(|(name, ..)| *name == chosen);
        found.map(|(_, value, _)| *value).ok_or("it is not known")
    })
}

fn named_format() -> impl TypedValueParser<Value = &'static Format> {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
        .try_map(|name| format::named(&name).ok_or("it is not known"))
}

fn zone(text: &str) -> Result<Zone, String> {
    Zone::parse(text).map_err(|wrong| format!("{wrong}; write {}", Zone::GRAMMAR))
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err("write one character of ASCII, such as `;`, or `\\t` for a tab".to_owned()),
    }
}

fn column(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((field, column)) if !field.trim().is_empty() && !column.trim().is_empty() => {
            Ok((field.trim().to_owned(), column.trim().to_owned()))
        }
        _ => Err("write FIELD=COLUMN, such as time=ts".to_owned()),
    }
}
