//! What the replicas come to: means with their 95 % intervals, case by case and algorithm by algorithm.

use super::axis::Numbers;
use super::canvas::{self, Align, Canvas, WIDTH};
use super::palette::{Colour, GRID, INK, MUTED};
use super::panels::{self, BODY, MARGIN, SMALL};
use super::series;
use super::{Chart, Draw, text};
use crate::metrics::{Comparison, Mean, Spreads};

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "comparison",
    title: "Means of the replicas",
    meaning: "Means of all replicas with their 95 % intervals, by case and algorithm, for the metrics \
              that say most.",
    draw: Draw::Whole(draw),
};

/// What may be drawn, the first four of which say something: the metric, its name and its unit.
const METRICS: [(&str, &str, &str); 6] = [
    ("accepted", "accepted", "attempts"),
    ("over_limit", "over limit", "attempts"),
    ("peak_ratio", "peak window", "times the limit"),
    ("needless_rejections", "needless", "rejections"),
    ("wait_p99_s", "queue wait p99", "s"),
    ("rejected", "rejected", "attempts"),
];
const MOST_PANELS: usize = 4;
/// So many means are drawn in a panel; `comparison.csv` has them all.
const MOST_ROWS: usize = 60;

const PITCH: f64 = 19.0;
const GROUP_HEAD: f64 = 25.0;
const GAP: f64 = 22.0;
const HEAD: f64 = 36.0;
const DOT: f64 = 3.2;

/// A line of dots: one case and algorithm.
struct Line {
    label: String,
    colour: Colour,
    /// Whether the others of its group are compared with it.
    is_baseline: bool,
    /// By panel.
    means: Vec<Option<Mean>>,
}

/// Lines that are compared with one another.
struct Group {
    head: Option<(String, Colour)>,
    lines: Vec<Line>,
}

/// The axis of a panel.
struct Scale {
    from: f64,
    to: f64,
    left: f64,
    right: f64,
    step: Numbers,
}

fn draw(comparison: &Comparison) -> Option<String> {
    let replicas = comparison.replicas();
    if replicas < 2 {
        return None;
    }
    let spreads = Spreads::of(comparison);
    let panels: Vec<_> = METRICS
        .iter()
        .filter(|(metric, ..)| says_something(&spreads, comparison, metric))
        .take(MOST_PANELS)
        .collect();
    let (groups, left_out) = groups(comparison, &spreads, &panels);
    let lines = || groups.iter().flat_map(|group| &group.lines);
    lines().next()?;
    let title = format!("{}: means of {replicas} replicas", comparison.scenario);
    let several = comparison.cases.len() > 1;
    let baseline = comparison.cases.get(comparison.baseline).map_or("", |case| &case.name);
    let compared = match several {
        true => format!("; vertical lines: the baseline, {baseline}"),
        false => format!("; {}", series::limits(comparison, 0)),
    };
    let drawn = format!("dots are means, bars their 95 % intervals{compared}");
    let remark = match left_out {
        0 => String::new(),
        more => format!("{more} more rows are in comparison.csv"),
    };
    let heading = panels::lines(&title, &[&drawn, &remark]);
    let heads = groups.iter().filter_map(|group| group.head.as_ref());
    let heads = heads.map(|(head, _)| text::width(head, BODY) + 4.0);
    let labels = lines().map(|line| text::width(&line.label, BODY));
    let label = labels.chain(heads).fold(60.0, f64::max).min(190.0);
    let left = MARGIN + label + 16.0;
    let wide = (WIDTH - MARGIN - left + GAP) / panels.len() as f64 - GAP;
    let scales: Vec<Scale> = (0..panels.len())
        .map(|panel| {
            let left = left + panel as f64 * (wide + GAP);
            let means = lines().filter_map(|line| line.means[panel]);
            Scale::around(means, panels[panel].2 != "s", (left, left + wide))
        })
        .collect();
    let heads = groups.iter().filter(|group| group.head.is_some()).count() as f64 * GROUP_HEAD;
    let top = panels::heading_height(&heading) + HEAD + 8.0;
    let floor = top + heads + lines().count() as f64 * PITCH + 4.0;

    Some(canvas::draw((floor + 32.0).ceil(), &title, |canvas| {
        panels::heading(canvas, &heading.0, &heading.1);
        for (scale, (_, name, unit)) in scales.iter().zip(&panels) {
            let name = text::fit(name, BODY, wide + GAP - 4.0);
            canvas.text((scale.left, top - 22.0), BODY, Align::Start, INK, &name);
            canvas.text((scale.left, top - 7.0), SMALL, Align::Start, MUTED, unit);
            scale.guide(canvas, top, floor);
        }
        let mut y = top;
        for group in &groups {
            if let Some((head, colour)) = &group.head {
                let baseline = y + GROUP_HEAD - 7.0;
                canvas.rectangle(
                    (MARGIN, baseline - 9.5),
                    (MARGIN + 10.0, baseline + 0.5),
                    *colour,
                    1.0,
                );
                let head = text::fit(head, BODY, left - MARGIN - 20.0);
                canvas.text((MARGIN + 16.0, baseline), BODY, Align::Start, INK, &head);
                y += GROUP_HEAD;
            }
            let bottom = y + PITCH * group.lines.len() as f64;
            for line in group.lines.iter().filter(|line| line.is_baseline) {
                for (scale, mean) in scales.iter().zip(&line.means) {
                    let Some(Mean { mean, .. }) = mean else { continue };
                    let x = scale.x(*mean);
                    canvas.line(&[(x, y), (x, bottom)], line.colour, 1.0);
                }
            }
            for line in &group.lines {
                let middle = y + PITCH / 2.0;
                let label = text::fit(&line.label, BODY, label);
                let at = (left - 16.0, middle + 4.5);
                canvas.text(at, BODY, Align::End, INK, &label);
                for (scale, mean) in scales.iter().zip(&line.means) {
                    if let Some(mean) = mean {
                        scale.dot(canvas, mean, middle, line.colour);
                    }
                }
                y += PITCH;
            }
        }
    }))
}

