//! What clients do after an answer, worked by hand. A round trip takes 10 ms throughout; bins are of 10 ms in
//! runs of 6 s.

use super::*;

/// A run of 6 s with these settings of clients and one limit for the one client.
fn clients(limit: &str, clients: &str, rest: &str) -> String {
    format!("duration = \"6s\"\nlimit = \"{limit}\"\n[clients]\nrtt = \"10ms\"\n{clients}\n{rest}")
}

/// One slot for `slots` attempts at a time, each of which takes so long.
fn backend(slots: u32, service_time: &str) -> String {
    format!("[backend]\nslots = {slots}\nservice-time = \"{service_time}\"\n")
}

const HALF_A_SECOND: &str = "retries = \"fixed\"\ndelay = \"500ms\"";

#[test]
fn a_rejected_attempt_comes_back_a_round_trip_and_a_delay_later() {
    // The second of two is refused at 0, learns it at 10 ms and waits for 500 ms, twice; the window ends
    // at 1 s.
    let story = story("fixed-window", &clients("1/s", HALF_A_SECOND, &burst("0s", 2)));
    let expected = "0s 0.1 yes, 0s 1.1 no, 510ms 1.2 no, 1020ms 1.3 yes";
    assert_eq!((story.attempts().as_str(), story.slowest().as_str()), (expected, "1030ms"));
    assert_eq!((story.ends(), story.fates()), ([2, 0, 0], [2, 2, 0, 0]));
    // The first attempt of a request is no retry, and the answers come a round trip later.
    let bin = |index: usize| story.tally.timeline.bins[index];
    assert_eq!([0, 51, 102].map(|index| bin(index).retries), [0, 1, 1]);
    assert_eq!([0, 1, 103].map(|index| bin(index).succeeded), [0, 1, 1]);
    // From the first retry at 510 ms on, two in 5.49 s.
    let herd = story.closed().load.herd().unwrap();
    assert_eq!((herd.peak, herd.attempts, herd.seconds), (2, 2, 6));
}

#[test]
fn the_last_attempt_that_is_allowed_gives_up_when_it_learns() {
    let settings = format!("{HALF_A_SECOND}\nattempts = 2");
    let story = story("fixed-window", &clients("0/s", &settings, &burst("0s", 1)));
    assert_eq!(story.attempts(), "0s 0.1 no, 510ms 0.2 no");
    assert_eq!((story.ends(), story.gave_up_at()), ([0, 1, 0], vec!["520ms".to_owned()]));
}

#[test]
fn those_who_do_not_retry_give_up_when_they_learn() {
    let story = story("fixed-window", &clients("0/s", "patience = \"1s\"", &burst("0s", 1)));
    assert_eq!((story.ends(), story.gave_up_at()), ([0, 1, 0], vec!["10ms".to_owned()]));
}

#[test]
fn who_would_come_again_with_no_patience_left_leaves_when_it_ends() {
    // The third learns at 1.03 s that it was refused, and would come at 1.53 s.
    for (patience, left) in [("1530ms", "1530ms"), ("1.5s", "1500ms"), ("1040ms", "1040ms")] {
        let settings = format!("{HALF_A_SECOND}\npatience = \"{patience}\"");
        let story = story("fixed-window", &clients("0/s", &settings, &burst("0s", 1)));
        assert_eq!(story.attempts(), "0s 0.1 no, 510ms 0.2 no, 1020ms 0.3 no", "{patience}");
        let left = Span::parse(left).unwrap().to_string();
        assert_eq!((story.ends(), story.gave_up_at()), ([0, 1, 0], vec![left]), "{patience}");
    }
    // Patience that ends before the answer is there: it leaves without.
    let settings = format!("{HALF_A_SECOND}\npatience = \"1025ms\"");
    let story = story("fixed-window", &clients("0/s", &settings, &burst("0s", 1)));
    assert_eq!(story.attempts(), "0s 0.1 no, 510ms 0.2 no, 1020ms 0.3 no");
    assert_eq!((story.ends(), story.gave_up_at()), ([0, 1, 0], vec!["1020ms".to_owned()]));
    assert_eq!(story.closed().abandoned, 0, "it was not let through");
}

