//! A span of the run shaded over all plots of a panel, with a word above it.

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
    let wide = text::width(words, SMALL);
    let at = ((left + right - wide) / 2.0).max(free).min(above.right - wide);
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
