//! Tables: a heading, then one request a row. A quote that is not closed spoils its line, not the file.
//! The parser of all formats with a delimiter.

use super::naming::{ANY, All, Located, of_request, span};
use super::row::{self, Row};
use super::{End, Fault, Layout, Parsed, Parser};
use crate::error::Problem;
use crate::log::entry::{Entry, Field, Values};
use crate::log::readable;
use crate::log::times::Times;

/// What a row looks like, for messages.
pub const EXPECTED: &str = "a row has as many fields as the heading, and in the column of the time a time \
                            such as `2023-11-16T18:17:03.97Z` or a number; say which column it is: \
                            `columns.time = \"at\"`";

/// In what tables differ.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// What stands between fields, the likeliest first, if nobody says it.
    pub delimiters: &'static [u8],
    /// Whether quotes hold fields together.
    pub quoted: bool,
}

impl Dialect {
    /// What stands between the fields of a table with this heading: the first that leaves a name of the time.
    fn delimiter(self, heading: &[u8], layout: &Layout) -> u8 {
        let timed = |delimiter: &&u8| names_time(&self.fields(heading, **delimiter), layout);
        let found = || self.delimiters.iter().find(timed).or(self.delimiters.first());
        layout.delimiter.or_else(|| found().copied()).unwrap_or(b',')
    }

    /// The fields of a line alone, as texts.
    fn fields(self, line: &[u8], delimiter: u8) -> Vec<String> {
        let mut row = Row::default();
        match self.split(&mut row, line, delimiter) {
            Ok(()) => {
                (0..row.len()).map(|index| readable(row.field(index, line).trim_ascii())).collect()
            }
            Err(_) => Vec::new(),
        }
    }

    fn split(self, row: &mut Row, record: &[u8], delimiter: u8) -> Result<(), &'static str> {
        match self.quoted {
            true => row.split(record, delimiter)?,
            false => row.split_at_all(record, delimiter),
        }
        Ok(())
    }
}

/// Whether one of the names in a heading is that of the time.
fn names_time(names: &[String], layout: &Layout) -> bool {
    let usual = |name: &&String| ANY.time.iter().any(|time| time.eq_ignore_ascii_case(name));
    let given = |name: &&String| layout.time.as_ref().is_some_and(|time| time.name == **name);
    names.iter().any(|name| usual(&name) || given(&name))
}

/// Opens a parser of tables.
pub fn open(layout: &Layout, dialect: Dialect) -> Result<Box<dyn Parser>, Vec<Problem>> {
    Ok(Box::new(Table {
        dialect,
        delimiter: None,
        layout: layout.clone(),
        all: ANY.resolve(layout),
        heading: None,
        row: Row::default(),
        values: Values::of(layout.wanted.len()),
        times: Times::new(layout.time_unit, layout.place.clone()),
        has_durations: layout.duration.is_some(),
    }))
}

/// How many of the lines are rows of a table with a heading that names the time.
pub fn fits(lines: &[&[u8]], dialect: Dialect, layout: &Layout) -> usize {
    let Some((heading, rows)) = lines.split_first() else { return 0 };
    let delimiter = dialect.delimiter(heading, layout);
    let names = dialect.fields(heading, delimiter);
    if !names_time(&names, layout) {
        return 0;
    }
    1 + rows.iter().filter(|row| dialect.fields(row, delimiter).len() == names.len()).count()
}

struct Table {
    dialect: Dialect,
    /// What stands between fields; `None` before the heading was read, if nobody says it.
    delimiter: Option<u8>,
    layout: Layout,
    all: All,
    /// Where everything stands, and how many fields there are; `None` before the heading was read.
    heading: Option<(Located, usize)>,
    row: Row,
    values: Values,
    times: Times,
    has_durations: bool,
}

