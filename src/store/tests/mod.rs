//! What a `[store]` table says, and in `problems` what it may not say.

mod problems;

use super::*;
use crate::error::{Problem, Problems, Source};
use crate::params::{Begin, Node, Params, Setting, Short, Table};
use crate::rate::Rate;
use crate::time::Offset;
use serde_json::Value as Json;
use std::sync::Arc;

/// A limit in short, as its number of requests per second.
const SHORT: Short = Short {
    schema: u64::schema,
    expand: |node: &Node| -> Result<Table, Problem> {
        u64::read(node)?;
        Ok(Table::at(&node.place, [("requests", node.value.clone())]))
    },
};

/// A store of 2 nodes and one limit, on which every decision waits.
const AROUND: Around = Around {
    nodes: Some(2),
    limits: 1,
    decides: Some(true),
    awaited: Some(true),
    short_limit: SHORT,
    limit: |params| {
        let requests = params.within(0..=Rate::MAX_COUNT).required("requests", "");
        requests.map(|requests| Limit::new(requests, Span::from_secs(1)))
    },
};

/// The settings, what begins at stated times, and what is resolved; or all problems.
fn read_around(text: &str, around: Around) -> Result<(StoreSpec, Vec<Begin>, Json), String> {
    let problems = Problems::new();
    let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
    let node = Node::parse(Arc::new(source), &problems);
    let mut params = Params::new(&node, &problems);
    let mut begins = Vec::new();
    let store = StoreSpec::read(&mut params, &around, &mut begins);
    let resolved = Json::Object(params.finish().resolved);
    problems.into_result().map_err(|error| error.render(false))?;
    Ok((store, begins, resolved))
}

fn read(text: &str) -> Result<StoreSpec, String> {
    read_around(text, AROUND).map(|(store, ..)| store)
}

const fn secs(count: u64) -> Span {
    Span::from_secs(count)
}

const fn ms(count: u64) -> Span {
    Span::from_nanos(count * 1_000_000)
}

#[test]
fn an_empty_table_is_a_store_that_answers_at_once_and_never_fails() {
    let (store, begins, resolved) = read_around("", AROUND).unwrap();
    assert_eq!(format!("{store:?}"), format!("{:?}", StoreSpec::default()));
    assert!(begins.is_empty());
    insta::assert_snapshot!(resolved);
}

#[test]
fn every_kind_of_round_trip_is_read() {
    for (text, round_trip) in [
        ("\"3ms\"", RoundTrip::Constant(ms(3))),
        ("{ kind = \"constant\", time = \"3ms\" }", RoundTrip::Constant(ms(3))),
        (
            "{ kind = \"uniform\", min = \"1ms\", max = \"2ms\" }",
            RoundTrip::Uniform { min: ms(1), max: ms(2) },
        ),
        (
            "{ kind = \"exponential\", mean = \"2ms\" }",
            RoundTrip::Exponential { min: Span::ZERO, mean: ms(2) },
        ),
        (
            "{ kind = \"exponential\", min = \"1ms\", mean = \"2ms\" }",
            RoundTrip::Exponential { min: ms(1), mean: ms(2) },
        ),
        (
            "{ kind = \"log-normal\", median = \"1ms\", p99 = \"9ms\" }",
            RoundTrip::LogNormal { median: ms(1), p99: ms(9) },
        ),
    ] {
        assert_eq!(
            read(&format!("round-trip = {text}\n")).unwrap().round_trip,
            round_trip,
            "{text}"
        );
    }
}

#[test]
fn every_kind_of_expiry_is_read() {
    for (text, expiry) in [
        ("\"right\"", Expiry::Right { margin: Span::ZERO }),
        ("{ margin = \"2s\" }", Expiry::Right { margin: secs(2) }),
        ("\"none\"", Expiry::None),
        ("{ kind = \"short\", after = \"1s\" }", Expiry::Short { after: secs(1) }),
        ("\"renewed\"", Expiry::Renewed { after: None }),
        ("{ kind = \"renewed\", after = \"5s\" }", Expiry::Renewed { after: Some(secs(5)) }),
        ("{ kind = \"lost\", probability = \"1%\" }", Expiry::Lost { ppm: 10_000 }),
        ("\"whole-seconds\"", Expiry::WholeSeconds { round: Rounding::Up }),
        (
            "{ kind = \"whole-seconds\", round = \"down\" }",
            Expiry::WholeSeconds { round: Rounding::Down },
        ),
        (
            "{ kind = \"whole-seconds\", round = \"down-to-one\" }",
            Expiry::WholeSeconds { round: Rounding::DownToOne },
        ),
    ] {
        assert_eq!(read(&format!("expiry = {text}\n")).unwrap().expiry, expiry, "{text}");
    }
}

#[test]
fn every_policy_is_read() {
    for (text, policy) in [
        ("\"open\"", OnFailure::Open),
        ("\"closed\"", OnFailure::Closed),
        ("\"local\"", OnFailure::Local),
        ("\"open-after\"\nopen-after = \"5s\"", OnFailure::OpenAfter(secs(5))),
    ] {
        let store = read(&format!("on-failure = {text}\n")).unwrap();
        assert_eq!((store.on_failure, store.fallback), (policy, None), "{text}");
    }
    for text in ["5", "{ requests = 5 }"] {
        let store = read(&format!("on-failure = \"local\"\nfallback = {text}\n")).unwrap();
        assert_eq!(store.fallback, Some(Limit::new(5, secs(1))), "{text}");
    }
}

