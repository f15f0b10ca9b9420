//! The `[store]` table.

use serde_json::json;

use super::{
    Atomicity, BreakerSpec, Eviction, Expiry, FailOver, KeyName, Memory, OnFailure, Outage,
    RoundTrip, StoreSpec, TimeOf,
};
use crate::clock::Clock;
use crate::params::{Begin, Choice, Params, Short};
use crate::rate::Limit;
use crate::time::Span;

/// What the table is for.
pub const MEANING: &str = "The store in which nodes share the state of limits. Left out: it answers at once and never fails.";

/// What the table depends on that stands outside of it. `None` where that could not be read.
#[derive(Debug, Clone, Copy)]
pub struct Around {
    /// How many nodes there are.
    pub nodes: Option<usize>,
    /// How many limits there are.
    pub limits: usize,
    /// Whether every decision is made in the store.
    pub decides: Option<bool>,
    /// Whether attempts wait for the store.
    pub awaited: Option<bool>,
    /// How a limit is written in short.
    pub short_limit: Short,
    /// Reads a limit.
    pub limit: fn(&mut Params) -> Option<Limit>,
}

impl Choice for Atomicity {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("script", Atomicity::Script, "reading, deciding and writing is one step, as in a script"),
        (
            "check-then-increment",
            Atomicity::CheckThenIncrement,
            "a node reads, decides, and has what it charges added to what is there by then",
        ),
        (
            "read-modify-write",
            Atomicity::ReadModifyWrite,
            "a node reads, decides, and writes what it makes of that over whatever is there by then",
        ),
    ];
}

impl Choice for TimeOf {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("node", TimeOf::Node, "the node's, read when the attempt reaches it"),
        ("store", TimeOf::Store, "the shard's, read when it works on the call"),
    ];
}

impl Choice for Eviction {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        (
            "least-recently-used",
            Eviction::LeastRecentlyUsed,
            "the key asked for least recently goes",
        ),
        (
            "soonest-to-expire",
            Eviction::SoonestToExpire,
            "the key that expires soonest goes; where none ever does, the write fails",
        ),
        ("refuse", Eviction::Refuse, "it is not: the write fails"),
    ];
}

/// What a node does without an answer, without the span that goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    Open,
    Closed,
    Local,
    OpenAfter,
}

impl Choice for Policy {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("open", Policy::Open, "lets it through"),
        ("closed", Policy::Closed, "rejects it"),
        ("local", Policy::Local, "decides by a limiter of its own"),
        (
            "open-after",
            Policy::OpenAfter,
            "lets it through `open-after` after it came; waits no longer than that for any answer",
        ),
    ];
}

impl StoreSpec {
    /// Reads the table. Something stands in for what could not be read. `begins` gets what begins at a stated
    /// time.
    pub fn read(params: &mut Params, around: &Around, begins: &mut Vec<Begin>) -> StoreSpec {
        const SHARED: &str = "`placement = \"shared\"` in `[nodes]`";
        const AWAITED: &str = "`placement = \"shared\"` or \"leased\" in `[nodes]`";
        let plain = StoreSpec::default();
        let round_trip = RoundTrip::read(params).unwrap_or(plain.round_trip);
        let timeout: Option<Span> = params.optional(
            "timeout",
            "How long a node waits for the answer to a call. By default 1s, or as long as `open-after` says.",
        );
        params.require(
            "timeout",
            timeout != Some(Span::ZERO),
            "a timeout of no time at all",
            "write a span such as \"1s\"",
        );
        let atomicity = params.only(around.decides, SHARED, |params| {
            params.or("atomicity", plain.atomicity, "What happens at one instant.")
        });
        let time = params.only(around.awaited, AWAITED, |params| {
            params.or("time", plain.time, "Whose clock tells the time of a decision.")
        });
        let shards: Option<u64> = params.within(1..=Clock::MOST as u64).or_unknown(
            "shards",
            1,
            "How many there are; which of them has a key is told by the hash slot of its name, as in Redis Cluster.",
        );
        let shards = shards.map(|shards| shards as usize);
        let clocks = Clock::read(params, "shard", shards, begins);
        let key_name = KeyName::read(params, around.limits);
        let expiry = Expiry::read(params).unwrap_or(plain.expiry);
        let memory = read_memory(params);
        let (on_failure, fallback) = params
            .only(around.awaited, AWAITED, |params| read_policy(params, around))
            .unwrap_or((plain.on_failure, None));
        let timeout = timeout.unwrap_or(match on_failure {
            OnFailure::OpenAfter(after) => after,
            _ => plain.timeout,
        });
        params.resolve("timeout", json!(timeout.to_string()));
        let breaker = params.only(around.awaited, AWAITED, |params| {
            params.optional_table("breaker", BreakerSpec::MEANING, BreakerSpec::read)
        });
        let outages = Outage::read_all(params, around.nodes, shards, begins);
        let fail_overs = FailOver::read_all(params, shards, begins);
        StoreSpec {
            round_trip,
            timeout: timeout.max(Span::from_nanos(1)),
            atomicity: atomicity.unwrap_or(plain.atomicity),
            time: time.unwrap_or(plain.time),
            clocks,
            key_name,
            expiry,
            memory,
            fail_overs,
            outages,
            on_failure,
            fallback,
            breaker: breaker.flatten(),
        }
    }
}

fn read_memory(params: &mut Params) -> Option<Memory> {
    let bytes: Option<u64> = params.within(1..=u64::MAX).optional(
        "max-memory-bytes",
        "While all keys with their states take more than this, a write needs room first. By default there is no bound.",
    );
    // What could not be read is a bound too.
    let bound = params
        .has("max-memory-bytes")
        .then_some(bytes.is_some())
        .map_or(Some(false), |known| known.then_some(true));
    let eviction = params.only(bound, "`max-memory-bytes`", |params| {
        params.or("eviction", Eviction::LeastRecentlyUsed, "How that is made.")
    });
    Some(Memory { bytes: bytes?, eviction: eviction? })
}

/// What nodes do without an answer, and the limit of their own limiters.
fn read_policy(params: &mut Params, around: &Around) -> (OnFailure, Option<Limit>) {
    let policy = params.or_unknown(
        "on-failure",
        Policy::Open,
        "What a node does with an attempt on which the store gives no answer.",
    );
    let is = |one| policy.map(|policy| policy == one);
    let after = params.only(is(Policy::OpenAfter), "`on-failure = \"open-after\"`", |params| {
        let after: Option<Span> =
            params.required("open-after", "How long after it came an attempt is let through.");
        params.require(
            "open-after",
            after != Some(Span::ZERO),
            "no time at all",
            "write a span such as \"5s\", or `on-failure = \"open\"`",
        );
        after
    });
    let fallback = params.only(is(Policy::Local), "`on-failure = \"local\"`", |params| {
        params.shortened(
            "fallback",
            "The limit of each node's own limiter. By default each limit itself.",
            around.short_limit,
            None,
            around.limit,
        )
    });
    let on_failure = match policy {
        Some(Policy::Closed) => OnFailure::Closed,
        Some(Policy::Local) => OnFailure::Local,
        Some(Policy::OpenAfter) => OnFailure::OpenAfter(after.flatten().unwrap_or(Span::ZERO)),
        Some(Policy::Open) | None => OnFailure::Open,
    };
    (on_failure, fallback.flatten().flatten())
}
