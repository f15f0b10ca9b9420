//! How large a run may become, known before it starts.

use serde::Serialize;

use crate::error::{Problem, Problems};
use crate::scenario::{Case, LimitSpec};
use crate::traffic::Traffic;

/// Upper bounds of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Requests.
    pub requests: u64,
    /// Events of one algorithm: each request arrives, and may leave a queue.
    pub events: u64,
    /// Bytes that one algorithm and its judging may need at once.
    pub memory_bytes: u64,
}

/// Bytes of an entry of a log, of the judge's trailing window, of an event in the queue, and of what
/// is counted by key and by client.
const STAMP: u64 = 16;
const ACCEPTANCE: u64 = 16;
const EVENT: u64 = 64;
const SUBJECT: u64 = 512;

impl Estimate {
    /// The bounds of one algorithm's run over the traffic of a case.
    pub fn of(limits: &[LimitSpec], traffic: &Traffic) -> Estimate {
        let requests = traffic.bound();
        let clients = traffic.clients.len() as u64;
        let endpoints = traffic.endpoints.len().max(1) as u64;
        // A key is made of a client and an endpoint at most, and no key was never asked for.
        let keys = clients.saturating_mul(endpoints).min(requests);
        let by_limit = limits.iter().map(|spec| {
            let tiers = spec.tiers.iter().map(|tier| tier.limit);
            let most = tiers.chain([spec.limit]).map(|limit| limit.requests.max(limit.burst)).max();
            let remembered = keys.saturating_mul(most.unwrap_or(0)).min(requests);
            remembered.saturating_mul(STAMP + ACCEPTANCE + EVENT).saturating_add(keys * SUBJECT)
        });
        let memory_bytes = by_limit
            .fold(clients * SUBJECT, u64::saturating_add)
            .saturating_add(requests.div_ceil(8));
        Estimate { requests, events: requests.saturating_mul(2), memory_bytes }
    }

    /// Reports a problem if the run is larger than the scenario allows.
    pub fn check(&self, case: &Case, problems: &Problems) {
        if self.requests > case.max_requests {
            let message = format!(
                "up to {} requests are more than `max-requests` = {}",
                self.requests, case.max_requests
            );
            let help = "lower a rate, shorten `duration`, or raise `max-requests`";
            problems.add(Problem::at(&case.place, message).help(help));
        }
        let most = case.max_memory_mib.saturating_mul(1 << 20);
        if self.memory_bytes > most {
            let message = format!(
                "up to {} MiB of memory an algorithm are more than `max-memory-mib` = {}",
                self.memory_bytes.div_ceil(1 << 20),
                case.max_memory_mib
            );
            let help =
                "lower the rate, the number of clients or the limit, or raise `max-memory-mib`";
            problems.add(Problem::at(&case.place, message).help(help));
        }
    }
}
