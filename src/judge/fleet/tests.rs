//! Fleets judged: by hand, and against the definitions over generated calls.

use super::*;
use crate::judge::{Bin, Tally};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SECOND: i64 = 1_000_000_000;

fn at(ms: i64) -> Instant {
    Instant(ms * SECOND / 1000)
}

fn window(from: i64, to: i64) -> Window {
    Window { start: at(from), end: at(to) }
}

/// A judge of a minute (in bins of 100 ms) of one client, whose key is 0 under a limit of 10 per 10 s.
fn judge(outages: Vec<Window>) -> Judge {
    let limit = Limit::new(10, Span::from_secs(10));
    let judge = Judge::new(window(0, 60_000), &[("limit".to_owned(), limit)], 1);
    let mut judge = judge.with_fleet(outages);
    judge.meet(0, limit);
    judge
}

fn touch(cost: u32) -> [Touch; 1] {
    [Touch { limit: 0, key: 0, cost }]
}

/// So many attempts of cost 1 at one instant, of which so many are let through.
fn burst(judge: &mut Judge, ms: i64, offered: u64, accepted: u64) {
    for n in 0..offered {
        judge.offered(at(ms), 0, &touch(1));
        match n < accepted {
            true => judge.accepted(at(ms), 0, &touch(1), None),
            false => judge.rejected(at(ms), 0, &touch(1), 1, Wait::Never),
        }
    }
}

fn finish(judge: Judge) -> Tally {
    judge.finish(0, 0, |_, _| "key".to_owned(), |_| "client".to_owned())
}

fn effective(judge: Judge) -> (u128, u128) {
    let fleet = finish(judge).fleet.unwrap();
    (fleet.accepted_cost, fleet.promised_cost)
}

#[test]
fn three_nodes_that_each_let_a_full_burst_through_let_three_times_the_limit_through() {
    let mut judge = judge(Vec::new());
    burst(&mut judge, 1000, 100, 30);
    assert_eq!(effective(judge), (30, 10));
}

#[test]
fn what_is_asked_for_within_the_limit_is_promised_and_no_more() {
    // 4 in [0 s, 10 s), 10 of 12 in [10 s, 20 s), none, 3 and 3 in [30 s, 40 s).
    let mut judge = judge(Vec::new());
    for (ms, offered) in [(500, 4), (10_000, 12), (30_000, 3), (39_999, 3)] {
        burst(&mut judge, ms, offered, offered.min(10));
    }
    assert_eq!(effective(judge), (4 + 10 + 6, 4 + 10 + 6));
}

#[test]
fn costs_count_and_what_never_fits_is_promised_up_to_the_limit() {
    let mut judge = judge(Vec::new());
    for (cost, passes) in [(7, true), (7, false), (25, true)] {
        judge.offered(at(5), 0, &touch(cost));
        match passes {
            true => judge.accepted(at(5), 0, &touch(cost), None),
            false => judge.turned_down(at(5), 0, &touch(cost)),
        }
    }
    assert_eq!(effective(judge), (32, 10));
}

#[test]
fn an_attempt_is_promised_when_it_is_made_and_inside_an_outage_if_it_is_decided_in_it() {
    // Made at 9.9 s, decided at 10.1 s, when the next window of the clock and an outage have begun.
    let mut judge = judge(vec![window(10_000, 20_000), window(30_000, 30_001)]);
    judge.offered(at(9_900), 0, &touch(1));
    burst(&mut judge, 10_000, 10, 10);
    judge.accepted(at(10_100), 0, &touch(1), None); // the 11th in 10 s
    burst(&mut judge, 19_999, 2, 1); // still in the outage; and over the limit
    burst(&mut judge, 20_000, 5, 1); // no longer: 2 of the last 10 s are left at 20.1 s
    burst(&mut judge, 30_000, 1, 0);
    let tally = finish(judge);
    let fleet = tally.fleet.unwrap();
    assert_eq!((fleet.accepted_cost, fleet.promised_cost), (13, 1 + 10 + 5 + 1));
    let found = InOutages { accepted: 12, over_limit: 2, rejected: 2 };
    assert_eq!(fleet.in_outages, Some(found));
    // At 20 s what passed at 10 s no longer counts.
    assert_eq!((tally.over_limit, tally.books.rejected), (2, 1 + 4 + 1));
}

#[test]
fn where_there_are_no_outages_nothing_is_told_of_them() {
    assert_eq!(finish(judge(Vec::new())).fleet.unwrap().in_outages, None);
    let none = finish(judge(vec![window(1, 2)])).fleet.unwrap().in_outages;
    assert_eq!(none, Some(InOutages::default()));
}

