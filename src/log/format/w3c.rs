//! Logs in the extended format of W3C, as IIS writes them: `#Fields` says what stands where, and may say
//! something else in the middle of a file. Times are in UTC and of the moment at which a request was done. Between
//! fields there are spaces, or tabs as in the logs of ISA and TMG.
//! Also the parser of CloudFront's logs, which are such logs with tabs.

use super::naming::{All, Located, Naming, span};
use super::{Fault, Format, Layout, Parsed, Parser, Stamps};
use crate::error::Problem;
use crate::log::entry::{Entry, Field, Values};
use crate::log::number::Unit;
use crate::log::stamp::{self, NOT_A_TIME, Stamp};
use crate::log::{count, readable};

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "w3c",
    summary: "Logs of IIS and others in the extended format of W3C, with `#Fields`.",
    example: "#Fields: date time c-ip cs-username cs-method cs-uri-stem cs-uri-query sc-status \
              time-taken\n2015-05-17 10:05:03 192.0.2.7 - GET /a b=c 200 12",
    expected: "a line stands below `#Fields: date time …` and has as many fields as that names",
    stamps: Stamps::EndIfTimed,
    fits: |lines, layout| fits(lines, layout),
    open: |layout| open(layout, &NAMING, Dialect { encoded: false }),
};

const NAMING: Naming = Naming {
    time: &["time"],
    end: &[],
    duration: &[("time-taken", Unit::Milliseconds)],
    fields: &[
        ("address", &["c-ip"]),
        ("user", &["cs-username"]),
        ("method", &["cs-method", "s-operation"]),
        ("target", &["cs-uri-stem", "cs-uri"]),
        ("status", &["sc-status"]),
        ("forwarded", &["x-forwarded-for", "cs(x-forwarded-for)"]),
        ("host", &["cs-host", "cs(host)", "s-computername"]),
        ("agent", &["cs(user-agent)", "c-agent"]),
        ("referer", &["cs(referer)"]),
        ("bytes", &["sc-bytes"]),
    ],
    request: &[],
    required: &[],
    header: |name| format!("cs({name})"),
};

/// In what such logs differ.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// Whether blanks and the like are written as in URLs; else blanks are written as `+`.
    pub encoded: bool,
}

/// What stands between the fields of a line: in fields there are no tabs, but there are blanks where tabs stand between
/// them.
#[inline]
fn delimiter(line: &[u8], layout: &Layout) -> u8 {
    let by_line = || if memchr::memchr(b'\t', line).is_some() { b'\t' } else { b' ' };
    layout.delimiter.unwrap_or_else(by_line)
}

/// How many lines stand below a heading, heading and comments included.
pub fn fits(lines: &[&[u8]], layout: &Layout) -> usize {
    let mut width = None;
    let mut fitting = 0;
    for line in lines {
        if let Some(names) = line.strip_prefix(b"#Fields:") {
            width = Some(names.trim_ascii().split(|&byte| byte == b' ' || byte == b'\t').count());
            fitting += 1;
            continue;
        }
        let delimiter = delimiter(line, layout);
        let as_wide = || Some(line.split(|&byte| byte == delimiter).count()) == width;
        fitting += usize::from(line.starts_with(b"#") || as_wide());
    }
    if width.is_some() { fitting } else { 0 }
}

/// Opens a parser of logs with names from `naming`.
///
/// # Errors
/// None; what the user has named is looked for in each heading.
pub fn open(
    layout: &Layout,
    naming: &Naming,
    dialect: Dialect,
) -> Result<Box<dyn Parser>, Vec<Problem>> {
    Ok(Box::new(W3c {
        dialect,
        all: naming.resolve(layout),
        layout: layout.clone(),
        heading: None,
        day: Vec::new(),
        fields: Vec::new(),
        values: Values::of(layout.wanted.len()),
        headings: 0,
        timed: false,
    }))
}

struct W3c {
    dialect: Dialect,
    all: All,
    layout: Layout,
    heading: Option<Heading>,
    /// The date of `#Date`, for logs that have none in their lines.
    day: Vec<u8>,
    /// Where the fields of the last line start and end.
    fields: Vec<(usize, usize)>,
    values: Values,
    headings: u64,
    timed: bool,
}

/// What `#Fields` has said.
struct Heading {
    width: usize,
    date: Option<usize>,
    query: Option<usize>,
    located: Located,
}

