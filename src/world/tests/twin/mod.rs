//! A second closed loop, as plain as can be: one list of everything that lies ahead, requests that are never
//! forgotten, answers that are sent whether or not anybody waits. What it shares with the first are the
//! desk (and so the keys, the gate and the judge), the crowd and the backend, which have tests of their own.

#[path = "../../../../tests/support/loops.rs"]
mod loops;
mod plain;

use super::*;
use crate::algorithm::ALGORITHMS;
use plain::Twin;
use proptest::prelude::*;

/// What must not depend on when answers are dealt with.
fn told(tally: &Tally) -> impl PartialEq + std::fmt::Debug {
    let closed = tally.closed.as_ref().unwrap();
    let times = &closed.time_to_success;
    let times = (times.count(), [0, 50, 99, 100].map(|percent| times.percentile(percent)));
    let closed = (
        [closed.broken_promises, closed.turned_away, closed.abandoned, closed.retrying],
        [closed.worked, closed.wasted, closed.rejecting],
        closed.load.clone(),
        times,
    );
    (tally.books, tally.over_limit, tally.clients.clone(), tally.timeline.clone(), closed)
}

fn limits() -> impl Strategy<Value = String> {
    let limit = |per: &'static [&'static str]| {
        let key = prop::sample::select(vec!["client", "everything"]);
        (0..6_u32, prop::sample::select(per), key).prop_map(|(requests, per, key)| {
            format!("[[limit]]\nrequests = {requests}\nper = \"{per}\"\nkey = \"{key}\"\nname = \"{per}\"\n")
        })
    };
    let second = prop::option::weighted(0.3, limit(&["2s", "10s"]));
    (
        limit(&["100ms", "700ms", "1s"]),
        second,
        prop::sample::select(vec!["sequential", "independent", "all-or-nothing"]),
    )
        .prop_map(|(first, second, combine)| {
            format!("combine = \"{combine}\"\n{first}{}", second.unwrap_or_default())
        })
}

fn traffic() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        (0..20_u32, 1..9_u32).prop_map(|(tenth, n)| burst(&format!("{}ms", 100 * tenth), n)),
        (1..12_u32).prop_map(|n| format!("[[traffic]]\nkind = \"steady\"\nrate = \"{n}/s\"\n")),
        (1..12_u32).prop_map(|n| format!("[[traffic]]\nkind = \"poisson\"\nrate = \"{n}/s\"\n")),
    ];
    (kind, 1..4_u32).prop_map(|(kind, clients)| format!("{kind}clients = {clients}\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_loop_does_what_its_plain_twin_does(
        duration in 1000..5000_u32,
        seed in 0..1000_u64,
        limits in limits(),
        sources in prop::collection::vec(traffic(), 1..4),
        closed in loops::closed(),
    ) {
        let text = format!(
            "duration = \"{duration}ms\"\nseed = {seed}\n{limits}{}{closed}", sources.concat()
        );
        let staged = Staged::new(&text);
        for algorithm in ALGORITHMS {
            let (result, witness) = staged.run_until(u64::MAX, algorithm.name, None);
            let (limiters, queues) = staged.limiters(algorithm.name);
            let plan = staged.plan(None);
            let (tally, seen) = Twin::new(&plan, limiters, queues).run();
            prop_assert_eq!(&witness.seen, &seen, "{}\n{}", algorithm.name, text);
            let found = result.unwrap().0;
            prop_assert_eq!(told(&found), told(&tally), "{}\n{}", algorithm.name, text);
        }
    }
}
