//! One node, a clock that is right, a store that answers at once and never fails: nothing is different.

use std::path::{Path, PathBuf};

use ratesim::judge::{Bin, Tally};
use ratesim::run::{self, Silent};
use ratesim::scenario::{Changes, Scenario};

/// All scenarios of the repository that have no fleet of their own, but for those of hundreds of millions of requests.
fn scenarios() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from("scenarios")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_scenario = path.extension().is_some_and(|extension| extension == "toml");
            if path.is_dir() {
                folders.push(path);
            } else if is_scenario && !is_large(&path) && is_plain(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 20, "{found:?}");
    found
}

fn is_large(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cloudflare"))
}

fn is_plain(path: &Path) -> bool {
    let scenario = Scenario::load(path, &Changes::default()).unwrap();
    scenario.cases.iter().all(|case| case.fleet.is_none())
}

fn tallies(path: &Path, set: &[(&str, &str)]) -> Vec<Tally> {
    let set = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let changes = Changes { set, replicas: Some(1), ..Changes::default() };
    let scenario = Scenario::load(path, &changes).unwrap();
    let prepared = run::prepare(scenario, &[]).unwrap();
    let findings = run::simulate(&prepared, run::Options::default(), &Silent::default()).unwrap();
    findings.comparison.rows.into_iter().map(|row| row.tally).collect()
}

/// What a run is told by that only fleets have is taken away.
fn without_fleet(mut tally: Tally) -> Tally {
    assert!(tally.fleet.take().is_some());
    let open = tally.closed.is_none();
    for bin in &mut tally.timeline.bins {
        let (calls, failed_calls, unlimited, turned_down, fell_back) = Default::default();
        let (keys_in_store, stuck_keys) = Default::default();
        *bin = Bin {
            calls,
            failed_calls,
            unlimited,
            turned_down,
            fell_back,
            keys_in_store,
            stuck_keys,
            ..*bin
        };
        if open {
            // Told of closed loops only.
            (bin.succeeded, bin.gave_up) = (0, 0);
        }
    }
    tally
}

/// A store drops a key that expires, and with it what the state's lists had room for.
fn without_bytes(mut tally: Tally) -> Tally {
    tally.kept.bytes_max = 0;
    tally.timeline.bins.iter_mut().for_each(|bin| bin.bytes = 0);
    tally
}

#[test]
fn a_node_by_itself_decides_as_if_there_were_none() {
    for path in scenarios() {
        let alone = tallies(&path, &[("nodes.count", "1")]);
        let alone: Vec<Tally> = alone.into_iter().map(without_fleet).collect();
        assert!(tallies(&path, &[]) == alone, "{}", path.display());
    }
}

#[test]
fn a_store_at_hand_decides_as_if_there_were_none() {
    for path in scenarios() {
        let shared = tallies(&path, &[("store.round-trip", "0s"), ("nodes.count", "3")]);
        let shared: Vec<Tally> = shared.into_iter().map(without_fleet).collect();
        let shared: Vec<Tally> = shared.into_iter().map(without_bytes).collect();
        let plain: Vec<Tally> = tallies(&path, &[]).into_iter().map(without_bytes).collect();
        assert!(plain == shared, "{}", path.display());
    }
}
