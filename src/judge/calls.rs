//! Generated calls of a judge for the tests, with what a judge finds from them.

use proptest::prelude::*;
use proptest::sample::select;

use super::{Judge, Tally, Touch};
use crate::algorithm::{Footprint, Wait};
use crate::rate::Limit;
use crate::time::Window;
use crate::time::{Instant, Span};

/// 600 bins of 10 ns.
pub(super) const WINDOW: Window = Window { start: Instant(-1000), end: Instant(5000) };
pub(super) const CLIENTS: usize = 4;

/// The promises of the keys of each limit.
pub(super) type Promises = Vec<Vec<Limit>>;

/// A call of the judge.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub at: Instant,
    pub client: u32,
    pub touches: Vec<Touch>,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    Offered,
    Accepted(Option<Span>),
    Rejected(u64, Wait),
    Kept(Footprint, Option<Instant>),
}

impl Call {
    pub fn is_accepted(&self) -> bool {
        matches!(self.what, What::Accepted(_))
    }

    pub fn is_rejected(&self) -> bool {
        matches!(self.what, What::Rejected(..))
    }

    pub fn cost(&self, limit: usize, key: usize) -> Option<u64> {
        let touch = self.touches.iter().find(|touch| (touch.limit, touch.key) == (limit, key));
        touch.map(|touch| u64::from(touch.cost))
    }
}

pub(super) fn limits(promises: &Promises) -> Vec<(String, Limit)> {
    promises.iter().enumerate().map(|(i, keys)| (format!("limit {i}"), keys[0])).collect()
}

pub(super) fn key_name(limit: usize, key: usize) -> String {
    format!("key {key} of {limit}")
}

pub(super) fn client_name(client: usize) -> String {
    format!("client {client}")
}

pub(super) fn pending(calls: &[Call]) -> u64 {
    let count = |what: &dyn Fn(&Call) -> bool| calls.iter().filter(|&call| what(call)).count();
    let offered = count(&|call| call.what == What::Offered);
    (offered - count(&Call::is_accepted) - count(&Call::is_rejected)) as u64
}

/// What the judge finds.
pub(super) fn judged(promises: &Promises, calls: &[Call]) -> Tally {
    let mut judge = Judge::new(WINDOW, &limits(promises), CLIENTS);
    for (limit, keys) in promises.iter().enumerate() {
        keys.iter().for_each(|&promise| judge.meet(limit, promise));
    }
    for Call { at, client, touches, what } in calls {
        match *what {
            What::Offered => judge.offered(*at, *client, touches),
            What::Accepted(waited) => judge.accepted(*at, *client, touches, waited),
            What::Rejected(refused, wait) => judge.rejected(*at, *client, touches, refused, wait),
            What::Kept(footprint, until) => {
                judge.kept(touches[0].limit, touches[0].key, *at, footprint, until);
            }
        }
    }
    judge.finish(pending(calls), 0, key_name, client_name)
}

/// Gaps between attempts: many at one instant, at neighbouring ones, in one bin, and far apart.
fn gap() -> impl Strategy<Value = i64> {
    prop_oneof![3 => Just(0), 3 => 1..=12_i64, 1 => 100..=900_i64]
}

fn promise() -> impl Strategy<Value = Limit> {
    (0..8_u64, 1..800_u64).prop_map(|(requests, per)| Limit::new(requests, Span::from_nanos(per)))
}

/// Two limits with three and two keys, some with a promise of their own.
pub(super) fn two_limits() -> impl Strategy<Value = Promises> {
    let keys = |count| prop::collection::vec(promise(), count);
    (keys(3), keys(2)).prop_map(|(first, second)| vec![first, second])
}

