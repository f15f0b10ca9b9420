//! When retries are made and when requests are given up.

use proptest::prelude::*;

use super::*;
use crate::client::jitter::{JITTERS, Raw, Sides};
use crate::rate::Share;
use crate::seed::Stream;

fn given_up(text: &str) -> (String, String) {
    let (waits, end) = waits(text, 100);
    (waits.join(" "), end.unwrap().to_string())
}

#[test]
fn without_retries_a_failure_is_the_end() {
    assert_eq!(waits("", 1), (Vec::new(), Some(Span::ZERO)));
}

#[test]
fn immediate_retries_come_at_once_for_ever() {
    let (waits, end) = waits("retries = \"immediate\"", 50);
    assert_eq!((waits.len(), end), (50, None));
    assert!(waits.iter().all(|wait| wait == "0s"));
}

#[test]
fn fixed_retries_come_after_the_same_delay() {
    assert_eq!(waits("retries = \"fixed\"\ndelay = \"2s\"", 3).0, ["2s", "2s", "2s"]);
}

#[test]
fn exponential_retries_double_up_to_the_cap() {
    let waits = waits("retries = \"exponential\"\nbase = \"300ms\"\ncap = \"2s\"", 5).0;
    assert_eq!(waits, ["300ms", "600ms", "1.2s", "2s", "2s"]);
}

#[test]
fn five_attempts_are_four_retries_and_the_last_failure_is_the_end() {
    let text = "retries = \"exponential\"\nbase = \"1s\"\nattempts = 5";
    assert_eq!(given_up(text), ("1s 2s 4s 8s".to_owned(), "15s".to_owned()));
    assert_eq!(given_up("retries = \"immediate\"\nattempts = 1"), (String::new(), "0s".to_owned()));
}

#[test]
fn a_retry_that_would_bring_waits_above_the_total_is_not_made_and_one_that_just_reaches_it_is() {
    let text = "retries = \"exponential\"\nbase = \"1s\"\ntotal-wait = ";
    assert_eq!(given_up(&format!("{text}\"7s\"")), ("1s 2s 4s".to_owned(), "7s".to_owned()));
    // The third wait would bring the sum to 7 s: given up at once, not at 6.9 s.
    assert_eq!(given_up(&format!("{text}\"6.9s\"")), ("1s 2s".to_owned(), "3s".to_owned()));
}

#[test]
fn a_retry_at_the_end_of_patience_is_not_made_and_the_client_leaves_then() {
    let text = "retries = \"fixed\"\ndelay = \"2s\"\npatience = ";
    // Retries at 2 and 4 s; the one at 6 s would be at the end.
    assert_eq!(given_up(&format!("{text}\"6s\"")), ("2s 2s".to_owned(), "6s".to_owned()));
    let just = format!("{text}\"6.000000001s\"");
    assert_eq!(given_up(&just), ("2s 2s 2s".to_owned(), "6000000001ns".to_owned()));
    let patient = clients(&format!("{text}\"6s\""));
    let crowd = Crowd::new(&patient, Seed(1), 1);
    assert_eq!(crowd.leaves_at(&fresh()), Some(at("6s")));
    assert_eq!(Crowd::new(&Clients::default(), Seed(1), 1).leaves_at(&fresh()), None);
}

#[test]
fn a_failure_learnt_after_the_end_of_patience_gives_up_no_earlier_than_it_was_learnt() {
    let clients = clients("retries = \"immediate\"\npatience = \"1s\"");
    let next = Crowd::new(&clients, Seed(1), 1).failed(0, 0, at("3s"), &mut fresh(), None);
    assert_eq!(next, Next::GiveUp { at: at("3s") });
}

#[test]
fn no_number_of_attempts_makes_a_delay_short() {
    let text = "retries = \"exponential\"\nfactor = 2\ncap = \"15250w\"\nbase = ";
    for (base, tries, delay) in [
        ("100ms", 26, span("3355443200ms")), // 100 ms x 2^25, negative in 32 bits
        ("200ms", 24, span("1677721600ms")), // 200 ms x 2^23
        ("100ms", 40, span("15250w")),
        ("100ms", 4_000_000, span("15250w")),
        ("100ms", u32::MAX, span("15250w")),
    ] {
        let clients = clients(&format!("{text}\"{base}\""));
        let mut memory = Memory { tries, ..fresh() };
        let mut crowd = Crowd::new(&clients, Seed(1), 1);
        let next = crowd.failed(0, 0, Instant::MIDNIGHT, &mut memory, None);
        let expected = Next::Retry { at: Instant::MIDNIGHT + delay, obeys: false };
        assert_eq!((next, memory.delay), (expected, delay), "{base} at {tries}");
    }
}

#[test]
fn at_the_end_of_time_nothing_wraps_around() {
    let clients = clients("retries = \"fixed\"\ndelay = \"15250w\"");
    let mut memory = Memory { first: Instant(i64::MAX - 1), waited: Span::MAX, ..fresh() };
    let mut crowd = Crowd::new(&clients, Seed(1), 1);
    let next = crowd.failed(0, 0, Instant(i64::MAX - 1), &mut memory, None);
    assert_eq!(next, Next::Retry { at: Instant(i64::MAX), obeys: false });
    assert_eq!(memory.waited, Span::MAX);
}

/// The range of a jitter for a delay of 1001 ns, with a base of 100 ns and a last delay of 250 ns.
fn range(name: &str, sides: Sides) -> (u64, u64) {
    let jitter = JITTERS.iter().find(|jitter| jitter.name == name).unwrap();
    (jitter.range)(&Raw { delay: 1001, base: 100, previous: 250, sides })
}

