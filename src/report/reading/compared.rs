//! What to take from decisions that are compared with those of an algorithm that the scenario names.

use super::{name, subject, worst_by};
use crate::metrics::{Comparison, Reference, Row, find};
use crate::report::format::small_share;

/// "sliding-window-counter decided 6.28% of all attempts otherwise than sliding-window-log, each with a past of its
/// own": of the kinds of algorithms that a scenario compares with one that it names, those with pasts of their own.
pub fn own_past(comparison: &Comparison) -> Option<String> {
    let kinds: Vec<usize> =
        comparison.rows.iter().filter(|row| named(row)).map(|row| row.kind).collect();
    told(comparison, |row, reference| kinds.contains(&row.kind) && !reference.same_past)
}

/// "counter decided 0.243% of all attempts otherwise than log, both with the same past".
pub fn same_past(comparison: &Comparison) -> Option<String> {
    told(comparison, |row, reference| named(row) && reference.same_past)
}

/// Whether the scenario names with what an algorithm is compared.
fn named(row: &Row) -> bool {
    row.reference.as_ref().is_some_and(|reference| reference.named)
}

/// The rows of this kind that differ most from what they are compared with.
fn told(comparison: &Comparison, of: impl Fn(&Row, &Reference) -> bool) -> Option<String> {
    let wrong_share = find("wrong_share")?.value;
    let rows = comparison.rows.iter().filter_map(|row| {
        let reference = row.reference.as_ref().filter(|reference| of(row, reference))?;
        Some((row, (wrong_share(&row.tally)?.as_f64(), reference)))
    });
    let ((share, reference), rows) = worst_by(rows, |(share, _)| *share)?;
    let past = match reference.same_past {
        true => "both with the same past",
        false => "each with a past of its own",
    };
    Some(format!(
        "{} decided {} of all attempts otherwise than {}, {past}",
        subject(comparison, &rows),
        small_share(share),
        name(&reference.name)
    ))
}

/// With what the decisions of all algorithms are compared, and whether they have the same past, where a scenario
/// names it: "decided otherwise: counter than log (same past), others than sliding-window-log (own past)".
pub fn remark(comparison: &Comparison) -> Option<String> {
    if !comparison.names_a_reference() {
        return None;
    }
    let mut told: Vec<(&Reference, Vec<String>)> = Vec::new();
    for row in &comparison.rows {
        let Some(reference) = &row.reference else { continue };
        let algorithm = name(&row.algorithm);
        match told.iter_mut().find(|(known, _)| *known == reference) {
            Some((_, algorithms)) if algorithms.contains(&algorithm) => {}
            Some((_, algorithms)) => algorithms.push(algorithm),
            None => told.push((reference, vec![algorithm])),
        }
    }
    told.sort_by_key(|(reference, _)| !reference.named);
    let parts = told.iter().map(|(reference, algorithms)| {
        let past = if reference.same_past { "same past" } else { "own past" };
        let who = match reference.named {
            true => super::listed(algorithms),
            false => "others".to_owned(),
        };
        format!("{who} than {} ({past})", name(&reference.name))
    });
    Some(format!("decided otherwise: {}", parts.collect::<Vec<_>>().join("; ")))
}

#[cfg(test)]
mod tests {
    use super::super::readings;
    use super::*;
    use crate::judge::Wrong;
    use crate::report::samples::{boundary, compared};
    use crate::report::table::table;

    #[test]
    fn what_is_compared_is_told_with_the_past_it_has() {
        insta::assert_snapshot!([130, 80].map(|most| table(&compared(), most, false)).join("\n"));
        assert_eq!(remark(&boundary()), None);
    }

    #[test]
    fn an_algorithm_that_always_agrees_is_told_too() {
        let mut compared = compared();
        compared.rows.iter_mut().for_each(|row| row.tally.wrong = Some(Wrong::default()));
        let told = readings(&compared);
        let agrees = "decided 0% of all attempts otherwise than";
        assert_eq!(told.iter().filter(|sentence| sentence.contains(agrees)).count(), 2);
    }
}
