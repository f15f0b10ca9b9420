//! What was offered and what each algorithm accepted of it, over time.

use super::axis::Numbers;
use super::palette::{Colour, MUTED, OVER, OVER_TEXT, REFUSED};
use super::panels::{self, Across, Panels, Track};
use super::scale::Scale;
use super::series::{self, Series};
use super::shade::{self, beside};
use super::view::View;
use super::{Chart, Draw, text};
use crate::judge::Bin;
use crate::metrics::Comparison;
use crate::report::words::listed;
use crate::time::Span;

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "offered-accepted",
    title: "Offered and accepted over time",
    meaning: "Requests per second as they were offered and as they were accepted, within the \
              limit and over it, over time.",
    draw: Draw::EachCase(draw),
};

/// Bars narrower than this many pixels cannot be told apart.
const BARS: usize = 140;

fn draw(comparison: &Comparison, case: usize) -> Option<String> {
    let (all, left_out) = series::of_case(comparison, case);
    let timeline = &all.first()?.row.tally.timeline;
    let offered =
        |bin: usize| all.iter().any(|one| one.bins().get(bin).is_some_and(|bin| bin.offered > 0));
    let view = View::of(timeline, 0.3, offered)?;
    let groups = BARS.min(2400 / all.len());
    let rates =
        |one: &Series<'_>, of: fn(&Bin) -> u64| view.rates(&one.row.tally.timeline, groups, of);
    let most = all
        .iter()
        .flat_map(|one| [rates(one, |bin| bin.offered), rates(one, |bin| bin.accepted)])
        .flatten()
        .map(|(_, rate)| rate)
        .fold(0.0, f64::max);
    let title = title(comparison, case, &all);
    let troubles = shade::legend(comparison, std::iter::once(case));
    let drawn = format!(
        "{} per second, averaged over {}; {}",
        things(&all),
        Span::from_nanos(view.group_length(groups).min(Span::MAX.nanos())),
        series::limits(comparison, case),
    );
    // What is shaded is named above the plots.
    let titles = if troubles.is_empty() { ("", "") } else { (things(&all), "per s") };
    let colours = series::colours(&all);
    let any_over = all.iter().any(|one| one.row.tally.over_limit > 0);
    let legend: [(&[_], &str); 3] =
        [(&[REFUSED], "offered"), (&colours, "accepted"), (&[OVER], "accepted over the limit")];
    let left_out = series::remark(comparison, left_out).unwrap_or_default();
    let numbers = Numbers::up_to(most, 4.0, false);
    let figure = Panels {
        title: &title,
        subtitles: &[&drawn, troubles.trim_start_matches("; "), &left_out],
        heads: &panels::of_algorithms(&all, |one| remark(one, &view)),
        legend: &legend[..if any_over { 3 } else { 2 }],
        across: Across::Run(&view),
        tracks: &[Track { titles, scale: Scale::Even(numbers), height: 92.0 }],
    };
    Some(figure.draw(|canvas, plots, index| {
        let (plot, one) = (&plots[0], &all[index]);
        let offered = rates(one, |bin| bin.offered);
        let accepted = rates(one, |bin| bin.accepted);
        let over = rates(one, |bin| bin.over_limit);
        canvas.surface(&plot.surface(&offered, 0.0), REFUSED, 1.0);
        canvas.surface(&plot.surface(&accepted, 0.0), one.colour, 1.0);
        if over.iter().any(|(_, rate)| *rate > 0.0) {
            // The part over the limit stands on top of what was within it.
            let mut above = plot.steps(&accepted);
            let within: Vec<_> = accepted
                .iter()
                .zip(&over)
                .map(|((bins, all), (_, over))| (bins.clone(), all - over))
                .collect();
            above.extend(plot.steps(&within).into_iter().rev());
            canvas.surface(&above, OVER, 1.0);
        }
        let start = one.row.tally.timeline.start;
        shade::trouble(canvas, plots, &view, (comparison, case), start, beside(plot, titles.0));
    }))
}

