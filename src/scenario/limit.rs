//! A limit as a scenario states it: the promise, what it is counted by, and whom it covers.

use serde_json::json;

use super::key::{Attribute, Key};
use crate::error::{Place, Problem, Problems};
use crate::params::{Choice, Node, Params, Setting, Short, Table, Value, table_schema};
use crate::rate::{Limit, Rate};
use crate::time::Span;

/// A limit of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitSpec {
    /// Its name in `limits.csv`; by default the limit in words.
    pub name: String,
    /// The promise.
    pub limit: Limit,
    /// What it is counted by.
    pub key: Key,
    /// What counts.
    pub counts: Counts,
    /// The endpoints it covers; empty means all.
    pub endpoints: Vec<String>,
    /// Bits of an IPv4 address that make its prefix.
    pub ipv4_prefix: u32,
    /// Bits of an IPv6 address that make its prefix.
    pub ipv6_prefix: u32,
    /// Other numbers for requests of some tiers.
    pub tiers: Vec<Tier>,
    /// Where it stands.
    pub place: Place,
}

impl LimitSpec {
    /// Its own promise, then those of its tiers.
    pub fn promises(&self) -> impl Iterator<Item = Limit> + '_ {
        std::iter::once(self.limit).chain(self.tiers.iter().map(|tier| tier.limit))
    }
}

/// The limit of one tier.
#[derive(Debug, Clone, PartialEq)]
pub struct Tier {
    /// The tier's name.
    pub name: String,
    /// What it promises.
    pub limit: Limit,
}

/// What counts against a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// Each request with its cost.
    Cost,
    /// Each request once, whatever its cost.
    Requests,
}

impl Choice for Counts {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("cost", Counts::Cost, "each request with its cost"),
        ("requests", Counts::Requests, "each request once, whatever its cost"),
    ];
}

const MEANING: &str = "What is promised: at most `requests` in any `per`, for each key. \
                       More than one for several limits at once.";

/// Reads all limits. Where one could not be read, its problem was reported and [`STAND_IN`] promises
/// in its place, so that what depends on it can be looked at all the same.
pub(super) fn read_all(params: &mut Params) -> Vec<LimitSpec> {
    let schema =
        json!({ "anyOf": [ table_schema(&Params::describe(|p| { read(p); })), Rate::schema() ] });
    let problems = params.problems();
    let nodes = params.raw_tables("limit", MEANING, schema);
    if nodes.is_empty() {
        let help = "add a table [limit] with `requests = 100` and `per = \"60s\"`";
        problems.add(Problem::at(params.place(), "there is no limit").help(help));
        return vec![LimitSpec::plain(STAND_IN, params.place().clone())];
    }
    if nodes.len() > LimitSpec::MOST {
        let message = format!("{} limits are more than {}", nodes.len(), LimitSpec::MOST);
        problems.add(Problem::at(&nodes[LimitSpec::MOST].place, message));
    }
    let mut resolved = Vec::new();
    let mut limits: Vec<LimitSpec> = Vec::new();
    for node in nodes {
        let (limit, json) = read_node(node, problems);
        if limits.iter().any(|other| other.name == limit.name) {
            let message = format!("two limits are named `{}`", limit.name);
            problems.add(Problem::at(&limit.place, message).help("give one of them a `name`"));
        }
        resolved.push(json);
        limits.push(limit);
    }
    params.resolve("limit", json!(resolved));
    limits
}

/// What a limit promises that could not be read.
const STAND_IN: Limit = Limit::new(1, Span::from_secs(1));

fn read_node(node: &Node, problems: &Problems) -> (LimitSpec, serde_json::Value) {
    // `limit = "100/60s"` is short for a table with two keys.
    if let Value::String(_) = node.value {
        let limit = match Rate::read(node) {
            Ok(rate) => check_per(&node.place, rate.per, problems)
                .map(|()| Limit::new(rate.count, rate.per)),
            Err(problem) => {
                problems.add(problem.of("`limit`"));
                None
            }
        };
        let limit = LimitSpec::plain(limit.unwrap_or(STAND_IN), node.place.clone());
        let rate = Rate { count: limit.limit.requests, per: limit.limit.per };
        return (limit, rate.json());
    }
    let mut params = Params::new(node, problems);
    let limit = read(&mut params);
    (limit, json!(params.finish().resolved))
}

impl LimitSpec {
    /// A case has at most so many limits.
    pub const MOST: usize = 64;

