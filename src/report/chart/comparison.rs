//! What the replicas come to: means with their 95 % intervals, case by case and algorithm by algorithm.

mod scale;

use super::canvas::{self, Align, Canvas, WIDTH};
use super::names::{self, Names};
use super::palette::{Colour, INK, MUTED};
use super::panels::{self, BODY, MARGIN, SMALL};
use super::series;
use super::{Chart, Draw, text};
use crate::metrics::{Comparison, Mean, Spreads};
use scale::Scale;

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "comparison",
    title: "Means of the replicas",
    meaning: "Means of all replicas with their 95 % intervals, by case and algorithm, for the metrics \
              that say most.",
    draw: Draw::Whole(draw),
};

/// A metric with the name and the unit of its panel.
type Panel = (&'static str, &'static str, &'static str);

/// What may be drawn, of which the first so many that say something are.
struct Choice {
    panels: &'static [Panel],
    most: usize,
}

const OPEN: Choice = Choice {
    panels: &[
        ("accepted", "accepted", "attempts"),
        ("over_limit", "over limit", "attempts"),
        ("peak_ratio", "peak window", "times the limit"),
        ("needless_rejections", "needless", "rejections"),
        ("wait_p99_s", "queue wait p99", "s"),
        ("rejected", "rejected", "attempts"),
    ],
    most: 4,
};

/// Where clients react, what requests come to says more than what the limits do.
const CLOSED: Choice = Choice {
    panels: &[
        ("success_share", "succeeded", "share of requests"),
        ("amplification", "amplification", "attempts per request"),
        ("time_to_success_p99_s", "time to success p99", "s"),
        ("herd_peak_ratio", "peak of the herd", "times its mean"),
        ("recovery_s", "recovery", "s"),
        ("gave_up", "gave up", "requests"),
        ("over_limit", "over limit", "attempts"),
        ("accepted", "accepted", "attempts"),
    ],
    most: 6,
};

/// Where several nodes keep a limit, or share a store, what they make of the promise comes first.
const FLEET: Choice = Choice {
    panels: &[
        ("effective_limit_ratio", "effective limit", "times the promise"),
        ("over_limit", "over limit", "attempts"),
        ("unlimited_accepts", "undecided", "attempts"),
        ("store_rejections", "rejected by store", "attempts"),
        ("store_wait_p99_s", "store wait p99", "s"),
        ("stuck_keys_end", "stuck keys", "keys"),
        ("accepted", "accepted", "attempts"),
        ("success_share", "succeeded", "share of requests"),
    ],
    most: 6,
};

/// More panels than this stand in two rows.
const MOST_ABREAST: usize = 4;
/// So many means are drawn in a panel; `comparison.csv` has them all.
const MOST_ROWS: usize = 60;

/// The most room for labels.
const MOST_LABEL: f64 = 300.0;
const PITCH: f64 = 19.0;
const GROUP_HEAD: f64 = 25.0;
const GAP: f64 = 22.0;
const HEAD: f64 = 36.0;
const FOOT: f64 = 32.0;

/// A line of dots: one case and algorithm.
struct Line {
    label: String,
    colour: Colour,
    /// Whether the others of its group are compared with it.
    is_baseline: bool,
    /// By panel.
    points: Vec<Point>,
}

/// What a panel shows of a line.
struct Point {
    mean: Option<Mean>,
    /// In how many replicas it never came: `3 never`, or `never` of all; empty of none.
    never: String,
}

/// Lines that are compared with one another.
struct Group {
    head: Option<(String, Colour)>,
    lines: Vec<Line>,
}

fn draw(comparison: &Comparison) -> Option<String> {
    let replicas = comparison.replicas();
    if replicas < 2 {
        return None;
    }
    let spreads = Spreads::of(comparison);
    let choice = match (comparison.is_fleet(), comparison.is_closed_loop()) {
        (true, _) => FLEET,
        (false, true) => CLOSED,
        (false, false) => OPEN,
    };
    let is_fleet = comparison.is_fleet();
    let says = |(metric, ..): &&Panel| says_something(&spreads, comparison, metric);
    let panels: Vec<Panel> = choice.panels.iter().filter(says).take(choice.most).copied().collect();
    let (mut groups, left_out) = groups(comparison, &spreads, &panels);
    let common = shorten(&mut groups);
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
    let never = match lines().flat_map(|line| &line.points).any(|point| !point.never.is_empty()) {
        true => "never: so many replicas did not recover; they are not in the mean",
        false => "",
    };
    let remark = match left_out {
        0 => String::new(),
        more => format!("{more} more rows are in comparison.csv"),
    };
    let common = match common.is_empty() {
        true => String::new(),
        false => format!("left out of every name: {}", common.join(", ")),
    };
    let heading = panels::lines(&title, &[&drawn, &common, never, &remark]);
    let heads = groups.iter().filter_map(|group| group.head.as_ref());
    let heads = heads.map(|(head, _)| text::width(head, BODY) + 4.0);
    let labels = lines().map(|line| text::width(&line.label, BODY));
    let label = labels.chain(heads).fold(60.0, f64::max).min(MOST_LABEL);
    let left = MARGIN + label + 16.0;
    let wide = |abreast: usize| (WIDTH - MARGIN - left + GAP) / abreast as f64 - GAP;
    let head =
        panels.iter().map(|(_, name, unit)| text::width(name, BODY).max(text::width(unit, SMALL)));
    let head = head.fold(0.0, f64::max);
    // Charts of other comparisons keep their bytes.
    let has_room = |abreast: &usize| !is_fleet || head + 10.0 <= wide(*abreast) + GAP;
    let abreast = (panels.len().div_ceil(MOST_ABREAST)..=panels.len())
        .map(|bands| panels.len().div_ceil(bands.max(1)))
        .find(has_room)
        .unwrap_or(1);
    let wide = wide(abreast);
    let bands: Vec<Band> = (0..panels.len())
        .step_by(abreast.max(1))
        .map(|first| {
            let count = abreast.min(panels.len() - first);
            let scale = |panel: usize| {
                let left = left + panel as f64 * (wide + GAP);
                let points = lines().map(|line| &line.points[first + panel]);
                Scale::of(points, panels[first + panel].2 != "s", (left, left + wide))
            };
            let scales = (0..count).map(scale).collect();
            Band { panels: &panels[first..first + count], first, scales, left, label }
        })
        .collect();
    let height = |band: &Band| HEAD + 8.0 + band.height(&groups) + FOOT;
    let heights = bands.iter().map(height).sum::<f64>();
    let height = (panels::heading_height(&heading) + heights).ceil();

    Some(canvas::draw(height, &title, |canvas| {
        panels::heading(canvas, &heading.0, &heading.1);
        let mut top = panels::heading_height(&heading);
        for band in &bands {
            top += HEAD + 8.0;
            band.paint(canvas, &groups, top);
            top += band.height(&groups) + FOOT;
        }
    }))
}

/// Panels side by side, with all lines.
struct Band<'a> {
    panels: &'a [Panel],
    /// The position of the first of them among all.
    first: usize,
    scales: Vec<Scale>,
    /// Where the first panel begins, and the room for the labels before it.
    left: f64,
    label: f64,
}

