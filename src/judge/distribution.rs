//! Spans in bulk, for their mean, quantiles and extremes.

use hdrhistogram::Histogram;

use crate::time::Span;

/// A collection of spans. Exact up to [`Distribution::EXACT`] of them; beyond that their quantiles
/// are those of an HDR histogram with three significant digits (at most 0.1 % above), while count,
/// mean, minimum and maximum stay exact. The order of recording and merging changes nothing.
#[derive(Debug, Clone)]
pub struct Distribution {
    count: u64,
    sum: u128,
    least: u64,
    most: u64,
    values: Values,
}

#[derive(Debug, Clone)]
enum Values {
    Exact(Vec<u64>),
    Rounded(Box<Histogram<u64>>),
}

impl PartialEq for Distribution {
    /// Whether the same spans were recorded, in whatever order, as far as they are kept.
    fn eq(&self, other: &Distribution) -> bool {
        let sums = |one: &Distribution| (one.count, one.sum, one.least, one.most);
        let values = match (&self.values, &other.values) {
            (Values::Exact(one), Values::Exact(other)) => {
                let (mut one, mut other) = (one.clone(), other.clone());
                one.sort_unstable();
                other.sort_unstable();
                one == other
            }
            (Values::Rounded(one), Values::Rounded(other)) => one == other,
            _ => false,
        };
        sums(self) == sums(other) && values
    }
}

impl Default for Distribution {
    fn default() -> Distribution {
        let values = Values::Exact(Vec::new());
        Distribution { count: 0, sum: 0, least: u64::MAX, most: 0, values }
    }
}

impl Distribution {
    /// So many spans are kept as they are.
    pub const EXACT: usize = 1 << 16;

    /// Adds a span.
    pub fn record(&mut self, span: Span) {
        let nanos = span.nanos();
        self.count += 1;
        self.sum += u128::from(nanos);
        self.least = self.least.min(nanos);
        self.most = self.most.max(nanos);
        self.keep(nanos);
    }

    /// Of `count` spans with this sum, least and most: some as they are, the others by steps of the histogram, each
    /// with a span that falls on it and how many do.
    pub(super) fn of_parts(
        count: u64,
        sum: u128,
        (least, most): (u64, u64),
        exact: &[u64],
        steps: impl Iterator<Item = (u64, u64)>,
    ) -> Distribution {
        let mut all = Distribution { count, sum, least, most, ..Distribution::default() };
        exact.iter().for_each(|&nanos| all.keep(nanos));
        for (nanos, count) in steps {
            all.rounded().saturating_record_n(nanos, count);
        }
        all
    }

    /// Adds all spans of another distribution.
    pub fn merge(&mut self, other: &Distribution) {
        self.count += other.count;
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        match &other.values {
            Values::Exact(values) => values.iter().for_each(|&nanos| self.keep(nanos)),
            Values::Rounded(histogram) => {
                let own = self.rounded();
                for step in histogram.iter_recorded() {
                    own.saturating_record_n(step.value_iterated_to(), step.count_at_value());
                }
            }
        }
    }

    fn keep(&mut self, nanos: u64) {
        match &mut self.values {
            Values::Exact(values) if values.len() < Distribution::EXACT => values.push(nanos),
            _ => self.rounded().saturating_record(nanos),
        }
    }

    fn rounded(&mut self) -> &mut Histogram<u64> {
        if let Values::Exact(values) = &self.values {
            let mut histogram = new_histogram();
            values.iter().for_each(|&nanos| histogram.saturating_record(nanos));
            self.values = Values::Rounded(Box::new(histogram));
        }
        match &mut self.values {
            Values::Rounded(histogram) => histogram,
            Values::Exact(_) => unreachable!("it was rounded just now"),
        }
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their arithmetic mean in seconds; `None` of none.
    pub fn mean_secs(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1e9)
    }

    /// The least; `None` of none.
    pub fn min(&self) -> Option<Span> {
        (self.count > 0).then(|| Span::from_nanos(self.least))
    }

    /// The largest; `None` of none.
    pub fn max(&self) -> Option<Span> {
        (self.count > 0).then(|| Span::from_nanos(self.most))
    }