impl Parser for Table {
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<Parsed<'a>, Fault> {
        let delimiter = self.delimiter_of(record);
        self.dialect.split(&mut self.row, record, delimiter)?;
        let Some((located, width)) = &self.heading else {
            self.read_heading(record)?;
            return Ok(Parsed::Heading);
        };
        let row = &self.row;
        if row.len() > *width {
            return Err("it has more fields than the heading".into());
        }
        // Of a row that is cut short the last field that is there may be, too: that must not be the time.
        if row.len() < *width && located.time.is_none_or(|time| time + 1 >= row.len()) {
            return Err(
                "it has fewer fields than the heading, and ends before or within its time".into()
            );
        }
        let field = |index: Option<usize>| {
            index.filter(|&index| index < row.len()).map(|index| row.field(index, record))
        };
        let stamp = self.times.read(field(located.time).unwrap_or(b""))?;
        let took = located.duration.and_then(|(index, unit)| span(field(Some(index))?, unit));
        self.values.clear();
        for (position, &index) in located.fields.iter().enumerate() {
            let of_request = || of_request(&self.layout.wanted[position], field(located.request)?);
            if let Some(value) = field(index).or_else(of_request) {
                self.values.put(position, record, value);
            }
        }
        Ok(Parsed::Entry(Entry::new(stamp, took, record, &self.values)))
    }

    fn end(&self, bytes: &[u8]) -> Option<End> {
        match self.dialect.quoted {
            // In the heading it makes no difference.
            true => row::end_of_record(bytes, self.delimiter.unwrap_or(b',')),
            false => End::of_line(bytes),
        }
    }

    fn has_durations(&self) -> bool {
        self.has_durations
    }

    fn notes(&self) -> Vec<String> {
        let semicolons = self.delimiter.filter(|delimiter| {
            self.layout.delimiter.is_none() && self.dialect.delimiters.first() != Some(delimiter)
        });
        let semicolons = semicolons.map(|delimiter| {
            let delimiter = char::from(delimiter);
            format!("Fields are taken to have `{delimiter}` between them, by the heading.")
        });
        semicolons.into_iter().chain(self.times.note()).collect()
    }
}

impl Table {
    /// What stands between the fields of a record, which is the heading if there was none.
    #[inline]
    fn delimiter_of(&mut self, record: &[u8]) -> u8 {
        match self.delimiter {
            Some(delimiter) => delimiter,
            None => *self.delimiter.insert(self.dialect.delimiter(record, &self.layout)),
        }
    }

