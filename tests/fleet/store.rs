//! What a store keeps, loses and has no room for.

use super::{burst, fates, metric, refused, tally};

/// A bucket that starts empty begins to fill when a key is first seen, even if that attempt is refused.
#[test]
fn a_bucket_that_starts_empty_fills_wherever_its_state_lies() {
    let of = |fleet: &str| {
        let text = format!(
            "duration = \"60s\"\nlimit = \"60/60s\"\n[[traffic]]\nkind = \"steady\"\nrate = \"1/2s\"\n{fleet}"
        );
        fates(&tally(&text, "kind = \"token-bucket\"\ninitial = 0\n"))
    };
    for fleet in [
        "",
        "[store]\n",
        "[store]\natomicity = \"check-then-increment\"\n",
        "[store]\natomicity = \"read-modify-write\"\n",
        "[store]\nround-trip = \"100ms\"\natomicity = \"read-modify-write\"\n",
        "[nodes]\ncount = 1\nplacement = \"synced\"\nsync-every = \"700ms\"\n",
    ] {
        assert_eq!(of(fleet), (29, 1), "{fleet}");
    }
}

/// Two limits in one script: the expiry of one key may be lost and that of the other not.
#[test]
fn each_key_has_a_chance_of_its_own_to_lose_its_expiry() {
    let stuck = |seed: u32| {
        let text = format!(
            "duration = \"60s\"\nseed = {seed}\nlimit = [\"5/1s\", \"9/2s\"]\n[[traffic]]\nkind = \
             \"burst\"\nrequests = 1000\nclients = 1000\n[store]\nexpiry = {{ kind = \"lost\", probability = \
             \"50%\" }}\n"
        );
        metric(&tally(&text, "gcra"), "stuck_keys_end")
    };
    let stuck: Vec<f64> = (1..=8).map(stuck).collect();
    // Of 2,000; were both lost together, each number would be even. Three standard deviations are 67.
    assert!(stuck.iter().all(|stuck| (900.0..1100.0).contains(stuck)), "{stuck:?}");
    assert!(stuck.iter().any(|stuck| stuck % 2.0 == 1.0), "{stuck:?}");
}

/// There is room for one key, and nothing goes: what writes nothing is decided all the same.
#[test]
fn a_full_store_refuses_writes_and_no_reads() {
    for atomicity in ["script", "check-then-increment", "read-modify-write"] {
        let text = format!(
            "duration = \"60s\"\nlimit = \"2/60s\"\n{}{}[store]\natomicity = \"{atomicity}\"\nmax-memory-bytes = \
             1\neviction = \"refuse\"\non-failure = \"closed\"\n",
            burst("0s", "1s", 3),
            burst("5s", "1s", 2) + "clients = 2\n",
        );
        let found = tally(&text, "fixed-window");
        // The first of all is written, and nothing after it.
        assert_eq!(fates(&found), (1, 4), "{atomicity}");
        assert_eq!(metric(&found, "store_rejections"), 4.0, "{atomicity}");
        // Under a limit that is reached, attempts are refused by that, which needs no room: all but that of the other
        // client.
        let found = tally(&text.replace("2/60s", "1/60s"), "fixed-window");
        assert_eq!(fates(&found), (1, 4), "{atomicity}");
        assert_eq!(metric(&found, "store_rejections"), 1.0, "{atomicity}");
    }
}

/// An attempt is held for two seconds whatever happens, and answers are waited for half a second.
#[test]
fn an_attempt_that_is_held_waits_for_an_answer_no_longer_than_the_timeout() {
    let of = |timeout: &str| {
        let text = format!(
            "duration = \"60s\"\nlimit = \"1/60s\"\n{}[store]\nround-trip = \"800ms\"\non-failure = \
             \"open-after\"\nopen-after = \"2s\"\n{timeout}",
            burst("0s", "10s", 10)
        );
        let found = tally(&text, "fixed-window");
        (
            found.books.accepted,
            metric(&found, "unlimited_accepts"),
            metric(&found, "store_failures"),
        )
    };
    assert_eq!(of(""), (1, 0.0, 0.0));
    assert_eq!(of("timeout = \"500ms\"\n"), (10, 10.0, 10.0));
    assert_eq!(of("timeout = \"900ms\"\n"), (1, 0.0, 0.0));
}

