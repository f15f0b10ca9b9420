//! Over how many places the states of a case's keys are spread, as far as bounds of a run's size depend on that.

use crate::nodes::Placement;
use crate::scenario::{Case, Fleet};
use crate::store::Atomicity;
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
