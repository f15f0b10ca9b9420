//! A span of the run shaded over all plots of a panel, or an instant marked by a line, with a word above it.

use super::canvas::{Align, Canvas};
use super::palette::{INK, MUTED};
use super::panels::{Plot, SMALL};
use super::text;
use super::view::View;
use crate::time::{Instant, Window};

/// Shades `span` of a run that began at `start`, as far as it is drawn, and says `words` above it, from `free` on to the
/// right; not at all where there is no room. Gives where more may be said.
pub fn shade(
    canvas: &mut Canvas<'_>,
    plots: &[Plot],
    view: &View,
    (start, span): (Instant, Window),
    words: &str,
    free: f64,
) -> f64 {
    let (Some(above), Some(below)) = (plots.first(), plots.last()) else { return free };
    let since = |at: Instant| (at - start).nanos() as f64 / view.width as f64;
    let (from, to) = (since(span.start), since(span.end));
    if to < view.bins.start as f64 || from >= view.bins.end as f64 {
        return free;
    }
    let x = |position: f64| above.x_of(position).min(above.right);
    let (left, right) = (x(from), x(to).max(x(from) + 1.5).min(above.right));
    canvas.rectangle((left, above.top), (right, below.bottom), INK, 0.09);
    name(canvas, above, (left + right) / 2.0, words, free)
}

/// Draws a line at an instant of a run that began at `start`, if it is drawn, and says `words` above it as [`shade`]
/// does.
pub fn mark(
    canvas: &mut Canvas<'_>,
    plots: &[Plot],
    view: &View,
    (start, at): (Instant, Instant),
    words: &str,
    free: f64,
) -> f64 {
    let (Some(above), Some(below)) = (plots.first(), plots.last()) else { return free };
    let position = (at - start).nanos() as f64 / view.width as f64;
    if position < view.bins.start as f64 || position >= view.bins.end as f64 {
        return free;
    }
    let x = above.x_of(position);
    canvas.line(&[(x, above.top - 4.0), (x, below.bottom)], INK, 1.2);
    name(canvas, above, x, words, free)
}

/// Says `words` above a plot, at best with their middle at `x`, from `free` on to the right.
fn name(canvas: &mut Canvas<'_>, above: &Plot, x: f64, words: &str, free: f64) -> f64 {
    let wide = text::width(words, SMALL);
    let at = (x - wide / 2.0).max(free).min(above.right - wide);
    if at < free {
        return free;
    }
    canvas.text((at, above.top - 8.0), SMALL, Align::Start, MUTED, words);
    at + wide + 10.0
}

/// Where words may begin beside the title of a plot.
pub fn beside(plot: &Plot, title: &str) -> f64 {
    plot.left + text::width(title, SMALL) + 10.0
}
