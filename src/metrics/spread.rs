//! Each metric over the replicas of a case and algorithm, and how it differs from the baseline's, replica
//! by replica: all cases of a replica share its random numbers, so what differs is the case.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::statistics::{Mean, Statistic};
use super::{Comparison, METRICS, Metric, Row, Value};

/// One metric of a case and algorithm.
pub struct Spread<'a> {
    /// The case and algorithm.
    pub row: &'a Row,
    /// The metric.
    pub metric: &'static Metric,
    /// Over the replicas; `None` where no replica has a value.
    pub across: Option<Statistic>,
    /// Against the baseline; `None` of the baseline itself, and where it has no such algorithm or no
    /// replica in which both have a value.
    pub against: Option<Against>,
}

/// How a metric differs from that of the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Against {
    /// The mean of the differences, this case less the baseline.
    pub difference: Mean,
    /// In how many replicas it is lower than the baseline's.
    pub lower: usize,
    /// In how many it is the same.
    pub equal: usize,
    /// In how many it is higher.
    pub higher: usize,
}

/// By replica, the value of each metric.
type Runs = Vec<Vec<Option<Value>>>;

/// All metrics of all cases and algorithms.
pub struct Spreads<'a> {
    /// Row by row in the order of [`Comparison::rows`], within in the order of [`METRICS`].
    pub all: Vec<Spread<'a>>,
}

impl<'a> Spreads<'a> {
    /// Those of a comparison.
    pub fn of(comparison: &'a Comparison) -> Spreads<'a> {
        let runs_of = |row: &Row| -> Runs { row.singles().map(|single| single.values).collect() };
        let baseline: BTreeMap<&str, Runs> = comparison
            .rows
            .iter()
            .filter(|row| row.case == comparison.baseline)
            .map(|row| (row.algorithm.as_str(), runs_of(row)))
            .collect();
        let of_row = |row: &'a Row| {
            let runs = runs_of(row);
            let base = baseline.get(row.algorithm.as_str());
            let base = base.filter(|_| row.case != comparison.baseline);
            let spreads = METRICS.iter().enumerate().map(|(index, metric)| {
                let values: Vec<Value> = runs.iter().filter_map(|values| values[index]).collect();
                Spread {
                    row,
                    metric,
                    across: Statistic::of(&values),
                    against: base.and_then(|base| Against::of(&runs, base, index)),
                }
            });
            spreads.collect::<Vec<_>>()
        };
        Spreads { all: comparison.rows.iter().flat_map(of_row).collect() }
    }

    /// A metric of a row, by the row's position.
    pub fn get(&self, row: usize, metric: &str) -> Option<&Spread<'a>> {
        let index = METRICS.iter().position(|known| known.name == metric)?;
        self.all.get(row * METRICS.len() + index)
    }
}

impl Against {
    fn of(runs: &Runs, baseline: &Runs, metric: usize) -> Option<Against> {
        let pairs: Vec<(f64, f64)> = runs
            .iter()
            .zip(baseline)
            .filter_map(|(one, other)| Some((one[metric]?.as_f64(), other[metric]?.as_f64())))
            .collect();
        let differences: Vec<f64> = pairs.iter().map(|(one, other)| one - other).collect();
        let count = |order: Ordering| {
            pairs.iter().filter(|(one, other)| one.total_cmp(other) == order).count()
        };
        Some(Against {
            difference: Mean::of(&differences)?,
            lower: count(Ordering::Less),
            equal: count(Ordering::Equal),
            higher: count(Ordering::Greater),
        })
    }
}
