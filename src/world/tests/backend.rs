//! What clients wait for, worked by hand: the backend with its queue and its brown-outs. A round trip takes
//! 10 ms throughout; bins are of 10 ms in runs of 6 s.

use super::*;

/// A run of 6 s whose limit nobody meets, with these settings of the backend and of the clients.
fn served(backend: &str, clients: &str, rest: &str) -> Story {
    limited("gcra", "99/s", backend, clients, rest)
}

fn limited(algorithm: &str, limit: &str, backend: &str, clients: &str, rest: &str) -> Story {
    let scenario = format!(
        "duration = \"6s\"\nlimit = \"{limit}\"\n[clients]\nrtt = \"10ms\"\n{clients}\n[backend]\n{backend}\n{rest}"
    );
    story(algorithm, &scenario)
}

const ONE: &str = "slots = 1\nservice-time = \"1s\"";
const TWO: &str = "slots = 2\nservice-time = \"1s\"";

fn brown_out(at: &str, lasts: &str, what: &str) -> String {
    format!("[[backend.brown-out]]\nat = \"{at}\"\nfor = \"{lasts}\"\n{what}\n")
}

/// Seconds that were worked, of them for nothing, and on rejections; in milliseconds.
fn work(story: &Story) -> [u128; 3] {
    let closed = story.closed();
    [closed.worked, closed.wasted, closed.rejecting].map(|nanos| nanos / 1_000_000)
}

#[test]
fn an_answer_comes_a_round_trip_after_the_work_is_done() {
    // Three in one slot: done at 1, 2 and 3 s.
    let story = served(ONE, "", &burst("0s", 3));
    assert_eq!((story.ends(), story.slowest().as_str()), ([3, 0, 0], "3010ms"));
    assert_eq!(work(&story), [3000, 0, 0]);
}

#[test]
fn who_finds_the_queue_full_is_turned_away_and_learns_it_at_once() {
    // One in service, one queued; the third learns at 10 ms, comes again at 1.01 s, when the queue is empty
    // again, and is served from 2 s to 3 s.
    let settings = "retries = \"fixed\"\ndelay = \"1s\"";
    let story = served(&format!("{ONE}\nqueue = 1"), settings, &burst("0s", 3));
    assert_eq!(story.attempts(), "0s 0.1 yes, 0s 1.1 yes, 0s 2.1 yes, 1010ms 2.2 yes");
    assert_eq!((story.ends(), story.slowest().as_str()), ([3, 0, 0], "3010ms"));
    assert_eq!((story.closed().turned_away, story.closed().abandoned), (1, 0));
    assert_eq!(story.tally.books.rejected, 0, "it was let through");
    // Without retries it is given up.
    let story = served(&format!("{ONE}\nqueue = 1"), "", &burst("0s", 3));
    assert_eq!((story.ends(), story.gave_up_at()), ([2, 1, 0], vec!["10ms".to_owned()]));
}

#[test]
fn who_is_turned_away_as_patience_ends_leaves_without_the_answer() {
    // The second is in the line until 1.01 s, finds the slot taken by another client, and would learn at
    // 1.02 s.
    let clients = "in-flight = 1\npatience = \"1015ms\"";
    let traffic = burst("0s", 2) + &burst("1005ms", 1) + "client = \"other\"\n";
    let story = served(&format!("{ONE}\nqueue = 0"), clients, &traffic);
    assert_eq!(story.attempts(), "0s 0.1 yes, 1005ms 2.1 yes, 1010ms 1.1 yes");
    assert_eq!((story.closed().turned_away, story.closed().abandoned), (1, 0));
    assert_eq!((story.ends(), story.gave_up_at()), ([2, 1, 0], vec!["1010ms".to_owned()]));
}

