//! Quota that nodes fetch in batches.

use super::{burst, fates, metric, tally};

fn leased(limit: &str, batch: u32, lasts: &str, rest: &str) -> String {
    format!(
        "duration = \"60s\"\nlimit = \"{limit}\"\n{rest}[nodes]\ncount = 1\nplacement = \"leased\"\nlease-batch = \
         {batch}\nlease-lasts = \"{lasts}\"\n"
    )
}

/// Ten a minute; one takes a batch of five and four come when it has ended.
#[test]
fn what_is_not_spent_in_time_is_gone() {
    let of = |lasts: &str| {
        let traffic = burst("0s", "0s", 1) + &burst("10s", "1s", 9) + &burst("20s", "1s", 9);
        let found = tally(&leased("10/60s", 5, lasts, &traffic), "fixed-window");
        (fates(&found).0, metric(&found, "store_calls"))
    };
    // Four of the first batch are gone, and five of the second are all that is left.
    assert_eq!(of("5s").0, 6);
    assert_eq!(of("60s").0, 10);
    // Of each batch what is left ends by itself: fetched at 0 s and at 10 s, four of the first are spent by then.
    assert_eq!(of("15s").0, 10);
}

/// Ten a minute. One that costs eleven never passes, whoever it waits with; one that costs seven waits for itself.
#[test]
fn who_waits_with_another_is_told_its_own_wait() {
    let of = |algorithm: &str, cost: u32| {
        let traffic = format!(
            "{}{}{}cost = {cost}\n[store]\nround-trip = \"100ms\"\n",
            burst("0s", "0s", 10),
            burst("5s", "0s", 1),
            burst("5s", "0s", 1),
        );
        let text = leased("10/60s", 1, "10s", "").replace("[nodes]", &format!("{traffic}[nodes]"));
        let text = text.replace("[store]\nround-trip = \"100ms\"\n", "")
            + "[store]\nround-trip = \"100ms\"\n";
        let found = tally(&text, algorithm);
        assert_eq!(fates(&found), (10, 2), "{algorithm} {cost}");
        (metric(&found, "denied_for_ever"), metric(&found, "retry_after_max_s"))
    };
    // 55 s until the window ends.
    assert_eq!(of("fixed-window", 11), (1.0, 55.0));
    assert_eq!(of("fixed-window", 7), (0.0, 55.0));
    // A token each six seconds: at 5 s five sixths of one are there, and seven take 37 s more; it asks for itself when
    // the other has its answer, at 5.1 s.
    assert_eq!(of("token-bucket", 7), (0.0, 36.9));
}

/// A breaker that opens while attempts wait whose clients have left by then.
#[test]
fn whoever_has_left_is_not_decided_when_the_breaker_opens() {
    for seed in 1..=8 {
        let text = format!(
            "seed = {seed}\n{}on-failure = \"open\"\nround-trip = {{ kind = \"uniform\", min = \"10ms\", max = \
             \"300ms\" }}\ntimeout = \"250ms\"\nbreaker = {{ failures = 1, open-for = \"200ms\" }}\n[clients]\nretries = \
             \"fixed\"\ndelay = \"10ms\"\nattempts = 2\ntimeout = \"300ms\"\npatience = \"400ms\"\n",
            leased(
                "20/1s",
                1,
                "100ms",
                "[[traffic]]\nkind = \"poisson\"\nrate = \"30/s\"\nclients = 2\n"
            ) + "[store]\n"
        );
        // Books are balanced by every run, or it panics.
        let found = tally(&text, "gcra");
        assert!(metric(&found, "short_circuited") > 0.0, "{seed}");
    }
}
