//! Logs named on the command line, as the settings of a `[[traffic]]` of kind `log`: what replays them is a
//! scenario like any other.

use std::path::PathBuf;

use toml::{Table, Value};

use crate::error::{Error, Problem};
use crate::log::filter::Filter;
use crate::log::key::Key;

/// Logs and how they are read.
#[derive(Debug, Clone, Default)]
pub struct Logs {
    /// The files; `-` is the standard input.
    pub paths: Vec<PathBuf>,
    /// What requests are told apart by.
    pub key: Option<Key>,
    /// What must hold of requests that count.
    pub filters: Vec<Filter>,
    /// Settings that have texts for values, by their names; those that the user left out are `None`.
    pub texts: Vec<(&'static str, Option<String>)>,
    /// The columns of fields, by the names of the fields.
    pub columns: Vec<(String, String)>,
    /// Whether the first line that cannot be used is a mistake.
    pub strict: bool,
}

impl Logs {
    /// The table of the traffic.
    ///
    /// # Errors
    /// If the name of a file is no text.
    pub fn traffic(&self) -> Result<Table, Error> {
        let mut table = Table::new();
        let mut set = |name: &str, value: Value| drop(table.insert(name.to_owned(), value));
        set("kind", "log".into());
        let paths = self.paths.iter().map(|path| match path.to_str() {
            Some(path) => Ok(Value::from(path)),
            None => {
                let message = format!("`{}` is no text", path.display());
                Err(Error::input(Problem::new(message).help("give the file a name in UTF-8")))
            }
        });
        match paths.collect::<Result<Vec<Value>, Error>>()?.as_slice() {
            [one] => set("path", one.clone()),
            several => set("path", Value::Array(several.to_vec())),
        }
        if let Some(key) = &self.key {
            set("client", key.to_string().into());
        }
        if !self.filters.is_empty() {
            let filters = self.filters.iter().map(|filter| filter.to_string().into());
            set("where", Value::Array(filters.collect()));
        }
        for (name, text) in &self.texts {
            if let Some(text) = text {
                set(name, text.as_str().into());
            }
        }
        if !self.columns.is_empty() {
            let columns =
                self.columns.iter().map(|(field, column)| (field.clone(), column.as_str().into()));
            set("columns", Value::Table(columns.collect()));
        }
        if self.strict {
            set("strict", true.into());
        }
        Ok(table)
    }

    /// The names of the files, for a sentence.
    pub fn names(&self) -> String {
        match self.paths.as_slice() {
            [one] => one.display().to_string(),
            [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
            [] => String::new(),
        }
    }
}

/// The same mistakes without their places in a scenario that the user did not write, and with flags for
/// settings.
pub fn as_flags(error: Error) -> Error {
    let Error::Input(problems) = error else { return error };
    let flagged = problems.into_iter().map(|problem| Problem {
        message: flags(&problem.message),
        place: None,
        help: problem.help.map(|help| flags(&help)),
    });
    Error::Input(flagged.collect())
}

/// Turns `` `time-unit = "ms"` `` into `` `--time-unit ms` ``.
fn flags(text: &str) -> String {
    let mut parts = text.split('`');
    let mut flagged = parts.next().unwrap_or("").to_owned();
    for (index, part) in parts.enumerate() {
        flagged.push('`');
        let setting = (index % 2 == 0).then(|| part.split_once(" = ")).flatten();
        match setting.filter(|(name, _)| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
        {
            Some((name, value)) => {
                flagged.push_str(&format!("--{name} {}", value.trim_matches('"')));
            }
            None => flagged.push_str(part),
        }
    }
    flagged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_in_messages_become_flags() {
        for (text, right) in [
            ("say it: `time-unit = \"ms\"`, or \"s\"", "say it: `--time-unit ms`, or \"s\""),
            ("`a.log` has `x = 1` in it", "`a.log` has `--x 1` in it"),
            ("`a.log = b`", "`a.log = b`"),
            ("no setting = here", "no setting = here"),
            ("`never closed", "`never closed"),
        ] {
            assert_eq!(flags(text), right);
        }
    }

    #[test]
    fn what_was_left_out_is_not_there() {
        let logs = Logs { paths: vec!["a.log".into()], ..Logs::default() };
        assert_eq!(logs.traffic().unwrap().to_string(), "kind = \"log\"\npath = \"a.log\"\n");
        let logs = Logs {
            paths: vec!["a.log".into(), "-".into()],
            key: Some(Key::parse("address/24+user").unwrap()),
            filters: vec![Filter::parse("status=4xx").unwrap()],
            texts: vec![("format", Some("csv".to_owned())), ("tz", None)],
            columns: vec![("time".to_owned(), "at".to_owned())],
            strict: true,
        };
        insta::assert_snapshot!(logs.traffic().unwrap().to_string());
        assert_eq!(logs.names(), "a.log and 1 more");
    }
}
