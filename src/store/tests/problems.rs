//! What a `[store]` table may not say.

use super::*;

#[track_caller]
fn refused(text: &str, message: &str, place: &str) {
    let shown = read(text).unwrap_err();
    assert!(shown.contains(message) && shown.contains(place), "{text}:\n{shown}");
    assert_eq!(shown.matches("error").count(), 1, "{text}:\n{shown}");
}

#[test]
fn a_distribution_is_spread() {
    let round_trip = |text: &str, message: &str, place: &str| {
        refused(&format!("round-trip = {text}"), message, place);
    };
    round_trip("\"1\"", "`round-trip`: `1` has no unit", "t.toml:1:14");
    round_trip("5", "expected a span such as", "t.toml:1:14");
    round_trip("{ time = \"1s\" }", "`kind` is missing", "t.toml:1:14");
    round_trip("{ kind = \"normal\" }", "`normal` is not known", "t.toml:1:23");
    round_trip("{ kind = \"constant\" }", "`time` is missing", "t.toml:1:14");
    round_trip(
        "{ kind = \"constant\", time = \"1s\", mean = \"1s\" }",
        "`mean` goes with `kind = \"exponential\"`",
        "t.toml:1:48",
    );
    round_trip(
        "{ kind = \"uniform\", min = \"2s\", max = \"2s\" }",
        "`max` is not above `min`",
        "t.toml:1:52",
    );
    round_trip("{ kind = \"uniform\" }", "`max` is missing", "t.toml:1:14");
    round_trip(
        "{ kind = \"exponential\", min = \"2s\", mean = \"1s\" }",
        "`mean` is not above `min`",
        "t.toml:1:57",
    );
    round_trip(
        "{ kind = \"log-normal\", median = \"0s\", p99 = \"1s\" }",
        "a median of no time at all",
        "t.toml:1:46",
    );
    round_trip(
        "{ kind = \"log-normal\", median = \"1s\", p99 = \"1s\" }",
        "`p99` is not above `median`",
        "t.toml:1:58",
    );
    round_trip(
        "{ kind = \"log-normal\", median = \"1s\", p99 = \"9s\", min = \"1s\" }",
        "`min` goes with `kind = \"uniform\"` or \"exponential\"",
        "t.toml:1:64",
    );
}

#[test]
fn an_expiry_has_what_goes_with_it() {
    let expiry = |text: &str, message: &str, place: &str| {
        refused(&format!("expiry = {text}"), message, place);
    };
    expiry("\"rihgt\"", "did you mean `right`?", "t.toml:1:10");
    expiry("5", "expected a name, found a whole number", "t.toml:1:10");
    expiry("\"short\"", "`after` is missing", "t.toml:1:10");
    expiry("{ kind = \"short\", after = \"0s\" }", "a life of no time at all", "t.toml:1:36");
    expiry("{ kind = \"renewed\", after = \"0s\" }", "a life of no time at all", "t.toml:1:38");
    expiry("{ kind = \"renewed\", after = \"5\" }", "`5` has no unit", "t.toml:1:38");
    expiry("\"lost\"", "`probability` is missing", "t.toml:1:10");
    expiry("{ kind = \"lost\", probability = 0.01 }", "write a share from \"0%\"", "t.toml:1:41");
    expiry(
        "{ kind = \"none\", margin = \"1s\" }",
        "`margin` goes with `kind = \"right\"`",
        "t.toml:1:27",
    );
    expiry(
        "{ after = \"1s\" }",
        "`after` goes with `kind = \"short\"` or \"renewed\"",
        "t.toml:1:12",
    );
    expiry("{ round = \"up\" }", "`round` goes with `kind = \"whole-seconds\"`", "t.toml:1:12");
}

#[test]
fn a_policy_has_what_goes_with_it() {
    refused("on-failure = \"opne\"", "did you mean `open`?", "t.toml:1:14");
    refused("on-failure = \"open-after\"", "`open-after` is missing", "t.toml:1:1");
    refused("on-failure = \"open-after\"\nopen-after = \"0s\"", "no time at all", "t.toml:2:14");
    refused("open-after = \"1s\"", "goes with `on-failure = \"open-after\"`", "t.toml:1:1");
    refused("fallback = 5", "`fallback` goes with `on-failure = \"local\"`", "t.toml:1:1");
    refused(
        "on-failure = \"local\"\nfallback = \"x\"",
        "`fallback`: expected a whole number",
        "t.toml:2:12",
    );
}

