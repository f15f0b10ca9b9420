//! Fleets made by hand for the tests of tables and charts: an outage, keys that do or do not expire, clocks apart.

use proptest::prelude::*;

use super::format::length;
use super::samples::{case, noon};
use crate::algorithm::{ALGORITHMS, Wait};
use crate::judge::{FleetTally, InOutages, Judge, StoreKeys, Tally, Touch};
use crate::metrics::{CaseInfo, Comparison, FleetInfo, Row};
use crate::rate::Limit;
use crate::time::{Instant, Span, Window};

const LIMIT: Limit = Limit::new(2, Span::from_secs(1));
const TOUCHES: [Touch; 1] = [Touch { limit: 0, key: 0, cost: 1 }];

fn at(ms: u64) -> Instant {
    noon() + Span::from_nanos(ms * 1_000_000)
}

fn window(from: u64, to: u64) -> Window {
    Window { start: at(1000 * from), end: at(1000 * to) }
}

fn judge(outages: Vec<Window>) -> Judge {
    let limits = [("2 per 1s".to_owned(), LIMIT)];
    let mut judge = Judge::new(window(0, 180), &limits, 1).with_fleet(outages);
    judge.meet(0, LIMIT);
    judge
}

fn finish(judge: Judge) -> Tally {
    judge.finish(0, 0, |_, _| "alice".to_owned(), |_| "alice".to_owned())
}

fn row(case: usize, algorithm: &str, tally: Tally) -> Row {
    let kind = ALGORITHMS.iter().position(|kind| kind.name == algorithm).unwrap();
    let (algorithm, repeats) = (algorithm.to_owned(), Vec::new());
    Row { case, algorithm, kind, seed: 1, reference: None, tally, repeats }
}

fn comparison(scenario: &str, cases: Vec<CaseInfo>, rows: Vec<Row>) -> Comparison {
    let (scenario, about) = (scenario.to_owned(), "What nodes and a store make of it.".to_owned());
    Comparison { scenario, about, cases, baseline: 0, rows }
}

fn info(nodes: &str, store: &str) -> FleetInfo {
    FleetInfo {
        nodes: nodes.to_owned(),
        clocks: None,
        store: Some(store.to_owned()),
        outage: None,
        failure: None,
        outages: Vec::new(),
        fail_overs: Vec::new(),
        skew: Span::ZERO,
    }
}

/// What four nodes in turn do while the store is down.
#[derive(Clone, Copy, PartialEq)]
enum Policy {
    Open,
    Closed,
    Local,
    /// It is not down.
    None,
}

/// Ten attempts a second for three minutes under a limit of two, of which the store lets the first two of a second
/// through; in the second minute it is down, which a node learns after 50 ms.
fn through_outage(policy: Policy) -> Tally {
    let outage = window(60, 120);
    let mut judge = judge(if policy == Policy::None { Vec::new() } else { vec![outage] });
    let mut by_node = [0; 4];
    for n in 0..1800 {
        let (now, nth) = (at(100 * n), n % 10);
        let node = &mut by_node[n as usize % 4];
        judge.offered(now, 0, &TOUCHES);
        judge.called(now, 180);
        if policy == Policy::None || !outage.contains(now) {
            judge.waited_for_store(Span::from_nanos(1_000_000));
            judge.keys_in_store(now, 1, 0);
            match nth < 2 {
                true => judge.accepted(now, 0, &TOUCHES, None),
                false => judge.rejected(now, 0, &TOUCHES, 1, Wait::After(at(1000) - at(100 * nth))),
            }
            continue;
        }
        judge.call_failed(at(100 * n + 50));
        judge.waited_for_store(Span::from_nanos(50_000_000));
        judge.keys_in_store(now, 0, 0);
        match policy {
            Policy::Closed => judge.turned_down(now, 0, &TOUCHES),
            Policy::Local => {
                *node = if nth < 4 { 1 } else { *node + 1 };
                match *node <= 2 {
                    true => judge.accepted(now, 0, &TOUCHES, None),
                    false => {
                        judge.rejected(now, 0, &TOUCHES, 1, Wait::After(at(1000) - at(100 * nth)));
                    }
                }
                judge.fell_back(now);
            }
            Policy::Open | Policy::None => {
                judge.accepted(now, 0, &TOUCHES, None);
                judge.unlimited(now);
            }
        }
    }
    finish(judge)
}

/// An outage of a minute under three policies, and none.
pub fn outage() -> Comparison {
    let policies = [
        ("open", Policy::Open, "attempts pass"),
        ("closed", Policy::Closed, "attempts are rejected"),
        ("local", Policy::Local, "each node limits by itself"),
        ("no outage", Policy::None, ""),
    ];
    let cases = policies.map(|(name, policy, then)| {
        let told = info("4 nodes in turn, all state in the store", "1ms away, by script");
        let fleet = match policy {
            Policy::None => told,
            _ => FleetInfo {
                outage: Some("down for 60s from 60s on, silent".to_owned()),
                failure: Some(format!("no answer within 50ms, or an error: {then}")),
                outages: vec![window(60, 120)],
                ..told
            },
        };
        CaseInfo { fleet: Some(fleet), ..case(name, LIMIT) }
    });
    let rows = policies.iter().enumerate();
    let rows =
        rows.map(|(case, (_, policy, _))| row(case, "fixed-window", through_outage(*policy)));
    comparison("redis-outage", cases.to_vec(), rows.collect())
}

