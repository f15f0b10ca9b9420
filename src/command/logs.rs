//! Logs named on the command line: read as they stand, or as the settings of a `[[traffic]]` of kind `log`,
//! since what replays them is a scenario like any other.

use std::path::PathBuf;

use toml::{Table, Value};

use crate::error::{Error, Problem, Problems, suggest};
use crate::log::filter::Filter;
use crate::log::format::{Column, Format, Layout, Stamps};
use crate::log::key::Key;
use crate::log::limited::Handling;
use crate::log::read::{self, File};
use crate::log::{Field, TimeUnit, Unit, Zone};
use crate::params::Choice;
use crate::traffic::{Arriving, Order};

/// Logs and how they are read; what the user left out is `None`.
#[derive(Debug, Clone)]
pub struct Logs {
    /// The files; `-` is the standard input.
    pub paths: Vec<PathBuf>,
    /// What requests are told apart by.
    pub key: Key,
    /// What must hold of requests that count.
    pub filters: Vec<Filter>,
    /// What becomes of requests that had already been refused.
    pub limited: Option<Handling>,
    /// Their format.
    pub format: Option<&'static Format>,
    /// An expression with named groups.
    pub pattern: Option<String>,
    /// The columns of fields, by the names of the fields; of `time` and `duration`, too.
    pub columns: Vec<(String, String)>,
    /// What stands between the fields of a table.
    pub delimiter: Option<u8>,
    /// The zone of times that have none, and of times of day in filters.
    pub zone: Option<Zone>,
    /// The unit of times that are numbers.
    pub time_unit: Option<TimeUnit>,
    /// The unit of durations.
    pub duration_unit: Option<Unit>,
    /// What stamps say.
    pub arrival: Option<Arriving>,
    /// What becomes of requests that are out of order.
    pub order: Option<Order>,
    /// Whether the first line that cannot be used is a mistake.
    pub strict: bool,
}

impl Logs {
    /// Logs of which nothing is said.
    pub fn new(paths: Vec<PathBuf>) -> Logs {
        Logs {
            paths,
            key: Key::address(),
            filters: Vec::new(),
            limited: None,
            format: None,
            pattern: None,
            columns: Vec::new(),
            delimiter: None,
            zone: None,
            time_unit: None,
            duration_unit: None,
            arrival: None,
            order: None,
            strict: false,
        }
    }

    /// Whether what is said of the logs makes sense.
    ///
    /// # Errors
    /// A column is said of no field, or of one field twice.
    pub fn check(&self) -> Result<(), Error> {
        let problems = Problems::new();
        for (index, (field, column)) in self.columns.iter().enumerate() {
            let known = || ["time", "duration"].into_iter().chain(Field::names());
            if !known().any(|known| known == field) {
                let message = format!("`--column {field}={column}`: there is no field `{field}`");
                problems.add(Problem::new(message).help(suggest(field, known())));
            }
            if let Some((_, other)) = self.columns[..index].iter().find(|(known, _)| known == field)
            {
                let message = format!(
                    "`--column` says twice where `{field}` stands: in `{other}` and in `{column}`"
                );
                problems.add(Problem::new(message).help("say it once"));
            }
        }
        problems.into_result()
    }

