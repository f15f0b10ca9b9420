//! The reading of one file, from opening it to the report on it.

use std::ops::ControlFlow;

use super::block::{Ahead, Filler, READ, Supply};
use super::lines::{LONGEST, Lines};
use super::open::{MARK, Opened, Witness};
use super::report::Tally;
use super::{File, Options, Report, Sink, Spot, Stop};
use super::{detect, open};
use crate::error::Problem;
use crate::log::count;
use crate::log::entry::Entry;
use crate::log::format::{Fault, Format, Parsed, Parser, Stamps};
use crate::log::zone::Localiser;

/// Why the reading of one file ended before it was read.
pub(super) enum Ended {
    /// All reading ends.
    Stop(Stop),
    /// The file cannot be used.
    Unusable(Problem),
}

/// The reading of one file.
pub(super) struct Reading<'a, S> {
    pub(super) index: usize,
    pub(super) file: &'a File,
    pub(super) options: &'a Options,
    pub(super) sink: &'a mut S,
    pub(super) watch: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    pub(super) tally: Tally,
}

impl<S: Sink> Reading<'_, S> {
    /// Reads it to its end.
    pub(super) fn whole(&mut self) -> Result<Report, Ended> {
        let (path, name) = (&self.file.path, &self.file.name);
        let mut opened = open::open(path, name).map_err(Ended::Unusable)?;
        let witness = opened.witness(path);
        let Opened { text, packing, is_file, .. } = opened;
        let filler = Filler::new(text, LONGEST, READ);
        // A thread that waits for a pipe cannot be told that nobody does any more.
        let (outcome, text) = if self.options.threads > 1 && is_file {
            std::thread::scope(|scope| {
                let mut lines = Lines::new(Ahead::start(scope, filler), LONGEST);
                let outcome = self.lines(&mut lines, is_file);
                (outcome, lines.into_supply().finish())
            })
        } else {
            let mut lines = Lines::new(filler, LONGEST);
            let outcome = self.lines(&mut lines, is_file);
            (outcome, lines.into_supply().into_text())
        };
        let broken = text.broken.clone();
        if let (Some(why), true) = (&broken, self.options.strict) {
            return Err(Ended::Unusable(Problem::new(format!("`{name}`: {why}"))));
        }
        let understood = outcome?;
        let finished = text.into_tap().finish();
        let (bytes, xxh128) =
            finished.map_err(|cause| Ended::Unusable(open::failed(path, name, &cause)))?;
        Ok(self.report(understood, packing.name(), broken, &witness, (bytes, xxh128)))
    }

    fn report(
        &mut self,
        understood: Understood,
        compression: Option<&'static str>,
        broken: Option<String>,
        witness: &Witness,
        (bytes, xxh128): (u64, String),
    ) -> Report {
        let Understood { format, parser, zones, note } = understood;
        let mut notes: Vec<String> = note.into_iter().collect();
        let packed = compression.unwrap_or_default();
        notes.extend(
            broken.map(|why| format!("As {packed}, {why}: what stands before that is used.")),
        );
        notes.extend(witness.notes(bytes));
        notes.extend(parser.notes());
        Report {
            has_durations: parser.has_durations(),
            ends: self.ends(format),
            zone_notes: zones.notes(),
            format: Some(format.name),
            compression,
            bytes,
            xxh128,
            notes,
            ..std::mem::take(&mut self.tally).report(&self.file.name)
        }
    }

    /// Reads a text to its end.
    fn lines<L: Supply>(
        &mut self,
        lines: &mut Lines<L>,
        is_file: bool,
    ) -> Result<Understood, Ended> {
        let (path, name) = (&self.file.path, &self.file.name);
        let unreadable = |cause| Ended::Unusable(open::failed(path, name, &cause));
        let head = lines.head().map_err(unreadable)?;
        let mark = if head.starts_with(MARK) { MARK.len() } else { 0 };
        let text = &head[mark..];
        if let Some(problem) = open::foreign(name, head) {
            return Err(Ended::Unusable(problem));
        }
        if text.is_empty() {
            let help = "a log has at least one request";
            return Err(Ended::Unusable(Problem::new(format!("`{name}` is empty")).help(help)));
        }
        let whole = head.len() < READ;
        let binary = text.contains(&0);
        // A file ends; what comes through a pipe need not, and no line of it may ever do.
        if !is_file && !whole && memchr::memchr(b'\n', text).is_none() {
            let what =
                if binary { "is a binary file" } else { "has no line end in its first 256 KiB" };
            let help = "a log has a line for each request";
            return Err(Ended::Unusable(Problem::new(format!("`{name}` {what}")).help(help)));
        }
        let (format, note) = match self.options.format {
            Some(format) => (format, None),
            None => detect::detect(name, text, &self.options.layout).map_err(|problem| {
                Ended::Unusable(match binary {
                    true => Problem::new(format!("`{name}` is a binary file")),
                    false => problem,
                })
            })?,
        };
        lines.skip(mark);
        let parser = (format.open)(&self.options.layout).map_err(|problems| self.stop(problems))?;
        let zones = Localiser::new(self.options.zone.clone());
        let mut understood = Understood { format, parser, zones, note };
        let read = self.entries(lines, &mut understood);
        let nothing = match read {
            Err(ended) if !binary => return Err(ended),
            Err(_) => true,
            Ok(()) => self.tally.used == 0 && self.tally.passed == 0,
        };
        match nothing {
            false => Ok(understood),
            true => Err(Ended::Unusable(self.nothing_usable(format, binary))),
        }
    }

    /// The problem that no line could be used.
    fn nothing_usable(&self, format: &Format, binary: bool) -> Problem {
        let name = &self.file.name;
        let message = match self.tally.commonest() {
            _ if binary => format!("`{name}` is a binary file"),
            Some(skipped) => format!(
                "`{name}` has no usable line; {}: {} (the first is line {})",
                count(skipped.lines, "line", "lines"),
                skipped.reason,
                skipped.first
            ),
            None => format!("`{name}` has no requests, only a heading or blank lines"),
        };
        Problem::new(message).help(format.expected)
    }

    /// Whether stamps are of the ends of requests.
    fn ends(&self, format: &Format) -> bool {
        self.options.stamps.unwrap_or(format.stamps) != Stamps::Start
    }

    fn stop(&self, problems: Vec<Problem>) -> Ended {
        let placed = problems.into_iter().map(|problem| Problem {
            place: problem.place.or_else(|| self.file.place.clone()),
            ..problem
        });
        Ended::Stop(Stop::Problems(placed.collect()))
    }

    /// Reads all lines.
    fn entries<L: Supply>(
        &mut self,
        lines: &mut Lines<L>,
        understood: &mut Understood,
    ) -> Result<(), Ended> {
        let Understood { format, parser, zones, .. } = understood;
        let ends = self.ends(format);
        let (path, name) = (&self.file.path, &self.file.name);
        // Blank lines count only once another line follows.
        let mut blank: Option<(u64, u64)> = None;
        let mut told = u64::MAX;
        loop {
            if told != lines.bytes_read() {
                told = lines.bytes_read();
                if (self.watch)(told).is_break() {
                    return Err(Ended::Stop(Stop::Interrupted));
                }
            }
            let line = lines
                .next(|bytes| parser.end(bytes))
                .map_err(|cause| Ended::Unusable(open::failed(path, name, &cause)))?;
            let Some(line) = line else { return Ok(()) };
            if is_blank(line.bytes) {
                blank.get_or_insert((line.number, 0)).1 += 1;
                continue;
            }
            if let Some((first, lines)) = blank.take() {
                self.fault("the line is blank".into(), first, lines, b"", format)?;
            }
            let cut = line.cut && !parser.takes_cut_records();
            let parsed = match cut {
                true => Err(Fault::from("it is longer than 1 MiB")),
                false => parser.parse(line.bytes),
            };
            let spot = Spot { file: self.index, line: line.number, ends };
            let taken = match parsed {
                Ok(Parsed::Heading) => continue,
                Ok(Parsed::Entry(entry)) => self.take(entry, spot, zones),
                Err(fault) => Err(fault),
            };
            if let Err(fault) = taken {
                self.fault(fault, line.number, 1, line.bytes, format)?;
            }
        }
    }

    /// Hands on an entry.
    #[inline]
    fn take(&mut self, mut entry: Entry, spot: Spot, zones: &mut Localiser) -> Result<(), Fault> {
        if entry.stamp.local {
            entry.stamp.at = zones.instant(entry.stamp.at)?;
        }
        match self.sink.entry(&entry, spot)? {
            true => self.tally.use_one(&entry, spot.line),
            false => self.tally.passed += 1,
        }
        Ok(())
    }

    /// Counts lines that cannot be used.
    fn fault(
        &mut self,
        fault: Fault,
        number: u64,
        lines: u64,
        line: &[u8],
        format: &Format,
    ) -> Result<(), Ended> {
        let name = &self.file.name;
        let at_line = |message: &str| format!("line {number} of `{name}`: {message}");
        match fault {
            Fault::Stop(problems) => {
                let placed = problems
                    .into_iter()
                    .map(|problem| Problem { message: at_line(&problem.message), ..problem });
                Err(self.stop(placed.collect()))
            }
            Fault::Skip(reason) if self.options.strict => {
                let problem = Problem::new(at_line(&reason)).help(format.expected);
                Err(self.stop(vec![problem]))
            }
            Fault::Skip(reason) => {
                self.tally.skip(reason, number, lines, line);
                Ok(())
            }
        }
    }
}

#[inline]
fn is_blank(line: &[u8]) -> bool {
    line.first().is_none_or(u8::is_ascii_whitespace) && line.iter().all(u8::is_ascii_whitespace)
}

/// How a file is understood.
struct Understood {
    format: &'static Format,
    parser: Box<dyn Parser>,
    zones: Localiser,
    note: Option<String>,
}
