//! Generated traffic under generated limits and options.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use ratesim::run::Engine;

/// A `[[traffic]]` table.
fn traffic() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        (1..300_u64, 0..20_u64, 0..20_u64).prop_map(|(n, at, over)| format!(
            "kind = \"burst\"\nat = \"{at}s\"\nrequests = {n}\nover = \"{over}s\""
        )),
        (1..40_u64).prop_map(|n| format!("kind = \"steady\"\nrate = \"{n}/s\"")),
        (1..40_u64).prop_map(|n| format!("kind = \"poisson\"\nrate = \"{n}/s\"")),
        (1..40_u64).prop_map(|n| format!("kind = \"wave\"\nrate = \"{n}/s\"\nperiod = \"7s\"")),
        (1..80_u64, 1..9_u64).prop_map(|(n, on)| format!(
            "kind = \"on-off\"\nrate = \"{n}/s\"\non = \"{on}s\"\noff = \"2s\""
        )),
    ];
    let cost = select(vec!["", "", "cost = 2", "endpoints = { a = 3, b = 1 }\ncosts = { b = 4 }"]);
    let share = select(vec!["even", "zipf"]);
    let plans = select(vec!["", "tiers = { small = 1, plain = 2 }"]);
    (kind, 1..7_u64, share, cost, plans).prop_map(|(kind, clients, share, cost, plans)| {
        format!("[[traffic]]\n{kind}\nclients = {clients}\nshare = \"{share}\"\n{cost}\n{plans}\n")
    })
}

/// A limit.
fn limit() -> impl Strategy<Value = String> {
    let requests = select(vec![0_u64, 1, 2, 3, 7, 20, 100]);
    let per = select(vec!["1ns", "50ms", "1s", "3s", "10s", "7.000000003s", "60s", "10m", "2d"]);
    let burst = select(vec![None, None, Some(0_u64), Some(1), Some(5), Some(200)]);
    let counts = select(vec!["", "counts = \"requests\"\n"]);
    (requests, per, burst, counts, any::<bool>()).prop_map(
        |(requests, per, burst, counts, tiered)| {
            let burst = burst.map_or(String::new(), |burst| format!("burst = {burst}\n"));
            let tiers = if tiered { "tiers.small.requests = 2\n" } else { "" };
            format!("[limit]\nrequests = {requests}\nper = \"{per}\"\n{burst}{counts}{tiers}")
        },
    )
}

/// Algorithms with options.
fn algorithms() -> impl Strategy<Value = String> {
    let options = [
        "kind = \"fixed-window\"",
        "kind = \"fixed-window\"\nanchor = \"first-request\"",
        "kind = \"sliding-window-log\"",
        "kind = \"sliding-window-log\"\nedge = \"closed\"",
        "kind = \"sliding-window-log\"\nmember = \"stamp\"",
        "kind = \"sliding-window-log\"\nmember = \"stamp-and-random\"",
        "kind = \"sliding-window-counter\"",
        "kind = \"sliding-window-counter\"\nround = \"none\"",
        "kind = \"token-bucket\"",
        "kind = \"token-bucket\"\ninitial = 0",
        "kind = \"token-bucket\"\nrefill = \"interval\"",
        "kind = \"leaky-bucket\"",
        "kind = \"leaky-bucket\"\nfirst = \"immediate\"",
        "kind = \"gcra\"",
    ];
    let common = select(vec![
        "",
        "",
        "count-rejected = true",
        "tick = \"10ms\"",
        "tick = \"1s\"",
        "backwards = \"rewind-on-admit\"",
        "count-rejected = true\ntick = \"3ms\"",
    ]);
    prop::collection::vec((select(options.to_vec()), common), 0..6).prop_map(|all| {
        let one = |(index, (kind, common)): (usize, (&str, &str))| {
            format!("[[algorithm]]\n{kind}\n{common}\nname = \"a{index}\"\n")
        };
        all.into_iter().enumerate().map(one).collect()
    })
}

fn scenario() -> impl Strategy<Value = String> {
    let tables = prop::collection::vec(traffic(), 1..4);
    let duration = select(vec!["20s", "61s", "1h", "3d"]);
    (limit(), tables, algorithms(), duration, 0..1000_u64).prop_map(
        |(limit, tables, algorithms, duration, seed)| {
            let end = if duration.ends_with('s') { "" } else { "until = \"40s\"\n" };
            let tables: String = tables
                .iter()
                .map(|table| match table.contains("burst") {
                    true => table.clone(),
                    false => format!("{table}{end}"),
                })
                .collect();
            format!(
                "name = \"t\"\nstart = \"12:00:00.5\"\nduration = \"{duration}\"\nseed = {seed}\n\
                 {limit}{tables}{algorithms}"
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_global_rejects: 4096, ..ProptestConfig::default() })]
    #[test]
    fn generated_traffic_comes_to_the_same(text in scenario()) {
        let prepared = crate::ready(Path::new("t.toml"), text.clone());
        // Some options do not go together.
        prop_assume!(prepared.is_ok());
        let prepared = prepared.unwrap();
        // Clients of one name but several plans share a key.
        prop_assume!(prepared.is_bulk());
        let events = crate::rows(&prepared, Engine::Events, 1);
        for threads in [1, 3] {
            crate::assert_same(&crate::rows(&prepared, Engine::Fastest, threads), &events, &text);
        }
    }
}
