//! Retry-After, worked by hand and over generated traffic: who obeys what is exact is never refused again.

use super::*;
use crate::algorithm::ALGORITHMS;
use proptest::prelude::*;

/// One client that obeys, whose first request spends its limit at 0.
fn obedient(limit: &str, rtt: &str, rejection: &str, clients: &str, rest: &str) -> Story {
    let scenario = format!(
        "duration = \"30s\"\nlimit = {limit}\n[rejection]\n{rejection}\n\
         [clients]\nrtt = \"{rtt}\"\nretries = \"fixed\"\ndelay = \"100ms\"\nretry-after = \"obey\"\n{clients}\n{rest}"
    );
    story("fixed-window", &scenario)
}

/// When the second request, made at `at`, is tried, and how often in vain although it obeyed.
fn tries(limit: &str, at: &str, rtt: &str, rejection: &str) -> (String, u64) {
    let story = obedient(limit, rtt, rejection, "", &(burst("0s", 1) + &burst(at, 1)));
    let second: Vec<_> = story.seen.iter().filter(|seen| seen.1 == 1).collect();
    let told: Vec<_> = second.iter().map(|seen| seen.0.to_string()).collect();
    (told.join(" "), story.closed().broken_promises)
}

#[test]
fn of_a_wait_of_1_s_900_the_second_second_is_told_and_no_try_is_wasted() {
    // Refused at 100 ms, until 2 s. Learned at 600 ms.
    let wait = |rounding| tries("\"1/2s\"", "100ms", "500ms", rounding);
    assert_eq!(wait("rounding = \"up\""), ("100ms 2.6s".to_owned(), 0));
    assert_eq!(wait("rounding = \"exact\""), ("100ms 2.5s".to_owned(), 0));
    // Cut to one second: back at 1.6 s with 400 ms left, which are cut to none; back at once.
    assert_eq!(wait("rounding = \"down\""), ("100ms 1.6s 2.1s".to_owned(), 1));
    // 1.9 s are nearest to two, and 1.4 s to one.
    assert_eq!(wait("rounding = \"nearest\""), ("100ms 2.6s".to_owned(), 0));
    let wait = tries("\"1/2s\"", "600ms", "100ms", "rounding = \"nearest\"");
    // Learned at 700 ms, back at 1.7 s with 300 ms left, nearest to none, each 100 ms.
    assert_eq!(wait, ("600ms 1.7s 1.8s 1.9s 2s".to_owned(), 3));
}

#[test]
fn of_a_wait_of_200_ms_a_second_is_told_where_rounding_down_says_at_once() {
    let wait = |rounding| tries("\"1/s\"", "800ms", "150ms", rounding);
    assert_eq!(wait("rounding = \"up\""), ("800ms 1950ms".to_owned(), 0));
    assert_eq!(wait("rounding = \"exact\""), ("800ms 1150ms".to_owned(), 0));
    // Back a round trip later, with 50 ms left, and again.
    assert_eq!(wait("rounding = \"down\""), ("800ms 950ms 1.1s".to_owned(), 1));
}

#[test]
fn the_window_that_is_told_is_that_of_the_limit_that_refused() {
    // One a second and a hundred a minute: it is the second that refused.
    let limits = "[\"1/s\", \"100/m\"]";
    let wait = tries(limits, "100ms", "100ms", "retry-after = \"window\"");
    assert_eq!(wait, ("100ms 1.2s".to_owned(), 0));
    // One each: both refused, and the longer is told.
    let wait = tries("[\"1/s\", \"1/20s\"]", "100ms", "100ms", "retry-after = \"window\"");
    assert_eq!(wait, ("100ms 20.2s".to_owned(), 0));
}

#[test]
fn a_date_is_taken_by_the_clock_of_the_client() {
    // Refused at 0 until 10 s, which is learned at 100 ms.
    let tries = |clock: &str, attempts: u32| {
        let settings = format!("attempts = {attempts}\n{clock}");
        let story = obedient("\"1/10s\"", "100ms", "form = \"date\"", &settings, &burst("0s", 2));
        let second: Vec<_> = story.seen.iter().filter(|seen| seen.1 == 1).collect();
        let told: Vec<_> = second.iter().map(|seen| seen.0.to_string()).collect();
        (told.join(" "), story.closed().broken_promises)
    };
    assert_eq!(tries("", 9), ("0s 10s".to_owned(), 0));
    // Five seconds behind: its clock shows 10 s at 15 s.
    assert_eq!(tries("clock-offset = \"-5s\"", 9), ("0s 15s".to_owned(), 0));
    // Five seconds ahead: it comes at 5 s, and from then on the date is past by its clock.
    let ahead = "clock-offset = \"5s\"";
    assert_eq!(tries(ahead, 4), ("0s 5s 5.1s 5.2s".to_owned(), 0), "it did not do as it was told");
}

