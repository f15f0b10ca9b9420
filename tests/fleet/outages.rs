//! What nodes do while the store does not answer, and what is lost with it.

use super::{burst, fates, metric, tally};

/// Ten a second for everybody, 100 a second, evenly, on four nodes in turn; no store from 60 s to 120 s.
fn minute_without(store: &str) -> String {
    format!(
        "duration = \"3m\"\nlimit = {{ requests = 10, per = \"1s\", key = \"everything\" }}\n[[traffic]]\nkind = \
         \"steady\"\nrate = \"100/s\"\n[nodes]\ncount = 4\n[store]\n{store}\n[[store.outage]]\nat = \"60s\"\nfor = \
         \"60s\"\nhow = \"refuses\"\n"
    )
}

#[test]
fn an_outage_passes_6000_or_nothing_or_2400() {
    for (policy, during, unlimited, store) in
        [("open", 6000, 6000, 0), ("closed", 0, 0, 6000), ("local", 2400, 0, 0)]
    {
        let found = tally(&minute_without(&format!("on-failure = \"{policy}\"")), "fixed-window");
        let is = |name: &str, value: u32| {
            assert_eq!(metric(&found, name), f64::from(value), "{policy} {name}")
        };
        is("accepted_in_outages", during);
        is("unlimited_accepts", unlimited);
        is("store_rejections", store);
        is("fallback_decisions", if policy == "local" { 6000 } else { 0 });
        is("store_failures", 6000);
        is("store_calls", 18_000);
        // Ten a second outside.
        assert_eq!(fates(&found).0, u64::from(during) + 1200, "{policy}");
    }
    let bucket = tally(&minute_without("on-failure = \"local\""), "token-bucket");
    assert_eq!(
        metric(&bucket, "accepted_in_outages"),
        2436.0,
        "a full bucket of 10 on each node, but for one"
    );
}

/// Half of all that is lost, or none.
#[test]
fn a_store_that_comes_back_without_its_keys_gives_one_more_burst() {
    let of = |state: &str| {
        let text = format!(
            "duration = \"1m\"\nlimit = \"100/60s\"\n{}{}[store]\non-failure = \"closed\"\n[[store.outage]]\nat = \
             \"20s\"\nfor = \"5s\"\nstate = \"{state}\"\n",
            burst("10s", "0s", 150),
            burst("30s", "0s", 150)
        );
        fates(&tally(&text, "fixed-window"))
    };
    assert_eq!(of("kept"), (100, 200));
    assert_eq!(of("lost"), (200, 100));
}

/// Calls every second on one node for a minute; from 10 s to 40 s the store is silent.
fn silent(store: &str) -> String {
    format!(
        "duration = \"1m\"\nlimit = \"100/60s\"\n[[traffic]]\nkind = \"steady\"\nrate = \"1/s\"\n[store]\nround-trip = \
         \"10ms\"\ntimeout = \"200ms\"\n{store}\n[[store.outage]]\nat = \"10s\"\nfor = \"30s\"\n"
    )
}

#[test]
fn a_silent_store_costs_the_timeout_and_a_breaker_saves_most_of_it() {
    let plain = tally(&silent("on-failure = \"open\""), "gcra");
    assert_eq!(metric(&plain, "unlimited_accepts"), 30.0);
    assert_eq!(
        (metric(&plain, "store_wait_p50_s"), metric(&plain, "store_wait_p99_s")),
        (0.01, 0.2)
    );
    // Those at 10, 11 and 12 s time out, and it opens at 12.2 s; it tries at 23 s, until 33.2 s, at 34 s, until
    // 44.2 s, and at 45 s it finds the store. 10 + 5 + 15 calls, of which 5 fail.
    let breaker = "on-failure = \"open\"\nbreaker = { failures = 3, open-for = \"10s\" }";
    let broken = tally(&silent(breaker), "gcra");
    assert_eq!((metric(&broken, "store_calls"), metric(&broken, "store_failures")), (30.0, 5.0));
    assert_eq!(metric(&broken, "breaker_trips"), 3.0);
    // From 10 s to 44 s.
    assert_eq!(metric(&broken, "unlimited_accepts"), 35.0);
    // Of 60, the store is asked about 30, of which 5 wait in vain.
    assert_eq!(metric(&broken, "short_circuited"), 30.0);
    let waits = ["store_wait_p50_s", "store_wait_p99_s"].map(|name| metric(&broken, name));
    assert_eq!(waits, [0.01, 0.2]);
}

#[test]
fn open_after_holds_an_attempt_and_no_longer() {
    let held = tally(&silent("on-failure = \"open-after\"\nopen-after = \"3s\""), "gcra");
    assert_eq!(metric(&held, "unlimited_accepts"), 30.0);
    assert_eq!(metric(&held, "store_wait_max_s"), 3.0);
    // A store that refuses is known at once to be gone, and the attempt held all the same.
    let refuses =
        silent("on-failure = \"open-after\"\nopen-after = \"3s\"") + "how = \"refuses\"\n";
    assert_eq!(metric(&tally(&refuses, "gcra"), "store_wait_max_s"), 3.0);
}

