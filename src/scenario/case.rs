//! One variation of a scenario with all its settings.

use serde_json::{Map, Value as Json};

use super::limit::{self, LimitSpec};
use crate::error::{Place, Problem, Problems};
use crate::params::{Choice, Entry, Node, Params, Value};
use crate::seed::Seed;
use crate::time::{Instant, Span};

/// One variation of a scenario.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name; empty where the scenario has no `[[case]]`.
    pub name: String,
    /// What the clocks show at t = 0; by default the first recorded request, or midnight.
    pub start: Option<Instant>,
    /// How long it runs; by default to the end of the recorded requests.
    pub duration: Option<Span>,
    /// What all random numbers derive from.
    pub seed: Seed,
    /// More requests than this are refused before the run.
    pub max_requests: u64,
    /// A run that may need more memory than this for one algorithm is refused.
    pub max_memory_mib: u64,
    /// How several limits act together.
    pub combine: Combine,
    /// The limits, at least one.
    pub limits: Vec<LimitSpec>,
    /// The sources of traffic, as nodes for the traffic layer.
    pub traffic: Vec<Node>,
    /// The algorithms, as nodes for the algorithm layer; none means all with their defaults.
    pub algorithms: Vec<Node>,
    /// All settings with their defaults, except those of `traffic` and `algorithm`.
    pub resolved: Map<String, Json>,
    /// The top of the file, for problems that stand nowhere else.
    pub place: Place,
}

/// How several limits act together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// An attempt is charged to every limit, or to none if one refuses.
    AllOrNothing,
    /// Limits are asked in order; those before the one that refuses stay charged.
    Sequential,
    /// Every limit decides and charges for itself, whatever the others say.
    Independent,
}

impl Choice for Combine {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("all-or-nothing", Combine::AllOrNothing, "charged to every limit, or to none"),
        ("sequential", Combine::Sequential, "limits before the one that refuses stay charged"),
        ("independent", Combine::Independent, "every limit charges whatever the others say"),
    ];
}

/// A `[[case]]`: a name and what it changes.
pub(super) struct Variation {
    name: String,
    place: Place,
    set: Vec<Setting>,
}

struct Setting {
    path: String,
    place: Place,
    node: Node,
}

pub(super) const CASE_MEANING: &str =
    "A named variation: the scenario with some settings changed. The table compares them.";

/// Reads what belongs to the scenario rather than to a case.
pub(super) fn read_header(params: &mut Params) -> (Option<String>, String) {
    let name: Option<String> = params.required(
        "name",
        "The scenario's name: small letters, digits, `-` and `/`; also its output folder.",
    );
    let about = params.or("about", String::new(), "What it shows, one or two sentences.");
    let name = name.filter(|name| {
        let parts_good = name.split('/').all(|part| {
            !part.is_empty()
                && part.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
                && part.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
        });
        params.require(
            "name",
            parts_good && name.len() <= 100,
            format!("`{name}` cannot name a folder"),
            "use small letters, digits, `-` and `_`, and `/` between folders",
        )
    });
    (name, about)
}

