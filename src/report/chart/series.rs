//! What the charts draw of a comparison: one run an algorithm, with its colour, and its limits in
//! words.

use super::palette::{self, Colour};
use super::text;
use crate::judge::Bin;
use crate::metrics::{Comparison, Row};
use crate::rate::Limit;

/// One algorithm of a case. Of several replicas the charts draw the first.
#[derive(Debug, Clone, Copy)]
pub struct Series<'a> {
    /// Its run.
    pub row: &'a Row,
    /// Its colour in every chart.
    pub colour: Colour,
}

/// So many algorithms of a case are drawn; the tables have them all.
pub const MOST: usize = 24;

/// The algorithms of a case, in order, and how many were left out for want of room.
pub fn of_case(comparison: &Comparison, case: usize) -> (Vec<Series<'_>>, usize) {
    let mut found: Vec<Series<'_>> = Vec::new();
    let mut left_out = 0;
    for row in comparison.rows.iter().filter(|row| row.case == case) {
        if found.len() == MOST {
            left_out += 1;
            continue;
        }
        let variant = found.iter().filter(|other| other.row.kind == row.kind).count();
        found.push(Series { row, colour: palette::of_algorithm(row.kind, variant) });
    }
    (found, left_out)
}

/// The colours of several, those of the first seven.
pub fn colours(all: &[Series<'_>]) -> Vec<Colour> {
    all.iter().take(7).map(|one| one.colour).collect()
}

/// What a reader must know of what is drawn: how many replicas there are, what was left out.
pub fn remark(comparison: &Comparison, left_out: usize) -> Option<String> {
    let replicas = comparison.replicas();
    let mut parts = Vec::new();
    if replicas > 1 {
        parts.push(format!("first of {replicas} replicas"));
    }
    parts.extend(self::left_out(left_out));
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What a reader must know of algorithms that were left out.
pub fn left_out(left_out: usize) -> Option<String> {
    let more = || text::plural(left_out as u64, "more algorithm is", "more algorithms are");
    (left_out > 0).then(|| format!("{} in the tables", more()))
}

/// The scenario with the case, as a title begins.
pub fn subject(comparison: &Comparison, case: usize) -> String {
    match comparison.cases.get(case).map(|case| case.name.as_str()) {
        None | Some("") => comparison.scenario.clone(),
        Some(name) => format!("{}, {name}", comparison.scenario),
    }
}

/// The limits of a case in words: "limit 100 per 60s for each client".
pub fn limits(comparison: &Comparison, case: usize) -> String {
    let limits = comparison.cases.get(case).map_or(&[][..], |case| &case.limits);
    match limits {
        [] => String::new(),
        [(_, words)] => format!("limit {words}"),
        several => {
            let told = several.iter().map(|(name, words)| format!("{name}: {words}"));
            format!("limits {}", told.collect::<Vec<_>>().join("; "))
        }
    }
}

/// The first limit of a case in words, which is the one that timelines follow, and that there are
/// others; with its name where it needs one.
pub fn first_limit(comparison: &Comparison, case: usize) -> (String, Option<&str>) {
    let limits = comparison.cases.get(case).map_or(&[][..], |case| &case.limits);
    match limits {
        [(name, words), others @ ..] if !others.is_empty() => {
            let told =
                if words.starts_with(name) { words.clone() } else { format!("{name}: {words}") };
            let others = match others.len() {
                1 => "another limit is not shown".to_owned(),
                several => format!("{several} other limits are not shown"),
            };
            (format!("limit {told}; {others}"), Some(name))
        }
        _ => (self::limits(comparison, case), None),
    }
}

impl Series<'_> {
    /// The promise of the first limit to the key that rose highest above its own, with that key's
    /// peak; the default promise with the highest bin where no key has a peak.
    pub fn worst(&self) -> Option<(u64, Limit)> {
        let limit = self.row.tally.limits.first()?;
        let of_key = limit.worst.and_then(|worst| Some((worst.peak?.cost, worst.promise)));
        Some(of_key.unwrap_or((self.highest(), limit.promise)))
    }

    /// The highest trailing window of any bin.
    pub fn highest(&self) -> u64 {
        self.bins().iter().map(|bin| bin.window_max).max().unwrap_or(0)
    }

    /// The bins of its run.
    pub fn bins(&self) -> &[Bin] {
        &self.row.tally.timeline.bins
    }
}