#[test]
fn a_slow_store_is_waited_for_up_to_the_timeout_and_charges_in_vain_beyond() {
    let slow = |times: u32| {
        silent("on-failure = \"closed\"") + &format!("kind = \"slow\"\ntimes = {times}\n")
    };
    let waited = tally(&slow(20), "gcra");
    assert_eq!((fates(&waited), metric(&waited, "store_wait_max_s")), ((60, 0), 0.2));
    let timed_out = tally(&slow(21), "gcra");
    assert_eq!((fates(&timed_out), metric(&timed_out, "store_rejections")), ((30, 30), 30.0));
    // 5 a minute: what nobody waited for is charged all the same, 30 attempts from 10 s on included.
    let text = slow(21).replace("100/60s", "25/60s");
    let charged = tally(&text, "fixed-window");
    assert_eq!(fates(&charged), (10, 50), "15 of 25 were charged to nobody's good");
}

#[test]
fn of_lost_answers_the_store_knows_and_of_lost_calls_it_does_not() {
    let lossy = |of: &str| {
        let text = silent("on-failure = \"closed\"").replace("100/60s", "25/60s");
        let text = text + &format!("kind = \"lossy\"\nshare = \"100%\"\nof = \"{of}\"\n");
        fates(&tally(&text, "fixed-window"))
    };
    assert_eq!(lossy("calls"), (25, 35), "10 before it and 15 after it");
    assert_eq!(lossy("answers"), (10, 50));
}

/// Sixty a minute; 50 at 10 s, 10 at 29.5 s; at 30 s a replica takes over that lags by a second.
#[test]
fn what_a_replica_has_not_heard_of_may_be_spent_again() {
    let of = |lag: &str| {
        let text = format!(
            "duration = \"1m\"\nlimit = \"60/60s\"\n{}{}{}[store]\n[[store.fail-over]]\nat = \"30s\"\nlag = \"{lag}\"\n",
            burst("10s", "0s", 50),
            burst("29500ms", "0s", 10),
            burst("40s", "0s", 100)
        );
        fates(&tally(&text, "sliding-window-log")).0
    };
    assert_eq!(of("400ms"), 60);
    assert_eq!(of("1s"), 70);
    assert_eq!(of("25s"), 120);
}

/// A hundred clients, one after another, and again; room for about ten of their keys.
#[test]
fn a_full_store_forgets_those_that_asked_longest_ago_or_refuses() {
    let of = |eviction: &str| {
        let traffic = "[[traffic]]\nkind = \"steady\"\nrate = \"2/s\"\nclients = 100\n";
        let text = format!(
            "duration = \"100s\"\nlimit = \"1/1h\"\n{traffic}[store]\nmax-memory-bytes = 500\neviction = \
             \"{eviction}\"\non-failure = \"closed\"\n"
        );
        tally(&text, "fixed-window")
    };
    let lru = of("least-recently-used");
    assert_eq!(fates(&lru), (200, 0), "whoever comes again was forgotten");
    assert!(metric(&lru, "evicted_keys") > 150.0 && metric(&lru, "store_keys_max") < 20.0);
    let refuse = of("refuse");
    let (accepted, _) = fates(&refuse);
    assert!((5..20).contains(&accepted), "{accepted}");
    assert_eq!(metric(&refuse, "evicted_keys"), 0.0);
    // Whoever was let through is refused by the limit the second time, for which the store need write nothing.
    assert_eq!(metric(&refuse, "store_rejections"), 200.0 - 2.0 * accepted as f64);
}

#[test]
fn idle_keys_are_swept_and_what_they_held_is_forgotten() {
    let of = |idle: &str| {
        let text = format!(
            "duration = \"10m\"\nlimit = \"1/5m\"\n{}{}[nodes]\ncount = 1\n[nodes.sweep]\nevery = \"1m\"\nidle = \"{idle}\"\n",
            burst("30s", "0s", 3),
            burst("250s", "0s", 3)
        );
        fates(&tally(&text, "sliding-window-log")).0
    };
    // At 2 m the key was idle for 1.5 m; at 4 m for 3.5 m.
    assert_eq!((of("90s"), of("210s"), of("4m")), (2, 2, 1));
}

/// Nine at once, and batches of three: each takes a round trip of 100 ms.
#[test]
fn a_batch_that_does_not_do_for_all_that_wait_is_followed_by_another() {
    let text = format!(
        "duration = \"1m\"\nlimit = \"10/60s\"\n{}{}[nodes]\ncount = 1\nplacement = \"leased\"\nlease-batch = 3\n\
         lease-lasts = \"10s\"\n[store]\nround-trip = \"100ms\"\n",
        burst("10s", "0s", 9),
        burst("20s", "0s", 2)
    );
    let found = tally(&text, "sliding-window-log");
    // The tenth is all that is left for the last two.
    assert_eq!((fates(&found), metric(&found, "store_calls")), ((10, 1), 4.0));
    assert_eq!(
        (metric(&found, "store_wait_p50_s"), metric(&found, "store_wait_max_s")),
        (0.2, 0.3)
    );
}