impl Band<'_> {
    /// From the first line to the axes.
    fn height(&self, groups: &[Group]) -> f64 {
        let heads = groups.iter().filter(|group| group.head.is_some()).count() as f64 * GROUP_HEAD;
        heads + groups.iter().map(|group| group.lines.len()).sum::<usize>() as f64 * PITCH + 4.0
    }

    fn points<'a>(&'a self, line: &'a Line) -> impl Iterator<Item = (&'a Scale, &'a Point)> {
        self.scales.iter().zip(&line.points[self.first..])
    }

    fn paint(&self, canvas: &mut Canvas<'_>, groups: &[Group], top: f64) {
        let floor = top + self.height(groups);
        for (scale, (_, name, unit)) in self.scales.iter().zip(self.panels) {
            let name = text::fit(name, BODY, scale.edge - scale.left + GAP - 4.0);
            canvas.text((scale.left, top - 22.0), BODY, Align::Start, INK, &name);
            canvas.text((scale.left, top - 7.0), SMALL, Align::Start, MUTED, unit);
            scale.guide(canvas, top, floor);
        }
        let mut y = top;
        for group in groups {
            if let Some((head, colour)) = &group.head {
                let baseline = y + GROUP_HEAD - 7.0;
                canvas.rectangle(
                    (MARGIN, baseline - 9.5),
                    (MARGIN + 10.0, baseline + 0.5),
                    *colour,
                    1.0,
                );
                let head = text::fit(head, BODY, self.left - MARGIN - 20.0);
                canvas.text((MARGIN + 16.0, baseline), BODY, Align::Start, INK, &head);
                y += GROUP_HEAD;
            }
            let bottom = y + PITCH * group.lines.len() as f64;
            for line in group.lines.iter().filter(|line| line.is_baseline) {
                for (scale, point) in self.points(line) {
                    let Some(Mean { mean, .. }) = point.mean else { continue };
                    let x = scale.x(mean);
                    canvas.line(&[(x, y), (x, bottom)], line.colour, 1.0);
                }
            }
            for line in &group.lines {
                let middle = y + PITCH / 2.0;
                let label = text::fit(&line.label, BODY, self.label);
                let at = (self.left - 16.0, middle + 4.5);
                canvas.text(at, BODY, Align::End, INK, &label);
                for (scale, point) in self.points(line) {
                    if let Some(mean) = &point.mean {
                        scale.dot(canvas, mean, middle, line.colour);
                    }
                    let at = (scale.edge, middle + 4.5);
                    canvas.text(at, SMALL, Align::End, MUTED, &point.never);
                }
                y += PITCH;
            }
        }
    }
}