/// A new key each 100 ms for three minutes. It lives for so many of these, or for ever; of each ten, so many more stay
/// for ever.
fn keys(lives: Option<u64>, stuck_of_ten: u64) -> Tally {
    let mut judge = judge(Vec::new());
    for n in 0..1800 {
        let living = (n + 1).min(lives.unwrap_or(u64::MAX));
        let stuck = if lives.is_none() { living } else { n / 10 * stuck_of_ten };
        let alive = if lives.is_none() { living } else { living + stuck };
        judge.keys_in_store(at(100 * n), alive, stuck);
    }
    finish(judge)
}

/// Keys that never expire, those that do, and those of which some are stuck.
pub fn expiry() -> Comparison {
    let kinds = [("none", None, 0), ("right", Some(100), 0), ("lost", Some(100), 1)];
    let cases = kinds.map(|(name, ..)| {
        let store = format!("1ms away, by script, expiry {name}");
        CaseInfo { fleet: Some(info("2 nodes in turn", &store)), ..case(name, LIMIT) }
    });
    let rows = kinds.iter().enumerate().flat_map(|(case, (_, lives, stuck))| {
        let longer = lives.map(|lives| 2 * lives);
        [
            row(case, "fixed-window", keys(*lives, *stuck)),
            row(case, "sliding-window-counter", keys(longer, *stuck)),
            row(case, "gcra", keys(*lives, *stuck)),
        ]
    });
    comparison("expiry", cases.to_vec(), rows.collect())
}

/// Clocks of three nodes 0, 10 ms, 1 s and 10 s apart, with the nodes' time and that of the store, and what goes
/// over the limit for it.
pub fn skew() -> Comparison {
    const SKEWS: [u64; 4] = [0, 10, 1000, 10_000];
    let mut cases = Vec::new();
    let mut rows = Vec::new();
    for (time, by_skew) in [("the nodes' time", true), ("the store's time", false)] {
        for ms in SKEWS {
            let store = format!("1ms away, by script, on {time}");
            let told = info("3 nodes in turn, all state in the store", &store);
            let skew = Span::from_nanos(ms * 1_000_000);
            let name = format!("{ms} ms, {time}");
            let case_number = cases.len();
            let clocks = (ms > 0).then(|| format!("up to {} apart", length(skew)));
            let fleet = Some(FleetInfo { clocks, skew, ..told });
            cases.push(CaseInfo { fleet, ..case(&name, LIMIT) });
            let more = if by_skew { ms } else { 0 };
            for (algorithm, over) in [
                ("fixed-window", 12 + more / 10),
                ("sliding-window-log", more / 25),
                ("token-bucket", 3 + more / 12),
                ("gcra", 3 + more / 12),
            ] {
                let mut tally = finish(judge(Vec::new()));
                tally.over_limit = over;
                rows.push(row(case_number, algorithm, tally));
            }
        }
    }
    comparison("clock-skew", cases, rows)
}

/// What any fleet may have found.
pub fn any() -> impl Strategy<Value = FleetTally> {
    let number = || prop_oneof![Just(0), 0..300_u64, 0..u64::from(u32::MAX) * 1000];
    let outages = prop::option::of((number(), number(), 0..3_u64));
    let keys = prop::option::of((number(), number()));
    (prop::array::uniform9(number()), 0..=Span::MAX.nanos(), outages, keys).prop_map(
        |(
            [accepted, promised, unlimited, turned_down, fell_back, calls, bytes, trips, evicted],
            wait,
            outages,
            keys,
        )| {
            let mut found = FleetTally {
                accepted_cost: accepted.into(),
                promised_cost: promised.into(),
                in_outages: outages.map(|(accepted, rejected, over_limit)| InOutages {
                    accepted,
                    over_limit,
                    rejected,
                }),
                keys: keys.map(|(most, stuck_at_end)| StoreKeys {
                    most,
                    at_end: most / 2,
                    stuck_at_end,
                }),
                failed_calls: calls / 3,
                unlimited,
                turned_down,
                fell_back,
                calls,
                bytes,
                trips,
                evicted,
                ..FleetTally::default()
            };
            (0..calls % 3).for_each(|_| found.store_waits.record(Span::from_nanos(wait)));
            found
        },
    )
}

/// Gives a tally what a fleet found; no more goes over a limit in outages than at all.
pub fn give(tally: &mut Tally, found: Option<FleetTally>) {
    tally.fleet = found;
    if let Some(found) = tally.fleet.as_mut().and_then(|fleet| fleet.in_outages.as_mut()) {
        found.over_limit = found.over_limit.min(tally.over_limit);
    }
}

/// What may be told of the fleet of a case.
pub fn any_info() -> impl Strategy<Value = FleetInfo> {
    let outages = prop::collection::btree_set(0..200_u64, 0..8);
    let words =
        ("[a-z, ]{0,60}", prop::option::of("[a-z, ]{0,90}"), prop::option::of("[a-z, ]{0,120}"));
    (words, outages, prop_oneof![Just(0), 0..=Span::MAX.nanos()]).prop_map(
        |((nodes, store, outage), outages, skew)| {
            let edges: Vec<u64> = outages.into_iter().collect();
            let outages = edges.chunks_exact(2).map(|of| window(of[0], of[1])).collect();
            let fail_overs = edges.iter().skip(1).map(|secs| at(1000 * secs)).collect();
            let skew = Span::from_nanos(skew);
            let (clocks, failure) = (store.clone(), outage.clone());
            FleetInfo { nodes, clocks, store, outage, failure, outages, fail_overs, skew }
        },
    )
}
