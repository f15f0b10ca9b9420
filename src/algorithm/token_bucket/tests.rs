//! The bucket, worked by hand.

use super::super::trial::{MS, NEVER, SEC, Trial, wait};

const DAY: i64 = 86_400 * SEC;

#[test]
fn ten_pass_at_once_the_eleventh_waits_half_a_second_six_pass_after_three() {
    let mut trial = Trial::new("token-bucket", "2/s", Some(10), "");
    assert_eq!(trial.flood(0, 10), 10);
    assert_eq!(trial.ask(0), wait(500 * MS));
    assert_eq!(trial.flood(3 * SEC, 20), 6);
    assert_eq!(trial.flood(23 * SEC, 40), 10);
}

#[test]
fn what_others_have_let_through_is_owed_and_paid_back() {
    let mut trial = Trial::new("token-bucket", "2/s", Some(4), "");
    assert_eq!(trial.flood(0, 9), 4);
    // Six more by decisions made elsewhere: 6 below empty, so that one fits after 3.5 s.
    trial.owe(0, 6);
    assert_eq!(trial.ask(0), wait(3_500 * MS));
    assert_eq!(trial.ask(3_500 * MS), Ok(0));
    // A charge of a denied attempt stops at empty.
    let mut trial = Trial::new("token-bucket", "2/s", Some(4), "count-rejected = true");
    assert_eq!(trial.flood(0, 9), 4);
    assert_eq!(trial.ask(500 * MS), Ok(0));
}

#[test]
fn a_burst_is_what_passes_at_once() {
    assert_eq!(Trial::new("token-bucket", "10/s", Some(5), "").flood(0, 10), 5);
    assert_eq!(Trial::new("token-bucket", "10/s", Some(6), "").flood(0, 10), 6);
    assert_eq!(Trial::new("token-bucket", "1/10s", Some(1), "").flood(0, 6), 1);
}

#[test]
fn a_bucket_is_full_after_idling_of_any_length() {
    let mut trial = Trial::new("token-bucket", "300000/h", None, "");
    for now in [0, 12 * 3600 * SEC, 12 * 3600 * SEC + 365 * DAY] {
        assert_eq!(trial.ask_for(now, 300_000), Ok(0));
        assert_eq!(trial.ask_for(now, 300_001), NEVER);
    }
}

#[test]
fn ten_in_thirteen_seconds_are_one_in_1300_ms() {
    let mut trial = Trial::new("token-bucket", "10/13s", None, "");
    assert_eq!(trial.flood(0, 11), 10);
    assert_eq!(trial.ask(1_300 * MS - 1), wait(1));
    assert_eq!(trial.ask(1_300 * MS), Ok(0));
}

#[test]
fn a_fraction_of_a_token_is_never_lost_however_often_one_asks() {
    let mut trial = Trial::new("token-bucket", "10/30s", None, "");
    for (now, left) in (0..).map(|n| n * SEC).zip([9, 8, 7, 7, 6, 5, 5, 4, 3, 3, 2]) {
        trial.ask(now).unwrap();
        assert_eq!(trial.left(now), left, "{now}");
    }
    let mut trial = Trial::new("token-bucket", "1/s", None, "");
    assert_eq!(trial.passing((0..6).map(|n| n * 500 * MS)), [0, SEC, 2 * SEC]);
}

#[test]
fn an_older_reading_earns_nothing_unless_it_is_stored() {
    let left = |backwards: &str| {
        let options = format!("backwards = \"{backwards}\"");
        let mut trial = Trial::new("token-bucket", "1/s", Some(10), &options);
        assert_eq!(trial.flood(10 * SEC, 11), 10);
        assert!(trial.ask(5 * SEC).is_err());
        trial.left(10 * SEC)
    };
    assert_eq!(left("freeze"), 0);
    assert_eq!(left("rewind-on-admit"), 0);
    assert_eq!(left("rewind"), 5);
    assert_eq!(left("naive"), 0);
}

