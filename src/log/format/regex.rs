//! Lines of any kind, taken apart by an expression with named groups. `time` is needed; `duration`, `request`
//! and the names of fields mean what they say, and any other group is a field by its own name.

use regex::bytes::{CaptureLocations, Regex, RegexBuilder};

use super::naming::{of_request, span};
use super::{Fault, Format, Layout, Parsed, Parser, Stamps};
use crate::error::Problem;
use crate::log::entry::{Entry, Field, Values};
use crate::log::number::Unit;
use crate::log::times::Times;

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "regex",
    summary: "Lines of any other kind, by an expression with named groups (`pattern`).",
    example: "2015-05-17 10:05:03 client=192.0.2.7 took 12",
    expected: "the expression finds its group `time` in a line, a time such as `2023-11-16T18:17:03.97Z` or \
               a number",
    stamps: Stamps::EndIfTimed,
    // An expression is given, and then it is meant.
    fits: |_, _| 0,
    open,
};

/// How an expression looks, for messages.
const PATTERN: &str = "write an expression with a group `time`, as \
                       `pattern = '^(?<time>\\S+ \\S+) client=(?<address>\\S+)'`";

fn open(layout: &Layout) -> Result<Box<dyn Parser>, Vec<Problem>> {
    let wrong = |message: String| {
        let place = layout.pattern.as_ref().and_then(|pattern| pattern.place.clone());
        let place = place.or_else(|| layout.place.clone());
        vec![Problem { place, ..Problem::new(message) }.help(PATTERN)]
    };
    let Some(pattern) = &layout.pattern else {
        return Err(wrong("the format `regex` needs an expression: `pattern`".to_owned()));
    };
    // Bytes are bytes: a dot is any of them, and classes are those of ASCII.
    let regex =
        RegexBuilder::new(&pattern.name).unicode(false).build().map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => wrong("the expression is too large".to_owned()),
            other => wrong(format!("no regular expression: {}", last_line(&other.to_string()))),
        })?;
    let group = |name: &str| regex.capture_names().position(|known| known == Some(name));
    let Some(time) = group("time") else {
        return Err(wrong("the expression has no group `time`".to_owned()));
    };
    let wanted: Vec<Field> = layout.wanted.iter().map(|field| layout.own(field)).collect();
    let known: Vec<&str> = regex.capture_names().flatten().collect();
    let missing = wanted.iter().find_map(|field| match field {
        Field::Named(name) if !known.contains(&name.as_str()) => Some(name),
        _ => None,
    });
    if let Some(name) = missing {
        return Err(wrong(format!("the expression has no group `{name}`")));
    }
    Ok(Box::new(Expression {
        time,
        duration: group("duration"),
        request: group("request"),
        fields: wanted.iter().map(|field| group(field.name())).collect(),
        unit: layout.duration_unit.unwrap_or(Unit::Seconds),
        values: Values::of(wanted.len()),
        wanted,
        found: regex.capture_locations(),
        regex,
        times: Times::new(layout.time_unit, layout.place.clone()),
    }))
}

/// What went wrong, without the drawing above it.
fn last_line(message: &str) -> &str {
    let line = message.lines().last().unwrap_or(message);
    line.strip_prefix("error: ").unwrap_or(line)
}

struct Expression {
    regex: Regex,
    found: CaptureLocations,
    time: usize,
    duration: Option<usize>,
    request: Option<usize>,
    fields: Vec<Option<usize>>,
    wanted: Vec<Field>,
    unit: Unit,
    values: Values,
    times: Times,
}