/// Sixty a minute are spent in the second before the store goes down; three seconds later a replica takes over.
#[test]
fn a_replica_lags_behind_what_was_written_before_the_store_went_down() {
    let of = |lag: &str, outage: &str| {
        let text = format!(
            "duration = \"60s\"\nlimit = \"60/60s\"\n{}{}[store]\non-failure = \"closed\"\n[[store.fail-over]]\nat \
             = \"30s\"\nlag = \"{lag}\"\n{outage}",
            burst("26s", "1s", 60),
            burst("40s", "1s", 60),
        );
        fates(&tally(&text, "fixed-window")).0
    };
    let down = "[[store.outage]]\nat = \"27s\"\nfor = \"3s\"\n";
    assert_eq!(of("500ms", down), 90, "half of the 60 were written in the last half second");
    assert_eq!(of("500ms", ""), 60, "nothing was");
    assert_eq!(of("3500ms", ""), 90);
    // Where one node still writes, nothing has gone before.
    assert_eq!(of("500ms", &format!("{down}nodes = [1]\n[nodes]\ncount = 2\n")), 60);
}

/// Ten in ten seconds, on two nodes that compare every six seconds: what one is told late has passed when it did.
#[test]
fn what_is_told_late_counts_when_it_was_made() {
    let text = format!(
        "duration = \"20s\"\nlimit = \"10/10s\"\n{}{}{}[nodes]\ncount = 2\nplacement = \"synced\"\nsync-every = \
         \"6s\"\n",
        burst("0s", "0s", 16),
        burst("4500ms", "0s", 2),
        burst("11s", "0s", 2),
    );
    for algorithm in ["fixed-window", "sliding-window-log"] {
        let found = tally(&text, algorithm);
        // Eight on each node at 0 s and one at 4.5 s; at 11 s these eighteen lie in a window before, or have left.
        assert_eq!(fates(&found).0, 20, "{algorithm}");
        assert_eq!(metric(&found, "needless_rejections"), 0.0, "{algorithm}");
    }
}

/// Ten in ten seconds, ten a second; the only clock is set back by 20 s half a second into a window that is full.
#[test]
fn what_an_older_reading_was_let_through_for_counts_in_the_window_that_let_it() {
    let of = |fleet: &str, algorithm: &str| {
        let text = format!(
            "duration = \"60s\"\nlimit = \"10/10s\"\n[[traffic]]\nkind = \"steady\"\nrate = \"10/s\"\n[nodes]\ncount = \
             1\nstep = [{{ at = \"30500ms\", by = \"-20s\" }}]\n{fleet}"
        );
        fates(&tally(&text, algorithm)).0
    };
    let store =
        |more: &str| format!("[store]\nexpiry = {{ kind = \"right\", margin = \"60s\" }}\n{more}");
    for algorithm in ["fixed-window", "sliding-window-log", "sliding-window-counter"] {
        let alone = of("placement = \"local\"\n", algorithm);
        assert!(alone <= 40, "{algorithm} {alone}");
        for fleet in [
            store(""),
            store("atomicity = \"check-then-increment\"\n"),
            store("atomicity = \"read-modify-write\"\n"),
            "placement = \"synced\"\nsync-every = \"1s\"\n".to_owned() + &store(""),
            "placement = \"synced\"\nsync-every = \"100ms\"\n".to_owned() + &store(""),
        ] {
            assert_eq!(of(&fleet, algorithm), alone, "{algorithm} {fleet}");
        }
    }
}