#[test]
fn a_slot_that_becomes_free_at_an_instant_is_taken_at_that_instant() {
    // The one in service is done at 1 s, when another is made for the first time; there is no queue.
    let story = served(&format!("{ONE}\nqueue = 0"), "", &(burst("0s", 1) + &burst("1s", 1)));
    assert_eq!((story.ends(), story.closed().turned_away), ([2, 0, 0], 0));
    // The same for one that leaves the limiter's queue then: at 1 s and 2 s, served for 1 s each.
    let story = limited("leaky-bucket", "2/2s", &format!("{ONE}\nqueue = 0"), "", &burst("0s", 2));
    assert_eq!(story.attempts(), "0s 0.1 in 1s, 0s 1.1 in 2s");
    assert_eq!((story.ends(), story.closed().turned_away), ([2, 0, 0], 0));
    assert_eq!(story.slowest(), "3010ms");
}

#[test]
fn who_leaves_the_limiters_queue_and_is_turned_away_learns_it_a_round_trip_later() {
    // They leave at 500 ms and 1 s; the first is served from 500 ms to 1.5 s.
    let story = limited("leaky-bucket", "2/s", &format!("{ONE}\nqueue = 0"), "", &burst("0s", 2));
    assert_eq!((story.ends(), story.closed().turned_away), ([1, 1, 0], 1));
    assert_eq!(
        (story.slowest().as_str(), story.gave_up_at()),
        ("1510ms", vec!["1010ms".to_owned()])
    );
}

#[test]
fn a_brown_out_of_slots_lets_those_in_service_end_and_lets_none_begin() {
    // From 500 ms to 2.5 s no slot works: two are done at 1 s, one waits from 600 ms to 2.5 s.
    let traffic = burst("0s", 2) + &burst("600ms", 1) + &brown_out("500ms", "2s", "slots = 0");
    let story = served(TWO, "", &traffic);
    assert_eq!((story.ends(), story.slowest().as_str()), ([3, 0, 0], "2910ms"));
    // With one of two slots: 1 s to 2 s and 2 s to 3 s, in one slot though a second is free from 2.5 s on.
    let traffic = burst("0s", 2) + &burst("600ms", 2) + &brown_out("500ms", "2s", "slots = 1");
    let story = served(TWO, "", &traffic);
    assert_eq!((story.ends(), story.slowest().as_str()), ([4, 0, 0], "2410ms"));
}

#[test]
fn a_brown_out_that_slows_down_slows_what_begins_in_it_to_its_end() {
    // In service since 0: done at 1 s. Begun at 1 s: three times as long, to 4 s, though the brown-out is
    // over at 2 s. Begun at 4 s: done at 5 s.
    let traffic = burst("0s", 3) + &brown_out("500ms", "1500ms", "slow-down = 3");
    let story = served(ONE, "", &traffic);
    assert_eq!((story.ends(), story.slowest().as_str()), ([3, 0, 0], "5010ms"));
    assert_eq!(work(&story), [5000, 0, 0]);
}

#[test]
fn what_a_crash_loses_is_never_answered_and_was_for_nothing() {
    // At 500 ms two are in service and one queued. The clients notice at 3 s, come again at 3.2 s, and are
    // served for 1 s, two at a time.
    let crash = brown_out("500ms", "100ms", "loses = true");
    let traffic = burst("0s", 3) + &crash;
    let settings = "timeout = \"3s\"\nretries = \"fixed\"\ndelay = \"200ms\"\nattempts = 2";
    let story = served(TWO, settings, &traffic);
    let expected = "0s 0.1 yes, 0s 1.1 yes, 0s 2.1 yes, 3.2s 0.2 yes, 3.2s 1.2 yes, 3.2s 2.2 yes";
    assert_eq!(story.attempts(), expected);
    // Twice 500 ms were lost; the last is served from 4.2 s to 5.2 s.
    assert_eq!((work(&story), story.slowest().as_str()), ([4000, 1000, 0], "5210ms"));
    assert_eq!((story.ends(), story.closed().abandoned), ([3, 0, 0], 3));
    // A client without a timeout waits for ever.
    let story = served(TWO, "", &traffic);
    assert_eq!(
        (story.ends(), story.closed().abandoned, work(&story)),
        ([0, 0, 3], 0, [1000, 1000, 0])
    );
}

