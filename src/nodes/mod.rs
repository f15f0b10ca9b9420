//! The servers that decide: how many there are, which of them gets an attempt, what their clocks show, and
//! where the state of the limits lies.

mod rounds;
mod routing;
mod settings;
#[cfg(test)]
mod tests;

use crate::clock::Clock;
use crate::time::Span;

pub use rounds::Rounds;
pub use routing::{Router, Routing};
pub use settings::{MEANING, Read, Where};

/// The `[nodes]` table.
#[derive(Debug, Clone)]
pub struct NodesSpec {
    /// How many there are, at least one.
    pub count: usize,
    /// Which of them gets an attempt.
    pub routing: Routing,
    /// Where the state of the limits lies.
    pub placement: Placement,
    /// By node.
    pub clocks: Vec<Clock>,
    /// How nodes forget keys that they have not seen for long; `None` if they never do.
    pub sweep: Option<Sweep>,
}

impl NodesSpec {
    /// One node, whose clock is right.
    pub fn single(placement: Placement) -> NodesSpec {
        NodesSpec {
            count: 1,
            routing: Routing::RoundRobin,
            placement,
            clocks: vec![Clock::default()],
            sweep: None,
        }
    }
}

/// Where the state of the limits lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Each node has its own, under the whole limit.
    Local,
    /// In the store.
    Shared,
    /// Each node has its own, under its share of the limit: what does not divide goes to the first nodes.
    Split,
    /// Each node has a copy; every so often it pushes what it has charged to the store and pulls the sum.
    Synced {
        /// How often.
        every: Span,
    },
    /// In the store, from which nodes fetch quota in batches and spend it by themselves.
    Leased {
        /// The cost fetched at a time.
        batch: u32,
        /// How long fetched quota may be spent.
        lasts: Span,
    },
}

/// How nodes forget idle keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sweep {
    /// How often a node goes over its keys.
    pub every: Span,
    /// A key is forgotten that it has not seen for so long.
    pub idle: Span,
}