/// Reads the settings of a case. `None` after a problem was reported.
pub(super) fn read(
    params: &mut Params,
    name: &str,
    algorithm: &Json,
    traffic: &Json,
) -> Option<Case> {
    let start = params.optional(
        "start",
        "What the clocks show at t = 0. By default the first recorded request, or midnight.",
    );
    let duration: Option<Span> = params
        .optional("duration", "How long it runs. By default to the end of the recorded requests.");
    params.require(
        "duration",
        duration != Some(Span::ZERO),
        "a run of no time at all",
        "write a span such as \"3m\"",
    );
    let seed = Seed(params.or("seed", 1_u64, "What all random numbers derive from."));
    let max_requests = params.or(
        "max-requests",
        1_000_000_000_u64,
        "A run that may have more requests than this is refused before it starts.",
    );
    let max_memory_mib = params.or(
        "max-memory-mib",
        8192_u64,
        "A run that may need more memory than this for one algorithm is refused, in MiB.",
    );
    let combine = params.or("combine", Combine::AllOrNothing, "How several limits act together.");
    let limits = limit::read_all(params);
    let traffic = params.raw_tables("traffic", TRAFFIC_MEANING, traffic.clone());
    let algorithms = params.raw_tables("algorithm", ALGORITHM_MEANING, algorithm.clone());
    if traffic.is_empty() {
        let help = "add a table [[traffic]] with a `kind`; see `ratesim list traffic`";
        params.problems().add(Problem::at(params.place(), "there is no traffic").help(help));
    }
    Some(Case {
        name: name.to_owned(),
        start,
        duration,
        seed,
        max_requests,
        max_memory_mib,
        combine,
        limits: limits?,
        traffic: traffic.into_iter().cloned().collect(),
        algorithms: algorithms.into_iter().cloned().collect(),
        resolved: Map::new(),
        place: params.place().clone(),
    })
}

const TRAFFIC_MEANING: &str = "A source of requests; any number, merged in time order.";
const ALGORITHM_MEANING: &str =
    "An algorithm to compare, with its options. Left out: all of them with their defaults.";

impl Case {
    pub(super) fn with_resolved(self, resolved: Map<String, Json>) -> Case {
        Case { resolved, ..self }
    }
}

/// Reads one `[[case]]`.
pub(super) fn read_variation(params: &mut Params) -> Option<Variation> {
    let name: Option<String> = params.required("name", "The name of the case.");
    let place = params.place_of("name");
    let mut set = Vec::new();
    params.entries(
        "set",
        "What it changes: dotted paths with their values, such as `limit.requests = 50`; \
         positions in a list count from 0.",
        |entry, _| {
            flatten("", entry, &mut set);
            Some(((), Json::Null))
        },
        serde_json::json!({}),
    );
    set.retain(|setting| {
        let first = setting.path.split('.').next().unwrap_or("");
        let changes = !matches!(first, "name" | "about" | "case" | "expect");
        if !changes {
            let message = format!("a case cannot change `{first}`");
            params.problems().add(Problem::at(&setting.place, message));
        }
        changes
    });
    Some(Variation { name: name?, place, set })
}

/// The settings of nested tables, each with its dotted path; a key that is a path already sets the
/// whole value.
fn flatten(prefix: &str, entry: &Entry, set: &mut Vec<Setting>) {
    let path = format!("{prefix}{}", entry.key);
    match &entry.node.value {
        Value::Table(table) if !entry.key.contains('.') => {
            for inner in &table.entries {
                flatten(&format!("{path}."), inner, set);
            }
        }
        _ => set.push(Setting { path, place: entry.place.clone(), node: entry.node.clone() }),
    }
}

/// The cases that the variations make of a document.
pub(super) fn vary(root: &Node, variations: &[Variation], problems: &Problems) -> Vec<Case> {
    let any = serde_json::json!({ "type": "object" });
    let mut cases: Vec<Case> = Vec::new();
    for variation in variations {
        if cases.iter().any(|case| case.name == variation.name) {
            let message = format!("two cases are named `{}`", variation.name);
            problems.add(Problem::at(&variation.place, message));
            continue;
        }
        let mut root = root.clone();
        for setting in &variation.set {
            if let Err(problem) = root.replace(&setting.path, &setting.place, setting.node.clone())
            {
                problems.add(problem);
            }
        }
        let mut params = Params::new(&root, problems);
        read_header(&mut params);
        let case = read(&mut params, &variation.name, &any, &any);
        params.tables("case", "", |inner| {
            read_variation(inner);
        });
        params.tables("expect", "", |inner| {
            super::expect::read(inner);
        });
        let mut resolved = params.finish().resolved;
        resolved.shift_remove("case");
        resolved.shift_remove("expect");
        cases.extend(case.map(|case| case.with_resolved(resolved)));
    }
    cases
}
