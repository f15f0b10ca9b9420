//! The table: what it takes, what it refuses, and what profiles make of it.

use super::*;
use crate::client::PROFILES;

#[test]
fn clients_are_plain_until_an_answer_changes_what_they_do() {
    for (text, plain) in [
        ("", true),
        ("rtt = \"50ms\"", true),
        ("retries = \"none\"", true),
        ("profile = \"grpc\"\nretries = \"none\"", true),
        ("retries = \"immediate\"", false),
        ("timeout = \"1s\"", false),
        ("patience = \"1s\"", false),
        ("in-flight = 1", false),
    ] {
        assert_eq!(clients(text).are_plain(), plain, "{text}");
    }
    assert!(Clients::default().are_plain());
    let read = clients("rtt = \"2ms\"\ntimeout = \"3ms\"\npatience = \"1s\"\nin-flight = 7");
    assert_eq!((read.rtt, read.timeout), (span("2ms"), Some(span("3ms"))));
    assert_eq!((read.patience, read.in_flight), (Some(span("1s")), Some(7)));
    assert_eq!(clients("").rtt, span("1ms"));
}

/// The one problem of a table.
fn problem(text: &str) -> String {
    let shown = read(text).map(|(_, resolved)| resolved).expect_err(text);
    assert_eq!(shown.matches("error: ").count(), 1, "{text}\n{shown}");
    shown
}

#[test]
fn what_makes_no_sense_is_refused_with_its_reason() {
    let exponential = "retries = \"exponential\"\n";
    let tokens = "retries = \"fixed\"\nbudget = { kind = \"tokens\", capacity = 10, ";
    let share = "retries = \"fixed\"\nbudget = { kind = \"share\", ";
    for (text, message, help) in [
        ("rtt = \"0s\"", "an answer that takes no time at all", "write a span such as"),
        ("timeout = \"999us\"", "the `timeout` is shorter than `rtt`", "at least \"1ms\""),
        (
            "rtt = \"2s\"\npatience = \"1s\"",
            "the `patience` is shorter than `rtt`",
            "no attempt could",
        ),
        ("in-flight = 0", "0 is out of range", "from 1 to"),
        (
            "retries = \"exponental\"\nbase = \"1s\"",
            "unknown retry policy",
            "did you mean `exponential`?",
        ),
        (
            "attempts = 3",
            "`attempts` has no effect here",
            "goes with a `retries` other than \"none\"",
        ),
        (
            "retries = \"none\"\nbudget = { kind = \"tokens\" }",
            "`budget` has no effect here",
            "`retries` other",
        ),
        (
            "retries = \"fixed\"\nbase = \"1s\"",
            "`base` has no effect here",
            "with `retries = \"exponential\"`",
        ),
        ("retries = \"fixed\"\ndelay = \"0s\"", "no time at all", "`retries = \"immediate\"`"),
        ("retries = \"fixed\"\nattempts = 0", "0 is out of range", "from 1 to"),
        (
            "retries = \"fixed\"\njitter-share = \"1%\"",
            "has no effect here",
            "`jitter = \"proportional\"`",
        ),
        ("retries = \"immediate\"\njitter = \"full\"", "`full` makes no sense", "takes: none"),
        (
            "retries = \"fixed\"\njitter = \"decorrelated\"",
            "a fixed delay does not",
            "fixed takes: none, full",
        ),
        (
            "retries = \"fixed\"\njitter = \"half\"",
            "unknown jitter `half`",
            "known are: none, full",
        ),
        (&format!("{exponential}base = \"0s\""), "never grows", "`retries = \"immediate\"`"),
        (
            &format!("{exponential}base = \"30s\""),
            "longer than the `cap` of 20s",
            "as long as `base`",
        ),
        (
            &format!("{exponential}cap = \"1ms\""),
            "the `base` of 100ms is longer",
            "as long as `base`",
        ),
        (&format!("{exponential}factor = 0.5"), "grow by a factor of 0.5", "from 1.01 to 1000"),
        (&format!("{exponential}factor = 1.001"), "grow by a factor of 1.001", "write 1, or"),
        (&format!("{exponential}factor = -2"), "-2 is negative", "at most three decimals"),
        (
            &format!("{exponential}factor = 1.2345"),
            "more than 3 decimals",
            "at most three decimals",
        ),
        (&format!("{exponential}factor = nan"), "not a finite number", "at most three decimals"),
        (&format!("{exponential}factor = \"2\""), "found a text", "at most three decimals"),
        (
            &format!("{exponential}jitter = \"decorrelated\"\nfactor = 2"),
            "`factor` has no effect here",
            "goes with a `jitter` other than \"decorrelated\"",
        ),
        (
            &format!("{exponential}jitter = \"proportional\"\njitter-share = \"0%\""),
            "a share of nothing",
            "`jitter = \"none\"`",
        ),
        (
            &format!("{exponential}jitter = \"proportional\"\njitter-share = \"101%\""),
            "more than the whole",
            "from \"0%\" to \"100%\"",
        ),
        (
            &format!("{exponential}retry-after-jitter = \"1s\""),
            "has no effect here",
            "\"obey-plus-jitter\"",
        ),
        (
            &format!("{exponential}clock-offset = \"1s\""),
            "has no effect here",
            "other than \"ignore\"",
        ),
        (
            &format!(
                "{exponential}retry-after = \"obey-plus-jitter\"\nretry-after-jitter = \"0%\""
            ),
            "nothing to draw from",
            "`retry-after = \"obey\"`",
        ),
        (
            &format!("{exponential}retry-after = \"obey-plus-jitter\"\nretry-after-jitter = 3"),
            "found a whole number",
            "such as \"10%\"",
        ),
        (
            "retries = \"fixed\"\nbudget = { kind = \"token\" }",
            "unknown kind of budget",
            "`tokens`?",
        ),
        (
            "retries = \"fixed\"\nbudget = { capacity = 3 }",
            "has no effect here",
            "`kind = \"tokens\"`",
        ),
        (
            "retries = \"fixed\"\nbudget = { kind = \"tokens\" }",
            "`capacity` is missing",
            "add `capacity",
        ),
        (
            "retries = \"fixed\"\nbudget = { kind = \"in-flight\" }",
            "`most` is missing",
            "add `most",
        ),
        (
            "retries = \"fixed\"\nbudget = { scope = \"all\" }",
            "`scope` has no effect here",
            "other than \"none\"",
        ),
        ("retries = \"fixed\"\nbudget = 3", "expected a table", "t.toml:2:10"),
        (&format!("{tokens}refund = 1 }}"), "charges nothing", "`per-retry` or both"),
        (&format!("{tokens}per-retry = 11 }}"), "never 11 tokens", "no more than `capacity`"),
        (
            &format!("{tokens}per-failure = 1, threshold = 10 }}"),
            "never more than 10 tokens",
            "less than `capacity`",
        ),
        (
            &format!("{tokens}most = 3, per-retry = 1 }}"),
            "`most` has no effect here",
            "`kind = \"in-flight\"`",
        ),
        (&format!("{share}window = \"9ns\" }}"), "no ten equal parts", "whole tens of nanoseconds"),
        (&format!("{share}window = \"0s\", floor = \"1/s\" }}"), "no ten equal parts", "10ns"),
        (&format!("{share}share = \"0%\", floor = \"1/11s\" }}"), "grants nothing", "above \"0%\""),
        (
            "profile = \"grcp\"\nattempts = 3\nbudget.capacity = 3",
            "unknown profile `grcp`",
            "`grpc`?",
        ),
        (
            "profile = \"grpc\"\ndelay = \"1s\"",
            "`delay` has no effect here",
            "`retries = \"fixed\"`",
        ),
        ("profile = 3", "expected a text", "known are: naive-loop"),
    ] {
        let shown = problem(text);
        assert!(shown.contains(message) && shown.contains(help), "{text}\n{shown}");
    }
}