    /// A limit for each client with everything else left at its default.
    pub fn plain(limit: Limit, place: Place) -> LimitSpec {
        LimitSpec {
            name: limit.to_string(),
            limit,
            key: Key::Each(vec![Attribute::Client]),
            counts: Counts::Cost,
            endpoints: Vec::new(),
            ipv4_prefix: 24,
            ipv6_prefix: 64,
            tiers: Vec::new(),
            place,
        }
    }
}

fn read(params: &mut Params) -> LimitSpec {
    let limit = read_promise(params, None).unwrap_or(STAND_IN);
    let plain = LimitSpec::plain(limit, params.place().clone());
    let name = params
        .optional("name", "Its name in tables and files; by default the limit in words.")
        .unwrap_or(plain.name);
    let help = "write a name, or leave it out";
    params.require("name", !name.trim().is_empty(), "an empty name", help);
    params.resolve("name", json!(name));
    let key = params.or("key", plain.key, "What it is counted by.");
    let counts = params.or("counts", plain.counts, "What counts against it.");
    let endpoints =
        params.or("endpoints", plain.endpoints, "The endpoints it covers; none means all.");
    let ipv4_prefix = params.within(0..=32).or(
        "ipv4-prefix",
        plain.ipv4_prefix,
        "Bits of an IPv4 `address-prefix`.",
    );
    let ipv6_prefix = params.within(0..=128).or(
        "ipv6-prefix",
        plain.ipv6_prefix,
        "Bits of an IPv6 `address-prefix`.",
    );
    let schema = table_schema(&Params::describe(|p| {
        read_promise(p, Some(limit));
    }));
    let tiers = params.entries(
        "tiers",
        "Other numbers for the requests of some tiers, such as `tiers.pro.requests = 1000`.",
        |entry, problems| {
            let mut inner = Params::new(&entry.node, problems);
            let promise = read_promise(&mut inner, Some(limit));
            let resolved = inner.finish().resolved;
            promise.map(|limit| (Tier { name: entry.key.clone(), limit }, json!(resolved)))
        },
        schema,
    );
    LimitSpec { name, key, counts, endpoints, ipv4_prefix, ipv6_prefix, tiers, ..plain }
}

/// A limit alone is written as `limit` is: `"10/1s"` is short for a table of `requests` and `per`.
pub(super) const SHORT: Short = Short {
    schema: Rate::schema,
    expand: |node: &Node| -> Result<Table, Problem> {
        let Rate { count, per } = Rate::read(node)?;
        let (requests, per) = (Value::Integer(count.into()), Value::String(per.to_string()));
        Ok(Table::at(&node.place, [("requests", requests), ("per", per)]))
    },
};

/// Reads what a limit promises and nothing else. `None` after a problem was reported.
pub(super) fn read_plain(params: &mut Params) -> Option<Limit> {
    read_promise(params, None)
}

/// `requests`, `per` and `burst`; a tier inherits what it leaves out from `base`.
fn read_promise(params: &mut Params, base: Option<Limit>) -> Option<Limit> {
    const REQUESTS: &str = "L, the cost that may pass in any `per`. 0 blocks everything.";
    const PER: &str = "W, the span it counts over: 1 ns to ten years.";
    const TIER_REQUESTS: &str = "L, as of the limit; by default the limit's.";
    const TIER_PER: &str = "W, as of the limit; by default the limit's.";
    let counts = 0..=Rate::MAX_COUNT;
    let (requests, per) = match base {
        None => (
            params.within(counts.clone()).required::<u64>("requests", REQUESTS),
            params.required::<Span>("per", PER),
        ),
        Some(base) => {
            let requests = params.within(counts.clone()).optional("requests", TIER_REQUESTS);
            let good = requests.is_some() || !params.has("requests");
            let requests = requests.unwrap_or(base.requests);
            let per = params.optional("per", TIER_PER).unwrap_or(base.per);
            params.resolve("requests", json!(requests));
            params.resolve("per", per.json());
            (good.then_some(requests), Some(per))
        }
    };
    let burst: Option<u64> = params.within(counts).optional(
        "burst",
        "B, the cost that may pass at once from rest, for the algorithms that have one; \
         by default `requests`.",
    );
    let burst_fits = burst.is_some() || !params.has("burst");
    let per_fits = match per {
        Some(per) => check_per(&params.place_of("per"), per, params.problems()).is_some(),
        None => false,
    };
    let burst = burst.unwrap_or(requests?);
    params.resolve("burst", json!(burst));
    (burst_fits && per_fits).then_some(Limit { requests: requests?, per: per?, burst })
}

