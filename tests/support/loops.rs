//! Settings of closed loops made up at random: what clients do, what a rejection tells them, what works
//! behind the limits. Times are coarse, so that much happens at one instant, and every setting goes with the
//! others.

use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

/// The tables `[clients]`, `[rejection]` and `[backend]` of a closed loop; no request is tried more often than
/// a few dozen times.
pub fn closed() -> impl Strategy<Value = String> {
    (clients(), rejection(), weighted(0.6, backend())).prop_map(|(clients, rejection, backend)| {
        format!("\n[clients]\n{clients}\n[rejection]\n{rejection}\n{}", backend.unwrap_or_default())
    })
}

/// A line.
fn always(key: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(values).prop_map(move |value| format!("{key} = {value}\n"))
}

/// A line, or none.
fn line(
    weight: f64,
    key: &'static str,
    values: &'static [&'static str],
) -> impl Strategy<Value = String> {
    weighted(weight, select(values)).prop_map(move |value| match value {
        Some(value) => format!("{key} = {value}\n"),
        None => String::new(),
    })
}

fn clients() -> impl Strategy<Value = String> {
    // Longer than any round trip.
    const LONG: &[&str] =
        &["\"150ms\"", "\"200ms\"", "\"500ms\"", "\"1s\"", "\"2500ms\"", "\"1h\""];
    let rtt = always("rtt", &["\"1ms\"", "\"10ms\"", "\"100ms\""]);
    let waits = (line(0.4, "timeout", LONG), line(0.4, "patience", LONG));
    let in_flight = line(0.3, "in-flight", &["1", "2"]);
    let retries = prop_oneof![1 => Just(None), 6 => retries().prop_map(Some)];
    (rtt, waits, in_flight, retries).prop_map(|(rtt, (timeout, patience), in_flight, retries)| {
        // Something must feed back.
        let alone =
            retries.is_none() && [&timeout, &patience, &in_flight].iter().all(|s| s.is_empty());
        let timeout = if alone { "timeout = \"1s\"\n".to_owned() } else { timeout };
        rtt + &timeout + &patience + &in_flight + &retries.unwrap_or_default()
    })
}

fn retries() -> impl Strategy<Value = String> {
    const JITTERS: &[&str] = &["\"full\"", "\"equal\"", "\"proportional\""];
    let fixed = (
        select(&["\"1ms\"", "\"90ms\"", "\"100ms\"", "\"400ms\"", "\"1s\""][..]),
        line(0.3, "jitter", JITTERS),
    );
    let fixed =
        fixed.prop_map(|(delay, jitter)| format!("retries = \"fixed\"\ndelay = {delay}\n{jitter}"));
    let exponential = (
        line(0.5, "base", &["\"10ms\"", "\"90ms\"", "\"200ms\""]),
        line(0.5, "cap", &["\"200ms\"", "\"1s\""]),
        prop_oneof![
            line(0.5, "factor", &["1", "1.5", "3"]),
            always("jitter", JITTERS),
            Just("jitter = \"decorrelated\"\n".to_owned()),
        ],
    );
    let exponential = exponential
        .prop_map(|(base, cap, how)| format!("retries = \"exponential\"\n{base}{cap}{how}"));
    let policy = prop_oneof![Just("retries = \"immediate\"\n".to_owned()), fixed, exponential];
    let attempts = always("attempts", &["1", "2", "3", "5", "25"]);
    let total = line(0.2, "total-wait", &["\"0s\"", "\"300ms\"", "\"2s\""]);
    (policy, attempts, total, header(), budget()).prop_map(
        |(policy, attempts, total, header, budget)| policy + &attempts + &total + &header + &budget,
    )
}

/// What clients make of a Retry-After.
fn header() -> impl Strategy<Value = String> {
    let obeys = (
        select(&["\"obey\"", "\"longer\"", "\"obey-plus-jitter\""][..]),
        line(0.4, "retry-after-jitter", &["\"1s\"", "\"30%\""]),
        line(0.3, "clock-offset", &["\"-1s\"", "\"+700ms\""]),
        line(0.3, "clock-spread", &["\"500ms\""]),
    );
    let obeys = obeys.prop_map(|(how, extra, offset, spread)| {
        let extra = if how == "\"obey-plus-jitter\"" { extra } else { String::new() };
        format!("retry-after = {how}\n{extra}{offset}{spread}")
    });
    prop_oneof![Just(String::new()), obeys]
}

fn budget() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        Just("kind = \"tokens\", capacity = 5, per-failure = 1, refund = 0.5, threshold = 2"),
        Just("kind = \"tokens\", capacity = 6, per-retry = 2, refund = 1, refund-retried = 2"),
        Just("kind = \"share\", share = \"30%\", window = \"2s\", floor = \"1/s\""),
        Just("kind = \"in-flight\", most = 2"),
    ];
    let scope = select(&["client", "all"][..]);
    weighted(0.4, (kind, scope)).prop_map(|budget| match budget {
        Some((kind, scope)) => format!("budget = {{ {kind}, scope = \"{scope}\" }}\n"),
        None => String::new(),
    })
}

fn rejection() -> impl Strategy<Value = String> {
    let told = (
        line(0.5, "retry-after", &["\"wait\"", "\"window\"", "\"1500ms\""]),
        line(0.7, "rounding", &["\"up\"", "\"down\"", "\"nearest\"", "\"exact\""]),
        line(0.4, "form", &["\"delay\"", "\"date\""]),
        line(0.3, "jitter", &["\"1s\""]),
    );
    let told =
        told.prop_map(|(source, rounding, form, jitter)| source + &rounding + &form + &jitter);
    prop_oneof![5 => told, 1 => Just("retry-after = \"none\"\n".to_owned())]
}

fn backend() -> impl Strategy<Value = String> {
    let table = (
        2..4_u32,
        select(&["\"50ms\"", "\"100ms\"", "\"400ms\"", "\"1500ms\""][..]),
        line(0.3, "service", &["\"exponential\""]),
        line(0.6, "queue", &["0", "1", "4"]),
        line(0.4, "abandoned", &["\"serve\"", "\"skip\""]),
        line(0.4, "reject-cost", &["\"1ms\"", "\"100ms\""]),
    );
    let what = select(
        &["slots = 0", "slots = 1", "slow-down = 3", "loses = true", "slots = 0\nloses = true"][..],
    );
    let brown_outs = (weighted(0.4, ("\"0s\"", what.clone())), weighted(0.4, ("\"700ms\"", what)));
    (table, brown_outs, select(&["\"100ms\"", "\"600ms\"", "\"700ms\""][..])).prop_map(
        |((slots, time, service, queue, abandoned, cost), (first, second), lasts)| {
            let brown_outs = [first, second].into_iter().flatten().map(|(at, what)| {
                format!("[[backend.brown-out]]\nat = {at}\nfor = {lasts}\n{what}\n")
            });
            let brown_outs: String = brown_outs.collect();
            format!(
                "\n[backend]\nslots = {slots}\nservice-time = {time}\n{service}{queue}{abandoned}{cost}\n{brown_outs}"
            )
        },
    )
}
