//! What a Retry-After header makes of a delay.

use proptest::prelude::*;

use super::*;

const POLICY: &str = "retries = \"fixed\"\ndelay = \"4s\"\n";

/// The wait after a first failure, and whether it obeys the header.
fn wait(options: &str, header: Option<Header>) -> (String, bool) {
    match first(&format!("{POLICY}{options}"), header) {
        Next::Retry { at, obeys } => ((at - Instant::MIDNIGHT).to_string(), obeys),
        Next::GiveUp { .. } => panic!("given up"),
    }
}

fn delay(text: &str) -> Option<Header> {
    Some(Header::Delay(span(text)))
}

fn date(text: &str) -> Option<Header> {
    Some(Header::Date(at(text)))
}

fn told(text: &str) -> (String, bool) {
    (text.to_owned(), true)
}

fn own() -> (String, bool) {
    ("4s".to_owned(), false)
}

#[test]
fn a_header_that_is_ignored_changes_nothing() {
    assert_eq!(wait("", delay("60s")), own());
    assert_eq!(wait("retry-after = \"ignore\"\n", date("60s")), own());
}

#[test]
fn a_header_that_is_obeyed_takes_the_place_of_the_delay() {
    let obey = "retry-after = \"obey\"\n";
    assert_eq!(wait(obey, delay("60s")), told("60s"));
    assert_eq!(wait(obey, delay("1s")), told("1s"));
    assert_eq!(wait(obey, delay("0s")), told("0s"));
    assert_eq!(wait(obey, date("90s")), told("90s"));
    assert_eq!(wait(obey, None), own());
}

#[test]
fn the_longer_of_both_counts_and_obeys_either_way() {
    let longer = "retry-after = \"longer\"\n";
    assert_eq!(wait(longer, delay("60s")), told("60s"));
    assert_eq!(wait(longer, delay("1s")), told("4s"));
    assert_eq!(wait(longer, None), own());
}

#[test]
fn jitter_comes_on_top_of_the_header_and_never_before_it() {
    let plus = |jitter: &str| {
        let options =
            format!("retry-after = \"obey-plus-jitter\"\nretry-after-jitter = \"{jitter}\"\n");
        let clients = clients(&format!("{POLICY}{options}"));
        let mut crowd = Crowd::new(&clients, Seed(1), 1);
        let mut waits = Vec::new();
        for request in 0..1000 {
            let next = crowd.failed(0, request, Instant::MIDNIGHT, &mut fresh(), delay("600s"));
            let Next::Retry { at, obeys: true } = next else { panic!("{next:?}") };
            waits.push(at - Instant::MIDNIGHT);
        }
        waits.sort();
        (waits[0], waits[999])
    };
    // Of 1000 draws over 30 s, the least is below 1 s but for one case in e^33, the greatest likewise.
    let (least, most) = plus("30s");
    assert!(span("600s") <= least && least < span("601s"), "{least}");
    assert!(span("629s") < most && most <= span("630s"), "{most}");
    let (least, most) = plus("5%");
    assert!(span("600s") <= least && least < span("601s"), "{least}");
    assert!(span("629s") < most && most <= span("630s"), "{most}");
    assert_eq!(wait("retry-after = \"obey-plus-jitter\"\n", delay("0s")), told("0s"));
    assert_eq!(wait("retry-after = \"obey-plus-jitter\"\n", None), own());
}

#[test]
fn a_date_is_read_by_the_clients_own_clock_and_a_delay_is_not() {
    let clock = |offset: &str| format!("retry-after = \"obey\"\nclock-offset = \"{offset}\"\n");
    // 5 s ahead: it takes 55 s to be left of 60 s, and comes sooner than it was told to.
    let early = |text: &str| (told(text).0, false);
    assert_eq!(wait(&clock("5s"), date("60s")), early("55s"));
    assert_eq!(wait(&clock("-5s"), date("60s")), told("65s"));
    assert_eq!(wait(&clock("90s"), date("60s")), early("0s"));
    assert_eq!(wait(&clock("0s"), Some(Header::Date(Instant(0)))), told("0s"));
    assert_eq!(wait(&clock("-5s"), delay("60s")), told("60s"));
    let longer = clock("5s").replace("obey", "longer");
    assert_eq!(wait(&longer, date("60s")), early("55s"));
    assert_eq!(wait(&longer, date("7s")), early("4s"));
}

