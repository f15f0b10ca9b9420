//! What a chart of outages and fail-overs says: when there are any, what a run decided in or after them, and the worst
//! of all.

use super::super::chosen::{Chosen, Told};
use super::super::palette::{Colour, MUTED, OVER_TEXT};
use super::super::series::Series;
use super::super::shade::fail_overs;
use super::super::text;
use crate::judge::InOutages;
use crate::metrics::Comparison;

/// What a run decided in its outages; `None` where it has none.
pub fn in_outages(one: &Series<'_>) -> Option<InOutages> {
    one.row.tally.fleet.as_ref()?.in_outages
}

/// What goes over the limit in a run of a case after its first fail-over, from the first bin on that begins then;
/// `None` where it has none.
fn after_fail_over(comparison: &Comparison, case: usize, one: &Series<'_>) -> Option<u64> {
    let at = *fail_overs(comparison, case).first()?;
    let timeline = &one.row.tally.timeline;
    let since = (at - timeline.start).nanos();
    let first = since.div_ceil(timeline.width.nanos().max(1));
    let bins = usize::try_from(first).ok().and_then(|first| timeline.bins.get(first..));
    Some(bins.unwrap_or(&[]).iter().map(|bin| bin.over_limit).fold(0, u64::saturating_add))
}

/// What a run decided in its outages, and what went over the limit after a fail-over.
pub fn remark(comparison: &Comparison, case: usize, one: &Series<'_>) -> (String, Colour) {
    let over = |number| format!("{} over", text::count(number));
    let after = after_fail_over(comparison, case, one);
    let (words, over_limit) = match (in_outages(one), after) {
        (None, None) => ("no outage".to_owned(), 0),
        (None, Some(after)) => (format!("{} after the fail-over", over(after)), after),
        (Some(InOutages { accepted, over_limit, .. }), after) => {
            let mut words = format!("outage: {} accepted", text::count(accepted));
            if over_limit > 0 {
                words += &format!(", {}", over(over_limit));
            }
            if let Some(after) = after {
                words += &format!("; fail-over: {}", over(after));
            }
            (words, over_limit.max(after.unwrap_or(0)))
        }
    };
    (words, if over_limit > 0 { OVER_TEXT } else { MUTED })
}

/// The run with the most over the limit in outages, or after a fail-over where that is more, and one that lets nothing
/// through; and what it tells of.
pub fn title<'a>(comparison: &Comparison, every: &Chosen<'a>) -> (String, Told<'a>) {
    let subject = every.subject();
    let after = |(case, one): &(usize, &Series<'a>)| after_fail_over(comparison, *case, one);
    let during = |(_, one): &(usize, &Series<'a>)| in_outages(one).map(|found| found.over_limit);
    let mut told = Told::new();
    let mut tell = |(case, one): (usize, &Series<'a>), holds: &dyn Fn(&Series<'_>) -> bool| {
        told.push((case, one.row.algorithm.as_str()));
        every.whose(case, one, holds)
    };
    let in_outage = worst(every, during);
    let after_fail_overs = worst(every, after);
    let over = match (in_outage, after_fail_overs) {
        (during, Some((after, one)))
            if after > 0 && during.is_none_or(|(most, _)| most <= after) =>
        {
            let as_many =
                |other: &Series<'_>| after_fail_over(comparison, one.0, other) == Some(after);
            let who = tell(one, &as_many);
            format!(
                "after a replica takes over, {who} lets {} over the limit through",
                text::count(after)
            )
        }
        (Some((most, one)), _) if most > 0 => {
            let as_many = |other: &Series<'_>| {
                in_outages(other).is_some_and(|other| other.over_limit == most)
            };
            let who = tell(one, &as_many);
            format!(
                "while the store fails, {who} lets {} over the limit through",
                text::count(most)
            )
        }
        (Some(_), None) => "nothing goes over the limit while the store fails".to_owned(),
        (None, _) => "nothing goes over the limit after a replica takes over".to_owned(),
        (Some(_), Some(_)) => {
            "nothing goes over the limit while the store fails, nor after a replica takes over"
                .to_owned()
        }
    };
    let is_shut = |one: &Series<'_>| {
        in_outages(one).is_some_and(|found| found.accepted == 0 && found.rejected > 0)
    };
    let shut = every.all().find(|(_, one)| is_shut(one)).map(|one| {
        let during = if over.starts_with("while") { "" } else { " while the store fails" };
        format!(", {} nothing at all{during}", tell(one, &is_shut))
    });
    (format!("{subject}: {over}{}", shut.unwrap_or_default()), told)
}

/// The most of what some runs have, and the first that has it.
fn worst<'a, 'b>(
    every: &'b Chosen<'a>,
    of: impl Fn(&(usize, &Series<'a>)) -> Option<u64>,
) -> Option<(u64, (usize, &'b Series<'a>))> {
    let some = every.all().filter_map(|one| Some((of(&one)?, one)));
    some.reduce(|worst, next| if next.0 > worst.0 { next } else { worst })
}

#[cfg(test)]
mod tests {
    use super::super::super::series;
    use super::*;
    use crate::report::fleet_samples;
    use crate::time::Span;

    #[test]
    fn a_title_is_true_of_fail_overs_and_of_all_that_is_not_drawn() {
        fn told(comparison: &Comparison) -> (String, Told<'_>) {
            title(comparison, &Chosen::every(comparison).unwrap())
        }
        let mut outage = fleet_samples::outage();
        let start = outage.cases[0].window.start;
        let some =
            "while the store fails, open lets 598 over the limit through, closed nothing at all";
        assert_eq!(told(&outage).0, format!("redis-outage: {some}"));
        assert_eq!(told(&outage).1, [(0, "fixed-window"), (1, "fixed-window")]);
        // The case without an outage has a fail-over, and after it more over the limit than there is in any outage.
        outage.cases[3].fleet.as_mut().unwrap().fail_overs = vec![start + Span::from_secs(30)];
        let bins = &mut outage.rows[3].tally.timeline.bins;
        let at = 30 * bins.len() / 180;
        (bins[at - 1].over_limit, bins[at].over_limit, bins[at + 9].over_limit) = (7, 99, 500);
        let more = "after a replica takes over, no outage lets 599 over the limit through, closed nothing at all \
                    while the store fails";
        assert_eq!(told(&outage).0, format!("redis-outage: {more}"));
        outage.cases[2].fleet.as_mut().unwrap().fail_overs = vec![start + Span::from_secs(121)];
        let said = (0..4).map(|case| remark(&outage, case, &series::of_case(&outage, case).0[0]).0);
        insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"));
        // Nothing anywhere.
        for row in &mut outage.rows {
            row.tally.timeline.bins.iter_mut().for_each(|bin| bin.over_limit = 0);
            if let Some(found) = &mut row.tally.fleet.as_mut().unwrap().in_outages {
                *found = InOutages { accepted: 1, ..InOutages::default() };
            }
        }
        let none =
            "nothing goes over the limit while the store fails, nor after a replica takes over";
        assert_eq!(told(&outage), (format!("redis-outage: {none}"), vec![]));
        outage.rows.drain(..3);
        let none = "nothing goes over the limit after a replica takes over";
        assert_eq!(told(&outage).0, format!("redis-outage, no outage: {none}"));
    }
}
