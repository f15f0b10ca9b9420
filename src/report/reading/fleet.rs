//! The sentences on fleets: what several nodes made of a promise, and what they did without their store.

use super::{subject, worst_by};
use crate::judge::FleetTally;
use crate::metrics::{Comparison, Row};
use crate::report::format::{count, factor};

/// "local: gcra kept a limit of 3.00x what was promised": told from a tenth above.
pub(super) fn effective_limit(comparison: &Comparison) -> Option<String> {
    let ratios = found(comparison, |fleet| {
        let ratio = fleet.accepted_cost as f64 / fleet.promised_cost as f64;
        (ratio.is_finite() && ratio >= 1.1).then_some(ratio)
    });
    let (ratio, rows) = worst_by(ratios, |ratio| *ratio)?;
    let times = factor(ratio);
    Some(format!("{} let {times} of what was promised through", subject(comparison, &rows)))
}

/// "open: gcra let 6,000 through without a decision".
pub(super) fn unlimited(comparison: &Comparison) -> Option<String> {
    let some = found(comparison, |fleet| Some(fleet.unlimited).filter(|some| *some > 0));
    let (most, rows) = worst_by(some, |most| *most)?;
    let who = subject(comparison, &rows);
    Some(format!("{who} let {} through without a decision", count(most)))
}

/// "closed: gcra rejected 6,000 only because the store gave no answer".
pub(super) fn turned_down(comparison: &Comparison) -> Option<String> {
    let some = found(comparison, |fleet| Some(fleet.turned_down).filter(|some| *some > 0));
    let (most, rows) = worst_by(some, |most| *most)?;
    let who = subject(comparison, &rows);
    Some(format!("{who} rejected {} only because the store gave no answer", count(most)))
}

/// "none: gcra left 1,800 keys in the store that never expire".
pub(super) fn stuck(comparison: &Comparison) -> Option<String> {
    let some = found(comparison, |fleet| {
        fleet.keys.map(|keys| keys.stuck_at_end).filter(|stuck| *stuck > 0)
    });
    let (most, rows) = worst_by(some, |most| *most)?;
    let who = subject(comparison, &rows);
    Some(match most {
        1 => format!("{who} left a key in the store that never expires"),
        _ => format!("{who} left {} keys in the store that never expire", count(most)),
    })
}

/// Rows with what is found in those of fleets.
fn found<T>(
    comparison: &Comparison,
    find: impl Fn(&FleetTally) -> Option<T>,
) -> impl Iterator<Item = (&Row, T)> {
    comparison.rows.iter().filter_map(move |row| Some((row, find(row.tally.fleet.as_ref()?)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fleet_samples::{expiry, outage};
    use crate::report::samples::boundary;

    type Tell = fn(&Comparison) -> Option<String>;

    #[test]
    fn what_nodes_do_without_their_store_is_told_of_the_worst() {
        // Without an outage 2 of 10 a second are let through, which is what is promised; in a minute of one, all
        // 600 or as many as nodes that let 2 of every 2.5 through, 8 a second.
        let told: Vec<Option<String>> = [effective_limit as Tell, unlimited, turned_down, stuck]
            .map(|tell| tell(&outage()))
            .to_vec();
        let expected = [
            // 240 in two minutes and 600 in one, of 360.
            Some("open: fixed-window let 2.33x of what was promised through"),
            Some("open: fixed-window let 600 through without a decision"),
            Some("closed: fixed-window rejected 600 only because the store gave no answer"),
            None,
        ];
        assert_eq!(told, expected.map(|sentence| sentence.map(str::to_owned)));
    }

    #[test]
    fn keys_that_never_expire_are_told_of_all_that_left_as_many() {
        let expected = "none: fixed-window, sliding-window-counter and gcra left 1,800 keys in the store \
                        that never expire";
        assert_eq!(stuck(&expiry()).as_deref(), Some(expected));
        let mut one = expiry();
        one.rows.truncate(1);
        one.rows[0].tally.fleet.as_mut().unwrap().keys.as_mut().unwrap().stuck_at_end = 1;
        let told = stuck(&one);
        assert_eq!(
            told.as_deref(),
            Some("none: fixed-window left a key in the store that never expires")
        );
    }

    #[test]
    fn of_other_runs_nothing_of_that_is_told() {
        for tell in [effective_limit as Tell, unlimited, turned_down, stuck] {
            assert_eq!(tell(&boundary()), None);
        }
    }
}
