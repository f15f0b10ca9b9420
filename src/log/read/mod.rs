//! Reads logs from files to entries: opens and unpacks them, tells their formats, cuts them into lines, gives
//! times their zone, and keeps count of what cannot be used and why.
//!
//! What a file gives does not depend on how many threads read it.

mod block;
mod detect;
mod lines;
mod open;
mod report;
mod text;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::entry::Entry;
use super::format::{Fault, Format, Layout, Parsed, Parser, Stamps};
use super::zone::{Localiser, Zone};
use crate::error::{Place, Problem};
use block::{Ahead, Filler, READ, Supply};
use lines::{LONGEST, Lines};
use open::{MARK, Opened, Witness};
use report::Tally;
pub use report::{Report, Skipped};

/// A file to be read.
#[derive(Debug, Clone)]
pub struct File {
    /// Where it is; `-` for the standard input.
    pub path: PathBuf,
    /// How the user knows it.
    pub name: String,
    /// Where the user named it, for messages.
    pub place: Option<Place>,
}

/// How files are read.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Their format; told from their first lines if `None`, file by file.
    pub format: Option<&'static Format>,
    /// What is wanted of them, and what their format leaves open.
    pub layout: Layout,
    /// The zone of times that have none; UTC if `None`.
    pub zone: Option<Zone>,
    /// What stamps say, whatever the format; `Stamps::EndIfTimed` is as good as `Stamps::End`.
    pub stamps: Option<Stamps>,
    /// Whether the first line or file that cannot be used is a mistake.
    pub strict: bool,
    /// How many threads may work; a second one reads and digests while the first parses.
    pub threads: usize,
}

/// Takes in what is read.
pub trait Sink {
    /// The next entry, and whether it was taken; one that is not is neither used nor unusable. Its time
    /// has its zone already.
    ///
    /// # Errors
    /// Why it cannot be used, or why nothing can.
    fn entry(&mut self, entry: &Entry, spot: Spot) -> Result<bool, Fault>;
}

/// Where an entry was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// Which of the files.
    pub file: usize,
    /// The number of its line, from 1.
    pub line: u64,
    /// Whether its stamp is of the end of the request: what it took is to be taken off.
    pub ends: bool,
}

/// Why reading ended early.
#[derive(Debug)]
pub enum Stop {
    /// Mistakes of the user.
    Problems(Vec<Problem>),
    /// Whoever watches said so.
    Interrupted,
}

/// Told how many bytes of all files were read, and how many there are where that is known; says whether to go
/// on.
pub type Watch<'a> = dyn FnMut(u64, Option<u64>) -> ControlFlow<()> + 'a;

/// Reads files one after the other, in their order.
///
/// # Errors
/// Nothing can be used of any of them, one is named twice, or something in them shows that they cannot be
/// understood; when it is strict, also the first line or file that cannot be used.
pub fn read(
    files: &[File],
    options: &Options,
    sink: &mut impl Sink,
    watch: &mut Watch,
) -> Result<Vec<Report>, Stop> {
    refuse_twins(files)?;
    let total = files.iter().map(|file| length(&file.path)).sum::<Option<u64>>();
    let mut reports = Vec::new();
    let mut problems = Vec::new();
    let mut before = 0;
    for (index, file) in files.iter().enumerate() {
        let mut watch = |bytes| watch(before + bytes, total);
        let mut reading =
            Reading { index, file, options, sink, watch: &mut watch, tally: Tally::default() };
        let report = match reading.whole() {
            Ok(report) => report,
            Err(Ended::Stop(stop)) => return Err(stop),
            Err(Ended::Unusable(problem)) => {
                let problem = Problem { place: file.place.clone(), ..problem };
                let report = Report::unused(&file.name, reading.tally, &problem.message);
                problems.push(problem);
                report
            }
        };
        if options.strict
            && let Some(problem) = problems.pop()
        {
            return Err(Stop::Problems(vec![problem]));
        }
        before += report.bytes;
        reports.push(report);
    }
    if reports.iter().all(|report| report.unusable.is_some()) {
        return Err(Stop::Problems(problems));
    }
    Ok(reports)
}

/// The length of a file, as far as it is known; a pipe has none.
fn length(path: &Path) -> Option<u64> {
    path.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len())
}

/// Refuses a file that is named twice.
fn refuse_twins(files: &[File]) -> Result<(), Stop> {
    let mut met: Vec<(open::Identity, &File)> = Vec::new();
    for file in files {
        let Some(identity) = open::identity(&file.path) else { continue };
        if let Some((_, twin)) = met.iter().find(|(other, _)| *other == identity) {
            let message = match twin.name == file.name {
                true => format!("`{}` is named twice", file.name),
                false => format!("`{}` and `{}` are the same file", twin.name, file.name),
            };
            let problem = Problem { place: file.place.clone(), ..Problem::new(message) };
            return Err(Stop::Problems(vec![
                problem.help("its requests would count twice; name it once"),
            ]));
        }
        met.push((identity, file));
    }
    Ok(())
}

/// Why the reading of one file ended before it was read.
enum Ended {
    /// All reading ends.
    Stop(Stop),
    /// The file cannot be used.
    Unusable(Problem),
}

/// The reading of one file.
struct Reading<'a, S> {
    index: usize,
    file: &'a File,
    options: &'a Options,
    sink: &'a mut S,
    watch: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    tally: Tally,
}

impl<S: Sink> Reading<'_, S> {
    fn whole(&mut self) -> Result<Report, Ended> {
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
        let (bytes, sha256) =
            finished.map_err(|cause| Ended::Unusable(open::failed(path, name, &cause)))?;
        Ok(self.report(understood, packing.name(), broken, &witness, (bytes, sha256)))
    }

    fn report(
        &mut self,
        understood: Understood,
        compression: Option<&'static str>,
        broken: Option<String>,
        witness: &Witness,
        (bytes, sha256): (u64, String),
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
            sha256,
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
            None => detect::detect(name, text, whole, &self.options.layout).map_err(|problem| {
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
                super::count(skipped.lines, "line", "lines"),
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

#[cfg(test)]
mod tests;
