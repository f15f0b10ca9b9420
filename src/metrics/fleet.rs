//! The metrics of fleets, where several nodes decide or share a store. They stand in results only where a run of
//! those is among what is compared, and are absent of the other runs beside it.

use super::run::percentile;
use super::{Metric, Value, Worse};
use crate::judge::{FleetTally, InOutages, StoreKeys, Tally};

/// The metrics, in the order of the columns of `summary.csv`; new ones go to the end.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "effective_limit_ratio",
        unit: "ratio",
        meaning: "The cost accepted under the first limit / the cost that it promised: of each key and window \
                  of the clock what was asked for, but at most L; absent where nothing was promised.",
        worse: Worse::MoreThanOne,
        value: |tally| {
            let FleetTally { accepted_cost, promised_cost, .. } = tally.fleet.as_ref()?;
            Value::number(*accepted_cost as f64 / *promised_cost as f64)
        },
    },
    Metric {
        name: "unlimited_accepts",
        unit: "attempts",
        meaning: "Attempts let through without any decision, because the store gave none.",
        worse: Worse::More,
        value: |tally| count(tally, |fleet| fleet.unlimited),
    },
    Metric {
        name: "store_rejections",
        unit: "attempts",
        meaning: "Attempts rejected because the store gave no decision; none of the limits refused them.",
        worse: Worse::More,
        value: |tally| count(tally, |fleet| fleet.turned_down),
    },
    Metric {
        name: "fallback_decisions",
        unit: "attempts",
        meaning: "Attempts decided by a node's own fallback, because the store gave no decision.",
        worse: Worse::More,
        value: |tally| count(tally, |fleet| fleet.fell_back),
    },
    Metric {
        name: "store_wait_p50_s",
        unit: "s",
        meaning: "Median time by which the store's answer, or waiting for it in vain, delayed an attempt; of the \
                  attempts about which a node asked the store alone; absent where none did.",
        worse: Worse::More,
        value: |tally| percentile(&tally.fleet.as_ref()?.store_waits, 50),
    },
    Metric {
        name: "store_wait_p99_s",
        unit: "s",
        meaning: "99th percentile of the same, by nearest rank.",
        worse: Worse::More,
        value: |tally| percentile(&tally.fleet.as_ref()?.store_waits, 99),
    },
    Metric {
        name: "store_wait_max_s",
        unit: "s",
        meaning: "The longest of the same.",
        worse: Worse::More,
        value: |tally| tally.fleet.as_ref()?.store_waits.max().map(Value::Seconds),
    },
    Metric {
        name: "store_calls",
        unit: "calls",
        meaning: "Calls of the store by nodes, whatever came of them.",
        worse: Worse::More,
        value: |tally| count(tally, |fleet| fleet.calls),
    },
    Metric {
        name: "store_failures",
        unit: "calls",
        meaning: "Calls of the store that had no answer in time, or an error.",
        worse: Worse::More,
        value: |tally| count(tally, |fleet| fleet.failed_calls),
    },
    Metric {
        name: "store_bytes",
        unit: "bytes",
        meaning: "Bytes of all calls of the store, there and back.",
        worse: Worse::More,
        value: |tally| count(tally, |fleet| fleet.bytes),
    },
    Metric {
        name: "breaker_trips",
        unit: "times",
        meaning: "How often a node's breaker opened.",
        worse: Worse::Neither,
        value: |tally| count(tally, |fleet| fleet.trips),
    },
    Metric {
        name: "store_keys_max",
        unit: "keys",
        meaning: "Most keys in the store at any time; absent, as the next two, where no store is used.",
        worse: Worse::More,
        value: |tally| keys(tally, |keys| keys.most),
    },
    Metric {
        name: "store_keys_end",
        unit: "keys",
        meaning: "Keys in the store at the end of the run.",
        worse: Worse::More,
        value: |tally| keys(tally, |keys| keys.at_end),
    },
    Metric {
        name: "stuck_keys_end",
        unit: "keys",
        meaning: "Keys in the store at the end of the run that never expire.",
        worse: Worse::More,
        value: |tally| keys(tally, |keys| keys.stuck_at_end),
    },
    Metric {
        name: "evicted_keys",
        unit: "keys",
        meaning: "How often the store evicted a key because its memory was full.",
        worse: Worse::More,
        value: |tally| count(tally, |fleet| fleet.evicted),
    },
    Metric {
        name: "over_limit_in_outages",
        unit: "attempts",
        meaning: "Of over_limit, those decided while something was wrong with the store; absent without an \
                  outage, as the next three.",
        worse: Worse::More,
        value: |tally| outages(tally, |found| found.over_limit),
    },
    Metric {
        name: "over_limit_outside_outages",
        unit: "attempts",
        meaning: "Of over_limit, the others.",
        worse: Worse::More,
        value: |tally| outages(tally, |found| tally.over_limit - found.over_limit),
    },
    Metric {
        name: "accepted_in_outages",
        unit: "attempts",
        meaning: "Of accepted, those decided while something was wrong with the store.",
        worse: Worse::Neither,
        value: |tally| outages(tally, |found| found.accepted),
    },
    Metric {
        name: "rejected_in_outages",
        unit: "attempts",
        meaning: "Of rejected, those decided while something was wrong with the store.",
        worse: Worse::Neither,
        value: |tally| outages(tally, |found| found.rejected),
    },
    Metric {
        name: "short_circuited",
        unit: "attempts",
        meaning: "Attempts about which a node did not ask the store because its breaker was open; store_wait_* \
                  is without them.",
        worse: Worse::Neither,
        value: |tally| count(tally, |fleet| fleet.short_circuited),
    },
];

