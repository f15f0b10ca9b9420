//! What a `[nodes]` table says and may not say.

use super::*;
use crate::error::{Problems, Source};
use crate::params::{Begin, Node, Params};
use crate::time::Offset;
use std::sync::Arc;

/// The settings and what begins at stated times, or all problems.
fn read_with(text: &str, limits: usize) -> Result<(settings::Read, Vec<Begin>), String> {
    let problems = Problems::new();
    let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
    let node = Node::parse(Arc::new(source), &problems);
    let mut params = Params::new(&node, &problems);
    let mut begins = Vec::new();
    let read = NodesSpec::read(&mut params, limits, Where::Local, &mut begins);
    params.finish();
    problems.into_result().map_err(|error| error.render(false))?;
    Ok((read, begins))
}

fn read(text: &str) -> Result<NodesSpec, String> {
    read_with(text, 1).map(|(read, _)| read.nodes)
}

const fn secs(count: u64) -> Span {
    Span::from_secs(count)
}

#[test]
fn what_is_left_out_is_plain() {
    let nodes = read("count = 3\n").unwrap();
    assert_eq!((nodes.count, nodes.clocks), (3, vec![Clock::default(); 3]));
    assert_eq!((nodes.routing, nodes.placement), (Routing::RoundRobin, Placement::Local));
    assert_eq!(nodes.sweep, None);
}

#[test]
fn every_routing_and_every_placement_can_be_named() {
    for (name, routing) in [
        ("round-robin", Routing::RoundRobin),
        ("random", Routing::Random),
        ("by-key", Routing::ByKey),
        ("least-busy", Routing::LeastBusy),
        ("weighted\"\nweights = [3, 0] #", Routing::Weighted(vec![3, 0])),
    ] {
        let text = format!("count = 2\nrouting = \"{name}\"\n");
        assert_eq!(read(&text).unwrap().routing, routing, "{name}");
    }
    for (name, placement) in [
        ("local", Placement::Local),
        ("shared", Placement::Shared),
        ("split", Placement::Split),
        ("synced\"\nsync-every = \"5s\" #", Placement::Synced { every: secs(5) }),
        (
            "leased\"\nlease-batch = 7\nlease-lasts = \"2s\" #",
            Placement::Leased { batch: 7, lasts: secs(2) },
        ),
    ] {
        let text = format!("count = 2\nplacement = \"{name}\"\n");
        assert_eq!(read(&text).unwrap().placement, placement, "{name}");
    }
    let swept = read("count = 1\nsweep = { every = \"60s\", idle = \"10m\" }\n").unwrap();
    assert_eq!(swept.sweep, Some(Sweep { every: secs(60), idle: secs(600) }));
}

#[test]
fn clocks_have_their_offsets_drifts_and_steps_by_node() {
    let text = "count = 3\noffsets = [\"0s\", \"10ms\", \"-1s\"]\ndrifts-ppm = [0, 20.5, -20]\n\
                resolution = \"1ms\"\n\
                [[step]]\nat = \"40s\"\nby = \"1s\"\n\
                [[step]]\nnode = 2\nat = \"30s\"\nby = \"-2s\"\n";
    let (settings::Read { nodes, .. }, begins) = read_with(text, 1).unwrap();
    let shown: Vec<_> =
        nodes.clocks.iter().map(|clock| (clock.offset.nanos(), clock.drift_ppb)).collect();
    assert_eq!(shown, [(0, 0), (10_000_000, 20_500), (-1_000_000_000, -20_000)]);
    let by = |text| Offset::parse(text).unwrap();
    assert_eq!(nodes.clocks[0].steps, [(secs(40), by("1s"))]);
    assert_eq!(nodes.clocks[1].steps, [(secs(30), by("-2s")), (secs(40), by("1s"))]);
    assert_eq!(nodes.clocks[2].steps, nodes.clocks[0].steps);
    assert!(nodes.clocks.iter().all(|clock| clock.resolution == Span::from_nanos(1_000_000)));
    let begins: Vec<_> = begins.iter().map(|begin| (begin.what, begin.at)).collect();
    assert_eq!(begins, [("step", secs(40)), ("step", secs(30))]);
}

