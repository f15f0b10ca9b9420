//! Scales: where a number stands on an axis, and which are marked.

use super::axis::{Numbers, round_spans};
use super::text;
use crate::time::Span;

/// A vertical axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// Equal steps are equally high.
    Even(Numbers),
    /// Equal ratios are equally high.
    Decades(Decades),
    /// Percentages from 0 to 100.
    Percent,
}

/// An axis of numbers that is even from 0 to `low` and logarithmic above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decades {
    /// A power of ten.
    pub low: f64,
    /// What it holds.
    most: f64,
}

impl Decades {
    /// An axis whose even part holds less than `usual`, and which holds `most`; both positive.
    pub fn holding(usual: f64, most: f64) -> Decades {
        let low = libm::pow(10.0, libm::floor(libm::log10(usual.clamp(1e-9, 1e30))));
        Decades { low, most: most.clamp(low, 1e30) }
    }

    /// The height of a number in decades.
    fn height(&self, number: f64) -> f64 {
        let times = number / self.low;
        if times < 1.0 { times } else { 1.0 + libm::log10(times) }
    }
}

impl Scale {
    /// Where a number stands: 0 at the foot, 1 at the top, held between them.
    pub fn share(&self, number: f64) -> f64 {
        let share = match self {
            Scale::Even(numbers) => number / numbers.top,
            Scale::Decades(decades) => {
                decades.height(number) / (1.15 * decades.height(decades.most))
            }
            Scale::Percent => number / 104.0,
        };
        share.clamp(0.0, 1.0)
    }

    /// What is marked, with what the marks say.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            Scale::Even(numbers) => {
                numbers.ticks().map(|tick| (tick, numbers.label(tick))).collect()
            }
            Scale::Decades(decades) => {
                let count = decades.height(decades.most).ceil().clamp(1.0, 40.0) as u32;
                let apart = count.div_ceil(5) as usize;
                let powers = (0..=count).map(|power| {
                    // From an exact number on, so that 1,000 is not 999.
                    (decades.low * 1e9).round() * libm::pow(10.0, f64::from(power)) / 1e9
                });
                let marked = powers.take_while(|power| *power <= decades.most * 1.05);
                let zero = std::iter::once((0.0, "0".to_owned()));
                zero.chain(marked.step_by(apart).map(|power| (power, number(power)))).collect()
            }
            Scale::Percent => {
                [0, 25, 50, 75, 100].map(|tick| (f64::from(tick), format!("{tick}%"))).to_vec()
            }
        }
    }
}

fn number(power: f64) -> String {
    if power >= 1.0 { text::count(power.round() as u64) } else { text::decimal(power, 9) }
}

/// A logarithmic axis of spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spans {
    from: u64,
    to: u64,
    /// Whether no time at all has a place of its own, before all others.
    zero: bool,
}

/// How far before the shortest span no time at all stands, in parts of the length between shortest and longest.
const BEFORE: f64 = 0.14;

impl Spans {
    /// An axis from below the shortest to a round length not below the longest span.
    pub fn holding(shortest: Span, longest: Span) -> Spans {
        let (shortest, longest) = (shortest.nanos().max(2), longest.nanos().max(2));
        let from = round_spans().take_while(|&length| length < shortest).last().unwrap_or(1);
        let to = round_spans().find(|&length| length >= longest).unwrap_or(longest);
        Spans { from, to: to.max(from + 1), zero: false }
    }

    /// The same with a place for no time at all, which no logarithm has.
    pub fn with_zero(self) -> Spans {
        Spans { zero: true, ..self }
    }

    /// Where it begins and ends, as [`position`] has it.
    pub fn ends(&self) -> (f64, f64) {
        let (from, to) = (position(self.from), position(self.to));
        (if self.zero { from - BEFORE * (to - from) } else { from }, to)
    }

    /// How far along the axis is interrupted, between no time at all and the others.
    pub fn gap(&self) -> Option<f64> {
        self.zero.then_some(0.45 * BEFORE / (1.0 + BEFORE))
    }

    /// Where a span stands, held within the axis.
    pub fn place(&self, span: Span) -> f64 {
        match span.nanos() {
            0 => self.ends().0,
            nanos => position(nanos.clamp(self.from, self.to)),
        }
    }

    /// So many spans and one more, which stand at equal distances from its beginning to its end.
    pub fn steps(&self, count: usize) -> Vec<Span> {
        let (from, to) = self.ends();
        (0..=count)
            .map(|step| match step {
                step if step == count => self.to,
                step => {
                    let along = from + (to - from) * step as f64 / count as f64;
                    (libm::pow(10.0, along).round() as u64).clamp(self.from, self.to)
                }
            })
            .map(Span::from_nanos)
            .collect()
    }

