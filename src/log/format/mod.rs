//! The formats that logs have: a registry, and what its entries share.
//!
//! A format is one file here and one line in [`FORMATS`]: what it is called, an example, which first
//! lines look like it, and a [`Parser`]. A parser is opened for the fields that are wanted, so that
//! nothing is read of a record that nobody asks for.

mod alb;
mod caddy;
mod cloudfront;
mod combined;
mod csv;
mod elb;
mod envoy;
mod haproxy;
mod json;
mod naming;
mod nginx_json;
mod regex;
mod request;
pub(crate) mod row;
mod squid;
mod table;
mod traefik;
mod tsv;
mod w3c;
mod words;

use std::borrow::Cow;

use super::Plain;
use super::entry::{Entry, Field};
use super::number::Unit;
use super::times::TimeUnit;
use crate::error::{Place, Problem};

/// An entry of the registry.
#[derive(Debug)]
pub struct Format {
    /// As written in a scenario and on the command line.
    pub name: &'static str,
    /// One line for `ratesim list`.
    pub summary: &'static str,
    /// A record as the servers write it.
    pub example: &'static str,
    /// What a usable record looks like, for messages.
    pub expected: &'static str,
    /// What its stamps say where nothing else is known.
    pub stamps: Stamps,
    /// How many of the first lines of a file look like it.
    pub fits: fn(&[&[u8]], &Layout) -> usize,
    /// A parser of a file.
    ///
    /// # Errors
    /// What is missing or wrong in the layout.
    pub open: fn(&Layout) -> Opened,
}

/// A parser, or why there is none.
pub type Opened = Result<Box<dyn Parser>, Vec<Problem>>;

/// What the stamp of a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamps {
    /// When the request came.
    Start,
    /// When it was done.
    End,
    /// When it was done if the record has its duration: servers that log one stamp the end. Else it
    /// counts as its start.
    EndIfTimed,
}

/// The registry, in the order in which formats are listed. Where a file looks like several of them, it
/// has the first.
pub const FORMATS: &[Format] = &[
    combined::FORMAT,
    haproxy::FORMAT,
    nginx_json::FORMAT,
    caddy::FORMAT,
    traefik::FORMAT,
    envoy::FORMAT,
    json::FORMAT,
    cloudfront::FORMAT,
    w3c::FORMAT,
    alb::FORMAT,
    elb::FORMAT,
    squid::FORMAT,
    csv::FORMAT,
    tsv::FORMAT,
    regex::FORMAT,
];

/// The format of a name.
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// What is wanted of a file, and what its format leaves open.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// The fields that entries are asked for; the values of an entry have the same order.
    pub wanted: Vec<Field>,
    /// Where the time stands, in formats that have columns.
    pub time: Option<Column>,
    /// Where the duration stands, in formats that have columns.
    pub duration: Option<Column>,
    /// Where other fields stand, in formats that have columns.
    pub columns: Vec<(Field, Column)>,
    /// Whether nothing has a place but what was given one: no column is known by its name.
    pub named_only: bool,
    /// The unit of times that are numbers.
    pub time_unit: TimeUnit,
    /// The unit of durations; in the combined format, that the last field of a line is one.
    pub duration_unit: Option<Unit>,
    /// What stands between the fields of a table.
    pub delimiter: Option<u8>,
    /// The expression of the format `regex`.
    pub pattern: Option<Column>,
    /// Where problems are shown that have no better place.
    pub place: Option<Place>,
}

impl Layout {
    /// What a wanted field is called in the format itself, where the user has said so.
    pub(crate) fn own(&self, field: &Field) -> Field {
        let mapped = self.columns.iter().find(|(known, _)| known == field);
        mapped.map_or_else(|| field.clone(), |(_, column)| Field::of(&column.name))
    }
}

/// A name that the user gave: of a column, a path in JSON, an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// Where it stands, for messages.
    pub place: Option<Place>,
}

/// Reads the records of one file. May keep what it learns from record to record: a heading, a unit.
pub trait Parser: Send {
    /// Reads one record, without its line break.
    ///
    /// # Errors
    /// Why there is no entry in it, or why nothing in the file can be read.
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<Parsed<'a>, Fault>;

    /// Whether [`Parser::plain`] may find something.
    fn tells_plain(&self) -> bool {
        false
    }

    /// Reads lines from the start of a text, as long as each has its end there, is a record, is shorter than `longest`
    /// and nothing is to be known of it but what a [`Plain`] has. How many bytes were read.
    fn plain(&mut self, _text: &[u8], _longest: usize, _into: &mut Vec<Plain>) -> usize {
        0
    }

    /// Where the first record of some bytes ends, if it does among them.
    fn end(&self, bytes: &[u8]) -> Option<End> {
        End::of_line(bytes)
    }

    /// Whether a record of which only the first part is known can still be used.
    fn takes_cut_records(&self) -> bool {
        false
    }

    /// Whether entries come with durations.
    fn has_durations(&self) -> bool;

    /// Another parser for records of the same file, where each stands alone: is one line, and read the same
    /// whatever was read before it, by whichever of the two. `None` where what it learns from record to record, such
    /// as a heading or a unit, counts.
    fn twin(&self) -> Option<Box<dyn Parser>> {
        None
    }

    /// Sentences on how it understood the file, once all is read.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What is in a record.
#[derive(Debug)]
pub enum Parsed<'a> {
    /// A request.
    Entry(Entry<'a>),
    /// No request, but what the parser had to know: names of columns, a comment.
    Heading,
}

/// Why a record gave no entry.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is left out and counted by its reason, which follows "12 lines: ".
    Skip(Cow<'static, str>),
    /// The file as a whole cannot be read.
    Stop(Vec<Problem>),
}

impl From<&'static str> for Fault {
    fn from(reason: &'static str) -> Fault {
        Fault::Skip(Cow::Borrowed(reason))
    }
}

/// Where a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// The position of its line feed.
    pub feed: usize,
    /// How many lines it has.
    pub lines: u64,
}

impl End {
    /// The end of the first line of some bytes, if it is among them.
    #[inline]
    pub fn of_line(bytes: &[u8]) -> Option<End> {
        memchr::memchr(b'\n', bytes).map(|feed| End { feed, lines: 1 })
    }
}