#[test]
fn what_cannot_be_meant_is_a_problem_at_its_place() {
    let placed = |text: &str| format!("count = 2\nplacement = {text}");
    for (text, message, place) in [
        (String::new(), "`count` is missing", "t.toml:1:1"),
        ("count = 0".to_owned(), "0 is out of range", "t.toml:1:9"),
        ("count = 1001".to_owned(), "write a whole number from 1 to 1000", "t.toml:1:9"),
        ("count = 2\nrouting = \"sticky\"".to_owned(), "`sticky` is not known", "t.toml:2:11"),
        ("count = 2\nrouting = \"weighted\"".to_owned(), "`weights` is missing", "t.toml:1:1"),
        (
            "count = 2\nweights = [1, 2]".to_owned(),
            "`weights` goes with `routing = \"weighted\"`",
            "t.toml:2:1",
        ),
        (
            "count = 2\nrouting = \"weighted\"\nweights = [1]".to_owned(),
            "1 weights for 2 nodes",
            "t.toml:3:11",
        ),
        (
            "count = 2\nrouting = \"weighted\"\nweights = [0, 0]".to_owned(),
            "no node has any weight",
            "t.toml:3:11",
        ),
        (placed("\"central\""), "`central` is not known", "t.toml:2:13"),
        (placed("\"synced\""), "`sync-every` is missing", "t.toml:1:1"),
        (placed("\"synced\"\nsync-every = \"0s\""), "no time at all", "t.toml:3:14"),
        (placed("\"leased\"\nlease-lasts = \"1s\""), "`lease-batch` is missing", "t.toml:1:1"),
        (placed("\"leased\"\nlease-batch = 1"), "`lease-lasts` is missing", "t.toml:1:1"),
        (
            placed("\"leased\"\nlease-batch = 0\nlease-lasts = \"1s\""),
            "0 is out of range",
            "t.toml:3:15",
        ),
        (
            placed("\"shared\"\nsync-every = \"1s\""),
            "`sync-every` goes with `placement = \"synced\"`",
            "t.toml:3:1",
        ),
        (
            placed("\"local\"\nlease-batch = 1"),
            "`lease-batch` goes with `placement = \"leased\"`",
            "t.toml:3:1",
        ),
        (
            placed("\"shared\"\n[sweep]\nevery = \"1s\"\nidle = \"1s\""),
            "`sweep` goes with `placement = \"local\"`, \"split\" or \"synced\"",
            "t.toml:3:2",
        ),
        ("count = 1\n[sweep]\nevery = \"1s\"".to_owned(), "`idle` is missing", "t.toml:2:1"),
        (
            "count = 1\n[sweep]\nevery = \"0s\"\nidle = \"1s\"".to_owned(),
            "no time at all",
            "t.toml:3:9",
        ),
        ("count = 2\noffsets = [\"1s\"]".to_owned(), "a list of 1 for 2 nodes", "t.toml:2:11"),
        (
            "count = 1\ndrifts-ppm = [1, 2]".to_owned(),
            "write one for each node, or leave `drifts-ppm` out",
            "t.toml:2:14",
        ),
        ("count = 1\noffsets = \"5\"".to_owned(), "`5` has no unit", "t.toml:2:11"),
        ("count = 1\nresolution = \"0s\"".to_owned(), "a resolution of no time", "t.toml:2:14"),
        (
            "count = 2\n[[step]]\nnode = 3\nat = \"1s\"\nby = \"1s\"".to_owned(),
            "write a whole number from 1 to 2",
            "t.toml:3:8",
        ),
        ("count = 2\n[[step]]\nby = \"1s\"".to_owned(), "`at` is missing", "t.toml:2:1"),
    ] {
        let shown = read(&text).unwrap_err();
        assert!(shown.contains(message) && shown.contains(place), "{text}:\n{shown}");
        assert_eq!(shown.matches("error").count(), 1, "{text}:\n{shown}");
    }
}

#[test]
fn drifts_are_parts_per_million_with_up_to_three_decimals() {
    for (text, ppb) in [
        ("100000", 100_000_000),
        ("-100000", -100_000_000),
        ("0.001", 1),
        ("-0.5", -500),
        ("-0.0", 0),
    ] {
        let nodes = read(&format!("count = 1\ndrifts-ppm = {text}\n")).unwrap();
        assert_eq!(nodes.clocks[0].drift_ppb, ppb, "{text}");
    }
    for (text, message) in [
        ("100000.001", "a clock that is off by 100000.001 ppm is no clock"),
        ("-0.0001", "0.0001 has more than 3 decimals"),
        ("nan", "expected a number from -100000 to 100000"),
        (
            "\"20\"",
            "expected a number from -100000 to 100000 with at most three decimals, found a text",
        ),
        ("-9223372036854775808", "is too large"),
    ] {
        let shown = read(&format!("count = 1\ndrifts-ppm = {text}\n")).unwrap_err();
        assert!(shown.contains(message) && shown.contains("t.toml:2:14"), "{text}:\n{shown}");
    }
}

#[test]
fn quota_of_several_limits_is_not_leased() {
    let text = "count = 2\nplacement = \"leased\"\nlease-batch = 1\nlease-lasts = \"1s\"\n";
    assert!(read_with(text, 1).is_ok());
    let shown = read_with(text, 2).unwrap_err();
    assert!(shown.contains("quota of 2 limits cannot be leased together"), "{shown}");
    assert!(shown.contains("t.toml:2:13"), "{shown}");
}

#[test]
fn what_hangs_on_a_misspelt_name_is_no_problem_of_its_own() {
    let shown = read("count = 2\nplacement = \"synct\"\nsync-every = \"1s\"\n").unwrap_err();
    assert!(shown.contains("did you mean `synced`?"), "{shown}");
    assert_eq!(shown.matches("error").count(), 1, "{shown}");
    let shown = read("count = \"2\"\noffsets = [\"1s\"]\nweights = [1]\nrouting = \"waited\"\n");
    assert_eq!(shown.unwrap_err().matches("error").count(), 2);
}
