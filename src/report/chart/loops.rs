//! What the charts of closed loops share: which cases and algorithms are drawn, what they are called, and
//! what became of requests.

use std::borrow::Cow;

use super::palette::{Colour, REFUSED};
use super::panels::Head;
use super::series::{self, Series};
use super::text;
use crate::judge::Bin;
use crate::metrics::Comparison;

/// So many cases are drawn; the tables have them all.
const MOST_CASES: usize = 8;
/// So many algorithms of a case are drawn; curves of more could not be told apart.
const MOST_ALGORITHMS: usize = 8;

/// What is drawn of a closed loop.
pub struct Loops<'a> {
    comparison: &'a Comparison,
    /// The cases drawn, not empty, by their positions.
    pub cases: Vec<(usize, Vec<Series<'a>>)>,
    /// What was left out, in words; empty if nothing was.
    pub remark: String,
}

impl<'a> Loops<'a> {
    /// The first cases with their first algorithms; `None` if there are none, or if none of them is a
    /// closed loop.
    pub fn of(comparison: &'a Comparison) -> Option<Loops<'a>> {
        if !comparison.is_closed_loop() {
            return None;
        }
        let mut left_out = 0;
        let mut cases = Vec::new();
        let mut more_cases = 0;
        for case in 0..comparison.cases.len() {
            if !comparison.rows.iter().any(|row| row.case == case) {
                continue;
            }
            if cases.len() == MOST_CASES {
                more_cases += 1;
                continue;
            }
            let (mut all, more) = series::of_case(comparison, case);
            left_out = left_out.max(more + all.len().saturating_sub(MOST_ALGORITHMS));
            all.truncate(MOST_ALGORITHMS);
            cases.push((case, all));
        }
        let cut = (more_cases > 0).then(|| {
            format!("{} in the tables", text::plural(more_cases, "more case is", "more cases are"))
        });
        let remarks: Vec<String> =
            series::remark(comparison, left_out).into_iter().chain(cut).collect();
        (!cases.is_empty()).then(|| Loops { comparison, cases, remark: remarks.join("; ") })
    }

    /// All that is drawn, with the positions of their cases.
    pub fn all(&self) -> impl Iterator<Item = (usize, &Series<'a>)> + Clone {
        self.cases.iter().flat_map(|(case, all)| all.iter().map(move |one| (*case, one)))
    }

    /// How a title begins.
    pub fn subject(&self) -> String {
        match self.cases[..] {
            [(case, _)] => series::subject(self.comparison, case),
            _ => self.comparison.scenario.clone(),
        }
    }

    /// What one is called where all are compared: by its algorithm and its case, as far as there are
    /// others.
    pub fn who(&self, case: usize, one: &Series<'_>) -> String {
        let algorithm = one.row.algorithm.as_str();
        let name = self.comparison.cases[case].name.as_str();
        let alike = self.all().all(|(_, other)| other.row.algorithm == algorithm);
        match (self.cases.len(), name) {
            (1, _) | (_, "") => algorithm.to_owned(),
            _ if alike => name.to_owned(),
            _ => format!("{algorithm} ({name})"),
        }
    }

    /// The name of a case, or of its only algorithm where it has none.
    pub fn name(&self, case: usize, all: &[Series<'a>]) -> &'a str {
        match (self.comparison.cases[case].name.as_str(), all) {
            ("", [one]) => &one.row.algorithm,
            (name, _) => name,
        }
    }

    /// The heads of the panels: the case's name, and what `remark` tells of its runs.
    pub fn heads(&self, remark: impl Fn(&[Series<'a>]) -> (String, Colour)) -> Vec<Head<'_>> {
        let head = |(case, all): &(usize, Vec<Series<'a>>)| Head {
            name: self.name(*case, all),
            colour: None,
            remark: remark(all),
        };
        self.cases.iter().map(head).collect()
    }

    /// What a reader must know of curves that lie on one another; empty where none can.
    pub fn coinciding(&self) -> &'static str {
        match self.cases.iter().any(|(_, all)| all.len() > 1) {
            true => "curves that coincide lie thin on thick",
            false => "",
        }
    }

    /// What colours mean: `first` requests' attempts, if they are drawn, and the algorithms.
    pub fn legend(&self, first: bool) -> Vec<(Vec<Colour>, Cow<'a, str>)> {
        let mut legend: Vec<(Vec<Colour>, Cow<'a, str>)> = Vec::new();
        if first {
            legend.push((vec![REFUSED], Cow::Borrowed("first attempts")));
        }
        for (_, one) in self.all() {
            let name = text::fit(&one.row.algorithm, super::panels::SMALL, 180.0);
            if !legend.iter().any(|(colours, other)| colours[0] == one.colour && *other == name) {
                legend.push((vec![one.colour], Cow::Owned(name)));
            }
        }
        legend.truncate(16);
        legend
    }
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

/// How thick the curve of each of so many algorithms is: what is drawn later is thinner, so that curves
/// that coincide show side by side.
pub fn thickness(index: usize, of: usize) -> f64 {
    match of {
        0 | 1 => 2.0,
        of => 1.3 + 2.1 * (of.saturating_sub(index + 1)) as f64 / (of - 1) as f64,
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

    #[test]
    fn each_curve_is_thinner_than_those_under_it() {
        let of = |count| {
            (0..count).map(|index| (10.0 * thickness(index, count)).round()).collect::<Vec<_>>()
        };
        assert_eq!(of(1), [20.0]);
        assert_eq!(of(2), [34.0, 13.0]);
        assert_eq!(of(4), [34.0, 27.0, 20.0, 13.0]);
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
            assert!(svg.contains("992 more cases are in the tables"), "{name}");
            let said = texts(&svg);
            assert!(said.contains("10007") && !said.contains("10008"), "{name}: {said}");
            assert!(svg.len() < 200_000, "{name}: {}", svg.len());
        }
    }
}
