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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Changes, Scenario};
    use crate::traffic::{Arrival, build_with};
    use proptest::prelude::*;

    /// Two cases of a scenario with one log and perhaps traffic that is made up.
    fn cases(folder: &Path, settings: &str, spreads: [&str; 2]) -> Vec<Case> {
        let case = |spread: &&str| {
            format!("[[case]]\nname = \"{spread}\"\nset.traffic.0.spread = \"{spread}\"\n")
        };
        let text = format!(
            "name = \"t\"\nlimit = \"1/s\"\nseed = 7\n\
             [[traffic]]\nkind = \"log\"\npath = \"a.csv\"\n{settings}\n\
             [[traffic]]\nkind = \"burst\"\nat = \"1s\"\nrequests = 2\n{}",
            spreads.iter().map(case).collect::<String>()
        );
        let path = folder.join("t.toml");
        Scenario::parse(&path, text, &Changes::default()).unwrap().cases
    }

    /// All that can be seen of traffic.
    fn seen((traffic, tables): &(Traffic, Vec<Json>)) -> impl PartialEq + std::fmt::Debug {
        let arrivals: Vec<Arrival> = traffic.merged().collect();
        let streams: Vec<Vec<Arrival>> = traffic
            .sources
            .iter()
            .flat_map(|source| (0..source.streams()).map(|index| source.stream(index).collect()))
            .collect();
        let clients: Vec<_> = traffic.clients.iter().cloned().collect();
        (arrivals, streams, clients, traffic.inputs.clone(), traffic.window, tables.clone())
    }

    /// A table of requests as (second, millisecond, client, milliseconds taken).
    fn table(requests: &[(u32, u32, u8, u32)]) -> String {
        let row = |&(second, milli, client, took): &(u32, u32, u8, u32)| {
            let fraction = if milli > 0 { format!(".{milli:03}") } else { String::new() };
            format!("2022-10-04T04:34:{second:02}{fraction}Z,192.0.2.{client},{took}\n")
        };
        "time,ip,took\n".to_owned() + &requests.iter().map(row).collect::<String>()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Building anew is the reference.
        #[test]
        fn what_is_spread_otherwise_is_as_if_it_were_read_again(
            requests in prop::collection::vec((0_u32..4, 0_u32..3, 1_u8..4, 0_u32..1500), 1..20),
            whole in any::<bool>(),
            timed in any::<bool>(),
            order in prop::sample::select(vec!["sort", "file"]),
            spreads in prop::sample::subsequence(vec!["even", "none", "random"], 2),
            swapped in any::<bool>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut requests = requests;
            if whole {
                requests.iter_mut().for_each(|request| request.1 = 0);
            }
            std::fs::write(folder.path().join("a.csv"), table(&requests)).unwrap();
            let duration = if timed { "columns.duration = \"took\"\nduration-unit = \"ms\"" } else { "" };
            let settings = format!("order = \"{order}\"\n{duration}");
            let mut spreads = [spreads[0], spreads[1]];
            if swapped {
                spreads.reverse();
            }
            let cases = cases(folder.path(), &settings, spreads);
            prop_assert!(same_record(&cases[0].traffic, &cases[1].traffic));
            let readers = Readers { keep_stamps: true, ..Readers::default() };
            let (first, tables) = build_with(&cases[0], folder.path(), readers).unwrap();
            let shared = respread(&cases[1], &first, &tables).expect("it was read already").unwrap();
            let mut anew = build_with(&cases[1], folder.path(), Readers::default()).unwrap();
            if first.sources[0].spread().is_none() {
                // That `spread` has no effect is said of the case for which the file was read.
                anew.0.inputs = first.inputs.clone();
            }
            prop_assert_eq!(seen(&shared), seen(&anew));
        }
    }

    #[test]
    fn sources_that_differ_in_more_are_not_the_same_record() {
        let folder = tempfile::tempdir().unwrap();
        let of =
            |settings: &str| cases(folder.path(), settings, ["even", "none"]).remove(0).traffic;
        let with_key = of("client = \"address\"");
        assert!(same_record(&with_key, &with_key));
        assert!(!same_record(&with_key, &of("client = \"address/24\"")));
        assert!(!same_record(&with_key, &with_key[..1]));
    }
}
