//! Means of several replicas as people read them: `1,234 ±56`. What is behind `±` is half the width of the
//! 95 % interval, rounded up, and left out where all replicas agree.

use super::format;
use crate::metrics::{Mean, Spread, Statistic};
use crate::time::{SECOND, Span};

/// How a mean is written.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Between the mean and `±`.
    pub gap: &'static str,
    /// How whole numbers are.
    pub count: fn(u64) -> String,
}

impl Style {
    /// Where there is room.
    pub const AMPLE: Style = Style { gap: " ", count: format::count };

    fn join(self, mean: String, half: Option<String>) -> String {
        match half {
            Some(half) => format!("{mean}{}±{half}", self.gap),
            None => mean,
        }
    }

    /// A count, below ten with one decimal.
    pub fn count(self, statistic: &Statistic) -> String {
        let Mean { mean, half } = statistic.mean;
        if mean < 10.0 && (mean.fract() != 0.0 || half.is_some_and(|half| half > 0.0)) {
            let half = told(half).map(|half| format!("{:.1}", up(half, 10.0)));
            return self.join(format!("{mean:.1}"), half);
        }
        let half = told(half).map(|half| (self.count)(half.ceil() as u64));
        self.join((self.count)(mean.round() as u64), half)
    }

    /// A ratio to a limit.
    pub fn ratio(self, statistic: &Statistic) -> String {
        let Mean { mean, half } = statistic.mean;
        self.decimals(format::ratio(mean), half, 1.0)
    }

    /// How many times as much.
    pub fn factor(self, statistic: &Statistic) -> String {
        let Mean { mean, half } = statistic.mean;
        self.decimals(format::factor(mean), half, 1.0)
    }

    /// A share of 1, in percent.
    pub fn share(self, statistic: &Statistic) -> String {
        let Mean { mean, half } = statistic.mean;
        self.decimals(format::share(mean), half, 100.0)
    }

    /// A share of 1 that may be small, in percent.
    pub fn small_share(self, statistic: &Statistic) -> String {
        let Mean { mean, half } = statistic.mean;
        self.decimals(format::small_share(mean), half, 100.0)
    }

    /// A half width, times `unit`, with as many decimals as the mean is written with.
    fn decimals(self, mean: String, half: Option<f64>, unit: f64) -> String {
        let decimals = mean.split_once('.').map_or(0, |(_, rest)| rest.len() - 1);
        let scale = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5][decimals.min(5)];
        let half = told(half).map(|half| format!("{:.decimals$}", up(half * unit, scale)));
        self.join(mean, half)
    }

    /// A span, of which the metric has the seconds; no finer than its interval.
    pub fn span(self, statistic: &Statistic) -> String {
        let Mean { mean, half } = statistic.mean;
        let Some((half, decimals)) = told(half).map(two_digits) else {
            return format::span(seconds(mean));
        };
        let step = (decimals..9).fold(1, |step, _| step * 10);
        let rounded = (seconds(mean).nanos() + step / 2) / step * step;
        let mean = Span::try_from_nanos(u128::from(rounded)).unwrap_or(Span::MAX);
        self.join(format::span(mean), Some(format::span(seconds(half.max(1e-9)))))
    }

    /// A size.
    pub fn bytes(self, statistic: &Statistic) -> String {
        let Mean { mean, half } = statistic.mean;
        let half = told(half).map(|half| format::bytes(half.ceil() as u64));
        self.join(format::bytes(mean.round() as u64), half)
    }

    /// Any number, as `shown` writes it.
    pub fn number(self, statistic: &Statistic, shown: impl Fn(f64) -> String) -> String {
        let Mean { mean, half } = statistic.mean;
        let half = told(half).map(|half| {
            let (half, decimals) = two_digits(half);
            format!("{half:.decimals$}")
        });
        self.join(shown(mean), half)
    }
}

/// A mean as `shown` writes it, with the replicas that it leaves out, in which it never came: `12 s, 3 never`,
/// or without room `never 3/20`; `never` where that is all of them. `None` where no replica has a value.
pub fn with_never(
    spread: &Spread,
    roomy: bool,
    shown: impl FnOnce(&Statistic) -> String,
) -> Option<String> {
    match (&spread.across, spread.never) {
        (None, 0) => None,
        (None, _) => Some("never".to_owned()),
        (Some(across), 0) => Some(shown(across)),
        (Some(across), never) if roomy => Some(format!("{}, {never} never", shown(across))),
        (Some(across), never) => Some(format!("never {never}/{}", across.n + never)),
    }
}

/// A half width that is worth telling.
fn told(half: Option<f64>) -> Option<f64> {
    half.filter(|&half| half > 0.0)
}

