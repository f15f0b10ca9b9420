//! Fleets made up at random: what must hold whatever they are.

#[path = "../support/loops.rs"]
mod loops;

use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

use super::{fates, tallies};

fn traffic() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        (0..20_u32, 1..30_u32).prop_map(|(tenth, n)| format!(
            "kind = \"burst\"\nat = \"{}ms\"\nrequests = {n}\n",
            100 * tenth
        )),
        (1..40_u32).prop_map(|n| format!("kind = \"steady\"\nrate = \"{n}/s\"\n")),
        (1..40_u32).prop_map(|n| format!("kind = \"poisson\"\nrate = \"{n}/s\"\n")),
    ];
    (kind, 1..4_u32, 1..3_u32).prop_map(|(kind, clients, cost)| {
        format!("[[traffic]]\n{kind}clients = {clients}\ncost = {cost}\n")
    })
}

/// A duration, one limit and traffic.
fn base() -> impl Strategy<Value = String> {
    let limit = (1..12_u32, select(&["300ms", "1s", "3s"][..]))
        .prop_map(|(requests, per)| format!("limit = \"{requests}/{per}\"\n"));
    with(limit)
}

/// A duration, several limits, one of them for all clients, and traffic.
fn many() -> impl Strategy<Value = String> {
    let ways = select(&["all-or-nothing", "sequential", "independent"][..]);
    let limits = (1..12_u32, 3..20_u32, ways).prop_map(|(one, other, combine)| {
        format!(
            "combine = \"{combine}\"\nlimit = [\"{one}/1s\", {{ requests = {other}, per = \"2s\", key = \
             \"everything\" }}]\n"
        )
    });
    with(limits)
}

/// Options under which algorithms write what they refuse, or go by older times.
fn options() -> impl Strategy<Value = &'static str> {
    select(
        &[
            "[[algorithm]]\nkind = \"fixed-window\"\ncount-rejected = true\n\
             [[algorithm]]\nkind = \"sliding-window-log\"\ncount-rejected = true\n",
            "[[algorithm]]\nkind = \"gcra\"\nbackwards = \"rewind\"\n\
             [[algorithm]]\nkind = \"sliding-window-counter\"\nbackwards = \"rewind\"\n",
            "[[algorithm]]\nkind = \"token-bucket\"\ninitial = 0\n\
             [[algorithm]]\nkind = \"leaky-bucket\"\ncount-rejected = true\n",
        ][..],
    )
}

/// A duration and traffic under limits.
fn with(limit: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (limit, prop::collection::vec(traffic(), 1..3), 0..1000_u64).prop_map(
        |(limit, traffic, seed)| {
            format!("duration = \"4s\"\nseed = {seed}\n{limit}{}", traffic.concat())
        },
    )
}

fn nodes() -> impl Strategy<Value = String> {
    let routing = prop_oneof![
        4 => select(&["round-robin", "random", "by-key", "least-busy"][..]).prop_map(|routing| format!("\"{routing}\"")),
        1 => Just("\"weighted\"\nweights = [3, 0, 1]".to_owned()),
    ];
    let clocks = weighted(
        0.5,
        (-3..3_i64, -3..3_i64, select(&["1ns", "1ms", "1s"][..])).prop_map(|(one, other, resolution)| {
            format!("offsets = [\"{one}s\", \"0s\", \"{other}00ms\"]\nresolution = \"{resolution}\"\n")
        }),
    );
    (routing, clocks).prop_map(|(routing, clocks)| {
        format!("[nodes]\ncount = 3\nrouting = {routing}\n{}", clocks.unwrap_or_default())
    })
}

/// Where states lie, with all that goes with it.
fn fleet() -> impl Strategy<Value = String> {
    let alone = select(
        &[
            "placement = \"local\"\n",
            "placement = \"split\"\n",
            "placement = \"local\"\n[nodes.sweep]\nevery = \"500ms\"\nidle = \"700ms\"\n",
        ][..],
    )
    .prop_map(str::to_owned);
    let apart = (
        select(
            &[
                "placement = \"synced\"\nsync-every = \"250ms\"\n",
                "placement = \"synced\"\nsync-every = \"90ms\"\nsweep = { every = \"200ms\", idle = \"300ms\" }\n",
            ][..],
        ),
        store(Asks::Never),
    )
        .prop_map(|(placement, store)| placement.to_owned() + &store);
    let leased = (select(&[1, 3][..]), store(Asks::Leases)).prop_map(|(batch, store)| {
        format!("placement = \"leased\"\nlease-batch = {batch}\nlease-lasts = \"600ms\"\n{store}")
    });
    let shared =
        store(Asks::Always).prop_map(|store| "placement = \"shared\"\n".to_owned() + &store);
    (nodes(), prop_oneof![1 => alone, 1 => apart, 1 => leased, 3 => shared])
        .prop_map(|(nodes, rest)| nodes + &rest)
}

/// What nodes ask a store about attempts.
#[derive(Clone, Copy, PartialEq)]
enum Asks {
    Never,
    Leases,
    Always,
}

