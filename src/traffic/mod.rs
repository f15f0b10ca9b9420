//! Who asks for what, when: the requests of a run, made up or recorded.
//!
//! A [`Source`] is a family of independent streams, one for each of its clients, so that the same
//! requests can be had merged in time order or client by client. [`SOURCES`] lists the kinds.
//! Clients and endpoints are numbered; their names are in [`Traffic`].

mod input;
mod record;
mod synthetic;

use std::cell::Cell;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::Path;

use indexmap::IndexSet;
use serde_json::{Value as Json, json};

use crate::error::{Error, Problem, Problems};
use crate::params::{Params, kind_schema};
use crate::scenario::Case;
use crate::seed::Seed;
use crate::time::Window;
use crate::time::{Instant, Span};

pub use input::{Input, Skipped, Watch};

/// One request of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When it is made.
    pub at: Instant,
    /// By whom: an index into [`Traffic::clients`].
    pub client: u32,
    /// For what: an index into [`Traffic::endpoints`].
    pub endpoint: u32,
    /// What it costs, from 1.
    pub cost: u32,
}

/// Who asks. Two clients are the same if all of this is the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Client {
    /// Its name in tables and files.
    pub name: String,
    /// Its network address.
    pub address: Option<IpAddr>,
    /// Its API key.
    pub api_key: Option<String>,
    /// The organisation it belongs to.
    pub tenant: Option<String>,
    /// The plan it pays for.
    pub tier: Option<String>,
}

/// The streams of one `[[traffic]]` table.
pub trait Source: Send + Sync {
    /// How many streams it has.
    fn streams(&self) -> usize;

    /// The requests of one stream in time order. Streams do not influence one another.
    fn stream(&self, index: usize) -> Box<dyn Iterator<Item = Arrival> + Send + '_>;

    /// All its requests in time order; of one instant in the order of the streams, or, for recorded
    /// requests, of the record.
    fn merged(&self) -> Box<dyn Iterator<Item = Arrival> + Send + '_>;

    /// At most so many requests; what is random is bounded so that more is out of the question.
    fn bound(&self) -> u64;

    /// The first and last request of a recorded source that has any; `None` for others.
    fn range(&self) -> Option<(Instant, Instant)> {
        None
    }

    /// Drops recorded requests outside the window and says how many; others have none.
    fn clip(&mut self, _window: Window) -> u64 {
        0
    }

    /// A recorded source under another seed, nothing clipped; `None` for others, which are opened anew.
    fn again(&self, _seed: Seed) -> Option<Box<dyn Source>> {
        None
    }
}

/// All requests of a run.
pub struct Traffic {
    /// The clients by number.
    pub clients: IndexSet<Client>,
    /// The endpoints by number.
    pub endpoints: IndexSet<String>,
    /// The sources in the order of the scenario.
    pub sources: Vec<Box<dyn Source>>,
    /// What was read.
    pub inputs: Vec<Input>,
    /// From when to when.
    pub window: Window,
    /// Recorded requests that fall outside the window.
    pub outside: u64,
    /// How many of the clients, and of the endpoints, were met in records; they come first.
    pub met_in_records: (usize, usize),
}

/// What a source is built from, besides its own table.
pub struct Context<'a> {
    /// The folder of the scenario file, from which paths of inputs start.
    pub folder: &'a Path,
    /// The seed of the run.
    pub seed: Seed,
    /// The position of the source among the `[[traffic]]` tables: part of its streams' names.
    pub position: usize,
    /// The run. Not yet known, and then from 1970 to 1970, when a recorded source is opened.
    pub window: Window,
    /// The clients met so far.
    pub clients: &'a mut IndexSet<Client>,
    /// The endpoints met so far.
    pub endpoints: &'a mut IndexSet<String>,
    /// The inputs read so far.
    pub inputs: &'a mut Vec<Input>,
    /// Told while records are read.
    pub watch: Watch<'a>,
    /// How many threads may read a record; what is read does not depend on it.
    pub threads: usize,
    /// Set where reading ended because whoever watches said so.
    pub interrupted: bool,
}

impl Context<'_> {
    /// The number of a client.
    pub fn client(&mut self, client: Client) -> u32 {
        self.clients.insert_full(client).0 as u32
    }

    /// The number of an endpoint; requests that name none are for `""`.
    pub fn endpoint(&mut self, endpoint: &str) -> u32 {
        match self.endpoints.get_index_of(endpoint) {
            Some(index) => index as u32,
            None => self.endpoints.insert_full(endpoint.to_owned()).0 as u32,
        }
    }
}

