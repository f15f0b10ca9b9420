//! The shape of the code, enforced: a module imports only from lower layers, files keep to one
//! purpose, registries name each entry once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Every module of the crate, layer by layer. A module may import from lower layers only, never from
/// its own.
const LAYERS: &[&[&str]] = &[
    &["time", "error", "seed", "fetch"],
    &["rate"],
    &["params"],
    &["algorithm", "clock", "log"],
    &["server", "nodes", "store"],
    &["client"],
    &["scenario"],
    &["traffic", "judge", "inspect"],
    &["world"],
    &["replay"],
    &["metrics"],
    &["report"],
    &["run"],
    &["redis"],
    &["command"],
    &["cli"],
];

/// Files of the sources with their texts, tests included.
fn sources() -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, into: &mut Vec<(PathBuf, String)>) {
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                collect(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                into.push((path, text));
            }
        }
    }
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    files
}

/// The top-level module a file belongs to; `None` for the crate's own two files.
fn module_of(path: &Path) -> Option<String> {
    let inside = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    let name = first.trim_end_matches(".rs").to_owned();
    (!matches!(name.as_str(), "lib" | "main")).then_some(name)
}

/// The modules that a text names after `crate::`, nested lists included.
fn imports(text: &str) -> Vec<String> {
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = Vec::new();
    for part in code.split("crate::").skip(1) {
        match part.strip_prefix('{') {
            None => found.push(leading_name(part)),
            Some(list) => {
                let mut depth = 0;
                let mut start = true;
                for (index, character) in list.char_indices() {
                    if start && character.is_alphabetic() {
                        found.push(leading_name(&list[index..]));
                        start = false;
                    }
                    match character {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => start = true,
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

fn leading_name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn violations(files: &[(PathBuf, String)]) -> Vec<String> {
    let layer: BTreeMap<&str, usize> = LAYERS
        .iter()
        .enumerate()
        .flat_map(|(layer, modules)| modules.iter().map(move |module| (*module, layer)))
        .collect();
    let mut wrong = Vec::new();
    for (path, text) in files {
        let Some(own) = module_of(path) else { continue };
        let Some(&from) = layer.get(own.as_str()) else {
            wrong.push(format!("{}: `{own}` has no layer", path.display()));
            continue;
        };
        for import in imports(text) {
            if import == own {
                continue;
            }
            match layer.get(import.as_str()) {
                Some(&to) if to < from => {}
                Some(_) => wrong.push(format!("{}: {own} imports {import}", path.display())),
                None => wrong.push(format!("{}: `{import}` has no layer", path.display())),
            }
        }
    }
    wrong
}

#[test]
fn modules_import_only_from_lower_layers() {
    assert_eq!(violations(&sources()), Vec::<String>::new());
}

#[test]
fn an_import_against_the_layers_is_noticed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let planted = [
        (root.join("judge/new.rs"), "use crate::report::format;".to_owned()),
        (root.join("time.rs"), "use crate::{rate::{Rate, Limit}, error::Error};".to_owned()),
        (root.join("run/ok.rs"), "use crate::world;\n// use crate::cli;\n".to_owned()),
    ];
    let wrong = violations(&planted);
    assert_eq!(wrong.len(), 3, "{wrong:#?}");
}

#[test]
fn files_keep_to_one_purpose_and_say_which() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > 400 {
            wrong.push(format!("{}: {lines} lines; split it", path.display()));
        }
        if !text.starts_with("//!") {
            wrong.push(format!("{}: starts without saying what it is for", path.display()));
        }
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if matches!(stem.as_str(), "utils" | "util" | "helpers" | "types" | "common" | "misc") {
            wrong.push(format!("{}: a default home for new things", path.display()));
        }
        for mark in ["TODO", "FIXME", "XXX", "HACK", "todo!(", "unimplemented!("] {
            if text.contains(mark) {
                wrong.push(format!("{}: has a `{mark}`", path.display()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn registries_name_each_entry_once_and_describe_it() {
    use ratesim::{algorithm, client, log, metrics, report, traffic};
    let check = |registry: &str, separator: char, entries: Vec<(&str, &str)>| {
        let mut names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{registry} names an entry twice");
        assert!(count > 0, "{registry} is empty");
        for (name, about) in entries {
            let kebab = name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == separator);
            assert!(kebab, "{registry}: `{name}`");
            assert!(about.len() > 10, "{registry}: `{name}` has no description");
        }
    };
    let algorithms = algorithm::ALGORITHMS.iter().map(|a| (a.name, a.summary));
    check("algorithms", '-', algorithms.collect());
    check("traffic", '-', traffic::SOURCES.iter().map(|s| (s.name, s.summary)).collect());
    check("formats", '-', log::format::FORMATS.iter().map(|f| (f.name, f.summary)).collect());
    check("policies", '-', client::POLICIES.iter().map(|p| (p.name, p.summary)).collect());
    check("jitters", '-', client::JITTERS.iter().map(|j| (j.name, j.summary)).collect());
    check("budgets", '-', client::BUDGETS.iter().map(|b| (b.name, b.summary)).collect());
    check("profiles", '-', client::PROFILES.iter().map(|p| (p.name, p.summary)).collect());
    check("charts", '-', report::chart::CHARTS.iter().map(|c| (c.name, c.meaning)).collect());
    check("metrics", '_', metrics::METRICS.iter().map(|m| (m.name, m.meaning)).collect());
}