#[test]
fn who_leaves_at_the_end_of_the_run_or_later_is_unfinished() {
    for (patience, ends) in [("5990ms", [0, 1, 0]), ("6s", [0, 0, 1])] {
        let settings = format!("retries = \"fixed\"\ndelay = \"1m\"\npatience = \"{patience}\"");
        let story = story("fixed-window", &clients("0/s", &settings, &burst("0s", 1)));
        assert_eq!(story.ends(), ends);
        assert_eq!(story.closed().retrying, 0, "it waits for nothing but its end");
    }
}

#[test]
fn an_answer_after_the_end_of_the_run_leaves_the_request_unfinished() {
    // Let through at 5.989 s, 5.99 s and 5.995 s: the second answer would come at the end.
    for (at, ends) in [("5989ms", [1, 0, 0]), ("5990ms", [0, 0, 1]), ("5995ms", [0, 0, 1])] {
        // With a cap on requests in flight, answers are dealt with one by one.
        for settings in [HALF_A_SECOND, "in-flight = 5"] {
            let story = story("fixed-window", &clients("1/s", settings, &burst(at, 1)));
            assert_eq!((story.ends(), story.fates()), (ends, [1, 0, 0, 0]), "{at} {settings}");
            assert_eq!(story.closed().retrying, 0);
        }
    }
    // The same where it was refused; and a retry that would come after the end.
    let two = clients("1/s", HALF_A_SECOND, &(burst("5990ms", 2) + &burst("5500ms", 1)));
    let story = story("fixed-window", &two);
    assert_eq!(story.attempts(), "5.5s 0.1 yes, 5990ms 1.1 no, 5990ms 2.1 no");
    assert_eq!((story.ends(), story.closed().retrying), ([1, 0, 2], 0));
}

#[test]
fn those_who_wait_to_try_again_and_those_who_do_are_told_apart_from_those_who_wait_for_a_first_answer()
 {
    // At 5.995 s: one waits for its second attempt, one was just refused for the second time, one for
    // the first time.
    let settings = "retries = \"fixed\"\ndelay = \"3s\"";
    let traffic = burst("5s", 1) + &burst("2985ms", 1) + &burst("5995ms", 1);
    let story = story("fixed-window", &clients("0/s", settings, &traffic));
    assert_eq!(story.attempts(), "2985ms 0.1 no, 5s 1.1 no, 5995ms 0.2 no, 5995ms 2.1 no");
    assert_eq!((story.ends(), story.closed().retrying), ([0, 0, 3], 2));
}

#[test]
fn an_attempt_that_takes_too_long_in_service_fails_and_the_backend_works_on() {
    // Let through at 0 and in service until 1 s; the client tries again at 400 ms and waits for the slot
    // until it gives up.
    let settings = "timeout = \"300ms\"\nretries = \"fixed\"\ndelay = \"100ms\"\nattempts = 2";
    let scenario = |rest| clients("9/s", settings, &(backend(1, "1s") + rest + &burst("0s", 1)));
    let served = story("fixed-window", &scenario(""));
    assert_eq!(served.attempts(), "0s 0.1 yes, 400ms 0.2 yes");
    assert_eq!((served.ends(), served.gave_up_at()), ([0, 1, 0], vec!["700ms".to_owned()]));
    assert_eq!((served.closed().abandoned, served.closed().turned_away), (2, 0));
    let seconds = |story: &Story| (story.closed().worked, story.closed().wasted);
    assert_eq!(seconds(&served), (2_000_000_000, 2_000_000_000));
    // A backend that looks drops the second when its turn comes at 1 s.
    let skipped = story("fixed-window", &scenario("abandoned = \"skip\"\n"));
    assert_eq!(skipped.closed().abandoned, 2);
    assert_eq!(seconds(&skipped), (1_000_000_000, 1_000_000_000));
}

