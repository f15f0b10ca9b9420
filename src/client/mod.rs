//! What clients do with the answers they get: whether, when and how often a failed attempt is made
//! again, and when they leave.
//!
//! [`Clients`] is the `[clients]` table of a scenario, [`Crowd`] the clients of one run with what they
//! have spent of their retry budgets. Three registries make up a retry, [`POLICIES`] (the delay),
//! [`JITTERS`] (what chance makes of it) and [`BUDGETS`] (whether it is made at all); [`PROFILES`] are
//! settings of these under the names of real clients.

mod budget;
mod crowd;
mod jitter;
mod policy;
mod profile;
mod retry;
mod retry_after;
#[cfg(test)]
mod tests;

use crate::params::Params;
use crate::time::Span;

pub use budget::{BUDGETS, Kind as BudgetKind};
pub use crowd::{Crowd, Memory, Next};
pub use jitter::{JITTERS, Jitter};
pub use policy::{POLICIES, Policy};
pub use profile::{PROFILES, Profile};
use retry::Retry;

/// The `[clients]` table.
#[derive(Debug, Clone)]
pub struct Clients {
    /// The least time from an attempt to its answer; never zero.
    pub rtt: Span,
    /// How long a client waits for the answer to one attempt; `None` for ever.
    pub timeout: Option<Span>,
    /// How long a client waits for a request to succeed before it leaves; `None` for ever.
    pub patience: Option<Span>,
    /// At most so many requests of one client under way at a time; the next waits for one of them to end.
    /// `None` sends on schedule, whatever is under way.
    pub in_flight: Option<u32>,
    /// How failed attempts are made again; `None` if they are not.
    retry: Option<Retry>,
}

/// What the table is for.
pub const MEANING: &str =
    "What clients do after a rejection. Left out: they send each request once.";

const RTT: Span = Span::from_nanos(1_000_000);

impl Default for Clients {
    fn default() -> Clients {
        Clients { rtt: RTT, timeout: None, patience: None, in_flight: None, retry: None }
    }
}

impl Clients {
    /// Reads the table.
    pub fn read(params: &mut Params) -> Clients {
        let profile = params.pick(
            "profile",
            PROFILES,
            None,
            "A client whose settings stand in for those left out; see `ratesim list profiles`.",
        );
        if let Some(profile) = profile {
            params.fall_back(profile.settings());
        }
        if profile.is_none() && params.has("profile") {
            // Where the profile is not known, neither is what the other settings go with.
            return params.only(None, "a `profile`", Clients::settings).unwrap_or_default();
        }
        Clients::settings(params)
    }

    fn settings(params: &mut Params) -> Clients {
        let retry = Retry::read(params);
        let rtt = params.or("rtt", RTT, "The least time from an attempt to its answer.");
        let timeout: Option<Span> = params.optional(
            "timeout",
            "How long a client waits for the answer to one attempt, which has failed then. By default \
             for ever.",
        );
        let patience: Option<Span> = params.optional(
            "patience",
            "How long a client waits for a request to succeed, all attempts included; it leaves then, \
             and makes no retry that would come later. By default for ever.",
        );
        let in_flight = params.within(1..=u64::from(u32::MAX)).optional(
            "in-flight",
            "At most so many requests of one client are under way at a time; the next waits for one of \
             them to end. By default each is sent on schedule.",
        );
        let passes = params.require(
            "rtt",
            rtt != Span::ZERO,
            "an answer that takes no time at all",
            "write a span such as \"1ms\"; with none, attempts could follow one another without end \
             at one instant",
        );
        for (name, span) in [("timeout", timeout), ("patience", patience)] {
            params.require(
                name,
                span.is_none_or(|span| span >= rtt),
                format!("the `{name}` is shorter than `rtt`: no attempt could ever be answered"),
                &format!("write a span of at least \"{rtt}\""),
            );
        }
        Clients { rtt: if passes { rtt } else { RTT }, timeout, patience, in_flight, retry }
    }

    /// At most so many attempts of a request; `None` without a bound.
    pub fn most_attempts(&self) -> Option<u32> {
        self.retry.as_ref().map_or(Some(1), |retry| retry.attempts)
    }

    /// Whether they send each request once, on schedule, and wait for ever: then nothing feeds back.
    pub fn are_plain(&self) -> bool {
        self.retry.is_none()
            && self.timeout.is_none()
            && self.patience.is_none()
            && self.in_flight.is_none()
    }
}
