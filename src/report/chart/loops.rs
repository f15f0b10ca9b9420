//! What the charts of closed loops share: what became of requests.

use super::chosen::Chosen;
use super::series::Series;
use crate::judge::Bin;
use crate::metrics::Comparison;

/// What is drawn of a closed loop; `None` if there is none among what is compared.
pub fn of(comparison: &Comparison) -> Option<Chosen<'_>> {
    Chosen::of(comparison).filter(|_| comparison.is_closed_loop())
}

/// First attempts of a bin.
pub fn first_attempts(bin: &Bin) -> u64 {
    bin.offered.saturating_sub(bin.retries)
}

/// Requests that succeeded in a bin; in an open loop each attempt that is let through.
pub fn successes(one: &Series<'_>) -> fn(&Bin) -> u64 {
    match one.row.tally.closed {
        Some(_) => |bin| bin.succeeded,
        None => |bin| bin.accepted,
    }
}

/// A share in percent with one decimal. What is not all never reads 100 %, and what is something never 0.
pub fn percent(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    let thousandths = match (part * 1000 + whole / 2) / whole {
        0 if part > 0 => 1,
        1000.. if part < whole => 999,
        rounded => rounded,
    };
    match (thousandths / 10, thousandths % 10) {
        (percent, 0) => format!("{percent}%"),
        (percent, tenths) => format!("{percent}.{tenths}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::super::{Draw, amplification, attempts, loop_sample, sample, time_to_success};
    use super::*;
    use crate::judge::Books;
    use crate::metrics::{CaseInfo, Row};

    #[test]
    fn a_share_reads_100_percent_only_of_all() {
        let told = [(3, 3), (99_999, 100_000), (1, 3), (1, 2), (1, 100_000), (0, 9), (0, 0)];
        let told = told.map(|(part, whole)| percent(part, whole));
        assert_eq!(told, ["100%", "99.9%", "33.3%", "50%", "0.1%", "0%", "0%"]);
    }

    /// The figures of what only closed loops have.
    fn of_loops(comparison: &Comparison) -> Vec<(&'static str, Option<String>)> {
        let charts = [&attempts::CHART, &amplification::CHART, &time_to_success::CHART];
        let drawn = charts.map(|chart| match chart.draw {
            Draw::Whole(draw) => (chart.name, draw(comparison)),
            Draw::EachCase(_) => unreachable!("they show all cases"),
        });
        drawn.to_vec()
    }

    #[test]
    fn the_charts_of_a_storm_say_what_happened() {
        let told = |comparison: &Comparison| -> String {
            of_loops(comparison)
                .into_iter()
                .map(|(name, svg)| format!("== {name}\n{}", texts(&svg.unwrap())))
                .collect()
        };
        let mut storm = loop_sample::storm();
        insta::assert_snapshot!("storm", told(&storm));
        // The same without the other algorithm, and then of one case without a name.
        storm.rows.retain(|row| row.kind == 5);
        insta::assert_snapshot!("storm_of_one_algorithm", told(&storm));
        storm.rows.retain(|row| row.case == 1);
        storm.rows[0].case = 0;
        storm.cases.truncate(1);
        storm.cases[0].name.clear();
        insta::assert_snapshot!("storm_of_one_case", told(&storm));
    }

    #[test]
    fn open_loops_have_none_of_the_charts_of_closed_loops() {
        assert!(of_loops(&sample::boundary()).iter().all(|(_, svg)| svg.is_none()));
        // An open loop beside closed ones is shown: what it lets through succeeds at once.
        let mut mixed = loop_sample::storm();
        mixed.cases.truncate(2);
        mixed.rows.truncate(3);
        mixed.rows[0].tally.closed = None;
        mixed.rows[1].tally.closed = None;
        let drawn = of_loops(&mixed);
        let said = |index: usize| texts(drawn[index].1.as_ref().unwrap());
        assert!(said(0).contains("open loop: clients do not react"), "{}", said(0));
        assert!(said(2).contains("none\n83.3% succeed\n"), "{}", said(2));
    }

    #[test]
    fn without_requests_there_is_nothing_to_draw_and_without_success_no_time_to_it() {
        let mut storm = loop_sample::storm();
        for row in &mut storm.rows {
            row.tally.timeline.bins.iter_mut().for_each(|bin| bin.succeeded = 0);
            row.tally.books.succeeded = 0;
            let window = storm.cases[0].window;
            row.tally.closed = Some(loop_sample::closed(window, None, 9, &[]));
        }
        let drawn: Vec<bool> = of_loops(&storm).iter().map(|(_, svg)| svg.is_some()).collect();
        assert_eq!(drawn, [true, true, false]);
        for row in &mut storm.rows {
            row.tally.timeline.bins.fill(Bin::default());
            row.tally.books = Books::default();
        }
        assert!(of_loops(&storm).iter().all(|(_, svg)| svg.is_none()));
    }

    #[test]
    fn of_a_thousand_cases_the_first_are_drawn() {
        let mut storm = loop_sample::storm();
        let rows = storm.rows.clone();
        storm.cases = (10_000..11_000)
            .map(|n| CaseInfo { name: n.to_string(), ..storm.cases[0].clone() })
            .collect();
        storm.rows =
            (0..1000).map(|case| Row { case, ..rows[case % rows.len()].clone() }).collect();
        for (name, svg) in of_loops(&storm) {
            let svg = svg.unwrap();
            let said = texts(&svg);
            let rest = "only in the tables: cases \"10008\", \"10009\", \"10010\" and 989 more";
            assert!(said.contains(rest), "{name}: {said}");
            let drawn = said.replace(rest, "");
            assert!(drawn.contains("10007") && !drawn.contains("10008"), "{name}: {said}");
            assert!(svg.len() < 200_000, "{name}: {}", svg.len());
        }
    }
}
