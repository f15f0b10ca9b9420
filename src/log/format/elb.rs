//! Access logs of Amazon's load balancers, one word a field, and the parser of both kinds. The classic ones
//! stamp a request when it comes.

use super::naming::span;
use super::request::{self, unquoted};
use super::words::Words;
use super::{Fault, Format, Layout, Parsed, Parser, Stamps};
use crate::error::Problem;
use crate::log::entry::{Entry, Field, Values};
use crate::log::number::Unit;
use crate::log::stamp::{self, NOT_A_TIME, Stamp};
use crate::time::Span;

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "elb",
    summary: "Access logs of Amazon's classic load balancers.",
    example: r#"2015-05-17T10:05:03.945958Z my-balancer 192.0.2.7:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://example.com:80/a?b=c HTTP/1.1" "curl/8.5" - -"#,
    expected: "a line starts with a time, the name of the balancer and the address of the client",
    stamps: Stamps::Start,
    fits: |lines, _| fits(lines, &COLUMNS),
    open: |layout| open(layout, &COLUMNS),
};

const COLUMNS: Columns = Columns {
    names: &[
        "time",
        "elb",
        "client",
        "backend",
        "request_processing_time",
        "backend_processing_time",
        "response_processing_time",
        "elb_status_code",
        "backend_status_code",
        "received_bytes",
        "sent_bytes",
        "request",
        "user_agent",
        "ssl_cipher",
        "ssl_protocol",
    ],
    time: 0,
    creation: None,
    time_is_end: false,
};

/// What stands where in the lines of a kind of balancer.
#[derive(Debug)]
pub struct Columns {
    /// The names, as Amazon has them.
    pub names: &'static [&'static str],
    /// The time of the line.
    pub time: usize,
    /// The time at which the request came, if that stands apart.
    pub creation: Option<usize>,
    /// Whether `time` is when the answer was made.
    pub time_is_end: bool,
}

impl Columns {
    fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name)
    }

    fn of(&self, field: &Field) -> Option<usize> {
        self.position(match field {
            Field::Address => "client",
            Field::Method | Field::Target | Field::Host => "request",
            Field::Status => "elb_status_code",
            Field::Agent => "user_agent",
            Field::Bytes => "sent_bytes",
            Field::Named(name) => name,
            Field::User | Field::Forwarded | Field::Referer => return None,
        })
    }
}

/// How many lines have a time, three processing times and a request where they belong.
pub fn fits(lines: &[&[u8]], columns: &Columns) -> usize {
    let mut words = Words::default();
    let mut fits = |line: &[u8]| {
        words.split(line);
        let time = words.get(columns.time, line).is_some_and(|time| stamp::parse(time).is_ok());
        let processing =
            columns.position("request_processing_time").and_then(|at| words.get(at, line));
        let request = columns.position("request").and_then(|at| words.get(at, line));
        time && processing.is_some_and(|time| span(time, Unit::Seconds).is_some() || time == b"-1")
            && request.is_some_and(|request| request.starts_with(b"\""))
    };
    lines.iter().filter(|line| fits(line)).count()
}

/// Opens a parser of lines with these columns.
///
/// # Errors
/// None.
pub fn open(layout: &Layout, columns: &'static Columns) -> Result<Box<dyn Parser>, Vec<Problem>> {
    let wanted: Vec<Field> = layout.wanted.iter().map(|field| layout.own(field)).collect();
    Ok(Box::new(Balancer {
        fields: wanted.iter().map(|field| columns.of(field)).collect(),
        values: Values::of(wanted.len()),
        wanted,
        columns,
        words: Words::default(),
    }))
}

#[derive(Clone)]
struct Balancer {
    columns: &'static Columns,
    wanted: Vec<Field>,
    fields: Vec<Option<usize>>,
    words: Words,
    values: Values,
}

