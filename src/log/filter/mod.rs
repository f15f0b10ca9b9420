//! Which entries of a log count: filters such as `status=4xx` or `path=/api/*`, all of which must hold, and
//! how many entries each has left out.

mod pattern;
mod time;

use jiff::tz::TimeZone;
use regex::bytes::Regex;
use serde_json::{Value as Json, json};

use super::entry::{Entry, Field};
use super::key::address::Prefix;
use super::key::{Part, Source};
use super::wanted::Wanted;
use crate::error::{Problem, suggest};
use crate::params::{Node, Setting, Value};
use pattern::Pattern;
use time::{Selected, Times};

/// A condition on an entry or on its key.
#[derive(Debug, Clone)]
pub struct Filter {
    /// As the user wrote it.
    text: String,
    subject: Subject,
    negated: bool,
    test: Test,
}

/// What is tested.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    Part(Part),
    Time,
    Key,
}

#[derive(Debug, Clone)]
enum Test {
    Any(Vec<Pattern>),
    Matches(Regex),
    Times(Times),
}

/// What a filter may be about, besides `header:NAME` and `field:NAME`.
const SUBJECTS: [&str; 12] = [
    "status",
    "method",
    "path",
    "target",
    "address",
    "forwarded",
    "user",
    "host",
    "header",
    "field",
    "time",
    "key",
];

impl Filter {
    /// What [`Filter::parse`] takes, for messages.
    pub const GRAMMAR: &str = "a filter such as \"status=4xx\", \"method=GET,POST\", \"path=/api/*\", \
         \"path~^/v[0-9]+/\", \"address!=192.0.2.0/24\" or \"time=10:00..11:00\"";

    /// Parses a name, one of `=`, `!=`, `~` (an expression matches) and `!~`, and a value. After `=`, values
    /// are listed with commas, one of which must fit; `*` and `?` are wildcards, `-` is no value at all.
    ///
    /// # Errors
    /// A text that says what is wrong and what would be right.
    pub fn parse(text: &str) -> Result<Filter, String> {
        let Some(end) = text.find(['=', '~', '!']) else {
            return Err(format!("`{text}` has no `=`; write {}", Filter::GRAMMAR));
        };
        let (name, rest) = (text[..end].trim(), &text[end..]);
        let (negated, expression, value) = match rest.as_bytes() {
            [b'!', b'=', ..] => (true, false, &rest[2..]),
            [b'!', b'~', ..] => (true, true, &rest[2..]),
            [b'=', ..] => (false, false, &rest[1..]),
            [b'~', ..] => (false, true, &rest[1..]),
            _ => return Err(format!("after `{name}` comes `=`, `!=`, `~` or `!~`, not `{rest}`")),
        };
        let value = value.trim();
        if value.is_empty() {
            let subject = Subject::parse(name)?;
            return Err(match subject {
                Subject::Time => format!("`{text}` has no value; write {}", time::GRAMMAR),
                _ => format!("`{text}` has no value; for requests without one write `{name}=-`"),
            });
        }
        let subject = Subject::parse(name)?;
        let test = match expression {
            true => subject.expression(name, value)?,
            false => subject.values(value)?,
        };
        Ok(Filter { text: text.trim().to_owned(), subject, negated, test })
    }
}

impl Subject {
    fn parse(name: &str) -> Result<Subject, String> {
        match name {
            "time" => return Ok(Subject::Time),
            "key" => return Ok(Subject::Key),
            "path" => return Ok(Subject::Part(Part::RawPath)),
            "endpoint" => {
                return Err("an endpoint is a method and a path: write two filters, such as \
                            `method=GET` and `path=/api/*`"
                    .to_owned());
            }
            _ => {}
        }
        let known = name.split([':', '/']).next().is_some_and(|first| SUBJECTS.contains(&first));
        if !known {
            return Err(format!("`{name}` cannot be filtered by; {}", suggest(name, SUBJECTS)));
        }
        let part = Part::parse(name)?;
        match part {
            Part::Address(prefix) | Part::Forwarded(_, prefix) if prefix != Prefix::WHOLE => {
                let bare = name.split('/').next().unwrap_or(name);
                Err(format!("a network is written as a value: `{bare}=192.0.2.0/24`"))
            }
            part => Ok(Subject::Part(part)),
        }
    }

    fn values(&self, value: &str) -> Result<Test, String> {
        let read = |text: &str| match self {
            Subject::Part(Part::Address(_) | Part::Forwarded(..)) => Pattern::host(text),
            Subject::Part(Part::Plain(Field::Status)) => Pattern::status(text),
            Subject::Part(Part::Plain(Field::Method)) => {
                Ok(Pattern::text(&text.to_ascii_uppercase()))
            }
            _ => Ok(Pattern::text(text)),
        };
        match self {
            Subject::Time => Times::parse(value).map(Test::Times),
            _ => {
                let texts = value.split(',').map(str::trim).filter(|text| !text.is_empty());
                texts.map(read).collect::<Result<_, _>>().map(Test::Any)
            }
        }
    }

