//! What a parser finds in one line, or in a record of several.

use super::lines::Line;
use crate::log::Plain;
use crate::log::entry::Entry;
use crate::log::format::{Fault, Parsed, Parser};

/// A line with what is in it.
pub struct Record<'a> {
    /// The number of its line, from 1.
    pub number: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether the text ends before it does.
    pub open: bool,
    /// What is in it.
    pub what: What<'a>,
}

/// What is in a line.
pub enum What<'a> {
    /// Nothing at all.
    Blank,
    /// What the parser had to know.
    Heading,
    /// A request.
    Entry(Entry<'a>),
    /// Requests of this line and those that follow it.
    Plain(&'a [Plain]),
    /// No request, and why.
    Fault(Fault),
}

impl<'a> Record<'a> {
    /// Parses a line.
    #[inline]
    pub fn read(line: &Line<'a>, parser: &'a mut dyn Parser) -> Record<'a> {
        let Line { number, bytes, cut, open } = *line;
        let what = if is_blank(bytes) {
            What::Blank
        } else if cut && !parser.takes_cut_records() {
            What::Fault("it is longer than 1 MiB".into())
        } else {
            match parser.parse(bytes) {
                Ok(Parsed::Entry(entry)) => What::Entry(entry),
                Ok(Parsed::Heading) => What::Heading,
                Err(fault) => What::Fault(fault),
            }
        };
        Record { number, bytes, open, what }
    }
}

#[inline]
fn is_blank(line: &[u8]) -> bool {
    line.first().is_none_or(u8::is_ascii_whitespace) && line.iter().all(u8::is_ascii_whitespace)
}
