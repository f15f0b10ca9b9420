//! What becomes of attempts while something is wrong with the store, and when a replica takes over: what is offered,
//! accepted, over the limit and let through without a decision over time, with each outage shaded and each fail-over
//! marked.

mod told;

use super::attempts::ridges;
use super::axis::Numbers;
use super::chosen::Chosen;
use super::names::{self, Names};
use super::palette::{Colour, GIVEN_UP, OVER, REFUSED};
use super::panels::{Across, BODY, Grid, Head, Panels, Track};
use super::scale::{Decades, Scale};
use super::series::Series;
use super::shade::{self, beside, fail_overs};
use super::view::{Steps, View};
use super::{Chart, Draw, text};
use crate::judge::Bin;
use crate::metrics::Comparison;
use crate::time::{SECOND, Span};
use told::{in_outages, remark, title};

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "outage",
    title: "Attempts through outages and fail-overs",
    meaning: "Where something is wrong with a store, or a replica of it takes over: attempts offered, accepted, over \
              the limit and let through without a decision, per second over time, by case and algorithm.",
    draw: Draw::Whole(draw),
};

/// So many panels are drawn; the tables have all.
const MOST_PANELS: usize = 18;

/// How wide names of algorithms may be in three columns.
const NARROW: f64 = 175.0;
/// How wide names may be in two columns, and in one.
const HALF: f64 = 300.0;
const WIDE: f64 = 600.0;

/// One run with what is drawn of it.
struct Panel<'a> {
    case: usize,
    one: Series<'a>,
    offered: Steps,
    accepted: Steps,
    over: Steps,
    unlimited: Steps,
}

fn draw(comparison: &Comparison) -> Option<String> {
    let every = Chosen::every(comparison)?;
    let fails_over = |case| !fail_overs(comparison, case).is_empty();
    every.all().find(|(case, one)| in_outages(one).is_some() || fails_over(*case))?;
    let (title, told) = title(comparison, &every);
    let of_each = (MOST_PANELS / every.cases.len()).max(1);
    let drawn = every.spread(MOST_PANELS, of_each, &told);
    let timelines = drawn.all().map(|(_, one)| &one.row.tally.timeline);
    let view = View::of_all(timelines, 0.3, |bin| bin.offered > 0 || bin.accepted > 0)?;
    let groups = groups(&view, (6000 / (4 * drawn.all().count())).min(300));
    let panels: Vec<Panel<'_>> =
        drawn.all().map(|(case, one)| Panel::of(case, *one, &view, groups)).collect();
    let scale = scale(&panels);
    let height = match panels.len() {
        1 => 180.0,
        2..=8 => 96.0,
        _ => 72.0,
    };
    const TITLE: &str = "attempts";
    let averaged = Span::from_nanos(view.group_length(groups).min(Span::MAX.nanos()));
    let mut subtitle = format!("attempts per second, averaged over {averaged}");
    if let Scale::Decades(Decades { low, .. }) = scale {
        subtitle += &format!(", logarithmic above {}", text::decimal(low, 9));
    }
    subtitle += &shade::legend(comparison, drawn.cases.iter().map(|(case, _)| *case));
    let grid = grid(&drawn);
    let names = match grid.groups {
        Some(_) => panels.iter().map(|panel| panel.one.row.algorithm.clone()).collect(),
        None => names(&every, &panels),
    };
    let heads: Vec<Head<'_>> = names
        .iter()
        .zip(&panels)
        .map(|(name, panel)| Head {
            name,
            colour: Some(panel.one.colour),
            remark: remark(comparison, panel.case, &panel.one),
        })
        .collect();
    let mut accepted: Vec<Colour> = Vec::new();
    for panel in &panels {
        if !accepted.contains(&panel.one.colour) && accepted.len() < 7 {
            accepted.push(panel.one.colour);
        }
    }
    let mut legend: Vec<(&[Colour], &str)> = vec![
        (&[REFUSED], "offered"),
        (&accepted, "accepted"),
        (&[OVER], "of these over the limit"),
    ];
    if panels.iter().any(|panel| panel.unlimited.iter().any(|(_, rate)| *rate > 0.0)) {
        legend.push((&[GIVEN_UP], "without a decision (thick line beneath)"));
    }
    let unit = if let Scale::Decades(_) = scale { "per s, log" } else { "per s" };
    let figure = Panels {
        title: &title,
        subtitles: &[&subtitle, &drawn.remark],
        heads: &heads,
        legend: &legend,
        across: Across::Run(&view),
        tracks: &[Track { titles: (TITLE, unit), scale, height }],
    };
    Some(figure.draw_on(&grid, |canvas, plots, index| {
        let (Some(plot), panel) = (plots.first(), &panels[index]) else { return };
        let start = panel.one.row.tally.timeline.start;
        canvas.surface(&plot.surface(&panel.offered, 0.0), REFUSED, 0.5);
        if panel.over.iter().any(|(_, rate)| *rate > 0.0) {
            canvas.surface(&plot.surface(&panel.over, 0.0), OVER, 0.75);
        }
        let of = (comparison, panel.case);
        shade::trouble(canvas, plots, &view, of, start, beside(plot, TITLE));
        for ridge in ridges(plot, &panel.unlimited) {
            canvas.line(&ridge, GIVEN_UP, 5.0);
        }
        canvas.line(&plot.steps(&panel.accepted), panel.one.colour, 2.0);
    }))
}