    /// The settings of a `[[traffic]]`.
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
        set("client", self.key.to_string().into());
        if !self.filters.is_empty() {
            let filters = self.filters.iter().map(|filter| filter.to_string().into());
            set("where", Value::Array(filters.collect()));
        }
        for (name, text) in self.texts() {
            if let Some(text) = text {
                // In TOML a tab is a tab.
                set(
                    name,
                    if name == "delimiter" { text.replace("\\t", "\t") } else { text }.into(),
                );
            }
        }
        if !self.columns.is_empty() {
            let columns = self.columns.iter();
            let columns = columns.map(|(field, column)| (field.clone(), column.as_str().into()));
            set("columns", Value::Table(columns.collect()));
        }
        if self.strict {
            set("strict", true.into());
        }
        Ok(table)
    }

    /// The files as they are read.
    pub fn files(&self) -> Vec<File> {
        let file = |path: &PathBuf| File {
            path: path.clone(),
            name: path.display().to_string(),
            place: None,
        };
        self.paths.iter().map(file).collect()
    }

    /// How they are read for so many threads, with these fields.
    pub fn reading(&self, wanted: Vec<Field>, threads: usize) -> read::Options {
        let column = |name: &str| Column { name: name.to_owned(), place: None };
        let named = |wanted: &str| {
            self.columns.iter().find(|(field, _)| field == wanted).map(|(_, name)| column(name))
        };
        let others =
            self.columns.iter().filter(|(field, _)| field != "time" && field != "duration");
        let layout = Layout {
            wanted,
            time: named("time"),
            duration: named("duration"),
            columns: others.map(|(field, name)| (Field::of(field), column(name))).collect(),
            time_unit: self.time_unit.unwrap_or_default(),
            duration_unit: self.duration_unit,
            delimiter: self.delimiter,
            pattern: self.pattern.as_deref().map(column),
            ..Layout::default()
        };
        let stamps = self.arrival.map(|arrival| match arrival {
            Arriving::Start => Stamps::Start,
            Arriving::End => Stamps::End,
        });
        let (format, zone, strict) = (self.format, self.zone.clone(), self.strict);
        let by_time = self.order.unwrap_or_default() == Order::Sort;
        read::Options { format, layout, zone, stamps, strict, by_time, threads }
    }

    /// The words of a command line that say the same, quoted for a shell where that is needed.
    pub fn flags(&self) -> Vec<String> {
        let mut flags: Vec<String> = Vec::new();
        flags.extend(self.paths.iter().map(|path| quoted(&path.display().to_string())));
        let mut flag = |name: &str, value: &str| flags.push(format!("--{name} {}", quoted(value)));
        if self.key != Key::address() {
            flag("key", &self.key.to_string());
        }
        self.filters.iter().for_each(|filter| flag("where", &filter.to_string()));
        for (name, text) in self.texts() {
            if let Some(text) = text {
                flag(name, &text);
            }
        }
        for (field, column) in &self.columns {
            flag("column", &format!("{field}={column}"));
        }
        if self.strict {
            flags.push("--strict".to_owned());
        }
        flags
    }

    /// What has a text for a value, by the name of its setting and flag.
    fn texts(&self) -> [(&'static str, Option<String>); 9] {
        let delimiter = self.delimiter.map(|delimiter| match delimiter {
            b'\t' => "\\t".to_owned(),
            other => char::from(other).to_string(),
        });
        [
            ("limited", self.limited.map(|limited| limited.name().to_owned())),
            ("format", self.format.map(|format| format.name.to_owned())),
            ("pattern", self.pattern.clone()),
            ("delimiter", delimiter),
            ("tz", self.zone.as_ref().map(Zone::to_string)),
            ("time-unit", self.time_unit.map(|unit| unit.name().to_owned())),
            ("duration-unit", self.duration_unit.map(|unit| unit.name().to_owned())),
            ("arrival", self.arrival.map(|arrival| arrival.name().to_owned())),
            ("order", self.order.map(|order| order.name().to_owned())),
        ]
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

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The same mistakes without their places in a scenario that the user did not write, and with flags for
/// settings.
pub fn as_flags(error: Error) -> Error {
    let Error::Input(problems) = error else { return error };
    let mut flagged: Vec<Problem> = Vec::new();
    for problem in problems {
        let (message, help) = (flags(&problem.message), problem.help.map(|help| flags(&help)));
        // Cases that spread the requests of a second otherwise have the same mistakes, at times that differ a little.
        let alike = |other: &Problem| {
            without_digits(&other.message) == without_digits(&message) && other.help == help
        };
        if !flagged.iter().any(alike) {
            flagged.push(Problem { message, place: None, help });
        }
    }
    Error::Input(flagged)
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect()
}

/// Settings that are flags of the same name; others have names that fields of logs may have too.
const FLAGS: [&str; 10] = [
    "arrival",
    "burst",
    "delimiter",
    "duration-unit",
    "limited",
    "order",
    "spread",
    "time-unit",
    "tz",
    "where",
];

/// What is said of settings that have no flags, and what of flags.
const INSTEAD: [(&str, &str); 3] = [
    ("choose another `start` or a shorter `duration`", "`--where time=FROM..TO` leaves others out"),
    ("`duration` or a filter by time can", "`--where time=FROM..TO` can"),
    ("raise `max-memory-mib`", "raise `max-memory-mib` in what `--print-scenario` prints"),
];

/// Turns `` `order` `` into `` `--order` ``, `` `time-unit = "ms"` `` into `` `--time-unit ms` ``, and `` `columns.time = "at"` `` into
/// `` `--column time=at` ``.
pub fn flags(text: &str) -> String {
    let flag = |part: &str| {
        let (name, value) = part.split_once(" = ")?;
        let value = value.trim_matches('"');
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        };
        match name.strip_prefix("columns.") {
            Some(field) => is_name(field).then(|| format!("--column {field}={value}")),
            None => is_name(name).then(|| format!("--{name} {value}")),
        }
    };
    let text =
        INSTEAD.iter().fold(text.to_owned(), |text, (said, instead)| text.replace(said, instead));
    // What stands between two marks is every second part.
    let parts = text.split('`').enumerate().map(|(index, part)| match index % 2 {
        0 => part.to_owned(),
        _ if FLAGS.contains(&part) => format!("--{part}"),
        _ if part == "columns" => "--column".to_owned(),
        _ if part.starts_with("columns.") && !part.contains(' ') => {
            format!("--column {}=", part.trim_start_matches("columns."))
        }
        _ => flag(part).unwrap_or_else(|| part.to_owned()),
    });
    parts.collect::<Vec<_>>().join("`")
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
            ("which: `columns.time = \"at\"`", "which: `--column time=at`"),
            ("no setting = here", "no setting = here"),
            ("leave `order` out of `orders`", "leave `--order` out of `orders`"),
            ("`columns.time` has no effect", "`--column time=` has no effect"),
            (
                "are all times right? `duration` or a filter by time can leave some out",
                "are all times right? `--where time=FROM..TO` can leave some out",
            ),
            ("`never closed", "`never closed"),
        ] {
            assert_eq!(flags(text), right);
        }
    }

    #[test]
    fn a_column_is_said_once_of_a_field_that_there_is() {
        let check = |columns: &[(&str, &str)]| {
            let columns = columns.iter().map(|(field, column)| ((*field).into(), (*column).into()));
            let logs = Logs { columns: columns.collect(), ..Logs::new(vec!["a.log".into()]) };
            logs.check().map_err(|error| error.render(false))
        };
        assert_eq!(check(&[("time", "a"), ("user", "b"), ("duration", "c")]), Ok(()));
        let twice = check(&[("time", "a"), ("time", "b")]).unwrap_err();
        assert!(twice.contains("says twice where `time` stands: in `a` and in `b`"), "{twice}");
        let unknown = check(&[("tiem", "a")]).unwrap_err();
        assert!(unknown.contains("no field `tiem`") && unknown.contains("`time`"), "{unknown}");
    }

    #[test]
    fn mistakes_that_differ_in_their_times_alone_are_told_once() {
        let problem = |second: &str| {
            Problem::new(format!("the run from 10:00:0{second} is longer than 250 years")).help("h")
        };
        let Error::Input(told) =
            as_flags(Error::Input(vec![problem("1"), problem("2.5"), Problem::new("x")]))
        else {
            unreachable!("they are mistakes of the user")
        };
        assert_eq!(told.len(), 2);
    }

    #[test]
    fn what_was_left_out_is_not_there() {
        let logs = Logs::new(vec!["a.log".into()]);
        let short = "kind = \"log\"\npath = \"a.log\"\nclient = \"address\"\n";
        assert_eq!(logs.traffic().unwrap().to_string(), short);
        assert_eq!(logs.flags(), ["a.log"]);
        let logs = Logs {
            key: Key::parse("address/24+user").unwrap(),
            filters: vec![Filter::parse("status=4xx").unwrap()],
            format: crate::log::format::named("csv"),
            columns: vec![("time".to_owned(), "at".to_owned())],
            delimiter: Some(b';'),
            zone: Some(Zone::parse("Europe/Berlin").unwrap()),
            arrival: Some(Arriving::End),
            order: Some(Order::File),
            strict: true,
            ..Logs::new(vec!["a.log".into(), "-".into()])
        };
        insta::assert_snapshot!(logs.traffic().unwrap().to_string());
        insta::assert_snapshot!(logs.flags().join(" "));
        assert_eq!(logs.names(), "a.log and 1 more");
        let reading = logs.reading(vec![Field::User], 2);
        assert_eq!(reading.layout.time.unwrap().name, "at");
        assert!(reading.layout.columns.is_empty() && reading.stamps == Some(Stamps::End));
    }
}
