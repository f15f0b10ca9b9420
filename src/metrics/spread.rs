//! Each metric over the replicas of a case and algorithm, and how it differs from the baseline's, replica
//! by replica: all cases of a replica share its random numbers, so what differs is the case.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::statistics::{Mean, Statistic};
use super::{Comparison, Metric, Row, Standing, Value};

/// One metric of a case and algorithm.
pub struct Spread<'a> {
    /// The case and algorithm.
    pub row: &'a Row,
    /// The metric.
    pub metric: &'static Metric,
    /// Over the replicas that have a number; `None` where none has.
    pub across: Option<Statistic>,
    /// In how many others it is [`Value::Never`].
    pub never: usize,
    /// Against the baseline; `None` of the baseline itself, and where it has no such algorithm or no
    /// replica in which both have a value.
    pub against: Option<Against>,
}

/// How a metric differs from that of the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Against {
    /// The mean of the differences, this case less the baseline, over the replicas in which both are
    /// numbers; `None` where there are none.
    pub difference: Option<Mean>,
    /// In how many replicas it is lower than the baseline's; [`Value::Never`] is higher than any number.
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
    /// Row by row in the order of [`Comparison::rows`], within in that of [`Comparison::metrics`].
    pub all: Vec<Spread<'a>>,
    metrics: Vec<&'static Metric>,
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
        let told = comparison.metrics();
        let of_row = |row: &'a Row| {
            let runs = runs_of(row);
            let base = baseline.get(row.algorithm.as_str());
            let base = base.filter(|_| row.case != comparison.baseline);
            let spreads = told.iter().map(|&(index, metric)| {
                let values = runs.iter().filter_map(|values| values[index]);
                let (never, numbers): (Vec<Value>, Vec<Value>) =
                    values.partition(|&value| value == Value::Never);
                Spread {
                    row,
                    metric,
                    across: Statistic::of(&numbers),
                    never: never.len(),
                    against: base.and_then(|base| Against::of(&runs, base, index)),
                }
            });
            spreads.collect::<Vec<_>>()
        };
        let all = comparison.rows.iter().flat_map(of_row).collect();
        Spreads { all, metrics: told.iter().map(|(_, metric)| *metric).collect() }
    }

    /// A metric of a row, by the row's position.
    pub fn get(&self, row: usize, metric: &str) -> Option<&Spread<'a>> {
        let index = self.metrics.iter().position(|known| known.name == metric)?;
        self.all.get(row * self.metrics.len() + index)
    }
}

impl Spread<'_> {
    /// How large it is as a whole; `None` where no replica has a value.
    pub fn standing(&self) -> Option<Standing> {
        let mean = self.across.map(|across| across.mean.mean);
        let known = mean.is_some() || self.never > 0;
        known.then(|| Standing { never: self.never, mean: mean.unwrap_or(0.0) })
    }
}