#[test]
fn a_retry_with_a_delay_of_its_own_breaks_no_promise() {
    // Nothing ever passes: no wait is told, and its own delay is taken.
    let story = obedient("\"0/s\"", "100ms", "", "attempts = 3", &burst("0s", 1));
    assert_eq!(story.attempts(), "0s 0.1 no, 200ms 0.2 no, 400ms 0.3 no");
    assert_eq!((story.closed().broken_promises, story.tally.denied_for_ever), (0, 3));
}

#[test]
fn a_promise_can_be_broken_by_others() {
    // Both are told of 1 s; the first of them to come takes the place, as one a second pass.
    let story = obedient("\"1/s\"", "10ms", "rounding = \"exact\"", "", &burst("0s", 3));
    let expected =
        "0s 0.1 yes, 0s 1.1 no, 0s 2.1 no, 1010ms 1.2 yes, 1010ms 2.2 no, 2010ms 2.3 yes";
    assert_eq!(story.attempts(), expected);
    assert_eq!(story.closed().broken_promises, 1);
}

fn limit() -> impl Strategy<Value = String> {
    let per = prop::sample::select(vec!["1s", "3s", "700ms", "333333333ns", "1900ms", "1h"]);
    let counts = prop::sample::select(vec!["cost", "requests"]);
    (0..7_u32, per, prop::option::of(0..9_u32), counts).prop_map(
        |(requests, per, burst, counts)| {
            let burst = burst.map(|burst| format!("burst = {burst}\n")).unwrap_or_default();
            format!(
                "[[limit]]\nrequests = {requests}\nper = \"{per}\"\ncounts = \"{counts}\"\n{burst}"
            )
        },
    )
}

/// Traffic of one client.
fn traffic() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        (0..9_000_u32, 1..9_u32).prop_map(|(at, requests)| burst(&format!("{at}ms"), requests)),
        (1..9_u32).prop_map(|n| format!("[[traffic]]\nkind = \"steady\"\nrate = \"{n}/s\"\n")),
        (1..9_u32).prop_map(|n| format!("[[traffic]]\nkind = \"poisson\"\nrate = \"{n}/s\"\n")),
    ];
    (kind, 1..6_u32).prop_map(|(kind, most)| {
        format!("{kind}client = \"one\"\ncost = {{ kind = \"uniform\", min = 1, max = {most} }}\n")
    })
}

/// Each with a name of its own.
fn numbered(limits: &[String]) -> String {
    limits
        .iter()
        .enumerate()
        .map(|(index, limit)| format!("{limit}name = \"l{index}\"\n"))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A wait is exact as long as nobody else comes. A client with one request in flight is alone with its
    /// limits; all of them are charged or none.
    #[test]
    fn one_client_that_obeys_what_is_not_too_short_is_never_refused_again(
        limits in prop::collection::vec(limit(), 1..4),
        sources in prop::collection::vec(traffic(), 1..3),
        rounding in prop::sample::select(vec!["exact", "up"]),
        form in prop::sample::select(vec!["delay", "date"]),
        header in prop::sample::select(vec!["obey", "longer", "obey-plus-jitter"]),
        rtt in prop::sample::select(vec!["1ns", "1ms", "300ms"]),
        timeout in prop::sample::select(vec!["", "timeout = \"900ms\"", "patience = \"5s\""]),
        seed in 0..1000_u64,
    ) {
        let scenario = format!(
            "duration = \"12s\"\nseed = {seed}\n{}\
             [rejection]\nrounding = \"{rounding}\"\nform = \"{form}\"\n\
             [clients]\nrtt = \"{rtt}\"\nretries = \"fixed\"\ndelay = \"250ms\"\nattempts = 5\n\
             in-flight = 1\nretry-after = \"{header}\"\n{timeout}\n{}",
            numbered(&limits), sources.concat(),
        );
        for algorithm in ALGORITHMS {
            let story = story(algorithm.name, &scenario);
            prop_assert_eq!(story.closed().broken_promises, 0, "{}\n{}", algorithm.name, scenario);
            // Who has nothing to give up on is refused again only if it was told that no wait would help.
            let again = story.seen.iter().filter(|seen| {
                seen.2 > 1 && matches!(seen.3, Fate::Rejected(Wait::After(_)))
            });
            let again = if timeout.starts_with("timeout") { 0 } else { again.count() };
            prop_assert_eq!(again, 0, "{}\n{}", algorithm.name, scenario);
        }
    }
}
