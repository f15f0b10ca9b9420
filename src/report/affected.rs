//! Who would have been hit: of recorded traffic, the keys that a limit rejects requests of, under each
//! algorithm.

use std::cmp::Reverse;

use serde_json::{Value as Json, json};

use super::format::{count, share};
use super::grid::bold;
use super::plain::Plain;
use super::words::{printable, wrap};
use crate::judge::Subjects;
use crate::metrics::{Comparison, Row};

/// So many keys are listed.
const MOST: usize = 10;

/// What one algorithm did to the keys of its first limit.
struct Affected<'a> {
    row: &'a Row,
    keys: usize,
    affected: usize,
    requests: u64,
    of_affected: u64,
    rejected: u64,
}

impl<'a> Affected<'a> {
    fn of(row: &'a Row) -> Affected<'a> {
        let keys = subjects(row);
        let hit = || keys.iter().filter(|key| key.rejected > 0);
        Affected {
            row,
            keys: keys.len(),
            affected: hit().count(),
            requests: keys.iter().map(|key| key.attempts).sum(),
            of_affected: hit().map(|key| key.attempts).sum(),
            rejected: keys.iter().map(|key| key.rejected).sum(),
        }
    }
}

/// What the keys of the first limit met with.
fn subjects(row: &Row) -> &Subjects {
    &row.tally.limits[0].keys
}

/// How many requests of a key are rejected.
fn rejected(row: &Row, key: usize) -> u64 {
    let keys = subjects(row);
    if key < keys.len() { keys.get(key).rejected } else { 0 }
}

/// The algorithms of a case.
fn rows(comparison: &Comparison, case: usize) -> impl Iterator<Item = &Row> {
    comparison.rows.iter().filter(move |row| row.case == case)
}

/// A part of a whole in percent.
fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => share(part as f64 / whole as f64),
    }
}

/// The text below the table, case by case, for a terminal of so many columns.
pub fn text(comparison: &Comparison, most: usize, styled: bool) -> String {
    let mut lines = Vec::new();
    for (index, case) in comparison.cases.iter().enumerate() {
        if !case.name.is_empty() {
            lines.extend(wrap(&printable(&case.name), most).iter().map(|line| bold(line, styled)));
        }
        let all: Vec<Affected> = rows(comparison, index).map(Affected::of).collect();
        lines.extend(overview(&all).lines(most, styled));
        lines.push(String::new());
        let keys = worst(&all);
        match keys.is_empty() {
            true => lines.push("no request of any key would have been rejected".to_owned()),
            false => lines.extend(keys_most_affected(&all, &keys, most, styled)),
        }
        lines.push(String::new());
    }
    lines.join("\n")
}

/// How many keys each algorithm hits.
fn overview(all: &[Affected]) -> Plain {
    let heads =
        ["who would be hit", "keys", "of all", "their requests", "of all", "rejected", "of all"];
    let mut table = Plain::new(heads);
    for one in all {
        table.rows.push(vec![
            printable(&one.row.algorithm),
            count(one.affected as u64),
            percent(one.affected as u64, one.keys as u64),
            count(one.of_affected),
            percent(one.of_affected, one.requests),
            count(one.rejected),
            percent(one.rejected, one.requests),
        ]);
    }
    table
}

/// The positions of the keys of which any algorithm rejects most.
fn worst(all: &[Affected]) -> Vec<usize> {
    let keys = all.iter().map(|one| one.keys).max().unwrap_or(0);
    let most = |key: usize| all.iter().map(|one| rejected(one.row, key)).max().unwrap_or(0);
    let mut order: Vec<(u64, usize)> = (0..keys).map(|key| (most(key), key)).collect();
    order.retain(|(rejected, _)| *rejected > 0);
    order.sort_unstable_by_key(|&(rejected, key)| (Reverse(rejected), key));
    order.into_iter().take(MOST).map(|(_, key)| key).collect()
}

