//! The `[nodes]` table.

use serde_json::json;

use super::{NodesSpec, Placement, Rounds, Routing, Sweep};
use crate::clock::Clock;
use crate::params::{Begin, Choice, Params};
use crate::time::Span;

/// What the table is for.
pub const MEANING: &str = "The servers that decide. Left out: there is one, whose clock is right.";

/// Where the state of the limits lies, without the numbers that go with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// As [`Placement::Local`].
    Local,
    /// As [`Placement::Shared`].
    Shared,
    /// As [`Placement::Split`].
    Split,
    /// As [`Placement::Synced`].
    Synced,
    /// As [`Placement::Leased`].
    Leased,
}

impl Choice for Where {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("local", Where::Local, "each node has its own, under the whole limit"),
        ("shared", Where::Shared, "in the store, which every decision waits for"),
        (
            "split",
            Where::Split,
            "each node has its own, under its share of the limit; what does not divide goes to the first nodes",
        ),
        (
            "synced",
            Where::Synced,
            "each node has a copy, pushes what it has charged to the store every so often, and pulls the sum",
        ),
        ("leased", Where::Leased, "in the store, from which nodes fetch quota in batches"),
    ];
}

impl Where {
    /// Whether attempts wait for the store.
    pub fn waits_for_store(self) -> bool {
        matches!(self, Where::Shared | Where::Leased)
    }
}

/// How attempts are dealt out, without the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deal {
    RoundRobin,
    Random,
    ByKey,
    LeastBusy,
    Weighted,
}

impl Choice for Deal {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("round-robin", Deal::RoundRobin, "in turn"),
        ("random", Deal::Random, "any, each as likely as the next"),
        (
            "by-key",
            Deal::ByKey,
            "always the same for a key of the first limit that covers the attempt",
        ),
        (
            "least-busy",
            Deal::LeastBusy,
            "one with the fewest attempts that it has not answered yet; among equals, the next in turn",
        ),
        ("weighted", Deal::Weighted, "in turn, each as often as its weight, interleaved"),
    ];
}

/// A table that was read.
#[derive(Debug)]
pub struct Read {
    /// The settings; something stands in for what could not be read.
    pub nodes: NodesSpec,
    /// How many nodes there are, where that could be read.
    pub count: Option<usize>,
    /// Where the state lies, where that could be read.
    pub placement: Option<Where>,
    /// What nodes do every so often.
    pub rounds: Vec<Rounds>,
}

impl NodesSpec {
    /// Reads the table in a case with so many limits. Without a `placement`, `default` is where the state lies.
    /// `begins` gets what begins at a stated time.
    pub fn read(
        params: &mut Params,
        limits: usize,
        default: Where,
        begins: &mut Vec<Begin>,
    ) -> Read {
        let most = Clock::MOST as u64;
        let count: Option<u64> = params.within(1..=most).required("count", "How many there are.");
        let count = count.map(|count| count as usize);
        let routing = read_routing(params, count);
        let (known, placement) = read_placement(params, limits, default);
        let clocks = Clock::read(params, "node", count, begins);
        let sweeps =
            known.map(|known| matches!(known, Where::Local | Where::Split | Where::Synced));
        let with = "`placement = \"local\"`, \"split\" or \"synced\"";
        let mut rounds = Vec::new();
        if let Placement::Synced { every } = placement {
            rounds.push(Rounds { name: "sync-every", every, place: params.place_of("sync-every") });
        }
        let sweep = params.only(sweeps, with, |params| {
            let read = |params: &mut Params| Sweep::read(params, &mut rounds);
            params.optional_table("sweep", SWEEP_MEANING, read).flatten()
        });
        let count_or_one = count.unwrap_or(1);
        let nodes =
            NodesSpec { count: count_or_one, routing, placement, clocks, sweep: sweep.flatten() };
        Read { nodes, count, placement: known, rounds }
    }
}

