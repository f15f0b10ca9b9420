//! What goes over the limit as the clocks of nodes drift apart: one line an algorithm, over the cases of a comparison
//! that differ in that.

use std::collections::BTreeMap;

use super::axis::Numbers;
use super::chosen;
use super::palette::{Colour, INK, MUTED};
use super::panels::{Across, Head, Panels, SMALL, Track};
use super::scale::{Decades, Scale, Spans};
use super::series::{self, Series};
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

/// So many panels are drawn, and so many lines in each; the tables have all.
const MOST_PANELS: usize = 8;
const MOST_LINES: usize = 8;

/// Cases that differ in the clocks of their nodes.
struct Group<'a> {
    /// What tells them from other groups; empty where there are none.
    name: String,
    lines: Vec<Line<'a>>,
}

/// One algorithm.
struct Line<'a> {
    name: &'a str,
    colour: Colour,
    /// Attempts over the limit by how far clocks are apart; of several cases the most.
    points: BTreeMap<Span, u64>,
}

fn draw(comparison: &Comparison) -> Option<String> {
    let (groups, remark) = groups(comparison);
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
            format!("each dot is a case; logarithmic above {}", text::decimal(low, 9))
        }
        _ => "each dot is a case".to_owned(),
    };
    let height = if groups.len() == 1 { 220.0 } else { 150.0 };
    let heads: Vec<Head<'_>> = groups.iter().map(head).collect();
    let legend = legend(&groups);
    let legend: Vec<(&[Colour], &str)> =
        legend.iter().map(|(colour, name)| (std::slice::from_ref(colour), &**name)).collect();
    let coinciding = match groups.iter().any(|group| group.lines.len() > 1) {
        true => "curves that coincide lie thin on thick",
        false => "",
    };
    let figure = Panels {
        title: &title(comparison, &groups),
        subtitles: &[&drawn, coinciding, &remark],
        heads: &heads,
        legend: &legend,
        across: Across::Spans(
            axis,
            "largest difference between the clocks of two nodes (logarithmic)",
        ),
        tracks: &[Track { titles: ("over the limit", "attempts"), scale, height }],
    };
    Some(figure.draw(|canvas, plots, index| {
        let (Some(plot), lines) = (plots.first(), &groups[index].lines) else { return };
        for (nth, line) in lines.iter().enumerate() {
            let spot =
                |(skew, over): (&Span, &u64)| (plot.x_of(axis.place(*skew)), plot.y(*over as f64));
            let points: Vec<(f64, f64)> = line.points.iter().map(spot).collect();
            let thick = chosen::thickness(nth, lines.len());
            canvas.line(&points, line.colour, thick);
            for point in points {
                canvas.disc(point, thick / 2.0 + 1.6, line.colour);
            }
        }
    }))
}

/// The cases that are alike but for their clocks, if those differ; and what is left out, in words.
fn groups(comparison: &Comparison) -> (Vec<Group<'_>>, String) {
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
    let more_groups = alike.len().saturating_sub(MOST_PANELS);
    let mut left_out = 0;
    let mut groups = Vec::new();
    for (parts, cases) in alike.iter().take(MOST_PANELS) {
        let own = |part: &&str| alike.iter().any(|(others, _)| !others.contains(part));
        let name = parts.iter().copied().filter(own).collect::<Vec<_>>().join(", ");
        let (lines, more) = lines(comparison, cases);
        left_out = left_out.max(more);
        groups.push(Group { name, lines });
    }
    let cut = (more_groups > 0).then(|| {
        let more =
            text::plural(more_groups as u64, "more group of cases is", "more groups of cases are");
        format!("{more} in the tables")
    });
    let remarks: Vec<String> =
        series::remark(comparison, left_out).into_iter().chain(cut).collect();
    (groups, remarks.join("; "))
}

/// What a case is told by but for its clocks, part by part; `None` of one without nodes.
fn parts(info: &CaseInfo) -> Option<Vec<&str>> {
    let fleet = info.fleet.as_ref()?;
    let words = [Some(&fleet.nodes), fleet.store.as_ref(), fleet.outage.as_ref()];
    let words = words.into_iter().flatten().flat_map(|words| words.split(", "));
    Some(words.chain(info.limits.iter().map(|(_, words)| words.as_str())).collect())
}

/// The algorithms of cases, and how many of them are left out.
fn lines<'a>(comparison: &'a Comparison, cases: &[usize]) -> (Vec<Line<'a>>, usize) {
    let mut lines: Vec<Line<'a>> = Vec::new();
    let mut left_out = 0;
    for &case in cases {
        let Some(fleet) = &comparison.cases[case].fleet else { continue };
        let (all, more) = series::of_case(comparison, case);
        left_out = left_out.max(more + all.len().saturating_sub(MOST_LINES));
        for Series { row, colour } in all.into_iter().take(MOST_LINES) {
            let known = lines.iter().position(|line| line.name == row.algorithm);
            let index = known.unwrap_or(lines.len());
            if known.is_none() {
                lines.push(Line { name: &row.algorithm, colour, points: BTreeMap::new() });
            }
            let most = lines[index].points.entry(fleet.skew).or_insert(0);
            *most = row.tally.over_limit.max(*most);
        }
    }
    (lines, left_out)
}

/// The colours of all algorithms with their names.
fn legend(groups: &[Group<'_>]) -> Vec<(Colour, String)> {
    let mut legend: Vec<(Colour, String)> = Vec::new();
    for line in groups.iter().flat_map(|group| &group.lines) {
        let entry = (line.colour, text::fit(line.name, SMALL, 180.0));
        if !legend.contains(&entry) {
            legend.push(entry);
        }
    }
    legend.truncate(16);
    legend
}

fn head<'a>(group: &'a Group<'_>) -> Head<'a> {
    let most = group.lines.iter().flat_map(|line| line.points.values()).max().copied().unwrap_or(0);
    let remark = match most {
        0 => ("nothing over the limit".to_owned(), MUTED),
        most => (format!("up to {} over", text::count(most)), INK),
    };
    Head { name: &group.name, colour: None, remark }
}

/// The algorithm whose clocks apart make the most of.
fn title(comparison: &Comparison, groups: &[Group<'_>]) -> String {
    let subject = &comparison.scenario;
    let all = groups.iter().flat_map(|group| group.lines.iter().map(move |line| (group, line)));
    let rise = |line: &Line<'_>| {
        let (_, first) = line.points.first_key_value()?;
        let (skew, most) = line.points.iter().rev().max_by_key(|(_, over)| **over)?;
        (most > first).then_some((most - first, *skew, *most, *first))
    };
    let risen = all.filter_map(|(group, line)| Some((group, line, rise(line)?)));
    let worst = risen.reduce(|worst, next| if next.2.0 > worst.2.0 { next } else { worst });
    let Some((group, line, (_, skew, most, first))) = worst else {
        return format!("{subject}: clocks apart let no more over the limit through");
    };
    let place = if group.name.is_empty() { String::new() } else { format!(" ({})", group.name) };
    format!(
        "{subject}: with clocks {} apart {}{place} lets {} over the limit through, not {}",
        length(skew),
        line.name,
        text::count(most),
        text::count(first),
    )
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
        let (groups, _) = groups(&skew);
        let points: Vec<Vec<u64>> =
            groups[0].lines.iter().map(|line| line.points.values().copied().collect()).collect();
        assert_eq!(points, [[12, 12, 70], [0, 0, 70], [3, 3, 70], [3, 3, 70]]);
    }
}
