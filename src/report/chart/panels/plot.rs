//! The place of the curves of one plot: where positions and numbers stand in it.

use std::ops::Range;

use super::super::scale::Scale;

/// The place of the curves of one plot, with its axes.
#[derive(Debug, Clone)]
pub struct Plot {
    /// Left edge in pixels.
    pub left: f64,
    /// Right edge.
    pub right: f64,
    /// Upper edge.
    pub top: f64,
    /// Lower edge, where the numbers begin.
    pub bottom: f64,
    /// The positions at its left and its right edge.
    pub ends: (f64, f64),
    /// Its vertical axis.
    pub scale: Scale,
}

impl Plot {
    /// Where a bin begins.
    pub fn x(&self, bin: usize) -> f64 {
        self.x_of(bin as f64)
    }

    /// A position on the horizontal axis: bins, or as [`Spans::ends`] counts.
    pub fn x_of(&self, position: f64) -> f64 {
        let along = (position - self.ends.0).max(0.0) / (self.ends.1 - self.ends.0);
        self.left + along * (self.right - self.left)
    }

    /// The height of a number, held within the plot.
    pub fn y(&self, number: f64) -> f64 {
        self.bottom - self.scale.share(number) * (self.bottom - self.top)
    }

    /// The outline of steps: each group of bins at its number.
    pub fn steps(&self, steps: &[(Range<usize>, f64)]) -> Vec<(f64, f64)> {
        steps
            .iter()
            .flat_map(|(bins, number)| {
                let y = self.y(*number);
                [(self.x(bins.start), y), (self.x(bins.end), y)]
            })
            .collect()
    }

    /// The surface between steps and a floor.
    pub fn surface(&self, steps: &[(Range<usize>, f64)], floor: f64) -> Vec<(f64, f64)> {
        let mut outline = self.steps(steps);
        if let (Some(&(first, _)), Some(&(last, _))) = (outline.first(), outline.last()) {
            outline.push((last, self.y(floor)));
            outline.push((first, self.y(floor)));
        }
        outline
    }
}