impl Parser for W3c {
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<Parsed<'a>, Fault> {
        if let Some(directive) = record.strip_prefix(b"#") {
            self.directive(directive)?;
            return Ok(Parsed::Heading);
        }
        let Some(heading) = &self.heading else {
            return Err("no `#Fields` stands above it".into());
        };
        self.fields.clear();
        let delimiter = delimiter(record, &self.layout);
        let mut start = 0;
        for end in memchr::memchr_iter(delimiter, record).chain([record.len()]) {
            self.fields.push((start, end));
            start = end + 1;
        }
        let fields = &self.fields;
        let field = |index: Option<usize>| {
            let &(start, end) = fields.get(index?)?;
            Some(&record[start..end])
        };
        // The time may be in the part that is there of a line that was cut off.
        if fields.len() > heading.width {
            return Err("it has more fields than `#Fields` names".into());
        }
        let date = field(heading.date).unwrap_or(&self.day);
        let time = field(heading.located.time).ok_or("it has fewer fields than its time needs")?;
        let stamp = moment(date, time)?;
        let took =
            heading.located.duration.and_then(|(index, unit)| span(field(Some(index))?, unit));
        self.timed |= took.is_some();
        self.values.clear();
        for (position, &index) in heading.located.fields.iter().enumerate() {
            let Some(value) = field(index) else { continue };
            let wanted = &self.layout.wanted[position];
            let query = match wanted {
                Field::Target => {
                    field(heading.query).filter(|&query| !query.is_empty() && query != b"-")
                }
                _ => None,
            };
            match (query, wanted) {
                (Some(query), _) => self.values.write(position, |into| {
                    into.extend_from_slice(value);
                    into.push(b'?');
                    into.extend_from_slice(query);
                }),
                (None, Field::Target) => self.values.put(position, record, value),
                (None, _) if self.dialect.encoded => {
                    self.values.write(position, |into| decode(value, into))
                }
                // Between the addresses of a list there are blanks.
                (None, Field::Forwarded) if value.contains(&b'+') => {
                    let blank = |&byte: &u8| if byte == b'+' { b' ' } else { byte };
                    self.values.write(position, |into| into.extend(value.iter().map(blank)));
                }
                (None, _) => self.values.put(position, record, value),
            }
        }
        Ok(Parsed::Entry(Entry::new(stamp, took, record, &self.values)))
    }

    fn takes_cut_records(&self) -> bool {
        true
    }

    fn has_durations(&self) -> bool {
        self.timed
    }

    fn notes(&self) -> Vec<String> {
        if self.headings < 2 {
            return Vec::new();
        }
        let times = count(self.headings - 1, "time", "times");
        vec![format!(
            "`#Fields` changes {times} within the file; each holds for the lines below it."
        )]
    }
}

impl W3c {
    /// Takes in a line that starts with `#`, without that.
    fn directive(&mut self, directive: &[u8]) -> Result<(), Fault> {
        if let Some(date) = directive.strip_prefix(b"Date:") {
            let date = date.trim_ascii();
            self.day = date[..date.len().min(10)].to_vec();
        }
        let Some(names) = directive.strip_prefix(b"Fields:") else { return Ok(()) };
        let names = names.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(readable).collect();
        let located = self.all.locate(&names).map_err(Fault::Stop)?;
        let find = |name: &str| names.iter().position(|other| other.eq_ignore_ascii_case(name));
        let (date, query) = (find("date"), find("cs-uri-query"));
        let changes = self.heading.as_ref().is_none_or(|old| {
            (old.width, old.date, old.query, &old.located) != (names.len(), date, query, &located)
        });
        self.headings += u64::from(changes);
        self.heading = Some(Heading { width: names.len(), date, query, located });
        Ok(())
    }
}

/// A date and a time of day, in UTC; or a time that is whole in itself.
fn moment(date: &[u8], time: &[u8]) -> Result<Stamp, &'static str> {
    let mut text = [0_u8; 64];
    let whole = time.len() > 10 && time[2] != b':';
    let parts: [&[u8]; 3] = if whole { [b"", b"", time] } else { [date, b" ", time] };
    let mut length = 0;
    for part in parts {
        text.get_mut(length..length + part.len()).ok_or(NOT_A_TIME)?.copy_from_slice(part);
        length += part.len();
    }
    Ok(Stamp { local: false, ..stamp::parse(&text[..length])? })
}

/// Appends a text with `%20` and the like resolved, twice where it was encoded twice.
fn decode(text: &[u8], into: &mut Vec<u8>) {
    let start = into.len();
    decode_once(text, into);
    if memchr::memmem::find(&into[start..], b"%20").is_some() {
        let once = into.split_off(start);
        decode_once(&once, into);
    }
}

