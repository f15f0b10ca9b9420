//! What clients do with the answers they get: whether, when and how often a failed attempt is made
//! again, and when they leave.
//!
//! [`Clients`] is the `[clients]` table of a scenario, [`Crowd`] the clients of one run with what they
//! have spent of their retry budgets.

mod crowd;

use crate::params::Params;
use crate::time::Span;

pub use crowd::{Crowd, Memory, Next};

/// The `[clients]` table.
#[derive(Debug, Clone)]
pub struct Clients {
    /// The least time from an attempt to its answer.
    pub rtt: Span,
    /// How long a client waits for the answer to one attempt; `None` for ever.
    pub timeout: Option<Span>,
    /// How long a client waits for a request to succeed before it leaves; `None` for ever.
    pub patience: Option<Span>,
    /// At most so many requests of one client under way at a time; the next waits for one of them to end.
    /// `None` sends on schedule, whatever is under way.
    pub in_flight: Option<u32>,
}

/// What the table is for.
pub const MEANING: &str =
    "What clients do after a rejection. Left out: they send each request once.";

impl Default for Clients {
    fn default() -> Clients {
        Clients { rtt: Span::from_nanos(1_000_000), timeout: None, patience: None, in_flight: None }
    }
}

impl Clients {
    /// Reads the table.
    pub fn read(_params: &mut Params) -> Clients {
        Clients::default()
    }

    /// Whether they send each request once, on schedule, and wait for ever: then nothing feeds back.
    pub fn are_plain(&self) -> bool {
        true
    }
}
