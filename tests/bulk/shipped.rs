//! Every shipped scenario.

use std::path::{Path, PathBuf};

use ratesim::run::Engine;

fn scenarios(folder: &Path, into: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            scenarios(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            into.push(path);
        }
    }
}

#[test]
fn every_shipped_scenario_without_feedback_comes_to_the_same() {
    let mut paths = Vec::new();
    scenarios(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios"), &mut paths);
    let mut compared = 0;
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let smaller: &[(&str, &str)] = match path.ends_with("cloudflare.toml") {
            true => &[("traffic.0.rate", "400000/24h"), ("traffic.0.clients", "270")],
            false => &[],
        };
        let prepared = crate::changed(&path, text, smaller).unwrap();
        if !prepared.is_bulk() {
            continue;
        }
        let events = crate::rows(&prepared, Engine::Events, 2);
        for threads in [1, 2] {
            let bulk = crate::rows(&prepared, Engine::Fastest, threads);
            crate::assert_same(&bulk, &events, &path.display().to_string());
        }
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} scenarios are taken in bulk");
}
