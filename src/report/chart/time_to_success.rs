//! How long clients wait until they get what they want, retries included: what share of all requests had
//! succeeded after so long.

use super::chosen::{self, Chosen};
use super::loops;
use super::palette::{Colour, MUTED};
use super::panels::{Across, Panels, Track};
use super::scale::{self, Scale, Spans};
use super::series::Series;
use super::{Chart, Draw};
use crate::judge::Tally;
use crate::metrics::Comparison;
use crate::report::format::span;
use crate::time::Span;

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "time-to-success",
    title: "Time to success",
    meaning: "Where clients retry: the share of all requests that had succeeded within a time from \
              when they were first meant to be sent, by case.",
    draw: Draw::Whole(draw),
};

fn draw(comparison: &Comparison) -> Option<String> {
    let drawn = loops::of(comparison)?;
    let ends = drawn.all().filter_map(|(_, one)| ends(&one.row.tally));
    let (shortest, longest) = ends.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))?;
    let axis = Spans::holding(shortest, longest);
    let (height, most_points) = if drawn.cases.len() == 1 { (220.0, 640) } else { (110.0, 320) };
    let bounds = axis.steps((9_000 / drawn.all().count()).min(most_points));
    let legend = drawn.legend(&[]);
    let legend: Vec<(&[Colour], &str)> =
        legend.iter().map(|(colours, words)| (&colours[..], &**words)).collect();
    let heads = drawn.heads(remark);
    let figure = Panels {
        title: &title(&drawn),
        subtitles: &[
            "share of all requests that had succeeded by then; the others were given up or unfinished",
            drawn.coinciding(),
            &drawn.remark,
        ],
        heads: &heads,
        legend: &legend,
        across: Across::Spans(
            axis,
            "time since the first attempt was meant to be made (logarithmic)",
        ),
        tracks: &[Track { titles: ("", ""), scale: Scale::Percent, height }],
    };
    Some(figure.draw(|canvas, plots, index| {
        let (_, all) = &drawn.cases[index];
        for (nth, one) in all.iter().enumerate() {
            let requests = one.row.tally.books.requests;
            if requests == 0 {
                continue;
            }
            let counts = within(&one.row.tally, &bounds);
            // From where the first succeeds on, if any does.
            let before = counts.iter().rposition(|count| *count == 0).unwrap_or(0);
            let from = if before + 1 < counts.len() { before } else { 0 };
            let curve: Vec<(f64, f64)> = counts
                .into_iter()
                .zip(&bounds)
                .skip(from)
                .map(|(count, bound)| {
                    let share = 100.0 * count as f64 / requests as f64;
                    (plots[0].x_of(scale::position(bound.nanos())), plots[0].y(share))
                })
                .collect();
            canvas.line(&curve, one.colour, chosen::thickness(nth, all.len()));
        }
    }))
}

/// How many requests had succeeded within each of ascending times. In an open loop, where nobody reacts,
/// each attempt that is let through succeeds when it is.
fn within(tally: &Tally, bounds: &[Span]) -> Vec<u64> {
    match &tally.closed {
        Some(closed) => closed.time_to_success.within(bounds),
        None if tally.queue_waits.count() > 0 => tally.queue_waits.within(bounds),
        None => vec![tally.books.succeeded; bounds.len()],
    }
}

/// The shortest time to success that an axis must hold, and the longest; `None` without any success.
fn ends(tally: &Tally) -> Option<(Span, Span)> {
    let times = match &tally.closed {
        Some(closed) => &closed.time_to_success,
        None => &tally.queue_waits,
    };
    let longest = times.max()?;
    // No time at all stands at the edge of a logarithmic axis, wherever that is.
    let shortest = times.min().filter(|&least| least > Span::ZERO);
    Some((shortest.unwrap_or(Span::from_nanos(longest.nanos() / 1000)), longest))
}

/// Requests that succeeded, and all.
fn success(one: &Series<'_>) -> (u64, u64) {
    (one.row.tally.books.succeeded, one.row.tally.books.requests)
}

/// Orders shares of requests, the smallest first.
fn smaller(one: (u64, u64), other: (u64, u64)) -> std::cmp::Ordering {
    let product = |part: u64, whole: u64| u128::from(part) * u128::from(whole);
    product(one.0, other.1).cmp(&product(other.0, one.1))
}

