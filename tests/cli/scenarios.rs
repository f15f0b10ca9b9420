//! Small scenarios made up at random: any limits, traffic, algorithms and options, a few hundred
//! requests each.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

/// Any scenario, named `it`.
pub fn any() -> impl Strategy<Value = String> {
    (header(), limits(), traffic(), vec(algorithm(), 0..6), cases()).prop_map(
        |(header, limits, traffic, algorithms, cases)| {
            let numbered = algorithms.iter().enumerate().map(|(index, (kind, options))| {
                format!("\n[[algorithm]]\nkind = \"{kind}\"\nname = \"a{index}\"\n{options}")
            });
            header + &limits + &traffic + &numbered.collect::<String>() + &cases
        },
    )
}

/// Any in which all algorithms have their defaults and an attempt is charged to all limits or none.
pub fn with_defaults() -> impl Strategy<Value = String> {
    (start(), limits(), traffic()).prop_map(|(start, limits, traffic)| start + &limits + &traffic)
}

/// Any with one limit of one number, `token-bucket` and `gcra` under the same options.
pub fn twins() -> impl Strategy<Value = String> {
    (start(), limit(), traffic(), common()).prop_map(|(start, limit, traffic, options)| {
        let kinds = ["token-bucket", "gcra"];
        let tables = kinds.map(|kind| format!("\n[[algorithm]]\nkind = \"{kind}\"\n{options}"));
        start + "\n[[limit]]\nname = \"l\"\n" + &limit + &traffic + &tables.concat()
    })
}

fn start() -> impl Strategy<Value = String> {
    const STARTS: &[&str] = &[
        "",
        "start = \"12:00:00\"\n",
        "start = \"1969-12-31T23:59:55Z\"\n",
        "start = \"1700-01-01T00:00:00Z\"\n",
        "start = \"2199-12-31T23:59:30Z\"\n",
        "start = \"2026-07-01T08:30:00.123456789+02:00\"\n",
    ];
    (select(STARTS), 1..20_u32, 0..1000_u32).prop_map(|(start, seconds, seed)| {
        format!("name = \"it\"\nduration = \"{seconds}s\"\nseed = {seed}\n{start}")
    })
}

fn header() -> impl Strategy<Value = String> {
    let combine = select(&["all-or-nothing", "sequential", "independent"]);
    (start(), combine).prop_map(|(start, combine)| format!("{start}combine = \"{combine}\"\n"))
}

/// An optional line.
fn line(key: &'static str, value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    weighted(0.3, value).prop_map(move |value| match value {
        Some(value) => format!("{key} = {value}\n"),
        None => String::new(),
    })
}

fn one_of(values: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(values).prop_map(|value| value.to_string())
}

const SPANS: &[&str] = &["\"1s\"", "\"3s\"", "\"10s\"", "\"700ms\"", "\"333333333ns\"", "\"1h\""];

fn limit() -> impl Strategy<Value = String> {
    let keys = &["\"client\"", "\"everything\"", "\"endpoint\"", "[\"client\", \"endpoint\"]"];
    let key = line("key", one_of(keys));
    let counts = line("counts", one_of(&["\"cost\"", "\"requests\""]));
    let burst = line("burst", (0..12_u32).prop_map(|burst| burst.to_string()));
    let requests = prop_oneof![4 => 1..12_u32, 1 => Just(0)];
    (requests, one_of(SPANS), burst, key, counts).prop_map(|(requests, per, burst, key, counts)| {
        format!("requests = {requests}\nper = {per}\n{burst}{key}{counts}")
    })
}

fn limits() -> impl Strategy<Value = String> {
    let tier = line("tiers.pro.requests", (0..20_u32).prop_map(|requests| requests.to_string()));
    let endpoints = line("endpoints", one_of(&["[\"/a\"]", "[\"/a\", \"/b\"]"]));
    vec((limit(), tier, endpoints), 1..4).prop_map(|limits| {
        let numbered = limits.into_iter().enumerate().map(|(index, (limit, tier, endpoints))| {
            format!("\n[[limit]]\nname = \"l{index}\"\n{limit}{tier}{endpoints}")
        });
        numbered.collect()
    })
}