#[test]
fn an_attempt_that_takes_too_long_in_the_limiters_queue_has_failed_and_is_never_let_through() {
    // It would leave the queue at 1 s. Its place is taken until then: the one at 500 ms finds the queue
    // full, the one at 1 s does not, and waits for 1 s.
    let settings = "timeout = \"400ms\"";
    let traffic = burst("0s", 1) + &burst("500ms", 1) + &burst("1s", 1);
    let story = story("leaky-bucket", &clients("1/s", settings, &traffic));
    assert_eq!(story.attempts(), "0s 0.1 in 1s, 500ms 1.1 no, 1s 2.1 in 1s");
    assert_eq!((story.ends(), story.fates()), ([0, 3, 0], [0, 1, 2, 0]));
    assert_eq!(story.gave_up_at(), ["400ms", "510ms", "1.4s"]);
    assert_eq!(story.tally.queue_waits.max(), None, "nobody left the queue");
}

#[test]
fn who_leaves_the_limiters_queue_after_the_end_is_pending() {
    // The second would leave at 6 s. A client that no longer waits by then has failed instead.
    let traffic = burst("4500ms", 2);
    let fates = |settings: &str| {
        let scenario = clients("2/s", settings, &traffic).replace("\"6s\"", "\"5500ms\"");
        let story = story("leaky-bucket", &scenario);
        (story.fates(), story.ends())
    };
    assert_eq!(fates("timeout = \"1s\""), ([1, 0, 0, 1], [1, 0, 1]));
    assert_eq!(fates("timeout = \"900ms\""), ([1, 0, 1, 0], [1, 1, 0]));
}

#[test]
fn an_answer_at_the_very_end_of_a_timeout_counts() {
    // Out of the backend at 290 ms, at the client at 300 ms.
    let served = |timeout: &str| {
        let settings = format!("timeout = \"{timeout}\"");
        let story =
            story("gcra", &clients("9/s", &settings, &(backend(1, "290ms") + &burst("0s", 1))));
        (story.ends(), story.closed().abandoned, story.closed().wasted)
    };
    assert_eq!(served("300ms"), ([1, 0, 0], 0, 0));
    assert_eq!(served("299999999ns"), ([0, 1, 0], 1, 290_000_000));
    // Out of the limiter's queue at 1 s, at the client at 1.01 s. Who gives up when it leaves the queue, or
    // between the two, was let through; who does earlier has failed.
    let queued = |timeout: &str| {
        let settings = format!("timeout = \"{timeout}\"");
        let story = story("leaky-bucket", &clients("1/s", &settings, &burst("0s", 1)));
        (story.ends(), story.fates(), story.closed().abandoned)
    };
    assert_eq!(queued("1010ms"), ([1, 0, 0], [1, 0, 0, 0], 0));
    assert_eq!(queued("1009999999ns"), ([0, 1, 0], [1, 0, 0, 0], 1));
    assert_eq!(queued("1s"), ([0, 1, 0], [1, 0, 0, 0], 1));
    assert_eq!(queued("999999999ns"), ([0, 1, 0], [0, 0, 1, 0], 0));
    // The same for patience.
    let patient = |patience: &str| {
        let settings = format!("patience = \"{patience}\"");
        story("leaky-bucket", &clients("1/s", &settings, &burst("0s", 1))).ends()
    };
    assert_eq!((patient("1010ms"), patient("1009999999ns")), ([1, 0, 0], [0, 1, 0]));
}

#[test]
fn patience_that_ends_in_service_ends_the_request_though_retries_are_left() {
    // The timeout is longer than what is left of patience.
    let settings = format!("{HALF_A_SECOND}\ntimeout = \"800ms\"\npatience = \"500ms\"");
    let story = story("gcra", &clients("9/s", &settings, &(backend(1, "1s") + &burst("0s", 1))));
    assert_eq!(story.attempts(), "0s 0.1 yes");
    assert_eq!((story.ends(), story.gave_up_at()), ([0, 1, 0], vec!["500ms".to_owned()]));
    assert_eq!(story.closed().abandoned, 1);
}

