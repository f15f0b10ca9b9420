//! The algorithms of a case, each with its options and the name it goes by.

use serde_json::{Value as Json, json};

use crate::algorithm::{self, ALGORITHMS, Kind};
use crate::error::{Error, Problem, Problems};
use crate::nodes::Placement;
use crate::params::{Node, Params, kind_schema};
use crate::rate::Limit;
use crate::scenario::{Case, Fleet, LimitSpec};
use crate::store::OnFailure;
use crate::time::Span;
use crate::world::{Limiters, Rules};

/// An algorithm of a case.
#[derive(Debug, Clone)]
pub struct Contender {
    /// The name it goes by in tables and files: its kind, unless the scenario gives it another.
    pub name: String,
    /// Its position in [`ALGORITHMS`].
    pub kind: usize,
    /// Its options with their defaults.
    pub resolved: Json,
    /// With whose decisions its own are compared; `None` for the sliding window log with its defaults.
    pub compared_with: Option<Box<Contender>>,
    table: Node,
}

const KIND: &str = "Which algorithm; see `ratesim list algorithms`.";
const NAME: &str = "The name it goes by in tables and files; by default its kind. Needed where a \
                    scenario has one kind twice.";

const COMPARED_WITH: &str = "The name of the algorithm of the case with whose decisions its own are compared, for \
                             `wrongly_allowed` and `wrongly_limited`; by default the sliding window log with its \
                             defaults.";

impl Contender {
    /// The algorithms that a case compares, in the order of the registry and of their names, so that
    /// the order in which a scenario lists them changes nothing; all with their defaults if it names
    /// none.
    pub fn of(case: &Case, problems: &Problems) -> Vec<Contender> {
        let limits = all_limits(case);
        if case.algorithms.is_empty() {
            return (0..ALGORITHMS.len())
                .filter_map(|kind| Contender::plain(kind, &limits, problems))
                .collect();
        }
        let mut contenders: Vec<Contender> = Vec::new();
        for table in &case.algorithms {
            let Some(contender) = Contender::read(table, &limits, problems) else { continue };
            if contenders.iter().any(|other| other.name == contender.name) {
                let message = format!("two algorithms are named `{}`", contender.name);
                let help = "give one of them a `name`";
                problems.add(Problem::at(&table.place, message).help(help));
            }
            contender.check_forgotten(case, problems);
            contenders.push(contender);
        }
        contenders.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        Contender::find_others(&mut contenders, case, problems);
        contenders
    }

    /// Finds the algorithms with which others are compared.
    fn find_others(contenders: &mut [Contender], case: &Case, problems: &Problems) {
        let (all, known) = (contenders.to_vec(), Problems::new());
        for contender in contenders {
            // Problems of the table are known by now.
            let mut params = Params::new(&contender.table, &known);
            let Some(name) = params.optional::<String>("compared-with", COMPARED_WITH) else {
                continue;
            };
            let place = params.place_of("compared-with");
            let other = all.iter().find(|other| other.name == name);
            if case.is_closed_loop() {
                let message = "decisions are not compared where clients react to them";
                problems.add(Problem::at(&place, message).help("leave `compared-with` out"));
            } else if other.is_none() {
                let known = all.iter().map(|other| other.name.as_str());
                problems.add(Problem::unknown(&place, "algorithm of this case", &name, known));
            }
            contender.compared_with = other.cloned().map(Box::new);
        }
    }

    /// An algorithm with its defaults.
    pub fn plain(kind: usize, limits: &[LimitSpec], problems: &Problems) -> Option<Contender> {
        let name = ALGORITHMS[kind].name.to_owned();
        Contender { name, kind, resolved: Json::Null, compared_with: None, table: Node::empty() }
            .checked(limits, problems)
    }

    fn read(table: &Node, limits: &[LimitSpec], problems: &Problems) -> Option<Contender> {
        let mut params = Params::new(table, problems);
        let name = params.required::<String>("kind", KIND)?;
        let Some(kind) = algorithm::position(&name) else {
            let known = ALGORITHMS.iter().map(|kind| kind.name);
            problems.add(Problem::unknown(&params.place_of("kind"), "algorithm", &name, known));
            return None;
        };
        let name = params.optional::<String>("name", NAME).unwrap_or(name);
        let help = "write a name, or leave it out";
        let named = params.require("name", !name.trim().is_empty(), "an empty name", help);
        Contender { name, kind, resolved: Json::Null, compared_with: None, table: table.clone() }
            .checked(limits, problems)
            .filter(|_| named)
    }