fn title(drawn: &Chosen<'_>) -> String {
    let subject = drawn.subject();
    let some = drawn.all().filter(|(_, one)| one.row.tally.books.requests > 0);
    let order = |one: &(usize, &Series<'_>), other: &(usize, &Series<'_>)| {
        smaller(success(one.1), success(other.1))
    };
    let best =
        some.clone().reduce(|best, next| if order(&best, &next).is_lt() { next } else { best });
    let (Some((case, least)), Some(best)) = (some.min_by(order), best) else {
        return format!("{subject}: no requests");
    };
    let share = |one: &Series<'_>| {
        let (succeeded, requests) = success(one);
        loops::percent(succeeded, requests)
    };
    let [worst_share, best_share] = [share(least), share(best.1)];
    let (succeeded, requests) = success(least);
    if succeeded < requests && worst_share == best_share {
        return format!("{subject}: {worst_share} of all requests succeed");
    }
    if succeeded < requests {
        return format!(
            "{subject}: {worst_share} of all requests succeed with {}, {best_share} with {}",
            drawn.who(case, least),
            drawn.who(best.0, best.1),
        );
    }
    let longest = drawn.all().filter_map(|(case, one)| Some((ends(&one.row.tally)?.1, case, one)));
    match longest.reduce(|most, next| if next.0 > most.0 { next } else { most }) {
        Some((longest, case, one)) => format!(
            "{subject}: every request succeeds; with {} it takes up to {}",
            drawn.who(case, one),
            span(longest)
        ),
        None => format!("{subject}: every request succeeds"),
    }
}

/// How many of a case's requests succeed, from the worst to the best of its algorithms, and the longest
/// that it takes.
fn remark(all: &[Series<'_>]) -> (String, Colour) {
    let mut shares: Vec<(u64, u64)> = all.iter().map(success).filter(|(_, all)| *all > 0).collect();
    shares.sort_by(|one, other| smaller(*one, *other));
    let (Some(least), Some(most)) = (shares.first(), shares.last()) else {
        return ("no requests".to_owned(), MUTED);
    };
    let [least, most] = [*least, *most].map(|(part, whole)| loops::percent(part, whole));
    let share =
        if least == most { least } else { format!("{} - {most}", least.trim_end_matches('%')) };
    let slowest = all.iter().filter_map(|one| Some(ends(&one.row.tally)?.1)).max();
    let slowest = slowest.map(|slowest| format!(", slowest {}", span(slowest))).unwrap_or_default();
    (format!("{share} succeed{slowest}"), MUTED)
}

#[cfg(test)]
mod tests {
    use super::super::loop_sample;
    use super::*;

    #[test]
    fn a_storm_delays_success_and_leaves_some_without() {
        insta::assert_snapshot!(draw(&loop_sample::storm()).unwrap());
    }

    #[test]
    fn the_title_tells_the_worst_and_the_best() {
        let told = |storm: &Comparison| title(&loops::of(storm).unwrap());
        let mut storm = loop_sample::storm();
        // 20 of the 120 requests come within the trigger, and 60 from its end to the end of the run.
        assert_eq!(
            told(&storm),
            "storm: 33.3% of all requests succeed with gcra (naive), 100% with fixed-window (naive)"
        );
        storm.rows.retain(|row| row.case == 0);
        assert_eq!(told(&storm), "storm, none: 83.3% of all requests succeed");
        let mut storm = loop_sample::storm();
        storm.rows.retain(|row| row.kind == 0 && row.case > 0);
        assert_eq!(told(&storm), "storm: every request succeeds; with naive it takes up to 15.2 s");
    }

    #[test]
    fn success_that_takes_no_time_stands_at_the_left_edge() {
        let mut storm = loop_sample::storm();
        storm.rows.truncate(1);
        let tally = &mut storm.rows[0].tally;
        let took = [Span::ZERO, Span::from_secs(2)];
        let run = storm.cases[0].window;
        tally.closed = Some(loop_sample::closed(run, None, 2, &took));
        assert_eq!(ends(tally), Some((Span::from_nanos(2_000_000), Span::from_secs(2))));
        assert_eq!(within(tally, &Spans::holding(took[1], took[1]).steps(1)), [1, 2]);
        assert!(draw(&storm).is_some());
    }
}
