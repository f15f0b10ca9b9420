//! Any table of options is read or refused, and what is read never panics, whatever it is told.

use proptest::prelude::*;

use super::*;
use crate::client::{BUDGETS, JITTERS, POLICIES, PROFILES};

fn name(names: impl Iterator<Item = &'static str>) -> impl Strategy<Value = String> {
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    prop::sample::select(names)
}

/// Values that some setting takes, and some that none does.
fn value() -> impl Strategy<Value = String> {
    let fixed = [
        "0",
        "1",
        "2",
        "0.1",
        "1.5",
        "-1",
        "4294967295",
        "18446744073709551615",
        "1e300",
        "-0.0",
        "nan",
        "inf",
        "true",
        "[]",
        "{}",
        "\"\"",
        "\"0s\"",
        "\"1ns\"",
        "\"1s\"",
        "\"15250w\"",
        "\"-5s\"",
        "\"0%\"",
        "\"100%\"",
        "\"2.5%\"",
        "\"10/s\"",
        "\"4294967296/1ns\"",
        "\"1/15250w\"",
        "1979-05-27",
        "\"obey\"",
        "\"longer\"",
        "\"obey-plus-jitter\"",
        "\"above\"",
        "\"around\"",
        "\"client\"",
        "\"all\"",
    ];
    prop::sample::select(fixed.map(str::to_owned).to_vec())
}

/// A table of options: names of registries where names belong, any value elsewhere.
fn table() -> impl Strategy<Value = String> {
    let keys = [
        "delay",
        "base",
        "factor",
        "cap",
        "jitter-share",
        "jitter-side",
        "retry-after",
        "retry-after-jitter",
        "clock-offset",
        "clock-spread",
        "attempts",
        "total-wait",
        "patience",
        "timeout",
        "rtt",
        "in-flight",
        "nonsense",
        "budget.scope",
        "budget.capacity",
        "budget.per-failure",
        "budget.per-retry",
        "budget.refund",
        "budget.refund-retried",
        "budget.threshold",
        "budget.share",
        "budget.window",
        "budget.floor",
        "budget.most",
    ];
    let options = prop::collection::btree_map(prop::sample::select(keys.to_vec()), value(), 0..6);
    let policies = name(POLICIES.iter().map(|policy| policy.name));
    let jitters = name(JITTERS.iter().map(|jitter| jitter.name));
    let profiles = name(PROFILES.iter().map(|profile| profile.name));
    let budgets = name(BUDGETS.iter().map(|budget| budget.name));
    let chosen = (
        prop::option::of(policies),
        prop::option::of(jitters),
        prop::option::of(profiles),
        prop::option::of(budgets),
    );
    (chosen, options).prop_map(|((policy, jitter, profile, budget), options)| {
        let names = [
            ("retries", policy),
            ("jitter", jitter),
            ("profile", profile),
            ("budget.kind", budget),
        ];
        let mut text = String::new();
        for (key, value) in names {
            text += &value.map_or(String::new(), |value| format!("{key} = {value}\n"));
        }
        for (key, value) in options {
            text += &format!("{key} = {value}\n");
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_table_of_options_makes_anything_panic(
        text in table(),
        now in prop_oneof![Just(i64::MIN), Just(0), Just(i64::MAX), any::<i64>()],
        tries in prop_oneof![1..5_u32, Just(u32::MAX)],
        waited in prop_oneof![Just(0), Just(Span::MAX.nanos())],
        header in prop_oneof![
            Just(None),
            Just(Some(Header::Delay(Span::MAX))),
            Just(Some(Header::Date(Instant(i64::MIN)))),
            Just(Some(Header::Date(Instant(i64::MAX)))),
        ],
    ) {
        let Ok((clients, resolved)) = read(&text) else { return Ok(()) };
        prop_assert!(clients.rtt > Span::ZERO);
        let mut crowd = Crowd::new(&clients, Seed(1), 2);
        let now = Instant(now);
        let waited = Span::from_nanos(waited);
        let mut memory = Memory { first: now, waited, delay: waited, tries };
        for client in [0, 1, 0] {
            crowd.began(client, now);
            match crowd.failed(client, 7, now, &mut memory, header) {
                Next::Retry { at, obeys } => {
                    prop_assert!(at >= now, "{resolved}");
                    prop_assert!(!obeys || header.is_some(), "{resolved}");
                }
                Next::GiveUp { at } => prop_assert!(at >= now, "{resolved}"),
            }
            crowd.succeeded(client, now, &memory);
            crowd.left(client, now, &memory);
        }
    }
}