/// Shortens labels that are too long to what tells them apart, and gives what all of them share.
fn shorten(groups: &mut [Group]) -> Vec<String> {
    let mut different: Vec<String> = Vec::new();
    for line in groups.iter().flat_map(|group| &group.lines) {
        if !different.contains(&line.label) {
            different.push(line.label.clone());
        }
    }
    let names: Vec<&str> = different.iter().map(String::as_str).collect();
    let Names { shown, common } = names::fitting(&names, BODY, MOST_LABEL);
    for line in groups.iter_mut().flat_map(|group| &mut group.lines) {
        if let Some(index) = different.iter().position(|name| *name == line.label) {
            line.label.clone_from(&shown[index]);
        }
    }
    common
}

/// Whether a metric is other than 0 anywhere.
fn says_something(spreads: &Spreads, comparison: &Comparison, metric: &str) -> bool {
    (0..comparison.rows.len()).any(|row| {
        let standing = spreads.get(row, metric).and_then(|spread| spread.standing());
        standing.is_some_and(|standing| standing.never > 0 || standing.mean > 0.0)
    })
}

/// The lines: of several cases those of one algorithm together, so that cases stand side by side; of one
/// case all algorithms. Also how many were left out for want of room.
fn groups(comparison: &Comparison, spreads: &Spreads, panels: &[Panel]) -> (Vec<Group>, usize) {
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
            let point = |(metric, ..): &Panel| {
                let spread = spreads.get(row, metric);
                let mean = spread.and_then(|spread| spread.across).map(|across| across.mean);
                let never = match spread.map_or(0, |spread| spread.never) {
                    0 => String::new(),
                    _ if mean.is_none() => "never".to_owned(),
                    some => format!("{some} never"),
                };
                Point { mean, never }
            };
            let line = Line {
                label: label.clone(),
                colour: one.colour,
                is_baseline: several && case == comparison.baseline,
                points: panels.iter().map(point).collect(),
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

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn one_replica_has_no_means() {
        assert_eq!(draw(&sample::boundary()), None);
    }

    #[test]
    fn of_a_closed_loop_the_panels_stand_in_two_rows_and_tell_what_never_came() {
        let chart = draw(&crate::report::samples::replicated_retries()).unwrap();
        for text in
            [">never<", ">1 never<", "did not recover", ">recovery<", ">time to success p99<"]
        {
            assert!(chart.contains(text), "{text}");
        }
        insta::assert_snapshot!(chart);
    }

    #[test]
    fn names_of_a_matrix_keep_what_tells_them_apart_and_heads_stand_clear_of_one_another() {
        let mut skew = crate::report::fleet_samples::skew();
        for row in &mut skew.rows {
            let repeat = crate::metrics::Repeat {
                seed: 2,
                values: crate::metrics::values(&row.tally),
                expected: Vec::new(),
            };
            row.repeats = vec![repeat];
        }
        for (n, case) in skew.cases.iter_mut().enumerate() {
            let atomicity = ["script", "check-then-increment", "read-modify-write"][n % 3];
            case.name = format!("store.atomicity {atomicity}, store.round-trip {}ms", 10 + n);
        }
        let said = super::super::tests::texts(&draw(&skew).unwrap());
        let has = |text: &str| said.lines().any(|line| line == text);
        assert!(has("check-then-increment, 11ms") && has("check-then-increment, 14ms"), "{said}");
        assert!(has("left out of every name: store.atomicity, store.round-trip"), "{said}");
        assert!(!said.contains("..."), "{said}");
    }

    #[test]
    fn cases_of_an_algorithm_stand_together() {
        insta::assert_snapshot!(draw(&sample::replicated()).unwrap());
    }
}
