//! What formats with names call the parts of a request: keys of JSON, columns of tables. A format has a
//! table of them; the user's own names come before it.

use super::{Column, Layout, request};
use crate::error::{Problem, suggest};
use crate::log::entry::Field;
use crate::log::number::{Number, Unit};
use crate::time::Span;

/// The names that a format has, the likeliest of each first.
#[derive(Debug)]
pub struct Naming {
    /// Of the time that its stamps are.
    pub time: &'static [&'static str],
    /// Of the time at which a request was done, where `time` is that at which it came and is missing.
    pub end: &'static [&'static str],
    /// Of the duration, with its unit.
    pub duration: &'static [(&'static str, Unit)],
    /// Of the fields of [`Field::known`].
    pub fields: &'static [(&'static str, &'static [&'static str])],
    /// Of the first line of the request, which has method and target if they have no names.
    pub request: &'static [&'static str],
    /// Of what every request has one of at least, where the server writes lines that are none; else nothing.
    pub required: &'static [&'static str],
    /// Of a header of the request, given its name.
    pub header: fn(&str) -> String,
}

/// Names as people and libraries choose them, for formats that have none of their own.
pub const ANY: &Naming = &Naming {
    time: &[
        "time",
        "timestamp",
        "ts",
        "@timestamp",
        "datetime",
        "date",
        "time_iso8601",
        "time_local",
        "at",
        "start_time",
        "received_at",
        "msec",
    ],
    end: &[],
    duration: &[
        ("request_time", Unit::Seconds),
        ("duration_s", Unit::Seconds),
        ("duration_ms", Unit::Milliseconds),
        ("latency_ms", Unit::Milliseconds),
        ("elapsed_ms", Unit::Milliseconds),
        ("response_time_ms", Unit::Milliseconds),
        ("duration_us", Unit::Microseconds),
        ("latency_us", Unit::Microseconds),
        ("duration_ns", Unit::Nanoseconds),
    ],
    fields: &[
        (
            "address",
            &[
                "address",
                "ip",
                "client_ip",
                "remote_addr",
                "remote_ip",
                "clientip",
                "ip_address",
                "source_ip",
                "src_ip",
                "remote",
                "client",
                "client_address",
                "host_ip",
                "peer",
            ],
        ),
        ("user", &["user", "user_id", "username", "remote_user", "userid", "account", "principal"]),
        ("method", &["method", "request_method", "http_method", "verb"]),
        (
            "target",
            &["target", "uri", "url", "path", "request_uri", "request_path", "endpoint", "route"],
        ),
        (
            "status",
            &["status", "status_code", "code", "response_code", "http_status", "response_status"],
        ),
        (
            "forwarded",
            &["forwarded", "x_forwarded_for", "http_x_forwarded_for", "x-forwarded-for", "xff"],
        ),
        ("host", &["host", "http_host", "server_name", "hostname", "authority", "vhost"]),
        ("agent", &["agent", "user_agent", "http_user_agent", "user-agent", "useragent"]),
        ("referer", &["referer", "http_referer", "referrer"]),
        ("bytes", &["bytes", "body_bytes_sent", "bytes_sent", "size", "response_size", "length"]),
    ],
    request: &["request"],
    required: &[],
    header: str::to_owned,
};

/// No names at all.
const NOTHING: &Naming = &Naming {
    time: &[],
    end: &[],
    duration: &[],
    fields: &[],
    request: &[],
    required: &[],
    header: str::to_owned,
};

/// A name that is looked for, perhaps given by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sought {
    /// The name.
    pub name: String,
    /// Given by the user, who then means it: it has to be there.
    pub given: Option<Column>,
}

/// Everything that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct All {
    /// The time; the first that is there counts.
    pub time: Vec<Sought>,
    /// The time at its end.
    pub end: Vec<Sought>,
    /// The duration.
    pub duration: Vec<(Sought, Unit)>,
    /// The first line of the request.
    pub request: Vec<Sought>,
    /// What a request has one of; if there is nothing here, nothing is needed.
    pub required: Vec<Sought>,
    /// The wanted fields.
    pub fields: Vec<Vec<Sought>>,
}

impl Naming {
    /// The names that are looked for under a layout.
    pub fn resolve(&self, layout: &Layout) -> All {
        let naming = if layout.named_only { NOTHING } else { self };
        naming.names(layout)
    }

