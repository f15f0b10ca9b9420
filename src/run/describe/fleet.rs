//! The nodes of a case and their store in words.

use crate::clock;
use crate::metrics::FleetInfo;
use crate::nodes::{NodesSpec, Placement, Routing};
use crate::report::format::{bytes, length, share};
use crate::scenario::Fleet;
use crate::store::{
    Atomicity, BreakerSpec, Eviction, Expiry, FailOver, Memory, OnFailure, Outage, OutageKind,
    Outages, RoundTrip, StoreSpec, TimeOf,
};
use crate::time::Window;

/// So many outages, and so many fail-overs, are told one by one.
const MOST: usize = 3;

/// What a reader must know of a fleet that runs for so long.
pub(super) fn info(fleet: &Fleet, run: Window) -> FleetInfo {
    let Fleet { nodes, store, .. } = fleet;
    let used = !matches!(nodes.placement, Placement::Local | Placement::Split);
    let outages = Outages::within(run, &store.outages).windows();
    FleetInfo {
        nodes: nodes_in_words(nodes),
        store: used.then(|| store_in_words(store, nodes.placement)),
        outage: (used && !outages.is_empty()).then(|| trouble(store)),
        outages: if used { outages } else { Vec::new() },
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

/// "shared, 1ms away, by script, on the nodes' time".
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
        TimeOf::Store => "on its own time",
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

/// "down for 60s from 30s on; without an answer attempts are rejected".
fn trouble(store: &StoreSpec) -> String {
    let when = |outage: &Outage| {
        let what = match outage.kind {
            OutageKind::Down(_) => "down".to_owned(),
            OutageKind::Slow { .. } => "slow".to_owned(),
            OutageKind::Lossy { ppm, answers } => {
                let what = if answers { "answers" } else { "calls" };
                format!("losing {} of {what}", share(f64::from(ppm) / 1e6))
            }
        };
        let lost = if outage.loses { ", then empty" } else { "" };
        format!("{what} for {} from {} on{lost}", length(outage.lasts), length(outage.at))
    };
    let mut told: Vec<String> = store.outages.iter().take(MOST).map(when).collect();
    match store.outages.len().saturating_sub(MOST) {
        0 => {}
        more => told.push(format!("{more} more")),
    }
    let then = match store.on_failure {
        OnFailure::Open => "attempts pass".to_owned(),
        OnFailure::Closed => "attempts are rejected".to_owned(),
        OnFailure::OpenAfter(span) => format!("attempts pass {} after they came", length(span)),
        OnFailure::Local => match store.fallback {
            None => "each node limits by itself".to_owned(),
            Some(limit) => format!("each node limits by itself, {limit}"),
        },
    };
    let breaker = store.breaker.map_or(String::new(), |BreakerSpec { failures, open_for }| {
        format!("; breakers open for {} after {failures} failures", length(open_for))
    });
    format!("{}; without an answer {then}{breaker}", told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::rate::Limit;
    use crate::store::Down;
    use crate::time::{Instant, Offset, Span};

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
        let slow = OutageKind::Slow { times: 10, extra: MS };
        let one = StoreSpec { outages: vec![outage(30, down, true)], ..StoreSpec::default() };
        let mut told = vec![trouble(&one)];
        for on_failure in
            [OnFailure::Closed, OnFailure::Local, OnFailure::OpenAfter(Span::from_secs(5))]
        {
            told.push(trouble(&StoreSpec { on_failure, ..one.clone() }));
        }
        let breaker = BreakerSpec { failures: 5, open_for: Span::from_secs(10) };
        told.push(trouble(&StoreSpec {
            outages: vec![outage(1, lossy, false), outage(2, slow, false)],
            on_failure: OnFailure::Local,
            fallback: Some(Limit::new(10, Span::from_secs(1))),
            breaker: Some(breaker),
            ..StoreSpec::default()
        }));
        told.push(trouble(&StoreSpec { outages: vec![outage(1, down, false); 5], ..one }));
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn of_a_store_that_no_node_uses_nothing_is_told() {
        let down = outage(30, OutageKind::Down(Down::Silent), false);
        let store = StoreSpec { outages: vec![down], ..StoreSpec::default() };
        let mut nodes = nodes(2, Placement::Shared);
        nodes.clocks[1].offset = Offset::saturating(-5);
        let mut fleet = Fleet::new(nodes, store);
        let shared = info(&fleet, run());
        assert!(shared.store.is_some() && shared.outage.is_some());
        let window = Window {
            start: run().start + Span::from_secs(30),
            end: run().start + Span::from_secs(90),
        };
        assert_eq!((shared.outages, shared.skew), (vec![window], Span::from_nanos(5)));
        fleet.nodes.placement = Placement::Split;
        let split = info(&fleet, run());
        assert_eq!((split.store, split.outage, split.outages), (None, None, Vec::new()));
    }
}