/// An entry of the registry.
pub struct Kind {
    /// As written in a scenario.
    pub name: &'static str,
    /// One line for `ratesim list`.
    pub summary: &'static str,
    /// Whether it replays a record, which may then decide when the run starts and ends.
    pub recorded: bool,
    /// Reads its table (all of its settings, whatever the context) and builds the source. `None`
    /// after a problem was reported.
    pub open: fn(&mut Params, &mut Context) -> Option<Box<dyn Source>>,
}

/// The registry, in the order in which kinds are listed.
pub const SOURCES: &[Kind] = &[
    synthetic::burst::KIND,
    synthetic::steady::KIND,
    synthetic::poisson::KIND,
    synthetic::on_off::KIND,
    synthetic::ramp::KIND,
    synthetic::wave::KIND,
    record::log::KIND,
    record::access_log::KIND,
    record::csv::KIND,
];

const KIND: &str = "What the requests look like or where they are recorded; \
                    see `ratesim list traffic`.";

/// The schema of a `[[traffic]]` table: one of the kinds with its settings.
pub fn schema() -> Json {
    let kinds = SOURCES.iter().map(|kind| {
        let fields = Params::describe(|params| {
            params.required::<String>("kind", KIND);
            let instant = Instant(0);
            let mut context = Context {
                folder: Path::new(""),
                seed: Seed(0),
                position: 0,
                window: Window { start: instant, end: instant },
                clients: &mut IndexSet::new(),
                endpoints: &mut IndexSet::new(),
                inputs: &mut Vec::new(),
                watch: &unwatched,
                threads: 1,
                interrupted: false,
            };
            (kind.open)(params, &mut context);
        });
        kind_schema(kind.name, kind.summary, &fields)
    });
    json!({ "oneOf": kinds.collect::<Vec<_>>() })
}

/// Builds the traffic of a case; paths of inputs start from `folder`. Also gives the tables as
/// resolved.
///
/// # Errors
/// Every problem of the tables and inputs.
pub fn build(case: &Case, folder: &Path) -> Result<(Traffic, Vec<Json>), Error> {
    build_watched(case, folder, &unwatched, THREADS)
}

/// As [`build`], by so many threads, and with somebody who is told of the reading and may stop it.
///
/// # Errors
/// Also [`Error::Interrupted`].
pub fn build_watched(
    case: &Case,
    folder: &Path,
    watch: Watch,
    threads: usize,
) -> Result<(Traffic, Vec<Json>), Error> {
    open(case, case.seed, folder, None, watch, threads)
}

/// One thread reads a file while another one parses it.
const THREADS: usize = 2;

fn unwatched(_read: u64, _total: Option<u64>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The traffic of a case under another seed, as if it were built anew, but no record is read again:
/// they are those of `first`, which was built for the same case.
///
/// # Errors
/// Under another seed, a record may begin or end a little earlier or later, outside the years that a run
/// may lie in.
pub fn again(case: &Case, seed: Seed, first: &Traffic) -> Result<Traffic, Error> {
    let opened = open(case, seed, Path::new(""), Some(first), &unwatched, THREADS);
    opened.map(|(traffic, _)| traffic)
}

fn open(
    case: &Case,
    seed: Seed,
    folder: &Path,
    first: Option<&Traffic>,
    watch: Watch,
    threads: usize,
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
    let (clients, endpoints) = first.map_or((0, 0), |first| first.met_in_records);
    let mut traffic = Traffic {
        clients: first.iter().flat_map(|first| &first.clients).take(clients).cloned().collect(),
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
            if let Some(source) = first.and_then(|first| first.sources[position].again(seed)) {
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
                watch,
                threads,
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
    }
    Window { start, end }
}

impl Traffic {
    /// All requests in time order; of one instant in the order of the sources.
    pub fn merged(&self) -> Merged<'_> {
        Merged { streams: self.sources.iter().map(|source| source.merged().peekable()).collect() }
    }

    /// At most so many requests.
    pub fn bound(&self) -> u64 {
        self.sources.iter().fold(0, |sum, source| sum.saturating_add(source.bound()))
    }
}

/// The requests of all sources in time order.
pub struct Merged<'a> {
    streams: Vec<std::iter::Peekable<Box<dyn Iterator<Item = Arrival> + Send + 'a>>>,
}

impl Iterator for Merged<'_> {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let heads = self.streams.iter_mut().enumerate();
        let earliest = heads
            .filter_map(|(index, stream)| stream.peek().map(|arrival| (arrival.at, index)))
            .min()?;
        self.streams[earliest.1].next()
    }
}
