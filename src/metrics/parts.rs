//! The metrics of the parts of a run: of one key or client, and of one limit.

use super::fairness::share;
use super::{Metric, Value, Worse, peak_ratio, worst_ratio};
use crate::judge::{LimitTally, SubjectTally};

/// The metrics of a key or a client: the columns of `keys.csv`. Clients have no peak.
pub const SUBJECT_METRICS: &[Metric<SubjectTally>] = &[
    Metric {
        name: "attempts",
        unit: "attempts",
        meaning: "Attempts.",
        worse: Worse::Neither,
        value: |subject| Some(Value::Count(subject.attempts)),
    },
    Metric {
        name: "accepted",
        unit: "attempts",
        meaning: "Attempts let through by all limits.",
        worse: Worse::Neither,
        value: |subject| Some(Value::Count(subject.accepted)),
    },
    Metric {
        name: "rejected",
        unit: "attempts",
        meaning: "Attempts refused by any limit.",
        worse: Worse::Neither,
        value: |subject| Some(Value::Count(subject.rejected)),
    },
    Metric {
        name: "over_limit",
        unit: "attempts",
        meaning: "Accepted attempts above the key's limit; of a client, above any of its limits.",
        worse: Worse::More,
        value: |subject| Some(Value::Count(subject.over_limit)),
    },
    Metric {
        name: "peak_window",
        unit: "cost",
        meaning: "The largest cost accepted for the key in any trailing window (t-W, t]; absent for a \
                  client.",
        worse: Worse::More,
        value: |subject| subject.promise.map(|_| Value::Count(subject.peak.unwrap_or(0))),
    },
    Metric {
        name: "peak_ratio",
        unit: "ratio",
        meaning: "peak_window / L; absent where L is 0, and for a client.",
        worse: Worse::More,
        value: |subject| peak_ratio(subject.peak.unwrap_or(0), subject.promise?),
    },
    Metric {
        name: "longest_lockout_s",
        unit: "s",
        meaning: "Longest time without an acceptance while asking: from the \
                  first rejection until it got in, or could have, or asked for the last time.",
        worse: Worse::More,
        value: |subject| Some(Value::Seconds(subject.longest_lockout)),
    },
    Metric {
        name: "accepted_share",
        unit: "ratio",
        meaning: "Accepted attempts / attempts; absent where nothing was attempted.",
        worse: Worse::Less,
        value: |subject| share(subject).and_then(Value::number),
    },
];

/// The metrics of a limit: the columns of `limits.csv`.
pub const LIMIT_METRICS: &[Metric<LimitTally>] = &[
    Metric {
        name: "attempts",
        unit: "attempts",
        meaning: "Attempts that the limit covers.",
        worse: Worse::Neither,
        value: |limit| Some(Value::Count(limit.attempts)),
    },
    Metric {
        name: "accepted",
        unit: "attempts",
        meaning: "Of these, let through by all limits.",
        worse: Worse::Neither,
        value: |limit| Some(Value::Count(limit.accepted)),
    },
    Metric {
        name: "refused",
        unit: "attempts",
        meaning: "Attempts that this limit refused, alone or with others.",
        worse: Worse::Neither,
        value: |limit| Some(Value::Count(limit.refused)),
    },
    Metric {
        name: "over_limit",
        unit: "attempts",
        meaning: "Accepted attempts above this limit.",
        worse: Worse::More,
        value: |limit| Some(Value::Count(limit.over_limit)),
    },
    Metric {
        name: "needless_rejections",
        unit: "attempts",
        meaning: "Attempts that this limit refused although it had room.",
        worse: Worse::More,
        value: |limit| Some(Value::Count(limit.needless_rejections)),
    },
    Metric {
        name: "peak_window",
        unit: "cost",
        meaning: "The largest cost accepted for one key in any trailing window (t-W, t], of the key for \
                  which that is the highest in units of its L.",
        worse: Worse::More,
        value: |limit| Some(Value::Count(limit.worst.map_or(0, |worst| worst.cost()))),
    },
    Metric {
        name: "peak_ratio",
        unit: "ratio",
        meaning: "peak_window / L; absent where that key's L is 0.",
        worse: Worse::More,
        value: |limit| worst_ratio(limit.worst.as_ref()?),
    },
    Metric {
        name: "keys",
        unit: "keys",
        meaning: "Keys seen.",
        worse: Worse::Neither,
        value: |limit| Some(Value::Count(limit.keys.len() as u64)),
    },
];
