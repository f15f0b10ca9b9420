//! Who asks for what, when: the requests of a run, made up or recorded.
//!
//! A [`Source`] is a family of independent streams, one for each of its clients, so that the same
//! requests can be had merged in time order or client by client. [`SOURCES`] lists the kinds.
//! Clients and endpoints are numbered; their names are in [`Traffic`].

mod build;
mod client;
mod input;
mod record;
mod respread;
mod synthetic;
mod times;

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::{Value as Json, json};

use crate::params::{Params, kind_schema};
use crate::seed::Seed;
use crate::time::Instant;
use crate::time::Window;

pub use build::{Readers, again, build, build_with};
pub use client::{Account, Client, Clients};
pub use record::{Arriving, Column, InOrder, Order, Recorded, Spread, durations_note, idle_notes};
pub use respread::{respread, same_record};

pub use input::{Input, Skipped, Watch};

pub use times::{Chunk, Times};

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

/// The streams of one `[[traffic]]` table.
pub trait Source: Send + Sync {
    /// How many streams it has.
    fn streams(&self) -> usize;

    /// The requests of one stream in time order. Streams do not influence one another.
    fn stream(&self, index: usize) -> Box<dyn Iterator<Item = Arrival> + Send + '_>;

    /// Whose requests a stream has. No two streams of a source are of one client.
    fn client(&self, index: usize) -> u32;

    /// When the first request of a stream is made, with its rank among all of the source that are made at that
    /// instant; `None` if it has none.
    fn first(&self, index: usize) -> Option<(Instant, u64)>;

    /// The times and costs of one stream in time order, to be had many at a time.
    fn times(&self, index: usize) -> Box<dyn Times + Send + '_>;

    /// Whether any request costs more than 1.
    fn has_costs(&self) -> bool;

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

    /// How the requests of a second are spread over it, of a recorded source whose stamps are whole seconds.
    fn spread(&self) -> Option<Spread> {
        None
    }

    /// A recorded source with the requests of a second spread otherwise, nothing clipped; one with finer
    /// stamps as it is. `None` for others, and where that is no longer known.
    fn respread(&self, _spread: Spread, _seed: Seed) -> Option<Box<dyn Source>> {
        None
    }
}

/// All requests of a run.
pub struct Traffic {
    /// The clients by number; traffic of the same records shares them.
    pub clients: Arc<Clients>,
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
    pub clients: &'a mut Arc<Clients>,
    /// The endpoints met so far.
    pub endpoints: &'a mut IndexSet<String>,
    /// The inputs read so far.
    pub inputs: &'a mut Vec<Input>,
    /// Told while records are read.
    pub watch: Watch<'a>,
    /// How many threads may read a record; what is read does not depend on it.
    pub threads: usize,
    /// Whether the stamps of a record are kept where they cannot be told from its times, for
    /// [`Source::respread`].
    pub keep_stamps: bool,
    /// Set where reading ended because whoever watches said so.
    pub interrupted: bool,
}

impl Context<'_> {
    /// The number of a client.
    pub fn client(&mut self, client: Client) -> u32 {
        Arc::make_mut(self.clients).insert_full(client).0 as u32
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
                clients: &mut Arc::default(),
                endpoints: &mut IndexSet::new(),
                inputs: &mut Vec::new(),
                watch: &build::unwatched,
                threads: 1,
                keep_stamps: false,
                interrupted: false,
            };
            (kind.open)(params, &mut context);
        });
        kind_schema(kind.name, kind.summary, &fields)
    });
    json!({ "oneOf": kinds.collect::<Vec<_>>() })
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
