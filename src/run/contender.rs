//! The algorithms of a case, each with its options and the name it goes by.

use serde_json::{Value as Json, json};

use crate::algorithm::{self, ALGORITHMS, Kind};
use crate::error::{Problem, Problems};
use crate::params::{Node, Params, table_schema};
use crate::rate::Limit;
use crate::scenario::{Case, LimitSpec};
use crate::time::Span;
use crate::world::Limiters;

/// An algorithm of a case.
#[derive(Debug, Clone)]
pub struct Contender {
    /// The name it goes by in tables and files: its kind, unless the scenario gives it another.
    pub name: String,
    /// Its position in [`ALGORITHMS`].
    pub kind: usize,
    /// Its options with their defaults.
    pub resolved: Json,
    table: Node,
}

const KIND: &str = "Which algorithm; see `ratesim list algorithms`.";
const NAME: &str = "The name it goes by in tables and files; by default its kind. Needed where a \
                    scenario has one kind twice.";

impl Contender {
    /// The algorithms that a case compares, in its order; all with their defaults if it names none.
    pub fn of(case: &Case, problems: &Problems) -> Vec<Contender> {
        if case.algorithms.is_empty() {
            return (0..ALGORITHMS.len())
                .filter_map(|kind| Contender::plain(kind, &case.limits, problems))
                .collect();
        }
        let mut contenders: Vec<Contender> = Vec::new();
        for table in &case.algorithms {
            let Some(contender) = Contender::read(table, &case.limits, problems) else { continue };
            if contenders.iter().any(|other| other.name == contender.name) {
                let message = format!("two algorithms are named `{}`", contender.name);
                let help = "give one of them a `name`";
                problems.add(Problem::at(&table.place, message).help(help));
            }
            contenders.push(contender);
        }
        contenders
    }

    /// An algorithm with its defaults.
    pub fn plain(kind: usize, limits: &[LimitSpec], problems: &Problems) -> Option<Contender> {
        let name = ALGORITHMS[kind].name.to_owned();
        Contender { name, kind, resolved: Json::Null, table: Node::empty() }
            .checked(limits, problems)
    }

    fn read(table: &Node, limits: &[LimitSpec], problems: &Problems) -> Option<Contender> {
        let mut params = Params::new(table, problems);
        let name = params.required::<String>("kind", KIND)?;
        let kind = algorithm::resolve(&name, &params.place_of("kind"), problems)?;
        let name = params.optional::<String>("name", NAME).unwrap_or(name);
        let kind = ALGORITHMS.iter().position(|known| known.name == kind.name)?;
        Contender { name, kind, resolved: Json::Null, table: table.clone() }
            .checked(limits, problems)
    }

    /// Reads the options once for every limit, so that all of their problems are known.
    fn checked(mut self, limits: &[LimitSpec], problems: &Problems) -> Option<Contender> {
        for spec in limits {
            for limit in promises(spec) {
                let mut params = self.params(problems);
                let limiter = ALGORITHMS[self.kind].limiter(&limit, &mut params);
                self.resolved = Json::Object(params.finish().resolved);
                limiter?;
            }
        }
        Some(self)
    }

    /// Fresh limiters by limit and variant (the limit itself, then its tiers).
    ///
    /// # Panics
    /// If `limits` are not those it was read for, and its options do not suit them.
    pub fn limiters(&self, limits: &[LimitSpec]) -> Limiters {
        let problems = Problems::new();
        let of = |limit: &Limit| {
            ALGORITHMS[self.kind]
                .limiter(limit, &mut self.params(&problems))
                .unwrap_or_else(|| panic!("the options of {} were checked before", self.name))
        };
        limits.iter().map(|spec| promises(spec).map(|limit| of(&limit)).collect()).collect()
    }

    /// Whether it is of the same kind with the same options, whatever it is called.
    pub fn decides_as(&self, other: &Contender) -> bool {
        let options = |contender: &Contender| {
            let mut options = contender.resolved.clone();
            options["name"] = Json::Null;
            options
        };
        options(self) == options(other)
    }

    /// The options, after `kind` and `name` were read.
    fn params<'a>(&'a self, problems: &'a Problems) -> Params<'a> {
        let mut params = Params::new(&self.table, problems);
        params.or("kind", ALGORITHMS[self.kind].name.to_owned(), KIND);
        params.or("name", self.name.clone(), NAME);
        params
    }
}

/// A limit's own promise, then those of its tiers.
fn promises(spec: &LimitSpec) -> impl Iterator<Item = Limit> + '_ {
    std::iter::once(spec.limit).chain(spec.tiers.iter().map(|tier| tier.limit))
}

/// The schema of an `[[algorithm]]` table: one of the kinds with its options.
pub fn schema() -> Json {
    let kinds = ALGORITHMS.iter().map(|kind: &Kind| {
        let fields = Params::describe(|params| {
            params.required::<String>("kind", KIND);
            params.optional::<String>("name", NAME);
            kind.limiter(&Limit::new(1, Span::from_secs(1)), params);
        });
        let mut schema = table_schema(&fields);
        schema["properties"]["kind"] = json!({ "const": kind.name, "description": kind.summary });
        schema
    });
    json!({ "oneOf": kinds.collect::<Vec<_>>() })
}