/// One row a key, with what each algorithm rejects of it.
fn keys_most_affected(all: &[Affected], keys: &[usize], most: usize, styled: bool) -> Vec<String> {
    let initials: Vec<String> = all.iter().map(|one| initials(&one.row.algorithm)).collect();
    let heads = ["rejected of", "requests"].into_iter().chain(initials.iter().map(String::as_str));
    let mut table = Plain::new(heads);
    for &key in keys {
        let Some(first) = all.iter().map(|one| subjects(one.row)).find(|keys| key < keys.len())
        else {
            continue;
        };
        let mut row = vec![printable(first.name(key)), count(first.get(key).attempts)];
        row.extend(all.iter().map(|one| count(rejected(one.row, key))));
        table.rows.push(row);
    }
    let mut lines = table.lines(most, styled);
    let meant = all.iter().zip(&initials).filter(|(one, short)| one.row.algorithm != **short);
    let meant: Vec<String> =
        meant.map(|(one, short)| format!("{short} {}", printable(&one.row.algorithm))).collect();
    lines.extend(wrap(&meant.join(", "), most));
    lines
}

/// `sliding-window-log` is SWL; a name of one word is itself, as far as there is room.
fn initials(name: &str) -> String {
    let words: Vec<&str> = name.split(['-', '_', ' ']).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [_, _, ..] => {
            words.iter().filter_map(|word| word.chars().next()).collect::<String>().to_uppercase()
        }
        _ => super::words::shorten(name, 8),
    }
}

/// The same for programs.
pub fn json(comparison: &Comparison) -> Json {
    let row = |row: &Row| {
        let one = Affected::of(row);
        let mut keys: Vec<_> = subjects(row).named().filter(|(_, key)| key.rejected > 0).collect();
        keys.sort_by_key(|(_, key)| Reverse(key.rejected));
        let keys = keys.iter().take(MOST).map(|(name, key)| {
            json!({
                "key": name,
                "requests": key.attempts,
                "rejected": key.rejected,
                "rejected_share": quotient(key.rejected, key.attempts),
            })
        });
        json!({
            "case": comparison.cases[row.case].name,
            "algorithm": row.algorithm,
            "keys": one.keys,
            "affected_keys": one.affected,
            "requests": one.requests,
            "affected_requests": one.of_affected,
            "affected_requests_share": quotient(one.of_affected, one.requests),
            "rejected": one.rejected,
            "most_affected": keys.collect::<Vec<_>>(),
        })
    };
    comparison.rows.iter().map(row).collect()
}

fn quotient(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{boundary, cases};
    use super::super::words::width;
    use super::*;
    use crate::judge::SubjectTally;

    /// Keys with how many requests each has, and how many of them two algorithms reject.
    fn recorded() -> Comparison {
        let mut comparison = boundary();
        comparison.rows.truncate(2);
        let keys = [
            ("192.0.2.1", 5000, [0, 0]),
            ("192.0.2.2", 1200, [700, 695]),
            ("a crawler with a long name", 30, [0, 1]),
        ];
        for (index, row) in comparison.rows.iter_mut().enumerate() {
            let template = row.tally.limits[0].keys.get(0);
            let key = |&(name, attempts, rejected): &(&'static str, u64, [u64; 2])| {
                (name, SubjectTally { attempts, rejected: rejected[index], ..template })
            };
            row.tally.limits[0].keys = keys.iter().map(key).collect();
        }
        comparison
    }

    #[test]
    fn keys_are_told_with_what_each_algorithm_rejects() {
        insta::assert_snapshot!(text(&recorded(), 80, false));
    }

    #[test]
    fn the_same_as_json() {
        insta::assert_snapshot!(format!("{:#}", json(&recorded())));
    }

    #[test]
    fn where_nobody_is_hit_it_is_said_so() {
        let mut nobody = recorded();
        for row in &mut nobody.rows {
            let keys = &mut row.tally.limits[0].keys;
            let spared = |(name, key)| (name, SubjectTally { rejected: 0, ..key });
            *keys = keys.named().map(spared).collect();
        }
        assert!(
            text(&nobody, 80, false).contains("no request of any key would have been rejected")
        );
    }

    #[test]
    fn every_case_has_a_table_and_no_line_is_too_wide() {
        let text = text(&cases(), 80, false);
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
        for case in &cases().cases {
            assert!(text.contains(&case.name), "{text}");
        }
    }

    #[test]
    fn initials_tell_algorithms_apart() {
        let names = ["sliding-window-log", "gcra", "a_b", "exceedingly"].map(initials);
        assert_eq!(names, ["SWL", "gcra", "AB", "exce…gly"]);
    }
}
