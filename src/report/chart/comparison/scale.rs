//! The axis of a panel of means.

use super::super::axis::Numbers;
use super::super::canvas::{Align, Canvas};
use super::super::palette::{Colour, GRID, MUTED};
use super::super::panels::SMALL;
use super::super::text;
use super::Point;
use crate::metrics::Mean;

const DOT: f64 = 3.2;

/// The axis of a panel.
pub struct Scale {
    from: f64,
    to: f64,
    pub left: f64,
    right: f64,
    /// Where the panel ends; what never came is told between the axis and there.
    pub edge: f64,
    step: Numbers,
}

impl Scale {
    /// The axis of a panel between two edges in pixels.
    pub fn of<'a>(
        points: impl Iterator<Item = &'a Point> + Clone,
        whole: bool,
        (left, edge): (f64, f64),
    ) -> Scale {
        let never = points.clone().map(|point| text::width(&point.never, SMALL));
        let never = never.fold(0.0, f64::max);
        let right = if never > 0.0 { edge - never - 8.0 } else { edge };
        let scale = Scale::around(points.filter_map(|point| point.mean), whole, (left, right));
        Scale { edge, ..scale }
    }

    /// The axis that holds all intervals between two edges in pixels: from 0 on, unless that would leave
    /// more than half of it empty.
    fn around(means: impl Iterator<Item = Mean>, whole: bool, (left, right): (f64, f64)) -> Scale {
        let ends = means.map(|mean| mean.interval().unwrap_or((mean.mean, mean.mean)));
        let (low, high) = ends
            .fold((f64::INFINITY, 0.0_f64), |(low, high), end| (low.min(end.0), high.max(end.1)));
        let high = if high > 0.0 { high } else { 1.0 };
        let near = low.is_finite() && low > 0.5 * high && low < high;
        let room = if near { (high - low) * 1.2 } else { high };
        let scale = |ticks: f64| {
            let step = Numbers::up_to(room, ticks, whole && high >= 8.0);
            let below = ((low - 0.1 * room) / step.step).floor() * step.step;
            let from = if near { below.max(0.0) } else { 0.0 };
            Scale { from, to: high + 0.08 * (high - from), left, right, edge: right, step }
        };
        let pitch = |scale: &Scale| scale.step.step / (scale.to - scale.from) * (right - left);
        let width = |scale: &Scale, tick| text::width(&scale.step.label(tick), SMALL);
        let fits = |scale: &Scale| {
            let widths = scale.ticks().map(|tick| width(scale, tick));
            widths.fold(0.0, f64::max) + 10.0 <= pitch(scale)
        };
        // A single tick tells of no value, so that two are drawn even where they nearly touch.
        let several = |scale: &Scale| scale.ticks().nth(1).is_some();
        let touch = |scale: &Scale| {
            let widths: Vec<f64> = scale.ticks().map(|tick| width(scale, tick)).collect();
            widths.windows(2).any(|two| two[0] / 2.0 + two[1] / 2.0 + 4.0 > pitch(scale))
        };
        let close = || [4.0, 3.0, 2.0].map(scale).into_iter().find(|scale| !touch(scale));
        [5.0, 4.0, 3.0, 2.0]
            .map(scale)
            .into_iter()
            .find(fits)
            .or_else(|| Some(scale(1.0)).filter(several))
            .or_else(close)
            .unwrap_or_else(|| scale(2.0))
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let (from, to, step) = (self.from, self.to, self.step.step);
        (0..16).map(move |index| from + f64::from(index) * step).take_while(move |&tick| tick <= to)
    }

    /// Where a number stands, held between the edges.
    pub fn x(&self, number: f64) -> f64 {
        let along = ((number - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.left + along * (self.right - self.left)
    }

    pub fn guide(&self, canvas: &mut Canvas<'_>, top: f64, floor: f64) {
        for tick in self.ticks() {
            let x = self.x(tick);
            canvas.line(&[(x, top), (x, floor)], GRID, 1.0);
            let label = self.step.label(tick);
            canvas.text((x, floor + 16.0), SMALL, Align::Middle, MUTED, &label);
        }
        canvas.line(&[(self.left, floor), (self.right, floor)], MUTED, 1.0);
    }

    pub fn dot(&self, canvas: &mut Canvas<'_>, mean: &Mean, y: f64, colour: Colour) {
        if let Some((low, high)) = mean.interval().filter(|(low, high)| low < high) {
            let (from, to) = (self.x(low), self.x(high));
            canvas.line(&[(from, y), (to, y)], colour, 2.0);
            for end in [from, to] {
                canvas.line(&[(end, y - 4.0), (end, y + 4.0)], colour, 1.5);
            }
        }
        canvas.disc((self.x(mean.mean), y), DOT, colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_starts_at_0_unless_most_of_it_would_be_empty() {
        let scale = |ends: &[(f64, f64)]| {
            let means = ends.iter().map(|(mean, half)| Mean { mean: *mean, half: Some(*half) });
            let scale = Scale::around(means, true, (0.0, 150.0));
            scale.ticks().map(|tick| scale.step.label(tick)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(scale(&[(10.0, 2.0), (100.0, 1.0)]), "0 25 50 75 100");
        assert_eq!(scale(&[(1000.0, 10.0), (1050.0, 10.0)]), "950 1,000 1,050");
        assert_eq!(scale(&[(0.0, 0.0)]), "0 0.5 1");
        assert_eq!(scale(&[(7.0, 0.0)]), "0 2 4 6");
    }

    #[test]
    fn a_narrow_axis_has_two_ticks_at_least() {
        for (number, wide, ticks) in
            [(0.0015, 70.0, "0 0.001"), (0.0019, 70.0, "0 0.002"), (0.15, 40.0, "0 0.1")]
        {
            let means = [Mean { mean: number, half: None }].into_iter();
            let scale = Scale::around(means, false, (0.0, wide));
            let said: Vec<String> = scale.ticks().map(|tick| scale.step.label(tick)).collect();
            assert_eq!(said.join(" "), ticks, "{number}");
        }
    }
}
