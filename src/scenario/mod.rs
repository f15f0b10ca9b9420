//! A scenario file as plain data: what to compare, over which traffic, against which limits.
//!
//! [`Scenario::load`] reads a file, applies `--set` and what each `[[case]]` and each combination of the
//! `[matrix]` changes, and reports every problem at once. Tables that belong to a registry of another layer (`[[traffic]]`,
//! `[[algorithm]]`) stay nodes; the layer that owns the registry reads them.

mod case;
mod expect;
mod fleet;
mod key;
mod limit;
mod matrix;
mod overlap;
mod replication;
mod variation;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Place, Problem, Problems, Source};
use crate::params::{Field, Node, Params};

use matrix::Matrix;
use replication::Replication;
use variation::{Argument, Variation};

pub use case::{Case, Combine, Trigger};
pub use expect::{Bound, Expect, Subject};
pub use fleet::Fleet;
pub use key::{Attribute, Key};
pub use limit::{Counts, LimitSpec, Tier};

/// A scenario file.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name, which is also that of its output folder.
    pub name: String,
    /// Where the name stands.
    pub name_place: Place,
    /// What it shows, one or two sentences.
    pub about: String,
    /// The file.
    pub path: PathBuf,
    /// Its variations; a file without `[[case]]` and `[matrix]` has one whose name is empty.
    pub cases: Vec<Case>,
    /// Whether all cases could be made; if not, a name that none of them has may be right.
    pub all_cases: bool,
    /// How many runs there are of each case, at least one, each under a seed of its own.
    pub replicas: u32,
    /// The position of the case that the others are compared with.
    pub baseline: usize,
    /// What it must show.
    pub expects: Vec<Expect>,
}

/// What the command line changes in a scenario.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Dotted paths with their values, as of `--set path=value`.
    pub set: Vec<(String, String)>,
    /// The seed, as of `--seed`.
    pub seed: Option<u64>,
    /// The number of replicas, as of `--replicas`.
    pub replicas: Option<u32>,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// Every problem of the file, or that it cannot be read.
    pub fn load(path: &Path, changes: &Changes) -> Result<Scenario, Error> {
        let problems = Problems::new();
        let scenario = Scenario::open(path, changes, &problems);
        complete(scenario, problems)
    }

    /// Reads the text of a file that stands at `path`.
    ///
    /// # Errors
    /// Every problem of the text.
    pub fn parse(path: &Path, text: String, changes: &Changes) -> Result<Scenario, Error> {
        let problems = Problems::new();
        let scenario = read_text(path, text, changes, &problems);
        complete(scenario, problems)
    }

    /// Reads a file as far as it goes: with problems, something stands in for what could not be read,
    /// so that whoever reads its other tables can add the problems of those. `None` where the file
    /// cannot be read at all or is not TOML.
    pub fn open(path: &Path, changes: &Changes, problems: &Problems) -> Option<Scenario> {
        let name = path.display().to_string();
        let bytes = match read_file(path) {
            Ok(bytes) => bytes,
            Err(problem) => {
                problems.add(problem);
                return None;
            }
        };
        match String::from_utf8(bytes) {
            Ok(text) => read_text(path, text, changes, problems),
            Err(cause) => {
                let at = cause.utf8_error().valid_up_to();
                let message = format!("`{name}` is not a text file (byte {at} is not UTF-8)");
                // What comes before that byte is text, and shows where it stands.
                let text = String::from_utf8_lossy(&cause.as_bytes()[..at]).into_owned();
                let place = Place { source: Arc::new(Source { name, text }), span: at..at };
                problems.add(Problem::at(&place, message).help("a scenario is a TOML file"));
                None
            }
        }
    }

    /// The settings of a scenario file, for the JSON Schema and the reference. `algorithm` and
    /// `traffic` give the schemas of the tables that other layers read.
    pub fn fields(algorithm: &serde_json::Value, traffic: &serde_json::Value) -> Vec<Field> {
        Params::describe(|params| {
            read_document(params, "", algorithm, traffic);
        })
    }
}

/// A scenario file may have so many bytes.
const MOST_BYTES: u64 = 16 << 20;

