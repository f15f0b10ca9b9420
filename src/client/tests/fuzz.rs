//! Any table of options is read or refused, and what is read never panics, whatever it is told.

use proptest::prelude::*;

use super::*;
use crate::client::{BUDGETS, JITTERS, POLICIES, PROFILES};

const SPANS: &[&str] = &["\"0s\"", "\"1ns\"", "\"10ns\"", "\"1s\"", "\"15250w\""];
const SHARES: &[&str] = &["\"0%\"", "\"0.0001%\"", "\"2.5%\"", "\"100%\""];
const NUMBERS: &[&str] = &["0", "0.001", "0.1", "1", "2.5", "1000000000"];
const COUNTS: &[&str] = &["0", "1", "2", "4294967295"];
const ODD: &[&str] = &[
    "-1",
    "18446744073709551615",
    "1e300",
    "-0.0",
    "nan",
    "inf",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"ä\"",
    "\"-\"",
    "\"%\"",
    "\"20000w\"",
    "1979-05-27",
];

/// Every option that is not the name of an entry of a registry, with values from least to most.
const OPTIONS: &[(&str, &[&str])] = &[
    ("delay", SPANS),
    ("base", SPANS),
    ("cap", SPANS),
    ("factor", &["0", "1", "1.01", "1.5", "2", "1000", "1001"]),
    ("jitter-share", SHARES),
    ("jitter-side", &["\"above\"", "\"around\""]),
    ("retry-after", &["\"ignore\"", "\"obey\"", "\"obey-plus-jitter\"", "\"longer\""]),
    ("retry-after-jitter", &["\"1ns\"", "\"15250w\"", "\"0%\"", "\"100%\""]),
    ("clock-offset", &["\"-15250w\"", "\"-1ns\"", "\"0s\"", "\"+15250w\""]),
    ("clock-spread", &["\"0s\"", "\"1ns\"", "\"9223372036854775807ns\""]),
    ("attempts", COUNTS),
    ("total-wait", SPANS),
    ("patience", SPANS),
    ("timeout", SPANS),
    ("rtt", SPANS),
    ("in-flight", COUNTS),
    ("budget.scope", &["\"client\"", "\"all\""]),
    ("budget.capacity", NUMBERS),
    ("budget.per-failure", NUMBERS),
    ("budget.per-retry", NUMBERS),
    ("budget.refund", NUMBERS),
    ("budget.refund-retried", NUMBERS),
    ("budget.threshold", NUMBERS),
    ("budget.share", SHARES),
    ("budget.window", SPANS),
    ("budget.floor", &["\"0/s\"", "\"10/s\"", "\"4294967296/1ns\"", "\"1/15250w\""]),
    ("budget.most", COUNTS),
];

/// Options that may be left out without a default.
const BOUNDS: [&str; 5] = ["attempts", "total-wait", "patience", "timeout", "in-flight"];

/// The names that a table may choose, each or none.
fn names() -> impl Strategy<Value = String> {
    fn one(
        key: &'static str,
        names: impl Iterator<Item = &'static str>,
    ) -> impl Strategy<Value = String> {
        let lines: Vec<String> = names.map(|name| format!("{key} = \"{name}\"\n")).collect();
        prop::option::of(prop::sample::select(lines)).prop_map(Option::unwrap_or_default)
    }
    let all = (
        one("profile", PROFILES.iter().map(|profile| profile.name)),
        one("retries", POLICIES.iter().map(|policy| policy.name)),
        one("jitter", JITTERS.iter().map(|jitter| jitter.name)),
        one("budget.kind", BUDGETS.iter().map(|budget| budget.name)),
    );
    all.prop_map(|(profile, retries, jitter, budget)| profile + &retries + &jitter + &budget)
}

/// What is told to a crowd.
fn told() -> impl Strategy<Value = (Instant, Memory, Option<Header>)> {
    let times = prop_oneof![Just(i64::MIN), Just(0), Just(i64::MAX), any::<i64>()];
    let spans = || prop_oneof![Just(Span::ZERO), Just(Span::MAX), Just(Span::from_nanos(1))];
    let tries = prop_oneof![1..5_u32, Just(u32::MAX)];
    let header = prop_oneof![
        Just(None),
        Just(Some(Header::Delay(Span::MAX))),
        times.clone().prop_map(|at| Some(Header::Date(Instant(at)))),
    ];
    (times, tries, spans(), spans(), spans(), header).prop_map(
        |(now, tries, age, waited, delay, header)| {
            let now = Instant(now);
            (now, Memory { first: now - age, waited, delay, tries }, header)
        },
    )
}

fn tell(clients: &Clients, (now, mut memory, header): (Instant, Memory, Option<Header>)) {
    assert!(clients.rtt > Span::ZERO);
    let mut crowd = Crowd::new(clients, Seed(1), 2);
    for client in [0, 1, 0] {
        crowd.began(client, now);
        match crowd.failed(client, 7, now, &mut memory, header) {
            Next::Retry { at, obeys } => assert!(at >= now && (!obeys || header.is_some())),
            Next::GiveUp { at } => assert!(at >= now),
        }
        crowd.succeeded(client, &memory);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_table_of_options_makes_anything_panic(
        names in names(),
        options in prop::collection::btree_map(
            0..=OPTIONS.len(),
            (any::<prop::sample::Index>(), prop::bool::weighted(0.2)),
            0..5,
        ),
        told in told(),
    ) {
        let mut text = names;
        for (option, (value, odd)) in options {
            let (key, values) = OPTIONS.get(option).copied().unwrap_or(("nonsense", ODD));
            text += &format!("{key} = {}\n", value.get(if odd { ODD } else { values }));
        }
        if let Ok((clients, _)) = read(&text) {
            tell(&clients, told);
        }
    }

    #[test]
    fn no_options_that_go_together_make_anything_panic(
        names in names(),
        values in prop::collection::vec(prop::option::of(any::<prop::sample::Index>()), OPTIONS.len()),
        told in told(),
    ) {
        let Ok((clients, resolved)) = read(&names) else { return Ok(()) };
        let applies = |key: &str| match key.split_once('.') {
            Some((table, key)) => resolved[table].get(key).is_some(),
            None => resolved.get(key).is_some() || (!clients.are_plain() && BOUNDS.contains(&key)),
        };
        let mut text = names;
        for ((key, values), index) in OPTIONS.iter().zip(values) {
            if let Some(index) = index.filter(|_| applies(key)) {
                text += &format!("{key} = {}\n", index.get(values));
                // One that makes the whole no sense is left out again.
                if read(&text).is_err() {
                    text.truncate(text.trim_end().rfind('\n').map_or(0, |end| end + 1));
                }
            }
        }
        match read(&text) {
            Ok((clients, _)) => tell(&clients, told),
            Err(message) => prop_assert!(false, "{message}"),
        }
    }
}
