//! Over how many places the states of a case's keys are spread, as far as bounds of a run's size depend on that.

use crate::nodes::Placement;
use crate::scenario::{Case, Fleet};
use crate::store::{Atomicity, OnFailure};
use crate::time::Span;

/// Over how much the states of a case's keys are spread.
pub(super) struct Spread {
    /// Places at which a key may have a state besides the first.
    pub places: u64,
    /// Of these, those that remember what no other does.
    pub apart: u64,
    /// So many times all that is remembered there may be.
    pub copies: u64,
    /// Whether a call may carry a copy of a state.
    pub drafts: bool,
    /// Whether attempts wait for the store.
    pub asks: bool,
    /// Whether nodes tell the store what they have charged.
    pub tells: bool,
}

impl Spread {
    /// There is one place.
    pub const NONE: Spread =
        Spread { places: 0, apart: 1, copies: 1, drafts: false, asks: false, tells: false };

    /// Of nodes and their store.
    pub fn of(Fleet { nodes, store, .. }: &Fleet) -> Spread {
        let count = nodes.count as u64;
        // What a replica may bring back is kept besides.
        let kept = 1 + store.fail_overs.len() as u64;
        let plain = Spread { places: count, ..Spread::NONE };
        match nodes.placement {
            Placement::Local | Placement::Split => Spread { apart: count, ..plain },
            // The store's, each node's, and what is on its way to each.
            Placement::Synced { .. } => Spread { copies: kept + 2 * count, tells: true, ..plain },
            Placement::Shared | Placement::Leased { .. } => Spread {
                copies: kept,
                drafts: store.atomicity == Atomicity::ReadModifyWrite,
                asks: true,
                ..plain
            },
        }
    }

    /// So many calls about attempts may be under way at once. A call outlives the client or the node that waits no longer
    /// for it, and then there may be another: as many as fit into the time that one may take.
    pub fn under_way(&self, case: &Case, run: Span, requests: u64, decisions: u64) -> u64 {
        let Some(Fleet { store, .. }) = case.fleet.as_ref().filter(|_| self.asks) else { return 0 };
        let slowest = store.slowest();
        let lasts = store.timeout.max(slowest).min(run).nanos();
        let by_node = Some(store.timeout).filter(|timeout| *timeout < slowest);
        let gap = case.clients.timeout.into_iter().chain(by_node).min();
        let gap = gap.filter(|_| case.is_closed_loop());
        let others = gap.map_or(0, |gap| lasts.div_ceil(gap.nanos().max(1)));
        // One that is waited for, one that is held, and one of which nobody waits for the answer.
        let held = u64::from(matches!(store.on_failure, OnFailure::OpenAfter(_)));
        let written = u64::from(store.atomicity != Atomicity::Script);
        let each = others.saturating_add(1 + held + written);
        requests.saturating_mul(each).min(decisions.saturating_mul(1 + held + written))
    }

    /// So much may happen to nodes and store in a run of this length.
    pub fn events(&self, case: &Case, run: Span, decisions: u64) -> u64 {
        let Some(Fleet { nodes, store, .. }) = &case.fleet else { return 0 };
        // A call reaches the store, is answered and failed; there are two for an attempt, and a third may be held.
        let asked = if self.asks { decisions.saturating_mul(7) } else { 0 };
        let often = |every: Span| {
            let rounds = run.nanos() / every.nanos().max(1) + 1;
            rounds.saturating_mul(nodes.count as u64)
        };
        let synced = match nodes.placement {
            Placement::Synced { every } => {
                often(every).saturating_mul(1 + 3 * store.clocks.len() as u64)
            }
            _ => 0,
        };
        let swept = nodes.sweep.map_or(0, |sweep| often(sweep.every));
        let by_itself = store.outages.len() + 2 * store.fail_overs.len();
        asked.saturating_add(synced).saturating_add(swept).saturating_add(by_itself as u64)
    }
}
