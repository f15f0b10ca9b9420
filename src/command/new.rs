//! `ratesim new`: a scenario to start from.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Problem};
use crate::scenario::{Changes, Scenario};

/// A scenario named `name` that runs as it stands, with a comment on every line that a newcomer
/// will want to change.
pub fn template(name: &str) -> String {
    TEMPLATE.replace("NAME", name)
}

const TEMPLATE: &str = include_str!("template.toml");

/// Writes `FOLDER/NAME.toml`; a file that is there already stays as it is.
///
/// # Errors
/// If the name cannot name a scenario, the file exists or cannot be written.
pub fn new(name: &str, folder: &Path) -> Result<PathBuf, Error> {
    let path = folder.join(format!("{name}.toml"));
    let text = template(name);
    Scenario::parse(&path, text.clone(), &Changes::default()).map_err(|_| {
        let message = format!("`{name}` cannot name a scenario");
        Error::input(Problem::new(message).help("use small letters, digits, `-` and `_`"))
    })?;
    let shown = path.display();
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(&path).map_err(|cause| match cause
            .kind()
        {
            ErrorKind::AlreadyExists => {
                let message = format!("`{shown}` exists already");
                Error::input(Problem::new(message).help("choose another name"))
            }
            _ => Error::failed(format!("create `{shown}`"), cause),
        })?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if let Err(cause) = written {
        // Half a scenario helps nobody; that it cannot be removed changes nothing about the error.
        let _ = std::fs::remove_file(&path);
        return Err(Error::failed(format!("write `{shown}`"), cause));
    }
    Ok(path)
}