#[test]
fn a_rejection_for_the_stores_sake_is_one_without_a_wait_and_of_no_limit() {
    let mut judge = judge(Vec::new());
    for ms in [1000, 2000] {
        judge.offered(at(ms), 0, &touch(1));
        judge.turned_down(at(ms), 0, &touch(1));
    }
    burst(&mut judge, 5000, 1, 1);
    let tally = finish(judge);
    assert_eq!((tally.books.rejected, tally.needless_rejections), (2, 2));
    assert_eq!((tally.denial_waits.count(), tally.denied_for_ever), (0, 0));
    let limit = &tally.limits[0];
    assert_eq!((limit.refused, limit.needless_rejections, limit.keys.get(0).rejected), (0, 0, 2));
    // From 1 s until the next acceptance at 5 s, because nobody was told when to come again.
    let lockouts = [&limit.keys, &tally.clients].map(|subjects| subjects.get(0).longest_lockout);
    assert_eq!(lockouts, [Span::from_secs(4); 2]);
    assert_eq!(tally.fleet.unwrap().turned_down, 2);
    assert_eq!([10, 20, 50].map(|bin| tally.timeline.bins[bin].turned_down), [1, 1, 0]);
}

#[test]
fn calls_and_what_nodes_did_without_an_answer_are_counted_and_binned() {
    let mut judge = judge(Vec::new());
    for (ms, bytes) in [(1000, 100), (1050, 20), (1100, 3)] {
        judge.called(at(ms), bytes);
    }
    judge.call_failed(at(1110));
    burst(&mut judge, 1200, 3, 2);
    judge.fell_back(at(1200));
    judge.unlimited(at(1200));
    judge.waited_for_store(Span::from_secs(2));
    judge.waited_for_store(Span::ZERO);
    (0..4).for_each(|_| judge.short_circuited());
    judge.evicted();
    (0..2).for_each(|_| judge.tripped());
    let tally = finish(judge);
    let fleet = tally.fleet.unwrap();
    assert_eq!((fleet.calls, fleet.failed_calls, fleet.bytes), (3, 1, 123));
    assert_eq!((fleet.unlimited, fleet.fell_back, fleet.turned_down), (1, 1, 0));
    assert_eq!((fleet.trips, fleet.evicted, fleet.keys), (2, 1, None));
    let waits = &fleet.store_waits;
    assert_eq!(fleet.short_circuited, 4);
    assert_eq!((waits.count(), waits.max()), (2, Some(Span::from_secs(2))));
    let told = |bin: &Bin| [bin.calls, bin.failed_calls, bin.unlimited, bin.fell_back];
    let bins = [10, 11, 12, 13].map(|bin| told(&tally.timeline.bins[bin]));
    assert_eq!(bins, [[2, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0; 4]]);
}

#[test]
fn the_most_keys_of_a_bin_are_told_with_what_is_carried_into_it() {
    // 3 until 1.45 s, 5 until 1.6 s sharp, then 2, of which 1 is stuck.
    let mut judge = judge(Vec::new());
    for (ms, alive, stuck) in [(1220, 3, 0), (1450, 5, 0), (1600, 2, 1)] {
        judge.keys_in_store(at(ms), alive, stuck);
    }
    let tally = finish(judge);
    let told = |bin: usize| {
        let bin = &tally.timeline.bins[bin];
        (bin.keys_in_store, bin.stuck_keys)
    };
    let expected = [(0, 0), (3, 0), (3, 0), (5, 0), (5, 0), (2, 1), (2, 1), (2, 1)];
    assert_eq!([11, 12, 13, 14, 15, 16, 17, 599].map(told), expected);
    let keys = StoreKeys { most: 5, at_end: 2, stuck_at_end: 1 };
    assert_eq!(tally.fleet.unwrap().keys, Some(keys));
}

#[test]
#[should_panic(expected = "a fleet does not split by keys")]
fn fleets_do_not_add_up() {
    let mut tally = finish(judge(Vec::new()));
    tally.merge(finish(judge(Vec::new())));
}

/// What happens at an instant.
#[derive(Debug, Clone)]
struct Event {
    at: i64,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Offered { key: usize, cost: u32 },
    Accepted { key: usize, cost: u32 },
    TurnedDown { key: usize, cost: u32 },
    Rejected { key: usize, cost: u32 },
    Keys { alive: u64, stuck: u64 },
}

impl Event {
    fn tell(&self, judge: &mut Judge) {
        let at = Instant(self.at);
        let touches = |key, cost| [Touch { limit: 0, key, cost }];
        match self.what {
            What::Offered { key, cost } => judge.offered(at, key as u32, &touches(key, cost)),
            What::Accepted { key, cost } => {
                judge.accepted(at, key as u32, &touches(key, cost), None);
            }
            What::TurnedDown { key, cost } => {
                judge.turned_down(at, key as u32, &touches(key, cost));
            }
            What::Rejected { key, cost } => {
                judge.rejected(at, key as u32, &touches(key, cost), 1, Wait::Never);
            }
            What::Keys { alive, stuck } => judge.keys_in_store(at, alive, stuck),
        }
    }

    fn is_accepted(&self) -> bool {
        matches!(self.what, What::Accepted { .. })
    }

    fn is_rejected(&self) -> bool {
        matches!(self.what, What::TurnedDown { .. } | What::Rejected { .. })
    }

    /// The keys in the store from then on, if it tells them: all, and those that are stuck.
    fn stored(&self) -> Option<(u64, u64)> {
        match self.what {
            What::Keys { alive, stuck } => Some((alive, stuck)),
            _ => None,
        }
    }
}

