//! The counter, worked by hand.

use super::super::trial::{MS, NEVER, SEC, Trial, wait};

#[test]
fn what_is_left_counts_the_share_of_the_previous_window() {
    let mut trial = Trial::new("sliding-window-counter", "100/10s", None, "");
    assert_eq!(trial.flood(SEC, 50), 50);
    assert_eq!(trial.flood(11 * SEC, 10), 10);
    // One tenth into the window: 50 * 0.9 + 10 = 55.
    assert_eq!(trial.left(11 * SEC), 45);
    assert_eq!(trial.flood(11 * SEC, 46), 45);
}

#[test]
fn an_estimate_of_99_lets_one_more_pass() {
    let mut trial = Trial::new("sliding-window-counter", "100/60s", None, "");
    assert_eq!(trial.flood(30 * SEC, 84), 84);
    assert_eq!(trial.passing((0..36).map(|n| 60 * SEC + n * 400 * MS)).len(), 36);
    // 84 * 45 / 60 + 36 = 63 + 36.
    assert_eq!(trial.ask(75 * SEC), Ok(0));
    // 84 (60 - e) / 60 < 64 from e = 14.2857142857.. s on, so below 63 from just after 15 s.
    assert_eq!(trial.ask(75 * SEC), wait(1));
}

#[test]
fn a_limit_of_one_passes_once_a_window_or_every_other_by_the_rounding() {
    let asks = || (0..1000).map(|n| n * 100 * MS);
    let mut floor = Trial::new("sliding-window-counter", "1/10s", None, "");
    let late = |n: i64| if n == 0 { 0 } else { n * 10 * SEC + 100 * MS };
    assert_eq!(floor.passing(asks()), (0..10).map(late).collect::<Vec<_>>());
    let mut exact = Trial::new("sliding-window-counter", "1/10s", None, "round = \"none\"");
    assert_eq!(exact.passing(asks()), (0..5).map(|n| n * 20 * SEC).collect::<Vec<_>>());
}

#[test]
fn rounding_decides_where_a_fraction_is_left() {
    // At 10.5 s the share is 9.5 of 10.
    for (options, passes) in [("", true), ("round = \"none\"", false)] {
        let mut trial = Trial::new("sliding-window-counter", "10/10s", None, options);
        assert_eq!(trial.flood(9_900 * MS, 10), 10);
        assert_eq!(trial.ask(10_500 * MS).is_ok(), passes, "{options}");
    }
}

#[test]
fn a_wait_ends_in_this_window_the_next_or_at_the_second_edge() {
    let full = |options| {
        let mut trial = Trial::new("sliding-window-counter", "10/10s", None, options);
        assert_eq!(trial.flood(0, 10), 10);
        trial
    };
    // At 10 s the share is 10; it is below 10 one nanosecond later.
    assert_eq!(full("").ask(0), wait(10 * SEC + 1));
    // 10 - c is at least 10 (10 - e) / 10 from e = c on.
    assert_eq!(full("round = \"none\"").ask_for(0, 4), wait(14 * SEC));
    assert_eq!(full("round = \"none\"").ask_for(11 * SEC, 4), wait(3 * SEC));
    // All of the limit passes only when nothing is left of the window before.
    assert_eq!(full("round = \"none\"").ask_for(0, 10), wait(20 * SEC));
    // Below 1 from just after 9 s into the next window.
    assert_eq!(full("").ask_for(0, 10), wait(19 * SEC + 1));
    assert_eq!(full("").ask_for(0, 11), NEVER);
}

#[test]
fn counted_denials_keep_out_a_client_that_asks_too_often() {
    let options = "count-rejected = true";
    let mut trial = Trial::new("sliding-window-counter", "10/10m", None, options);
    assert_eq!(trial.passing((0..240).map(|n| n * 30 * SEC)).len(), 10);
}

#[test]
fn an_older_reading_is_weighed_at_the_last_one() {
    let at_the_older = |backwards: &str| {
        let options = format!("backwards = \"{backwards}\"");
        let mut trial = Trial::new("sliding-window-counter", "10/10s", None, &options);
        trial.flood(0, 10);
        trial.ask_for(15 * SEC, 1).unwrap();
        // At 15 s the share is 5, at 11 s it is 9; before 10 s nothing is remembered.
        (trial.left(11 * SEC), trial.left(9 * SEC))
    };
    assert_eq!(at_the_older("freeze"), (4, 4));
    assert_eq!(at_the_older("rewind"), (4, 4));
    assert_eq!(at_the_older("naive"), (0, 10));
}

#[test]
fn two_counters_are_kept_until_the_second_edge() {
    let mut trial = Trial::new("sliding-window-counter", "10/10s", None, "");
    trial.ask(3 * SEC).unwrap();
    assert_eq!((trial.footprint(0).entries, trial.footprint(0).bytes), (2, 32));
    assert_eq!(trial.neutral_from(), Some(20 * SEC));
}
