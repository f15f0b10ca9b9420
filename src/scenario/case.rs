//! One variation of a scenario with all its settings.

use serde_json::{Map, Value as Json};

use super::fleet::{self, Fleet};
use super::limit::{self, LimitSpec};
use crate::client::{self, Clients};
use crate::error::{Place, Problem, Problems};
use crate::params::{Choice, Node, Params};
use crate::seed::Seed;
use crate::server::{self, BackendSpec, Rejection};
use crate::time::{Instant, Span};

/// One variation of a scenario.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name; empty where the scenario has neither `[[case]]` nor `[matrix]`.
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
    /// The servers that decide and their store; `None` where one decides, whose clock is right.
    pub fleet: Option<Fleet>,
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
    /// What a reader of the results must know of how it came about, one sentence each.
    pub notes: Vec<String>,
}

impl Case {
    /// Whether clients react to answers, or work takes time.
    pub fn is_closed_loop(&self) -> bool {
        !self.clients.are_plain() || self.backend.is_some()
    }

    /// Reports what would happen only after a run of this length.
    pub fn check_within(&self, duration: Span, problems: &Problems) {
        if let Some(backend) = &self.backend {
            backend.check_within(duration, problems);
        }
        if let Some(fleet) = &self.fleet {
            fleet.check_within(duration, problems);
        }
        if let Some(Trigger { at, place, .. }) = &self.trigger
            && *at >= duration
        {
            let message = "this trigger begins when the run is over";
            let help = format!("the run lasts {duration}, and `at` counts from its start");
            problems.add(Problem::at(place, message).help(help));
        }
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
         as many algorithms, of all replicas, as fit into it run at a time.",
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
    let fleet = fleet::read(params, limits.len());
    let trigger = params.optional_table("trigger", TRIGGER_MEANING, Trigger::read);
    let traffic = params.raw_tables("traffic", TRAFFIC_MEANING, traffic.clone());
    let algorithms = params.raw_tables("algorithm", ALGORITHM_MEANING, algorithm.clone());
    if traffic.is_empty() {
        let help = "add a table [[traffic]] with a `kind`; see `ratesim list traffic`";
        params.problems().add(Problem::at(params.place(), "there is no traffic").help(help));
    }
    let case = Case {
        name: name.to_owned(),
        start,
        start_place,
        duration,
        duration_place,
        seed,
        max_requests,
        max_memory_mib,
        max_attempts: max_attempts.unwrap_or(MAX_ATTEMPTS),
        combine,
        limits,
        clients: clients.unwrap_or_default(),
        rejection: rejection.unwrap_or_default(),
        backend,
        fleet,
        trigger: trigger.flatten(),
        traffic: traffic.into_iter().cloned().collect(),
        algorithms: algorithms.into_iter().cloned().collect(),
        resolved: Map::new(),
        place: params.place().clone(),
        notes: Vec::new(),
    };
    if let Some(duration) = stated {
        case.check_within(duration, params.problems());
    }
    case
}

/// Without `max-attempts`, which says so too. It is no default that every scenario's settings show, because it
/// means something only where clients retry.
const MAX_ATTEMPTS: u64 = 1_000_000_000;

const TRIGGER_MEANING: &str = "What the run recovers from, for `recovery_s`. Left out: the brown-outs of the backend, else the outages of \
     the store.";

/// A disturbance from which a run may or may not recover.
#[derive(Debug, Clone)]
pub struct Trigger {
    /// When it begins, from the start of the run.
    pub at: Span,
    /// How long it lasts; not zero.
    pub lasts: Span,
    /// For problems with it.
    pub place: Place,
}

impl Trigger {
    fn read(params: &mut Params) -> Option<Trigger> {
        let at = params.required("at", "When it begins, from the start of the run.");
        let lasts = params.required("for", "How long it lasts.");
        let place = params.place_of("at");
        let trigger = Trigger { at: at?, lasts: lasts?, place };
        let lasts = params.require(
            "for",
            trigger.lasts != Span::ZERO,
            "a trigger that lasts no time at all",
            "write a span such as \"10s\"",
        );
        lasts.then_some(trigger)
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

#[cfg(test)]
mod tests {
    use crate::scenario::{Changes, Scenario};
    use std::path::Path;

    const BASE: &str = "name = \"t\"\nduration = \"1m\"\nlimit = \"10/60s\"\n\
                        [[traffic]]\nkind = \"burst\"\nrequests = 1\n";

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
