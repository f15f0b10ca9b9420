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
/// So many of what is not drawn are told by name.
const MOST_NAMED: usize = 3;

/// The cases and algorithms that a chart of all cases draws.
#[derive(Clone)]
pub struct Chosen<'a> {
    comparison: &'a Comparison,
    /// The cases drawn, not empty, by their positions.
    pub cases: Vec<(usize, Vec<Series<'a>>)>,
    /// What was left out, in words; empty if nothing was.
    pub remark: String,
}

/// What a title speaks of: cases by their positions, each with an algorithm.
pub type Told<'a> = Vec<(usize, &'a str)>;

impl<'a> Chosen<'a> {
    /// The first cases with their first algorithms; `None` if there are none.
    pub fn of(comparison: &'a Comparison) -> Option<Chosen<'a>> {
        Some(Chosen::every(comparison)?.first(&Vec::new()))
    }

    /// Every case that has algorithms, for a title that is true of all; `None` if there are none.
    pub fn every(comparison: &'a Comparison) -> Option<Chosen<'a>> {
        let cases = 0..comparison.cases.len();
        let cases = cases.map(|case| (case, series::of_case(comparison, case).0));
        let cases: Vec<_> = cases.filter(|(_, all)| !all.is_empty()).collect();
        (!cases.is_empty()).then(|| Chosen { comparison, cases, remark: String::new() })
    }

    /// As many as a chart of one panel a case has room for.
    pub fn first(&self, told: &Told<'_>) -> Chosen<'a> {
        self.cut(MOST_CASES, MOST_ALGORITHMS, told)
    }

    /// At most so many cases and algorithms of each: what a title tells of, and of the others the first.
    pub fn cut(&self, most_cases: usize, most_algorithms: usize, told: &Told<'_>) -> Chosen<'a> {
        let is_told = |case: &usize| told.iter().any(|(one, _)| one == case);
        let names = |one: &Series<'a>| told.iter().any(|(_, name)| *name == one.row.algorithm);
        let mut cases = keep(self.cases.clone(), most_cases, |(case, _)| is_told(case));
        for (_, all) in &mut cases {
            *all = keep(std::mem::take(all), most_algorithms, names);
        }
        let mut cut = Chosen { comparison: self.comparison, cases, remark: String::new() };
        cut.remark = cut.left_out();
        cut
    }

    /// At most so many cases, each with at most so many algorithms, the same in all cases that have them: those that a
    /// title tells of, and of the others some from all over their list.
    pub fn spread(&self, most_cases: usize, most_algorithms: usize, told: &Told<'_>) -> Chosen<'a> {
        let is_told = |case: &usize| told.iter().any(|(one, _)| one == case);
        let cases = keep(self.cases.clone(), most_cases, |(case, _)| is_told(case));
        let mut cut = Chosen { comparison: self.comparison, cases, remark: String::new() };
        let (mut chosen, others): (Vec<&str>, Vec<&str>) = cut
            .algorithms()
            .into_iter()
            .partition(|name| told.iter().any(|(_, told)| told == name));
        chosen.truncate(most_algorithms);
        let room = (most_algorithms - chosen.len()).min(others.len());
        chosen.extend((0..room).map(|n| others[(2 * n + 1) * others.len() / (2 * room)]));
        for (case, all) in &mut cut.cases {
            let is_told = |one: &Series<'a>| told.contains(&(*case, one.row.algorithm.as_str()));
            let (some, others): (Vec<_>, Vec<_>) = std::mem::take(all)
                .into_iter()
                .partition(|one| is_told(one) || chosen.contains(&one.row.algorithm.as_str()));
            // A case that has none of them is drawn with its first.
            *all = match some.is_empty() {
                true => others.into_iter().take(1).collect(),
                false => keep(some, most_algorithms, is_told),
            };
        }
        cut.remark = cut.left_out();
        cut
    }

    /// The names of the algorithms that are drawn.
    pub fn algorithms(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for (_, all) in &self.cases {
            for one in all {
                if !names.contains(&one.row.algorithm.as_str()) {
                    names.push(&one.row.algorithm);
                }
            }
        }
        names
    }

    /// What is not drawn, by name, and of how many replicas the first is.
    fn left_out(&self) -> String {
        let Comparison { cases, rows, .. } = self.comparison;
        let (mut missing, mut algorithms) = (Vec::new(), Vec::new());
        for row in rows {
            let drawn = self.cases.iter().find(|(case, _)| *case == row.case);
            let (list, name) = match drawn {
                None => (&mut missing, format!("\"{}\"", cases[row.case].name)),
                Some((_, all)) if all.iter().any(|one| std::ptr::eq(one.row, row)) => continue,
                Some(_) => (&mut algorithms, row.algorithm.clone()),
            };
            if !list.contains(&name) {
                list.push(name);
            }
        }
        let told = [("case", missing), ("algorithm", algorithms)];
        let told: Vec<String> =
            told.iter().filter_map(|(what, names)| by_name(what, names)).collect();
        let only = (!told.is_empty()).then(|| format!("only in the tables: {}", told.join(", ")));
        let remarks = series::remark(self.comparison, 0).into_iter().chain(only);
        remarks.collect::<Vec<_>>().join("; ")
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

    /// The same; "every algorithm" of a case where what is said of it holds of all that it has.
    pub fn whose(
        &self,
        case: usize,
        one: &Series<'_>,
        holds: impl Fn(&Series<'_>) -> bool,
    ) -> String {
        let name = self.comparison.cases[case].name.as_str();
        let mut of_case = self.all().filter(|(other, _)| *other == case).map(|(_, other)| other);
        let several = of_case.clone().count() > 1;
        match (several && of_case.all(holds), self.cases.len(), name) {
            (false, ..) => self.who(case, one),
            (true, 1, _) | (true, _, "") => "every algorithm".to_owned(),
            (true, ..) => format!("every algorithm ({name})"),
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

/// At most so many of a list, in its order: those that are told of, and of the others the first.
pub fn keep<T>(all: Vec<T>, most: usize, is_told: impl Fn(&T) -> bool) -> Vec<T> {
    let told = all.iter().filter(|one| is_told(one)).count();
    let mut room = most.saturating_sub(told);
    let stays = |one: &T| {
        let stays = is_told(one) || room > 0;
        room -= usize::from(stays && !is_told(one));
        stays
    };
    all.into_iter().filter(stays).take(most).collect()
}

/// `case "a"`, `algorithms a, b, c and 5 more`; `None` where there are none.
fn by_name(what: &str, names: &[String]) -> Option<String> {
    let plural = if names.len() == 1 { "" } else { "s" };
    let first = names.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {} more", text::count(more as u64)),
    };
    (!names.is_empty()).then(|| format!("{what}{plural} {first}{more}"))
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
    use crate::report::samples;

    #[test]
    fn what_a_title_tells_of_is_drawn_and_what_is_not_is_named() {
        let mut cases = samples::cases();
        let rows = cases.rows.clone();
        let info = cases.cases[0].clone();
        cases.cases = (0..6)
            .map(|n| crate::metrics::CaseInfo { name: format!("case {n}"), ..info.clone() })
            .collect();
        cases.rows = (0..6)
            .flat_map(|case| rows[..3].iter().map(move |row| (case, row)))
            .map(|(case, row)| crate::metrics::Row { case, ..row.clone() })
            .collect();
        let every = Chosen::every(&cases).unwrap();
        let last = every.cases[5].1[2].row.algorithm.as_str();
        let drawn = |told: &Told<'_>| {
            let cut = every.cut(2, 1, told);
            let drawn = cut.cases.iter().map(|(case, all)| (*case, all[0].row.algorithm.as_str()));
            (format!("{:?}", drawn.collect::<Vec<_>>()), cut.remark)
        };
        insta::assert_debug_snapshot!([drawn(&vec![]), drawn(&vec![(5, last)])]);
        assert_eq!(every.remark, "");
        let spread = every.spread(6, 2, &vec![(5, last)]);
        let first = every.cases[0].1[0].row.algorithm.as_str();
        assert_eq!(spread.algorithms(), [every.cases[0].1[1].row.algorithm.as_str(), last]);
        assert_eq!(spread.remark, format!("only in the tables: algorithm {first}"));
        // With room for one, each case that the title tells of has its own.
        let spread = every.spread(6, 1, &vec![(0, first), (5, last)]);
        let drawn: Vec<&str> = spread.all().map(|(_, one)| one.row.algorithm.as_str()).collect();
        assert_eq!(drawn, [first, first, first, first, first, last]);
        assert_eq!(every.cut(6, 3, &vec![]).remark, "");
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
}
