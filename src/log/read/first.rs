//! In which order files are read: by their first times, so that a log in several files reads the same in whatever
//! order these are named.

use std::ops::ControlFlow;
use std::path::Path;

use super::reading::Reading;
use super::report::Tally;
use super::{File, Options, Sink, Spot};
use crate::log::entry::Entry;
use crate::log::format::Fault;
use crate::time::Instant;

/// A first time is looked for in about so many bytes.
const FAR: u64 = 4 << 20;

/// The positions of files in the order in which they are read. Files of one first time stand in the order of their
/// paths, those without one before all others. All stay in the order in which they are named if any of them cannot be opened twice.
pub(super) fn in_time_order(files: &[File], options: &Options) -> Vec<usize> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    if options.by_time && files.len() > 1 && files.iter().all(|file| opens_twice(&file.path)) {
        let firsts: Vec<_> = files.iter().map(|file| first(file, options)).collect();
        let rank = |index: usize| (firsts[index], &files[index].path);
        order.sort_by(|&one, &other| rank(one).cmp(&rank(other)));
    }
    order
}

/// Whether a file is there again after it was read. One that is missing is missing both times.
fn opens_twice(path: &Path) -> bool {
    path.as_os_str() != "-" && path.metadata().map_or(true, |metadata| metadata.is_file())
}

/// The time of the first entry of a file. Whatever is wrong with the file is told when it is read.
fn first(file: &File, options: &Options) -> Option<Instant> {
    let options = Options { threads: 1, strict: false, ..options.clone() };
    let mut sink = First(None);
    let mut watch = |bytes: u64| match bytes > FAR {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let mut reading = Reading {
        index: 0,
        file,
        options: &options,
        sink: &mut sink,
        watch: &mut watch,
        tally: Tally::default(),
        blank: None,
        open: false,
    };
    drop(reading.whole());
    sink.0
}

/// Takes one time and no more.
struct First(Option<Instant>);

impl Sink for First {
    fn entry(&mut self, entry: &Entry, _: Spot) -> Result<bool, Fault> {
        self.0 = Some(entry.stamp.at);
        Err(Fault::Stop(Vec::new()))
    }
}