#[test]
fn other_settings_say_something() {
    refused("timeout = \"0s\"", "a timeout of no time at all", "t.toml:1:11");
    refused("shards = 0", "0 is out of range", "t.toml:1:10");
    refused("shards = 2\noffsets = [\"1s\"]", "a list of 1 for 2 shards", "t.toml:2:11");
    refused("max-memory-bytes = 0", "0 is out of range", "t.toml:1:20");
    refused("eviction = \"refuse\"", "`eviction` goes with `max-memory-bytes`", "t.toml:1:1");
    refused("max-memory-bytes = \"1k\"\neviction = \"refuse\"", "found a text", "t.toml:1:20");
    refused("breaker = { failures = 0 }", "0 is out of range", "t.toml:1:24");
    refused("breaker = { open-for = \"0s\" }", "opens for no time at all", "t.toml:1:24");
    refused("key-name = \"a\"", "all keys would have the same name", "t.toml:1:12");
    refused("key-name = \"<key><user>\"", "`<user>` stands for nothing", "t.toml:1:12");
    let several = Around { limits: 2, ..AROUND };
    let shown = read_around("key-name = \"<key>\"", several).unwrap_err();
    assert!(shown.contains("the 2 limits would share their keys"), "{shown}");
}

#[test]
fn an_outage_changes_something_for_somebody() {
    let outage = |text: &str, message: &str, place: &str| {
        let text = format!("[[outage]]\nat = \"1s\"\nfor = \"1s\"\n{text}\n");
        refused(&text, message, place);
    };
    refused("[[outage]]\nfor = \"1s\"", "`at` is missing", "t.toml:1:1");
    refused("[[outage]]\nat = \"1s\"", "`for` is missing", "t.toml:1:1");
    refused("[[outage]]\nat = \"1s\"\nfor = \"0s\"", "an outage of no time at all", "t.toml:3:7");
    outage("kind = \"slow\"", "an outage that changes nothing", "t.toml:1:1");
    outage("kind = \"slow\"\ntimes = 0", "0 is out of range", "t.toml:5:9");
    outage("kind = \"slow\"\nextra = \"5\"", "`5` has no unit", "t.toml:5:9");
    outage(
        "kind = \"slow\"\ntimes = 2\nhow = \"silent\"",
        "`how` goes with `kind = \"down\"`",
        "t.toml:6:1",
    );
    outage("kind = \"lossy\"", "`share` is missing", "t.toml:1:1");
    outage("kind = \"lossy\"\nshare = \"101%\"", "more than the whole", "t.toml:5:9");
    outage("of = \"calls\"", "`of` goes with `kind = \"lossy\"`", "t.toml:4:1");
    outage("nodes = [3]", "there is no node 3", "t.toml:4:9");
    outage("nodes = [0]", "write numbers from 1 to 2", "t.toml:4:9");
    outage("nodes = []", "an outage of no node at all", "t.toml:4:9");
    outage("nodes = [1, 2, 1]", "1 is there twice", "t.toml:4:9");
    outage("shards = 2", "there is no shard 2", "t.toml:4:10");
    outage("state = \"gone\"", "`gone` is not known", "t.toml:4:9");
}

#[test]
fn mistakes_in_a_fail_over() {
    refused("[[fail-over]]\nat = \"1s\"", "`lag` is missing", "t.toml:1:1");
    refused(
        "[[fail-over]]\nat = \"1s\"\nlag = \"1s\"\nshard = 2",
        "write a whole number from 1 to 1",
        "t.toml:4:9",
    );
}

#[test]
fn choices_that_do_not_matter_to_the_placement_are_refused_and_facts_are_not() {
    let synced = Around { decides: Some(false), awaited: Some(false), ..AROUND };
    let leased = Around { awaited: Some(true), ..synced };
    for (text, around, with) in [
        ("atomicity = \"script\"", synced, "`placement = \"shared\"` in `[nodes]`"),
        ("atomicity = \"script\"", leased, "`placement = \"shared\"` in `[nodes]`"),
        ("time = \"store\"", synced, "`placement = \"shared\"` or \"leased\" in `[nodes]`"),
        ("on-failure = \"open\"", synced, "`placement = \"shared\"` or \"leased\" in `[nodes]`"),
    ] {
        let shown = read_around(text, around).unwrap_err();
        assert!(shown.contains("has no effect here") && shown.contains(with), "{text}:\n{shown}");
    }
    let facts = "offsets = \"1s\"\nround-trip = \"1ms\"\n[[outage]]\nat = \"1s\"\nfor = \"1s\"\n";
    assert!(read_around(facts, synced).is_ok());
    assert!(read_around("on-failure = \"closed\"\ntime = \"store\"\n", leased).is_ok());
    // Where the placement is not known, neither is what goes with it.
    let unknown = Around { decides: None, awaited: None, ..AROUND };
    assert!(read_around("atomicity = \"script\"\non-failure = \"open\"\n", unknown).is_ok());
}
