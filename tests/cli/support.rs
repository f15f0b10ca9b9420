//! A folder for a test, the program run in it, and readers of what came out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;

/// Everything under a folder: paths from there, with `/` between folders, and contents. Folders that
/// are empty are there, too, with a `/` at the end.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A folder in which the program runs.
pub struct Bench {
    folder: TempDir,
}

impl Bench {
    /// An empty one.
    pub fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    /// One with a file.
    pub fn with(name: &str, text: impl AsRef<[u8]>) -> Bench {
        Bench::new().file(name, text)
    }

    /// The same with another file; folders are made as needed.
    pub fn file(self, name: &str, text: impl AsRef<[u8]>) -> Bench {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Where a file of it is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program, about to run in the folder, with nothing of the caller's environment that could
    /// change its output.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ratesim"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program to its end.
    pub fn ratesim(&self, arguments: &[&str]) -> Outcome {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs the program, which must end well without a message. What it printed.
    #[track_caller]
    pub fn prints(&self, arguments: &[&str]) -> String {
        let outcome = self.ratesim(arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{arguments:?}\n{outcome}");
        outcome.stdout
    }

    /// Runs the program, which must refuse its input: exit code 2, a message, and nothing printed or
    /// written. The message.
    #[track_caller]
    pub fn refuses(&self, arguments: &[&str]) -> String {
        let before = self.files();
        let outcome = self.ratesim(arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}\n{outcome}");
        assert!(outcome.stderr.starts_with("error: "), "{arguments:?}\n{outcome}");
        assert_same(&before, &self.files());
        outcome.stderr
    }

    /// All files of it.
    pub fn files(&self) -> Files {
        files_under(self.folder.path())
    }

    /// All files of one of its folders.
    pub fn files_of(&self, folder: &str) -> Files {
        files_under(&self.path(folder))
    }

    /// A text file of it.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|cause| panic!("{name}: {cause}"))
    }

    /// A table of it.
    pub fn sheet(&self, name: &str) -> Sheet {
        Sheet::parse(self.read(name).as_bytes())
    }

    /// The `run.json` of a scenario.
    pub fn record(&self, scenario: &str) -> Json {
        serde_json::from_str(&self.read(&format!("output/{scenario}/run.json"))).unwrap()
    }
}

/// Runs a scenario text in a folder of its own (without charts) and gives that folder.
#[track_caller]
pub fn simulated(name: &str, text: &str) -> Bench {
    let bench = Bench::with("it.toml", text);
    let printed = bench.prints(&["run", "it.toml", "--no-charts", "--quiet"]);
    assert_eq!(printed, "", "{name}");
    bench
}

/// The `summary.csv` of a scenario text named `name`.
#[track_caller]
pub fn summary(name: &str, text: &str) -> Sheet {
    simulated(name, text).sheet(&format!("output/{name}/summary.csv"))
}

/// Says that a test could not be made here, past the capture of what tests print.
pub fn skipped(why: &str) {
    std::io::stderr().write_all(format!("skipped: {why}\n").as_bytes()).unwrap();
}

/// Whether two sets of files are the same; says which differ.
#[track_caller]
pub fn assert_same(left: &Files, right: &Files) {
    let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let differing: Vec<_> =
        names.into_iter().filter(|&name| left.get(name) != right.get(name)).collect();
    assert!(differing.is_empty(), "these files differ: {differing:#?}");
}

/// All files under a folder.
pub fn files_under(root: &Path) -> Files {
    fn visit(folder: &Path, root: &Path, into: &mut Files) {
        let mut empty = true;
        for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            empty = false;
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => visit(&path, root, into),
                false => drop(into.insert(relative(&path, root), fs::read(&path).unwrap())),
            }
        }
        if empty && folder != root {
            into.insert(format!("{}/", relative(folder, root)), Vec::new());
        }
    }
    fn relative(path: &Path, root: &Path) -> String {
        let inside = path.strip_prefix(root).unwrap();
        let parts = inside.components().map(|part| part.as_os_str().to_string_lossy());
        parts.collect::<Vec<_>>().join("/")
    }
    let mut files = Files::new();
    visit(root, root, &mut files);
    files
}

/// How the program ended and what it said.
pub struct Outcome {
    /// Its exit code; -1 if a signal ended it.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// Its messages.
    pub stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Outcome {
        Outcome {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { code, stdout, stderr } = self;
        write!(formatter, "exit code {code}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

/// A CSV file with a heading.
pub struct Sheet {
    headers: Vec<String>,
    /// The rows, by name of column.
    pub rows: Vec<BTreeMap<String, String>>,
}

impl Sheet {
    /// Reads one.
    pub fn parse(bytes: &[u8]) -> Sheet {
        let mut reader = csv::Reader::from_reader(bytes);
        let headers: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let row = |record: csv::StringRecord| {
            headers.iter().cloned().zip(record.iter().map(str::to_owned)).collect()
        };
        let rows = reader.records().map(|record| row(record.unwrap())).collect();
        Sheet { headers, rows }
    }

    /// The names of its columns.
    pub fn headers(&self) -> &[String] {
        &self.headers
    }

    /// The rows that have these cells.
    pub fn rows_with(&self, cells: &[(&str, &str)]) -> Vec<&BTreeMap<String, String>> {
        let has = |row: &BTreeMap<String, String>| {
            cells.iter().all(|(column, cell)| row.get(*column).is_some_and(|found| found == cell))
        };
        self.rows.iter().filter(|row| has(row)).collect()
    }

    /// A cell of the one row that has these cells.
    #[track_caller]
    pub fn cell(&self, of: &[(&str, &str)], column: &str) -> &str {
        let [row] = self.rows_with(of)[..] else { panic!("not one row with {of:?}") };
        row.get(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    /// The cell of an algorithm's one row.
    #[track_caller]
    pub fn of(&self, algorithm: &str, column: &str) -> &str {
        self.cell(&[("algorithm", algorithm)], column)
    }

    /// The cells of some columns of an algorithm's one row.
    #[track_caller]
    pub fn cells<const N: usize>(&self, algorithm: &str, columns: [&str; N]) -> [&str; N] {
        columns.map(|column| self.of(algorithm, column))
    }

    /// A column with the algorithm of each row, as `name cell`, in the order of the rows.
    pub fn column(&self, column: &str) -> Vec<String> {
        self.rows.iter().map(|row| format!("{} {}", row["algorithm"], row[column])).collect()
    }
}

/// A full quota on each side of a minute edge: 200 requests under a limit of 100 per 60 s.
pub const BOUNDARY: &str = r#"name = "boundary"
about = "A full quota on each side of a minute edge."
start = "12:00:00"
duration = "3m"

[limit]
requests = 100
per = "60s"

[[traffic]]
kind = "burst"
at = "59s"
requests = 100

[[traffic]]
kind = "burst"
at = "60s"
over = "1s"
requests = 100

[[expect]]
algorithm = "fixed-window"
metric = "over_limit"
is = 100
"#;

/// Random traffic of several clients, in two cases, under two limits.
pub const VARIED: &str = r#"name = "varied"
duration = "30s"
seed = 7

[[limit]]
name = "each"
requests = 8
per = "2s"

[[limit]]
name = "all"
requests = 60
per = "10s"
key = "everything"

[[traffic]]
kind = "poisson"
clients = 5
rate = "12/s"

[[traffic]]
kind = "burst"
at = "9s"
over = "2s"
requests = 40
cost = 2

[[case]]
name = "as it is"

[[case]]
name = "half"
set.limit.0.requests = 4
"#;
