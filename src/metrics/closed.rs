//! The metrics of closed loops, where clients react to answers. They stand in results only where a run of
//! those is among what is compared; the books of requests are told of the other runs beside it too.

use super::run::{mean, percentile};
use super::{Metric, Value, Worse};
use crate::judge::{Closed, Recovery, Tally};
use crate::time::Span;

/// The metrics, in the order of the columns of `summary.csv`; new ones go to the end.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "failed",
        unit: "attempts",
        meaning: "Attempts given up by their clients while they waited in the limiter's queue.",
        worse: Worse::More,
        value: |tally| Some(Value::Count(tally.books.failed)),
    },
    Metric {
        name: "succeeded",
        unit: "requests",
        meaning: "Requests whose client got the answer that it wanted.",
        worse: Worse::Less,
        value: |tally| Some(Value::Count(tally.books.succeeded)),
    },
    Metric {
        name: "gave_up",
        unit: "requests",
        meaning: "Requests that their clients gave up.",
        worse: Worse::More,
        value: |tally| Some(Value::Count(tally.books.gave_up)),
    },
    Metric {
        name: "unfinished",
        unit: "requests",
        meaning: "Requests that had neither succeeded nor been given up when the run ended.",
        worse: Worse::Neither,
        value: |tally| Some(Value::Count(tally.books.unfinished)),
    },
    Metric {
        name: "amplification",
        unit: "ratio",
        meaning: "attempts / requests; absent without requests.",
        worse: Worse::More,
        value: |tally| Value::number(tally.books.attempts as f64 / tally.books.requests as f64),
    },
    Metric {
        name: "goodput_per_s",
        unit: "per s",
        meaning: "succeeded / seconds of the run; absent in an open loop, as all that follow.",
        worse: Worse::Less,
        value: |tally| {
            let seconds = tally.closed.as_ref()?.load.window().span().as_secs_f64();
            Value::number(tally.books.succeeded as f64 / seconds)
        },
    },
    Metric {
        name: "turned_away",
        unit: "attempts",
        meaning: "Attempts that were let through and turned away by a backend whose queue was full.",
        worse: Worse::More,
        value: |tally| closed(tally, |closed| Some(Value::Count(closed.turned_away))),
    },
    Metric {
        name: "abandoned",
        unit: "attempts",
        meaning: "Attempts that were let through and whose client did not wait for the answer.",
        worse: Worse::More,
        value: |tally| closed(tally, |closed| Some(Value::Count(closed.abandoned))),
    },
    Metric {
        name: "wasted_work_s",
        unit: "s",
        meaning: "Time of the backend's slots spent on answers that nobody waited for; absent where no \
                  time was worked.",
        worse: Worse::More,
        value: |tally| closed(tally, |closed| seconds(closed.wasted).filter(|_| closed.worked > 0)),
    },
    Metric {
        name: "wasted_work_share",
        unit: "ratio",
        meaning: "wasted_work_s / all time worked; absent where none was.",
        worse: Worse::More,
        value: |tally| {
            closed(tally, |closed| Value::number(closed.wasted as f64 / closed.worked as f64))
        },
    },
    Metric {
        name: "reject_work_s",
        unit: "s",
        meaning: "Time of the backend's slots spent on telling clients that they were rejected; absent \
                  where that takes none.",
        worse: Worse::More,
        value: |tally| {
            closed(tally, |closed| seconds(closed.rejecting).filter(|_| closed.rejecting > 0))
        },
    },
    Metric {
        name: "time_to_success_mean_s",
        unit: "s",
        meaning: "Mean time from when a client first meant to send a request to the answer that it wanted, \
                  retries and waits in queues included; of requests that succeeded.",
        worse: Worse::More,
        value: |tally| closed(tally, |closed| mean(&closed.time_to_success)),
    },
    Metric {
        name: "time_to_success_p50_s",
        unit: "s",
        meaning: "Median time to success, by nearest rank.",
        worse: Worse::More,
        value: |tally| closed(tally, |closed| percentile(&closed.time_to_success, 50)),
    },
    Metric {
        name: "time_to_success_p99_s",
        unit: "s",
        meaning: "99th percentile of the time to success, by nearest rank.",
        worse: Worse::More,
        value: |tally| closed(tally, |closed| percentile(&closed.time_to_success, 99)),
    },
    Metric {
        name: "time_to_success_max_s",
        unit: "s",
        meaning: "Longest time to success.",
        worse: Worse::More,
        value: |tally| closed(tally, |closed| closed.time_to_success.max().map(Value::Seconds)),
    },
    Metric {
        name: "peak_attempts_per_s",
        unit: "per s",
        meaning: "Most attempts in any second, counted from the start of the run.",
        worse: Worse::More,
        value: |tally| closed(tally, |closed| Some(Value::Count(closed.load.peak_per_second()))),
    },
    Metric {
        name: "herd_peak_ratio",
        unit: "ratio",
        meaning: "Of all attempts from the first retry on, the most in any second counted from it, / \
                  their mean per second; absent without a retry.",
        worse: Worse::More,
        value: |tally| {
            let herd = tally.closed.as_ref()?.load.herd()?;
            Value::number(herd.peak as f64 * herd.seconds as f64 / herd.attempts as f64)
        },
    },
    Metric {
        name: "recovery_s",
        unit: "s",
        meaning: "From the end of the trigger (`[trigger]`, else the brown-outs, else the outages of the store) \
                  to the end of the last second with more than 11/10 of the most attempts of any second before it; never if the run ends \
                  so, absent where there is nothing to recover from.",
        worse: Worse::More,
        value: |tally| {
            closed(tally, |closed| {
                closed.load.recovery().map(|recovery| match recovery {
                    Recovery::After(span) => Value::Seconds(span),
                    Recovery::Never => Value::Never,
                })
            })
        },
    },
    Metric {
        name: "broken_promises",
        unit: "attempts",
        meaning: "Retries that were rejected although they came no sooner than a Retry-After had told them.",
        worse: Worse::More,
        value: |tally| closed(tally, |closed| Some(Value::Count(closed.broken_promises))),
    },
    Metric {
        name: "success_share",
        unit: "ratio",
        meaning: "succeeded / requests; absent without requests, and in an open loop.",
        worse: Worse::Less,
        value: |tally| {
            let share = tally.books.succeeded as f64 / tally.books.requests as f64;
            closed(tally, |_| Value::number(share))
        },
    },
];