#[test]
fn every_other_setting_is_read() {
    let store = read(
        "timeout = \"50ms\"\natomicity = \"read-modify-write\"\ntime = \"store\"\nshards = 2\n\
         offsets = [\"1s\", \"-2s\"]\ndrifts-ppm = [0.5, 1]\nresolution = \"1s\"\nkey-name = \"<key>\"\n\
         max-memory-bytes = 1000\neviction = \"soonest-to-expire\"\n\
         breaker = { failures = 2, open-for = \"3s\" }\n\
         [[step]]\nshard = 2\nat = \"1s\"\nby = \"1s\"\n",
    )
    .unwrap();
    assert_eq!(store.timeout, ms(50));
    assert_eq!((store.atomicity, store.time), (Atomicity::ReadModifyWrite, TimeOf::Store));
    let clock = |ahead: &str, drift_ppb, steps| Clock {
        offset: Offset::parse(ahead).unwrap(),
        drift_ppb,
        steps,
        resolution: secs(1),
    };
    let step = (secs(1), Offset::parse("1s").unwrap());
    assert_eq!(store.clocks, [clock("1s", 500, vec![]), clock("-2s", 1000, vec![step])]);
    assert_eq!(store.key_name, KeyName("<key>".to_owned()));
    let memory = Memory { bytes: 1000, eviction: Eviction::SoonestToExpire };
    assert_eq!(store.memory, Some(memory));
    assert_eq!(store.breaker, Some(BreakerSpec { failures: 2, open_for: secs(3) }));
    let check = read("atomicity = \"check-then-increment\"\nmax-memory-bytes = 1\nbreaker = {}\n");
    let check = check.unwrap();
    assert_eq!(check.atomicity, Atomicity::CheckThenIncrement);
    let memory = Memory { bytes: 1, eviction: Eviction::LeastRecentlyUsed };
    assert_eq!(check.memory, Some(memory));
    assert_eq!(check.breaker, Some(BreakerSpec { failures: 5, open_for: secs(10) }));
    let refuse = read("max-memory-bytes = 1\neviction = \"refuse\"\n").unwrap();
    assert_eq!(refuse.memory.map(|memory| memory.eviction), Some(Eviction::Refuse));
}

#[test]
fn outages_and_fail_overs_are_read() {
    let text = "shards = 3\n\
                [[outage]]\nat = \"9s\"\nfor = \"2s\"\n\
                [[outage]]\nat = \"1s\"\nfor = \"2s\"\nhow = \"refuses\"\nnodes = [2]\nshards = [3, 1]\n\
                state = \"lost\"\n\
                [[outage]]\nat = \"1s\"\nfor = \"2s\"\nkind = \"slow\"\ntimes = 3\n\
                [[outage]]\nat = \"1s\"\nfor = \"2s\"\nkind = \"slow\"\nextra = \"5ms\"\n\
                [[outage]]\nat = \"1s\"\nfor = \"2s\"\nkind = \"lossy\"\nshare = \"30%\"\n\
                [[outage]]\nat = \"1s\"\nfor = \"2s\"\nkind = \"lossy\"\nshare = \"100%\"\nof = \"answers\"\n\
                [[fail-over]]\nat = \"8s\"\nlag = \"1s\"\n\
                [[fail-over]]\nat = \"7s\"\nlag = \"2s\"\nshard = 3\n";
    let (store, begins, resolved) = read_around(text, AROUND).unwrap();
    let outage = |kind| Outage {
        at: secs(1),
        lasts: secs(2),
        kind,
        nodes: vec![],
        shards: vec![],
        loses: false,
    };
    let refusing = outage(OutageKind::Down(Down::Refuses));
    assert_eq!(
        store.outages,
        [
            Outage { at: secs(9), ..outage(OutageKind::Down(Down::Silent)) },
            Outage { nodes: vec![1], shards: vec![2, 0], loses: true, ..refusing },
            outage(OutageKind::Slow { times: 3, extra: Span::ZERO }),
            outage(OutageKind::Slow { times: 1, extra: ms(5) }),
            outage(OutageKind::Lossy { ppm: 300_000, answers: false }),
            outage(OutageKind::Lossy { ppm: 1_000_000, answers: true }),
        ]
    );
    assert_eq!(
        store.fail_overs,
        [
            FailOver { at: secs(7), lag: secs(2), shard: Some(2) },
            FailOver { at: secs(8), lag: secs(1), shard: None },
        ]
    );
    let begins: Vec<_> = begins.iter().map(|begin| (begin.what, begin.at)).collect();
    assert_eq!(begins[0], ("outage", secs(9)));
    assert_eq!(begins[6..], [("fail-over", secs(8)), ("fail-over", secs(7))]);
    insta::assert_snapshot!(format!("{} {}", resolved["outage"], resolved["fail-over"]));
}
