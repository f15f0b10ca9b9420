//! The servers that decide and the store that they share.

use crate::nodes::NodesSpec;
use crate::store::StoreSpec;

/// The `[nodes]` and `[store]` tables of a case that has any of them.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// The servers.
    pub nodes: NodesSpec,
    /// What they share; one that answers at once and never fails where the case says nothing of it.
    pub store: StoreSpec,
}
