//! What may stand where results go: which files are ratesim's, and what is in the way of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::Value as Json;

use super::RECORD;
use crate::error::{Error, Problem};

const ELSEWHERE: &str = "move it away, or choose another folder with --out";

/// The files that a run can write, but for those in [`CHARTS`].
const FILES: [&str; 10] = [
    "clients.csv",
    "comparison.csv",
    "decisions.csv",
    "keys.csv",
    "limits.csv",
    RECORD,
    "report.html",
    "store.csv",
    "summary.csv",
    "timeline.csv",
];

/// The folder of charts.
const CHARTS: &str = "charts/";

/// Whether ratesim gives files of results such a name.
pub(super) fn is_own(name: &str) -> bool {
    let chart = || {
        let (stem, ending) = name.strip_prefix(CHARTS)?.split_once('.')?;
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        Some(!stem.is_empty() && stem.bytes().all(plain) && matches!(ending, "svg" | "png"))
    };
    FILES.contains(&name) || chart().unwrap_or(false)
}

/// A relative path that stays inside the folder it is joined to.
pub(super) fn plain(name: &str) -> Result<&Path, Error> {
    let inside = !name.is_empty()
        && !name.contains('\\')
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if inside {
        Ok(Path::new(name))
    } else {
        Err(Error::failed(format!("write `{name}`"), "it is no path inside the results' folder"))
    }
}

/// What ratesim wrote into `target`, as far as the `run.json` there tells; nothing without one.
/// Names that ratesim does not give are none of its, whatever the list says.
pub(super) fn read_owned(target: &Path) -> BTreeSet<String> {
    let text = fs::read(target.join(RECORD)).unwrap_or_default();
    let record: Json = serde_json::from_slice(&text).unwrap_or(Json::Null);
    if record.get("ratesim").is_none() {
        return BTreeSet::new();
    }
    let files = record.get("files").and_then(Json::as_array);
    let names = files.into_iter().flatten().filter_map(Json::as_str);
    let names = names.filter(|name| is_own(name)).map(str::to_owned);
    names.chain([RECORD.to_owned()]).collect()
}

/// The target if it exists, else the nearest folder around it that does: on the target's own file
/// system in any case.
pub(super) fn existing(target: &Path) -> Result<PathBuf, Error> {
    for path in target.ancestors().filter(|path| !path.as_os_str().is_empty()) {
        let what = match (path.is_dir(), path.exists(), path.is_symlink()) {
            (true, ..) => return Ok(path.to_owned()),
            (false, true, _) => "is a file, where a folder must be",
            (false, false, true) => "is a symbolic link that leads nowhere",
            (false, false, false) => continue,
        };
        let message = format!("`{}` {what}", path.display());
        return Err(Error::input(Problem::new(message).help(ELSEWHERE)));
    }
    Ok(PathBuf::from("."))
}

/// Refuses if something in the target is in the way of a file of one of the `names`, and is not among
/// those that are `owned`. Nothing is written, or removed, through a symbolic link in the target.
pub(super) fn refuse_foreign<'a>(
    target: &Path,
    owned: &BTreeSet<String>,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), Error> {
    let found: BTreeMap<PathBuf, &str> =
        names.into_iter().filter_map(|name| obstacle(target, owned, name)).collect();
    if found.is_empty() {
        return Ok(());
    }
    let problem = |(path, what): (PathBuf, &str)| {
        Problem::new(format!("`{}` {what}", path.display())).help(ELSEWHERE)
    };
    Err(Error::Input(found.into_iter().map(problem).collect()))
}

fn obstacle(
    target: &Path,
    owned: &BTreeSet<String>,
    name: &str,
) -> Option<(PathBuf, &'static str)> {
    let path = target.join(name);
    for folder in path.ancestors().skip(1).take_while(|folder| *folder != target) {
        let Ok(found) = folder.symlink_metadata() else { continue };
        if found.is_symlink() {
            return Some((folder.to_owned(), "is a symbolic link, where a folder must be"));
        }
        if !found.is_dir() {
            return Some((folder.to_owned(), "is a file, where a folder must be"));
        }
    }
    let found = path.symlink_metadata().ok()?;
    if found.is_dir() {
        return Some((path, "is a folder, where a file must be"));
    }
    (!owned.contains(name)).then_some((path, "is there and was not written by ratesim"))
}
