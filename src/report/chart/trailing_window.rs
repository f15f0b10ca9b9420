//! What each algorithm let through in the trailing window, over time, against the limit: the chart on
//! which a burst across a window's edge is seen at a glance.

use super::axis::Numbers;
use super::canvas::{Align, Canvas};
use super::palette::{INK, MUTED, OVER, OVER_TEXT, PAPER};
use super::panels::{self, BODY, Panels, Plot, SMALL, View};
use super::series::{self, Series};
use super::{Chart, Draw, text};
use crate::metrics::Comparison;
use crate::rate::Limit;

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
    let title = title(comparison, case, &all, promise);
    let keys =
        all.iter().filter_map(|one| one.row.tally.limits.first()).map(|limit| limit.keys.len());
    let of_keys = if keys.max().unwrap_or(0) > 1 { ", of the key with the most" } else { "" };
    let drawn = format!(
        "requests (by cost) accepted within the trailing {}{of_keys}; {}",
        promise.per,
        series::limits(comparison, case)
    );
    let remark = series::remark(comparison, left_out).unwrap_or_default();
    let figure = Panels {
        title: &title,
        subtitles: &[&drawn, &remark],
        series: &all,
        view: &view,
        numbers: Numbers::up_to(most as f64, 4.0, true),
        height: 104.0,
    };
    Some(figure.draw(|canvas, plot, one| {
        let steps = curve(one, &view, figure.groups());
        paint(canvas, plot, one, &steps, if limit_shown { &levels } else { &[] });
        if !limit_shown {
            let words = format!("{} lies above the picture", label(&top_level));
            canvas.text((plot.left + 6.0, plot.top + 12.0), SMALL, Align::Start, MUTED, &words);
        }
    }))
}

fn title(comparison: &Comparison, case: usize, all: &[Series<'_>], promise: Limit) -> String {
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
    match worst {
        Some((one, cost, promise)) => format!(
            "{subject}: {} lets {} through within {}, where {} are promised",
            one.row.algorithm,
            text::count(cost),
            promise.per,
            text::count(promise.requests),
        ),
        None => format!(
            "{subject}: no algorithm lets more than {} through in any {}",
            text::count(promise.requests),
            promise.per
        ),
    }
}

/// The different promises of the first limit, the lowest first, at most three.
fn levels(all: &[Series<'_>]) -> Vec<Limit> {
    let limits = all.iter().filter_map(|one| one.row.tally.limits.first());
    let mut levels: Vec<Limit> = limits
        .flat_map(|limit| {
            std::iter::once(limit.promise).chain(limit.keys.iter().filter_map(|key| key.promise))
        })
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

type Steps = Vec<(std::ops::Range<usize>, f64)>;

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
    canvas.surface(&plot.surface(steps, 0.0), one.colour, 0.16);
    let line = levels.last().map(|limit| limit.requests as f64);
    if let Some(line) = line
        && steps.iter().any(|(_, most)| *most > line)
    {
        let above: Steps =
            steps.iter().map(|(bins, most)| (bins.clone(), most.max(line))).collect();
        canvas.surface(&plot.surface(&above, line), OVER, 0.55);
    }
    for limit in levels {
        let y = plot.y(limit.requests as f64);
        canvas.line(&[(plot.left, y), (plot.right, y)], INK, 1.2);
    }
    canvas.line(&plot.steps(steps), one.colour, 2.0);
    for limit in levels {
        name_limit(canvas, plot, steps, limit);
    }
    let peak = steps.iter().map(|(_, most)| *most).fold(0.0, f64::max);
    let over = one.worst().filter(|(cost, promise)| *cost > promise.requests);
    let remark = match over {
        Some((cost, promise)) if promise.requests > 0 => {
            let ratio = cost as f64 / promise.requests as f64;
            format!("peak {}, {} the limit", text::count(cost), text::times(ratio))
        }
        Some((cost, _)) => format!("peak {}, nothing is promised", text::count(cost)),
        None => format!("peak {}", text::count(one.highest())),
    };
    let colour = if over.is_some() { OVER_TEXT } else { MUTED };
    panels::head(canvas, plot, one, (&remark, colour));
    let at = steps.iter().find(|(_, most)| *most == peak);
    if let (Some((bins, most)), Some(_)) = (at, over) {
        let spot = (plot.x(bins.start), plot.y(*most));
        canvas.disc(spot, 3.5, OVER_TEXT);
        let words = text::count(one.highest());
        let wide = text::width(&words, BODY);
        let before = spot.0 - 8.0 - wide >= plot.left;
        let (x, align) =
            if before { (spot.0 - 8.0, Align::End) } else { (spot.0 + 8.0, Align::Start) };
        canvas.text((x, spot.1 + 4.5), BODY, align, OVER_TEXT, &words);
    }
}

fn label(limit: &Limit) -> String {
    format!("limit {} per {}", text::count(limit.requests), limit.per)
}

/// Writes a limit beside its line, where the curve leaves room.
fn name_limit(canvas: &mut Canvas<'_>, plot: &Plot, steps: &Steps, limit: &Limit) {
    let words = label(limit);
    let wide = text::width(&words, SMALL) + 8.0;
    let line = plot.y(limit.requests as f64);
    let spots = [(plot.left, line - 18.0), (plot.right - wide, line - 18.0)]
        .into_iter()
        .chain([(plot.left, line + 3.0), (plot.right - wide, line + 3.0)])
        .filter(|&(_, top)| top >= plot.top - 4.0 && top + 15.0 <= plot.bottom);
    let free = |&(left, top): &(f64, f64)| {
        !steps.iter().any(|(bins, most)| {
            let (from, to) = (plot.x(bins.start), plot.x(bins.end));
            let y = plot.y(*most);
            to > left && from < left + wide && y < top + 17.0 && y > top - 3.0
        })
    };
    let crowded = |spot: &(f64, f64)| !free(spot);
    let best = spots.clone().find(|spot| !crowded(spot));
    let (left, top) = best.or_else(|| spots.clone().next()).unwrap_or((plot.left, line + 3.0));
    if best.is_none() {
        canvas.rectangle((left, top), (left + wide, top + 15.0), PAPER, 0.8);
    }
    canvas.text((left + 4.0, top + 12.0), SMALL, Align::Start, INK, &words);
}