    /// Reads the options once for every limit, so that all of their problems are known.
    fn checked(mut self, limits: &[LimitSpec], problems: &Problems) -> Option<Contender> {
        for spec in limits {
            for limit in spec.promises() {
                let mut params = self.params(problems);
                let limiter = ALGORITHMS[self.kind].limiter(&limit, &mut params);
                self.resolved = Json::Object(params.finish().resolved);
                limiter?;
            }
        }
        Some(self)
    }

    /// Reports windows that nothing in the case would ever end, where only a store ends them.
    fn check_forgotten(&self, case: &Case, problems: &Problems) {
        if self.resolved["anchor"] != "expiry" {
            return;
        }
        let (message, help) = match &case.fleet {
            Some(fleet) if fleet.nodes.placement == Placement::Shared => {
                if fleet.store.on_failure != OnFailure::Local {
                    return;
                }
                let message = "nothing would ever end a window on a node that decides by itself";
                (message, "use another `on-failure` than \"local\", or another `anchor`")
            }
            fleet => {
                let message = "nothing would ever end its windows: only a store forgets keys";
                let help = match fleet {
                    None => "add `[store]`, or use another `anchor`",
                    Some(_) => {
                        "write `placement = \"shared\"` in `[nodes]`, or use another `anchor`"
                    }
                };
                (message, help)
            }
        };
        let place = self.params(problems).place_of("anchor");
        problems.add(Problem::at(&place, message).help(help));
    }

    /// The same on a clock of this resolution.
    ///
    /// # Errors
    /// A problem if its options do not suit that.
    pub fn on_clock(&self, tick: Span, limits: &[LimitSpec]) -> Result<Contender, Error> {
        let mut other = self.clone();
        other.table.set("tick", &tick.to_string()).map_err(Error::input)?;
        let problems = Problems::new();
        let checked = other.checked(limits, &problems);
        problems.into_result()?;
        checked.ok_or_else(|| Error::failed("change a clock", "its options do not suit that"))
    }

    /// What decides in a run of a case without limiters of nodes: fresh ones by limit and variant (the limit itself,
    /// then its tiers).
    ///
    /// # Panics
    /// If `limits` are not those it was read for, and its options do not suit them.
    pub fn alone(&self, limits: &[LimitSpec]) -> Rules {
        Rules::plain(self.limiters(limits), ALGORITHMS[self.kind].queues)
    }

    /// What decides in a run of a case.
    ///
    /// # Panics
    /// If it was not read for that case, and its options do not suit its limits.
    pub fn rules(&self, case: &Case) -> Rules {
        let alone = self.alone(&case.limits);
        let Some(Fleet { nodes, store, .. }) = &case.fleet else { return alone };
        let own = |limits: Vec<LimitSpec>| self.limiters(&limits);
        let limiters = match nodes.placement {
            Placement::Shared | Placement::Synced { .. } | Placement::Leased { .. } => {
                alone.limiters
            }
            Placement::Local => (0..nodes.count).map(|_| own(case.limits.clone())).collect(),
            Placement::Split => (0..nodes.count).map(|node| own(shares(case, node))).collect(),
        };
        let falls_back = store.on_failure == OnFailure::Local;
        let fallback = (0..nodes.count).filter(|_| falls_back).map(|_| own(fallback(case)));
        Rules { limiters, fallback: fallback.collect(), ..alone }
    }

    fn limiters(&self, limits: &[LimitSpec]) -> Limiters {
        let problems = Problems::new();
        let of = |limit: &Limit| {
            ALGORITHMS[self.kind]
                .limiter(limit, &mut self.params(&problems))
                .unwrap_or_else(|| panic!("the options of {} were checked before", self.name))
        };
        limits.iter().map(|spec| spec.promises().map(|limit| of(&limit)).collect()).collect()
    }