    /// The quantile by nearest rank: the ceil(`percent`/100 * n)-th smallest; `None` of none.
    pub fn percentile(&self, percent: u32) -> Option<Span> {
        if self.count == 0 {
            return None;
        }
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100).max(1) as u64;
        let nanos = match &self.values {
            Values::Exact(values) => {
                let mut sorted = values.clone();
                *sorted.select_nth_unstable(rank as usize - 1).1
            }
            Values::Rounded(histogram) => {
                let mut seen = 0;
                let step = histogram.iter_recorded().find(|step| {
                    seen += step.count_at_value();
                    seen >= rank
                });
                step.map_or(self.most, |step| step.value_iterated_to().clamp(self.least, self.most))
            }
        };
        Some(Span::from_nanos(nanos))
    }

    /// How many are no longer than each of `bounds`, which ascend.
    pub fn within(&self, bounds: &[Span]) -> Vec<u64> {
        let mut recorded: Vec<(u64, u64)> = match &self.values {
            Values::Exact(values) => values.iter().map(|&nanos| (nanos, 1)).collect(),
            Values::Rounded(histogram) => histogram
                .iter_recorded()
                .map(|step| {
                    let nanos = step.value_iterated_to().clamp(self.least, self.most);
                    (nanos, step.count_at_value())
                })
                .collect(),
        };
        recorded.sort_unstable();
        let mut rest = recorded.into_iter().peekable();
        let mut count = 0;
        let up_to = |bound: &Span| {
            while let Some((_, more)) = rest.next_if(|(nanos, _)| *nanos <= bound.nanos()) {
                count += more;
            }
            count
        };
        bounds.iter().map(up_to).collect()
    }
}

fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, Span::MAX.nanos(), 3)
        .unwrap_or_else(|cause| unreachable!("the bounds are constant: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nanos: impl IntoIterator<Item = u64>) -> Distribution {
        let mut distribution = Distribution::default();
        nanos.into_iter().for_each(|n| distribution.record(Span::from_nanos(n)));
        distribution
    }

    #[test]
    fn the_99th_percentile_of_three_is_the_third() {
        let three = of([10, 30, 20]);
        assert_eq!(three.percentile(99), Some(Span::from_nanos(30)));
        assert_eq!(three.percentile(50), Some(Span::from_nanos(20)));
        assert_eq!(three.percentile(0), Some(Span::from_nanos(10)));
        assert_eq!(three.mean_secs(), Some(2e-8));
    }

    #[test]
    fn nothing_has_no_quantile() {
        let nothing = Distribution::default();
        assert_eq!(
            (nothing.percentile(50), nothing.mean_secs(), nothing.max()),
            (None, None, None)
        );
    }

    #[test]
    fn those_within_bounds_are_counted_with_the_bounds_themselves() {
        let bounds = [0, 10, 19, 20, 1000].map(Span::from_nanos);
        assert_eq!(of([10, 30, 20, 20]).within(&bounds), [0, 1, 1, 3, 4]);
        assert_eq!(Distribution::default().within(&bounds), [0; 5]);
        // Beyond what is kept exactly a count may miss those of the last thousandth.
        let count = 2 * Distribution::EXACT as u64;
        let many = of((1..=count).map(|n| n * 1000));
        let bounds = [count / 2, count].map(|n| Span::from_nanos(n * 1000));
        let within = many.within(&bounds);
        assert!((count / 2 - count / 2000..=count / 2).contains(&within[0]), "{within:?}");
        assert_eq!(within[1], count);
    }

    #[test]
    fn many_are_within_a_thousandth_and_merging_changes_nothing() {
        let count = 3 * Distribution::EXACT as u64;
        let whole = of((0..count).map(|n| n * 1000));
        let mut parts = of((0..count / 2).rev().map(|n| n * 1000));
        parts.merge(&of((count / 2..count).map(|n| n * 1000)));
        assert_eq!(whole, parts);
        let half = whole.percentile(50).unwrap().nanos() as f64;
        let exact = (count / 2 - 1) as f64 * 1000.0;
        assert!((exact..=exact * 1.001).contains(&half), "{half} of {exact}");
        assert_eq!(whole.percentile(100), whole.max());
    }
}