fn count(tally: &Tally, of: impl Fn(&FleetTally) -> u64) -> Option<Value> {
    tally.fleet.as_ref().map(|fleet| Value::Count(of(fleet)))
}

fn keys(tally: &Tally, of: impl Fn(StoreKeys) -> u64) -> Option<Value> {
    tally.fleet.as_ref()?.keys.map(|keys| Value::Count(of(keys)))
}

fn outages(tally: &Tally, of: impl Fn(InOutages) -> u64) -> Option<Value> {
    tally.fleet.as_ref()?.in_outages.map(|found| Value::Count(of(found)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Wait;
    use crate::judge::{Judge, Touch};
    use crate::metrics::tests::shown;
    use crate::rate::Limit;
    use crate::time::{Instant, Span, Window};

    fn at(secs: u64) -> Instant {
        Instant(0) + Span::from_secs(secs)
    }

    /// What is judged of a minute of one client under a limit of 2 per 10 s.
    fn judged(outages: Vec<Window>, calls: impl FnOnce(&mut Judge)) -> Tally {
        let limit = Limit::new(2, Span::from_secs(10));
        let run = Window { start: at(0), end: at(60) };
        let judge = Judge::new(run, &[("each".to_owned(), limit)], 1);
        let mut judge = judge.with_fleet(outages);
        judge.meet(0, limit);
        calls(&mut judge);
        judge.finish(0, 0, |_, _| "key".to_owned(), |_| "client".to_owned())
    }

    /// "name value" of each metric that only fleets have.
    fn told(tally: &Tally) -> String {
        shown(METRICS, tally).join(", ")
    }

    #[test]
    fn a_fleet_is_told_by_its_metrics() {
        let touches = [Touch { limit: 0, key: 0, cost: 1 }];
        let outage = Window { start: at(10), end: at(20) };
        let tally = judged(vec![outage], |judge| {
            // 3 of 2 accepted at 5 s; at 12 s one refused by a fallback, one turned down, and three let
            // through, with 3 to 6 in the last 10 s: 4 over the limit, 3 of them in the outage.
            for _ in 0..3 {
                judge.called(at(5), 70);
                judge.keys_in_store(at(5), 4, 1);
                judge.offered(at(5), 0, &touches);
                judge.waited_for_store(Span::from_nanos(2_000_000));
                judge.accepted(at(5), 0, &touches, None);
            }
            (0..5).for_each(|_| judge.offered(at(12), 0, &touches));
            judge.called(at(12), 30);
            judge.call_failed(at(12));
            judge.tripped();
            judge.waited_for_store(Span::from_secs(1));
            judge.short_circuited();
            judge.rejected(at(12), 0, &touches, 1, Wait::After(Span::from_secs(3)));
            judge.fell_back(at(12));
            judge.turned_down(at(12), 0, &touches);
            for _ in 0..3 {
                judge.accepted(at(12), 0, &touches, None);
                judge.unlimited(at(12));
            }
            judge.evicted();
            judge.keys_in_store(at(30), 3, 2);
        });
        // Promised: 2 in [0 s, 10 s), 2 in [10 s, 20 s).
        let expected = "effective_limit_ratio 1.5, unlimited_accepts 3, store_rejections 1, \
            fallback_decisions 1, store_wait_p50_s 0.002, store_wait_p99_s 1, store_wait_max_s 1, \
            store_calls 4, store_failures 1, store_bytes 240, breaker_trips 1, store_keys_max 4, \
            store_keys_end 3, stuck_keys_end 2, evicted_keys 1, over_limit_in_outages 3, \
            over_limit_outside_outages 1, accepted_in_outages 3, rejected_in_outages 2, \
            short_circuited 1";
        assert_eq!(told(&tally), expected);
    }

    #[test]
    fn nodes_that_use_no_store_have_counts_of_zero_and_what_needs_one_is_absent() {
        let expected = "unlimited_accepts 0, store_rejections 0, fallback_decisions 0, store_calls 0, \
            store_failures 0, store_bytes 0, breaker_trips 0, evicted_keys 0, short_circuited 0";
        assert_eq!(told(&judged(Vec::new(), |_| {})), expected);
    }

    #[test]
    fn a_store_that_lets_nothing_through_keeps_nothing_of_what_was_promised() {
        let tally = judged(Vec::new(), |judge| {
            let touches = [Touch { limit: 0, key: 0, cost: 1 }];
            judge.offered(at(1), 0, &touches);
            judge.turned_down(at(1), 0, &touches);
        });
        assert!(told(&tally).starts_with("effective_limit_ratio 0, "));
    }

    #[test]
    fn other_runs_have_none_of_them() {
        let mut tally = judged(Vec::new(), |_| {});
        tally.fleet = None;
        assert_eq!(told(&tally), "");
    }
}
