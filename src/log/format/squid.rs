//! The native access log of Squid: seconds since 1970 at which a request was done, how many milliseconds it
//! took, the client, result and status, bytes, method, URL, user.

use super::naming::span;
use super::request::host_of;
use super::words::Words;
use super::{Fault, Format, Layout, Parsed, Parser, Stamps};
use crate::error::Problem;
use crate::log::entry::{Entry, Field, Values};
use crate::log::number::{Number, Unit};
use crate::log::stamp::{NOT_A_TIME, OUT_OF_RANGE, Stamp};
use crate::time::Instant;

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "squid",
    summary: "The native access log of Squid.",
    example: "1431857103.586    921 192.0.2.7 TCP_MISS/200 507 GET http://example.com/a?b=c ann \
              HIER_DIRECT/203.0.113.9 text/html",
    expected: "a line starts with seconds since 1970, milliseconds taken and the address of the client",
    stamps: Stamps::EndIfTimed,
    fits: |lines, _| fits(lines),
    open,
};

fn fits(lines: &[&[u8]]) -> usize {
    let mut words = Words::default();
    let mut fits = |line: &[u8]| {
        words.split(line);
        let number = |index: usize| words.get(index, line).and_then(Number::parse);
        let result = words.get(3, line).is_some_and(|result| result.contains(&b'/'));
        number(0).is_some_and(|time| time.digits() == 10) && number(1).is_some() && result
    };
    lines.iter().filter(|line| fits(line)).count()
}

fn open(layout: &Layout) -> Result<Box<dyn Parser>, Vec<Problem>> {
    let place = |field: &Field| match field {
        Field::Address => Some(2),
        Field::Status => Some(3),
        Field::Bytes => Some(4),
        Field::Method => Some(5),
        Field::Target | Field::Host => Some(6),
        Field::User => Some(7),
        Field::Named(name) if name == "result" => Some(3),
        Field::Named(name) if name == "hierarchy" => Some(8),
        Field::Named(name) if name == "type" => Some(9),
        _ => None,
    };
    let wanted: Vec<Field> = layout.wanted.iter().map(|field| layout.own(field)).collect();
    Ok(Box::new(Squid {
        fields: wanted.iter().map(place).collect(),
        values: Values::of(wanted.len()),
        wanted,
        words: Words::default(),
    }))
}

#[derive(Clone)]
struct Squid {
    wanted: Vec<Field>,
    fields: Vec<Option<usize>>,
    words: Words,
    values: Values,
}

impl Parser for Squid {
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<Parsed<'a>, Fault> {
        self.words.split(record);
        let word = |index: usize| self.words.get(index, record);
        let time = word(0).and_then(Number::parse).ok_or(NOT_A_TIME)?;
        let at = time.nanos(Unit::Seconds).map(Instant).ok_or(OUT_OF_RANGE)?;
        // Without what it took the number may have been cut.
        let took = word(1).ok_or("it is cut short within its time")?;
        let took = span(took, Unit::Milliseconds);
        self.values.clear();
        for (position, (field, index)) in self.wanted.iter().zip(&self.fields).enumerate() {
            let Some(value) = index.and_then(word) else { continue };
            let slash = value.iter().position(|&byte| byte == b'/');
            let value = match (field, slash) {
                (Field::Status, slash) => slash.map(|slash| &value[slash + 1..]),
                (Field::Host, _) => host_of(word(5).unwrap_or(b""), value),
                _ => Some(value),
            };
            if let Some(value) = value {
                self.values.put(position, record, value);
            }
        }
        let stamp = Stamp { at, local: false, leap: false };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::readable;
    use proptest::prelude::*;

    const WANTED: [Field; 6] =
        [Field::Address, Field::Status, Field::Method, Field::Target, Field::Host, Field::User];

    fn parsed(line: &str) -> Result<String, Fault> {
        let layout = Layout { wanted: WANTED.to_vec(), ..Layout::default() };
        let mut parser = open(&layout).unwrap();
        let Parsed::Entry(entry) = parser.parse(line.as_bytes())? else { panic!("no heading") };
        let values = (0..WANTED.len())
            .map(|position| entry.get(position).map_or("none".to_owned(), readable));
        let took = entry.took.map_or("none".to_owned(), |took| took.to_string());
        Ok(format!("{} {} took {took}", entry.stamp.at, values.collect::<Vec<_>>().join(" ")))
    }

    #[test]
    fn a_line_has_its_end_and_what_it_took() {
        assert_eq!(
            parsed(FORMAT.example).unwrap(),
            "2015-05-17T10:05:03.586Z 192.0.2.7 200 GET http://example.com/a?b=c example.com ann took 921ms"
        );
        let short = parsed("1431857103.586 0 192.0.2.7 NONE").unwrap();
        assert_eq!(short, "2015-05-17T10:05:03.586Z 192.0.2.7 none none none none none took 0s");
        assert_eq!(parsed("1431857103.5"), Err("it is cut short within its time".into()));
        assert_eq!(parsed("yesterday 1"), Err(NOT_A_TIME.into()));
        assert_eq!((fits(&[FORMAT.example.as_bytes()]), fits(&[b"1431857103 1 2 3"])), (1, 0));
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in "([0-9]{1,20}|[./ \"-]|GET|TCP_MISS/){0,20}") {
            let _ = parsed(&line);
        }
    }
}
