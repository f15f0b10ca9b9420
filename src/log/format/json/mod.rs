//! Lines of JSON, one object a request: the format of those that have no other, and the parser for all
//! that do and differ in their names alone.

mod escape;
mod scan;

use super::naming::{Naming, Sought, of_request, span};
use super::{Fault, Format, Layout, Parsed, Parser, Stamps};
use crate::error::Problem;
use crate::log::entry::{Entry, Field, Values};
use crate::log::number::Unit;
use crate::log::stamp::Stamp;
use crate::log::times::Times;
use crate::time::Span;
use scan::Paths;

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "json",
    summary: "Lines of JSON with names of any kind; `columns` says which is what, where it cannot be told.",
    example: r#"{"time":"2015-05-17T10:05:03Z","ip":"192.0.2.7","method":"GET","path":"/a","status":200}"#,
    expected: "a line is an object with a time, as `{\"time\": \"2015-05-17T10:05:03Z\", …}`; if the \
               time has another name, say which: `columns.time = \"at\"`",
    stamps: Stamps::EndIfTimed,
    fits: |lines, _| count_with(lines, &[]),
    open: |layout| open(layout, super::naming::ANY),
};

/// How many lines are objects that have all of these keys, each one of several.
pub fn count_with(lines: &[&[u8]], keys: &[&[&str]]) -> usize {
    let has = |line: &[u8], key: &str| {
        let quoted = format!("\"{key}\"");
        memchr::memmem::find(line, quoted.as_bytes()).is_some()
    };
    let fits = |line: &&&[u8]| {
        let text = line.trim_ascii();
        text.starts_with(b"{")
            && text.contains(&b':')
            && keys.iter().all(|names| names.iter().any(|name| has(text, name)))
    };
    lines.iter().filter(fits).count()
}

/// Opens a parser of lines with names from `naming`.
pub fn open(layout: &Layout, naming: &Naming) -> Result<Box<dyn Parser>, Vec<Problem>> {
    let all = naming.resolve(layout);
    let mut paths = Paths::default();
    let mut add = |sought: &[Sought]| -> Vec<usize> {
        sought.iter().map(|sought| paths.add(&sought.name)).collect()
    };
    let (time, end) = (add(&all.time), add(&all.end));
    let (request, required) = (add(&all.request), add(&all.required));
    let fields = all.fields.iter().map(|sought| add(sought)).collect();
    let duration =
        all.duration.iter().map(|(sought, unit)| (paths.add(&sought.name), *unit)).collect();
    Ok(Box::new(Json {
        paths,
        time,
        end,
        duration,
        request,
        required,
        fields,
        wanted: layout.wanted.clone(),
        values: Values::of(layout.wanted.len()),
        times: Times::new(layout.time_unit, layout.place.clone()),
        timed: false,
    }))
}

struct Json {
    paths: Paths,
    /// Paths by their numbers, the first that is there counts.
    time: Vec<usize>,
    end: Vec<usize>,
    duration: Vec<(usize, Unit)>,
    request: Vec<usize>,
    required: Vec<usize>,
    fields: Vec<Vec<usize>>,
    wanted: Vec<Field>,
    values: Values,
    times: Times,
    /// Whether any entry had a duration.
    timed: bool,
}

impl Parser for Json {
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<Parsed<'a>, Fault> {
        if record.trim_ascii_start().first() != Some(&b'{') {
            return Err("it is no object of JSON".into());
        }
        let whole = self.paths.scan(record);
        let paths = &self.paths;
        let first =
            |numbers: &[usize]| numbers.iter().find_map(|&number| paths.get(number, record));
        // What is missing may have been cut off.
        if whole && !self.required.is_empty() && first(&self.required).is_none() {
            return Err("it is no request, but something else that the server had to say".into());
        }
        let took =
            self.duration.iter().find_map(|&(number, unit)| span(paths.get(number, record)?, unit));
        let stamp = match (first(&self.time), first(&self.end)) {
            (Some(time), _) => self.times.read(time)?,
            (None, Some(end)) => started(self.times.read(end)?, took),
            (None, None) if whole => return Err("it has no time".into()),
            (None, None) => return Err("it is cut short, or not JSON, before its time".into()),
        };
        self.timed |= took.is_some();
        self.values.clear();
        for (position, numbers) in self.fields.iter().enumerate() {
            let of_request = || of_request(&self.wanted[position], first(&self.request)?);
            if let Some(value) = first(numbers).or_else(of_request) {
                self.values.put(position, record, value);
            }
        }
        Ok(Parsed::Entry(Entry::new(stamp, took, record, &self.values)))
    }

    fn has_durations(&self) -> bool {
        self.timed
    }

    fn notes(&self) -> Vec<String> {
        self.times.note().into_iter().collect()
    }
}

/// The stamp of a request that was done at `end`.
fn started(end: Stamp, took: Option<Span>) -> Stamp {
    Stamp { at: end.at - took.unwrap_or(Span::ZERO), ..end }
}

#[cfg(test)]
mod tests;