#[test]
fn an_admitted_older_reading_is_stored_where_admissions_are() {
    let left = |backwards: &str| {
        let options = format!("backwards = \"{backwards}\"");
        let mut trial = Trial::new("token-bucket", "1/s", Some(10), &options);
        assert_eq!(trial.flood(10 * SEC, 9), 9);
        (trial.ask(8 * SEC).is_ok(), trial.left(10 * SEC))
    };
    assert_eq!(left("freeze"), (true, 0));
    assert_eq!(left("rewind-on-admit"), (true, 2));
    // Two seconds back cost the one token that was left.
    assert_eq!(left("naive"), (false, 1));
}

#[test]
fn a_limit_of_none_passes_its_own_burst_once() {
    for burst in [1, 100] {
        let mut trial = Trial::new("token-bucket", "0/s", Some(burst), "");
        assert_eq!(trial.flood(0, 1_000), burst as usize);
        assert_eq!(trial.ask(365 * DAY), NEVER);
        assert_eq!(trial.neutral_from(), None);
    }
    assert_eq!(Trial::new("token-bucket", "0/s", None, "").ask(0), NEVER);
}

#[test]
fn a_window_may_pass_the_burst_and_what_comes_in_it() {
    let tenths = |to| (0..to).map(|n| n * 100 * MS);
    let run = |to| Trial::new("token-bucket", "60/m", None, "").passing(tenths(to)).len();
    // [0 s, 60 s) and [0 s, 60 s].
    assert_eq!((run(600), run(601)), (119, 120));
    let hundredths = |to| (0..to).map(|n| n * 10 * MS);
    let run = |to| Trial::new("token-bucket", "1200/m", None, "").passing(hundredths(to)).len();
    // Two minutes: 1200 and 2400, half above the rate.
    assert_eq!((run(12_000), run(12_001)), (3_599, 3_600));
    let run =
        |to| Trial::new("token-bucket", "120/60s", Some(10), "").passing(hundredths(to)).len();
    assert_eq!((run(6_000), run(6_001)), (129, 130));
}

#[test]
fn asking_twice_a_minute_against_ten_in_ten() {
    let asks = || (0..240).map(|n| n * 30 * SEC);
    let run =
        |options: &str| Trial::new("token-bucket", "10/10m", None, options).passing(asks()).len();
    // 10 and one a minute in 119.5 minutes; counted, the half token of each denial is wiped.
    assert_eq!((run(""), run("count-rejected = true")), (129, 19));
}

#[test]
fn an_interval_bucket_gains_all_at_once_on_the_grid_of_its_first_request() {
    let options = "refill = \"interval\"";
    let mut trial = Trial::new("token-bucket", "3/10s", Some(5), options);
    // Grid at 7, 17, 27, ... s.
    assert_eq!(trial.flood(7 * SEC, 6), 5);
    assert_eq!(trial.ask(16 * SEC), wait(SEC));
    assert_eq!(trial.flood(17 * SEC, 6), 3);
    assert_eq!(trial.ask_for(18 * SEC, 4), wait(19 * SEC));
    assert_eq!(trial.flood(38 * SEC, 6), 5);
    assert_eq!(trial.neutral_from(), None);
}

#[test]
fn a_bucket_that_starts_empty_fills_from_its_first_request_on() {
    let mut trial = Trial::new("token-bucket", "1/s", Some(5), "initial = 0");
    assert_eq!(trial.ask(100 * SEC), wait(SEC));
    assert_eq!(trial.ask(101 * SEC), Ok(0));
    assert_eq!(trial.neutral_from(), None);
}

#[test]
#[should_panic(expected = "6 tokens do not fit into a bucket of 5")]
fn more_initial_tokens_than_the_burst_are_a_mistake() {
    Trial::new("token-bucket", "1/s", Some(5), "initial = 6");
}

#[test]
fn two_numbers_are_kept_until_the_bucket_is_full() {
    let mut trial = Trial::new("token-bucket", "3/s", Some(5), "");
    trial.ask(0).unwrap();
    assert_eq!((trial.footprint(0).entries, trial.footprint(0).bytes), (2, 16));
    // A third of a second, rounded up.
    assert_eq!(trial.neutral_from(), Some(333_333_334));
}
