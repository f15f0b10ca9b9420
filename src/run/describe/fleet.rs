//! The nodes of a case and their store in words.

mod clocks;

use crate::clock;
use crate::metrics::FleetInfo;
use crate::nodes::{NodesSpec, Placement, Routing};
use crate::report::format::{bytes, length, share};
use crate::report::words::listed;
use crate::scenario::Fleet;
use crate::store::{
    Atomicity, BreakerSpec, Down, Eviction, Expiry, FailOver, Memory, OnFailure, Outage,
    OutageKind, Outages, RoundTrip, StoreSpec, TimeOf,
};
use crate::time::{Span, Window};

/// So many outages, and so many fail-overs, are told one by one.
const MOST: usize = 3;

/// What a reader must know of a fleet that runs for so long.
pub(super) fn info(fleet: &Fleet, run: Window) -> FleetInfo {
    let Fleet { nodes, store, .. } = fleet;
    let used = !matches!(nodes.placement, Placement::Local | Placement::Split);
    let outages = Outages::within(run, &store.outages).windows();
    let stated = fleet.shards_at.is_some();
    FleetInfo {
        nodes: nodes_in_words(nodes),
        clocks: clocks::in_words(fleet, run),
        store: match used {
            true => Some(store_in_words(store, nodes.placement)),
            false => stated.then(|| "not asked".to_owned()),
        },
        outage: (used && !outages.is_empty()).then(|| trouble(store)),
        failure: (used && (!outages.is_empty() || may_fail(store)))
            .then(|| failure(store, nodes.placement)),
        outages: if used { outages } else { Vec::new() },
        fail_overs: match used {
            true => store.fail_overs.iter().map(|fail_over| run.start + fail_over.at).collect(),
            false => Vec::new(),
        },
        skew: clock::spread(&nodes.clocks, run),
    }
}

/// "3 nodes in turn, each with its own state".
fn nodes_in_words(nodes: &NodesSpec) -> String {
    let each = if nodes.count == 1 { "" } else { "each " };
    let state = match nodes.placement {
        Placement::Local => format!("{each}with its own state"),
        Placement::Split => format!("{each}with its share of the limit"),
        Placement::Shared => "all state in the store".to_owned(),
        Placement::Synced { every } => {
            format!("{each}with a copy, synced every {}", length(every))
        }
        Placement::Leased { batch, lasts } => {
            format!("{each}with quota leased {batch} at a time for {}", length(lasts))
        }
    };
    let routed = match (&nodes.routing, nodes.count) {
        (_, 1) => return format!("1 node, {state}"),
        (Routing::RoundRobin, _) => "in turn".to_owned(),
        (Routing::Random, _) => "at random".to_owned(),
        (Routing::ByKey, _) => "by key".to_owned(),
        (Routing::LeastBusy, _) => "by how busy they are".to_owned(),
        (Routing::Weighted(weights), _) => {
            let weights: Vec<String> = weights.iter().map(u32::to_string).collect();
            format!("in turn by weight ({})", weights.join(", "))
        }
    };
    let mut words = format!("{} nodes {routed}, {state}", nodes.count);
    if let Some(sweep) = nodes.sweep {
        words += &format!("; keys idle for {} swept", length(sweep.idle));
    }
    words
}

/// "1ms away, by script, on the nodes' time".
fn store_in_words(store: &StoreSpec, placement: Placement) -> String {
    let mut parts = vec![away(store.round_trip)];
    if placement == Placement::Shared {
        let how = match store.atomicity {
            Atomicity::Script => "by script",
            Atomicity::CheckThenIncrement => "check-then-increment",
            Atomicity::ReadModifyWrite => "read-modify-write",
        };
        parts.push(how.to_owned());
    }
    let time = match store.time {
        TimeOf::Node => "on the nodes' time",
        TimeOf::Store => "on the store's time",
    };
    parts.push(time.to_owned());
    if store.clocks.len() > 1 {
        parts.push(format!("in {} shards", store.clocks.len()));
    }
    parts.extend(expiry(store.expiry));
    parts.extend(store.memory.map(memory));
    parts.extend(fail_overs(&store.fail_overs));
    parts.join(", ")
}