/// The bytes of a scenario file. What is no regular file may have no end, or wait for ever for one.
fn read_file(path: &Path) -> Result<Vec<u8>, Problem> {
    let name = path.display();
    let failed = |cause| Problem::new(format!("cannot read the scenario `{name}`: {cause}"));
    let kind = path.metadata().map_err(failed)?.file_type();
    if kind.is_dir() {
        return Err(Problem::new(format!("the scenario `{name}` is a folder"))
            .help("name a file in it, or use `ratesim check` for all of them"));
    }
    if !kind.is_file() {
        return Err(Problem::new(format!("the scenario `{name}` is not a regular file"))
            .help("write the scenario to a file first"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("the scenario `{name}` is larger than 16 MiB");
        return Err(Problem::new(message).help("a scenario is a TOML file of a few lines"));
    }
    Ok(bytes)
}

/// A scenario without problems.
fn complete(scenario: Option<Scenario>, problems: Problems) -> Result<Scenario, Error> {
    problems.into_result()?;
    scenario.ok_or_else(|| Error::failed("read the scenario", "there is none"))
}

fn read_text(
    path: &Path,
    text: String,
    changes: &Changes,
    problems: &Problems,
) -> Option<Scenario> {
    // A byte order mark is no part of the text; some editors leave one.
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    let empty =
        text.lines().all(|line| matches!(line.trim_start().chars().next(), None | Some('#')));
    let source = Arc::new(Source { name: path.display().to_string(), text });
    let syntax = Problems::new();
    let mut root = Node::parse(Arc::clone(&source), &syntax);
    if empty {
        let message = "the scenario is empty";
        let help = "`ratesim new NAME` writes one to start from";
        syntax.add(Problem::at(&root.place, message).help(help));
    }
    if !syntax.is_empty() {
        problems.take(syntax);
        return None;
    }
    let mut arguments = Vec::new();
    for (path, value) in &changes.set {
        if let Err(problem) = root.set(path, value) {
            problems.add(problem);
        }
        arguments.push(Argument::new(format!("--set {path}={value}"), path, value));
    }
    let seed = changes.seed.map(|seed| ("seed", seed.to_string()));
    let replicas = changes.replicas.map(|replicas| ("replicas", replicas.to_string()));
    for (name, value) in [seed, replicas].into_iter().flatten() {
        if let Err(problem) = root.set(name, &value) {
            problems.add(problem);
        }
        arguments.push(Argument::new(format!("--{name} {value}"), name, &value));
    }
    Some(read(&root, path, &arguments, problems))
}

/// All that a document says.
struct Document {
    name: Option<String>,
    about: String,
    /// The case that the document describes if nothing varies it.
    case: Case,
    variations: Vec<Variation>,
    matrix: Matrix,
    replication: Replication,
    expects: Vec<Expect>,
}

/// Reads a document, of which only what belongs to a case may differ from case to case. `algorithm` and
/// `traffic` are the schemas of the tables that other layers read.
fn read_document(
    params: &mut Params,
    case: &str,
    algorithm: &serde_json::Value,
    traffic: &serde_json::Value,
) -> Document {
    let (name, about) = case::read_header(params);
    let case = case::read(params, case, algorithm, traffic);
    let variations = params.tables("case", variation::MEANING, variation::read_variation);
    let matrix = matrix::read(params);
    let replication = replication::read(params);
    let expects = params.tables("expect", expect::MEANING, expect::read);
    let variations = variations.into_iter().flatten().collect();
    let expects = expects.into_iter().flatten().collect();
    Document { name, about, case, variations, matrix, replication, expects }
}

fn read(root: &Node, path: &Path, arguments: &[Argument], problems: &Problems) -> Scenario {
    let any = serde_json::json!({ "type": "object" });
    let mut params = Params::new(root, problems);
    let Document { name, about, case, variations, matrix, replication, expects } =
        read_document(&mut params, "", &any, &any);
    let name_place = params.place_of("name");
    let mut resolved = params.finish().resolved;
    for name in ["matrix", "replicas", "baseline"] {
        resolved.shift_remove(name);
    }
    let (variations, all_cases) = matrix.cross(variations, problems);
    let cases = if variations.is_empty() {
        vec![case.with_resolved(resolved)]
    } else {
        variation::vary(root, &variations, arguments, problems)
    };
    let baseline = replication.baseline(&cases, all_cases, problems);
    Scenario {
        name: name.unwrap_or_default(),
        name_place,
        about,
        path: path.to_owned(),
        cases,
        all_cases,
        replicas: replication.replicas,
        baseline,
        expects,
    }
}