fn check_per(place: &Place, per: Span, problems: &Problems) -> Option<()> {
    let message = match per {
        Span::ZERO => "a limit per no time at all",
        per if per > Limit::MAX_PER => "a limit per more than ten years",
        _ => return Some(()),
    };
    problems.add(Problem::at(place, message).help("write a span from \"1ns\" to \"3650d\""));
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Changes, Scenario};
    use std::path::Path;

    fn read(limits: &str) -> Result<Vec<LimitSpec>, String> {
        let text = format!(
            "name = \"t\"\nduration = \"1s\"\n{limits}\n[[traffic]]\nkind = \"burst\"\nrequests = 1\n"
        );
        let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default());
        scenario
            .map(|scenario| scenario.cases[0].limits.clone())
            .map_err(|error| error.render(false))
    }

    #[test]
    fn a_limit_in_short_is_one_for_each_client() {
        let minute = Limit::new(100, Span::from_secs(60));
        for text in [
            "limit = \"100/60s\"",
            "limit = [\"100/1m\"]",
            "[limit]\nrequests = 100\nper = \"60s\"",
        ] {
            let limits = read(text).unwrap();
            assert_eq!((limits.len(), limits[0].limit), (1, minute), "{text}");
            assert_eq!(limits[0].key, Key::Each(vec![Attribute::Client]));
            assert_eq!(limits[0].name, "100 per 60s");
        }
    }

    #[test]
    fn a_tier_has_what_it_does_not_say_from_its_limit() {
        let limit = "[limit]\nrequests = 10\nper = \"60s\"\nburst = 5\n\
                     tiers.pro.requests = 100\ntiers.slow.per = \"1h\"\ntiers.wide.burst = 20\n";
        let tiers = read(limit).unwrap().remove(0).tiers;
        let numbers: Vec<_> = tiers
            .iter()
            .map(|Tier { name, limit }| {
                (name.as_str(), limit.requests, limit.per.nanos() / 1_000_000_000, limit.burst)
            })
            .collect();
        // A tier's burst is its own number of requests unless it says otherwise.
        assert_eq!(numbers, [("pro", 100, 60, 100), ("slow", 10, 3600, 10), ("wide", 10, 60, 20)]);
    }

    #[test]
    fn the_largest_limit_is_read_and_anything_beyond_it_refused() {
        let limit = |requests: &str, per: &str| {
            read(&format!("[limit]\nrequests = {requests}\nper = \"{per}\"\n"))
        };
        let largest = limit("4294967296", "3650d").unwrap()[0].limit;
        assert_eq!((largest.requests, largest.per), (1 << 32, Limit::MAX_PER));
        for (requests, per, message) in [
            ("4294967297", "60s", "write a whole number from 0 to 4294967296"),
            ("-1", "60s", "-1 is out of range"),
            ("1.5", "60s", "expected a whole number from 0 up, found a number with a fraction"),
            ("1", "0s", "a limit per no time at all"),
            ("1", "3650d1ns", "a limit per more than ten years"),
            ("1", "60", "`60` has no unit"),
        ] {
            let shown = limit(requests, per).unwrap_err();
            assert!(shown.contains(message), "{requests} per {per}:\n{shown}");
        }
        for (short, message) in [
            ("100/60", "`60` has no unit"),
            ("100", "`100` has no `/`"),
            ("100/0s", "a rate per no time at all"),
            ("100/3651d", "a limit per more than ten years"),
        ] {
            let shown = read(&format!("limit = \"{short}\"")).unwrap_err();
            assert!(shown.contains(message), "{short}:\n{shown}");
        }
    }

    #[test]
    fn limits_have_names_of_their_own_and_there_are_not_too_many() {
        let shown = read("limit = [\"1/1s\", \"2/1s\", \"1/1s\"]").unwrap_err();
        assert!(shown.contains("two limits are named `1 per 1s`"), "{shown}");
        let many = |count: usize| {
            let limits: Vec<String> = (1..=count).map(|n| format!("\"{n}/1s\"")).collect();
            read(&format!("limit = [{}]", limits.join(", ")))
        };
        assert_eq!(many(LimitSpec::MOST).unwrap().len(), 64);
        let shown = many(LimitSpec::MOST + 1).unwrap_err();
        assert!(shown.contains("65 limits are more than 64"), "{shown}");
        let shown = read("").unwrap_err();
        assert!(shown.contains("there is no limit"), "{shown}");
    }
}
