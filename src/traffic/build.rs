//! Builds the traffic of a case: recorded sources first, since they may tell when the run starts and ends.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;

use super::{Clients, Context, KIND, Kind, SOURCES, Source, Traffic, Watch};
use crate::error::{Error, Problem, Problems};
use crate::params::Params;
use crate::scenario::Case;
use crate::seed::Seed;
use crate::time::{Instant, Span, Window};

/// Builds the traffic of a case; paths of inputs start from `folder`. Also gives the tables as
/// resolved.
///
/// # Errors
/// Every problem of the tables and inputs.
pub fn build(case: &Case, folder: &Path) -> Result<(Traffic, Vec<Json>), Error> {
    build_with(case, folder, Readers::default())
}

/// Who reads records.
#[derive(Clone, Copy)]
pub struct Readers<'a> {
    /// Told of the reading, and may stop it.
    pub watch: Watch<'a>,
    /// How many threads may read a record.
    pub threads: usize,
    /// Whether it must be possible to spread the requests of a second otherwise; see [`super::respread()`].
    pub keep_stamps: bool,
}

impl Default for Readers<'_> {
    /// Nobody is told.
    fn default() -> Self {
        Readers { watch: &unwatched, threads: THREADS, keep_stamps: false }
    }
}

/// As [`build`], by these readers.
///
/// # Errors
/// Also [`Error::Interrupted`].
pub fn build_with(
    case: &Case,
    folder: &Path,
    readers: Readers,
) -> Result<(Traffic, Vec<Json>), Error> {
    open(case, case.seed, folder, None, readers)
}

/// One thread reads a file while another one parses it.
const THREADS: usize = 2;

