//! The metrics of comparisons in which a scenario names an algorithm with whose decisions those of another are
//! compared.

use super::{Metric, Value, Worse};

/// The metrics, in the order of the columns of `summary.csv`; new ones go to the end.
pub(super) const METRICS: &[Metric] = &[Metric {
    name: "wrong_share",
    unit: "ratio",
    meaning: "wrongly_allowed and wrongly_limited together, of all attempts.",
    worse: Worse::More,
    value: |tally| {
        let wrong = tally.wrong?;
        let decisions = wrong.allowed as f64 + wrong.limited as f64;
        Value::number(decisions / tally.books.attempts as f64)
    },
}];