/// What is offered, in the plural: where clients retry, attempts of requests.
fn things(all: &[Series<'_>]) -> &'static str {
    match all.iter().any(|one| one.row.tally.closed.is_some()) {
        true => "attempts",
        false => "requests",
    }
}

/// So many algorithms that are tied are named in the title.
const MOST_NAMES: usize = 3;

fn title(comparison: &Comparison, case: usize, all: &[Series<'_>]) -> String {
    let subject = series::subject(comparison, case);
    let accepted = |one: &Series<'_>| one.row.tally.books.accepted;
    let attempts = || all.iter().map(|one| one.row.tally.books.attempts);
    let most = attempts().max().unwrap_or(0);
    let things = things(all);
    let offered = text::plural(most, &things[..things.len() - 1], things);
    let offered = match attempts().all(|one| one == most) {
        true => offered,
        false => format!("up to {offered}"),
    };
    let (Some(few), Some(many)) = (all.iter().map(accepted).min(), all.iter().map(accepted).max())
    else {
        return subject;
    };
    if few == many {
        let who = if all.len() == 1 { &all[0].row.algorithm } else { "every algorithm" };
        return format!("{subject}: of {offered}, {who} accepts {}", text::count(few));
    }
    let who = |number: u64, most: usize| {
        let tied = all.iter().filter(|one| accepted(one) == number);
        let names: Vec<String> = tied.map(|one| one.row.algorithm.clone()).collect();
        let verb = if names.len() == 1 { "accepts" } else { "accept" };
        let who = match names.len() {
            several if several > most => format!("{several} algorithms"),
            _ => listed(&names),
        };
        (who, verb)
    };
    let told = |names: usize| {
        let ((most, verb), (least, _)) = (who(many, names), who(few, names));
        format!(
            "{subject}: of {offered}, {most} {verb} {}, {least} {}",
            text::count(many),
            text::count(few),
        )
    };
    // Numbers matter more than names.
    (1..=MOST_NAMES).rev().map(told).find(|title| panels::fits(title)).unwrap_or_else(|| told(1))
}

/// How many were accepted, how many of these over the limit, and how many after the part of the run
/// that is drawn.
fn remark(one: &Series<'_>, view: &View) -> (String, Colour) {
    let tally = &one.row.tally;
    let total = |bins: &[Bin]| bins.iter().map(|bin| u128::from(bin.accepted)).sum::<u128>();
    let after = total(one.bins().get(view.bins.end..).unwrap_or(&[]));
    let mut words = format!("accepted {}", text::count(tally.books.accepted));
    if tally.over_limit > 0 {
        words.push_str(&format!(", {} over", text::count(tally.over_limit)));
    }
    if after > 0 {
        words.push_str(&format!(", {} later", text::count(after.try_into().unwrap_or(u64::MAX))));
    }
    (words, if tally.over_limit > 0 { OVER_TEXT } else { MUTED })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_title_names_all_that_are_tied_up_to_three() {
        let told = |accepted: [u64; 6]| {
            let mut comparison = sample::boundary();
            for (row, accepted) in comparison.rows.iter_mut().zip(accepted) {
                row.tally.books.accepted = accepted;
            }
            title(&comparison, 0, &series::of_case(&comparison, 0).0)
        };
        let start = "boundary: of 200 requests,";
        assert_eq!(
            told([200, 100, 101, 103, 200, 103]),
            format!("{start} fixed-window and leaky-bucket accept 200, sliding-window-log 100")
        );
        assert_eq!(
            told([200, 100, 100, 100, 100, 103]),
            format!("{start} fixed-window accepts 200, 4 algorithms 100")
        );
        assert_eq!(told([7; 6]), format!("{start} every algorithm accepts 7"));
    }

    #[test]
    fn where_there_is_no_room_for_all_names_the_numbers_stay() {
        let mut comparison = sample::boundary();
        comparison.scenario = "the-access-log-of-a-day-in-may-replayed".to_owned();
        for (row, accepted) in comparison.rows.iter_mut().zip([200, 200, 200, 100, 100, 100]) {
            row.tally.books.accepted = accepted;
        }
        let told = title(&comparison, 0, &series::of_case(&comparison, 0).0);
        let end = "of 200 requests, 3 algorithms accept 200, 3 algorithms 100";
        assert!(told.ends_with(end), "{told}");
    }

    #[test]
    fn outages_are_shaded_where_there_are_any() {
        let outage = crate::report::fleet_samples::outage();
        let svg = draw(&outage, 0).unwrap();
        let said = super::super::tests::texts(&svg);
        assert!(said.lines().any(|line| line == "outage") && said.contains("shaded: outage"));
        assert_eq!(svg.matches("opacity=\"0.09\"").count(), 1);
        let none = draw(&outage, 3).unwrap();
        assert!(!none.contains("shaded: outage") && !none.contains("opacity=\"0.09\""));
    }
}
