//! One variation of a scenario with all its settings.

use serde_json::{Map, Value as Json};

use super::limit::{self, LimitSpec};
use crate::client::{self, Clients};
use crate::error::{Place, Problem, Problems};
use crate::params::{Choice, Entry, Node, Params};
use crate::seed::Seed;
use crate::server::{self, BackendSpec, Rejection};
use crate::time::{Instant, Span};

/// One variation of a scenario.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name; empty where the scenario has no `[[case]]`.
    pub name: String,
    /// What the clocks show at t = 0; by default the first recorded request, or midnight.
    pub start: Option<Instant>,
    /// Where that stands.
    pub start_place: Place,
    /// How long it runs; by default to the end of the recorded requests.
    pub duration: Option<Span>,
    /// Where that stands.
    pub duration_place: Place,
    /// What all random numbers derive from.
    pub seed: Seed,
    /// More requests than this are refused before the run.
    pub max_requests: u64,
    /// A run that may need more memory than this for one algorithm is refused.
    pub max_memory_mib: u64,
    /// A closed loop in which clients make more attempts under one algorithm is stopped.
    pub max_attempts: u64,
    /// How several limits act together.
    pub combine: Combine,
    /// The limits, at least one.
    pub limits: Vec<LimitSpec>,
    /// What clients do with the answers they get.
    pub clients: Clients,
    /// What a rejection tells them.
    pub rejection: Rejection,
    /// What does the work; `None` if it takes no time.
    pub backend: Option<BackendSpec>,
    /// What a run recovers from, as a span from its start, where the scenario says so.
    pub trigger: Option<Trigger>,
    /// The sources of traffic, as nodes for the traffic layer.
    pub traffic: Vec<Node>,
    /// The algorithms, as nodes for the algorithm layer; none means all with their defaults.
    pub algorithms: Vec<Node>,
    /// All settings with their defaults, except those of `traffic` and `algorithm`.
    pub resolved: Map<String, Json>,
    /// The top of the file, for problems that stand nowhere else.
    pub place: Place,
}

impl Case {
    /// Whether clients react to answers, or work takes time.
    pub fn is_closed_loop(&self) -> bool {
        !self.clients.are_plain() || self.backend.is_some()
    }
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
    set: Vec<Entry>,
}

pub(super) const CASE_MEANING: &str =
    "A named variation: the scenario with some settings changed. The table compares them.";

/// Reads what belongs to the scenario rather than to a case.
pub(super) fn read_header(params: &mut Params) -> (Option<String>, String) {
    let name: Option<String> = params.required(
        "name",
        "The scenario's name: small letters, digits, `-`, `_` and `/`; also its output folder.",
    );
    let about = params.or("about", String::new(), "What it shows, one or two sentences.");
    let name = name.filter(|name| {
        let chartless = name.split('/').all(|part| part != "charts");
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
        ) && params.require(
            "name",
            chartless,
            format!("`{name}` has a part that is `charts`, where other scenarios put theirs"),
            "use another word",
        )
    });
    (name, about)
}

/// Reads the settings of a case. Something stands in for what could not be read, so that whoever
/// reads the other tables of the case can report their problems too.
pub(super) fn read(params: &mut Params, name: &str, algorithm: &Json, traffic: &Json) -> Case {
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
    let stated = duration.filter(|&duration| duration > Span::ZERO);
    let stand_in = Span::from_nanos(1);
    let duration = params.has("duration").then(|| duration.unwrap_or(stand_in).max(stand_in));
    let [start_place, duration_place] = ["start", "duration"].map(|name| params.place_of(name));
    let seed = Seed(params.or("seed", 1_u64, "What all random numbers derive from."));
    let max_requests = params.or(
        "max-requests",
        1_000_000_000_u64,
        "A run that may have more requests than this is refused before it starts.",
    );
    let max_memory_mib = params.or(
        "max-memory-mib",
        8192_u64,
        "A run that may need more memory than this for one algorithm is refused, in MiB. At most \
         as many algorithms as fit into it run at a time.",
    );
    let max_attempts = params.optional(
        "max-attempts",
        "A run in which clients that retry make more attempts than this under one algorithm is \
         stopped. By default 1000000000.",
    );
    let combine = params.or("combine", Combine::AllOrNothing, "How several limits act together.");
    let limits = limit::read_all(params);
    let clients = params.optional_table("clients", client::MEANING, Clients::read);
    let rejection = params.optional_table("rejection", server::REJECTION_MEANING, Rejection::read);
    let backend = params.optional_table("backend", server::BACKEND_MEANING, BackendSpec::read);
    if let (Some(backend), Some(duration)) = (&backend, stated) {
        backend.check_within(duration, params.problems());
    }
    let trigger = params.optional_table("trigger", TRIGGER_MEANING, Trigger::read);
    let traffic = params.raw_tables("traffic", TRAFFIC_MEANING, traffic.clone());
    let algorithms = params.raw_tables("algorithm", ALGORITHM_MEANING, algorithm.clone());
    if traffic.is_empty() {
        let help = "add a table [[traffic]] with a `kind`; see `ratesim list traffic`";
        params.problems().add(Problem::at(params.place(), "there is no traffic").help(help));
    }
    Case {
        name: name.to_owned(),
        start,
        start_place,
        duration,
        duration_place,
        seed,
        max_requests,
        max_memory_mib,
        max_attempts: max_attempts.unwrap_or(1_000_000_000),
        combine,
        limits,
        clients: clients.unwrap_or_default(),
        rejection: rejection.unwrap_or_default(),
        backend,
        trigger: trigger.flatten(),
        traffic: traffic.into_iter().cloned().collect(),
        algorithms: algorithms.into_iter().cloned().collect(),
        resolved: Map::new(),
        place: params.place().clone(),
    }
}