fn decode_once(text: &[u8], into: &mut Vec<u8>) {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'%', rest) {
        into.extend_from_slice(&rest[..at]);
        let pair = rest
            .get(at + 1..at + 3)
            .and_then(|pair| Some(digit(&pair[0])? << 4 | digit(&pair[1])?));
        into.push(pair.unwrap_or(b'%'));
        rest = &rest[at + if pair.is_some() { 3 } else { 1 }..];
    }
    into.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::format::named;
    use proptest::prelude::*;

    /// The time, span taken and fields of each line; a reason where there is none.
    fn parsed(format: &str, wanted: &[Field], text: &str) -> (Vec<String>, String) {
        let layout = Layout { wanted: wanted.to_vec(), ..Layout::default() };
        let mut parser = (named(format).unwrap().open)(&layout).unwrap();
        let mut shown = Vec::new();
        for line in text.lines() {
            shown.push(match parser.parse(line.as_bytes()) {
                Ok(Parsed::Heading) => continue,
                Err(fault) => match fault {
                    Fault::Skip(reason) => reason.into_owned(),
                    Fault::Stop(problems) => problems[0].message.clone(),
                },
                Ok(Parsed::Entry(entry)) => {
                    let values = (0..wanted.len())
                        .map(|position| entry.get(position).map_or("none".to_owned(), readable));
                    let took = entry.took.map_or(String::new(), |took| format!(" took {took}"));
                    format!("{} {}{took}", entry.stamp.at, values.collect::<Vec<_>>().join(" "))
                }
            });
        }
        (shown, parser.notes().join("\n"))
    }

    #[test]
    fn fields_may_change_in_the_middle_of_a_file() {
        let wanted =
            [Field::Address, Field::User, Field::Target, Field::Status, Field::of("header:Host")];
        let text = format!(
            "#Software: Microsoft Internet Information Services 10.0\n{}\n\
             2015-05-17 10:05:04 192.0.2.8 DOM\\ann GET /x - 404 3\n\
             #Fields: time cs(Host) c-ip date\n\
             10:05:05 example.com 192.0.2.9 2015-05-17\n\
             10:05:06\n\
             10:05:07 example.com 192.0.2.9 2015-05-17 more\n\
             #Date: 2015-05-18 00:00:00\n\
             #Fields: time c-ip\n\
             10:05:08 192.0.2.9\n",
            FORMAT.example
        );
        let (rows, notes) = parsed("w3c", &wanted, &text);
        assert_eq!(
            rows,
            [
                "2015-05-17T10:05:03Z 192.0.2.7 none /a?b=c 200 none took 12ms",
                "2015-05-17T10:05:04Z 192.0.2.8 DOM\\ann /x 404 none took 3ms",
                "2015-05-17T10:05:05Z 192.0.2.9 none none none example.com",
                NOT_A_TIME,
                "it has more fields than `#Fields` names",
                "2015-05-18T10:05:08Z 192.0.2.9 none none none none",
            ]
        );
        assert_eq!(
            notes,
            "`#Fields` changes 2 times within the file; each holds for the lines below it."
        );
        let (rows, notes) = parsed("w3c", &[], "2015-05-17 10:05:04 a\n");
        assert_eq!((rows[0].as_str(), notes.as_str()), ("no `#Fields` stands above it", ""));
    }

    #[test]
    fn cloudfront_has_tabs_seconds_and_texts_as_in_urls() {
        let wanted = [Field::Address, Field::Target, Field::Agent, Field::Host, Field::Forwarded];
        let example = named("cloudfront").unwrap().example;
        let (rows, _) = parsed("cloudfront", &wanted, example);
        assert_eq!(
            rows,
            [
                "2015-05-17T10:05:03Z 192.0.2.7 /a?b=c Mozilla/5.0 (X11) example.com 203.0.113.9 took 12ms"
            ]
        );
        let (again, _) = parsed("cloudfront", &wanted, &example.replace("%20", "%2520"));
        assert_eq!(again, rows);
        let fits = |format: &str, text: &str| {
            let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
            (named(format).unwrap().fits)(&lines, &Layout::default())
        };
        assert_eq!([fits("cloudfront", example), fits("w3c", example)], [3, 3]);
        assert_eq!([fits("cloudfront", FORMAT.example), fits("w3c", FORMAT.example)], [0, 2]);
    }

    #[test]
    fn tabs_may_stand_between_fields_and_blanks_in_them() {
        let wanted = [Field::Address, Field::Target, Field::Agent, Field::Method];
        let text = "#Fields:\tdate\ttime\tc-ip\ts-operation\tcs-uri\tsc-status\tc-agent\ttime-taken\n\
                    2015-05-17\t10:05:03\t192.0.2.7\tGET\thttp://a/b c\t200\tMozilla/4.0 (x; y)\t12\n";
        let (rows, _) = parsed("w3c", &wanted, text);
        assert_eq!(
            rows,
            ["2015-05-17T10:05:03Z 192.0.2.7 http://a/b c Mozilla/4.0 (x; y) GET took 12ms"]
        );
        let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
        assert_eq!(fits(&lines, &Layout::default()), 2);
        assert_eq!((named("cloudfront").unwrap().fits)(&lines, &Layout::default()), 0);
    }

    #[test]
    fn blanks_in_a_list_of_addresses_are_blanks() {
        let text = "#Fields: date time X-Forwarded-For cs(User-Agent)\n\
                    2015-05-17 10:05:03 198.51.100.1,+10.0.0.1 a+b\n";
        let (rows, _) = parsed("w3c", &[Field::Forwarded, Field::Agent], text);
        assert_eq!(rows, ["2015-05-17T10:05:03Z 198.51.100.1, 10.0.0.1 a+b"]);
    }

    proptest! {
        #[test]
        fn no_lines_make_it_panic(text in "(#Fields: |#Date: |date |time |c-ip |2015-05-17|10:05:03|%2|%20|[-#\t\n ]){0,30}") {
            parsed("w3c", &[Field::Address, Field::Target], &text);
            parsed("cloudfront", &[Field::Agent, Field::Target], &text);
        }
    }
}