#[test]
fn one_request_in_flight_makes_the_others_wait_and_their_time_counts_from_when_they_were_meant() {
    // Ten slots are free, but each of three requests meant at 0 is sent when the last is answered.
    let scenario = |cap: &str| {
        let rest = backend(10, "1s") + &burst("0s", 3);
        story("gcra", &clients("9/s", cap, &rest))
    };
    let one = scenario("in-flight = 1");
    assert_eq!(one.attempts(), "0s 0.1 yes, 1010ms 1.1 yes, 2020ms 2.1 yes");
    let times = &one.closed().time_to_success;
    let told = [1, 50, 100].map(|percent| times.percentile(percent));
    let expected = [1010, 2020, 3030].map(|ms| Some(Span::from_nanos(ms * 1_000_000)));
    assert_eq!(told, expected, "the least, the middle and the longest");
    let two = scenario("in-flight = 2");
    assert_eq!(two.attempts(), "0s 0.1 yes, 0s 1.1 yes, 1010ms 2.1 yes");
    assert_eq!((two.slowest(), one.tally.books.requests), ("2020ms".to_owned(), 3));
}

#[test]
fn a_request_holds_its_place_in_flight_while_it_pauses_and_until_its_client_leaves() {
    // Refused at 0, the first would come again at 3.01 s: too late, it leaves at 2 s. Only then is the
    // second sent, which was meant at 1 s and leaves at 3 s.
    let settings = "in-flight = 1\nretries = \"fixed\"\ndelay = \"3s\"\npatience = \"2s\"";
    let traffic = burst("0s", 1) + &burst("1s", 1);
    let story = story("gcra", &clients("0/s", settings, &traffic));
    assert_eq!(story.attempts(), "0s 0.1 no, 2s 1.1 no");
    assert_eq!(story.gave_up_at(), ["2s", "3s"]);
}

#[test]
fn patience_runs_while_a_request_waits_for_its_turn() {
    // Served from 0 to 500 ms, the first is answered at 510 ms. The second is in service when its patience
    // ends at 1 s; the third, meant at 0 as well, is never sent. Of those meant at 100 ms, one is sent
    // at 1 s and waits for the slot until 1.01 s, then leaves at 1.1 s; so does the other, unsent.
    let settings = "in-flight = 1\npatience = \"1s\"";
    let traffic = backend(1, "500ms") + &burst("0s", 3) + &burst("100ms", 2);
    let story = story("gcra", &clients("99/s", settings, &traffic));
    assert_eq!(story.attempts(), "0s 0.1 yes, 510ms 1.1 yes, 1s 3.1 yes");
    assert_eq!(story.gave_up_at(), ["1s", "1s", "1.1s", "1.1s"]);
    assert_eq!((story.ends(), story.closed().abandoned), ([1, 4, 0], 2));
}

#[test]
fn a_line_that_the_end_of_the_run_cuts_off_is_unfinished() {
    // The first is in service for longer than the run; the others were meant while it was.
    let traffic = backend(1, "1m") + &burst("0s", 3);
    let story = story("gcra", &clients("9/s", "in-flight = 1", &traffic));
    assert_eq!((story.ends(), story.fates()), ([0, 0, 3], [1, 0, 0, 0]));
    assert_eq!(story.closed().retrying, 0);
}

#[test]
fn each_client_has_a_line_of_its_own() {
    let traffic = backend(9, "1s")
        + "[[traffic]]\nkind = \"burst\"\nrequests = 2\nclient = \"one\"\n"
        + "[[traffic]]\nkind = \"burst\"\nrequests = 2\nclient = \"two\"\n";
    let story = story("gcra", &clients("9/s", "in-flight = 1", &traffic));
    assert_eq!(story.attempts(), "0s 0.1 yes, 0s 2.1 yes, 1010ms 1.1 yes, 1010ms 3.1 yes");
}

#[test]
fn retries_come_before_requests_made_for_the_first_time_at_that_instant() {
    // Refused at 0, the second of two comes again at 1 s, when the new window has room for one; so does a
    // third for the first time.
    let settings = "retries = \"fixed\"\ndelay = \"990ms\"\nattempts = 2";
    let story =
        story("fixed-window", &clients("1/s", settings, &(burst("0s", 2) + &burst("1s", 1))));
    let expected = "0s 0.1 yes, 0s 1.1 no, 1s 1.2 yes, 1s 2.1 no, 2s 2.2 yes";
    assert_eq!(story.attempts(), expected);
}

