//! The reading of one file, from opening it to the report on it.

use std::io;
use std::ops::ControlFlow;

use super::block::{Ahead, Block, Filler, READ, Source, Supply};
use super::crew::Crew;
use super::lines::{LONGEST, Lines};
use super::open::{MARK, Opened, Witness};
use super::piece::Cutter;
use super::record::{Record, What};
use super::report::Tally;
use super::text::{Broken, Text};
use super::{File, Options, Report, Sink, Spot, Stop};
use super::{detect, open};
use crate::error::Problem;
use crate::log::entry::Entry;
use crate::log::format::{Fault, Format, Parser, Stamps};
use crate::log::zone::Localiser;
use crate::log::{Plain, count};

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
    /// The first of the blank lines before the next record and how many there are: they count only once another line
    /// follows.
    pub(super) blank: Option<(u64, u64)>,
    /// Whether the text ends amid the last record that was taken in.
    pub(super) open: bool,
}

impl<S: Sink> Reading<'_, S> {
    /// Reads it to its end.
    pub(super) fn whole(&mut self) -> Result<Report, Ended> {
        let (path, name) = (&self.file.path, &self.file.name);
        let mut opened = open::open(path, name).map_err(Ended::Unusable)?;
        let witness = opened.witness(path);
        let Opened { text, packing, is_file, .. } = opened;
        let (outcome, text) = self.text(Filler::new(text, LONGEST, READ), is_file);
        let broken = text.broken.clone();
        let stopped = matches!(outcome, Err(Ended::Stop(_)));
        // Where the text ends amid the line that is wrong, that is why.
        if self.options.strict && (self.open || !stopped) {
            let shrank = || witness.shrank(text.bytes_read()).filter(|_| stopped);
            let cause = broken.as_ref().map(|broken| self.broken(broken));
            if let Some(problem) = cause.or_else(|| Some(self.shrank(&shrank()?))) {
                return Err(Ended::Unusable(problem));
            }
        }
        let understood = outcome.map_err(|ended| match (ended, &broken) {
            (Ended::Unusable(problem), Some(broken)) => {
                let message = format!("{}; {}", problem.message, broken.of(packing));
                let help = broken.help.map(str::to_owned).or(problem.help);
                Ended::Unusable(Problem { message, help, ..problem })
            }
            (ended, _) => ended,
        })?;
        let finished = text.into_tap().finish();
        let (bytes, xxh128) =
            finished.map_err(|cause| Ended::Unusable(open::failed(path, name, &cause)))?;
        if let (Some(what), true) = (witness.shrank(bytes), self.options.strict) {
            return Err(Ended::Unusable(self.shrank(&what)));
        }
        Ok(self.report(understood, packing.name(), broken, &witness, (bytes, xxh128)))
    }

    fn report(
        &mut self,
        understood: Understood,
        compression: Option<&'static str>,
        broken: Option<Broken>,
        witness: &Witness,
        (bytes, xxh128): (u64, String),
    ) -> Report {
        let Understood { format, parser, zones, note } = understood;
        let mut notes: Vec<String> = note.into_iter().collect();
        let packed = compression.unwrap_or_default();
        notes.extend(broken.map(|Broken { why, .. }| {
            format!("As {packed}, {why}: what stands before that is used.")
        }));
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

    /// Reads a text to its end, and gives it back.
    fn text(
        &mut self,
        mut filler: Filler<Text>,
        is_file: bool,
    ) -> (Result<Understood, Ended>, Text) {
        let first = filler.next(Block::default()).map_err(|cause| self.unreadable(&cause));
        let first = first.map(Option::unwrap_or_default);
        let is_broken = filler.text().broken.is_some();
        let begun =
            first.and_then(|first| Ok((self.understand(&first, is_broken, is_file)?, first)));
        let (Begun { mut understood, start, binary }, first) = match begun {
            Ok(begun) => begun,
            Err(ended) => return (Err(ended), filler.into_text()),
        };
        let threads = self.options.threads;
        let tell_plain = understood.parser.tells_plain() && self.sink.takes_plain();
        let in_pieces = threads > 1 && understood.parser.twin().is_some();
        let (read, text) = if tell_plain || in_pieces {
            let cutter = Cutter::new(filler, LONGEST, first, start);
            let crew = Crew::new(cutter, LONGEST, tell_plain, threads > 1 && !is_file);
            let (read, filler) = self.pieces(crew, threads, &mut understood);
            (read, filler.into_text())
        } else if threads > 1 && is_file {
            std::thread::scope(|scope| {
                let ahead = Ahead::start(scope, filler);
                let (read, ahead) =
                    self.lines(Lines::new(ahead, LONGEST, first, start), &mut understood);
                (read, ahead.finish())
            })
        } else {
            let (read, filler) =
                self.lines(Lines::new(filler, LONGEST, first, start), &mut understood);
            (read, filler.into_text())
        };
        let nothing = match read {
            Err(ended) if !binary => return (Err(ended), text),
            Err(_) => true,
            Ok(()) => self.tally.used == 0 && self.tally.passed == 0,
        };
        match nothing {
            false => (Ok(understood), text),
            true => (Err(Ended::Unusable(self.nothing_usable(understood.format, binary))), text),
        }
    }

    /// The problem that it cannot be unpacked to its end.
    fn broken(&self, Broken { why, help }: &Broken) -> Problem {
        let problem = Problem::new(format!("`{}`: {why}", self.file.name));
        Problem { help: help.map(str::to_owned), ..problem }
    }

    /// The problem that it shrank.
    fn shrank(&self, what: &str) -> Problem {
        let help = "read it once nobody writes to it, or without `strict`";
        Problem::new(format!("`{}` {what}", self.file.name)).help(help)
    }

    fn unreadable(&self, cause: &io::Error) -> Ended {
        Ended::Unusable(open::failed(&self.file.path, &self.file.name, cause))
    }

    /// Understands a text by its first block.
    fn understand(
        &mut self,
        first: &Block,
        is_broken: bool,
        is_file: bool,
    ) -> Result<Begun, Ended> {
        let name = &self.file.name;
        let head = &first.bytes[LONGEST..first.end];
        let mark = if head.starts_with(MARK) { MARK.len() } else { 0 };
        let text = &head[mark..];
        if let Some(problem) = open::foreign(name, head) {
            return Err(Ended::Unusable(problem));
        }
        if text.is_empty() && is_broken {
            let problem = Problem::new(format!("nothing of `{name}` can be unpacked"));
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
        let parser = (format.open)(&self.options.layout).map_err(|problems| self.stop(problems))?;
        let zones = Localiser::new(self.options.zone.clone());
        let understood = Understood { format, parser, zones, note };
        Ok(Begun { understood, start: LONGEST + mark, binary })
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

    /// Reads all lines, and gives back what they came from.
    fn lines<L: Supply>(
        &mut self,
        mut lines: Lines<L>,
        understood: &mut Understood,
    ) -> (Result<(), Ended>, L) {
        let read = self.each_line(&mut lines, understood);
        (read, lines.into_supply())
    }

    fn each_line<L: Supply>(
        &mut self,
        lines: &mut Lines<L>,
        understood: &mut Understood,
    ) -> Result<(), Ended> {
        let Understood { format, parser, zones, .. } = understood;
        let mut told = u64::MAX;
        loop {
            if told != lines.bytes_read() {
                told = lines.bytes_read();
                self.tell(told)?;
            }
            let line =
                lines.next(|bytes| parser.end(bytes)).map_err(|cause| self.unreadable(&cause))?;
            let Some(line) = line else { return Ok(()) };
            self.record(Record::read(&line, &mut **parser), format, zones)?;
        }
    }

    /// Reads all lines by several threads, and gives back what they came from.
    fn pieces<L: Supply + Send>(
        &mut self,
        crew: Crew<L>,
        threads: usize,
        understood: &mut Understood,
    ) -> (Result<(), Ended>, L) {
        let Understood { format, parser, zones, .. } = understood;
        let (path, name) = (&self.file.path, &self.file.name);
        let unreadable = |cause| Ended::Unusable(open::failed(path, name, &cause));
        crew.work(threads, &mut **parser, unreadable, |piece, before| {
            self.tell(piece.bytes_read())?;
            piece.take(before, |record| self.record(record, format, zones))
        })
    }

    /// Tells how much of the file was read.
    fn tell(&mut self, bytes: u64) -> Result<(), Ended> {
        match (self.watch)(bytes) {
            ControlFlow::Break(()) => Err(Ended::Stop(Stop::Interrupted)),
            ControlFlow::Continue(()) => Ok(()),
        }
    }

    /// Takes in what is in a line.
    #[inline]
    fn record(
        &mut self,
        Record { number, bytes, open, what }: Record,
        format: &Format,
        zones: &mut Localiser,
    ) -> Result<(), Ended> {
        self.open = open;
        if let What::Blank = what {
            self.blank.get_or_insert((number, 0)).1 += 1;
            return Ok(());
        }
        if let Some((first, lines)) = self.blank.take() {
            self.fault("the line is blank".into(), first, lines, b"", format)?;
        }
        let spot = Spot { file: self.index, line: number, ends: self.ends(format) };
        let taken = match what {
            What::Blank | What::Heading => return Ok(()),
            What::Entry(entry) => self.take(entry, spot, zones),
            What::Plain(plain) => {
                let taken = self.take_plain(plain, spot);
                return taken.or_else(|(number, fault)| self.fault(fault, number, 1, b"", format));
            }
            What::Fault(fault) => Err(fault),
        };
        taken.or_else(|fault| self.fault(fault, number, 1, bytes, format))
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

    /// Hands on what is plain; else the number of the line that is wrong, and why.
    fn take_plain(&mut self, plain: &[Plain], spot: Spot) -> Result<(), (u64, Fault)> {
        let taken = self.sink.plain(plain, spot);
        taken.map_err(|(position, fault)| (spot.line + position as u64, fault))?;
        self.tally.use_plain(plain, spot.line);
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

/// How a file is understood.
struct Understood {
    format: &'static Format,
    parser: Box<dyn Parser>,
    zones: Localiser,
    note: Option<String>,
}

/// A text of which the first block was looked at.
struct Begun {
    understood: Understood,
    /// Where in the block its lines start.
    start: usize,
    /// Whether it is no text by its looks.
    binary: bool,
}