fn away(round_trip: RoundTrip) -> String {
    match round_trip {
        RoundTrip::Constant(_) if round_trip.is_free() => "at hand".to_owned(),
        RoundTrip::Constant(span) => format!("{} away", length(span)),
        RoundTrip::Uniform { min, max } => format!("{} to {} away", length(min), length(max)),
        RoundTrip::Exponential { min, mean } => {
            format!("{} away on average, at least {}", length(mean), length(min))
        }
        RoundTrip::LogNormal { median, p99 } => {
            format!("{} away in half of all calls, p99 {}", length(median), length(p99))
        }
    }
}

/// How long keys live where that is not as long as it should be.
fn expiry(expiry: Expiry) -> Option<String> {
    Some(match expiry {
        Expiry::Right { .. } => return None,
        Expiry::None => "keys never expire".to_owned(),
        Expiry::Short { after } => format!("keys expire {} after a write", length(after)),
        Expiry::Renewed { after: Some(after) } => {
            format!("keys expire {} after a hit", length(after))
        }
        Expiry::Renewed { after: None } => "keys expire a window after a hit".to_owned(),
        Expiry::Lost { ppm } => format!("{} of expiries lost", share(f64::from(ppm) / 1e6)),
        Expiry::WholeSeconds { .. } => "keys expire after whole seconds".to_owned(),
    })
}

fn memory(memory: Memory) -> String {
    let evicted = match memory.eviction {
        Eviction::LeastRecentlyUsed => "evicting the least recently used",
        Eviction::SoonestToExpire => "evicting the soonest to expire",
        Eviction::Refuse => "refusing writes when full",
    };
    format!("{} of memory {evicted}", bytes(memory.bytes))
}

fn fail_overs(all: &[FailOver]) -> Option<String> {
    let one =
        |fail_over: &FailOver| format!("{} losing {}", length(fail_over.at), length(fail_over.lag));
    match all.len() {
        0 => None,
        1..=MOST => {
            let all: Vec<String> = all.iter().map(one).collect();
            Some(format!("fails over at {}", all.join(" and at ")))
        }
        more => Some(format!("fails over {more} times")),
    }
}

/// "down for 60s from 30s on, silent, for nodes 1, 2".
fn trouble(store: &StoreSpec) -> String {
    let when = |outage: &Outage| {
        let (what, how) = match outage.kind {
            OutageKind::Down(Down::Silent) => ("down".to_owned(), ", silent"),
            OutageKind::Down(Down::Refuses) => ("down".to_owned(), ", refusing calls"),
            OutageKind::Slow { times, extra } => (slow(times, extra), ""),
            OutageKind::Lossy { ppm, answers } => {
                let what = if answers { "answers" } else { "calls" };
                (format!("losing {} of {what}", share(f64::from(ppm) / 1e6)), "")
            }
        };
        let of = [some("node", &outage.nodes), some("shard", &outage.shards)];
        let lost = if outage.loses { ", then empty" } else { "" };
        let (lasts, at) = (length(outage.lasts), length(outage.at));
        format!("{what} for {lasts} from {at} on{how}{}{lost}", of.concat())
    };
    let mut told: Vec<String> = store.outages.iter().take(MOST).map(when).collect();
    match store.outages.len().saturating_sub(MOST) {
        0 => {}
        more => told.push(format!("{more} more")),
    }
    told.join("; ")
}

/// "10 times as slow and 1ms slower".
fn slow(times: u64, extra: Span) -> String {
    match (times, extra) {
        (1, extra) => format!("{} slower", length(extra)),
        (times, Span::ZERO) => format!("{times} times as slow"),
        (times, extra) => format!("{times} times as slow and {} slower", length(extra)),
    }
}

/// ", for nodes 1 and 2"; nothing where it is all of them.
fn some(what: &str, all: &[usize]) -> String {
    let numbers: Vec<String> = all.iter().map(|index| (index + 1).to_string()).collect();
    match numbers.len() {
        0 => String::new(),
        1 => format!(", for {what} {}", numbers[0]),
        2..=5 => format!(", for {what}s {}", listed(&numbers)),
        more => format!(", for {more} {what}s"),
    }
}

/// Whether a store of which nothing is wrong may leave a node without an answer.
fn may_fail(store: &StoreSpec) -> bool {
    let waits = match store.on_failure {
        OnFailure::OpenAfter(after) => after.min(store.timeout),
        _ => store.timeout,
    };
    let longest = match store.round_trip {
        RoundTrip::Constant(span) | RoundTrip::Uniform { max: span, .. } => Some(span),
        RoundTrip::Exponential { .. } | RoundTrip::LogNormal { .. } => None,
    };
    let refuses = store.memory.is_some_and(|memory| memory.eviction == Eviction::Refuse);
    refuses || longest.is_none_or(|longest| longest > waits)
}

