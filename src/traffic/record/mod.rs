//! Recorded sources: requests read from files, one [`Format`] each kind.
//!
//! A format knows how one line becomes a [`Request`], or why it does not; everything else is shared:
//! reading in blocks, counting what could not be used, names to numbers, order, whole seconds,
//! durations. A new format is one file with a `KIND` and one line in `traffic::SOURCES`.
//!
//! What is done to a record, in this order: a byte order mark is dropped; lines are read (blank ones
//! at the end do not count); the requests are sorted by their stamps, stably; if all stamps are
//! whole seconds, `spread` moves them inside their seconds; if stamps are the ends of requests,
//! durations are taken off and the requests sorted again.

pub mod access_log;
mod columns;
pub mod csv;
mod drawn;
mod file;
mod intake;
mod reader;
mod spread;
#[cfg(test)]
mod tests;

use std::io::Read;

use serde_json::json;

use crate::error::{Place, Problem};
use crate::log::format::{End, Fault};
use crate::log::{Stamp, count};
use crate::params::{Choice, Params};
use crate::time::Span;
use crate::traffic::{Context, Input, Source};
use intake::Intake;
use reader::Reader;
pub use spread::Spread;

/// How lines of one kind are read. May keep what it learns from line to line (a heading, a unit).
trait Format {
    /// What a usable line looks like, for messages.
    const EXPECTED: &'static str;

    /// Whether a line of which only the first part is known can still be used.
    const TAKES_CUT_LINES: bool;

    /// Where the first record of some bytes ends, if it does among them.
    fn end(&self, bytes: &[u8]) -> Option<End> {
        End::of_line(bytes)
    }

    /// Reads one record, without its line break. Parts of it may be handed on as they stand.
    ///
    /// # Errors
    /// Why there is no request in it, or why nothing in the file can be read.
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<Parsed<'a>, Fault>;

    /// Whether requests come with durations.
    fn has_durations(&self) -> bool;

    /// Sentences on how it understood the file, once all is read.
    fn notes(&self) -> Vec<String>;
}

/// What is in a record.
#[derive(Debug, PartialEq, Eq)]
enum Parsed<'a> {
    /// A request.
    Request(Request<'a>),
    /// The names of the columns.
    Heading,
}

/// A request as its line has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Request<'a> {
    stamp: Stamp,
    who: Who<'a>,
    /// Empty if the line names none.
    endpoint: &'a [u8],
    /// From 1.
    cost: u32,
    took: Option<Span>,
}

/// Who asked, as far as the line says. The client is named by the first that is there, in the order
/// name, API key, address, tenant; one that nothing is known of is named `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Who<'a> {
    name: Option<&'a [u8]>,
    api_key: Option<&'a [u8]>,
    /// A name that is no IP address names the client all the same.
    address: Option<&'a [u8]>,
    tenant: Option<&'a [u8]>,
    tier: Option<&'a [u8]>,
}

/// What a stamp says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arriving {
    /// When the request came.
    Start,
    /// When it was done.
    End,
}

impl Choice for Arriving {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("start", Arriving::Start, "stamps say when requests arrived, as those of Apache do"),
        (
            "end",
            Arriving::End,
            "stamps say when requests were done, as those of nginx do: their durations are taken off",
        ),
    ];
}

/// Opens a source of one format: reads all settings, then the file.
fn open<F: Format>(
    params: &mut Params,
    context: &mut Context,
    settings: fn(&mut Params) -> Option<F>,
) -> Option<Box<dyn Source>> {
    let path: Option<String> =
        params.required("path", "The file; its path starts from the folder of the scenario.");
    let format = settings(params);
    let spread: Option<Spread> = params.optional(
        "spread",
        "Where in its second a request falls, if the stamps of the file are whole seconds. By \
         default `even`; files with finer stamps are taken as they are.",
    );
    let arrival: Option<Arriving> = params.optional(
        "arrival",
        "What a stamp says. By default `end` if durations are given, else `start`.",
    );
    let strict = params.or(
        "strict",
        false,
        "Whether the first line that cannot be used is a mistake; else such lines are counted.",
    );
    let mut format = format?;
    let arrival = arrival.unwrap_or(match format.has_durations() {
        true => Arriving::End,
        false => Arriving::Start,
    });
    let consistent = params.require(
        "arrival",
        arrival == Arriving::Start || format.has_durations(),
        "there are no durations to take off the stamps",
        "say where the durations stand, or leave `arrival` out",
    );
    params.resolve("arrival", json!(arrival.name()));
    let path = path.filter(|_| consistent)?;
    let ends = arrival == Arriving::End;
    let place = params.place_of("path");
    match load(&path, &place, &mut format, Intake::new(context, ends), strict) {
        Ok((intake, read)) => {
            let (source, input, used) = intake.finish(read, spread, format.notes());
            params.resolve("spread", json!(used.name()));
            context.inputs.push(input);
            Some(source)
        }
        Err(problems) => {
            problems.into_iter().for_each(|problem| params.problems().add(problem));
            None
        }
    }
}

