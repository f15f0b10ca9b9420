//! The flags that `inspect` and `replay` share: which logs, how they are read, what requests are told apart
//! by, and which of them count.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueHint};

use crate::command::logs;
use crate::log::filter::Filter;
use crate::log::format::FORMATS;
use crate::log::key::Key;
use crate::log::limited::Handling;
use crate::log::{TimeUnit, Unit, Zone};
use crate::params::Choice;
use crate::traffic::{Arriving, Ordering};

/// Logs and how they are read.
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

    /// What becomes of requests that were already answered 429, and of their retries.
    #[arg(long, value_name = "WHAT", value_parser = choices::<Handling>())]
    limited: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

/// How logs are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "How logs are read")]
struct Reading {
    /// The format, where it cannot be told from the first lines; `ratesim list formats` has all.
    #[arg(long, value_name = "FORMAT", value_parser = formats(), hide_possible_values = true)]
    format: Option<String>,

    /// The time zone of times that have none, and of times of day in filters: Europe/Berlin, +08:00.
    /// Without it, UTC.
    #[arg(long, value_name = "ZONE", value_parser = zone)]
    tz: Option<String>,

    /// The unit of times that are numbers.
    #[arg(long, value_name = "UNIT", value_parser = choices::<TimeUnit>())]
    time_unit: Option<String>,

    /// The unit of durations; in an access log, that the last field of a line is one.
    #[arg(long, value_name = "UNIT", value_parser = choices::<Unit>())]
    duration: Option<String>,

    /// What times say.
    #[arg(long, value_name = "WHAT", value_parser = choices::<Arriving>())]
    arrival: Option<String>,

    /// What becomes of requests that are not in the order of their times.
    #[arg(long, value_name = "WHAT", value_parser = choices::<Ordering>())]
    order: Option<String>,

    /// Where a field stands, in formats that have columns or names: time=ts, address=client.ip.
    #[arg(long, value_name = "FIELD=COLUMN", value_parser = column)]
    column: Vec<(String, String)>,

    /// What stands between the fields of a table.
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<String>,

    /// A regular expression with named groups (time, address, user, method, target, status and others),
    /// for logs that have no format of their own.
    #[arg(long, value_name = "REGEX")]
    pattern: Option<String>,

    /// Stop at the first line that cannot be used, instead of counting it.
    #[arg(long)]
    strict: bool,
}

impl Logs {
    /// As commands take them.
    pub(super) fn logs(self) -> logs::Logs {
        let reading = self.reading;
        logs::Logs {
            paths: self.logs,
            key: Some(self.key),
            filters: self.filters,
            texts: vec![
                ("limited", self.limited),
                ("format", reading.format),
                ("pattern", reading.pattern),
                ("delimiter", reading.delimiter),
                ("tz", reading.tz),
                ("time-unit", reading.time_unit),
                ("duration", reading.duration),
                ("arrival", reading.arrival),
                ("order", reading.order),
            ],
            columns: reading.column,
            strict: reading.strict,
        }
    }
}

/// The names of a setting that is one of a few, with their meanings.
pub(super) fn choices<T: Choice>() -> PossibleValuesParser {
    let value = |(name, _, meaning): &(&'static str, T, &'static str)| {
        PossibleValue::new(*name).help(*meaning)
    };
    PossibleValuesParser::new(T::CHOICES.iter().map(value))
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
}

fn zone(text: &str) -> Result<String, String> {
    match Zone::parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(wrong) => Err(format!("{wrong}; write {}", Zone::GRAMMAR)),
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