const TRIGGER_MEANING: &str =
    "What the run recovers from, for `recovery_s`. Left out: the brown-outs of the backend.";

/// A disturbance from which a run may or may not recover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// When it begins, from the start of the run.
    pub at: Span,
    /// How long it lasts.
    pub lasts: Span,
}

impl Trigger {
    fn read(params: &mut Params) -> Option<Trigger> {
        let at = params.required("at", "When it begins, from the start of the run.");
        let lasts = params.required("for", "How long it lasts.");
        Some(Trigger { at: at?, lasts: lasts? })
    }
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
    let named = !name.as_deref().is_some_and(|name| name.trim().is_empty());
    params.require("name", named, "an empty name", "write a name for the case");
    let mut set = Vec::new();
    params.entries(
        "set",
        "What it changes: dotted paths with their values, such as `limit.requests = 50`; \
         positions in a list count from 0.",
        |entry, _| {
            set.push(entry.clone());
            Some(((), Json::Null))
        },
        serde_json::json!({}),
    );
    set.retain(|setting: &Entry| {
        let first = setting.key.split('.').next().unwrap_or("");
        let changes = !matches!(first, "name" | "about" | "case" | "expect");
        if !changes {
            let message = format!("a case cannot change `{first}`");
            params.problems().add(Problem::at(&setting.place, message));
        }
        changes
    });
    Some(Variation { name: name?, place, set })
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
            root.merge(setting, problems);
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
        cases.push(case.with_resolved(resolved));
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::scenario::{Attribute, Changes, Key, Scenario};
    use std::path::Path;

    const BASE: &str = "name = \"t\"\nduration = \"1m\"\n[limit]\nrequests = 10\nper = \"60s\"\n\
                        [[traffic]]\nkind = \"burst\"\nrequests = 1\n";

    fn read(cases: &str, changes: &Changes) -> Result<Vec<Case>, String> {
        let scenario = Scenario::parse(Path::new("t.toml"), format!("{BASE}{cases}"), changes);
        scenario.map(|scenario| scenario.cases).map_err(|error| error.render(false))
    }

    fn cases(text: &str) -> Vec<Case> {
        read(text, &Changes::default()).unwrap_or_else(|message| panic!("{message}"))
    }

    fn problem(text: &str) -> String {
        read(text, &Changes::default()).unwrap_err()
    }

    #[test]
    fn without_cases_there_is_one_without_a_name() {
        let cases = cases("");
        assert_eq!(cases.len(), 1);
        assert_eq!((cases[0].name.as_str(), cases[0].limits[0].limit.requests), ("", 10));
        assert_eq!(cases[0].resolved["seed"], 1);
    }

    #[test]
    fn a_case_changes_what_it_names_and_nothing_else() {
        let cases = cases(
            "[[case]]\nname = \"nested\"\nset = { limit = { requests = 20 }, seed = 7 }\n\
             [[case]]\nname = \"dotted\"\nset.limit.requests = 30\n\
             [[case]]\nname = \"path\"\nset.\"traffic.0.requests\" = 5\n\
             [[case]]\nname = \"whole\"\nset.\"limit\" = \"40/1s\"\n\
             [[case]]\nname = \"as it is\"\n",
        );
        let numbers: Vec<_> = cases
            .iter()
            .map(|case| (case.name.as_str(), case.limits[0].limit.requests, case.seed.0))
            .collect();
        assert_eq!(
            numbers,
            [
                ("nested", 20, 7),
                ("dotted", 30, 1),
                ("path", 10, 1),
                ("whole", 40, 1),
                ("as it is", 10, 1)
            ]
        );
        assert!(cases.iter().all(|case| case.duration == Some(Span::from_secs(60))));
        let Value::Table(traffic) = &cases[2].traffic[0].value else { panic!("a table") };
        assert_eq!(traffic.get("requests").unwrap().node.value, Value::Integer(5));
        assert_eq!(cases[3].limits[0].limit.per, Span::from_secs(1));
        assert!(!cases[0].resolved.contains_key("case"));
    }