fn read_routing(params: &mut Params, count: Option<usize>) -> Routing {
    let known = params.or_unknown("routing", Deal::RoundRobin, "Which node gets an attempt.");
    let weighted = known.map(|known| known == Deal::Weighted);
    let weights = params.only(weighted, "`routing = \"weighted\"`", |params| {
        let weights: Vec<u32> = params.required("weights", "The weight of each node.")?;
        let length = params.require(
            "weights",
            count.is_none_or(|count| count == weights.len()),
            format!("{} weights for {} nodes", weights.len(), count.unwrap_or(0)),
            "write one for each node",
        );
        let any = params.require(
            "weights",
            weights.iter().any(|&weight| weight > 0),
            "no node has any weight",
            "write a weight above 0 for each node that is to get attempts",
        );
        (length && any).then_some(weights)
    });
    match (known, weights.flatten()) {
        (Some(Deal::Weighted), Some(weights)) => Routing::Weighted(weights),
        (Some(Deal::Random), _) => Routing::Random,
        (Some(Deal::ByKey), _) => Routing::ByKey,
        (Some(Deal::LeastBusy), _) => Routing::LeastBusy,
        _ => Routing::RoundRobin,
    }
}

fn read_placement(
    params: &mut Params,
    limits: usize,
    default: Where,
) -> (Option<Where>, Placement) {
    let given: Option<Where> = params.optional(
        "placement",
        "Where the state of the limits lies. By default in the store if the scenario has a `[store]`, else each \
         node has its own.",
    );
    let known = given.or_else(|| (!params.has("placement")).then_some(default));
    if let Some(known) = known {
        params.resolve("placement", json!(known.name()));
    }
    let is = |place| known.map(|known| known == place);
    let lasting = |params: &Params, name: &str, span: Option<Span>| {
        let help = "write a span such as \"1s\"";
        params.require(name, span != Some(Span::ZERO), "no time at all", help);
        span.filter(|span| *span != Span::ZERO).unwrap_or(STAND_IN)
    };
    let every = params.only(is(Where::Synced), "`placement = \"synced\"`", |params| {
        let every = params.required("sync-every", "How often a node pushes and pulls.");
        lasting(params, "sync-every", every)
    });
    let lease = params.only(is(Where::Leased), "`placement = \"leased\"`", |params| {
        let batch: Option<u32> = params
            .within(1..=u64::from(u32::MAX))
            .required("lease-batch", "The cost that a node fetches at a time.");
        let lasts = params.required("lease-lasts", "How long fetched quota may be spent.");
        (batch.unwrap_or(1), lasting(params, "lease-lasts", lasts))
    });
    if known == Some(Where::Leased) {
        params.require(
            "placement",
            limits == 1,
            format!("quota of {limits} limits cannot be leased together"),
            "leave all limits but one out, or choose another placement",
        );
    }
    let placement = match (known, every, lease) {
        (Some(Where::Shared), ..) => Placement::Shared,
        (Some(Where::Split), ..) => Placement::Split,
        (Some(Where::Synced), Some(every), _) => Placement::Synced { every },
        (Some(Where::Leased), _, Some((batch, lasts))) => Placement::Leased { batch, lasts },
        _ => Placement::Local,
    };
    (known, placement)
}

/// Stands in for a span that must not be zero, where a problem with it was reported.
const STAND_IN: Span = Span::MAX;

const SWEEP_MEANING: &str =
    "How nodes forget the keys that they have not seen for long. Left out: they keep all.";

impl Sweep {
    /// `None` after a problem was reported.
    fn read(params: &mut Params, rounds: &mut Vec<Rounds>) -> Option<Sweep> {
        let every: Option<Span> = params.required("every", "How often a node goes over its keys.");
        let idle: Option<Span> =
            params.required("idle", "It forgets those that it has not seen for so long.");
        let lasting =
            ["every", "idle"].into_iter().zip([every, idle]).fold(true, |all, (name, span)| {
                let help = "write a span such as \"60s\"";
                params.require(name, span != Some(Span::ZERO), "no time at all", help) && all
            });
        let (every, idle) = (every?, idle?);
        if lasting {
            rounds.push(Rounds { name: "every", every, place: params.place_of("every") });
        }
        lasting.then_some(Sweep { every, idle })
    }
}
