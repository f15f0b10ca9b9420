//! How many keys a store holds over time: whether they go when they may, pile up, or are stuck.

use super::axis::Numbers;
use super::chosen::{self, Chosen, Told};
use super::palette::{Colour, GIVEN_UP, INK, MUTED};
use super::panels::{Across, Panels, Track};
use super::scale::{Decades, Scale};
use super::series::Series;
use super::view::{Steps, View};
use super::{Chart, Draw, text};
use crate::judge::{Bin, StoreKeys};
use crate::metrics::Comparison;

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "keys-alive",
    title: "Keys in the store over time",
    meaning: "Where a store holds the state: how many keys are in it over time, and how many of them never \
              expire, by case.",
    draw: Draw::Whole(draw),
};

fn draw(comparison: &Comparison) -> Option<String> {
    let every = Chosen::every(comparison)?;
    let (title, told) = title(&every);
    let drawn = every.first(&told);
    let most = drawn.all().filter_map(|(_, one)| keys(one)).map(|keys| keys.most).max();
    // A single key that comes and goes says nothing.
    let most = most.filter(|most| *most > 1)?;
    let timelines = drawn.all().map(|(_, one)| &one.row.tally.timeline);
    let view = View::of_all(timelines, 0.3, |bin| bin.keys_in_store > 0)?;
    let outlines = drawn.cases.len() + drawn.all().count();
    let groups = (6000 / outlines).min(300);
    let stuck = drawn.all().any(|(_, one)| one.bins().iter().any(|bin| bin.stuck_keys > 0));
    let others: &[(Colour, &'static str)] =
        if stuck { &[(GIVEN_UP, "never expire (most of any algorithm)")] } else { &[] };
    let legend = drawn.legend(others);
    let legend: Vec<(&[Colour], &str)> =
        legend.iter().map(|(colours, words)| (&colours[..], &**words)).collect();
    let height = if drawn.cases.len() == 1 { 180.0 } else { 96.0 };
    let scale = scale(&drawn, most);
    let (unit, drawn_how) = match scale {
        Scale::Decades(Decades { low, .. }) => {
            ("keys, log", format!("; logarithmic above {}", text::decimal(low, 9)))
        }
        _ => ("keys", String::new()),
    };
    let subtitle =
        format!("keys in the store, the most at any time within a step of a curve{drawn_how}");
    let heads = drawn.heads(remark);
    let figure = Panels {
        title: &title,
        subtitles: &[&subtitle, drawn.coinciding(), &drawn.remark],
        heads: &heads,
        legend: &legend,
        across: Across::Run(&view),
        tracks: &[Track { titles: ("", unit), scale, height }],
    };
    Some(figure.draw(|canvas, plots, index| {
        let (Some(plot), (_, all)) = (plots.first(), &drawn.cases[index]) else { return };
        let of_case: Vec<Steps> =
            all.iter().map(|one| highest(one, &view, groups, |bin| bin.stuck_keys)).collect();
        let stuck = chosen::upper(of_case.iter());
        if stuck.iter().any(|(_, most)| *most > 0.0) {
            canvas.surface(&plot.surface(&stuck, 0.0), GIVEN_UP, 0.5);
        }
        for (nth, one) in all.iter().enumerate().filter(|(_, one)| keys(one).is_some()) {
            let alive = highest(one, &view, groups, |bin| bin.keys_in_store);
            canvas.line(&plot.steps(&alive), one.colour, chosen::thickness(nth, all.len()));
        }
    }))
}

/// An even scale, or a logarithmic one where the most of some case would press another flat.
fn scale(drawn: &Chosen<'_>, most: u64) -> Scale {
    let of_case = |(_, all): &(usize, Vec<Series<'_>>)| {
        all.iter().filter_map(keys).map(|keys| keys.most).max().filter(|most| *most > 0)
    };
    match drawn.cases.iter().filter_map(of_case).min() {
        Some(least) if most / least >= 10 => {
            Scale::Decades(Decades::holding(least as f64, most as f64))
        }
        _ => Scale::Even(Numbers::up_to(most as f64, 4.0, true)),
    }
}

fn keys(one: &Series<'_>) -> Option<StoreKeys> {
    one.row.tally.fleet.as_ref()?.keys
}

/// The largest of each group of bins: no spike is lost.
fn highest(one: &Series<'_>, view: &View, groups: usize, of: fn(&Bin) -> u64) -> Steps {
    view.highest(&one.row.tally.timeline, groups, of)
}

/// How many keys a case comes to at most and leaves at the end, under the algorithm that leaves the most for ever, or
/// of those that leave none the one that keeps the most.
fn remark(all: &[Series<'_>]) -> (String, Colour) {
    let kept =
        all.iter().filter_map(keys).max_by_key(|kept| (kept.stuck_at_end, kept.most, kept.at_end));
    let Some(StoreKeys { most, at_end, stuck_at_end }) = kept else {
        return ("no keys in a store".to_owned(), MUTED);
    };
    let [most, at_end, stuck] = [most, at_end, stuck_at_end].map(text::count);
    match stuck_at_end {
        0 => (format!("up to {most}, {at_end} at the end"), MUTED),
        _ => (format!("{at_end} at the end, {stuck} stuck"), INK),
    }
}

fn title<'a>(every: &Chosen<'a>) -> (String, Told<'a>) {
    let subject = every.subject();
    let all = every.all().filter_map(|(case, one)| Some((case, one, keys(one)?)));
    let rank = |keys: &StoreKeys| (keys.stuck_at_end, keys.most);
    let worst = all.reduce(|worst, next| if rank(&next.2) > rank(&worst.2) { next } else { worst });
    let who = |case: usize, one: &Series<'_>, found: StoreKeys| {
        let as_many = |other: StoreKeys| rank(&other) == rank(&found);
        every.whose(case, one, |other| keys(other).is_some_and(as_many))
    };
    let told = worst.iter().map(|(case, one, _)| (*case, one.row.algorithm.as_str())).collect();
    let title = match worst {
        Some((case, one, found @ StoreKeys { stuck_at_end: stuck @ 1.., .. })) => {
            let keys = text::plural(stuck, "key that never expires", "keys that never expire");
            format!("{subject}: {} leaves {keys}", who(case, one, found))
        }
        Some((case, one, found)) => {
            let keys = text::plural(found.most, "key", "keys");
            format!("{subject}: up to {keys} with {}; none stays for ever", who(case, one, found))
        }
        None => format!("{subject}: no keys in a store"),
    };
    (title, told)
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;
    use crate::report::{fleet_samples, samples};

    #[test]
    fn keys_that_pile_up_are_told_from_those_that_are_stuck() {
        let mut expiry = fleet_samples::expiry();
        insta::assert_snapshot!("texts", texts(&draw(&expiry).unwrap()));
        expiry.rows.retain(|row| row.case == 2);
        insta::assert_snapshot!("drawing", draw(&expiry).unwrap());
    }

    #[test]
    fn where_every_key_goes_the_title_says_so() {
        let mut expiry = fleet_samples::expiry();
        expiry.rows.retain(|row| row.case == 1);
        let said = texts(&draw(&expiry).unwrap()).replace('\n', " ");
        // The counter keeps its keys twice as long: 200 tenths of a second.
        let title =
            "expiry, right: up to 200 keys with sliding-window-counter; none stays for ever";
        assert!(said.starts_with(title), "{said}");
        assert!(!said.contains("never expire (most"), "{said}");
    }

    #[test]
    fn without_keys_in_a_store_there_is_nothing_to_show() {
        assert_eq!(draw(&samples::boundary()), None);
        let mut expiry = fleet_samples::expiry();
        for keys in [Some(StoreKeys { most: 1, at_end: 1, stuck_at_end: 0 }), None] {
            expiry.rows.iter_mut().for_each(|row| row.tally.fleet.as_mut().unwrap().keys = keys);
            assert_eq!(draw(&expiry), None);
        }
    }
}