#[test]
fn jitters_draw_from_their_ranges() {
    let none = Sides::default();
    assert_eq!(range("none", none), (1001, 1001));
    assert_eq!(range("full", none), (0, 1001));
    assert_eq!(range("equal", none), (501, 1001));
    assert_eq!(range("decorrelated", none), (100, 750));
    let fifth = Share::percent(20);
    assert_eq!(range("proportional", Sides { below: fifth, above: fifth }), (801, 1201));
    assert_eq!(range("proportional", Sides { below: Share::ZERO, above: fifth }), (1001, 1201));
}

#[test]
fn a_decorrelated_delay_starts_from_the_last_and_never_passes_the_cap() {
    let clients = clients(
        "retries = \"exponential\"\njitter = \"decorrelated\"\nbase = \"1s\"\ncap = \"10s\"",
    );
    let mut capped = 0;
    for request in 0..200 {
        let mut crowd = Crowd::new(&clients, Seed(1), 1);
        let mut memory = fresh();
        for _ in 0..20 {
            let last = memory.delay.max(span("1s"));
            let next = crowd.failed(0, request, Instant::MIDNIGHT, &mut memory, None);
            assert_eq!(next, Next::Retry { at: Instant::MIDNIGHT + memory.delay, obeys: false });
            let most = Span::from_nanos(3 * last.nanos()).min(span("10s"));
            assert!(span("1s") <= memory.delay && memory.delay <= most);
            capped += usize::from(memory.delay == span("10s"));
            memory.tries += 1;
        }
    }
    assert!((200..3800).contains(&capped), "{capped} of 4000 at the cap");
}

proptest! {
    #[test]
    fn delays_stay_within_their_bounds(
        policy in prop::sample::select(vec!["fixed", "exponential"]),
        jitter in prop::sample::select(JITTERS.iter().collect::<Vec<_>>()),
        side in prop::sample::select(vec!["above", "around"]),
        ppm in 1..=1_000_000_u32,
        bits in 1..=63_u32,
        base in 1..=Span::MAX.nanos(),
        cap in 1..=Span::MAX.nanos(),
        factor in prop::sample::select(vec!["1", "1.01", "1.5", "2", "1000"]),
        tries in prop_oneof![1..100_u32, Just(4_000_000), Just(u32::MAX)],
        last in 0..=Span::MAX.nanos(),
        request: u64,
    ) {
        let base = Span::from_nanos((base >> (63 - bits)).max(1));
        let cap = Span::from_nanos(cap).max(base);
        let mut text = format!("retries = \"{policy}\"\njitter = \"{}\"\n", jitter.name);
        text += &match policy {
            "fixed" => format!("delay = \"{base}\"\n"),
            _ if jitter.feeds_back => format!("base = \"{base}\"\ncap = \"{cap}\"\n"),
            _ => format!("base = \"{base}\"\ncap = \"{cap}\"\nfactor = {factor}\n"),
        };
        if jitter.options.is_some() {
            let share = f64::from(ppm) / 10_000.0;
            text += &format!("jitter-share = \"{share}%\"\njitter-side = \"{side}\"\n");
        }
        if policy == "fixed" && jitter.feeds_back {
            prop_assert!(read(&text).is_err());
            return Ok(());
        }
        let cap = if policy == "fixed" { base } else { cap };
        let clients = clients(&text);
        let last = Span::from_nanos(last).min(cap);
        let mut memory = Memory { tries, delay: last, ..fresh() };
        let mut crowd = Crowd::new(&clients, Seed(1), 1);
        let next = crowd.failed(0, request, Instant::MIDNIGHT, &mut memory, None);
        let delay = memory.delay;
        prop_assert_eq!(next, Next::Retry { at: Instant::MIDNIGHT + delay, obeys: false });
        prop_assert_eq!(memory.waited, delay);
        match jitter.name {
            "full" => prop_assert!(delay <= cap),
            "proportional" => {
                let most = u128::from(cap.nanos()) * (1_000_000 + u128::from(ppm)) / 1_000_000;
                prop_assert!(u128::from(delay.nanos()) <= most);
            }
            _ => prop_assert!(Span::ZERO < delay && delay <= cap),
        }
        if jitter.name == "decorrelated" {
            prop_assert!(delay >= base);
        }
    }

    #[test]
    fn every_jitter_has_a_range_at_every_extreme(
        delay in prop_oneof![Just(0), Just(1), Just(Span::MAX.nanos()), 0..=Span::MAX.nanos()],
        base in prop_oneof![Just(0), Just(1), Just(Span::MAX.nanos())],
        more in prop_oneof![Just(0), Just(1), Just(Span::MAX.nanos())],
        ppm in prop_oneof![Just(0_u32), Just(100)],
        seed: u64,
    ) {
        let sides = Sides { below: Share::percent(ppm), above: Share::percent(ppm) };
        let previous = base.max(more);
        for jitter in JITTERS {
            let raw = Raw { delay, base, previous, sides };
            let (least, most) = (jitter.range)(&raw);
            prop_assert!(least <= most && most <= Span::MAX.nanos(), "{}", jitter.name);
            let drawn = jitter.draw(&raw, Span::MAX, || Stream::new(seed.into())).nanos();
            prop_assert!(least <= drawn && drawn <= most, "{}", jitter.name);
        }
    }
}