    /// Whether it is of the same kind with the same options, whatever it is called.
    pub fn decides_as(&self, other: &Contender) -> bool {
        let options = |contender: &Contender| {
            let mut options = contender.resolved.clone();
            options["name"] = Json::Null;
            options["compared-with"] = Json::Null;
            options
        };
        options(self) == options(other)
    }

    /// The options, after `kind` and `name` were read.
    fn params<'a>(&'a self, problems: &'a Problems) -> Params<'a> {
        let mut params = Params::new(&self.table, problems);
        params.or("kind", ALGORITHMS[self.kind].name.to_owned(), KIND);
        params.or("name", self.name.clone(), NAME);
        params.optional::<String>("compared-with", COMPARED_WITH);
        params
    }
}

/// A case's limits as `of` changes each promise.
fn changed(case: &Case, of: impl Fn(Limit) -> Limit) -> Vec<LimitSpec> {
    let changed = |spec: &LimitSpec| {
        let mut spec = spec.clone();
        spec.limit = of(spec.limit);
        spec.tiers.iter_mut().for_each(|tier| tier.limit = of(tier.limit));
        spec
    };
    case.limits.iter().map(changed).collect()
}

/// A node's shares of a case's limits.
fn shares(case: &Case, node: usize) -> Vec<LimitSpec> {
    let nodes = case.fleet.as_ref().map_or(1, |fleet| fleet.nodes.count);
    changed(case, |limit| limit.share(node as u64, nodes as u64))
}

/// The limits that a node falls back on.
fn fallback(case: &Case) -> Vec<LimitSpec> {
    let stated = case.fleet.as_ref().and_then(|fleet| fleet.store.fallback);
    changed(case, |limit| stated.unwrap_or(limit))
}

/// All limits under which algorithms decide in a case: its own, and those that its nodes have by themselves.
fn all_limits(case: &Case) -> Vec<LimitSpec> {
    let mut all = case.limits.clone();
    if let Some(Fleet { nodes, store, .. }) = &case.fleet {
        if nodes.placement == Placement::Split {
            // The first has the largest share, the last the smallest.
            all.extend([0, nodes.count - 1].into_iter().flat_map(|node| shares(case, node)));
        }
        if store.on_failure == OnFailure::Local {
            all.extend(fallback(case));
        }
    }
    all
}

