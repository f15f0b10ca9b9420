//! The sentences on closed loops: what did not come back to normal, and what the end cut off.

use super::{name, subject, worst_by};
use crate::judge::Recovery;
use crate::metrics::{Comparison, Row};
use crate::report::format::count;
use crate::report::words::listed;

/// "naive: gcra did not recover by the end of the run; the same in skip": the first case with all algorithms
/// for which that holds, and the other cases in which it holds for any.
pub(super) fn never_recovered(comparison: &Comparison) -> Option<String> {
    let is_never = |row: &&Row| {
        let closed = row.tally.closed.as_ref();
        closed.is_some_and(|closed| closed.load.recovery() == Some(Recovery::Never))
    };
    let rows: Vec<&Row> = comparison.rows.iter().filter(is_never).collect();
    let first = rows.first()?.case;
    let (here, elsewhere): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.case == first);
    let mut sentence =
        format!("{} did not recover by the end of the run", subject(comparison, &here));
    let mut cases: Vec<String> = Vec::new();
    for row in elsewhere {
        let case = name(&comparison.cases[row.case].name);
        if cases.last() != Some(&case) {
            cases.push(case);
        }
    }
    match cases.len() {
        0 => {}
        1..=3 => sentence.push_str(&format!("; the same in {}", listed(&cases))),
        more => sentence.push_str(&format!("; the same in {more} more cases")),
    }
    Some(sentence)
}

/// "gcra had 12 requests cut off by the end of the run, 9 of them still retrying".
pub(super) fn cut_off(comparison: &Comparison) -> Option<String> {
    let unfinished = comparison.rows.iter().filter_map(|row| {
        let closed = row.tally.closed.as_ref()?;
        let unfinished = row.tally.books.unfinished;
        (unfinished > 0).then_some((row, (unfinished, closed.retrying)))
    });
    let ((unfinished, retrying), rows) = worst_by(unfinished, |found| *found)?;
    let who = subject(comparison, &rows);
    let requests = if unfinished == 1 { "request" } else { "requests" };
    let mut sentence =
        format!("{who} had {} {requests} cut off by the end of the run", count(unfinished));
    match retrying {
        0 => {}
        _ if retrying == unfinished => sentence.push_str(", still retrying"),
        _ => sentence.push_str(&format!(", {} of them still retrying", count(retrying))),
    }
    Some(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{boundary, retries};

    #[test]
    fn requests_cut_off_by_the_end_of_a_closed_loop_are_told() {
        let cut = |name: &str, unfinished, retrying| {
            let mut row = Row { algorithm: name.to_owned(), ..retries().rows.remove(0) };
            row.tally.books.unfinished = unfinished;
            row.tally.closed.as_mut().unwrap().retrying = retrying;
            row
        };
        let told = |rows| cut_off(&Comparison { rows, ..boundary() });
        assert_eq!(told(vec![cut("gcra", 0, 0)]), None);
        for (unfinished, still, expected) in [
            (12, 9, "12 requests cut off by the end of the run, 9 of them still retrying"),
            (12, 12, "12 requests cut off by the end of the run, still retrying"),
            (2_000, 0, "2,000 requests cut off by the end of the run"),
            (1, 1, "1 request cut off by the end of the run, still retrying"),
        ] {
            let expected = format!("gcra had {expected}");
            assert_eq!(
                told(vec![cut("gcra", unfinished, still), cut("none", 0, 0)]),
                Some(expected)
            );
        }
        let rows = vec![cut("a", 12, 9), cut("b", 11, 11), cut("c", 12, 9), cut("d", 12, 8)];
        let expected =
            "a and c had 12 requests cut off by the end of the run, 9 of them still retrying";
        assert_eq!(told(rows), Some(expected.to_owned()));
        // In an open loop, those still in the queue are unfinished, and the table has them as pending.
        let mut open = cut("leaky-bucket", 3, 0);
        open.tally.closed = None;
        assert_eq!(told(vec![open]), None);
    }

    #[test]
    fn what_did_not_recover_is_told_with_all_cases_in_which_that_holds() {
        let told = |states: &[(usize, &str, bool)]| {
            let all = retries();
            let row = |&(case, name, never): &(usize, &str, bool)| {
                // Under the second of the sample's cases nothing recovers, under the third all does.
                let like = &all.rows[if never { 1 } else { 2 }];
                Row { case, algorithm: name.to_owned(), ..like.clone() }
            };
            let rows = states.iter().map(row).collect();
            never_recovered(&Comparison { rows, ..all.clone() })
        };
        assert_eq!(told(&[(0, "a", false), (1, "a", false)]), None);
        let end = "did not recover by the end of the run";
        let one = told(&[(0, "a", false), (1, "a", false), (1, "b", true)]);
        assert_eq!(one, Some(format!("at once: b {end}")));
        let several = told(&[(0, "a", true), (0, "b", true), (2, "a", true), (2, "b", true)]);
        assert_eq!(
            several,
            Some(format!("no retries: a and b {end}; the same in fixed delay of a second"))
        );
    }
}
