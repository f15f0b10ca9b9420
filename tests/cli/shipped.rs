//! The scenarios of this repository: each teaches, each states what it must show, and `output/` holds
//! the results of this version.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ratesim::command::{Output, run};
use ratesim::run::Silent;

use crate::support::{Bench, Files, Sheet, files_under};

/// The scenario files, as paths from the repository's folder, in which tests run.
pub fn scenarios() -> Vec<PathBuf> {
    let files = files_under(Path::new("scenarios")).into_keys();
    let found: Vec<PathBuf> = files
        .filter(|name| name.ends_with(".toml"))
        .map(|name| Path::new("scenarios").join(name))
        .collect();
    assert!(!found.is_empty(), "there are no scenarios");
    found
}

/// The name that a scenario must have: its path in the folder, without the extension.
fn name_of(path: &Path) -> String {
    let stem = path.strip_prefix("scenarios").unwrap().with_extension("");
    stem.to_str().unwrap().replace('\\', "/")
}

/// Text and SVG files; pictures and pages are not kept.
fn kept(files: Files) -> Files {
    let pictures = [".png", ".html"];
    files.into_iter().filter(|(name, _)| !pictures.iter().any(|end| name.ends_with(end))).collect()
}

/// Results as kept, without those of scenarios whose folders lie inside.
fn results_of(folder: &Path) -> Files {
    if !folder.is_dir() {
        return Files::new();
    }
    let files = files_under(folder);
    let inner: Vec<String> =
        files.keys().filter_map(|name| name.strip_suffix("/run.json").map(str::to_owned)).collect();
    let own = |name: &str| !inner.iter().any(|inner| name.starts_with(&format!("{inner}/")));
    kept(files.into_iter().filter(|(name, _)| own(name)).collect())
}

#[test]
fn the_name_of_every_scenario_is_its_path() {
    for path in scenarios() {
        let text = std::fs::read_to_string(&path).unwrap();
        let document: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(document["name"].as_str(), Some(&*name_of(&path)), "{}", path.display());
    }
}

#[test]
fn every_scenario_teaches_and_states_what_it_must_show() {
    for path in scenarios() {
        let text = std::fs::read_to_string(&path).unwrap();
        let comment = text.lines().take_while(|line| line.starts_with('#')).count();
        assert!(comment >= 2, "{}: a comment at the top says what it teaches", path.display());
        let document: toml::Table = toml::from_str(&text).unwrap();
        let expects = document.get("expect").and_then(toml::Value::as_array);
        assert!(expects.is_some_and(|all| !all.is_empty()), "{}: [[expect]]", path.display());
        let about = document.get("about").and_then(toml::Value::as_str);
        assert!(about.is_some_and(|about| !about.is_empty()), "{}: `about`", path.display());
    }
}

/// Whether a scenario is too large for a build for tests: those that raise `max-requests`. The release build runs
/// them, and compares what it finds with what is kept, in `.ci/run`.
fn is_large(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str::<toml::Table>(&text).unwrap().contains_key("max-requests")
}

/// Runs every scenario but the largest. After a change that is meant to change results, renew them with
/// `ratesim run` and look at the difference.
#[test]
fn the_results_in_the_repository_are_those_of_this_version_and_every_expectation_holds() {
    let place = tempfile::tempdir().unwrap();
    let mut faults = Vec::new();
    for path in scenarios().into_iter().filter(|path| !is_large(path)) {
        let shown = path.display();
        let options = run::Options {
            scenarios: vec![path.clone()],
            out: place.path().to_owned(),
            charts: true,
            threads: 2,
            ..run::Options::default()
        };
        let mut printed = Vec::new();
        let mut output = Output { out: &mut printed, width: 80, styled: false };
        run::run(&options, &mut output, &Silent::default())
            .unwrap_or_else(|error| panic!("{shown}: {error}"));
        let printed = String::from_utf8(printed).unwrap();
        let closing = printed.lines().last().unwrap();
        if !(closing.starts_with("all ") && closing.contains(" expectations hold; ")
            || closing.starts_with("the expectation holds; "))
        {
            faults.push(format!("{shown}: {closing}"));
        }
        let name = name_of(&path);
        let found = results_of(&place.path().join(&name));
        let expected = results_of(&Path::new("output").join(&name));
        let before = faults.len();
        if expected.is_empty() {
            faults.push(format!("output/{name} is missing"));
        } else {
            let all: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
            faults.extend(all.into_iter().filter_map(|file| {
                let fault = match (found.get(file), expected.get(file)) {
                    (Some(now), Some(kept)) if now == kept => return None,
                    (Some(_), Some(_)) => "differs",
                    (Some(_), None) => "is missing",
                    (None, _) => "is no longer written",
                };
                Some(format!("output/{name}/{file} {fault}"))
            }));
        }
        if faults.len() > before {
            faults.push(format!("  renew with: cargo run --release -- run {shown}"));
        }
    }
    assert!(faults.is_empty(), "results are not those of this version:\n{}", faults.join("\n"));
}

#[test]
fn no_results_are_kept_of_scenarios_that_are_gone() {
    let names: Vec<String> = scenarios().iter().map(|path| name_of(path)).collect();
    for file in files_under(Path::new("output")).keys() {
        if let Some(name) = file.strip_suffix("/run.json") {
            assert!(names.iter().any(|known| known == name), "output/{name} has no scenario");
        }
    }
}

/// Those with more attempts take long, and the test above has judged them already.
const CHECKED_AGAIN: u64 = 200_000;

#[test]
fn check_lists_every_expectation_and_exits_with_0() {
    let mut paths = Vec::new();
    let mut expected = 0;
    for path in scenarios() {
        let summary = Path::new("output").join(name_of(&path)).join("summary.csv");
        let Ok(bytes) = std::fs::read(&summary) else { continue };
        let sheet = Sheet::parse(&bytes);
        let attempts =
            sheet.rows.iter().map(|row| row["attempts"].parse::<u64>().unwrap()).sum::<u64>();
        if attempts <= CHECKED_AGAIN {
            let text = std::fs::read_to_string(&path).unwrap();
            expected += text.lines().filter(|line| line.trim() == "[[expect]]").count();
            paths.push(path.to_str().unwrap().to_owned());
        }
    }
    let arguments: Vec<&str> =
        std::iter::once("check").chain(paths.iter().map(String::as_str)).collect();
    let bench = Bench::new();
    let mut command = bench.command(&arguments);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let outcome = crate::support::Outcome::from(output);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome}");
    // An expectation that names no case or algorithm is judged for each of them.
    let listed = outcome.stdout.lines().filter(|line| line.starts_with("  ok    ")).count();
    assert!(listed >= expected && expected > 0, "{expected} expectations\n{outcome}");
    for path in &paths {
        assert!(outcome.stdout.lines().any(|line| line == path), "{path}: {outcome}");
    }
}