fn store(asks: Asks) -> impl Strategy<Value = String> {
    let round_trip = select(
        &["\"0s\"", "\"50ms\"", "{ kind = \"uniform\", min = \"1ms\", max = \"400ms\" }"][..],
    );
    let atomicity = select(&["script", "check-then-increment", "read-modify-write"][..]);
    let expiry = select(
        &[
            "\"right\"",
            "\"none\"",
            "{ kind = \"short\", after = \"200ms\" }",
            "\"renewed\"",
            "{ kind = \"lost\", probability = \"50%\" }",
            "\"whole-seconds\"",
        ][..],
    );
    let failure = select(
        &["\"open\"", "\"closed\"", "\"local\"", "\"open-after\"\nopen-after = \"300ms\""][..],
    );
    let outage = weighted(
        0.6,
        select(
            &[
                "",
                "how = \"refuses\"\n",
                "state = \"lost\"\n",
                "nodes = [2]\n",
                "kind = \"slow\"\ntimes = 5\nextra = \"10ms\"\n",
                "kind = \"lossy\"\nshare = \"40%\"\n",
                "kind = \"lossy\"\nshare = \"40%\"\nof = \"answers\"\n",
            ][..],
        ),
    );
    let more = (
        weighted(0.3, Just("[store.breaker]\nfailures = 2\nopen-for = \"300ms\"\n")),
        weighted(0.3, Just("[[store.fail-over]]\nat = \"2s\"\nlag = \"900ms\"\n")),
        weighted(0.2, select(&["least-recently-used", "soonest-to-expire", "refuse"][..])),
        weighted(0.3, Just("time = \"store\"\n")),
        weighted(
            0.3,
            Just("shards = 2\noffsets = [\"0s\", \"-700ms\"]\nkey-name = \"<limit>:<key>{one}\"\n"),
        ),
    );
    (round_trip, atomicity, expiry, failure, outage, more).prop_map(
        move |(round_trip, atomicity, expiry, failure, outage, more)| {
            let (breaker, fail_over, eviction, time, shards) = more;
            let mut text = format!(
                "[store]\nround-trip = {round_trip}\ntimeout = \"250ms\"\nexpiry = {expiry}\n"
            );
            if let Some(eviction) = eviction {
                text += &format!("max-memory-bytes = 120\neviction = \"{eviction}\"\n");
            }
            if asks == Asks::Always {
                text += &format!("atomicity = \"{atomicity}\"\n");
            }
            if asks != Asks::Never {
                text += &format!("on-failure = {failure}\n{}", time.unwrap_or_default());
            }
            text += shards.unwrap_or_default();
            text += breaker.filter(|_| asks != Asks::Never).unwrap_or_default();
            if let Some(outage) = outage {
                text += &format!("[[store.outage]]\nat = \"1s\"\nfor = \"1500ms\"\n{outage}");
            }
            text + fail_over.unwrap_or_default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Books are balanced by every run, or it panics.
    #[test]
    fn books_balance_and_nothing_depends_on_the_moment(
        (one, many) in (base(), many()), fleet in fleet(), options in weighted(0.5, options()),
        closed in weighted(0.5, loops::closed()), several in any::<bool>(),
    ) {
        let base = if several && !fleet.contains("leased") { many } else { one };
        let text = format!("{base}{fleet}{}{}", options.unwrap_or_default(), closed.unwrap_or_default());
        let (once, again) = (tallies(&text), tallies(&text));
        prop_assert_eq!(once.len(), if options.is_some() { 2 } else { 6 });
        prop_assert!(once == again, "{}", text);
    }

    /// However long the way to the store is, if it is the same for all: on the caller's time, each attempt is
    /// decided as if the state were at hand.
    #[test]
    fn a_script_on_the_callers_time_decides_at_any_distance_as_at_hand(
        base in base(), millis in 0..900_u32, nodes in select(vec![1, 2, 5]),
    ) {
        let far = format!("{base}[nodes]\ncount = {nodes}\n[store]\nround-trip = \"{millis}ms\"\n");
        // Those that are still on their way at the end are not decided.
        let early = base.replace("4s", "6s");
        let far = far.replace("duration = \"4s\"", "duration = \"6s\"");
        for ((_, name, near), (_, _, far)) in tallies(&early).into_iter().zip(tallies(&far)) {
            let pending = far.books.pending;
            let near = fates(&near);
            let far = fates(&far);
            prop_assert!(far.0 <= near.0 && near.0 - far.0 <= pending, "{name}: {near:?} {far:?} {pending}");
            prop_assert!(far.1 <= near.1 && near.1 - far.1 <= pending, "{name}: {near:?} {far:?} {pending}");
        }
    }

    /// A race needs time between reading and writing.
    #[test]
    fn what_takes_no_time_is_decided_without_a_script_as_by_one(
        base in many(), options in weighted(0.7, options()), nodes in select(vec![1, 3]),
        atomicity in select(vec!["check-then-increment", "read-modify-write"]),
    ) {
        let of = |atomicity: &str| tallies(&format!(
            "{base}[nodes]\ncount = {nodes}\n[store]\natomicity = \"{atomicity}\"\n{}",
            options.unwrap_or_default()
        ));
        for ((_, name, script), (_, _, other)) in of("script").into_iter().zip(of(atomicity)) {
            prop_assert_eq!(fates(&script), fates(&other), "{} {}", name, base);
            prop_assert_eq!(&script.wrong, &other.wrong, "{} {}", name, base);
        }
    }
}
