//! Axes: round steps for counts and rates, and for elapsed time in clock units.

use super::text;
use crate::time::{DAY, SECOND, Span, round_lengths};

/// An axis of numbers from 0 to `top`, with a tick at each multiple of `step`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Numbers {
    /// Where the axis ends: above everything that is drawn on it, never 0.
    pub top: f64,
    /// From tick to tick.
    pub step: f64,
}

impl Numbers {
    /// An axis that holds `most` with some room above it, and about `ticks` ticks. What is not
    /// a positive finite number counts as nothing; `whole` keeps the steps whole.
    pub fn up_to(most: f64, ticks: f64, whole: bool) -> Numbers {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let raw = most / ticks;
        let mut decade = 1.0;
        while decade * 10.0 <= raw {
            decade *= 10.0;
        }
        while decade > raw && decade > 1e-9 {
            decade /= 10.0;
        }
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|digit| digit * decade)
            .filter(|step| !whole || (*step >= 1.0 && step.fract() == 0.0))
            .find(|&step| step >= raw)
            .unwrap_or(if whole { 1.0_f64.max(10.0 * decade) } else { 10.0 * decade });
        Numbers { top: most * 1.2, step }
    }

    /// The ticks, from 0 on.
    pub fn ticks(&self) -> impl Iterator<Item = f64> {
        let (top, step) = (self.top, self.step);
        (0..64).map(move |index| f64::from(index) * step).take_while(move |&tick| tick <= top)
    }

    /// What a tick says.
    pub fn label(&self, tick: f64) -> String {
        if self.step.fract() == 0.0 {
            return text::count(tick as u64);
        }
        let mut decimals = 0;
        let mut size = self.step;
        while decimals < 12 && (size - size.round()).abs() > 1e-6 * size {
            size *= 10.0;
            decimals += 1;
        }
        text::decimal(tick, decimals)
    }
}

/// An axis of elapsed time between two spans since the start of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed {
    /// Where it begins, in nanoseconds since the start.
    pub from: u64,
    /// Where it ends; later than `from`.
    pub to: u64,
    step: u64,
    unit: Unit,
}

/// How instants of an axis are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// As a number of units of so many nanoseconds.
    Number(u64, &'static str),
    /// `m:ss`, with decimals of a second where steps need them.
    Minutes,
    /// `h:mm:ss`.
    Seconds,
    /// `h:mm`.
    Hours,
}

impl Elapsed {
    /// The axis with the most ticks, up to eight, whose labels stand apart over so many pixels.
    pub fn fitting(from: u64, to: u64, pixels: f64, size: f64) -> Elapsed {
        let apart = |axis: &Elapsed| {
            let widest = axis.ticks().map(|tick| text::width(&axis.label(tick), size));
            let pitch = axis.step as f64 / (axis.to - axis.from) as f64 * pixels;
            widest.fold(0.0, f64::max) + 1.5 * size <= pitch
        };
        let axes = (1..=8).rev().map(|ticks| Elapsed::between(from, to, ticks));
        axes.clone().find(apart).unwrap_or_else(|| Elapsed::between(from, to, 1))
    }

    /// An axis with at most about `ticks` steps.
    pub fn between(from: u64, to: u64, ticks: u64) -> Elapsed {
        let to = to.max(from.saturating_add(1));
        let step = round_step((to - from).div_ceil(ticks.max(1)));
        let unit = match (step, to) {
            (DAY.., _) => Unit::Number(DAY, "days"),
            (_, 0..=1_999) => Unit::Number(1, "ns"),
            (_, 0..=1_999_999) => Unit::Number(1_000, "us"),
            (_, 0..=1_999_999_999) => Unit::Number(1_000_000, "ms"),
            (..60_000_000_000, 3_600_000_000_001..) => Unit::Seconds,
            (_, 3_600_000_000_001..) => Unit::Hours,
            _ => Unit::Minutes,
        };
        Elapsed { from, to, step, unit }
    }

    /// The axis of spans of at most `longest` nanoseconds, which ends at a tick and has plain seconds
    /// from one second to two minutes.
    pub fn waits(longest: u64, pixels: f64, size: f64) -> Elapsed {
        let fitting = Elapsed::fitting(0, longest, pixels, size);
        let to = fitting.to.div_ceil(fitting.step).saturating_mul(fitting.step);
        let unit = match fitting.unit {
            Unit::Number(..) | Unit::Minutes if (SECOND..=120 * SECOND).contains(&to) => {
                Unit::Number(SECOND, "s")
            }
            unit => unit,
        };
        Elapsed { to, unit, ..fitting }
    }

    /// The ticks, in nanoseconds since the start.
    pub fn ticks(&self) -> impl Iterator<Item = u64> {
        let (from, to, step) = (self.from, self.to, self.step);
        (from.div_ceil(step)..=to / step).map(move |index| index * step)
    }

    /// An instant as the axis writes it, to the precision of its steps.
    pub fn label(&self, nanos: u64) -> String {
        let seconds = nanos / SECOND;
        match self.unit {
            Unit::Number(size, _) => {
                let decimals = decimals_of(self.step, size);
                text::decimal(nanos as f64 / size as f64, decimals)
            }
            Unit::Minutes => {
                let mut label = format!("{}:{:02}", seconds / 60, seconds % 60);
                let decimals = decimals_of(self.step, SECOND);
                if decimals > 0 {
                    let fraction = format!("{:09}", nanos % SECOND);
                    label.push('.');
                    label.push_str(&fraction[..decimals]);
                }
                label
            }
            Unit::Seconds => {
                format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
            }
            Unit::Hours => format!("{}:{:02}", seconds / 3600, seconds / 60 % 60),
        }
    }