/// Whether a metric is other than 0 anywhere.
fn says_something(spreads: &Spreads, comparison: &Comparison, metric: &str) -> bool {
    (0..comparison.rows.len()).any(|row| {
        let across = spreads.get(row, metric).and_then(|spread| spread.across);
        across.is_some_and(|across| across.mean.mean > 0.0)
    })
}

/// The lines: of several cases those of one algorithm together, so that cases stand side by side; of one
/// case all algorithms. Also how many were left out for want of room.
fn groups(
    comparison: &Comparison,
    spreads: &Spreads,
    panels: &[&(&str, &str, &str)],
) -> (Vec<Group>, usize) {
    let several = comparison.cases.len() > 1;
    let mut groups: Vec<Group> = Vec::new();
    let mut drawn = 0;
    for case in 0..comparison.cases.len() {
        for one in series::of_case(comparison, case).0 {
            let Some(row) = comparison.rows.iter().position(|row| std::ptr::eq(row, one.row))
            else {
                continue;
            };
            let name = &one.row.algorithm;
            let label = if several { &comparison.cases[case].name } else { name };
            let mean = |(metric, ..): &&(&str, &str, &str)| {
                spreads.get(row, metric)?.across.map(|across| across.mean)
            };
            let line = Line {
                label: label.clone(),
                colour: one.colour,
                is_baseline: several && case == comparison.baseline,
                means: panels.iter().map(mean).collect(),
            };
            let head = several.then(|| (name.clone(), one.colour));
            let same = |group: &&mut Group| match (&group.head, &head) {
                (Some((known, _)), Some((name, _))) => known == name,
                _ => !several,
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.lines.push(line),
                None => groups.push(Group { head, lines: vec![line] }),
            }
        }
    }
    for group in &mut groups {
        group.lines.truncate(MOST_ROWS.saturating_sub(drawn));
        drawn += group.lines.len();
    }
    groups.retain(|group| !group.lines.is_empty());
    (groups, comparison.rows.len() - drawn)
}

impl Scale {
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
            Scale { from, to: high + 0.08 * (high - from), left, right, step }
        };
        let fits = |scale: &Scale| {
            let pitch = scale.step.step / (scale.to - scale.from) * (right - left);
            let widths = scale.ticks().map(|tick| text::width(&scale.step.label(tick), SMALL));
            widths.fold(0.0, f64::max) + 10.0 <= pitch
        };
        [5.0, 4.0, 3.0, 2.0].map(scale).into_iter().find(fits).unwrap_or_else(|| scale(1.0))
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let (from, to, step) = (self.from, self.to, self.step.step);
        (0..16).map(move |index| from + f64::from(index) * step).take_while(move |&tick| tick <= to)
    }

    /// Where a number stands, held between the edges.
    fn x(&self, number: f64) -> f64 {
        let along = ((number - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.left + along * (self.right - self.left)
    }

    fn guide(&self, canvas: &mut Canvas<'_>, top: f64, floor: f64) {
        for tick in self.ticks() {
            let x = self.x(tick);
            canvas.line(&[(x, top), (x, floor)], GRID, 1.0);
            let label = self.step.label(tick);
            canvas.text((x, floor + 16.0), SMALL, Align::Middle, MUTED, &label);
        }
        canvas.line(&[(self.left, floor), (self.right, floor)], MUTED, 1.0);
    }

    fn dot(&self, canvas: &mut Canvas<'_>, mean: &Mean, y: f64, colour: Colour) {
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
    use super::super::sample;
    use super::*;

    #[test]
    fn one_replica_has_no_means() {
        assert_eq!(draw(&sample::boundary()), None);
    }

    #[test]
    fn cases_of_an_algorithm_stand_together() {
        insta::assert_snapshot!(draw(&sample::replicated()).unwrap());
    }

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
}
