//! Mean and interval of a metric over replicas.
//!
//! All machines must give the same digits, so only operations that IEEE 754 rounds exactly are used here:
//! sums, products, quotients and square roots, in the order of the replicas. The one thing that is not, the
//! quantile of Student's t, is rounded to seven decimals before it is used.

use std::sync::LazyLock;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Value;

/// The most replicas there can be, less one.
const MOST_FREEDOM: usize = 999;

/// The 97.5th percentiles of Student's t by degrees of freedom, from 1.
static QUANTILES: LazyLock<Vec<f64>> = LazyLock::new(|| {
    (1..=MOST_FREEDOM).map(|freedom| (exact_quantile(freedom) * 1e7).round() / 1e7).collect()
});

/// To about twelve digits.
fn exact_quantile(freedom: usize) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom as f64) {
        Ok(student) => student.inverse_cdf(0.975),
        Err(cause) => unreachable!("{freedom} degrees of freedom: {cause}"),
    }
}

/// Mean and 95 % interval of some numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half the width of Student's 95 % interval around it; `None` of a single number.
    pub half: Option<f64>,
}

impl Mean {
    /// Of so many numbers; `None` of none, and where no finite number holds the result.
    pub fn of(numbers: &[f64]) -> Option<Mean> {
        let (&first, count) = (numbers.first()?, numbers.len() as f64);
        // From the first number on, so that equal numbers have themselves as their mean.
        let mean = first + numbers.iter().map(|number| number - first).sum::<f64>() / count;
        let squares = numbers.iter().map(|number| (number - mean) * (number - mean)).sum::<f64>();
        let freedom = numbers.len() - 1;
        let quantile = freedom.checked_sub(1).map(|index| QUANTILES[index.min(MOST_FREEDOM - 1)]);
        let half = quantile.map(|quantile| quantile * (squares / freedom as f64 / count).sqrt());
        (mean.is_finite() && half.is_none_or(f64::is_finite)).then_some(Mean { mean, half })
    }

    /// The ends of the interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.half.map(|half| (self.mean - half, self.mean + half))
    }
}

/// A metric over the replicas that have a value of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistic {
    /// How many have one; at least one.
    pub n: usize,
    /// Their mean.
    pub mean: Mean,
    /// The least.
    pub min: Value,
    /// The greatest.
    pub max: Value,
}

impl Statistic {
    /// Of some values; `None` of none.
    pub fn of(values: &[Value]) -> Option<Statistic> {
        let numbers: Vec<f64> = values.iter().map(|value| value.as_f64()).collect();
        let by_size = |a: &&Value, b: &&Value| a.as_f64().total_cmp(&b.as_f64());
        Some(Statistic {
            n: values.len(),
            mean: Mean::of(&numbers)?,
            min: *values.iter().min_by(by_size)?,
            max: *values.iter().max_by(by_size)?,
        })
    }
}

/// A number to nine significant digits, for files.
pub fn significant(number: f64) -> Option<Value> {
    // Zero has no sign in a file.
    format!("{number:.8e}").parse::<f64>().ok().and_then(|number| Value::number(number + 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_quantiles_are_those_of_the_tables() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
        let known = [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (19, 2.093)];
        for (freedom, expected) in known.into_iter().chain([(29, 2.045), (100, 1.984)]) {
            assert_eq!((QUANTILES[freedom - 1] * 1e3).round() / 1e3, expected, "{freedom}");
        }
        assert_eq!(QUANTILES[MOST_FREEDOM - 1], 1.962_341_5);
    }

    /// Machines differ in the last bits of logarithms; 10^-10 is a thousand times as much as that.
    #[test]
    fn no_quantile_is_so_near_to_where_rounding_turns_that_machines_could_differ() {
        for freedom in 1..=MOST_FREEDOM {
            let scaled = exact_quantile(freedom) * 1e7;
            assert!((scaled.fract() - 0.5).abs() > 1e-3, "{freedom}: {scaled}");
        }
    }

    #[test]
    fn an_interval_worked_by_hand() {
        // 2, 4, 6: mean 4, variance (4 + 0 + 4) / 2 = 4, half 4.3026527 * sqrt(4 / 3) = 4.968275.
        let Mean { mean, half } = Mean::of(&[2.0, 4.0, 6.0]).unwrap();
        assert_eq!(mean, 4.0);
        assert!((half.unwrap() - 4.968_275).abs() < 1e-6, "{half:?}");
        // 1, 2: mean 1.5, variance 0.5, half 12.7062047 * sqrt(0.5 / 2) = 6.35310235.
        let two = Mean::of(&[1.0, 2.0]).unwrap();
        assert_eq!(two.interval().map(|(low, _)| (low * 1e6).round()), Some(-4_853_102.0));
    }

    #[test]
    fn one_number_has_no_interval_and_none_no_mean() {
        assert_eq!(Mean::of(&[0.1]), Some(Mean { mean: 0.1, half: None }));
        assert_eq!(Mean::of(&[]), None);
        assert_eq!(Mean::of(&[f64::MAX, -f64::MAX]), None);
        assert_eq!(Statistic::of(&[]), None);
    }

    #[test]
    fn files_have_nine_digits() {
        for (number, shown) in [
            (4.0 / 3.0, "1.33333333"),
            (1_234_567_890.5, "1234567890"),
            (1e-7 / 3.0, "0.0000000333333333"),
            (-0.0, "0"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(significant(number).map(|value| value.to_string()).as_deref(), Some(shown));
        }
        assert_eq!(significant(f64::NAN), None);
    }

    proptest! {
        #[test]
        fn equal_numbers_have_an_interval_of_no_width(number in 0.0..1e18_f64, count in 2..40_usize) {
            let mean = Mean::of(&vec![number; count]);
            prop_assert_eq!(mean, Some(Mean { mean: number, half: Some(0.0) }));
        }

        #[test]
        fn the_mean_lies_between_the_least_and_the_greatest(
            counts in prop::collection::vec(0..1_000_000_u64, 1..40),
        ) {
            let values: Vec<Value> = counts.iter().map(|&count| Value::Count(count)).collect();
            let Statistic { n, mean, min, max } = Statistic::of(&values).unwrap();
            prop_assert_eq!(n, counts.len());
            prop_assert!(min.as_f64() <= mean.mean && mean.mean <= max.as_f64());
            prop_assert_eq!(mean.half.is_some(), n > 1);
        }
    }
}
