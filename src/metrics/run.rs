//! The metrics of any run: the columns that every `summary.csv` has.

use super::fairness::jain;
use super::{Metric, Value, Worse, worst_ratio};
use crate::judge::{Distribution, Tally};
use crate::time::Span;

/// The metrics, in the order of the columns of `summary.csv`. The first eight follow its fixed
/// leading columns; new ones go to the end.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "requests",
        unit: "requests",
        meaning: "Pieces of work that clients wanted done.",
        worse: Worse::Neither,
        value: |tally| Some(Value::Count(tally.books.requests)),
    },
    Metric {
        name: "attempts",
        unit: "attempts",
        meaning: "Tries of requests: first ones and retries.",
        worse: Worse::Neither,
        value: |tally| Some(Value::Count(tally.books.attempts)),
    },
    Metric {
        name: "accepted",
        unit: "attempts",
        meaning: "Attempts let through, those that waited in a queue first included.",
        worse: Worse::Neither,
        value: |tally| Some(Value::Count(tally.books.accepted)),
    },
    Metric {
        name: "rejected",
        unit: "attempts",
        meaning: "Attempts refused.",
        worse: Worse::Neither,
        value: |tally| Some(Value::Count(tally.books.rejected)),
    },
    Metric {
        name: "over_limit",
        unit: "attempts",
        meaning: "Accepted attempts that, counting themselves, brought the cost accepted for their key \
                  in the trailing window (t-W, t] above L; once however many limits they broke.",
        worse: Worse::More,
        value: |tally| Some(Value::Count(tally.over_limit)),
    },
    Metric {
        name: "needless_rejections",
        unit: "attempts",
        meaning: "Rejected attempts that, each taken alone against what was accepted, would have kept \
                  the cost in the trailing window at or below L under every limit of theirs.",
        worse: Worse::More,
        value: |tally| Some(Value::Count(tally.needless_rejections)),
    },
    Metric {
        name: "peak_window",
        unit: "cost",
        meaning: "The largest cost accepted for one key in any trailing window (t-W, t], of the key for \
                  which that is the highest in units of its L.",
        worse: Worse::More,
        value: |tally| Some(Value::Count(tally.worst().map_or(0, |(_, worst)| worst.cost()))),
    },
    Metric {
        name: "peak_ratio",
        unit: "ratio",
        meaning: "peak_window / L; absent where that key's L is 0.",
        worse: Worse::More,
        value: |tally| worst_ratio(tally.worst()?.1),
    },
    Metric {
        name: "pending",
        unit: "attempts",
        meaning: "Attempts still queued when the run ended, or about which the store had not decided.",
        worse: Worse::Neither,
        value: |tally| Some(Value::Count(tally.books.pending)),
    },
    Metric {
        name: "wrongly_allowed",
        unit: "attempts",
        meaning: "Attempts let through that the sliding window log, run over the same traffic, refused.",
        worse: Worse::More,
        value: |tally| tally.wrong.map(|wrong| Value::Count(wrong.allowed)),
    },
    Metric {
        name: "wrongly_limited",
        unit: "attempts",
        meaning: "Attempts refused that the sliding window log, run over the same traffic, let through.",
        worse: Worse::More,
        value: |tally| tally.wrong.map(|wrong| Value::Count(wrong.limited)),
    },
    Metric {
        name: "wait_mean_s",
        unit: "s",
        meaning: "Mean time that accepted attempts waited in the queue, those that did not wait \
                  included; absent where the algorithm does not queue.",
        worse: Worse::More,
        value: |tally| mean(&tally.queue_waits),
    },
    Metric {
        name: "wait_p50_s",
        unit: "s",
        meaning: "Median time in the queue, by nearest rank.",
        worse: Worse::More,
        value: |tally| percentile(&tally.queue_waits, 50),
    },
    Metric {
        name: "wait_p90_s",
        unit: "s",
        meaning: "90th percentile of the time in the queue, by nearest rank.",
        worse: Worse::More,
        value: |tally| percentile(&tally.queue_waits, 90),
    },
    Metric {
        name: "wait_p99_s",
        unit: "s",
        meaning: "99th percentile of the time in the queue, by nearest rank.",
        worse: Worse::More,
        value: |tally| percentile(&tally.queue_waits, 99),
    },
    Metric {
        name: "wait_max_s",
        unit: "s",
        meaning: "Longest time in the queue.",
        worse: Worse::More,
        value: |tally| tally.queue_waits.max().map(Value::Seconds),
    },
    Metric {
        name: "retry_after_min_s",
        unit: "s",
        meaning: "Shortest wait told by a denial.",
        worse: Worse::Neither,
        value: |tally| tally.denial_waits.min().map(Value::Seconds),
    },
    Metric {
        name: "retry_after_mean_s",
        unit: "s",
        meaning: "Mean wait told by denials, those for ever left out.",
        worse: Worse::More,
        value: |tally| mean(&tally.denial_waits),
    },
    Metric {
        name: "retry_after_max_s",
        unit: "s",
        meaning: "Longest wait told by a denial, those for ever left out.",
        worse: Worse::More,
        value: |tally| tally.denial_waits.max().map(Value::Seconds),
    },
    Metric {
        name: "retry_after_header_max_s",
        unit: "s",
        meaning: "retry_after_max_s as a Retry-After header shows it: in whole seconds, rounded up.",
        worse: Worse::More,
        value: |tally| tally.denial_waits.max().map(|wait| Value::Count(wait.ceil_secs())),
    },
    Metric {
        name: "denied_for_ever",
        unit: "attempts",
        meaning: "Denials that said never: the attempt costs more than ever passes at once.",
        worse: Worse::More,
        value: |tally| Some(Value::Count(tally.denied_for_ever)),
    },
    Metric {
        name: "longest_lockout_s",
        unit: "s",
        meaning: "Longest time that any key, while asking, went without an acceptance: from the \
                  first rejection until it got in, or could have, or asked for the last time.",
        worse: Worse::More,
        value: |tally| Some(Value::Seconds(longest_lockout(tally))),
    },
    Metric {
        name: "fairness",
        unit: "ratio",
        meaning: "Jain's index, (sum x)^2 / (n sum x^2), of the accepted shares of the keys of the first \
                  limit: 1 if all are equal, 1/n if one key has everything.",
        worse: Worse::Less,
        value: |tally| jain(tally.limits.first()?.keys.evenness()),
    },
    Metric {
        name: "client_fairness",
        unit: "ratio",
        meaning: "Jain's index of the accepted shares of the clients.",
        worse: Worse::Less,
        value: |tally| jain(tally.clients.evenness()),
    },
    Metric {
        name: "client_accepted_share_min",
        unit: "ratio",
        meaning: "Accepted attempts / attempts of the client for which that is least.",
        worse: Worse::Less,
        value: |tally| tally.clients.evenness().least.and_then(Value::number),
    },
    Metric {
        name: "keys_max",
        unit: "keys",
        meaning: "Most keys with a state that a store could not forget, within any one bin of the \
                  timeline.",
        worse: Worse::More,
        value: |tally| Some(Value::Count(tally.kept.keys_max)),
    },
    Metric {
        name: "state_entries_max",
        unit: "entries",
        meaning: "Most entries (counters, levels, times, stamps) kept, within any one bin of the \
                  timeline.",
        worse: Worse::More,
        value: |tally| Some(Value::Count(tally.kept.entries_max)),
    },
    Metric {
        name: "state_bytes_max",
        unit: "bytes",
        meaning: "Most bytes of states kept, within any one bin of the timeline.",
        worse: Worse::More,
        value: |tally| Some(Value::Count(tally.kept.bytes_max)),
    },
];

pub(super) fn mean(spans: &Distribution) -> Option<Value> {
    spans.mean_secs().and_then(Value::number)
}

pub(super) fn percentile(spans: &Distribution, percent: u32) -> Option<Value> {
    spans.percentile(percent).map(Value::Seconds)
}

fn longest_lockout(tally: &Tally) -> Span {
    let keys = tally.limits.iter().filter_map(|limit| limit.keys.longest_lockout());
    keys.max().unwrap_or(Span::ZERO)
}