#[test]
fn work_that_is_done_as_a_brown_out_begins_was_done_before_it() {
    // The one in service is done at 1 s, as the crash begins; the one queued has begun, and is lost.
    let crash = brown_out("1s", "100ms", "loses = true");
    let story = served(ONE, "", &(burst("0s", 2) + &crash));
    assert_eq!((story.ends(), work(&story)), ([1, 0, 1], [1000, 0, 0]));
    // One that is made at that instant comes after it.
    let story = served(ONE, "", &(burst("1s", 1) + &crash));
    assert_eq!(story.ends(), [1, 0, 0]);
    // One that begins as slots go: it took its slot when the other was done.
    let fewer = brown_out("1s", "4s", "slots = 0");
    let story = served(ONE, "", &(burst("0s", 3) + &fewer));
    assert_eq!((story.ends(), story.slowest().as_str()), ([2, 0, 1], "2010ms"));
    // One that leaves the limiter's queue at that instant comes after it, too: it waits until 2 s.
    let fewer = brown_out("1s", "1s", "slots = 0");
    let story = limited("leaky-bucket", "1/s", ONE, "", &(burst("0s", 1) + &fewer));
    assert_eq!(story.slowest(), "3010ms");
}

#[test]
fn a_brown_out_at_the_start_meets_the_first_requests() {
    let story = served(ONE, "", &(burst("0s", 1) + &brown_out("0s", "1s", "slots = 0")));
    assert_eq!(story.slowest(), "2010ms");
}

#[test]
fn a_rejection_that_costs_something_takes_a_slot_and_a_place_in_the_queue() {
    // One of four is let through and served until 1 s. The rejections of the next two are told at 1.5 s
    // and 2 s; the last finds the queue full and learns at once.
    let backend = format!("{ONE}\nqueue = 2\nreject-cost = \"500ms\"");
    let story = limited("fixed-window", "1/m", &backend, "", &burst("0s", 4));
    assert_eq!((story.ends(), story.fates()), ([1, 3, 0], [1, 3, 0, 0]));
    assert_eq!(story.gave_up_at(), ["10ms", "1510ms", "2010ms"]);
    assert_eq!((work(&story), story.closed().turned_away), ([1000, 0, 1000], 0));
}

#[test]
fn a_rejection_that_comes_too_late_is_no_answer() {
    // Told at 1.5 s, the client has given up on the attempt at 1.2 s and has no header to obey; nothing
    // that was let through was abandoned, and nothing that was worked on for a success was wasted.
    let backend = format!("{ONE}\nreject-cost = \"500ms\"");
    let settings = "timeout = \"1200ms\"\nretries = \"fixed\"\ndelay = \"100ms\"\nretry-after = \"obey\"\n\
                    attempts = 2";
    let story = limited("fixed-window", "1/m", &backend, settings, &burst("0s", 2));
    assert_eq!(story.attempts(), "0s 0.1 yes, 0s 1.1 no, 1.3s 1.2 no");
    // The second is told from 1.5 s to 2 s, and its client learns in time.
    assert_eq!((story.ends(), story.gave_up_at()), ([1, 1, 0], vec!["2010ms".to_owned()]));
    assert_eq!((story.closed().abandoned, work(&story)), (0, [1000, 0, 1000]));
    assert_eq!(story.closed().broken_promises, 0);
}

#[test]
fn a_rejection_that_nobody_waits_for_is_not_told_where_that_is_noticed() {
    // Its turn would come at 1 s.
    let backend = format!("{ONE}\nreject-cost = \"500ms\"\nabandoned = \"skip\"");
    let story = limited("fixed-window", "1/m", &backend, "timeout = \"900ms\"", &burst("0s", 2));
    // The one let through is answered at 1.01 s, too late as well.
    assert_eq!((story.ends(), work(&story)), ([0, 2, 0], [1000, 1000, 0]));
    assert_eq!(story.gave_up_at(), ["900ms"; 2]);
}