#[test]
fn retries_of_one_instant_come_in_the_order_in_which_their_clients_learned() {
    // The first is in service when its client's time is up at 300 ms, as the second learns that it was
    // turned away. The first has waited longer, whatever else is asked of the clients.
    let settings = "timeout = \"300ms\"\nretries = \"fixed\"\ndelay = \"1s\"\nattempts = 2";
    let traffic = backend(1, "1s") + "queue = 0\n" + &burst("0s", 1) + &burst("290ms", 1);
    for budget in ["", "budget = { kind = \"in-flight\", most = 9 }"] {
        let settings = format!("{settings}\n{budget}");
        let story = story("gcra", &clients("9/s", &settings, &traffic));
        let expected = "0s 0.1 yes, 290ms 1.1 yes, 1.3s 0.2 yes, 1.3s 1.2 yes";
        assert_eq!(story.attempts(), expected, "{budget}");
    }
}

#[test]
fn a_budget_of_tokens_runs_dry_and_is_filled_by_successes() {
    // Ten tokens, one a failure, retries above five. Refused at 0 ... 4 s in a new window each: 9 and 8, 7 and
    // 6, then 5, 4 and 3 without a retry. A success each at 5.1 s and 5.2 s makes five; 5.3 s makes six,
    // so that the failure after it leaves five, and one more success is not enough for the next.
    let settings = "retries = \"fixed\"\ndelay = \"100ms\"\nattempts = 2\n\
                    budget = { kind = \"tokens\", capacity = 10, per-failure = 1, refund = 1, threshold = 5 }";
    let refused: String = ["1s", "2s", "3s", "4s"].map(|at| burst(at, 1)).concat();
    let story = story("gcra", &clients("0/s", settings, &(burst("0s", 1) + &refused)));
    let expected =
        "0s 0.1 no, 110ms 0.2 no, 1s 1.1 no, 1110ms 1.2 no, 2s 2.1 no, 3s 3.1 no, 4s 4.1 no";
    assert_eq!(story.attempts(), expected);
    // With two a second: of five at 0, three fail and leave 9 (of the two successes at most 10 is
    // kept) to 7; each is retried at 110 ms and fails: 6, 5 and 4. Of four at 1 s two succeed and two
    // fail, in this order: 5 and 6, then 5 and 4 without a retry. Of three at 2 s two succeed: 5 and
    // 6, the failure makes 5. At 3 s: 6 and 7, then 6, which is retried and fails: 5.
    let traffic = burst("0s", 5) + &burst("1s", 4) + &burst("2s", 3) + &burst("3s", 3);
    let story = self::story("fixed-window", &clients("2/s", settings, &traffic));
    let retried: Vec<_> = story.seen.iter().filter(|seen| seen.2 == 2).map(|seen| seen.1).collect();
    assert_eq!(retried, [2, 3, 4, 14]);
    assert_eq!(story.ends(), [8, 7, 0]);
}

#[test]
fn a_budget_of_a_fifth_grants_a_retry_for_every_five_requests() {
    // One request each half second, refused: the fifth and the tenth are retried.
    let settings = "retries = \"fixed\"\ndelay = \"100ms\"\nattempts = 2\n\
                    budget = { kind = \"share\", share = \"20%\", window = \"10s\", floor = \"0/s\" }";
    let traffic = "[[traffic]]\nkind = \"steady\"\nrate = \"2/s\"\n";
    let story = story("gcra", &clients("0/s", settings, traffic));
    let retried: Vec<_> = story
        .seen
        .iter()
        .filter(|seen| seen.2 == 2)
        .map(|seen| (seen.0.to_string(), seen.1))
        .collect();
    assert_eq!(retried, [("2110ms".to_owned(), 4), ("4610ms".to_owned(), 9)]);
}

