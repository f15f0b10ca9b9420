//! What users of real limiters have met behind a load balancer and in shared stores, with their numbers.

use super::{burst, fates, metric, tally};

/// Five a minute; ten in the same instant all read 0.
#[test]
fn ten_at_once_that_read_before_anyone_writes_all_pass() {
    let limit = "duration = \"1m\"\nlimit = \"5/60s\"\n";
    let store = |atomicity: &str| {
        let traffic = burst("10s", "0s", 10);
        format!("{limit}{traffic}[store]\nround-trip = \"1ms\"\natomicity = \"{atomicity}\"\n")
    };
    for algorithm in
        ["fixed-window", "sliding-window-log", "sliding-window-counter", "token-bucket", "gcra"]
    {
        assert_eq!(fates(&tally(&store("script"), algorithm)), (5, 5), "{algorithm}");
        for race in ["check-then-increment", "read-modify-write"] {
            assert_eq!(fates(&tally(&store(race), algorithm)), (10, 0), "{race} {algorithm}");
        }
    }
}

/// A thousand a second, evenly, and 50 ms between read and write, under 5 a second: within the first second those
/// pass that read before the fifth write is there. The reads arrive every millisecond from 25 ms on; the first
/// five are written 50 ms after they are read, the fifth at 79 ms; reads up to 78 ms see fewer than five, 54 of
/// them from 25 ms on: 5 + 49 pass, and lambda d = 50 more than the limit less the last that read at 79 ms.
#[test]
fn between_read_and_write_as_many_pass_as_arrive() {
    let text = "duration = \"1s\"\nlimit = \"5/s\"\n[[traffic]]\nkind = \"steady\"\nrate = \"1000/s\"\n\
                [store]\nround-trip = \"50ms\"\natomicity = \"check-then-increment\"\n";
    let (accepted, _) = fates(&tally(text, "fixed-window"));
    assert!((54..=55).contains(&accepted), "{accepted}");
    let script = text.replace("check-then-increment", "script");
    assert_eq!(fates(&tally(&script, "fixed-window")).0, 5);
}

/// More passes beside the limit than the rate times the time between read and write, whatever both are; where
/// a write replaces what others wrote, the limit times as many.
#[test]
fn a_race_lets_more_pass_in_proportion_to_rate_and_delay() {
    for (rate, millis) in [(200_u64, 10_u64), (200, 50), (1000, 10), (1000, 50), (2000, 20)] {
        let over = |atomicity: &str| {
            let text = format!(
                "duration = \"100s\"\nlimit = \"40/100s\"\n[[traffic]]\nkind = \"steady\"\nrate = \"{rate}/s\"\n\
                 [store]\nround-trip = \"{millis}ms\"\natomicity = \"{atomicity}\"\n"
            );
            fates(&tally(&text, "fixed-window")).0 - 40
        };
        let expected = rate * millis / 1000;
        let added = over("check-then-increment");
        assert!(added.abs_diff(expected) <= 1, "{rate}/s, {millis} ms: {added} of {expected}");
        // Each round trip one of all that are under way counts.
        let replaced = over("read-modify-write");
        let (least, most) = (40 * expected - 40, 40 * (expected + 1));
        assert!(
            (least..=most).contains(&replaced),
            "{rate}/s, {millis} ms: {replaced}, not {least}..{most}"
        );
    }
}

/// Sixty a minute on three servers in turn.
#[test]
fn three_servers_let_three_times_the_limit_through() {
    let accepted = |nodes: &str, requests: u32| {
        let traffic = burst("10s", "5s", requests);
        let text =
            format!("duration = \"1m\"\nlimit = \"60/60s\"\n{traffic}[nodes]\ncount = 3\n{nodes}");
        fates(&tally(&text, "fixed-window")).0
    };
    assert_eq!(accepted("", 300), 180);
    assert_eq!(accepted("routing = \"by-key\"\n", 300), 60);
    assert_eq!(accepted("placement = \"split\"\n", 300), 60);
    assert_eq!(accepted("placement = \"shared\"\n", 300), 60);
    // Between two comparisons, ten seconds apart, a burst of 180 passes.
    let synced = "placement = \"synced\"\nsync-every = \"10s\"\n";
    let text = format!(
        "duration = \"1m\"\nlimit = \"60/60s\"\n{}{}[nodes]\ncount = 3\n{synced}",
        burst("10001ms", "3s", 180),
        burst("30s", "5s", 300),
    );
    assert_eq!(fates(&tally(&text, "fixed-window")).0, 180, "and nothing after they have compared");
}