impl Against {
    fn of(runs: &Runs, baseline: &Runs, metric: usize) -> Option<Against> {
        let pairs: Vec<(f64, f64)> = runs
            .iter()
            .zip(baseline)
            .filter_map(|(one, other)| Some((one[metric]?.as_f64(), other[metric]?.as_f64())))
            .collect();
        let numbers = pairs.iter().filter(|(one, other)| one.is_finite() && other.is_finite());
        let differences: Vec<f64> = numbers.map(|(one, other)| one - other).collect();
        let count = |order: Ordering| {
            pairs.iter().filter(|(one, other)| one.total_cmp(other) == order).count()
        };
        (!pairs.is_empty()).then(|| Against {
            difference: Mean::of(&differences),
            lower: count(Ordering::Less),
            equal: count(Ordering::Equal),
            higher: count(Ordering::Greater),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::tally;
    use crate::metrics::{CaseInfo, METRICS, Repeat, values};
    use crate::rate::Limit;
    use crate::time::{Instant, Span, Window};

    /// A row of as many replicas as there are numbers of accepted attempts; none of them waits unless it
    /// is the second, in which the longest wait is as given.
    fn row(case: usize, algorithm: &str, accepted: &[usize], wait: Option<u64>) -> Row {
        let limit = Limit::new(100, Span::from_secs(1));
        let found = |&accepted: &usize| tally(limit, &vec![Ok(None); accepted]);
        let mut repeats: Vec<Repeat> = accepted[1..]
            .iter()
            .map(|accepted| {
                let values = values(&found(accepted));
                Repeat { seed: 2, values, expected: Vec::new() }
            })
            .collect();
        let position = METRICS.iter().position(|metric| metric.name == "wait_max_s").unwrap();
        if let Some(repeat) = repeats.first_mut() {
            repeat.values[position] = wait.map(|wait| Value::Seconds(Span::from_secs(wait)));
        }
        let (algorithm, tally) = (algorithm.to_owned(), found(&accepted[0]));
        Row { case, algorithm, kind: 0, seed: 1, reference: None, tally, repeats }
    }

    fn comparison(rows: Vec<Row>) -> Comparison {
        let case = |name: &str| CaseInfo {
            name: name.to_owned(),
            limits: Vec::new(),
            sending: None,
            fleet: None,
            window: Window { start: Instant(0), end: Instant(1) },
            notes: Vec::new(),
        };
        let cases = vec![case("one"), case("base")];
        Comparison { scenario: "t".to_owned(), about: String::new(), cases, baseline: 1, rows }
    }

    #[test]
    fn differences_are_paired_by_replica() {
        let rows = vec![
            row(0, "gcra", &[5, 7, 6], Some(4)),
            row(0, "alone", &[5, 7, 6], None),
            row(1, "gcra", &[6, 7, 3], Some(1)),
        ];
        let comparison = comparison(rows);
        let spreads = Spreads::of(&comparison);
        let accepted = spreads.get(0, "accepted").unwrap();
        let across = accepted.across.unwrap();
        assert_eq!((across.n, across.mean.mean), (3, 6.0));
        assert_eq!((across.min, across.max), (Value::Count(5), Value::Count(7)));
        // 5 - 6, 7 - 7 and 6 - 3: -1, 0, 3 with mean 2/3 and variance (25 + 4 + 49) / 9 / 2 = 13/3, so
        // that half the interval is 4.3026527 * sqrt(13 / 9) = 5.171145.
        let against = accepted.against.unwrap();
        let difference = against.difference.unwrap();
        assert!((difference.mean - 2.0 / 3.0).abs() < 1e-12);
        assert!((difference.half.unwrap() - 5.171_145).abs() < 1e-5);
        assert_eq!((against.lower, against.equal, against.higher), (1, 1, 1));
        // The baseline is not compared with itself, nor what it does not have with anything.
        assert_eq!(spreads.get(2, "accepted").unwrap().against, None);
        assert_eq!(spreads.get(1, "accepted").unwrap().against, None);
    }

    #[test]
    fn replicas_without_a_value_are_left_out() {
        let comparison = comparison(vec![
            row(0, "gcra", &[5, 7, 6], Some(4)),
            row(1, "gcra", &[6, 7, 3], Some(1)),
        ]);
        let spreads = Spreads::of(&comparison);
        let wait = spreads.get(0, "wait_max_s").unwrap();
        let across = wait.across.unwrap();
        assert_eq!((across.n, across.mean.mean, across.mean.half), (1, 4.0, None));
        let Against { difference, lower, equal, higher } = wait.against.unwrap();
        assert_eq!(difference, Some(Mean { mean: 3.0, half: None }));
        assert_eq!((lower, equal, higher), (0, 0, 1));
        let absent = spreads.get(0, "retry_after_max_s").unwrap();
        assert_eq!((absent.across, absent.never, absent.against), (None, 0, None));
        assert_eq!(absent.standing(), None);
    }

    #[test]
    fn what_never_came_is_counted_and_more_than_any_number() {
        let position = METRICS.iter().position(|metric| metric.name == "wait_max_s").unwrap();
        let mut rows = vec![
            row(0, "gcra", &[5; 6], None),
            row(1, "gcra", &[5; 6], None),
            row(0, "alone", &[5; 6], None),
        ];
        let seconds = |secs| Some(Value::Seconds(Span::from_secs(secs)));
        let never = Some(Value::Never);
        let found = [
            [never, seconds(4), seconds(9), never, None],
            [seconds(7), never, seconds(4), never, never],
            [never, never, None, None, None],
        ];
        for (row, found) in rows.iter_mut().zip(found) {
            for (repeat, value) in row.repeats.iter_mut().zip(found) {
                repeat.values[position] = value;
            }
        }
        let comparison = comparison(rows);
        let spreads = Spreads::of(&comparison);
        let one = spreads.get(0, "wait_max_s").unwrap();
        let across = one.across.unwrap();
        assert_eq!((across.n, one.never, across.mean.mean), (2, 2, 6.5));
        assert_eq!((across.min, across.max), (seconds(4).unwrap(), seconds(9).unwrap()));
        assert_eq!(one.standing(), Some(Standing { never: 2, mean: 6.5 }));
        // Never against 7 s is higher, 4 s against never lower, 9 s against 4 s higher by 5 s, never against
        // never equal; the last has no value here.
        let Against { difference, lower, equal, higher } = one.against.unwrap();
        assert_eq!(difference, Some(Mean { mean: 5.0, half: None }));
        assert_eq!((lower, equal, higher), (1, 1, 2));
        let alone = spreads.get(2, "wait_max_s").unwrap();
        assert_eq!((alone.across, alone.never), (None, 2));
        assert_eq!(alone.standing(), Some(Standing { never: 2, mean: 0.0 }));
    }
}