#[test]
fn clocks_are_spread_around_their_offset_each_client_having_one() {
    let text =
        format!("{POLICY}retry-after = \"obey\"\nclock-offset = \"10s\"\nclock-spread = \"2s\"\n");
    let clients = clients(&text);
    let mut crowd = Crowd::new(&clients, Seed(1), 1000);
    let mut wait = |client, request| {
        let next = crowd.failed(client, request, Instant::MIDNIGHT, &mut fresh(), date("60s"));
        let Next::Retry { at, .. } = next else { panic!("{next:?}") };
        at - Instant::MIDNIGHT
    };
    let mut waits: Vec<Span> = (0..1000).map(|client| wait(client, 0)).collect();
    assert_eq!(waits[7], wait(7, 12345));
    waits.sort();
    // 60 s less 10 s, give or take 2 s: of 1000 draws over 4 s.
    assert!(span("48s") <= waits[0] && waits[0] < span("48.1s"), "{}", waits[0]);
    assert!(span("51.9s") < waits[999] && waits[999] <= span("52s"), "{}", waits[999]);
    waits.dedup();
    assert_eq!(waits.len(), 1000);
}

#[test]
fn a_header_beyond_what_the_client_waits_ends_the_request() {
    let obey = format!("{POLICY}retry-after = \"obey\"\n");
    let next = first(&format!("{obey}total-wait = \"59s\""), delay("60s"));
    assert_eq!(next, Next::GiveUp { at: Instant::MIDNIGHT });
    let next = first(&format!("{obey}patience = \"60s\""), delay("60s"));
    assert_eq!(next, Next::GiveUp { at: at("60s") });
}

#[test]
fn a_header_that_takes_its_place_leaves_the_last_delay_as_it_was() {
    let clients =
        clients("retries = \"exponential\"\njitter = \"decorrelated\"\nretry-after = \"obey\"\n");
    let mut crowd = Crowd::new(&clients, Seed(1), 1);
    let mut memory = Memory { delay: span("3s"), tries: 2, ..fresh() };
    crowd.failed(0, 0, Instant::MIDNIGHT, &mut memory, delay("60s"));
    assert_eq!((memory.delay, memory.waited), (span("3s"), span("60s")));
}

proptest! {
    #[test]
    fn no_header_and_no_clock_is_too_much(
        mode in prop::sample::select(vec!["ignore", "obey", "obey-plus-jitter", "longer"]),
        offset in prop_oneof![Just("-15250w"), Just("0s"), Just("15250w")],
        spread in prop_oneof![Just("0s"), Just("1ns"), Just("9223372036854775807ns")],
        extra in prop_oneof![Just("9223372036854775807ns"), Just("100%")],
        dated: bool,
        number: i64,
        now: i64,
        client in 0..3_u32,
    ) {
        let mut text = format!("{POLICY}retry-after = \"{mode}\"\n");
        if mode != "ignore" {
            text += &format!("clock-offset = \"{offset}\"\nclock-spread = \"{spread}\"\n");
        }
        if mode == "obey-plus-jitter" {
            text += &format!("retry-after-jitter = \"{extra}\"\n");
        }
        let header = match dated {
            true => Header::Date(Instant(number)),
            false => Header::Delay(Span::from_nanos(number.max(0) as u64)),
        };
        let clients = clients(&text);
        let mut memory = Memory { first: Instant(now), ..fresh() };
        let mut crowd = Crowd::new(&clients, Seed(1), 3);
        let next = crowd.failed(client, 0, Instant(now), &mut memory, Some(header));
        let Next::Retry { at, obeys } = next else { panic!("{next:?}") };
        prop_assert!(at >= Instant(now));
        let early = matches!(header, Header::Date(date) if at < date);
        prop_assert_eq!(obeys, mode != "ignore" && !early);
    }
}
