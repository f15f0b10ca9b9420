//! Cases that differ only in how the requests of a second are spread over it: their records are read once.

use std::cell::RefCell;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::build::{Readers, open};
use super::record::{Spread, spread_note};
use super::{SOURCES, Source, Traffic};
use crate::error::Error;
use crate::params::{Choice, Node, Setting, Table, Value};
use crate::scenario::Case;

/// Whether two cases read the same records and differ, if at all, in `spread` alone.
pub fn same_record(one: &[Node], other: &[Node]) -> bool {
    let bare = |node: &Node| -> Option<Table> {
        let Value::Table(table) = &node.value else { return None };
        let mut table = table.clone();
        table.entries.retain(|entry| entry.key != "spread");
        Some(table)
    };
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            one == other || bare(one).is_some_and(|one| Some(one) == bare(other))
        })
}

/// The traffic of a case whose record is the same as that of `first`, as if it were built anew; `sources` are
/// the tables of `first` as resolved. `None` where it must be built anew.
///
/// # Errors
/// With other times, a record may begin or end outside the years that a run may lie in.
pub fn respread(
    case: &Case,
    first: &Traffic,
    sources: &[Json],
) -> Option<Result<(Traffic, Vec<Json>), Error>> {
    let mut changes: Vec<(Spread, Spread)> = Vec::new();
    let mut renewed = Vec::new();
    for (node, source) in case.traffic.iter().zip(&first.sources) {
        if !is_recorded(node) {
            renewed.push(None);
            continue;
        }
        let wanted = wanted_spread(node)?;
        changes.extend(source.spread().map(|before| (before, wanted)));
        renewed.push(Some(source.respread(wanted, case.seed)?));
    }
    // A note says how a file was spread, not which source it is of.
    if changes.iter().any(|change| *change != changes[0]) {
        return None;
    }
    let renewed = RefCell::new(renewed);
    let renew = |_: &dyn Source, position: usize| renewed.borrow_mut()[position].take();
    let opened = open(case, case.seed, Path::new(""), Some((first, &renew)), Readers::default());
    Some(opened.map(|(mut traffic, mut tables)| {
        for ((table, before), source) in tables.iter_mut().zip(sources).zip(&traffic.sources) {
            if table.is_null() {
                *table = before.clone();
            }
            if let Some(spread) = source.spread() {
                table["spread"] = json!(spread.name());
            }
        }
        let notes = traffic.inputs.iter_mut().flat_map(|input| &mut input.notes);
        for note in notes {
            let change = changes.iter().find(|(from, _)| *note == spread_note(*from));
            if let Some((_, to)) = change {
                *note = spread_note(*to);
            }
        }
        (traffic, tables)
    }))
}

/// Whether a source is read from a record.
fn is_recorded(node: &Node) -> bool {
    let Value::Table(table) = &node.value else { return false };
    let Some(Value::String(name)) = table.get("kind").map(|entry| &entry.node.value) else {
        return false;
    };
    SOURCES.iter().any(|kind| kind.recorded && kind.name == name)
}

/// How the requests of a recorded source are to be spread; `None` if that cannot be read.
fn wanted_spread(node: &Node) -> Option<Spread> {
    let Value::Table(table) = &node.value else { return None };
    match table.get("spread") {
        Some(entry) => Spread::read(&entry.node).ok(),
        None => Some(Spread::Even),
    }
}