/// Where panels of several cases and algorithms stand: each case under its name, and a column for each algorithm if
/// these are few. Panels of one algorithm, or of one case, stand one after another.
fn grid<'a>(drawn: &Chosen<'a>) -> Grid<'a> {
    let algorithms = drawn.algorithms();
    if algorithms.len() < 2 || drawn.cases.len() < 2 {
        return Grid { wraps: true, ..Grid::flowing(drawn.all().count()) };
    }
    let names = algorithms.iter().map(|name| text::width(name, BODY));
    let narrow = names.fold(0.0, f64::max) <= NARROW;
    let columns = match algorithms.len() {
        3 | 5.. if narrow => 3,
        _ => 2,
    };
    let column = |nth: usize, one: &Series<'a>| match algorithms.len() <= columns {
        true => algorithms.iter().position(|name| *name == one.row.algorithm).unwrap_or(0),
        false => nth % columns,
    };
    let groups: Vec<(&str, Vec<usize>)> = drawn
        .cases
        .iter()
        .map(|(case, all)| {
            let columns = all.iter().enumerate().map(|(nth, one)| column(nth, one)).collect();
            (drawn.name(*case, all), columns)
        })
        .collect();
    Grid::grouped(columns, &groups)
}

/// What panels are called that stand one after another.
fn names(every: &Chosen<'_>, panels: &[Panel<'_>]) -> Vec<String> {
    let names: Vec<String> = panels.iter().map(|panel| every.who(panel.case, &panel.one)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let Names { shown, .. } =
        names::fitting(&names, BODY, if names.len() == 1 { WIDE } else { HALF });
    shown
}

/// At most so many steps of a curve, each of whole seconds where they are longer than one: else those of a window that
/// opens each second would swing without a cause.
fn groups(view: &View, most: usize) -> usize {
    let whole = |groups: &usize| view.group_length(*groups).is_multiple_of(SECOND);
    match view.group_length(most) {
        ..SECOND => most,
        _ => (most / 2..=most).rev().find(whole).unwrap_or(most),
    }
}

/// An even scale, or a logarithmic one where a spike would press everything else flat.
fn scale(panels: &[Panel<'_>]) -> Scale {
    let rates = panels.iter().flat_map(|panel| panel.offered.iter().chain(&panel.accepted));
    let most = rates.map(|(_, rate)| *rate).fold(0.0, f64::max);
    let usual = panels.iter().filter_map(|panel| usual(&panel.accepted));
    match usual.reduce(f64::min) {
        Some(usual) if most > 15.0 * usual => Scale::Decades(Decades::holding(usual, most)),
        _ => Scale::Even(Numbers::up_to(most, 4.0, false)),
    }
}

/// The rate that half of those above 0 do not exceed.
fn usual(steps: &Steps) -> Option<f64> {
    let mut rates: Vec<f64> =
        steps.iter().map(|(_, rate)| *rate).filter(|rate| *rate > 0.0).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len().saturating_sub(1) / 2).copied()
}

impl<'a> Panel<'a> {
    fn of(case: usize, one: Series<'a>, view: &View, groups: usize) -> Panel<'a> {
        let timeline = &one.row.tally.timeline;
        let rates = |of: fn(&Bin) -> u64| view.rates(timeline, groups, of);
        Panel {
            case,
            one,
            offered: rates(|bin| bin.offered),
            accepted: rates(|bin| bin.accepted),
            over: rates(|bin| bin.over_limit),
            unlimited: rates(|bin| bin.unlimited),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;
    use crate::report::fleet_samples;
    use crate::time::Window;

    #[test]
    fn an_outage_is_shaded_and_what_is_decided_in_it_is_told() {
        let mut outage = fleet_samples::outage();
        insta::assert_snapshot!("texts", texts(&draw(&outage).unwrap()));
        outage.rows.truncate(2);
        outage.cases.truncate(2);
        insta::assert_snapshot!("drawing", draw(&outage).unwrap());
    }

    #[test]
    fn each_outage_is_shaded_and_named_where_there_is_room() {
        let mut outage = fleet_samples::outage();
        let start = outage.cases[0].window.start;
        let at = |secs: u64| start + Span::from_secs(secs);
        let several: Vec<Window> =
            [10, 60, 62, 150].map(|from| Window { start: at(from), end: at(from + 1) }).to_vec();
        let fleet = outage.cases[0].fleet.as_mut().unwrap();
        fleet.outages = several;
        fleet.fail_overs = vec![at(61), at(170), at(180)];
        outage.rows.truncate(1);
        let svg = draw(&outage).unwrap();
        assert_eq!(svg.matches("opacity=\"0.09\"").count(), 4);
        // That at 62 s would be named over the one at 60 s, and is named right of it.
        let said = |words: &str| texts(&svg).lines().filter(|line| *line == words).count();
        assert_eq!((said("outage"), said("fail-over")), (4, 2), "that at 180 s is too late");
        assert!(texts(&svg).replace('\n', " ").contains("; line: fail-over"));
    }

    #[test]
    fn steps_are_of_whole_seconds_where_they_are_longer_than_one() {
        let view = View { bins: 0..360, width: SECOND / 2, of: 360 };
        assert_eq!(view.group_length(83), 5 * SECOND / 2);
        assert_eq!(view.group_length(groups(&view, 83)), 3 * SECOND);
        let view = View { bins: 0..360, width: SECOND / 1000, of: 360 };
        assert_eq!(groups(&view, 83), 83);
    }

    #[test]
    fn a_spike_does_not_press_everything_else_flat() {
        let mut outage = fleet_samples::outage();
        outage.rows.truncate(1);
        assert!(!draw(&outage).unwrap().contains("logarithmic"));
        outage.rows[0].tally.timeline.bins[3].offered = 1000;
        assert!(draw(&outage).unwrap().contains("logarithmic above 1;"));
    }

    #[test]
    fn each_case_begins_a_row_and_a_column_is_an_algorithm() {
        let mut outage = fleet_samples::outage();
        let rows = outage.rows.clone();
        let row = |case: usize, kind: usize, name: &str| crate::metrics::Row {
            kind,
            algorithm: name.to_owned(),
            ..rows[case].clone()
        };
        outage.rows = vec![row(0, 0, "a"), row(0, 1, "b"), row(1, 1, "b"), row(2, 0, "a")];
        outage.rows.push(row(2, 1, "b"));
        let places = |outage: &Comparison| {
            let grid = grid(&Chosen::every(outage).unwrap());
            (grid.columns, grid.places)
        };
        assert_eq!(places(&outage), (2, vec![(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)]));
        outage.rows.push(row(2, 2, "c"));
        assert_eq!(places(&outage), (3, vec![(0, 0), (0, 1), (1, 1), (2, 0), (2, 1), (2, 2)]));
        // In two columns where names are long: it is no column of its own.
        outage.rows[5].algorithm = "an algorithm with quite a long name".to_owned();
        assert_eq!(places(&outage), (2, vec![(0, 0), (0, 1), (1, 0), (2, 0), (2, 1), (3, 0)]));
        outage.rows.retain(|row| row.algorithm == "b");
        assert_eq!(places(&outage), (2, vec![(0, 0), (0, 1), (1, 0)]));
    }

    #[test]
    fn without_an_outage_there_is_nothing_to_show() {
        let mut outage = fleet_samples::outage();
        outage.rows.drain(..3);
        assert_eq!(draw(&outage), None);
        assert_eq!(draw(&fleet_samples::expiry()), None);
    }

    #[test]
    fn of_many_runs_each_case_keeps_the_same_ones() {
        let mut outage = fleet_samples::outage();
        let rows = outage.rows.clone();
        outage.rows = (0..4)
            .flat_map(|case| (0..6).map(move |kind| (case, kind)))
            .map(|(case, kind)| {
                let algorithm = format!("number {kind}");
                crate::metrics::Row { kind, algorithm, ..rows[case].clone() }
            })
            .collect();
        // The first is worst in a case, and of the others some from all over the list.
        let svg = draw(&outage).unwrap();
        let said = texts(&svg);
        let rest = "only in the tables: algorithms number 2, number 4";
        assert!(said.contains(rest), "{said}");
        let count = |text: &str| said.lines().filter(|line| *line == text).count();
        assert_eq!(["number 0", "number 3", "number 4", "local"].map(count), [4, 4, 0, 1]);
        assert!(svg.len() < 200_000, "{}", svg.len());
    }
}
