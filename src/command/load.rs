//! Scenario files found, read and made ready, with the problems of all of them reported together.

use std::path::{Path, PathBuf};

use crate::error::{Error, Problem, Problems};
use crate::run::{self, Prepared, Progress};
use crate::scenario::{Changes, Scenario};

/// Reads scenarios and their inputs; `only` names the algorithms to run, none means all. `progress` is told
/// while records are read, by so many threads.
///
/// # Errors
/// Every problem of all of them; two scenarios of one name are one.
pub fn prepare(
    paths: &[PathBuf],
    changes: &Changes,
    only: &[String],
    progress: &dyn Progress,
    threads: usize,
) -> Result<Vec<Prepared>, Error> {
    let problems = Problems::new();
    let mut all: Vec<Prepared> = Vec::new();
    for path in paths {
        let Some(scenario) = Scenario::open(path, changes, &problems) else { continue };
        let name = scenario.name.as_str();
        let twin = all.iter().find(|other| !name.is_empty() && other.scenario.name == name);
        if let Some(other) = twin {
            let first = other.scenario.path.display();
            let message = format!("`{first}` is also named `{name}`");
            let help = "give one of them another `name`; it is also their folder of results";
            problems.add(Problem::at(&scenario.name_place, message).help(help));
        }
        all.push(run::prepare_with(scenario, only, &problems, progress, threads)?);
    }
    problems.into_result()?;
    Ok(all)
}

/// The scenario files: every path that is no folder, whether it exists or not, and the `*.toml` in
/// folders and theirs, in the order of names. Links to folders are not followed inside a folder: they
/// may lead back to where they stand.
///
/// # Errors
/// If a folder cannot be read or has no scenario.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        let before = found.len();
        collect(path, &mut found)?;
        if found.len() == before {
            let message = format!("`{}` has no scenario (*.toml)", path.display());
            return Err(Error::input(Problem::new(message)));
        }
    }
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unreadable =
        |cause| Error::failed(format!("read the folder `{}`", folder.display()), cause);
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        paths.push((entry.path(), entry.file_type().map_err(unreadable)?.is_dir()));
    }
    paths.sort();
    for (path, is_folder) in paths {
        if is_folder {
            collect(&path, found)?;
        } else if !path.is_dir() && path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_back_finds_no_file_twice() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::create_dir(at("inner")).unwrap();
        std::fs::write(at("inner/a.toml"), "").unwrap();
        std::fs::write(at("b.toml"), "").unwrap();
        std::os::unix::fs::symlink(folder.path(), at("inner/back.toml")).unwrap();
        std::os::unix::fs::symlink(at("b.toml"), at("c.toml")).unwrap();
        let found = files(&[folder.path().to_owned()]).unwrap();
        assert_eq!(found, [at("b.toml"), at("c.toml"), at("inner/a.toml")]);
    }
}
