//! What goes over the limit as the clocks of nodes drift apart: one panel an algorithm, over the cases of a comparison
//! that differ in that.

use std::collections::BTreeMap;

use super::axis::Numbers;
use super::chosen::keep;
use super::palette::{Colour, GIVEN_UP, INK, MUTED, PENDING};
use super::panels::{Across, Head, Panels, Track};
use super::scale::{Decades, Scale, Spans};
use super::series;
use super::{Chart, Draw, text};
use crate::metrics::{CaseInfo, Comparison};
use crate::report::format::length;
use crate::time::Span;

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "skew",
    title: "Over the limit against clocks apart",
    meaning: "Where cases differ in how far the clocks of their nodes are apart: attempts over the limit against the \
              largest difference, by algorithm.",
    draw: Draw::Whole(draw),
};

/// So many algorithms are drawn; the tables have all.
const MOST_PANELS: usize = 16;
/// The curves of groups after the first, which has the colour of its algorithm; of more the tables tell.
const OTHERS: [Colour; 3] = [INK, GIVEN_UP, PENDING];

/// Cases that differ in the clocks of their nodes.
struct Group<'a> {
    /// What tells them from other groups; empty where there are none.
    name: String,
    lines: Vec<Line<'a>>,
}

/// One algorithm in the cases of a group.
struct Line<'a> {
    name: &'a str,
    colour: Colour,
    /// Attempts over the limit by how far clocks are apart; of several cases the most.
    points: BTreeMap<Span, u64>,
}

fn draw(comparison: &Comparison) -> Option<String> {
    let mut groups = groups(comparison);
    let (title, told) = title(comparison, &groups);
    let found = groups.len();
    groups = keep(groups, 1 + OTHERS.len(), |group| {
        told.as_ref().is_some_and(|(name, _)| *name == group.name)
    });
    let algorithms = algorithms(&groups);
    let of_all = algorithms.len();
    let algorithms = keep(algorithms, MOST_PANELS, |(name, _)| {
        told.as_ref().is_some_and(|(_, told)| told == name)
    });
    let lines = || groups.iter().flat_map(|group| &group.lines);
    let skews = lines().flat_map(|line| line.points.keys().copied());
    let longest = skews.clone().max()?;
    let shortest = skews.clone().filter(|skew| *skew > Span::ZERO).min()?;
    let axis = Spans::holding(shortest, longest);
    let with_zero = skews.clone().any(|skew| skew == Span::ZERO);
    let axis = if with_zero { axis.with_zero() } else { axis };
    let counts = lines().flat_map(|line| line.points.values().copied());
    let most = counts.clone().max().unwrap_or(0) as f64;
    let least = counts.filter(|count| *count > 0).min().unwrap_or(1) as f64;
    let scale = match most > 20.0 * least {
        true => Scale::Decades(Decades::holding(least, most)),
        false => Scale::Even(Numbers::up_to(most, 4.0, true)),
    };
    let drawn = match scale {
        Scale::Decades(Decades { low, .. }) => {
            let low = text::decimal(low, 9);
            format!("each dot is a case; upwards even from 0 to {low}, logarithmic above")
        }
        _ => "each dot is a case".to_owned(),
    };
    let missing = [
        (found - groups.len(), "more group of cases is", "more groups of cases are"),
        (of_all - algorithms.len(), "more algorithm is", "more algorithms are"),
    ];
    let missing = missing.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, many)| {
        format!("{} in the tables", text::plural(count as u64, one, many))
    });
    let remark: Vec<String> = series::remark(comparison, 0).into_iter().chain(missing).collect();
    let remarks: Vec<(String, Colour)> =
        algorithms.iter().map(|(name, _)| remark_of(&groups, name)).collect();
    let heads = algorithms.iter().zip(remarks);
    let heads: Vec<Head<'_>> = heads
        .map(|((name, colour), remark)| Head { name, colour: Some(*colour), remark })
        .collect();
    let own: Vec<Colour> = algorithms.iter().take(7).map(|(_, colour)| *colour).collect();
    let colours = std::iter::once(&own[..]).chain(OTHERS.iter().map(std::slice::from_ref));
    let legend: Vec<(&[Colour], &str)> = match groups.len() {
        1 => Vec::new(),
        _ => colours.zip(&groups).map(|(of, group)| (of, &*group.name)).collect(),
    };
    let across = match with_zero {
        true => "largest difference between the clocks of two nodes (logarithmic; 0 stands apart)",
        false => "largest difference between the clocks of two nodes (logarithmic)",
    };
    let height = if heads.len() == 1 { 180.0 } else { 96.0 };
    let figure = Panels {
        title: &title,
        subtitles: &[&drawn, &remark.join("; ")],
        heads: &heads,
        legend: &legend,
        across: Across::Spans(axis, across),
        tracks: &[Track { titles: ("over the limit", "attempts"), scale, height }],
    };
    Some(figure.draw(|canvas, plots, index| {
        let (Some(plot), (name, colour)) = (plots.first(), algorithms[index]) else { return };
        for (nth, group) in groups.iter().enumerate() {
            let Some(line) = group.lines.iter().find(|line| line.name == name) else { continue };
            let spot =
                |(skew, over): (&Span, &u64)| (plot.x_of(axis.place(*skew)), plot.y(*over as f64));
            let points: Vec<(f64, f64)> = line.points.iter().map(spot).collect();
            // Later curves are thinner, so that those that coincide show side by side.
            let (colour, thick) = match nth.checked_sub(1) {
                None => (colour, 3.0),
                Some(other) => (OTHERS[other], 1.4),
            };
            canvas.line(&points, colour, thick);
            for point in points {
                canvas.disc(point, thick / 2.0 + 1.6, colour);
            }
        }
    }))
}