/// "no answer within 1s, or an error: attempts pass; breakers open for 10s after 5 failures".
fn failure(store: &StoreSpec, placement: Placement) -> String {
    let without = format!("no answer within {}, or an error", length(store.timeout));
    let then = match (placement, store.on_failure) {
        (Placement::Synced { .. }, _) => "what was to be pushed is pushed again".to_owned(),
        (_, OnFailure::Open) => "attempts pass".to_owned(),
        (_, OnFailure::Closed) => "attempts are rejected".to_owned(),
        (_, OnFailure::OpenAfter(span)) => {
            let without = if store.timeout < span { &without } else { "no answer" };
            let then = format!("attempts pass {} after they came", length(span));
            return format!("{without}: {then}{}", breaker(store));
        }
        (_, OnFailure::Local) => match store.fallback {
            None => "each node limits by itself".to_owned(),
            Some(limit) => format!("each node limits by itself, {limit}"),
        },
    };
    format!("{without}: {then}{}", breaker(store))
}

fn breaker(store: &StoreSpec) -> String {
    store.breaker.map_or(String::new(), |BreakerSpec { failures, open_for }| {
        let failures = match failures {
            1 => "a failure".to_owned(),
            more => format!("{more} failures"),
        };
        format!("; breakers open for {} after {failures}", length(open_for))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::Clock;
    use crate::error::{Place, Source};
    use crate::rate::Limit;
    use crate::time::{Instant, Offset};

    fn nodes(count: usize, placement: Placement) -> NodesSpec {
        let clocks = vec![Clock::default(); count];
        NodesSpec { count, routing: Routing::RoundRobin, placement, clocks, sweep: None }
    }

    fn run() -> Window {
        Window { start: Instant(0), end: Instant(0) + Span::from_secs(100) }
    }

    fn outage(at: u64, kind: OutageKind, loses: bool) -> Outage {
        let (at, lasts) = (Span::from_secs(at), Span::from_secs(60));
        Outage { at, lasts, kind, nodes: Vec::new(), shards: Vec::new(), loses }
    }

    const MS: Span = Span::from_nanos(1_000_000);

    #[test]
    fn nodes_are_told_with_routing_and_placement() {
        let second = Span::from_secs(1);
        let mut told: Vec<String> = [
            Placement::Local,
            Placement::Split,
            Placement::Shared,
            Placement::Synced { every: second },
            Placement::Leased { batch: 10, lasts: second },
        ]
        .map(|placement| nodes_in_words(&nodes(3, placement)))
        .to_vec();
        told.push(nodes_in_words(&nodes(1, Placement::Local)));
        for routing in
            [Routing::Random, Routing::ByKey, Routing::LeastBusy, Routing::Weighted(vec![3, 1])]
        {
            told.push(nodes_in_words(&NodesSpec { routing, ..nodes(2, Placement::Local) }));
        }
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn a_store_is_told_with_what_is_not_as_it_should_be() {
        let plain = StoreSpec::default();
        let fail_over = FailOver { at: Span::from_secs(5), lag: MS, shard: None };
        let odd = StoreSpec {
            round_trip: RoundTrip::Uniform { min: MS, max: Span::from_secs(2) },
            atomicity: Atomicity::CheckThenIncrement,
            time: TimeOf::Store,
            clocks: vec![Clock::default(); 4],
            expiry: Expiry::Lost { ppm: 10_000 },
            memory: Some(Memory { bytes: 1_000_000, eviction: Eviction::LeastRecentlyUsed }),
            fail_overs: vec![fail_over, FailOver { at: Span::from_secs(50), ..fail_over }],
            ..plain.clone()
        };
        let told = [
            store_in_words(&plain, Placement::Shared),
            store_in_words(&odd, Placement::Shared),
            store_in_words(&odd, Placement::Synced { every: MS }),
        ];
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn an_outage_is_told_with_what_nodes_then_do() {
        let down = OutageKind::Down(Down::Silent);
        let lossy = OutageKind::Lossy { ppm: 300_000, answers: true };
        let slow = |times, extra| OutageKind::Slow { times, extra };
        let one = StoreSpec { outages: vec![outage(30, down, true)], ..StoreSpec::default() };
        let both = |store: &StoreSpec| {
            format!("{} / {}", trouble(store), failure(store, Placement::Shared))
        };
        let mut told = vec![both(&one)];
        for on_failure in
            [OnFailure::Closed, OnFailure::Local, OnFailure::OpenAfter(Span::from_secs(5))]
        {
            told.push(both(&StoreSpec { on_failure, ..one.clone() }));
        }
        let breaker = BreakerSpec { failures: 5, open_for: Span::from_secs(10) };
        told.push(both(&StoreSpec {
            outages: vec![outage(1, lossy, false), outage(2, slow(10, MS), false)],
            on_failure: OnFailure::Local,
            fallback: Some(Limit::new(10, Span::from_secs(1))),
            breaker: Some(breaker),
            ..StoreSpec::default()
        }));
        let some = Outage {
            nodes: vec![0, 2],
            shards: vec![1],
            ..outage(3, OutageKind::Down(Down::Refuses), false)
        };
        told.push(both(&StoreSpec {
            outages: vec![
                some,
                outage(1, slow(1, MS), false),
                outage(2, slow(2, Span::ZERO), false),
            ],
            on_failure: OnFailure::OpenAfter(MS),
            breaker: Some(BreakerSpec { failures: 1, ..breaker }),
            ..StoreSpec::default()
        }));
        told.push(both(&StoreSpec { outages: vec![outage(1, down, false); 5], ..one.clone() }));
        told.push(failure(&one, Placement::Synced { every: MS }));
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn what_nodes_do_without_an_answer_is_told_where_there_may_be_none() {
        let (second, plain) = (Span::from_secs(1), StoreSpec::default());
        assert_eq!(plain.timeout, second);
        let far = |round_trip| may_fail(&StoreSpec { round_trip, ..plain.clone() });
        let longer = Span::from_nanos(1_000_000_001);
        assert!(!far(RoundTrip::Constant(second)) && far(RoundTrip::Constant(longer)));
        assert!(!far(RoundTrip::Uniform { min: MS, max: second }));
        assert!(far(RoundTrip::Exponential { min: MS, mean: second }));
        let memory = |eviction| Some(Memory { bytes: 1_000_000, eviction });
        let full = |eviction| may_fail(&StoreSpec { memory: memory(eviction), ..plain.clone() });
        assert!(full(Eviction::Refuse) && !full(Eviction::LeastRecentlyUsed));
        let open_after = StoreSpec {
            on_failure: OnFailure::OpenAfter(MS),
            round_trip: RoundTrip::Constant(second),
            ..plain
        };
        assert!(may_fail(&open_after));
    }

    #[test]
    fn of_a_store_that_no_node_uses_nothing_is_told() {
        let down = outage(30, OutageKind::Down(Down::Silent), false);
        let fail_over = FailOver { at: Span::from_secs(5), lag: MS, shard: None };
        let fail_overs = vec![fail_over];
        let store = StoreSpec { outages: vec![down], fail_overs, ..StoreSpec::default() };
        let mut nodes = nodes(2, Placement::Shared);
        nodes.clocks[1].offset = Offset::saturating(-5);
        let mut fleet = Fleet::new(nodes, store);
        let shared = info(&fleet, run());
        assert!(shared.store.is_some() && shared.outage.is_some() && shared.failure.is_some());
        let window = Window {
            start: run().start + Span::from_secs(30),
            end: run().start + Span::from_secs(90),
        };
        assert_eq!((shared.outages, shared.skew), (vec![window], Span::from_nanos(5)));
        assert_eq!(shared.fail_overs, [run().start + Span::from_secs(5)]);
        fleet.nodes.placement = Placement::Split;
        let split = info(&fleet, run());
        assert_eq!((split.store, split.outage, split.outages), (None, None, Vec::new()));
        assert_eq!((split.failure, split.fail_overs), (None, Vec::new()));
        // Where the scenario states one, it is told that nobody asks it.
        let source = Source { name: "s.toml".to_owned(), text: "[store]".to_owned() };
        fleet.shards_at = Some(Place { source: Arc::new(source), span: 0..7 });
        assert_eq!(info(&fleet, run()).store.as_deref(), Some("not asked"));
    }
}