/// Rounded up to a multiple of 1 / `scale`.
fn up(number: f64, scale: f64) -> f64 {
    (number * scale).ceil() / scale
}

/// Rounded up to two significant digits, at most to nine decimals, with the decimals that takes.
fn two_digits(number: f64) -> (f64, usize) {
    let (mut number, mut unit, mut decimals) = (number, 1.0, 0);
    while number >= 100.0 {
        number /= 10.0;
        unit *= 10.0;
    }
    while number < 10.0 && decimals < 9 {
        number *= 10.0;
        decimals += 1;
    }
    let scale = (0..decimals).fold(1.0, |scale, _| scale * 10.0);
    // What is a whole number but for the last bits of a product is not rounded up to the next.
    let whole = (number - 1e-9).ceil().max(1.0);
    (whole / scale * unit, decimals)
}

fn seconds(seconds: f64) -> Span {
    Span::from_nanos((seconds * SECOND as f64).round().clamp(0.0, Span::MAX.nanos() as f64) as u64)
}

/// What to know of means, in one line.
pub fn remark(replicas: usize) -> String {
    format!("{replicas} replicas, 95 % intervals; per replica: summary.csv")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Spreads, Value};

    fn of(mean: f64, half: Option<f64>) -> Statistic {
        let value = Value::Number(mean);
        Statistic { n: 2, mean: Mean { mean, half }, min: value, max: value }
    }

    #[test]
    fn what_never_came_is_told_beside_the_mean_or_instead_of_it() {
        let comparison = super::super::samples::replicated_retries();
        let spreads = Spreads::of(&comparison);
        let told = |row, roomy| {
            let spread = spreads.get(row, "recovery_s").unwrap();
            with_never(spread, roomy, |across| Style::AMPLE.span(across))
        };
        assert_eq!(told(0, true), Some("0 s".to_owned()));
        assert_eq!(
            [true, false].map(|roomy| told(1, roomy)),
            [(); 2].map(|()| Some("never".to_owned()))
        );
        assert_eq!(told(2, true), Some("2 s, 1 never".to_owned()));
        assert_eq!(told(2, false), Some("never 1/4".to_owned()));
        let spread = spreads.get(0, "herd_peak_ratio").unwrap();
        assert_eq!(with_never(spread, true, |_| unreachable!("no retry")), None);
    }

    #[test]
    fn means_are_rounded_and_their_intervals_rounded_up() {
        let count = |mean, half| Style::AMPLE.count(&of(mean, half));
        assert_eq!(count(1234.4, Some(55.1)), "1,234 ±56");
        assert_eq!(count(1234.5, Some(0.2)), "1,235 ±1");
        assert_eq!(count(100.0, Some(0.0)), "100");
        assert_eq!(count(0.35, Some(0.31)), "0.3 ±0.4");
        assert_eq!(count(0.0, Some(0.0)), "0");
        assert_eq!(count(3.0, None), "3");
        let ratio = |mean, half| Style::AMPLE.ratio(&of(mean, half));
        assert_eq!(ratio(1.98, Some(0.01)), "2.0x ±0.1");
        assert_eq!(ratio(1.021, Some(0.001)), "1.03x ±0.01");
        assert_eq!(ratio(250.0, Some(1.5)), "250x ±2");
        assert_eq!(ratio(1.0, Some(0.0)), "1.0x");
        let span = |mean, half| Style::AMPLE.span(&of(mean, half));
        assert_eq!(span(1.58, Some(0.12)), "1.58 s ±120 ms");
        assert_eq!(span(0.740181, Some(0.0527)), "740 ms ±53 ms");
        assert_eq!(span(0.0, Some(0.0)), "0 s");
        assert_eq!(Style::AMPLE.bytes(&of(1600.0, Some(12.5))), "1.6 kB ±13 B");
        let number = |mean, half| Style::AMPLE.number(&of(mean, half), |mean| mean.to_string());
        assert_eq!(number(1192.9, Some(139.09)), "1192.9 ±140");
        assert_eq!(number(1192.9, Some(13.909)), "1192.9 ±14");
        assert_eq!(number(478.0, Some(0.583)), "478 ±0.59");
        assert_eq!(number(0.5, Some(0.0012)), "0.5 ±0.0012");
        assert_eq!(number(0.5, Some(1e-30)), "0.5 ±0.000000001");
        assert_eq!(span(9.99, Some(0.001_03)), "9.99 s ±1.1 ms");
        let short = Style { gap: "", count: format::short_count };
        assert_eq!(short.count(&of(1_234_567.0, Some(12_345.0))), "1.23M±12,345");
    }
}