impl Parser for Balancer {
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<Parsed<'a>, Fault> {
        self.words.split(record);
        let word = |index: usize| self.words.get(index, record);
        let took = self.took(record);
        let creation = self.columns.creation.and_then(word);
        let stamp = match creation.map(stamp::parse) {
            Some(Ok(stamp)) => stamp,
            _ => {
                let stamp = stamp::parse(word(self.columns.time).ok_or(NOT_A_TIME)?)?;
                let taken = took.filter(|_| self.columns.time_is_end).unwrap_or(Span::ZERO);
                Stamp { at: stamp.at - taken, ..stamp }
            }
        };
        self.values.clear();
        for (position, (field, index)) in self.wanted.iter().zip(&self.fields).enumerate() {
            let Some(value) = index.and_then(word).map(unquoted) else { continue };
            let value = match field {
                Field::Method => request::split(value, true).map(|(method, _)| method),
                Field::Target => request::split(value, true).and_then(|(_, target)| target),
                Field::Host => request::host(value),
                _ => Some(value),
            };
            if let Some(value) = value {
                self.values.put(position, record, value);
            }
        }
        Ok(Parsed::Entry(Entry::new(stamp, took, record, &self.values)))
    }

    fn takes_cut_records(&self) -> bool {
        true
    }

    fn has_durations(&self) -> bool {
        true
    }

    fn twin(&self) -> Option<Box<dyn Parser>> {
        Some(Box::new(self.clone()))
    }
}

impl Balancer {
    /// The three processing times together; `None` where one is missing, which `-1` means.
    fn took(&self, record: &[u8]) -> Option<Span> {
        let first = self.columns.position("request_processing_time")?;
        let mut nanos = 0_u128;
        for index in first..first + 3 {
            nanos += u128::from(span(self.words.get(index, record)?, Unit::Seconds)?.nanos());
        }
        Span::try_from_nanos(nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::format::named;
    use crate::log::readable;
    use proptest::prelude::*;

    const WANTED: [Field; 6] =
        [Field::Address, Field::Method, Field::Target, Field::Status, Field::Host, Field::Agent];

    fn parsed(format: &str, line: &str) -> Result<String, Fault> {
        let layout = Layout { wanted: WANTED.to_vec(), ..Layout::default() };
        let mut parser = (named(format).unwrap().open)(&layout).unwrap();
        let Parsed::Entry(entry) = parser.parse(line.as_bytes())? else { panic!("no heading") };
        let values = (0..WANTED.len())
            .map(|position| entry.get(position).map_or("none".to_owned(), readable));
        let took = entry.took.map_or("none".to_owned(), |took| took.to_string());
        Ok(format!("{} {} took {took}", entry.stamp.at, values.collect::<Vec<_>>().join(" ")))
    }

    #[test]
    fn a_classic_balancer_stamps_arrivals() {
        // 73 us + 1,048 us + 57 us = 1,178 us.
        assert_eq!(
            parsed("elb", FORMAT.example).unwrap(),
            "2015-05-17T10:05:03.945958Z 192.0.2.7:2817 GET http://example.com:80/a?b=c 200 example.com \
             curl/8.5 took 1178us"
        );
    }

    #[test]
    fn an_application_balancer_says_when_a_request_came_or_it_is_worked_out() {
        let example = named("alb").unwrap().example;
        let rest = "192.0.2.7:2817 GET http://example.com:80/a?b=c 200 example.com curl/8.5 took";
        assert_eq!(
            parsed("alb", example).unwrap(),
            format!("2015-05-17T10:05:03.364Z {rest} 1178us")
        );
        // Cut before it: 10:05:03.5 less 1,178 us.
        let cut = &example[..example.find(" - - ").unwrap()];
        assert_eq!(
            parsed("alb", cut).unwrap(),
            format!("2015-05-17T10:05:03.498822Z {rest} 1178us")
        );
        let unanswered = cut.replace("0.001048", "-1");
        assert_eq!(
            parsed("alb", &unanswered).unwrap(),
            format!("2015-05-17T10:05:03.5Z {rest} none")
        );
        assert_eq!(parsed("alb", "http"), Err(NOT_A_TIME.into()));
    }

    #[test]
    fn the_two_are_told_apart() {
        for (own, other) in [("elb", "alb"), ("alb", "elb")] {
            let lines = [named(own).unwrap().example.as_bytes()];
            let fitting = |name: &str| (named(name).unwrap().fits)(&lines, &Layout::default());
            assert_eq!((fitting(own), fitting(other)), (1, 0), "{own}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(
            words in prop::collection::vec("http|2015-05-17T10:05:03Z|0\\.1|-1|-|\"GET /a|\"GET http://h/ HTTP/1\\.1\"|\"|[0-9]{1,20}", 0..24),
        ) {
            let line = words.join(" ");
            let _ = (parsed("elb", &line), parsed("alb", &line));
        }
    }
}