fn decision() -> impl Strategy<Value = Option<What>> {
    let waited = || prop_oneof![Just(None), (0..300_u64).prop_map(|n| Some(Span::from_nanos(n)))];
    let wait = prop_oneof![
        4 => (1..99_u64).prop_map(|nanos| Wait::After(Span::from_nanos(nanos))),
        1 => Just(Wait::Never),
    ];
    prop_oneof![
        6 => waited().prop_map(|waited| Some(What::Accepted(waited))),
        4 => (1..4_u64, wait).prop_map(|(refused, wait)| Some(What::Rejected(refused, wait))),
        1 => Just(None),
    ]
}

/// Attempts in time order with what becomes of them (whatever an algorithm might say), and footprints.
/// `touched` gives the keys of an attempt from its client.
fn calls(
    touched: impl Strategy<Value = Vec<(usize, usize)>> + Clone,
    clients: impl Fn(u32, &[(usize, usize)]) -> u32,
) -> impl Strategy<Value = Vec<Call>> {
    let kept = (0..9_u64, 0..99_u64, select(vec![None, Some(-5_i64), Some(0), Some(7), Some(400)]));
    let attempt = (gap(), 0..CLIENTS as u32 - 1, touched, 1..4_u32, decision(), kept);
    prop::collection::vec(attempt, 0..60).prop_map(move |attempts| {
        let mut now = WINDOW.start;
        let mut calls = Vec::new();
        for (gap, client, keys, cost, decision, (entries, bytes, until)) in attempts {
            now = Instant((now.0 + gap).min(WINDOW.end.0 - 1));
            let client = clients(client, &keys);
            let touch = |&(limit, key): &(usize, usize)| Touch { limit, key, cost };
            let touches: Vec<_> = keys.iter().map(touch).collect();
            let call = |at, what| Call { at, client, touches: touches.clone(), what };
            calls.push(call(now, What::Offered));
            match decision {
                Some(What::Accepted(waited)) => {
                    let leaves = now + waited.unwrap_or_default();
                    let leaves = Some(leaves).filter(|&leaves| WINDOW.contains(leaves));
                    calls.extend(leaves.map(|at| call(at, What::Accepted(waited))));
                }
                Some(What::Rejected(..)) if touches.is_empty() => {
                    calls.push(call(now, What::Accepted(None)));
                }
                Some(What::Rejected(bits, wait)) => {
                    let refused = if touches.len() == 1 { 1 } else { bits };
                    calls.push(call(now, What::Rejected(refused, wait)));
                }
                _ => {}
            }
            for touch in &touches {
                let until = until.map(|offset| Instant(now.0 + offset));
                let what = What::Kept(Footprint { entries, bytes }, until);
                calls.push(Call { touches: vec![*touch], ..call(now, what) });
            }
        }
        calls.sort_by_key(|call| call.at);
        calls
    })
}

/// The keys of one limit, and calls by clients that each have a key of their own.
pub(super) fn single_limit() -> impl Strategy<Value = (Promises, Vec<Call>)> {
    let touched = (0..3_usize).prop_map(|key| vec![(0, key)]);
    let promises = prop::collection::vec(promise(), 3).prop_map(|keys| vec![keys]);
    (promises, calls(touched, |_, keys| keys[0].1 as u32))
}

pub(super) fn any_calls() -> impl Strategy<Value = Vec<Call>> {
    let touched = (0..4_usize, 0..3_usize).prop_map(|(first, second)| {
        let keys = [(0, first), (1, second)];
        keys.into_iter().filter(|&(limit, key)| key < [3, 2][limit]).collect()
    });
    calls(touched, |client, _| client)
}

/// Asserts that two tallies are equal, and shows no more of their timelines than the first bin that
/// differs.
pub(super) fn assert_equal(one: &Tally, other: &Tally) {
    let bins = one.timeline.bins.iter().zip(&other.timeline.bins).enumerate();
    for (index, (one, other)) in bins {
        assert_eq!(one, other, "bin {index}");
    }
    let without_bins = |tally: &Tally| {
        let mut tally = tally.clone();
        tally.timeline.bins.clear();
        tally
    };
    assert_eq!(one.timeline.bins.len(), other.timeline.bins.len());
    assert_eq!(without_bins(one), without_bins(other));
}