#[test]
fn every_profile_is_read_whole_as_it_stands() {
    for profile in PROFILES {
        let (_, resolved) = read(profile.settings).unwrap();
        let (_, through) = read(&format!("profile = \"{}\"", profile.name)).unwrap();
        let mut expected = serde_json::json!({ "profile": profile.name });
        expected.as_object_mut().unwrap().extend(resolved.as_object().unwrap().clone());
        assert_eq!(through, expected);
    }
}

#[test]
fn what_profiles_stand_for() {
    let lines = PROFILES.iter().map(|profile| {
        let (_, resolved) = read(&format!("profile = \"{}\"", profile.name)).unwrap();
        resolved.to_string()
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_profile_is_overridden_setting_by_setting() {
    let resolved = |more: &str| read(&format!("profile = \"grpc\"\n{more}")).unwrap().1;
    let changed = resolved("attempts = 9\nbudget.capacity = 20\n");
    assert_eq!(changed["attempts"], 9);
    assert_eq!(changed["base"], "100ms");
    assert_eq!(changed["budget"]["capacity"], 20);
    assert_eq!(changed["budget"]["refund"], 0.1);
    let other_policy = resolved("retries = \"fixed\"\ndelay = \"3s\"\n");
    assert_eq!(other_policy["delay"], "3s");
    assert_eq!(other_policy.get("base"), None);
    assert_eq!(other_policy["jitter"], "proportional");
    let no_jitter = resolved("retries = \"immediate\"\n");
    assert_eq!((&no_jitter["jitter"], no_jitter.get("jitter-share")), (&"none".into(), None));
    let other_budget = resolved("budget = { kind = \"in-flight\", most = 1 }\n");
    assert_eq!(
        other_budget["budget"],
        serde_json::json!({ "kind": "in-flight", "scope": "client", "most": 1 })
    );
}

#[test]
fn resolved_settings_are_those_that_apply() {
    let (_, resolved) = read("retries = \"exponential\"\njitter = \"decorrelated\"\n").unwrap();
    assert_eq!(
        resolved.to_string(),
        r#"{"retries":"exponential","jitter":"decorrelated","base":"100ms","cap":"20s","retry-after":"ignore","rtt":"1ms"}"#
    );
    assert_eq!(read("").unwrap().1.to_string(), r#"{"retries":"none","rtt":"1ms"}"#);
}

#[test]
fn the_description_has_every_option_of_every_policy_jitter_and_budget() {
    let fields = Params::describe(|params| {
        Clients::read(params);
    });
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    for name in ["profile", "retries", "jitter", "delay", "base", "factor", "cap", "budget", "rtt"]
    {
        assert!(names.contains(&name), "{name}");
    }
    assert!(fields.iter().all(|field| !field.required && field.meaning.len() > 20));
    let budget = fields.iter().find(|field| field.name == "budget").unwrap();
    for name in ["kind", "scope", "capacity", "share", "most"] {
        assert!(budget.schema["properties"].get(name).is_some(), "{name}");
    }
}