    #[test]
    fn a_table_takes_the_place_of_what_is_none() {
        let cases = cases(
            "[[case]]\nname = \"absent\"\nset = { limit.key = { first-of = [\"tenant\"] } }\n\
             [[case]]\nname = \"text\"\n[case.set]\n\"limit.key\" = \"tier\"\n\
             limit.key.first-of = [\"tier\", \"tenant\"]\n\
             [[case]]\nname = \"list\"\nset.\"limit.key\" = [\"tier\"]\n\
             set.limit = { key = { first-of = [\"client\"] } }\n\
             [[case]]\nname = \"costs\"\n\
             set.traffic.0 = { endpoint = \"/a.b\", costs = { \"/a.b\" = 3 } }\n",
        );
        let keys: Vec<_> = cases.iter().map(|case| case.limits[0].key.clone()).collect();
        let expected = [
            Key::FirstOf(vec![Attribute::Tenant]),
            Key::FirstOf(vec![Attribute::Tier, Attribute::Tenant]),
            Key::FirstOf(vec![Attribute::Client]),
            Key::Each(vec![Attribute::Client]),
        ];
        assert_eq!(keys, expected);
        assert!(cases.iter().all(|case| case.limits[0].limit.requests == 10));
        let Value::Table(traffic) = &cases[3].traffic[0].value else { panic!("a table") };
        let Value::Table(costs) = &traffic.get("costs").unwrap().node.value else { panic!("too") };
        assert_eq!(costs.get("/a.b").unwrap().node.value, Value::Integer(3));
        assert!(traffic.get("requests").is_some());
    }

    #[test]
    fn a_case_has_a_name() {
        let shown = problem("[[case]]\nname = \" \"\n");
        assert!(shown.contains("an empty name") && shown.contains("t.toml:10:8"), "{shown}");
        assert_eq!(shown.matches("error").count(), 1, "{shown}");
    }

    #[test]
    fn the_command_line_changes_all_cases_and_a_case_has_the_last_word() {
        let set = vec![("limit.requests".to_owned(), "50".to_owned())];
        let changes = Changes { set, seed: Some(u64::MAX) };
        let text = "[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\nset.limit.requests = 20\n";
        let cases = read(text, &changes).unwrap();
        let numbers: Vec<_> =
            cases.iter().map(|case| (case.limits[0].limit.requests, case.seed.0)).collect();
        assert_eq!(numbers, [(50, u64::MAX), (20, u64::MAX)]);
    }

    #[test]
    fn a_change_that_leads_nowhere_is_a_problem_where_it_stands() {
        for (case, message, place) in [
            ("set.limit.reqests = 1", "unknown key `reqests`", "t.toml:11:11"),
            ("set.\"traffic.1.requests\" = 1", "`1` is no position in a list of 1", "t.toml:11:5"),
            ("set.\"duration.x\" = 1", "`x` cannot be set inside a text", "t.toml:11:5"),
            ("set.about = \"x\"", "a case cannot change `about`", "t.toml:11:5"),
            ("set.seed = -1", "`seed`: -1 is out of range", "t.toml:11:12"),
            ("set = 3", "`set` must be a table, not a whole number", "t.toml:11:7"),
        ] {
            let shown = problem(&format!("[[case]]\nname = \"a\"\n{case}\n"));
            assert!(shown.contains(message) && shown.contains(place), "{case}:\n{shown}");
            assert_eq!(shown.matches("error").count(), 1, "{case}:\n{shown}");
        }
        let twice = problem("[[case]]\nname = \"a\"\n[[case]]\nname = \"a\"\n");
        assert!(
            twice.contains("two cases are named `a`") && twice.contains("t.toml:12:8"),
            "{twice}"
        );
    }

    #[test]
    fn a_name_names_a_folder() {
        let named = |name: &str| {
            let text = BASE.replacen("\"t\"", &format!("\"{name}\""), 1);
            Scenario::parse(Path::new("t.toml"), text, &Changes::default()).is_ok()
        };
        assert!(["a", "worked/token-bucket", "a_1", "2024"].into_iter().all(named));
        let long = "a".repeat(101);
        let wrong = ["", "/", "a/", "/a", "a//b", "..", "../a", ".a", "-a", "A", "a b", "ä", &long];
        assert!(!wrong.into_iter().any(named));
    }
}