pub(super) fn unwatched(_read: u64, _total: Option<u64>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The traffic of a case under another seed, as if it were built anew, but no record is read again:
/// they are those of `first`, which was built for the same case.
///
/// # Errors
/// Under another seed, a record may begin or end a little earlier or later, outside the years that a run
/// may lie in.
pub fn again(case: &Case, seed: Seed, first: &Traffic) -> Result<Traffic, Error> {
    let renew = |source: &dyn Source, _| source.again(seed);
    let opened = open(case, seed, Path::new(""), Some((first, &renew)), Readers::default());
    opened.map(|(traffic, _)| traffic)
}

/// Makes a recorded source of one that was read before, by its position; `None` for others.
pub(super) type Renew<'a> = &'a dyn Fn(&dyn Source, usize) -> Option<Box<dyn Source>>;

/// Builds the traffic of a case, of its own records or of those of `first`. The tables of sources that were
/// renewed are null.
pub(super) fn open(
    case: &Case,
    seed: Seed,
    folder: &Path,
    first: Option<(&Traffic, Renew)>,
    readers: Readers,
) -> Result<(Traffic, Vec<Json>), Error> {
    let problems = Problems::new();
    let mut kinds: Vec<Option<&Kind>> = Vec::new();
    for node in &case.traffic {
        let mut params = Params::new(node, &problems);
        let name: Option<String> = params.required("kind", KIND);
        let kind = name.as_ref().and_then(|name| SOURCES.iter().find(|kind| kind.name == name));
        if let (Some(name), None) = (&name, kind) {
            let known = SOURCES.iter().map(|kind| kind.name);
            let place = params.place_of("kind");
            problems.add(Problem::unknown(&place, "kind of traffic", name, known));
        }
        kinds.push(kind);
    }
    let unknown = Window { start: Instant(0), end: Instant(0) };
    let renew = first.map(|(_, renew)| renew);
    let first = first.map(|(first, _)| first);
    let (clients, endpoints) = first.map_or((0, 0), |first| first.met_in_records);
    let mut traffic = Traffic {
        clients: first.map(|first| first_of(&first.clients, clients)).unwrap_or_default(),
        endpoints: first
            .iter()
            .flat_map(|first| &first.endpoints)
            .take(endpoints)
            .cloned()
            .collect(),
        sources: Vec::new(),
        inputs: first.map(|first| first.inputs.clone()).unwrap_or_default(),
        window: unknown,
        outside: 0,
        met_in_records: (0, 0),
    };
    let mut opened: Vec<Option<(Box<dyn Source>, Json)>> = kinds.iter().map(|_| None).collect();
    let interrupted = Cell::new(false);
    let mut open = |recorded: bool, traffic: &mut Traffic| {
        for (position, node) in case.traffic.iter().enumerate() {
            let Some(kind) = kinds[position].filter(|kind| kind.recorded == recorded) else {
                continue;
            };
            let renewed = first.zip(renew);
            let renewed =
                renewed.and_then(|(first, renew)| renew(&*first.sources[position], position));
            if let Some(source) = renewed {
                opened[position] = Some((source, Json::Null));
                continue;
            }
            let mut params = Params::new(node, &problems);
            params.required::<String>("kind", KIND);
            let mut context = Context {
                folder,
                seed,
                position,
                window: traffic.window,
                clients: &mut traffic.clients,
                endpoints: &mut traffic.endpoints,
                inputs: &mut traffic.inputs,
                watch: readers.watch,
                threads: readers.threads,
                keep_stamps: readers.keep_stamps,
                interrupted: false,
            };
            let source = (kind.open)(&mut params, &mut context);
            interrupted.set(interrupted.get() || context.interrupted);
            let resolved = Json::Object(params.finish().resolved);
            opened[position] = source.map(|source| (source, resolved));
        }
        let range = opened
            .iter()
            .flatten()
            .filter_map(|(source, _)| source.range())
            .reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
        let all_read = kinds.iter().zip(&opened).all(|(kind, opened)| {
            kind.is_some_and(|kind| kind.recorded != recorded || opened.is_some())
        });
        (range, all_read)
    };
    let (range, all_read) = open(true, &mut traffic);
    if interrupted.get() {
        return Err(Error::Interrupted);
    }
    traffic.met_in_records = (traffic.clients.len(), traffic.endpoints.len());
    traffic.window = window(case, range, all_read, &problems);
    open(false, &mut traffic);
    problems.into_result()?;
    let mut resolved = Vec::new();
    for (mut source, json) in opened.into_iter().flatten() {
        traffic.outside += source.clip(traffic.window);
        traffic.sources.push(source);
        resolved.push(json);
    }
    Ok((traffic, resolved))
}

/// So many of the first clients.
fn first_of(clients: &Arc<Clients>, count: usize) -> Arc<Clients> {
    match clients.len() == count {
        true => Arc::clone(clients),
        false => Arc::new(clients.iter().take(count).cloned().collect()),
    }
}

/// From when to when a case runs, given the first and last recorded request; `all_read` is false where
/// a source could not be read, which might have told when the run ends.
fn window(
    case: &Case,
    range: Option<(Instant, Instant)>,
    all_read: bool,
    problems: &Problems,
) -> Window {
    let start = case.start.or(range.map(|(first, _)| first)).unwrap_or(Instant::MIDNIGHT);
    let end = match (case.duration, range) {
        (Some(duration), _) => start + duration,
        (None, Some((_, last))) => last + Span::from_nanos(1),
        (None, None) => {
            if all_read {
                let message = "`duration` is missing";
                let help = "add `duration = \"3m\"`, or a recorded source that ends by itself";
                problems.add(Problem::at(&case.place, message).help(help));
            }
            start + Span::from_nanos(1)
        }
    };
    if end <= start {
        let message = "the run would end before it starts";
        problems.add(
            Problem::at(&case.place, message).help("the recorded requests lie before `start`"),
        );
    }
    let starts_well = (Window::FIRST..Window::LAST).contains(&start);
    if starts_well && end > Window::LAST && case.duration.is_some() {
        let message = "the run would end after the year 2200";
        let help = format!("it starts at {start}; choose a shorter `duration`");
        problems.add(Problem::at(&case.duration_place, message).help(help));
    } else if !starts_well || end > Window::LAST {
        let message = format!("the run from {start} leaves the years 1700 to 2200");
        let help = "choose another `start` or a shorter `duration`";
        problems.add(Problem::at(&case.start_place, message).help(help));
    } else if end - start > Window::LONGEST {
        let message = format!("the run from {start} to {end} is longer than 250 years");
        let help = "are all times right? `duration` or a filter by time can leave some out";
        problems.add(Problem::at(&case.duration_place, message).help(help));
    }
    Window { start, end }
}