impl Parser for Expression {
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<Parsed<'a>, Fault> {
        if self.regex.captures_read(&mut self.found, record).is_none() {
            return Err("the expression does not match".into());
        }
        let group = |index: Option<usize>| {
            let (start, end) = self.found.get(index?)?;
            Some(&record[start..end])
        };
        let time = group(Some(self.time)).ok_or("the expression finds no time")?;
        let stamp = self.times.read(time)?;
        let took = group(self.duration).and_then(|text| span(text, self.unit));
        self.values.clear();
        for (position, &index) in self.fields.iter().enumerate() {
            let of_request = || of_request(&self.wanted[position], group(self.request)?);
            if let Some(value) = group(index).or_else(of_request) {
                self.values.put(position, record, value);
            }
        }
        Ok(Parsed::Entry(Entry::new(stamp, took, record, &self.values)))
    }

    fn has_durations(&self) -> bool {
        self.duration.is_some()
    }

    fn notes(&self) -> Vec<String> {
        self.times.note().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::format::Column;
    use crate::log::readable;
    use proptest::prelude::*;

    fn layout(pattern: &str, wanted: &[&str]) -> Layout {
        Layout {
            wanted: wanted.iter().map(|name| Field::of(name)).collect(),
            pattern: Some(Column { name: pattern.to_owned(), place: None }),
            duration_unit: Some(Unit::Milliseconds),
            ..Layout::default()
        }
    }

    fn parsed(layout: &Layout, line: &[u8]) -> Result<String, String> {
        let mut parser = open(layout).map_err(|problems| problems[0].message.clone())?;
        match parser.parse(line) {
            Ok(Parsed::Entry(entry)) => {
                let values = (0..layout.wanted.len())
                    .map(|position| entry.get(position).map_or("none".to_owned(), readable));
                let took = entry.took.map_or("none".to_owned(), |took| took.to_string());
                Ok(format!(
                    "{} {} took {took}",
                    entry.stamp.at,
                    values.collect::<Vec<_>>().join(" ")
                ))
            }
            Ok(Parsed::Heading) => panic!("no heading"),
            Err(Fault::Skip(reason)) => Err(reason.into_owned()),
            Err(Fault::Stop(problems)) => Err(problems[0].message.clone()),
        }
    }

    #[test]
    fn groups_are_fields_by_their_names() {
        let pattern = r#"^(?<time>\S+ \S+) client=(?<address>\S+)( as (?<tenant>.+?))?( "(?<request>[^"]*)")? took (?<duration>\d+)"#;
        let layout = layout(pattern, &["address", "tenant", "method", "target", "status"]);
        let found = parsed(&layout, FORMAT.example.as_bytes());
        let expected = "2015-05-17T10:05:03Z 192.0.2.7 none none none none took 12ms";
        assert_eq!(found.as_deref(), Ok(expected));
        let line = b"2015-05-17 10:05:03 client=192.0.2.7 as \xff b \"GET /a HTTP/1.1\" took 12";
        let expected = "2015-05-17T10:05:03Z 192.0.2.7 \\xff b GET /a none took 12ms";
        assert_eq!(parsed(&layout, line).as_deref(), Ok(expected));
        assert_eq!(parsed(&layout, b"no").unwrap_err(), "the expression does not match");
        let found = parsed(&self::layout("(?<time>[0-9]+)", &[]), b"at 1431857103123 ms");
        assert_eq!(found.as_deref(), Ok("2015-05-17T10:05:03.123Z  took none"));
    }

    #[test]
    fn an_expression_that_cannot_be_used_is_a_mistake() {
        let message = |layout: &Layout| parsed(layout, b"").unwrap_err();
        assert_eq!(
            message(&Layout::default()),
            "the format `regex` needs an expression: `pattern`"
        );
        assert_eq!(message(&layout("(?<at>.)", &[])), "the expression has no group `time`");
        assert_eq!(message(&layout("(?<time>.", &[])), "no regular expression: unclosed group");
        assert_eq!(message(&layout("(?<time>.)", &["plan"])), "the expression has no group `plan`");
        let large = format!("(?<time>{})", "(a{1000}){1000}");
        assert_eq!(message(&layout(&large, &[])), "the expression is too large");
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in prop::collection::vec(any::<u8>(), 0..40)) {
            let layout = layout("(?s)(?<time>.*?)(?<address>[0-9a-f]*)(?<request>.*)", &["address", "method"]);
            let _ = parsed(&layout, &line);
        }
    }
}
