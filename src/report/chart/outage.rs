//! What becomes of attempts while something is wrong with the store: what is offered, accepted, over the limit and
//! let through without a decision over time, with each outage shaded.

use super::attempts::ridges;
use super::axis::Numbers;
use super::chosen::Chosen;
use super::palette::{Colour, INK, MUTED, OVER, OVER_TEXT, REFUSED};
use super::panels::{Across, Head, Panels, Track};
use super::scale::Scale;
use super::series::Series;
use super::shade::{beside, shade};
use super::view::{Steps, View};
use super::{Chart, Draw, text};
use crate::judge::{Bin, InOutages};
use crate::metrics::Comparison;
use crate::time::{Span, Window};

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "outage",
    title: "Attempts through an outage of the store",
    meaning: "Where something is wrong with a store: attempts offered, accepted, over the limit and let through \
              without a decision, per second over time, by case and algorithm.",
    draw: Draw::Whole(draw),
};

/// So many panels are drawn; the tables have all.
const MOST_PANELS: usize = 16;

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
    let drawn = Chosen::of(comparison)?;
    drawn.all().find_map(|(_, one)| in_outages(one))?;
    let (chosen, left_out) = choose(&drawn);
    let timelines = chosen.iter().map(|(_, one)| &one.row.tally.timeline);
    let view = View::of_all(timelines, 0.3, |bin| bin.offered > 0 || bin.accepted > 0)?;
    let groups = (6000 / (4 * chosen.len())).min(300);
    let panels: Vec<Panel<'_>> =
        chosen.into_iter().map(|(case, one)| Panel::of(case, one, &view, groups)).collect();
    let rates = panels.iter().flat_map(|panel| panel.offered.iter().chain(&panel.accepted));
    let most = rates.map(|(_, rate)| *rate).fold(0.0, f64::max);
    let height = if panels.len() == 1 { 180.0 } else { 96.0 };
    const TITLE: &str = "attempts";
    let averaged = Span::from_nanos(view.group_length(groups).min(Span::MAX.nanos()));
    let subtitle = format!(
        "attempts per second, averaged over {averaged}; shaded: something is wrong with the store"
    );
    let cut = (left_out > 0).then(|| {
        format!("{} in the tables", text::plural(left_out, "more run is", "more runs are"))
    });
    let heads: Vec<(String, (String, Colour))> = panels
        .iter()
        .map(|panel| (drawn.who(panel.case, &panel.one), remark(&panel.one)))
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
    let figure = Panels {
        title: &title(&drawn),
        subtitles: &[&subtitle, &drawn.remark, cut.as_deref().unwrap_or_default()],
        heads: &heads,
        legend: &[
            (&[REFUSED], "offered"),
            (&accepted, "accepted"),
            (&[OVER], "of these over the limit"),
            (&[INK], "without a decision (thin line)"),
        ],
        across: Across::Run(&view),
        tracks: &[Track {
            titles: (TITLE, "per s"),
            scale: Scale::Even(Numbers::up_to(most, 4.0, false)),
            height,
        }],
    };
    Some(figure.draw(|canvas, plots, index| {
        let (Some(plot), panel) = (plots.first(), &panels[index]) else { return };
        let start = panel.one.row.tally.timeline.start;
        canvas.surface(&plot.surface(&panel.offered, 0.0), REFUSED, 0.5);
        let mut free = beside(plot, TITLE);
        for outage in outages(comparison, panel.case) {
            free = shade(canvas, plots, &view, (start, *outage), "outage", free);
        }
        if panel.over.iter().any(|(_, rate)| *rate > 0.0) {
            canvas.surface(&plot.surface(&panel.over, 0.0), OVER, 0.75);
        }
        canvas.line(&plot.steps(&panel.accepted), panel.one.colour, 2.6);
        for ridge in ridges(plot, &panel.unlimited) {
            canvas.line(&ridge, INK, 1.0);
        }
    }))
}

/// The first algorithms of each case, as many of all as there is room for, and how many runs are left out.
fn choose<'a>(drawn: &Chosen<'a>) -> (Vec<(usize, Series<'a>)>, u64) {
    let of_each = (MOST_PANELS / drawn.cases.len()).max(1);
    let all = drawn
        .cases
        .iter()
        .flat_map(|(case, all)| all.iter().take(of_each).map(move |one| (*case, *one)));
    let chosen: Vec<(usize, Series<'a>)> = all.collect();
    let left_out = drawn.all().count() - chosen.len();
    (chosen, left_out as u64)
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

/// When something is wrong with the store of a case.
fn outages(comparison: &Comparison, case: usize) -> &[Window] {
    comparison.cases[case].fleet.as_ref().map_or(&[], |fleet| &fleet.outages)
}

fn in_outages(one: &Series<'_>) -> Option<InOutages> {
    one.row.tally.fleet.as_ref()?.in_outages
}

/// What a run decided in its outages.
fn remark(one: &Series<'_>) -> (String, Colour) {
    let Some(found) = in_outages(one) else { return ("no outage".to_owned(), MUTED) };
    let accepted = format!("outage: {} accepted", text::count(found.accepted));
    match found.over_limit {
        0 => (accepted, MUTED),
        over => (format!("{accepted}, {} over", text::count(over)), OVER_TEXT),
    }
}

fn title(drawn: &Chosen<'_>) -> String {
    let subject = drawn.subject();
    let all = drawn.all().filter_map(|(case, one)| Some((case, one, in_outages(one)?)));
    let worst = all
        .clone()
        .reduce(|worst, next| if next.2.over_limit > worst.2.over_limit { next } else { worst });
    let over = match worst {
        Some((case, one, found)) if found.over_limit > 0 => {
            let as_many = |other: &Series<'_>| {
                in_outages(other).is_some_and(|other| other.over_limit == found.over_limit)
            };
            let who = drawn.whose(case, one, as_many);
            format!("{who} lets {} over the limit through", text::count(found.over_limit))
        }
        _ => "nothing goes over the limit".to_owned(),
    };
    let is_shut = |found: &InOutages| found.accepted == 0 && found.rejected > 0;
    let mut shut = all.filter(|(.., found)| is_shut(found));
    let shut = shut.next().map(|(case, one, _)| {
        let who = drawn.whose(case, one, |other| in_outages(other).as_ref().is_some_and(is_shut));
        format!(", {who} nothing at all")
    });
    format!("{subject}: while the store fails, {over}{}", shut.unwrap_or_default())
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
        let at = |secs: u64| outage.cases[0].window.start + Span::from_secs(secs);
        let several: Vec<Window> =
            [10, 60, 62, 150].map(|from| Window { start: at(from), end: at(from + 1) }).to_vec();
        outage.cases[0].fleet.as_mut().unwrap().outages = several;
        outage.rows.truncate(1);
        let svg = draw(&outage).unwrap();
        assert_eq!(svg.matches("opacity=\"0.09\"").count(), 4);
        // That at 62 s would be named over the one at 60 s, and is named right of it.
        assert_eq!(texts(&svg).lines().filter(|line| *line == "outage").count(), 4);
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
        assert!(said.contains("8 more runs are in the tables"), "{said}");
        assert!(said.contains("number 3 (local)") && !said.contains("number 4 (local)"), "{said}");
        assert!(svg.len() < 200_000, "{}", svg.len());
    }
}
