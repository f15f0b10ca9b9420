//! How long a call takes, there and back.

use crate::error::Problem;
use crate::params::{Choice, Node, Params, Setting, Short, Table, Value};
use crate::seed::{Stream, below, exponential, normal};
use crate::time::Span;

/// How long a call takes, there and back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RoundTrip {
    /// Always as long.
    Constant(Span),
    /// Between two bounds, each as likely as the next.
    Uniform {
        /// At least.
        min: Span,
        /// At most.
        max: Span,
    },
    /// At least so long, and longer by an exponentially distributed span.
    Exponential {
        /// At least.
        min: Span,
        /// On average, `min` included.
        mean: Span,
    },
    /// Log-normally distributed.
    LogNormal {
        /// Half of all take no longer.
        median: Span,
        /// Of a hundred, ninety-nine take no longer.
        p99: Span,
    },
}

/// Of the normal distribution with mean 0 and standard deviation 1, 99 % lie below this.
const Z99: f64 = 2.326_347_874_040_841;

impl RoundTrip {
    /// How long a call takes, in whole nanoseconds; at most [`Span::MAX`].
    pub fn draw(&self, stream: &mut Stream) -> Span {
        match *self {
            RoundTrip::Constant(span) => span,
            RoundTrip::Uniform { min, max } => {
                let width = max.nanos().saturating_sub(min.nanos());
                Span::from_nanos(min.nanos() + below(stream, width + 1))
            }
            RoundTrip::Exponential { min, mean } => {
                let beyond = mean.nanos().saturating_sub(min.nanos());
                let drawn = libm::round(exponential(stream) * beyond as f64) as u128;
                Span::saturating(u128::from(min.nanos()) + drawn)
            }
            RoundTrip::LogNormal { median, p99 } => {
                let (median, p99) = (median.nanos() as f64, p99.nanos() as f64);
                let sigma = libm::log(p99 / median) / Z99;
                let drawn = median * libm::exp(sigma * normal(stream));
                Span::saturating(libm::round(drawn) as u128)
            }
        }
    }

    /// No call takes longer: what is drawn is of 53 bits, which bounds even spans that have no longest.
    pub fn longest(&self) -> Span {
        const MEANS: f64 = 37.0;
        const DEVIATIONS: f64 = 8.6;
        match *self {
            RoundTrip::Constant(span) => span,
            RoundTrip::Uniform { max, .. } => max,
            RoundTrip::Exponential { min, mean } => {
                let more = (mean.nanos() - min.nanos()) as f64 * MEANS;
                Span::saturating(u128::from(min.nanos()) + more as u128)
            }
            RoundTrip::LogNormal { median, p99 } => {
                let (median, p99) = (median.nanos() as f64, p99.nanos() as f64);
                let sigma = libm::log(p99 / median) / Z99;
                Span::saturating((median * libm::exp(sigma * DEVIATIONS)) as u128)
            }
        }
    }

    /// Whether all calls take as long as any other, and no time at all.
    pub fn is_free(&self) -> bool {
        *self == RoundTrip::Constant(Span::ZERO)
    }

    /// Reads the setting `round-trip`. `None` after a problem was reported.
    pub(super) fn read(params: &mut Params) -> Option<RoundTrip> {
        let meaning = "How long a call takes, there and back: a span, or how spans are spread.";
        params.shortened("round-trip", meaning, SHORT, Some("0s"), RoundTrip::settings).flatten()
    }

    fn settings(params: &mut Params) -> Option<RoundTrip> {
        let spread: Option<Spread> = params.required("kind", "How the times of calls are spread.");
        let is = |one| spread.map(|spread| spread == one);
        let wider = |params: &Params,
                     name: &str,
                     low: Option<Span>,
                     high: Option<Span>,
                     what: &str| {
            let (low, high) = (low?, high?);
            let help = "write a longer span; where all are alike, write that span alone";
            let holds =
                params.require(name, low < high, format!("`{name}` is not above `{what}`"), help);
            holds.then_some((low, high))
        };
        let constant = params.only(is(Spread::Constant), "`kind = \"constant\"`", |params| {
            params.required("time", "How long each takes.")
        });
        let at_least = matches!(spread, Some(Spread::Uniform | Spread::Exponential));
        let with = "`kind = \"uniform\"` or \"exponential\"";
        let min = params.only(spread.map(|_| at_least), with, |params| {
            params.or("min", Span::ZERO, "No call takes less.")
        });
        let uniform = params.only(is(Spread::Uniform), "`kind = \"uniform\"`", |params| {
            let max = params.required("max", "No call takes more.");
            wider(params, "max", min, max, "min")
        });
        let exponential =
            params.only(is(Spread::Exponential), "`kind = \"exponential\"`", |params| {
                let mean =
                    params.required("mean", "How long calls take on average, `min` included.");
                wider(params, "mean", min, mean, "min")
            });
        let log_normal = params.only(is(Spread::LogNormal), "`kind = \"log-normal\"`", |params| {
            let median: Option<Span> =
                params.required("median", "Half of the calls take no longer.");
            let lasts = params.require(
                "median",
                median != Some(Span::ZERO),
                "a median of no time at all",
                "write a span such as \"1ms\"",
            );
            let p99 = params.required("p99", "Of a hundred calls, 99 take no longer.");
            wider(params, "p99", median.filter(|_| lasts), p99, "median")
        });
        match spread? {
            Spread::Constant => constant.flatten().map(RoundTrip::Constant),
            Spread::Uniform => uniform.flatten().map(|(min, max)| RoundTrip::Uniform { min, max }),
            Spread::Exponential => {
                exponential.flatten().map(|(min, mean)| RoundTrip::Exponential { min, mean })
            }
            Spread::LogNormal => {
                log_normal.flatten().map(|(median, p99)| RoundTrip::LogNormal { median, p99 })
            }
        }
    }
}

