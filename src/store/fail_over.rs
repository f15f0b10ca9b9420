//! Replicas that take over.

use crate::clock::Clock;
use crate::params::{Begin, Params};
use crate::time::Span;

/// A replica takes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailOver {
    /// When, from the start of the run.
    pub at: Span,
    /// What was written in the last so long is lost: before the store was down for all, if it was until then.
    pub lag: Span,
    /// Which shard; `None` for all. Counted from 0.
    pub shard: Option<usize>,
}

const MEANING: &str = "A replica takes over that lags: what was written last is lost.";

impl FailOver {
    /// Reads all of them, in time order.
    pub(super) fn read_all(
        params: &mut Params,
        shards: Option<usize>,
        begins: &mut Vec<Begin>,
    ) -> Vec<FailOver> {
        let read =
            params.tables("fail-over", MEANING, |params| FailOver::read(params, shards, begins));
        let mut fail_overs: Vec<FailOver> = read.into_iter().flatten().collect();
        fail_overs.sort_by_key(|fail_over| fail_over.at);
        fail_overs
    }

    /// `None` after a problem was reported.
    fn read(
        params: &mut Params,
        shards: Option<usize>,
        begins: &mut Vec<Begin>,
    ) -> Option<FailOver> {
        let at: Option<Span> = params.required("at", "When, from the start of the run.");
        begins.extend(at.map(|at| Begin::new("fail-over", at, params)));
        let lag: Option<Span> =
            params.required(
            "lag",
            "What was written in the last so long before is lost; where an outage of kind \"down\" for all nodes lasts \
             until then, before that outage.",
        );
        let shard: Option<u64> = params
            .within(1..=shards.unwrap_or(Clock::MOST) as u64)
            .optional("shard", "Of which shard, counted from 1; left out, of all.");
        let known = shard.is_some() || !params.has("shard");
        let shard = shard.map(|shard| shard as usize - 1);
        Some(FailOver { at: at?, lag: lag?, shard }).filter(|_| known)
    }
}