    /// The unit of its labels.
    pub fn unit_name(&self) -> &'static str {
        match self.unit {
            Unit::Number(_, unit) => unit,
            Unit::Minutes => "min:s",
            Unit::Seconds => "h:min:s",
            Unit::Hours => "h:min",
        }
    }

    /// What the axis shows, with its unit; `run` is the length of the whole run.
    pub fn title(&self, run: u64) -> String {
        let unit = self.unit_name();
        if self.from == 0 && self.to >= run {
            return format!("elapsed time ({unit})");
        }
        let whole = Elapsed::between(0, run, 1);
        format!(
            "elapsed time ({unit}); cut to {} - {} of a run of {}",
            self.label(self.from),
            self.label(self.to),
            match whole.unit {
                Unit::Minutes if run.is_multiple_of(SECOND) => whole.label(run),
                _ => Span::from_nanos(run.min(Span::MAX.nanos())).to_string(),
            },
        )
    }
}

/// How many decimals a multiple of `step` has in units of `size`, at most nine.
fn decimals_of(step: u64, size: u64) -> usize {
    let mut decimals = 0;
    let mut unit = size;
    while !step.is_multiple_of(unit) && unit > 1 {
        unit /= 10;
        decimals += 1;
    }
    decimals
}

/// The least round length that is not below `nanos`.
fn round_step(nanos: u64) -> u64 {
    round_spans().find(|&step| step >= nanos).unwrap_or(nanos).max(1)
}

/// The round lengths in nanoseconds, in order; above half a day 1, 2 or 5 times a power of ten days.
pub fn round_spans() -> impl Iterator<Item = u64> {
    let days = (0..5).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power) * DAY));
    round_lengths().chain(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(from: &str, to: &str, ticks: u64) -> Vec<String> {
        let nanos = |text: &str| Span::parse(text).unwrap().nanos();
        let axis = Elapsed::between(nanos(from), nanos(to), ticks);
        axis.ticks().map(|tick| axis.label(tick)).collect()
    }

    #[test]
    fn time_has_round_ticks_in_clock_units() {
        assert_eq!(
            shown("0s", "180s", 6),
            ["0:00", "0:30", "1:00", "1:30", "2:00", "2:30", "3:00"]
        );
        assert_eq!(shown("57s", "65s", 4), ["0:58", "1:00", "1:02", "1:04"]);
        assert_eq!(shown("59.2s", "60.3s", 3), ["0:59.5", "1:00.0"]);
        assert_eq!(shown("0s", "24h", 4), ["0:00", "6:00", "12:00", "18:00", "24:00"]);
        assert_eq!(shown("0s", "10d", 3), ["0", "5", "10"]);
        assert_eq!(shown("0s", "50ms", 3), ["0", "20", "40"]);
        assert_eq!(shown("3598s", "3602s", 2), ["0:59:58", "1:00:00", "1:00:02"]);
    }

    #[test]
    fn numbers_have_steps_of_1_2_or_5_and_room_above() {
        let axis = Numbers::up_to(200.0, 4.0, true);
        assert_eq!(
            axis.ticks().map(|t| axis.label(t)).collect::<Vec<_>>(),
            ["0", "50", "100", "150", "200"]
        );
        let small = Numbers::up_to(0.03, 3.0, false);
        assert_eq!(
            small.ticks().map(|t| small.label(t)).collect::<Vec<_>>(),
            ["0", "0.01", "0.02", "0.03"]
        );
        assert_eq!(Numbers::up_to(1.0, 4.0, true).step, 1.0);
        for odd in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE] {
            let axis = Numbers::up_to(odd, 4.0, false);
            assert!(axis.ticks().count() <= 64 && axis.top > 0.0, "{odd}");
        }
    }

    #[test]
    fn a_cut_axis_says_so() {
        let axis = Elapsed::between(57 * SECOND, 65 * SECOND, 4);
        assert_eq!(
            axis.title(180 * SECOND),
            "elapsed time (min:s); cut to 0:57 - 1:05 of a run of 3:00"
        );
        assert_eq!(
            Elapsed::between(0, 180 * SECOND, 6).title(180 * SECOND),
            "elapsed time (min:s)"
        );
    }

    #[test]
    fn an_axis_of_waits_ends_at_a_tick_not_below_the_longest() {
        let shown = |text: &str| {
            let axis = Elapsed::waits(Span::parse(text).unwrap().nanos(), 600.0, 11.0);
            let labels: Vec<String> = axis.ticks().map(|tick| axis.label(tick)).collect();
            assert_eq!(axis.ticks().last(), Some(axis.to), "{text}");
            (labels.join(" "), axis.unit_name())
        };
        assert_eq!(shown("59.4s"), ("0 10 20 30 40 50 60".to_owned(), "s"));
        assert_eq!(shown("1.58s"), ("0 0.2 0.4 0.6 0.8 1 1.2 1.4 1.6".to_owned(), "s"));
        assert_eq!(
            shown("3500s"),
            ("0:00 10:00 20:00 30:00 40:00 50:00 60:00".to_owned(), "min:s")
        );
    }
}