/// The cases that are alike but for their clocks, if those differ.
fn groups(comparison: &Comparison) -> Vec<Group<'_>> {
    let mut alike: Vec<(Vec<&str>, Vec<usize>)> = Vec::new();
    for (case, info) in comparison.cases.iter().enumerate() {
        let Some(parts) = parts(info) else { continue };
        match alike.iter_mut().find(|(others, _)| *others == parts) {
            Some((_, cases)) => cases.push(case),
            None => alike.push((parts, vec![case])),
        }
    }
    let skew = |case: &usize| comparison.cases[*case].fleet.as_ref().map(|fleet| fleet.skew);
    alike.retain(|(_, cases)| cases.iter().any(|case| skew(case) != skew(&cases[0])));
    let group = |(parts, cases): &(Vec<&str>, Vec<usize>)| {
        let own = |part: &&str| alike.iter().any(|(others, _)| !others.contains(part));
        let name = parts.iter().copied().filter(own).collect::<Vec<_>>().join(", ");
        Group { name, lines: lines(comparison, cases) }
    };
    alike.iter().map(group).collect()
}

/// What a case is told by but for its clocks, part by part; `None` of one without nodes.
fn parts(info: &CaseInfo) -> Option<Vec<&str>> {
    let fleet = info.fleet.as_ref()?;
    let words =
        [Some(&fleet.nodes), fleet.store.as_ref(), fleet.outage.as_ref(), fleet.failure.as_ref()];
    let words = words.into_iter().flatten().flat_map(|words| words.split(", "));
    Some(words.chain(info.limits.iter().map(|(_, words)| words.as_str())).collect())
}

/// The algorithms of cases.
fn lines<'a>(comparison: &'a Comparison, cases: &[usize]) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for &case in cases {
        let Some(fleet) = &comparison.cases[case].fleet else { continue };
        for one in series::of_case(comparison, case).0 {
            let (name, colour) = (one.row.algorithm.as_str(), one.colour);
            let known = lines.iter().position(|line| line.name == name);
            let index = known.unwrap_or(lines.len());
            if known.is_none() {
                lines.push(Line { name, colour, points: BTreeMap::new() });
            }
            let most = lines[index].points.entry(fleet.skew).or_insert(0);
            *most = one.row.tally.over_limit.max(*most);
        }
    }
    lines
}

/// The algorithms of all groups with their colours.
fn algorithms<'a>(groups: &[Group<'a>]) -> Vec<(&'a str, Colour)> {
    let mut found: Vec<(&str, Colour)> = Vec::new();
    for line in groups.iter().flat_map(|group| &group.lines) {
        if found.iter().all(|(name, _)| *name != line.name) {
            found.push((line.name, line.colour));
        }
    }
    found
}

