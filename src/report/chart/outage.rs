//! What becomes of attempts while something is wrong with the store, and when a replica takes over: what is offered,
//! accepted, over the limit and let through without a decision over time, with each outage shaded and each fail-over
//! marked.

mod told;

use super::attempts::ridges;
use super::axis::Numbers;
use super::chosen::Chosen;
use super::palette::{Colour, GIVEN_UP, OVER, REFUSED};
use super::panels::{Across, Head, Panels, Track};
use super::scale::{Decades, Scale};
use super::series::Series;
use super::shade::{beside, mark, shade};
use super::view::{Steps, View};
use super::{Chart, Draw, text};
use crate::judge::Bin;
use crate::metrics::Comparison;
use crate::time::{SECOND, Span, Window};
use told::{fail_overs, in_outages, outages, remark, title, trouble};

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
    let has_trouble = |case| !outages(comparison, case).is_empty();
    let fails_over = |case| !fail_overs(comparison, case).is_empty();
    every.all().find(|(case, one)| in_outages(one).is_some() || fails_over(*case))?;
    let (title, told) = title(comparison, &every);
    let of_each = (MOST_PANELS / every.cases.len()).max(1);
    let drawn = every.cut(MOST_PANELS, of_each, &told);
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
    if drawn.cases.iter().any(|(case, _)| has_trouble(*case)) {
        subtitle += "; shaded: outage";
    }
    if drawn.cases.iter().any(|(case, _)| fails_over(*case)) {
        subtitle += "; line: fail-over";
    }
    let heads: Vec<(String, (String, Colour))> = panels
        .iter()
        .map(|panel| {
            (every.who(panel.case, &panel.one), remark(comparison, panel.case, &panel.one))
        })
        .collect();
    let heads: Vec<Head<'_>> = heads
        .iter()
        .zip(&panels)
        .map(|((name, remark), panel)| Head {
            name,
            colour: Some(panel.one.colour),
            remark: remark.clone(),
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
    Some(figure.draw(|canvas, plots, index| {
        let (Some(plot), panel) = (plots.first(), &panels[index]) else { return };
        let start = panel.one.row.tally.timeline.start;
        canvas.surface(&plot.surface(&panel.offered, 0.0), REFUSED, 0.5);
        if panel.over.iter().any(|(_, rate)| *rate > 0.0) {
            canvas.surface(&plot.surface(&panel.over, 0.0), OVER, 0.75);
        }
        let mut free = beside(plot, TITLE);
        for Window { start: from, end } in trouble(comparison, panel.case) {
            free = match from == end {
                true => mark(canvas, plots, &view, (start, from), "fail-over", free),
                false => {
                    let outage = Window { start: from, end };
                    shade(canvas, plots, &view, (start, outage), "outage", free)
                }
            };
        }
        for ridge in ridges(plot, &panel.unlimited) {
            canvas.line(&ridge, GIVEN_UP, 5.0);
        }
        canvas.line(&plot.steps(&panel.accepted), panel.one.colour, 2.0);
    }))
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
    fn without_an_outage_there_is_nothing_to_show() {
        let mut outage = fleet_samples::outage();
        outage.rows.drain(..3);
        assert_eq!(draw(&outage), None);
        assert_eq!(draw(&fleet_samples::expiry()), None);
    }

    #[test]
    fn of_many_runs_each_case_keeps_its_first() {
        let mut outage = fleet_samples::outage();
        let rows = outage.rows.clone();
        outage.rows = (0..4)
            .flat_map(|case| (0..6).map(move |kind| (case, kind)))
            .map(|(case, kind)| {
                let algorithm = format!("number {kind}");
                crate::metrics::Row { kind, algorithm, ..rows[case].clone() }
            })
            .collect();
        let svg = draw(&outage).unwrap();
        let said = texts(&svg);
        let rest = "only in the tables: algorithms number 4, number 5";
        assert!(said.contains(rest), "{said}");
        assert!(said.contains("number 3 (local)") && !said.contains("number 4 (local)"), "{said}");
        assert!(svg.len() < 200_000, "{}", svg.len());
    }
}