/// Four in two seconds, five a second by the store's clock; at 91 s that is set back by 20 s.
#[test]
fn a_key_lives_as_long_as_the_clock_of_its_shard_says() {
    let of = |expiry: &str, step: &str| {
        let text = format!(
            "duration = \"150s\"\nlimit = \"4/2s\"\n[[traffic]]\nkind = \"steady\"\nrate = \"5/s\"\n[store]\ntime = \
             \"store\"\nexpiry = \"{expiry}\"\n[[store.step]]\nat = \"91s\"\nby = \"{step}\"\n"
        );
        let found = tally(&text, "fixed-window");
        (found.books.accepted, metric(&found, "longest_lockout_s"))
    };
    // Four of each ten, in 75 windows; the window of 90 s is full for 20 s longer.
    assert_eq!(of("right", "0s").0, 300);
    let (accepted, lockout) = of("right", "-20s");
    assert!((256..=264).contains(&accepted) && lockout > 20.0, "{accepted} {lockout}");
    assert_eq!(of("none", "-20s"), (accepted, lockout));
}

/// Two shards; the one that has the key is down for ten of sixty seconds, or the other.
#[test]
fn an_outage_of_a_shard_is_one_for_the_keys_that_it_has() {
    let of = |shard: u32| {
        let text = format!(
            "duration = \"60s\"\nlimit = \"1000/60s\"\n[[traffic]]\nkind = \"steady\"\nrate = \"10/s\"\n[store]\nshards = \
             2\nkey-name = \"<limit>:<key>{{foo}}\"\n[[store.outage]]\nat = \"10s\"\nfor = \"10s\"\nshards = [{shard}]\n"
        );
        metric(&tally(&text, "gcra"), "store_failures")
    };
    // The hash slot of foo is 12182, in the second half of 16384.
    assert_eq!((of(1), of(2)), (0.0, 100.0));
}

/// A limit of each client and one of all, in a script: `foo` and `everything` are in different slots.
#[test]
fn a_script_whose_keys_lie_in_different_slots_is_refused_where_there_are_several_shards() {
    let of = |store: &str| {
        format!(
            "duration = \"1s\"\nlimit = [\"5/1s\", {{ requests = 9, per = \"1s\", key = \"everything\" }}]\n{}[store]\n{store}",
            burst("0s", "0s", 9)
        )
    };
    let shown = refused(&of("shards = 2\n"));
    for part in
        ["CROSSSLOT", "different hash slots", "t.toml:11:10", "what all keys of an attempt share"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    for store in [
        "shards = 1\n",
        "shards = 2\nkey-name = \"<limit>:<key>{all}\"\n",
        "shards = 2\natomicity = \"check-then-increment\"\n",
    ] {
        assert_eq!(tally(&of(store), "fixed-window").books.attempts, 9, "{store}");
    }
}

/// After a read that is answered too late the breaker opens, and what was decided is not written behind it.
#[test]
fn an_open_breaker_keeps_back_writes_as_well() {
    let text = format!(
        "duration = \"60s\"\nlimit = \"1000/60s\"\n{}[store]\natomicity = \"check-then-increment\"\nround-trip = {{ kind = \
         \"uniform\", min = \"10ms\", max = \"100ms\" }}\ntimeout = \"60ms\"\nbreaker = {{ failures = 1, open-for = \"30s\" \
         }}\n",
        burst("0s", "0s", 100)
    );
    let found = tally(&text, "fixed-window");
    // All hundred read at once, and none writes after the first that failed, at 60 ms: fewer than 50 were answered in
    // 50 ms, and each of these writes.
    let calls = metric(&found, "store_calls");
    assert!((101.0..180.0).contains(&calls), "{calls}");
    assert_eq!(metric(&found, "breaker_trips"), 1.0);
    assert_eq!(found.books.accepted, 100, "fail open");
}

/// A node asks about every key that it keeps, however little happens.
#[test]
fn a_copy_is_compared_in_every_round_until_it_is_swept() {
    let of = |sweep: &str| {
        let text = format!(
            "duration = \"60s\"\nlimit = \"10/60s\"\n{}[nodes]\ncount = 1\nplacement = \"synced\"\nsync-every = \
             \"1s\"\n{sweep}",
            burst("500ms", "0s", 3)
        );
        metric(&tally(&text, "fixed-window"), "store_calls")
    };
    // At 1 s, 2 s ... 59 s.
    assert_eq!(of(""), 59.0);
    // Swept at 20 s, before it is compared.
    assert_eq!(of("[nodes.sweep]\nevery = \"10s\"\nidle = \"15s\"\n"), 19.0);
}
