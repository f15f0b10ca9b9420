//! What each algorithm let through in the trailing window, over time, against the limit: the chart on
//! which a burst across a window's edge is seen at a glance.

use std::cell::Cell;

use super::axis::Numbers;
use super::canvas::{Align, Canvas};
use super::palette::{Colour, INK, MUTED, OVER, OVER_TEXT};
use super::panels::{self, Across, BODY, Panels, Plot, SMALL, Track};
use super::scale::Scale;
use super::series::{self, Series};
use super::shade::{self, beside};
use super::view::{Steps, View};
use super::{Chart, Draw, text};
use crate::metrics::Comparison;
use crate::rate::Limit;
use crate::report::format::above;

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "trailing-window",
    title: "Requests in the trailing window",
    meaning: "The largest cost accepted for one key in the trailing window, over time, against \
              the limit.",
    draw: Draw::EachCase(draw),
};

fn draw(comparison: &Comparison, case: usize) -> Option<String> {
    let (all, left_out) = series::of_case(comparison, case);
    let promise = all.first()?.row.tally.limits.first()?.promise;
    let first = &all.first()?.row.tally.timeline;
    let counted = |bin: usize| {
        all.iter().any(|one| one.bins().get(bin).is_some_and(|bin| bin.window_max > 0))
    };
    let view = View::of(first, 0.6, counted)?;
    let highest = all.iter().map(Series::highest).max().unwrap_or(0);
    let levels = levels(&all);
    let top_level = levels.last().copied().unwrap_or(promise);
    // A limit far above everything would press the curves flat.
    let limit_shown = highest == 0 || top_level.requests / 4 <= highest;
    let most = if limit_shown { highest.max(top_level.requests) } else { highest };
    let title = title(comparison, case, &all, &levels);
    let keys =
        all.iter().filter_map(|one| one.row.tally.limits.first()).map(|limit| limit.keys.len());
    let of_keys = if keys.max().unwrap_or(0) > 1 { ", of the key with the most" } else { "" };
    let troubles = shade::legend(comparison, std::iter::once(case));
    let drawn =
        format!("requests, by cost, accepted in the trailing {}{of_keys}{troubles}", promise.per);
    let (limits, _) = series::first_limit(comparison, case);
    let across = match (limit_shown, levels.len()) {
        (false, _) => format!("{limits}, far above the picture"),
        (true, 0 | 1) => format!("line across, shaded above: {limits}"),
        (true, _) => format!("{limits}; lines across: what different keys are promised"),
    };
    // Such a curve compares no key with its own limit.
    let mixed = levels.len() > 1;
    let together = match mixed {
        true => "keys of several plans are drawn together: above a line may be another plan's key",
        false => "",
    };
    let numbers = Numbers::up_to(most as f64, 4.0, true);
    // What is shaded is named above the plots.
    let over = if troubles.is_empty() { "" } else { "requests" };
    let left_out = series::remark(comparison, left_out).unwrap_or_default();
    let figure = Panels {
        title: &title,
        subtitles: &[&drawn, &across, together, &left_out],
        heads: &panels::of_algorithms(&all, |one| remark(one, mixed)),
        legend: &[],
        across: Across::Run(&view),
        tracks: &[Track { titles: (over, ""), scale: Scale::Even(numbers), height: 104.0 }],
    };
    let drawn_levels = if limit_shown { &levels[..] } else { &[] };
    let named = Cell::new(false);
    Some(figure.draw(|canvas, plots, index| {
        let (plot, one) = (&plots[0], &all[index]);
        let steps = curve(one, &view, figure.groups());
        let start = one.row.tally.timeline.start;
        shade::trouble(canvas, plots, &view, (comparison, case), start, beside(plot, over));
        paint(canvas, plot, one, &steps, drawn_levels);
        let taken = mark_peak(canvas, plot, one, &steps, drawn_levels);
        // The limit is named in the first panel whose curve leaves room for it.
        if !named.get() {
            named.set(name_limits(canvas, plot, &steps, taken, drawn_levels));
        }
    }))
}

