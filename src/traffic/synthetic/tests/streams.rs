//! What holds for the streams of every source.

use proptest::prelude::*;

use super::{S, merged, source, times, traffic};
use crate::traffic::{Arrival, SOURCES, schema};

/// A source of every kind and of every way in which its clients may share or lie.
fn any_source() -> impl Strategy<Value = String> {
    let rate = (0..40u64, prop::sample::select(vec!["s", "3s", "700ms"]));
    let rate = rate.prop_map(|(count, per)| format!("{count}/{per}"));
    let own = (rate.clone(), rate, 1..5000u64, 1..5000u64, 0..6usize).prop_map(
        |(rate, other, one, two, kind)| match kind {
            0 => format!(
                r#"kind = "burst"; at = "{one}ms"; over = "{}ms"; requests = {}"#,
                two % 4 * two,
                one % 900
            ),
            1 => format!(r#"kind = "steady"; rate = "{rate}"; from = "{one}ms""#),
            2 => format!(r#"kind = "poisson"; rate = "{rate}"; from = "{one}ms""#),
            3 => format!(
                r#"kind = "on-off"; rate = "{rate}"; on = "{one}ms"; off = "{two}ms"; spacing = "{}"; lengths = "{}"; phase = "{}""#,
                ["even", "poisson"][one as usize % 2],
                ["fixed", "exponential"][two as usize % 2],
                ["together", "spread"][one as usize / 2 % 2],
            ),
            4 => format!(
                r#"kind = "ramp"; start-rate = "{rate}"; end-rate = "{other}"; from = "{one}ms"; spacing = "{}""#,
                ["even", "poisson"][one as usize % 2],
            ),
            _ => format!(r#"kind = "wave"; rate = "{rate}"; period = "{one}ms"; from = "{two}ms""#),
        },
    );
    (own, 1..150u32, any::<bool>()).prop_map(|(own, clients, zipf)| {
        let share = if zipf { "zipf" } else { "even" };
        format!(
            "{own}; clients = {clients}; share = \"{share}\"; endpoints = {{ a = 1, b = 2 }}; \
             cost = {{ kind = \"uniform\", min = 1, max = 99 }}"
        )
    })
}

proptest! {
    #[test]
    fn merged_requests_are_the_streams_sorted_by_time_and_then_by_stream(settings in any_source()) {
        let traffic = source("12s", &settings);
        let source = &traffic.sources[0];
        let mut streams: Vec<Arrival> = Vec::new();
        for index in 0..source.streams() {
            let stream: Vec<Arrival> = source.stream(index).collect();
            prop_assert!(stream.is_sorted_by_key(|arrival| arrival.at), "a stream in disorder");
            prop_assert!(stream.iter().all(|arrival| traffic.window.contains(arrival.at)));
            streams.extend(stream);
        }
        // A stable sort keeps the order of the streams.
        streams.sort_by_key(|arrival| arrival.at);
        let merged: Vec<Arrival> = source.merged().collect();
        prop_assert_eq!(&merged, &streams);
        let random = ["poisson", "exponential", "wave"].iter().any(|word| settings.contains(word));
        if random {
            prop_assert!(merged.len() as u64 <= source.bound());
        } else {
            prop_assert_eq!(merged.len() as u64, source.bound());
        }
    }
}

#[test]
fn costs_and_endpoints_change_no_arrival() {
    for kind in SOURCES.iter().filter(|kind| !kind.recorded) {
        let own = match kind.name {
            "burst" => "requests = 50; over = \"9s\"",
            "ramp" => "start-rate = \"1/s\"; end-rate = \"9/s\"; spacing = \"poisson\"",
            "on-off" => {
                "rate = \"9/s\"; on = \"1s\"; off = \"1s\"; spacing = \"poisson\"; \
                         lengths = \"exponential\""
            }
            _ => "rate = \"9/s\"",
        };
        let plain = format!("kind = \"{}\"; {own}; clients = 3", kind.name);
        let dear = format!(
            "{plain}; endpoints = {{ a = 1, b = 2 }}; \
             cost = {{ kind = \"log-normal\", median = 9, sigma = 1 }}"
        );
        let at = times("10s", &plain);
        assert!(at.len() > 10, "{}", kind.name);
        assert_eq!(at, times("10s", &dear), "{}", kind.name);
    }
}

#[test]
fn another_source_changes_nothing_in_the_first() {
    let first = "[[traffic]]\nkind = \"poisson\"\nrate = \"9/s\"\nclients = 3\n";
    let second = "[[traffic]]\nkind = \"poisson\"\nrate = \"9/s\"\nclients = 3\n";
    let alone = traffic("10s", first);
    let both = traffic("10s", &format!("{first}{second}"));
    let of = |traffic: &crate::traffic::Traffic, index: usize| {
        traffic.sources[index].merged().collect::<Vec<_>>()
    };
    assert_eq!(of(&alone, 0), of(&both, 0));
    // The two are alike but draw from streams of their own.
    assert_ne!(of(&both, 0), of(&both, 1));
    // Sources that name no clients come from the same ones.
    assert_eq!(both.clients.len(), 3);
}

#[test]
fn another_client_with_its_own_part_of_the_rate_changes_nothing_for_the_others() {
    let of = |clients: usize| {
        let settings = format!(
            "kind = \"poisson\"; rate = \"{}/s\"; clients = {clients}; \
             cost = {{ kind = \"uniform\", min = 1, max = 1000 }}",
            10 * clients
        );
        let traffic = source("100s", &settings);
        (0..4).map(|client| traffic.sources[0].stream(client).collect()).collect::<Vec<Vec<_>>>()
    };
    assert_eq!(of(4), of(5));
}

#[test]
fn a_stream_can_be_had_again_and_depends_on_the_seed() {
    let settings = "kind = \"poisson\"; rate = \"99/s\"; clients = 2";
    let traffic = source("10s", settings);
    let once: Vec<Arrival> = traffic.sources[0].stream(1).collect();
    assert_eq!(once, traffic.sources[0].stream(1).collect::<Vec<_>>());
    assert_ne!(once.len(), 0);
    let other: Vec<Arrival> = super::traffic(
        "10s",
        "seed = 2\n[[traffic]]\nkind = \"poisson\"\nrate = \"99/s\"\nclients = 2",
    )
    .sources[0]
        .stream(1)
        .collect();
    assert_ne!(once, other);
}

#[test]
fn random_times_are_the_same_everywhere() {
    let mut shown = String::new();
    for settings in [
        "kind = \"poisson\"; rate = \"2/s\"; clients = 2; share = \"zipf\"",
        "kind = \"on-off\"; rate = \"4/s\"; on = \"1s\"; off = \"1s\"; lengths = \"exponential\"; \
         phase = \"spread\"; clients = 2; spacing = \"poisson\"",
        "kind = \"ramp\"; start-rate = \"0/s\"; end-rate = \"4/s\"; spacing = \"poisson\"",
        "kind = \"wave\"; rate = \"2/s\"; period = \"4s\"; \
         cost = { kind = \"log-normal\", median = 500, sigma = 1 }",
    ] {
        shown += &format!("{settings}\n");
        for arrival in merged("5s", settings) {
            let Arrival { at, client, cost, .. } = arrival;
            shown += &format!("{:>11} {client} {cost}\n", at.0);
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn clients_have_names_addresses_keys_tenants_and_plans() {
    let traffic = traffic(
        "1s",
        r#"
        [[traffic]]
        kind = "burst"
        requests = 1
        clients = 5
        client = "user"
        address = "203.0.113.0/24"
        api-keys = "per-client"
        tenant = "acme"
        tiers = { free = 3, pro = 2 }
        [[traffic]]
        kind = "burst"
        requests = 1
        client = "batch"
        address = "2001:db8::1"
        tier = "pro"
        endpoint = "/x"
        "#,
    );
    let shown: Vec<String> = traffic
        .clients
        .iter()
        .map(|client| {
            let text = |value: Option<&str>| value.unwrap_or("-").to_owned();
            let address = client.address.map_or("-".to_owned(), |address| address.to_string());
            let (key, tenant) = (text(client.api_key()), text(client.tenant()));
            format!("{} {address} {key} {tenant} {}", client.name, text(client.tier()))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "user-1 203.0.113.1 key-user-1 acme free",
            "user-2 203.0.113.2 key-user-2 acme pro",
            "user-3 203.0.113.3 key-user-3 acme free",
            "user-4 203.0.113.4 key-user-4 acme pro",
            "user-5 203.0.113.5 key-user-5 acme free",
            "batch 2001:db8::1 - - pro",
        ]
    );
    assert_eq!(traffic.endpoints.iter().collect::<Vec<_>>(), ["", "/x"]);
}

#[test]
fn three_hundred_thousand_clients_are_merged_in_order() {
    let settings = "kind = \"poisson\"; rate = \"300000/s\"; clients = 300000; share = \"zipf\"";
    let traffic = source("2s", settings);
    let (mut count, mut last) = (0.0, 0);
    for arrival in traffic.merged() {
        assert!(arrival.at.0 >= last);
        (count, last) = (count + 1.0, arrival.at.0);
    }
    super::assert_near(count, 600_000.0);
    assert!(last > 2 * S - S / 1000);
}

#[test]
fn every_kind_describes_itself_without_a_run() {
    let schema = schema();
    let described = schema["oneOf"].as_array().unwrap();
    assert_eq!(described.len(), SOURCES.len());
    for (kind, described) in SOURCES.iter().zip(described).filter(|(kind, _)| !kind.recorded) {
        assert_eq!(described["properties"]["kind"]["const"], kind.name);
        for setting in ["clients", "share", "endpoints", "costs", "address", "tiers"] {
            assert!(described["properties"][setting].is_object(), "{setting} of {}", kind.name);
        }
    }
}