/// The schema of an `[[algorithm]]` table: one of the kinds with its options.
pub fn schema() -> Json {
    let kinds = ALGORITHMS.iter().map(|kind: &Kind| {
        let fields = Params::describe(|params| {
            params.required::<String>("kind", KIND);
            params.optional::<String>("name", NAME);
            params.optional::<String>("compared-with", COMPARED_WITH);
            kind.limiter(&Limit::new(1, Span::from_secs(1)), params);
        });
        kind_schema(kind.name, kind.summary, &fields)
    });
    json!({ "oneOf": kinds.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::nodes::{NodesSpec, Routing};
    use crate::scenario::{Changes, Fleet, Scenario};
    use crate::store::StoreSpec;
    use std::path::Path;

    fn contenders(text: &str) -> Result<Vec<Contender>, String> {
        contenders_in(None, text)
    }

    fn contenders_in(fleet: Option<Fleet>, text: &str) -> Result<Vec<Contender>, String> {
        let text = format!(
            "name = \"t\"\nduration = \"1s\"\n\
             [limit]\nrequests = 5\nper = \"1s\"\ntiers.small.requests = 2\n\
             [[traffic]]\nkind = \"burst\"\nrequests = 1\n{text}"
        );
        let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default()).unwrap();
        let problems = Problems::new();
        let case = Case { fleet, ..scenario.cases[0].clone() };
        let contenders = Contender::of(&case, &problems);
        problems.into_result().map_err(|error| error.render(false))?;
        Ok(contenders)
    }

    fn names(contenders: &[Contender]) -> Vec<&str> {
        contenders.iter().map(|contender| contender.name.as_str()).collect()
    }

    #[test]
    fn all_algorithms_are_compared_where_none_is_named() {
        let all: Vec<&str> = ALGORITHMS.iter().map(|kind| kind.name).collect();
        assert_eq!(names(&contenders("").unwrap()), all);
    }

    #[test]
    fn those_that_are_named_keep_their_names_and_options_in_the_order_of_the_registry() {
        let text = "[[algorithm]]\nkind = \"gcra\"\n\
                    [[algorithm]]\nkind = \"gcra\"\nname = \"slow clock\"\ntick = \"1s\"\n\
                    [[algorithm]]\nkind = \"fixed-window\"\n";
        let contenders = contenders(text).unwrap();
        assert_eq!(names(&contenders), ["fixed-window", "gcra", "slow clock"]);
        assert_eq!(ALGORITHMS[contenders[2].kind].name, "gcra");
        assert_eq!(contenders[2].resolved["tick"], "1s");
        assert_eq!(contenders[0].resolved["anchor"], "epoch");
    }

    #[test]
    fn a_window_that_only_its_expiry_ends_needs_a_store_that_forgets() {
        let fleet = |placement, on_failure| {
            let nodes = NodesSpec {
                count: 2,
                routing: Routing::RoundRobin,
                placement,
                clocks: vec![Clock::default(); 2],
                sweep: None,
            };
            let store = StoreSpec { on_failure, ..StoreSpec::default() };
            Some(Fleet::new(nodes, store))
        };
        let text = "[[algorithm]]\nkind = \"fixed-window\"\nanchor = \"expiry\"\n";
        let told = |fleet| contenders_in(fleet, text).map(|contenders| contenders.len());
        for on_failure in [OnFailure::Open, OnFailure::Closed] {
            assert_eq!(told(fleet(Placement::Shared, on_failure)), Ok(1));
        }
        for (fleet, message, help) in [
            (None, "only a store forgets keys", "add `[store]`"),
            (
                fleet(Placement::Split, OnFailure::Open),
                "only a store forgets keys",
                "write `placement = \"shared\"`",
            ),
            (
                fleet(Placement::Shared, OnFailure::Local),
                "on a node that decides by itself",
                "another `on-failure` than \"local\"",
            ),
        ] {
            let shown = told(fleet).unwrap_err();
            let all = [message, help, "t.toml:12:10"];
            assert!(all.iter().all(|part| shown.contains(part)), "{shown}");
            assert_eq!(shown.matches("error").count(), 1, "{shown}");
        }
    }

    #[test]
    fn every_mistake_in_an_algorithm_is_a_problem_at_its_place() {
        for (text, messages) in [
            ("kind = \"gcar\"", vec!["unknown algorithm `gcar`", "did you mean `gcra`?"]),
            ("name = \"x\"", vec!["`kind` is missing"]),
            ("kind = \"gcra\"\nname = \"\"", vec!["an empty name", "t.toml:12:8"]),
            ("kind = \"gcra\"\nanchor = \"epoch\"", vec!["unknown key `anchor`"]),
            ("kind = \"gcra\"\ntick = \"0s\"", vec!["a clock without resolution"]),
            ("kind = \"gcra\"\nbackwards = \"back\"", vec!["`back` is not known"]),
            ("kind = \"fixed-window\"\nbackwards = \"strict\"", vec!["`strict` makes no sense"]),
            (
                "kind = \"fixed-window\"\nanchor = \"expiry\"\nbackwards = \"naive\"",
                vec!["`naive` has no effect", "no reading is looked at"],
            ),
            ("kind = \"sliding-window-log\"\nmember = \"stmp\"", vec!["did you mean `stamp`?"]),
            (
                "kind = \"gcra\"\n[[algorithm]]\nkind = \"gcra\"",
                vec!["two algorithms are named `gcra`"],
            ),
            // Of the promises, that of the tier is the one with too small a bucket.
            (
                "kind = \"token-bucket\"\ninitial = 3",
                vec!["3 tokens do not fit into a bucket of 2"],
            ),
        ] {
            let shown = contenders(&format!("[[algorithm]]\n{text}\n")).unwrap_err();
            assert!(messages.iter().all(|message| shown.contains(message)), "{text}:\n{shown}");
            assert_eq!(shown.matches("error").count(), 1, "{text}:\n{shown}");
        }
    }
}