fn title(comparison: &Comparison, case: usize, all: &[Series<'_>], levels: &[Limit]) -> String {
    let subject = series::subject(comparison, case);
    let over = all.iter().filter_map(|one| {
        let (cost, promise) = one.worst().filter(|(cost, promise)| *cost > promise.requests)?;
        Some((one, cost, promise))
    });
    // The highest against its own promise; of equals the first.
    let worst = over.reduce(|best, next| {
        let share =
            |cost: u64, promise: Limit| u128::from(cost) * u128::from(promise.requests.max(1));
        let (ours, theirs) = (share(next.1, best.2), share(best.1, next.2));
        if ours > theirs { next } else { best }
    });
    let (_, name) = series::first_limit(comparison, case);
    let of_limit = name.map(|name| format!(" ({name})")).unwrap_or_default();
    let every = name.map_or("every limit".to_owned(), |name| format!("limit {name}"));
    let limit_of = |limit: &Limit| {
        format!("lets more than {} through in {}{of_limit}", text::count(limit.requests), limit.per)
    };
    match (worst, levels, all) {
        (Some((one, cost, promise)), ..) => format!(
            "{subject}: {} lets {} through in {}, limit {}{of_limit}",
            one.row.algorithm,
            text::count(cost),
            promise.per,
            text::count(promise.requests),
        ),
        (None, [limit], [one]) => {
            format!("{subject}: {} never {}", one.row.algorithm, limit_of(limit))
        }
        (None, [limit], _) => format!("{subject}: no algorithm {}", limit_of(limit)),
        (None, _, [one]) => format!("{subject}: {} keeps to {every}", one.row.algorithm),
        (None, ..) => format!("{subject}: every algorithm keeps to {every}"),
    }
}

/// The different promises of the first limit, the lowest first, at most three.
fn levels(all: &[Series<'_>]) -> Vec<Limit> {
    let limits = all.iter().filter_map(|one| one.row.tally.limits.first());
    let mut levels: Vec<Limit> = limits
        .flat_map(|limit| std::iter::once(limit.promise).chain(limit.keys.roll().promises()))
        .collect();
    levels.sort_by_key(|limit| (limit.requests, limit.per, limit.burst));
    levels.dedup_by_key(|limit| limit.requests);
    if levels.len() > 3 {
        let (middle, last) = (levels[levels.len() / 2], levels[levels.len() - 1]);
        levels.truncate(1);
        levels.extend([middle, last]);
    }
    levels
}

/// The largest of each group of bins: no spike is lost.
fn curve(one: &Series<'_>, view: &View, groups: usize) -> Steps {
    view.groups(groups)
        .map(|group| {
            let bins = one.bins().get(group.clone()).unwrap_or(&[]);
            let most = bins.iter().map(|bin| bin.window_max).max().unwrap_or(0);
            (group, most as f64)
        })
        .collect()
}

fn paint(canvas: &mut Canvas<'_>, plot: &Plot, one: &Series<'_>, steps: &Steps, levels: &[Limit]) {
    // Of several promises it is not known whose key a point belongs to: nothing is shaded.
    let line = match levels {
        [limit] => limit.requests as f64,
        _ => f64::INFINITY,
    };
    let part = |of: fn(f64, f64) -> f64| -> Steps {
        steps.iter().map(|(bins, most)| (bins.clone(), of(*most, line))).collect()
    };
    canvas.surface(&plot.surface(&part(f64::min), 0.0), one.colour, 0.16);
    if steps.iter().any(|(_, most)| *most > line) {
        canvas.surface(&plot.surface(&part(f64::max), line), OVER, 0.6);
    }
    for limit in levels {
        let y = plot.y(limit.requests as f64);
        canvas.line(&[(plot.left, y), (plot.right, y)], INK, 1.2);
    }
    canvas.line(&plot.steps(steps), one.colour, 2.0);
}

/// A part of the sheet: left, top, right and lower edge.
type Area = (f64, f64, f64, f64);

/// The peak in words; of `mixed` promises the one that rose highest above its own.
fn remark(one: &Series<'_>, mixed: bool) -> (String, Colour) {
    match one.worst().filter(|(cost, promise)| cost > &promise.requests) {
        Some((cost, promise)) if mixed => {
            let (cost, limit) = (text::count(cost), text::count(promise.requests));
            (format!("worst: {cost} under a limit of {limit}"), OVER_TEXT)
        }
        Some((cost, promise)) => {
            let above = above(cost, promise.requests);
            (format!("peak {}, {above}", text::count(cost)), OVER_TEXT)
        }
        None => (format!("peak {}", text::count(one.highest())), MUTED),
    }
}

/// Marks a peak over the limit where it is the top of the curve, as it is unless another key has
/// a higher promise; gives the area of its number, where there is one.
fn mark_peak(
    canvas: &mut Canvas<'_>,
    plot: &Plot,
    one: &Series<'_>,
    steps: &Steps,
    levels: &[Limit],
) -> Option<Area> {
    one.worst().filter(|(cost, promise)| *cost > promise.requests && *cost == one.highest())?;
    let peak = steps.iter().map(|(_, most)| *most).fold(0.0, f64::max);
    let (bins, _) = steps.iter().find(|(_, most)| *most == peak)?;
    let spot = (plot.x(bins.start), plot.y(peak));
    canvas.disc(spot, 3.5, OVER_TEXT);
    let words = text::count(one.highest());
    let wide = text::width(&words, BODY);
    let left = (spot.0 - wide / 2.0).max(plot.left).min(plot.right - wide);
    let area = (left, spot.1 - 18.0, left + wide, spot.1 - 4.0);
    // Below a line, or too near above it, the number would lie on the line or on its name.
    if levels.iter().any(|limit| (-24.0..24.0).contains(&(plot.y(limit.requests as f64) - spot.1)))
    {
        return None;
    }
    canvas.text((left, spot.1 - 6.0), BODY, Align::Start, OVER_TEXT, &words);
    Some(area)
}

/// Writes each limit beside its line where neither the curve, `taken` nor another limit is in the
/// way, shortened if need be; whether all found a place.
fn name_limits(
    canvas: &mut Canvas<'_>,
    plot: &Plot,
    steps: &Steps,
    taken: Option<Area>,
    levels: &[Limit],
) -> bool {
    let height = |limit: &Limit| plot.y(limit.requests as f64);
    let mut obstacles: Vec<Area> = taken.into_iter().collect();
    obstacles.extend(levels.iter().map(|limit| {
        let y = height(limit);
        (plot.left, y - 0.6, plot.right, y + 0.6)
    }));
    let mut places: Vec<(String, (f64, f64))> = Vec::new();
    for limit in levels {
        let short = format!("limit {}", text::count(limit.requests));
        let long = format!("{short} per {}", limit.per);
        let found = [long, short].into_iter().find_map(|words| {
            let wide = text::width(&words, SMALL);
            let spare = plot.right - plot.left - wide - 12.0;
            let area = |(x, y): (f64, f64)| (x - 3.0, y - 12.0, x + wide + 3.0, y + 3.0);
            let clear = |spot: &(f64, f64)| {
                let area = area(*spot);
                area.1 >= plot.top - 4.0
                    && area.2 <= plot.right
                    && area.3 <= plot.bottom
                    && !obstacles.iter().any(|other| overlap(area, *other))
                    && is_clear(plot, steps, area)
            };
            let spot = [height(limit) - 5.0, height(limit) + 14.0]
                .into_iter()
                .flat_map(|y| {
                    (0..=16).map(move |step| (plot.left + 6.0 + spare * f64::from(step) / 16.0, y))
                })
                .find(clear)?;
            Some((words, spot, area(spot)))
        });
        let Some((words, spot, area)) = found else { return false };
        obstacles.push(area);
        places.push((words, spot));
    }
    for (words, spot) in &places {
        canvas.text(*spot, SMALL, Align::Start, INK, words);
    }
    true
}

fn overlap(one: Area, other: Area) -> bool {
    one.0 < other.2 && other.0 < one.2 && one.1 < other.3 && other.1 < one.3
}

/// Whether no part of the curve, nor of its rises and falls, crosses an area.
fn is_clear(plot: &Plot, steps: &Steps, area: Area) -> bool {
    let mut before = None;
    steps.iter().all(|(bins, most)| {
        let (left, right, y) = (plot.x(bins.start), plot.x(bins.end), plot.y(*most));
        let from: f64 = before.replace(y).unwrap_or(y);
        let rise = (left - 1.0, from.min(y), left + 1.0, from.max(y) + 0.1);
        !overlap((left, y - 1.0, right, y + 1.0), area) && !overlap(rise, area)
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::judge::{Peak, SubjectTally, Worst};

    #[test]
    fn the_boundary_burst_stands_above_the_limit_line() {
        let mut comparison = sample::boundary();
        comparison.rows.truncate(2);
        insta::assert_snapshot!(draw(&comparison, 0).unwrap());
    }

    #[test]
    fn without_a_limit_there_is_nothing_to_compare_with() {
        let mut comparison = sample::boundary();
        comparison.rows.iter_mut().for_each(|row| row.tally.limits.clear());
        assert_eq!(draw(&comparison, 0), None);
    }

    #[test]
    fn of_several_limits_the_one_that_is_drawn_is_named() {
        let mut comparison = sample::boundary();
        comparison.rows.retain(|row| row.algorithm == "sliding-window-log");
        comparison.cases[0].limits.push(("hourly".to_owned(), "9 per 1h".to_owned()));
        let svg = draw(&comparison, 0).unwrap();
        let title = "never lets more than 100 through in 60s (requests)";
        assert!(svg.contains(title), "{svg}");
        assert!(svg.contains("another limit is not shown") && !svg.contains("9 per 1h"), "{svg}");
    }

    #[test]
    fn a_key_within_its_own_higher_limit_is_not_marked() {
        let marks = |svg: &str| {
            let over = format!("#{:06X}", OVER.light);
            (svg.contains("<circle"), svg.contains(&over))
        };
        let mut comparison = sample::boundary();
        comparison.rows.truncate(1);
        assert_eq!(marks(&draw(&comparison, 0).unwrap()), (true, true));
        // The key that made the curve may have 250; another broke its limit of 20 by 10.
        let limit = &mut comparison.rows[0].tally.limits[0];
        let of = |requests| Limit::new(requests, limit.promise.per);
        let large = SubjectTally { promise: Some(of(250)), ..limit.keys.get(0) };
        let small = SubjectTally { promise: Some(of(20)), peak: Some(30), ..large };
        limit.worst = limit.worst.map(|worst| Worst {
            key: 1,
            promise: of(20),
            peak: worst.peak.map(|peak| Peak { cost: 30, ..peak }),
        });
        limit.keys = [("large", large), ("small", small)].into_iter().collect();
        let svg = draw(&comparison, 0).unwrap();
        assert_eq!(marks(&svg), (false, false), "{svg}");
        assert!(svg.contains("worst: 30 under a limit of 20"), "{svg}");
        assert!(svg.contains("keys of several plans are drawn together"), "{svg}");
    }

    #[test]
    fn a_title_tells_who_goes_highest_above_its_own_promise() {
        let told = |comparison: &Comparison, case| {
            let (all, _) = series::of_case(comparison, case);
            title(comparison, case, &all, &levels(&all))
        };
        let mut comparison = sample::boundary();
        assert_eq!(
            told(&comparison, 0),
            "boundary: fixed-window lets 200 through in 60s, limit 100"
        );
        comparison.rows.retain(|row| row.algorithm == "sliding-window-log");
        assert_eq!(
            told(&comparison, 0),
            "boundary: sliding-window-log never lets more than 100 through in 60s"
        );
    }

    #[test]
    fn outages_are_shaded_where_there_are_any() {
        let outage = crate::report::fleet_samples::outage();
        let svg = draw(&outage, 0).unwrap();
        let said = super::super::tests::texts(&svg);
        assert!(said.lines().any(|line| line == "outage") && said.contains("; shaded: outage"));
        assert_eq!(svg.matches("opacity=\"0.09\"").count(), 1);
        let none = draw(&outage, 3).unwrap();
        assert!(!none.contains("shaded: outage") && !none.contains("opacity=\"0.09\""));
    }
}