/// A span alone is what each call takes.
const SHORT: Short = Short {
    schema: Span::schema,
    expand: |node: &Node| -> Result<Table, Problem> {
        Span::read(node)?;
        let kind = Value::String(Spread::Constant.name().to_owned());
        Ok(Table::at(&node.place, [("kind", kind), ("time", node.value.clone())]))
    },
};

/// How the times of calls are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spread {
    Constant,
    Uniform,
    Exponential,
    LogNormal,
}

impl Choice for Spread {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("constant", Spread::Constant, "every call takes `time`"),
        ("uniform", Spread::Uniform, "from `min` to `max`, each as likely as the next"),
        ("exponential", Spread::Exponential, "`min`, and an exponentially distributed span more"),
        ("log-normal", Spread::LogNormal, "most near the `median`, few much longer"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    /// So many draws, the shortest first, in nanoseconds.
    fn drawn(round_trip: RoundTrip, count: usize) -> Vec<u64> {
        let mut stream = Seed(1).stream("store", 0);
        let mut spans: Vec<u64> =
            (0..count).map(|_| round_trip.draw(&mut stream).nanos()).collect();
        spans.sort_unstable();
        spans
    }

    fn mean(spans: &[u64]) -> u64 {
        spans.iter().sum::<u64>() / spans.len() as u64
    }

    fn ms(count: u64) -> Span {
        Span::from_nanos(count * MS)
    }

    #[test]
    fn a_constant_is_the_same_each_time_and_takes_nothing_from_the_stream() {
        let mut stream = Seed(1).stream("store", 0);
        let before = stream.clone();
        assert_eq!(RoundTrip::Constant(ms(3)).draw(&mut stream), ms(3));
        assert_eq!(stream, before);
        assert!(RoundTrip::Constant(Span::ZERO).is_free());
        assert!(!RoundTrip::Constant(Span::from_nanos(1)).is_free());
    }

    #[test]
    fn uniform_draws_reach_both_bounds_and_have_their_middle_for_mean() {
        let few =
            drawn(RoundTrip::Uniform { min: Span::from_nanos(3), max: Span::from_nanos(5) }, 300);
        assert_eq!((few[0], few[150], few[299]), (3, 4, 5));
        let spans = drawn(RoundTrip::Uniform { min: ms(1), max: ms(3) }, 100_000);
        // The standard deviation of the mean is 2 ms / sqrt(12 * 100,000) = 1.8 us.
        assert!(mean(&spans).abs_diff(2 * MS) < 10_000, "{}", mean(&spans));
        assert!(spans[0] >= MS && spans[99_999] <= 3 * MS);
    }

    #[test]
    fn exponential_draws_have_the_mean_and_the_median_of_what_lies_above_the_least() {
        let spans = drawn(RoundTrip::Exponential { min: ms(1), mean: ms(3) }, 100_000);
        // Standard deviations of the mean and of the median: 2 ms / sqrt(100,000) = 6.3 us.
        assert!(mean(&spans).abs_diff(3 * MS) < 30_000, "{}", mean(&spans));
        // 1 ms + 2 ms * ln 2.
        assert!(spans[50_000].abs_diff(2_386_294) < 30_000, "{}", spans[50_000]);
        assert!(spans[0] >= MS);
    }

    #[test]
    fn log_normal_draws_have_the_median_and_the_percentile_that_were_asked_for() {
        let spans = drawn(RoundTrip::LogNormal { median: ms(2), p99: ms(20) }, 100_000);
        assert!(spans[50_000].abs_diff(2 * MS) < 40_000, "{}", spans[50_000]);
        // One standard deviation of the 99th percentile is about 1.2 % of it.
        assert!(spans[99_000].abs_diff(20 * MS) < 800_000, "{}", spans[99_000]);
        // As far below the median as the 99th percentile is above: 2 ms * 2 / 20.
        assert!(spans[1_000].abs_diff(200_000) < 8_000, "{}", spans[1_000]);
    }

    proptest! {
        #[test]
        fn no_draw_leaves_its_bounds_or_panics(
            low in 0..=Span::MAX.nanos(), high in 0..=Span::MAX.nanos(), index in 0..1000_u64,
        ) {
            let [low, high] = [low.min(high), low.max(high)].map(Span::from_nanos);
            let mut stream = Seed(index).stream("store", 0);
            let uniform = RoundTrip::Uniform { min: low, max: high }.draw(&mut stream);
            prop_assert!(low <= uniform && uniform <= high);
            let exponential = RoundTrip::Exponential { min: low, mean: high }.draw(&mut stream);
            prop_assert!(low <= exponential);
            let median = low.max(Span::from_nanos(1));
            let _ = RoundTrip::LogNormal { median, p99: high.max(median) }.draw(&mut stream);
        }
    }
}