fn traffic() -> impl Strategy<Value = String> {
    let span = |longest: u32| (0..longest).prop_map(|ms| format!("\"{ms}ms\""));
    let positive = || (1..4000_u32).prop_map(|ms| format!("\"{ms}ms\""));
    let rate = || (0..25_u32).prop_map(|count| format!("\"{count}/s\""));
    let spacing = || line("spacing", one_of(&["\"even\"", "\"poisson\""]));
    let kind = prop_oneof![
        (span(20_000), line("over", span(9000)), 0..40_u32).prop_map(|(at, over, requests)| {
            format!("kind = \"burst\"\nat = {at}\n{over}requests = {requests}\n")
        }),
        rate().prop_map(|rate| format!("kind = \"steady\"\nrate = {rate}\n")),
        rate().prop_map(|rate| format!("kind = \"poisson\"\nrate = {rate}\n")),
        (rate(), positive(), positive(), spacing(), line("phase", one_of(&["\"spread\""])))
            .prop_map(|(rate, on, off, spacing, phase)| {
                let spans = format!("on = {on}\noff = {off}\n");
                format!("kind = \"on-off\"\nrate = {rate}\n{spans}{spacing}{phase}")
            }),
        (rate(), rate(), spacing()).prop_map(|(start, end, spacing)| {
            format!("kind = \"ramp\"\nstart-rate = {start}\nend-rate = {end}\n{spacing}")
        }),
        (rate(), positive()).prop_map(|(rate, period)| {
            format!("kind = \"wave\"\nrate = {rate}\nperiod = {period}\n")
        }),
    ];
    let costs = &[
        "2",
        "{ kind = \"uniform\", min = 1, max = 4 }",
        "{ kind = \"log-normal\", median = 2, sigma = 1.0, max = 50 }",
    ];
    let source = (
        kind,
        line("clients", (1..5_u32).prop_map(|clients| clients.to_string())),
        line("share", one_of(&["\"zipf\""])),
        line("cost", one_of(costs)),
        line("endpoints", one_of(&["{ \"/a\" = 2, \"/b\" = 1 }"])),
        line("tiers", one_of(&["{ free = 3, pro = 1 }"])),
    );
    vec(source, 1..4).prop_map(|sources| {
        let table = |(kind, clients, share, cost, endpoints, tiers)| {
            format!("\n[[traffic]]\n{kind}{clients}{share}{cost}{endpoints}{tiers}")
        };
        sources.into_iter().map(table).collect()
    })
}

/// Options that all algorithms have.
fn common() -> impl Strategy<Value = String> {
    let tick = line("tick", one_of(&["\"1ms\"", "\"1s\"", "\"7ns\""]));
    (line("count-rejected", one_of(&["true", "false"])), tick)
        .prop_map(|(count, tick)| count + &tick)
}

fn algorithm() -> impl Strategy<Value = (&'static str, String)> {
    let kind = |kind: &'static str, key: &'static str, values: &'static [&'static str]| {
        (common(), line(key, one_of(values))).prop_map(move |(common, own)| (kind, common + &own))
    };
    prop_oneof![
        kind("fixed-window", "anchor", &["\"first-request\"", "\"epoch\""]),
        kind("sliding-window-log", "edge", &["\"closed\"", "\"half-open\""]),
        kind("sliding-window-counter", "round", &["\"none\"", "\"floor\""]),
        kind("token-bucket", "refill", &["\"interval\"", "\"continuous\""]),
        kind("token-bucket", "initial", &["0"]),
        kind("leaky-bucket", "first", &["\"immediate\"", "\"after-interval\""]),
        kind("gcra", "backwards", &["\"strict\"", "\"rewind\""]),
    ]
}

fn cases() -> impl Strategy<Value = String> {
    select(&[
        "",
        "\n[[case]]\nname = \"one\"\n\n[[case]]\nname = \"two\"\nset.limit.0.requests = 3\n",
        "\n[[case]]\nname = \"longer\"\nset.duration = \"25s\"\n",
    ])
    .prop_map(str::to_owned)
}
