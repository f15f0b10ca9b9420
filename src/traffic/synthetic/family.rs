//! What all kinds of made-up traffic have in common: who asks, in what shares, for what, and where
//! the random numbers come from.

use super::mix::{Mark, Marks, Mix};
use super::population;
use super::share::Shares;
use super::{Pattern, Synthetic};
use crate::params::Params;
use crate::seed::{Seed, Stream};
use crate::time::Instant;
use crate::traffic::{Arrival, Chunk, Context, Source, Times};

/// The clients of a source with everything about their requests but the times.
pub struct Family {
    /// Numbers of the clients, as in the traffic.
    clients: Vec<u32>,
    /// How the requests are divided among them.
    pub shares: Shares,
    mix: Mix,
    start: Instant,
    seed: Seed,
    labels: Labels,
}

/// The names of a source's random streams.
struct Labels {
    arrivals: String,
    cycles: String,
    costs: String,
    endpoints: String,
}

impl Family {
    /// Reads the settings that all kinds share. `None` after a problem was reported.
    pub fn read(params: &mut Params, context: &mut Context) -> Option<Family> {
        let clients = population::read(params, context);
        let shares = Shares::read(params, clients.as_ref().map_or(1, Vec::len));
        let mix = Mix::read(params, context);
        let label = |purpose: &str| format!("traffic/{}/{purpose}", context.position);
        Some(Family {
            clients: clients?,
            shares: shares?,
            mix: mix?,
            start: context.window.start,
            seed: context.seed,
            labels: Labels {
                arrivals: label("arrivals"),
                cycles: label("cycles"),
                costs: label("costs"),
                endpoints: label("endpoints"),
            },
        })
    }

    /// The source that asks when `pattern` says so.
    pub(super) fn source(self, pattern: impl Pattern) -> Box<dyn Source> {
        Box::new(Synthetic { family: self, pattern })
    }

    /// How many clients there are, at least one.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// From which a client's arrivals are drawn.
    pub fn arrivals(&self, client: usize) -> Stream {
        self.seed.stream(&self.labels.arrivals, client as u64)
    }

    /// From which a client's spans of activity are drawn.
    pub fn cycles(&self, client: usize) -> Stream {
        self.seed.stream(&self.labels.cycles, client as u64)
    }

    /// From which a client's endpoints and costs are drawn.
    pub fn marks(&self, client: usize) -> Marks {
        Marks {
            endpoints: self.seed.stream(&self.labels.endpoints, client as u64),
            costs: self.seed.stream(&self.labels.costs, client as u64),
        }
    }

    /// What a client's next request is for and what it costs.
    pub fn mark(&self, marks: &mut Marks) -> Mark {
        self.mix.draw(marks)
    }

    /// The number of a client in the traffic.
    pub fn client(&self, client: usize) -> u32 {
        self.clients[client]
    }

    /// Whether a request may cost more than 1.
    pub fn has_costs(&self) -> bool {
        self.mix.has_costs()
    }

    /// When a request is made.
    pub fn instant(&self, offset: u64) -> Instant {
        // Offsets lie inside the run, whose end is an instant.
        Instant(self.start.0.saturating_add_unsigned(offset))
    }

    /// A client's requests where each costs 1, without what they are for.
    pub fn plain<T: Iterator<Item = u64>>(&self, times: T) -> Plain<T> {
        Plain { times, start: self.start }
    }

    /// A client's request made at `offset`.
    pub fn arrival(&self, client: usize, offset: u64, Mark { endpoint, cost }: Mark) -> Arrival {
        let at = self.instant(offset);
        Arrival { at, client: self.clients[client], endpoint, cost }
    }
}

/// Requests of one client that cost 1 each.
pub struct Plain<T> {
    times: T,
    start: Instant,
}

impl<T: Iterator<Item = u64>> Times for Plain<T> {
    fn fill(&mut self, chunk: &mut Chunk) {
        let start = self.start.0;
        let times = self.times.by_ref().take(chunk.room());
        chunk.times.extend(times.map(|offset| start.saturating_add_unsigned(offset)));
    }
}