    /// What is marked over so many pixels: how far along it stands, and what it says. The finest of
    /// several divisions whose labels of such a size stand apart.
    pub fn ticks(&self, pixels: f64, size: f64) -> Vec<(f64, String)> {
        let all: Vec<u64> =
            round_spans().filter(|length| (self.from..=self.to).contains(length)).collect();
        let (from, to) = self.ends();
        let marked = |keeps: fn(u64) -> bool| -> Vec<(f64, String)> {
            let kept = all.iter().filter(|length| keeps(**length));
            let zero = self.zero.then(|| (0.0, "0".to_owned()));
            let others = kept.map(|&length| {
                let along = (position(length) - from) / (to - from);
                (along, Span::from_nanos(length).to_string())
            });
            zero.into_iter().chain(others).collect()
        };
        let apart = |ticks: &Vec<(f64, String)>| {
            ticks.windows(2).all(|pair| {
                let half = |label: &str| text::width(label, size) / 2.0;
                let gap = (pair[1].0 - pair[0].0) * pixels;
                half(&pair[0].1) + half(&pair[1].1) + size <= gap
            })
        };
        let divisions: [fn(u64) -> bool; 4] = [|_| true, is_main, is_major, is_unit];
        let mut found = divisions.into_iter().map(marked).find(|ticks| apart(ticks));
        found.take().unwrap_or_default()
    }
}

/// Where a span stands on a logarithmic axis.
pub fn position(nanos: u64) -> f64 {
    libm::log10(nanos.max(1) as f64)
}

const SECOND: u64 = crate::time::SECOND;

/// 1, 10, 100 of a unit up to 10 s; then 1, 10 and 30 minutes, 1, 3 and 12 hours, and 1, 10, ... days.
fn is_main(nanos: u64) -> bool {
    const ABOVE: [u64; 6] = [60, 600, 1800, 3600, 10_800, 43_200];
    is_major(nanos) || ABOVE.contains(&(nanos / SECOND)) && nanos.is_multiple_of(SECOND)
}

/// The same with 1 and 10 minutes, 1 hour and 12.
fn is_major(nanos: u64) -> bool {
    const ABOVE: [u64; 4] = [60, 600, 3600, 43_200];
    let power = |number: u64| number == 10_u64.pow(number.max(1).ilog10());
    match nanos {
        0..=10_000_000_000 => power(nanos),
        nanos if nanos.is_multiple_of(crate::time::DAY) => power(nanos / crate::time::DAY),
        nanos => nanos.is_multiple_of(SECOND) && ABOVE.contains(&(nanos / SECOND)),
    }
}

/// Units alone.
fn is_unit(nanos: u64) -> bool {
    [1, 1_000, 1_000_000, SECOND, 3600 * SECOND, 100 * crate::time::DAY].contains(&nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<(f64, String)>) -> String {
        ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn decades_begin_below_what_is_usual_and_are_equally_high() {
        let storm = Scale::Decades(Decades::holding(62.0, 10_316.0));
        assert_eq!(labels(storm.ticks()), "0 10 100 1,000 10,000");
        let heights: Vec<f64> = storm.ticks().iter().map(|tick| storm.share(tick.0)).collect();
        // 1 + log10(1031.6) = 4.0135 decades and 15 % of room.
        let step = 1.0 / (1.15 * 4.013_51);
        for (index, height) in heights.iter().enumerate() {
            assert!((height - step * index as f64).abs() < 1e-4, "{heights:?}");
        }
        let slow = Scale::Decades(Decades::holding(0.02, 4.0));
        assert_eq!(labels(slow.ticks()), "0 0.01 0.1 1");
        let vast = Scale::Decades(Decades::holding(1.0, 1e19));
        assert_eq!(labels(vast.ticks()), "0 1 10,000 100M 1.00T 10.0P");
    }

    #[test]
    fn spans_have_as_many_round_ticks_as_stand_apart() {
        let ticks = |shortest: &str, longest: &str, pixels: f64| {
            let of = |text: &str| Span::parse(text).unwrap();
            labels(Spans::holding(of(shortest), of(longest)).ticks(pixels, 12.0))
        };
        assert_eq!(ticks("150ms", "33s", 320.0), "100ms 1s 10s 60s");
        assert_eq!(ticks("150ms", "400ms", 320.0), "100ms 200ms 500ms");
        assert_eq!(ticks("1ms", "20h", 320.0), "1ms 1s 1h");
        assert_eq!(ticks("2s", "100m", 640.0), "1s 10s 60s 10m 30m 1h");
    }

    #[test]
    fn no_time_at_all_stands_before_the_shortest_span_where_it_has_a_place() {
        let axis = Spans::holding(Span::from_nanos(10_000_000), Span::from_secs(10)).with_zero();
        // From 5 ms (a round length) to 10 s are 3.301 decades, and 14 % of that before.
        assert_eq!(labels(axis.ticks(320.0, 12.0)), "0 10ms 100ms 1s 10s");
        let (from, to) = axis.ends();
        let before = position(5_000_000) - 0.14 * 3.301_03;
        assert!((from - before).abs() < 1e-4 && to == 10.0, "{from} {to}");
        // Between "0" and 5 ms.
        assert!((0.01..0.14 / 1.14).contains(&axis.gap().unwrap()));
        assert_eq!((axis.place(Span::ZERO), axis.place(Span::from_secs(1))), (from, 9.0));
    }

    #[test]
    fn spans_that_are_all_the_same_have_an_axis_too() {
        for nanos in [0, 1, 2, 150_000_000, Span::MAX.nanos()] {
            let span = Span::from_nanos(nanos);
            let axis = Spans::holding(span, span);
            let (from, to) = axis.ends();
            assert!(from < to, "{nanos}");
            let steps = axis.steps(7);
            assert!(steps.is_sorted() && steps.len() == 8, "{steps:?}");
            assert!(steps[7] >= span || nanos < 2, "{steps:?}");
        }
    }
}