    fn names(&self, layout: &Layout) -> All {
        let known = |name: &&str| Sought { name: (*name).to_owned(), given: None };
        let given =
            |column: &Column| Sought { name: column.name.clone(), given: Some(column.clone()) };
        let (time, end) = match &layout.time {
            Some(column) => (vec![given(column)], Vec::new()),
            None => (self.time.iter().map(known).collect(), self.end.iter().map(known).collect()),
        };
        let duration = match &layout.duration {
            Some(column) => vec![(given(column), layout.duration_unit.unwrap_or(Unit::Seconds))],
            None => {
                let unit = |unit: &Unit| layout.duration_unit.unwrap_or(*unit);
                self.duration.iter().map(|(name, of)| (known(name), unit(of))).collect()
            }
        };
        let field = |field: &Field| match layout.columns.iter().find(|(other, _)| other == field) {
            Some((_, column)) => vec![given(column)],
            None => match field {
                Field::Named(name) => vec![Sought { name: self.own(name), given: None }],
                _ => {
                    let found = self.fields.iter().find(|(name, _)| *name == field.name());
                    found.map_or(Vec::new(), |(_, names)| names.iter().map(known).collect())
                }
            },
        };
        let request = self.request.iter().map(known).collect();
        let required = self.required.iter().map(known).collect();
        let fields = layout.wanted.iter().map(field).collect();
        All { time, end, duration, request, required, fields }
    }

    /// The name of a field that only this format knows.
    fn own(&self, name: &str) -> String {
        match name.strip_prefix("header:") {
            Some(header) => (self.header)(header),
            None => name.to_owned(),
        }
    }
}

/// Where everything stands in the rows of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Located {
    /// The time.
    pub time: Option<usize>,
    /// The time at its end.
    pub end: Option<usize>,
    /// The duration.
    pub duration: Option<(usize, Unit)>,
    /// The first line of the request.
    pub request: Option<usize>,
    /// The wanted fields.
    pub fields: Vec<Option<usize>>,
}

impl All {
    /// Finds all names in a heading.
    ///
    /// # Errors
    /// What the user has named and is not there, or is there twice.
    pub fn locate(&self, heading: &[String]) -> Result<Located, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut find = |sought: &Sought| {
            let same = |name: &String| match sought.given {
                Some(_) => *name == sought.name,
                None => name.eq_ignore_ascii_case(&sought.name),
            };
            let mut found = (0..heading.len()).filter(|&index| same(&heading[index]));
            let first = found.next();
            let twice = found.next().is_some();
            if let Some(column) = sought.given.as_ref().filter(|_| first.is_none() || twice) {
                let name = &column.name;
                let (message, help) = match first {
                    None => (
                        format!("there is no column `{name}`"),
                        suggest(name, heading.iter().map(String::as_str)),
                    ),
                    Some(_) => (
                        format!("two columns are named `{name}`"),
                        "give one of them another name".to_owned(),
                    ),
                };
                let problem = Problem { place: column.place.clone(), ..Problem::new(message) };
                problems.push(problem.help(help));
            }
            first
        };
        let located = Located {
            time: self.time.iter().find_map(&mut find),
            end: self.end.iter().find_map(&mut find),
            duration: self.duration.iter().find_map(|(sought, unit)| Some((find(sought)?, *unit))),
            request: self.request.iter().find_map(&mut find),
            fields: self.fields.iter().map(|names| names.iter().find_map(&mut find)).collect(),
        };
        if problems.is_empty() { Ok(located) } else { Err(problems) }
    }
}

/// The part of a request's first line that a field is, where it has no value of its own.
pub fn of_request<'a>(field: &Field, request: &'a [u8]) -> Option<&'a [u8]> {
    match field {
        Field::Method => request::split(request, true).map(|(method, _)| method),
        Field::Target => request::split(request, true)?.1,
        _ => None,
    }
}

/// A duration: a number of units, or a span with its unit as Go and people write it (`1.5ms`, `2µs`).
/// `None` for anything else, and for what is negative.
pub fn span(text: &[u8], unit: Unit) -> Option<Span> {
    match Number::parse(text) {
        Some(number) => u64::try_from(number.nanos(unit)?).ok().map(Span::from_nanos),
        None => Span::parse(&std::str::from_utf8(text).ok()?.replace('µ', "u")).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_or_spans() {
        for (text, unit, nanos) in [
            ("0.000929675", Unit::Seconds, Some(929_675)),
            ("12", Unit::Milliseconds, Some(12_000_000)),
            ("1.5ms", Unit::Seconds, Some(1_500_000)),
            ("929.675µs", Unit::Seconds, Some(929_675)),
            ("1m2s", Unit::Seconds, Some(62_000_000_000)),
            ("-1", Unit::Seconds, None),
            ("-", Unit::Seconds, None),
            ("soon", Unit::Seconds, None),
        ] {
            assert_eq!(span(text.as_bytes(), unit).map(Span::nanos), nanos, "{text}");
        }
    }
}