/// Reads a file to its end.
fn load<'a, 'c, F: Format>(
    path: &str,
    place: &Place,
    format: &mut F,
    mut intake: Intake<'a, 'c>,
    strict: bool,
) -> Result<(Intake<'a, 'c>, Input), Vec<Problem>> {
    let opened = file::open(intake.folder(), path, place).map_err(|problem| vec![problem])?;
    let mut reader = opened.reader;
    let read = read_lines(path, place, format, &mut reader, &mut intake, strict);
    let nothing_usable = match read {
        Err(problems) if !opened.binary => return Err(problems),
        Err(_) => true,
        Ok(()) => intake.is_empty(),
    };
    if nothing_usable {
        let message = match intake.commonest_reason() {
            _ if opened.binary => format!("`{path}` is a binary file"),
            Some(skipped) => format!(
                "`{path}` has no usable line; {}: {} (the first is line {})",
                count(skipped.lines, "line", "lines"),
                skipped.reason,
                skipped.first
            ),
            None => format!("`{path}` has no requests, only a heading or blank lines"),
        };
        return Err(vec![Problem::at(place, message).help(F::EXPECTED)]);
    }
    let (bytes, sha256) = reader.finish();
    let input = Input {
        path: path.to_owned(),
        bytes,
        sha256,
        lines: 0,
        used: 0,
        skipped: Vec::new(),
        notes: Vec::new(),
    };
    Ok((intake, input))
}

fn read_lines<F: Format, R: Read>(
    path: &str,
    place: &Place,
    format: &mut F,
    reader: &mut Reader<R>,
    intake: &mut Intake,
    strict: bool,
) -> Result<(), Vec<Problem>> {
    // Blank lines count only once another line follows.
    let mut blank: Option<(u64, u64)> = None;
    loop {
        let line = reader
            .next(|bytes| format.end(bytes))
            .map_err(|cause| vec![Problem::at(place, format!("cannot read `{path}`: {cause}"))])?;
        let Some(line) = line else { return Ok(()) };
        if line.bytes.iter().all(u8::is_ascii_whitespace) {
            blank.get_or_insert((line.number, 0)).1 += 1;
            continue;
        }
        let mut faults = Vec::new();
        if let Some((first, lines)) = blank.take() {
            faults.push((Fault::from("the line is blank"), first, lines));
        }
        let parsed = match line.cut && !F::TAKES_CUT_LINES {
            true => Err(Fault::from("it is longer than 1 MiB")),
            false => format.parse(line.bytes),
        };
        match parsed {
            Ok(Parsed::Request(request)) => intake.push(&request, line.number),
            Ok(Parsed::Heading) => {}
            Err(fault) => faults.push((fault, line.number, 1)),
        }
        for (fault, number, lines) in faults {
            let at_line = |message: &str| format!("line {number} of `{path}`: {message}");
            match fault {
                Fault::Stop(problems) => {
                    let placed = problems
                        .into_iter()
                        .map(|problem| Problem { message: at_line(&problem.message), ..problem });
                    return Err(placed.collect());
                }
                Fault::Skip(reason) if strict => {
                    let problem = Problem::at(place, at_line(&reason)).help(F::EXPECTED);
                    return Err(vec![problem]);
                }
                Fault::Skip(reason) => intake.skip(reason, number, lines),
            }
        }
        if intake.is_full() {
            let message = format!("`{path}` has more than {} requests", intake::MOST);
            return Err(vec![Problem::at(place, message).help("split it into several sources")]);
        }
    }
}
