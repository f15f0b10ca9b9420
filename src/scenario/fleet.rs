//! The servers that decide and the store that they share.

use super::limit;
use crate::error::{Problem, Problems};
use crate::nodes::{self, NodesSpec, Placement, Where};
use crate::params::{Begin, Params};
use crate::store::{self, Around, StoreSpec};
use crate::time::Span;

/// The `[nodes]` and `[store]` tables of a case that has any of them.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// The servers.
    pub nodes: NodesSpec,
    /// What they share; one that answers at once and never fails where the case says nothing of it.
    pub store: StoreSpec,
    /// What begins at a stated time, for problems with what never does.
    pub begins: Vec<Begin>,
}

impl Fleet {
    /// Reports what would begin only after a run of this length.
    pub fn check_within(&self, duration: Span, problems: &Problems) {
        self.begins.iter().for_each(|begin| begin.check_within(duration, problems));
    }
}

/// Reads both tables in a case with so many limits; `None` if it has neither. Something stands in for what could
/// not be read.
pub(super) fn read(params: &mut Params, limits: usize) -> Option<Fleet> {
    let (has_nodes, has_store) = (params.has("nodes"), params.has("store"));
    let default = if has_store { Where::Shared } else { Where::Local };
    let mut begins = Vec::new();
    let read = params.optional_table("nodes", nodes::MEANING, |params| {
        NodesSpec::read(params, limits, default, &mut begins)
    });
    let (nodes, count, placement) = match read {
        Some(read) => (read.nodes, read.count, read.placement),
        None => (NodesSpec::single(Placement::Shared), Some(1), Some(Where::Shared)),
    };
    if has_store && placement.is_some_and(|placement| !placement.uses_store()) {
        let message = "this store has no effect: each node keeps its state to itself";
        let help =
            "a `[store]` goes with `placement = \"shared\"`, \"synced\" or \"leased\" in `[nodes]`";
        params.problems().add(Problem::at(&params.place_of("store"), message).help(help));
    }
    // Where no node uses the store, that was said, and is no reason to say it of each setting.
    let used = placement.filter(|placement| placement.uses_store());
    let around = Around {
        nodes: count,
        limits,
        decides: used.map(|placement| placement == Where::Shared),
        awaited: used.map(Where::waits_for_store),
        short_limit: limit::SHORT,
        limit: limit::read_plain,
    };
    let store = params.optional_table("store", store::MEANING, |params| {
        StoreSpec::read(params, &around, &mut begins)
    });
    (has_nodes || has_store).then(|| Fleet { nodes, store: store.unwrap_or_default(), begins })
}