/// From the least to the most that an algorithm lets through over the limit.
fn remark_of(groups: &[Group<'_>], name: &str) -> (String, Colour) {
    let of_it = groups.iter().flat_map(|group| &group.lines).filter(|line| line.name == name);
    let counts = of_it.flat_map(|line| line.points.values().copied());
    let least = text::count(counts.clone().min().unwrap_or(0));
    match counts.max().unwrap_or(0) {
        0 => ("nothing over".to_owned(), MUTED),
        most if text::count(most) == least => (format!("{least} over"), INK),
        most => (format!("{least} to {} over", text::count(most)), INK),
    }
}

/// What clocks apart make of the algorithm that fares worst by them; and the names of its group and its own.
fn title<'a>(comparison: &Comparison, groups: &[Group<'a>]) -> (String, Option<(String, &'a str)>) {
    let subject = &comparison.scenario;
    let all = groups.iter().flat_map(|group| group.lines.iter().map(move |line| (group, line)));
    let rise = |line: &Line<'_>| {
        let (least, first) = line.points.first_key_value()?;
        let (skew, most) = line.points.iter().rev().max_by_key(|(_, over)| **over)?;
        (most > first).then_some((most - first, (*skew, *most), (*least, *first)))
    };
    let risen = all.filter_map(|(group, line)| Some((group, line, rise(line)?)));
    let worst = risen.reduce(|worst, next| if next.2.0 > worst.2.0 { next } else { worst });
    let Some((group, line, (_, (skew, most), (least, first)))) = worst else {
        return (format!("{subject}: clocks apart let no more over the limit through"), None);
    };
    let place = if group.name.is_empty() { String::new() } else { format!(" ({})", group.name) };
    let with = |skew: Span| match skew {
        Span::ZERO => "with exact clocks".to_owned(),
        skew => format!("with clocks {} apart", length(skew)),
    };
    let title = format!(
        "{subject}: {}{place} lets {} over the limit through {}, {} {}",
        line.name,
        text::count(most),
        with(skew),
        text::count(first),
        with(least),
    );
    (title, Some((group.name.clone(), line.name)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;
    use crate::report::{fleet_samples, samples};

    #[test]
    fn what_clocks_apart_let_through_is_drawn_by_whose_time_counts() {
        let mut skew = fleet_samples::skew();
        insta::assert_snapshot!("texts", texts(&draw(&skew).unwrap()));
        skew.rows.retain(|row| row.case < 4);
        skew.cases.truncate(4);
        insta::assert_snapshot!("drawing", draw(&skew).unwrap());
    }

    #[test]
    fn clocks_that_are_nowhere_apart_or_everywhere_as_far_show_nothing() {
        assert_eq!(draw(&samples::boundary()), None);
        assert_eq!(draw(&fleet_samples::outage()), None);
        let mut skew = fleet_samples::skew();
        for case in &mut skew.cases {
            case.fleet.as_mut().unwrap().skew = Span::from_secs(1);
        }
        assert_eq!(draw(&skew), None);
    }

    #[test]
    fn where_nothing_rises_the_title_says_so_and_cases_as_far_apart_show_the_most() {
        let mut skew = fleet_samples::skew();
        skew.rows.retain(|row| row.case >= 4);
        for case in &mut skew.cases[..4] {
            case.fleet = None;
        }
        let title = "clock-skew: clocks apart let no more over the limit through";
        assert!(texts(&draw(&skew).unwrap()).replace('\n', " ").starts_with(title));
        // The case of 10 s is now as far apart as that of 1 s.
        skew.cases[7].fleet = skew.cases[6].fleet.clone();
        skew.rows.iter_mut().filter(|row| row.case == 7).for_each(|row| row.tally.over_limit = 70);
        let groups = groups(&skew);
        let points: Vec<Vec<u64>> =
            groups[0].lines.iter().map(|line| line.points.values().copied().collect()).collect();
        assert_eq!(points, [[12, 12, 70], [0, 0, 70], [3, 3, 70], [3, 3, 70]]);
    }
}