/// 600 bins of 1 ns.
const BINS: i64 = 600;

/// Attempts, each with its decision at the same instant or later, and changes of what is stored; by offsets from the
/// start of a run, in time order.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let attempt = (0..60_i64, 0..3_usize, 0..5_u32, 0..3_u8, 0..40_i64);
    let attempts = prop::collection::vec(attempt, 0..60);
    let stored = prop::collection::vec((0..BINS, 0..9_u64, 0..9_u64), 0..20);
    (attempts, stored).prop_map(|(attempts, stored)| {
        let (mut events, mut now) = (Vec::new(), 0);
        for (gap, key, cost, outcome, later) in attempts {
            now = (now + gap).min(BINS - 1);
            events.push(Event { at: now, what: What::Offered { key, cost } });
            let what = match outcome {
                0 => What::Accepted { key, cost },
                1 => What::TurnedDown { key, cost },
                _ => What::Rejected { key, cost },
            };
            events.push(Event { at: (now + later).min(BINS - 1), what });
        }
        let keys = |(at, alive, stuck)| Event { at, what: What::Keys { alive, stuck } };
        events.extend(stored.into_iter().map(keys));
        events.sort_by_key(|event| event.at);
        events
    })
}

proptest! {
    /// Against sums over all windows of the clock, and a look at every outage and every nanosecond.
    #[test]
    fn a_fleet_is_judged_as_the_definitions_say(
        start in -300..300_i64,
        promises in prop::collection::vec((0..9_u64, 1..200_u64), 3),
        events in events(),
        edges in prop::collection::btree_set(0..BINS, 0..6),
    ) {
        let run = Window { start: Instant(start), end: Instant(start + BINS) };
        let limit = |&(requests, per): &(u64, u64)| Limit::new(requests, Span::from_nanos(per));
        let promises: Vec<Limit> = promises.iter().map(limit).collect();
        let edges: Vec<Instant> = edges.into_iter().map(|edge| Instant(start + edge)).collect();
        let outages = edges.chunks_exact(2).map(|of| Window { start: of[0], end: of[1] });
        let outages: Vec<Window> = outages.collect();
        let events: Vec<Event> =
            events.into_iter().map(|event| Event { at: start + event.at, ..event }).collect();
        let mut judge = Judge::new(run, &[("limit".to_owned(), promises[0])], 3);
        judge = judge.with_fleet(outages.clone());
        promises.iter().for_each(|&promise| judge.meet(0, promise));
        events.iter().for_each(|event| event.tell(&mut judge));
        let tally = judge.finish(0, 0, |_, key| key.to_string(), |client| client.to_string());
        let fleet = tally.fleet.unwrap();

        let mut offered = BTreeMap::new();
        let mut accepted_cost = 0;
        for event in &events {
            match event.what {
                What::Offered { key, cost } => {
                    let window = event.at.div_euclid(promises[key].per.signed());
                    *offered.entry((key, window)).or_insert(0) += u64::from(cost);
                }
                What::Accepted { cost, .. } => accepted_cost += u128::from(cost),
                _ => {}
            }
        }
        let promised = offered.iter().map(|(&(key, _), &cost)| cost.min(promises[key].requests));
        prop_assert_eq!(fleet.promised_cost, promised.map(u128::from).sum());
        prop_assert_eq!(fleet.accepted_cost, accepted_cost);

        let is_in = |at: i64| outages.iter().any(|outage| outage.contains(Instant(at)));
        let inside = |what: fn(&Event) -> bool| {
            events.iter().filter(|event| what(event) && is_in(event.at)).count() as u64
        };
        let found = fleet.in_outages.map(|found| (found.accepted, found.rejected));
        let expected = (inside(Event::is_accepted), inside(Event::is_rejected));
        prop_assert_eq!(found, (!outages.is_empty()).then_some(expected));
        prop_assert!(fleet.in_outages.is_none_or(|found| found.over_limit <= tally.over_limit));

        let stored: Vec<(i64, (u64, u64))> =
            events.iter().filter_map(|event| Some((event.at, event.stored()?))).collect();
        for (bin, at) in tally.timeline.bins.iter().zip(start..) {
            // What is changed at the start of a bin, in which nothing else can happen, counts no more.
            let mut told: Vec<(u64, u64)> =
                stored.iter().filter(|change| change.0 == at).map(|change| change.1).collect();
            if told.is_empty() {
                told.extend(stored.iter().rfind(|change| change.0 < at).map(|change| change.1));
            }
            let alive = told.iter().map(|keys| keys.0).max().unwrap_or(0);
            let stuck = told.iter().map(|keys| keys.1).max().unwrap_or(0);
            prop_assert_eq!((bin.keys_in_store, bin.stuck_keys), (alive, stuck), "{}", at);
        }
        let keys = stored.last().map(|&(_, (at_end, stuck_at_end))| StoreKeys {
            most: stored.iter().map(|change| change.1.0).max().unwrap_or(0),
            at_end,
            stuck_at_end,
        });
        prop_assert_eq!(fleet.keys, keys);
    }
}
