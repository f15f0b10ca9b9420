//! A span of the run shaded over all plots of a panel, or an instant marked by a line, with a word above it.

use super::canvas::{Align, Canvas};
use super::palette::{INK, MUTED};
use super::panels::{Plot, SMALL};
use super::text;
use super::view::View;
use crate::metrics::{Comparison, FleetInfo};
use crate::time::{Instant, Window};

/// When something is wrong with the store of a case.
pub fn outages(comparison: &Comparison, case: usize) -> &[Window] {
    fleet(comparison, case).map_or(&[], |fleet| &fleet.outages)
}

/// When a replica of the store of a case takes over.
pub fn fail_overs(comparison: &Comparison, case: usize) -> &[Instant] {
    fleet(comparison, case).map_or(&[], |fleet| &fleet.fail_overs)
}

fn fleet(comparison: &Comparison, case: usize) -> Option<&FleetInfo> {
    comparison.cases[case].fleet.as_ref()
}

/// What is shaded and marked of some cases, to stand behind a subtitle: "; shaded: outage; line: fail-over".
pub fn legend(comparison: &Comparison, mut cases: impl Iterator<Item = usize> + Clone) -> String {
    let mut words = String::new();
    if cases.clone().any(|case| !outages(comparison, case).is_empty()) {
        words += "; shaded: outage";
    }
    if cases.any(|case| !fail_overs(comparison, case).is_empty()) {
        words += "; line: fail-over";
    }
    words
}

/// Shades the outages of a case and marks its fail-overs over all plots of a panel, with a word above each from `free`
/// on to the right as far as there is room. Its run began at `start`.
pub fn trouble(
    canvas: &mut Canvas<'_>,
    plots: &[Plot],
    view: &View,
    (comparison, case): (&Comparison, usize),
    start: Instant,
    mut free: f64,
) {
    let instants = fail_overs(comparison, case).iter().map(|&at| Window { start: at, end: at });
    let mut all: Vec<Window> = outages(comparison, case).iter().copied().chain(instants).collect();
    all.sort_by_key(|window| window.start);
    for window in all {
        free = match window.start == window.end {
            true => mark(canvas, plots, view, (start, window.start), "fail-over", free),
            false => shade(canvas, plots, view, (start, window), "outage", free),
        };
    }
}

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
fn mark(
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