fn closed(tally: &Tally, value: impl Fn(&Closed) -> Option<Value>) -> Option<Value> {
    tally.closed.as_ref().and_then(value)
}

/// Nanoseconds of many slots together.
fn seconds(nanos: u128) -> Option<Value> {
    match Span::try_from_nanos(nanos) {
        Some(span) => Some(Value::Seconds(span)),
        None => Value::number(nanos as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Wait;
    use crate::judge::{Judge, Touch, Trial};
    use crate::metrics::tests::shown;
    use crate::rate::Limit;
    use crate::server::Work;
    use crate::time::{Instant, Window};

    fn at(ms: u64) -> Instant {
        Instant(0) + Span::from_nanos(ms * 1_000_000)
    }

    /// What is judged of 40 s, with a disturbance from 10 s to 20 s.
    fn judged(calls: impl FnOnce(&mut Judge)) -> Tally {
        let limit = Limit::new(1000, Span::from_secs(1));
        let run = Window { start: at(0), end: at(40_000) };
        let trigger = Window { start: at(10_000), end: at(20_000) };
        let judge = Judge::new(run, &[("each".to_owned(), limit)], 1);
        let mut judge = judge.with_requests(Some(trigger));
        judge.meet(0, limit);
        calls(&mut judge);
        judge.finish(0, 1, |_, _| "key".to_owned(), |_| "client".to_owned())
    }

    fn attempt(judge: &mut Judge, ms: u64, trial: Trial, accepted: bool) {
        let touches = [Touch { limit: 0, key: 0, cost: 1 }];
        judge.offered(at(ms), 0, &touches);
        judge.tried(at(ms), trial);
        match accepted {
            true => judge.accepted(at(ms), 0, &touches, None),
            false => judge.rejected(at(ms), 0, &touches, 1, Wait::After(Span::from_secs(1))),
        }
    }

    const RETRY: Trial = Trial::Retry { obeys: true };

    #[test]
    fn a_closed_loop_is_told_by_its_metrics() {
        // One a second for five seconds; the sixth request is refused and tried again, four times within
        // one second from 20.5 s on.
        let tally = judged(|judge| {
            for second in 0..5 {
                judge.requested();
                attempt(judge, 1000 * second, Trial::First, true);
                judge.worked(Work::Serve, Span::from_secs(1), second == 0);
                match second {
                    0 => judge.abandoned(),
                    1 => judge.turned_away(),
                    _ => judge.succeeded(at(1000 * second + 500), Span::from_secs(second)),
                }
            }
            judge.gave_up(at(3000));
            judge.requested();
            attempt(judge, 5000, Trial::First, false);
            (0..4).for_each(|n| attempt(judge, 20_500 + 200 * n, RETRY, false));
            judge.broke_promise();
            judge.gave_up(at(22_000));
        });
        // From 20.5 s on 4 attempts in 19.5 s, which are 20 seconds: 4 * 20 / 4. All but one came in
        // [20 s, 21 s), against 1 in any second before 10 s.
        let expected = "failed 0, succeeded 3, gave_up 2, unfinished 1, amplification 1.6666666666666667, \
            goodput_per_s 0.075, turned_away 1, abandoned 1, wasted_work_s 1, wasted_work_share 0.2, \
            time_to_success_mean_s 3, time_to_success_p50_s 3, time_to_success_p99_s 4, \
            time_to_success_max_s 4, peak_attempts_per_s 3, herd_peak_ratio 20, recovery_s 1, \
            broken_promises 1, success_share 0.5";
        assert_eq!(shown(METRICS, &tally).join(", "), expected);
    }

    #[test]
    fn what_did_not_recover_never_did_and_what_did_not_happen_is_absent() {
        let tally = judged(|judge| {
            judge.requested();
            attempt(judge, 39_000, Trial::First, true);
        });
        let expected = "failed 0, succeeded 0, gave_up 0, unfinished 1, amplification 1, goodput_per_s 0, \
            turned_away 0, abandoned 0, peak_attempts_per_s 1, recovery_s never, broken_promises 0, success_share 0";
        assert_eq!(shown(METRICS, &tally).join(", "), expected);
    }

    #[test]
    fn more_work_than_a_span_holds_is_told_too() {
        let mut tally = judged(|judge| judge.requested());
        let closed = tally.closed.as_mut().unwrap();
        (closed.worked, closed.wasted) = (u128::MAX, u128::MAX / 2);
        let value = |name| METRICS.iter().find(|m| m.name == name).and_then(|m| (m.value)(&tally));
        assert_eq!(value("wasted_work_share"), Some(Value::Number(0.5)));
        assert!(value("wasted_work_s").is_some_and(|value| value.as_f64() > 1e29));
    }
}
