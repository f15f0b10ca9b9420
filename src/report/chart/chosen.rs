//! What the charts that show all cases side by side have in common: which cases and algorithms are drawn, what
//! they are called, and how thick their curves are.

use std::borrow::Cow;

use super::palette::Colour;
use super::panels::Head;
use super::series::{self, Series};
use super::text;
use super::view::Steps;
use crate::metrics::Comparison;

/// So many cases are drawn; the tables have them all.
const MOST_CASES: usize = 8;
/// So many algorithms of a case are drawn; curves of more could not be told apart.
const MOST_ALGORITHMS: usize = 8;

/// The cases and algorithms that a chart of all cases draws.
pub struct Chosen<'a> {
    comparison: &'a Comparison,
    /// The cases drawn, not empty, by their positions.
    pub cases: Vec<(usize, Vec<Series<'a>>)>,
    /// What was left out, in words; empty if nothing was.
    pub remark: String,
}

impl<'a> Chosen<'a> {
    /// The first cases with their first algorithms; `None` if there are none.
    pub fn of(comparison: &'a Comparison) -> Option<Chosen<'a>> {
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
        (!cases.is_empty()).then(|| Chosen { comparison, cases, remark: remarks.join("; ") })
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

    /// The same; by its case alone where what is said of it holds of all its algorithms.
    pub fn whose(
        &self,
        case: usize,
        one: &Series<'_>,
        holds: impl Fn(&Series<'_>) -> bool,
    ) -> String {
        let name = self.comparison.cases[case].name.as_str();
        let mut others = self.all().filter(|(other, _)| *other == case);
        match self.cases.len() > 1 && !name.is_empty() && others.all(|(_, other)| holds(other)) {
            true => name.to_owned(),
            false => self.who(case, one),
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

    /// What colours mean: `others` of the chart's own, and those of the algorithms.
    pub fn legend(&self, others: &[(Colour, &'static str)]) -> Vec<(Vec<Colour>, Cow<'a, str>)> {
        let others = others.iter().map(|(colour, words)| (vec![*colour], Cow::Borrowed(*words)));
        let mut legend: Vec<(Vec<Colour>, Cow<'a, str>)> = others.collect();
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

/// How thick the curve of each of so many algorithms is: what is drawn later is thinner, so that curves
/// that coincide show side by side.
pub fn thickness(index: usize, of: usize) -> f64 {
    match of {
        0 | 1 => 2.0,
        of => 1.3 + 2.1 * (of.saturating_sub(index + 1)) as f64 / (of - 1) as f64,
    }
}

/// The highest of several at each time.
pub fn upper<'a>(mut all: impl Iterator<Item = &'a Steps>) -> Steps {
    let mut most = all.next().cloned().unwrap_or_default();
    for other in all {
        for (own, (_, rate)) in most.iter_mut().zip(other) {
            own.1 = own.1.max(*rate);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_curve_is_thinner_than_those_under_it() {
        let of = |count| {
            (0..count).map(|index| (10.0 * thickness(index, count)).round()).collect::<Vec<_>>()
        };
        assert_eq!(of(1), [20.0]);
        assert_eq!(of(2), [34.0, 13.0]);
        assert_eq!(of(4), [34.0, 27.0, 20.0, 13.0]);
    }
}