#[test]
fn a_budget_of_one_retry_at_a_time_is_taken_from_the_grant_to_the_answer() {
    // Of three refused at 0 the first gets it, until it learns at 1.02 s that it was refused again. One that
    // learns at 1.019 s that it was refused gets none, one at 1.02 s does: it learned later.
    let settings = "retries = \"fixed\"\ndelay = \"1s\"\nattempts = 2\n\
                    budget = { kind = \"in-flight\", most = 1, scope = \"all\" }";
    let client = |name: &str, at: &str| burst(at, 1) + &format!("client = \"{name}\"\n");
    let traffic = burst("0s", 3) + &client("early", "1009ms") + &client("late", "1010ms");
    let story = story("gcra", &clients("0/s", settings, &traffic));
    let retried: Vec<_> = story.seen.iter().filter(|seen| seen.2 == 2).map(|seen| seen.1).collect();
    assert_eq!(retried, [0, 4]);
    // A budget for each client.
    let each = settings.replace(", scope = \"all\"", "");
    let story = self::story("gcra", &clients("0/s", &each, &traffic));
    let retried: Vec<_> = story.seen.iter().filter(|seen| seen.2 == 2).map(|seen| seen.1).collect();
    assert_eq!(retried, [0, 3, 4]);
}

#[test]
fn a_loop_without_a_cap_ends_with_the_run_and_is_stopped_at_the_first_attempt_too_many() {
    // Each 10 ms from 0 to 5.99 s.
    let scenario = clients("0/s", "retries = \"immediate\"", &burst("0s", 1));
    let story = story("gcra", &scenario);
    assert_eq!((story.ends(), story.fates()), ([0, 0, 1], [0, 600, 0, 0]));
    assert_eq!(story.closed().retrying, 1);
    let most = |attempts: u32| {
        run_until(u64::MAX, "gcra", &format!("max-attempts = {attempts}\n{scenario}"), None).0
    };
    assert!(most(600).is_ok());
    // The 600th, at 5.99 s, is one too many.
    let at = Instant(0) + Span::parse("5990ms").unwrap();
    assert_eq!(most(599).err(), Some(Stopped::TooManyAttempts { at }));
    assert_eq!(most(1).err(), Some(Stopped::TooManyAttempts { at: Instant(10_000_000) }));
}

#[test]
fn progress_tells_all_attempts_and_never_goes_back() {
    // 20 in a loop of 10 ms: 12,000 attempts; 40 are 24,000, of which 16,384 are told on the way.
    for (requests, reports) in [(20, 1), (40, 2)] {
        let scenario = clients("0/s", "retries = \"immediate\"", &burst("0s", requests));
        let (tally, _, witness) = run_whole("gcra", &scenario);
        assert_eq!(witness.progressed, tally.books.attempts);
        assert_eq!(witness.progressed, u64::from(requests) * 600);
        assert_eq!(witness.reached.len(), reports);
        assert!(witness.reached.is_sorted());
        assert_eq!(witness.reached.last(), Some(&Span::from_secs(6)));
    }
    let scenario = clients("0/s", "retries = \"immediate\"", &burst("0s", 40));
    let (stopped, witness) = run_until(1, "gcra", &scenario, None);
    assert_eq!((stopped, witness.progressed), (Err(Stopped::ByObserver), STRIDE));
}

#[test]
fn a_run_in_which_only_nodes_and_store_do_anything_can_be_stopped() {
    let scenario = |every: &str| {
        let nodes = "[nodes]\ncount = 2\nplacement = \"synced\"\nsync-every =";
        format!("duration = \"20s\"\nlimit = \"5/1s\"\n{nodes} \"{every}\"\n{}", burst("0s", 1))
    };
    let (stopped, witness) = run_until(1, "gcra", &scenario("1ms"), None);
    assert_eq!((stopped, witness.progressed), (Err(Stopped::ByObserver), 1));
    // 20 rounds of each node and as many calls of one are over before anybody is asked.
    let (finished, witness) = run_until(1, "gcra", &scenario("1s"), None);
    assert_eq!((finished.is_ok(), witness.progressed), (true, 1));
}