    fn expression(&self, name: &str, value: &str) -> Result<Test, String> {
        if *self == Subject::Time {
            return Err(format!("a time is compared with `=`; write {}", time::GRAMMAR));
        }
        Regex::new(value).map(Test::Matches).map_err(|wrong| {
            let wrong = wrong.to_string();
            // The message of the crate shows the expression and points at the fault in several lines.
            let reason = wrong.lines().last().unwrap_or("").trim();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            format!("`{value}` after `{name}~` is no regular expression: {reason}")
        })
    }
}

impl Test {
    fn holds(&self, value: Option<&[u8]>) -> bool {
        match self {
            Test::Any(patterns) => patterns.iter().any(|pattern| pattern.matches(value)),
            Test::Matches(regex) => value.is_some_and(|value| regex.is_match(value)),
            Test::Times(_) => unreachable!("times are tested as times"),
        }
    }
}

impl PartialEq for Filter {
    fn eq(&self, other: &Filter) -> bool {
        self.text == other.text
    }
}

impl std::fmt::Display for Filter {
    /// As the user wrote it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Setting for Filter {
    const EXPECTED: &'static str = Filter::GRAMMAR;

    fn read(node: &Node) -> Result<Filter, Problem> {
        let wrong = |message: String| Problem::at(&node.place, message);
        match &node.value {
            Value::String(text) => Filter::parse(text).map_err(wrong),
            other => Err(wrong(format!("expected {}, found {}", Filter::GRAMMAR, other.kind()))),
        }
    }

    fn json(&self) -> Json {
        json!(self.text)
    }

    fn schema() -> Json {
        json!({ "type": "string", "title": Filter::GRAMMAR })
    }
}

/// Applies filters to entries and keys, and counts what each leaves out.
#[derive(Debug, Clone, Default)]
pub struct Sieve {
    /// Of entries.
    entries: Vec<Sifter>,
    /// Of keys.
    keys: Vec<Sifter>,
}

#[derive(Debug, Clone)]
struct Sifter {
    text: String,
    negated: bool,
    by: By,
    left_out: u64,
}

#[derive(Debug, Clone)]
enum By {
    Value(Source, Test),
    Key(Test),
    Time(Selected),
}

impl Sieve {
    /// The filters, all of which must hold, over entries that have the fields of `wanted`, to which those
    /// that they need are added. Times of day are those of `zone`.
    ///
    /// # Errors
    /// If a time is none in that zone.
    pub fn new(filters: &[Filter], wanted: &mut Wanted, zone: &TimeZone) -> Result<Sieve, String> {
        let mut sieve = Sieve::default();
        for Filter { text, subject, negated, test } in filters {
            let by = match (subject, test) {
                (Subject::Part(part), test) => {
                    let mut components = part.components().into_iter();
                    let (field, taken) =
                        components.next().unwrap_or_else(|| unreachable!("a part has a component"));
                    By::Value(Source::new(wanted.position(field), taken), test.clone())
                }
                (_, Test::Times(times)) => By::Time(times.within(zone)?),
                (_, test) => By::Key(test.clone()),
            };
            let of_keys = matches!(by, By::Key(_));
            let sifter = Sifter { text: text.clone(), negated: *negated, by, left_out: 0 };
            if of_keys { sieve.keys.push(sifter) } else { sieve.entries.push(sifter) }
        }
        Ok(sieve)
    }

    /// Whether an entry counts, as far as its key has no part in it. The first filter that does not hold
    /// counts it as left out.
    #[inline]
    pub fn keeps(&mut self, entry: &Entry) -> bool {
        self.entries.iter_mut().all(|sifter| {
            let holds = match &mut sifter.by {
                By::Value(source, test) => test.holds(source.find(entry).bytes),
                By::Time(times) => times.contains(entry.stamp.at),
                By::Key(_) => unreachable!("filters of keys stand apart"),
            };
            let keeps = holds != sifter.negated;
            sifter.left_out += u64::from(!keeps);
            keeps
        })
    }

    /// Whether there are no filters at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.keys.is_empty()
    }

    /// Whether there are filters of keys.
    pub fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Whether entries of a key, as it is shown, count; else the position of the filter that does not hold,
    /// for [`Sieve::left_out_by_key`].
    ///
    /// # Errors
    /// That position.
    pub fn keeps_key(&self, name: &str) -> Result<(), usize> {
        let fails = self.keys.iter().position(|sifter| {
            let By::Key(test) = &sifter.by else { unreachable!("these are filters of keys") };
            test.holds(Some(name.as_bytes())) == sifter.negated
        });
        fails.map_or(Ok(()), Err)
    }

    /// An entry is left out by the filter of keys at a position.
    pub fn left_out_by_key(&mut self, position: usize) {
        self.keys[position].left_out += 1;
    }

    /// The filters with how many entries each has left out; those of keys last.
    pub fn left_out(&self) -> Vec<(String, u64)> {
        let all = self.entries.iter().chain(&self.keys);
        all.map(|sifter| (sifter.text.clone(), sifter.left_out)).collect()
    }
}

#[cfg(test)]
mod tests;