/// Two a second and room for four: five, then one from a clock that is ten seconds behind, then five.
#[test]
fn an_older_time_that_is_stored_is_earned_again() {
    let text = format!(
        "duration = \"1m\"\nlimit = {{ requests = 2, per = \"1s\", burst = 4 }}\n{}{}{}[store]\n[nodes]\ncount = 1\n\
         [[nodes.step]]\nat = \"30001ms\"\nby = \"-10s\"\n[[nodes.step]]\nat = \"30002ms\"\nby = \"10s\"\n",
        burst("30s", "0s", 5),
        burst("30001ms", "0s", 1),
        burst("30002ms", "0s", 5),
    );
    let of = |backwards: &str| {
        let algorithm = format!("kind = \"token-bucket\"\nbackwards = \"{backwards}\"\n");
        fates(&tally(&text, &algorithm)).0
    };
    assert_eq!((of("freeze"), of("rewind")), (4, 8));
    let on_store = text.replace("[store]", "[store]\ntime = \"store\"");
    let rewind = "kind = \"token-bucket\"\nbackwards = \"rewind\"\n";
    assert_eq!(fates(&tally(&on_store, rewind)).0, 4, "the store's clock was right");
}

const INCR: &str = "kind = \"fixed-window\"\nanchor = \"expiry\"\n";

/// Ten a minute, one a minute for a day, and the expiry of the first hit is lost.
#[test]
fn a_key_whose_expiry_was_lost_blocks_for_ever() {
    let of = |expiry: &str| {
        let text = format!(
            "duration = \"24h\"\nlimit = \"10/60s\"\n[[traffic]]\nkind = \"steady\"\nrate = \"1/60s\"\n[store]\n\
             expiry = {expiry}\n"
        );
        tally(&text, INCR)
    };
    assert_eq!(fates(&of("\"right\"")), (1440, 0));
    let lost = of("{ kind = \"lost\", probability = \"100%\" }");
    assert_eq!(fates(&lost), (10, 1430));
    assert_eq!((metric(&lost, "stuck_keys_end"), metric(&lost, "store_keys_end")), (1.0, 1.0));
    assert_eq!(fates(&of("\"none\"")), (10, 1430));
}

/// Ten a minute, and a client that asks every ten seconds.
#[test]
fn an_expiry_renewed_by_every_hit_shuts_a_polite_client_out() {
    let of = |expiry: &str| {
        let text = format!(
            "duration = \"1h\"\nlimit = \"10/60s\"\n[[traffic]]\nkind = \"steady\"\nrate = \"1/10s\"\n[store]\n\
             expiry = \"{expiry}\"\n"
        );
        fates(&tally(&text, INCR))
    };
    assert_eq!(of("right"), (360, 0));
    assert_eq!(of("renewed"), (10, 350));
}