    /// Finds the columns by their names.
    fn read_heading(&mut self, record: &[u8]) -> Result<(), Fault> {
        let fields = 0..self.row.len();
        let names: Vec<String> =
            fields.map(|index| readable(self.row.field(index, record).trim_ascii())).collect();
        let located = self.all.locate(&names).map_err(Fault::Stop)?;
        let mut problems = Vec::new();
        let mut add = |message: String, help: String| {
            let problem = Problem { place: self.layout.place.clone(), ..Problem::new(message) };
            problems.push(problem.help(help));
        };
        if located.time.is_none() {
            let help = format!(
                "say which it is, as `columns.time = \"at\"`; there are: {}",
                names.join(", ")
            );
            add("no column has a name that a time would have".to_owned(), help);
        }
        for (field, place) in self.layout.wanted.iter().zip(&located.fields) {
            if let (Field::Named(name), None) = (field, place) {
                let help = crate::error::suggest(name, names.iter().map(String::as_str));
                add(format!("there is no column `{name}`"), help);
            }
        }
        if !problems.is_empty() {
            return Err(Fault::Stop(problems));
        }
        self.has_durations |= located.duration.is_some();
        self.heading = Some((located, names.len()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::format::{Column, named};
    use proptest::prelude::*;

    /// The time, span taken, and fields of each row; a reason where there is none.
    fn parsed(format: &str, layout: &Layout, text: &str) -> Vec<String> {
        let mut parser = (named(format).unwrap().open)(layout).unwrap();
        let mut shown = Vec::new();
        for line in text.lines() {
            shown.push(match parser.parse(line.as_bytes()) {
                Ok(Parsed::Heading) => continue,
                Err(Fault::Skip(reason)) => reason.into_owned(),
                Err(Fault::Stop(problems)) => problems
                    .iter()
                    .map(|problem| problem.message.clone())
                    .collect::<Vec<_>>()
                    .join("; "),
                Ok(Parsed::Entry(entry)) => {
                    let values = (0..layout.wanted.len())
                        .map(|position| entry.get(position).map_or("none".to_owned(), readable));
                    let took = entry.took.map_or(String::new(), |took| format!(" took {took}"));
                    format!("{} {}{took}", entry.stamp.at, values.collect::<Vec<_>>().join(" "))
                }
            });
        }
        shown
    }

    #[test]
    fn columns_are_found_by_names_that_are_usual() {
        let wanted = vec![Field::Address, Field::Method, Field::Target, Field::of("Plan")];
        let layout = Layout { wanted, ..Layout::default() };
        let text = "Timestamp,client_ip,\"request\",plan,duration_ms\n\
                    1431857103,192.0.2.7,\"GET /a,b HTTP/1.1\",gold,12\n\
                    1431857104,,-,-,\n\
                    1431857105,192.0.2.8\n\
                    1431857106\n\
                    1431857107,192.0.2.9,-,-,5,more\n";
        let rows = parsed("csv", &layout, text);
        assert_eq!(
            rows,
            [
                "2015-05-17T10:05:03Z 192.0.2.7 GET /a,b gold took 12ms",
                "2015-05-17T10:05:04Z none none none none",
                "2015-05-17T10:05:05Z 192.0.2.8 none none none",
                "it has fewer fields than the heading, and ends before or within its time",
                "it has more fields than the heading",
            ]
        );
        let tabs = text.replace("/a,b", "/a b").replace(',', "\t").replace("/a b", "/a,b");
        assert_eq!(parsed("tsv", &layout, &tabs), rows);
    }

    #[test]
    fn a_heading_without_what_is_wanted_stops_the_file() {
        let layout = Layout { wanted: vec![Field::of("plan")], ..Layout::default() };
        assert_eq!(
            parsed("csv", &layout, "when,who"),
            ["no column has a name that a time would have; there is no column `plan`"]
        );
        let column = |name: &str| Some(Column { name: name.to_owned(), place: None });
        let layout = Layout { time: column("time"), duration: column("ms"), ..Layout::default() };
        assert_eq!(
            parsed("csv", &layout, "TIME,ms,ms"),
            ["there is no column `time`; two columns are named `ms`"]
        );
    }

    #[test]
    fn tables_are_told_by_their_heading() {
        let lines = ["ts,ip", "1,a", "2,b,c"].map(str::as_bytes);
        let any = Layout::default();
        let [csv, tsv] = ["csv", "tsv"].map(|name| named(name).unwrap().fits);
        assert_eq!([csv(&lines, &any), tsv(&lines, &any), csv(&lines[1..], &any)], [2, 0, 0]);
        let ip = Column { name: "ip".to_owned(), place: None };
        let given = Layout { time: Some(ip), ..Layout::default() };
        let lines = ["when;ip", "1;2"].map(str::as_bytes);
        assert_eq!((csv(&lines, &given), csv(&lines, &any)), (2, 0));
    }

    #[test]
    fn semicolons_are_found_out_by_the_heading() {
        let layout = Layout { wanted: vec![Field::Address], ..Layout::default() };
        let text = "time;ip;note\n1431857103;192.0.2.7;\"a;b,c\"\n";
        assert_eq!(parsed("csv", &layout, text), ["2015-05-17T10:05:03Z 192.0.2.7"]);
        let commas = Layout { delimiter: Some(b','), ..layout };
        assert_eq!(parsed("csv", &commas, text)[0], "no column has a name that a time would have");
    }

    #[test]
    fn a_quote_in_a_table_with_tabs_is_a_character() {
        let layout = Layout { wanted: vec![Field::Agent], ..Layout::default() };
        let text = "time\tagent\n1431857103\t\"quoted\n1431857104\t\"x\"\n";
        assert_eq!(
            parsed("tsv", &layout, text),
            ["2015-05-17T10:05:03Z \"quoted", "2015-05-17T10:05:04Z x"]
        );
    }

    proptest! {
        #[test]
        fn no_rows_make_it_panic(text in "(time|ip|request|1431857103|GET /|[,\t\"\n ]){0,30}") {
            let layout = Layout { wanted: vec![Field::Address, Field::Method], ..Layout::default() };
            parsed("csv", &layout, &text);
            parsed("tsv", &layout, &text);
        }
    }
}
