//! Reads logs from files to entries: opens and unpacks them, tells their formats, cuts them into lines, gives
//! times their zone, and keeps count of what cannot be used and why.
//!
//! What a file gives does not depend on how many threads read it, nor on whether requests of which little is wanted are
//! handed on many at a time.

mod block;
mod crew;
mod detect;
mod first;
mod lines;
mod open;
mod piece;
mod reading;
mod record;
mod report;
mod tap;
mod text;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::Plain;
use super::entry::Entry;
use super::format::{Fault, Format, Layout, Stamps};
use super::zone::Zone;
use crate::error::{Place, Problem};
use reading::{Ended, Reading};
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
    /// Whether files are read in the order of their first times instead of that in which they are named, where all of
    /// them can be opened twice.
    pub by_time: bool,
    /// How many threads may work.
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

    /// Whether requests that are plain may be given many at a time, where the address is the only field that is wanted.
    fn takes_plain(&self) -> bool {
        false
    }

    /// The next entries, all of them taken; they are in lines that follow one another, the first of them at `spot`.
    ///
    /// # Errors
    /// The position of one because of which nothing can be used, and why.
    fn plain(&mut self, _plain: &[Plain], _spot: Spot) -> Result<(), (usize, Fault)> {
        unreachable!("they are given only to a sink that takes them")
    }
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

/// Reads files one after the other, in their order or in that of their times, and reports in their order.
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
    let mut reports: Vec<(usize, Report)> = Vec::new();
    let mut problems = Vec::new();
    let mut before = 0;
    for index in first::in_time_order(files, options) {
        let file = &files[index];
        let mut watch = |bytes| watch(before + bytes, total);
        let mut reading = Reading {
            index,
            file,
            options,
            sink,
            watch: &mut watch,
            tally: Tally::default(),
            blank: None,
            open: false,
        };
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
        reports.push((index, report));
    }
    reports.sort_by_key(|(index, _)| *index);
    let reports: Vec<Report> = reports.into_iter().map(|(_, report)| report).collect();
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

#[cfg(test)]
mod tests;