/// One per 1.5 s, asked for every half second: an expiry in whole seconds forgets after one.
#[test]
fn an_expiry_cut_down_to_whole_seconds_forgets_what_is_owed() {
    let of = |expiry: &str| {
        let text = format!(
            "duration = \"60s\"\nlimit = \"1/1500ms\"\n[[traffic]]\nkind = \"steady\"\nrate = \"2/s\"\n[store]\n\
             expiry = {expiry}\n"
        );
        fates(&tally(&text, "gcra"))
    };
    // In 60 s, every third of 120, or every second.
    assert_eq!(of("\"right\""), (40, 80));
    assert_eq!(of("{ kind = \"whole-seconds\", round = \"down-to-one\" }"), (60, 60));
    assert_eq!(of("{ kind = \"whole-seconds\", round = \"up\" }"), (40, 80));
    // Below a second it is gone at once.
    let text = "duration = \"6s\"\nlimit = \"1/600ms\"\n[[traffic]]\nkind = \"steady\"\nrate = \"10/s\"\n[store]\n\
                expiry = { kind = \"whole-seconds\", round = \"down\" }\n";
    assert_eq!(fates(&tally(text, "gcra")), (60, 0));
}

/// Three a minute by a clock of milliseconds: six at 0, six at 1 ms.
#[test]
fn entries_of_one_name_are_one() {
    let of = |member: &str| {
        let text = format!(
            "duration = \"1m\"\nlimit = \"3/60s\"\n{}{}[store]\n",
            burst("0s", "0s", 6),
            burst("1ms", "0s", 6)
        );
        let log = format!("kind = \"sliding-window-log\"\ntick = \"1ms\"\nmember = \"{member}\"\n");
        fates(&tally(&text, &log))
    };
    assert_eq!(of("unique"), (3, 9));
    assert_eq!(of("stamp"), (12, 0));
    assert_eq!(of("stamp-and-constant"), (12, 0));
    assert_eq!(of("stamp-and-random"), (3, 9));
}

/// Ten in a minute and two in a second, in this order: what the second refuses is charged to the first all the same.
#[test]
fn what_a_refused_attempt_is_charged_is_written_without_a_script_as_well() {
    let of = |atomicity: &str, algorithm: &str| {
        let limits =
            "[[limit]]\nrequests = 10\nper = \"60s\"\n[[limit]]\nrequests = 2\nper = \"1s\"\n";
        let traffic = burst("10s", "500ms", 6) + &burst("20s", "3s", 12);
        let text = format!(
            "duration = \"1m\"\ncombine = \"sequential\"\n{limits}{traffic}[store]\natomicity = \"{atomicity}\"\n"
        );
        fates(&tally(&text, algorithm))
    };
    let counted = "kind = \"fixed-window\"\ncount-rejected = true\n";
    for algorithm in ["fixed-window", "sliding-window-log", counted] {
        let script = of("script", algorithm);
        for atomicity in ["check-then-increment", "read-modify-write"] {
            assert_eq!(of(atomicity, algorithm), script, "{atomicity} {algorithm}");
        }
    }
    assert_eq!(of("script", "fixed-window").0, 4, "2 of 6, then 2 of the 4 that are left");
}

/// However long its pushes take, a node knows what it has charged itself; and whoever asks later knows what all have.
#[test]
fn copies_forget_nothing_and_agree_in_the_end() {
    let synced = |nodes: u32, round_trip: &str, every: &str| {
        format!(
            "[nodes]\ncount = {nodes}\nplacement = \"synced\"\nsync-every = \"{every}\"\n[store]\nround-trip = \
             \"{round_trip}\"\n"
        )
    };
    for (round_trip, every) in [("0s", "100ms"), ("500ms", "100ms"), ("300ms", "1s"), ("3s", "1s")]
    {
        let limit = "duration = \"40s\"\nlimit = \"100/60s\"\n";
        let alone = format!("{limit}{}{}", burst("1s", "10s", 300), synced(1, round_trip, every));
        assert_eq!(fates(&tally(&alone, "sliding-window-log")).0, 100, "{round_trip} {every}");
        // Ten at ten nodes, which is the limit, and more when all have told one another.
        let limit = "duration = \"40s\"\nlimit = \"10/60s\"\n";
        let traffic = burst("100ms", "0s", 10) + &burst("30s", "5s", 50);
        let ten = format!("{limit}{traffic}{}", synced(10, "300ms", every));
        assert_eq!(fates(&tally(&ten, "sliding-window-log")).0, 10, "{round_trip} {every}");
    }
}
