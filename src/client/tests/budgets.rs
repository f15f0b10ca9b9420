//! Retries that a budget grants or denies.

use super::*;

/// Which retries are granted of requests that fail one after another, given their clients.
fn granted(text: &str, failing: &[u32]) -> Vec<bool> {
    let clients = clients(text);
    let mut crowd = Crowd::new(&clients, Seed(1), 3);
    assert!(crowd.needs_order());
    let mut retried = |(request, &client): (usize, &u32)| {
        crowd.began(client, Instant::MIDNIGHT);
        let next = crowd.failed(client, request as u64, Instant::MIDNIGHT, &mut fresh(), None);
        match next {
            Next::Retry { .. } => true,
            Next::GiveUp { at } => {
                assert_eq!(at, Instant::MIDNIGHT, "given up at once");
                false
            }
        }
    };
    failing.iter().enumerate().map(&mut retried).collect()
}

const GRPC: &str = "retries = \"fixed\"\n[budget]\nkind = \"tokens\"\ncapacity = 10\n\
                    per-failure = 1\nrefund = 0.1\nthreshold = 5\n";

#[test]
fn tokens_of_each_client_are_its_own_and_those_of_all_are_shared() {
    let failing = [0, 0, 0, 0, 0, 1, 0];
    let apart = [true, true, true, true, false, true, false];
    assert_eq!(granted(GRPC, &failing), apart);
    let shared = [true, true, true, true, false, false, false];
    assert_eq!(granted(&format!("{GRPC}scope = \"all\""), &failing), shared);
}

#[test]
fn a_tenth_of_a_token_for_each_success_is_exact() {
    let clients = clients(GRPC);
    let mut crowd = Crowd::new(&clients, Seed(1), 1);
    let fails = |crowd: &mut Crowd| {
        let next = crowd.failed(0, 0, Instant::MIDNIGHT, &mut fresh(), None);
        matches!(next, Next::Retry { .. })
    };
    assert_eq!((0..10).filter(|_| fails(&mut crowd)).count(), 4);
    // From 0, sixty successes are 6.0 tokens and the failure leaves 5.0; one more leaves 5.1.
    (0..60).for_each(|_| crowd.succeeded(0, &fresh()));
    assert!(!fails(&mut crowd));
    (0..11).for_each(|_| crowd.succeeded(0, &fresh()));
    assert!(fails(&mut crowd));
}

#[test]
fn the_quota_of_aws_pays_for_a_hundred_retries_and_success_gives_back_what_it_took() {
    let clients = clients("profile = \"aws-standard\"\n");
    let mut crowd = Crowd::new(&clients, Seed(1), 1);
    let fails = |crowd: &mut Crowd, request| {
        let next = crowd.failed(0, request, Instant::MIDNIGHT, &mut fresh(), None);
        matches!(next, Next::Retry { .. })
    };
    assert_eq!((0..1000).filter(|&request| fails(&mut crowd, request)).count(), 100);
    crowd.succeeded(0, &Memory { tries: 2, ..fresh() });
    assert!(fails(&mut crowd, 0) && !fails(&mut crowd, 1));
    (0..5).for_each(|_| crowd.succeeded(0, &fresh()));
    assert!(fails(&mut crowd, 2) && !fails(&mut crowd, 3));
}

#[test]
fn a_share_counts_requests_and_the_floor_comes_on_top() {
    let text = "retries = \"immediate\"\n[budget]\nkind = \"share\"\nshare = \"50%\"\n\
                window = \"10s\"\nfloor = \"1/10s\"\n";
    // After n requests n/2 retries, rounded down, and one.
    let shown: Vec<bool> = granted(text, &[0, 0, 0, 0, 0, 0]);
    assert_eq!(shown, [true, true, false, true, false, true]);
    assert_eq!(granted(text, &[0, 1, 2]), [true, true, true]);
    let shared = format!("{text}scope = \"all\"");
    assert_eq!(granted(&shared, &[0, 1, 2, 0]), [true, true, false, true]);
}

const SLOTS: &str =
    "retries = \"fixed\"\n[budget]\nkind = \"in-flight\"\nmost = 2\nscope = \"all\"\n";

#[test]
fn a_slot_is_free_again_when_its_retry_succeeds_or_fails() {
    let clients = clients(SLOTS);
    let mut crowd = Crowd::new(&clients, Seed(1), 4);
    let now = Instant::MIDNIGHT;
    let fails = |crowd: &mut Crowd, client: u32, tries: u32| {
        let next = crowd.failed(client, 0, now, &mut Memory { tries, ..fresh() }, None);
        matches!(next, Next::Retry { .. })
    };
    assert!(fails(&mut crowd, 0, 1) && fails(&mut crowd, 1, 1) && !fails(&mut crowd, 2, 1));
    // A retry that fails frees its slot and takes it again.
    assert!(fails(&mut crowd, 0, 2) && !fails(&mut crowd, 2, 1));
    crowd.succeeded(0, &Memory { tries: 3, ..fresh() });
    assert!(fails(&mut crowd, 2, 1) && !fails(&mut crowd, 3, 1));
    // First attempts take no slot and free none.
    crowd.succeeded(0, &fresh());
    assert!(!fails(&mut crowd, 0, 1));
}

#[test]
fn what_is_not_made_is_not_charged() {
    let waited = Memory { waited: span("10s"), ..fresh() };
    let early = Memory { first: Instant::MIDNIGHT - span("10s"), ..fresh() };
    for (bound, memory) in [
        ("attempts = 2", Memory { tries: 2, ..fresh() }),
        ("total-wait = \"10s\"", waited),
        ("patience = \"10s\"", early),
    ] {
        let clients = clients(&format!(
            "{bound}\nretries = \"fixed\"\nbudget = {{ kind = \"tokens\", capacity = 2, per-retry = 1 }}"
        ));
        let mut crowd = Crowd::new(&clients, Seed(1), 1);
        let mut fails = |memory: Memory| {
            let next = crowd.failed(0, 0, Instant::MIDNIGHT, &mut memory.clone(), None);
            matches!(next, Next::Retry { .. })
        };
        assert_eq!([memory; 3].map(&mut fails), [false; 3], "{bound}");
        assert_eq!([fresh(); 3].map(&mut fails), [true, true, false], "{bound}");
    }
}

#[test]
fn a_denied_request_is_given_up_at_once_though_its_client_would_wait() {
    let clients = clients(&format!("patience = \"5s\"\n{SLOTS}").replace("= 2", "= 1"));
    let mut crowd = Crowd::new(&clients, Seed(1), 2);
    let mut early = Memory { first: Instant::MIDNIGHT - span("4.5s"), ..fresh() };
    let mut fails =
        |client, memory: &mut Memory| crowd.failed(client, 0, Instant::MIDNIGHT, memory, None);
    assert_eq!(fails(1, &mut early), Next::GiveUp { at: at("500ms") });
    assert_eq!(fails(0, &mut fresh()), Next::Retry { at: at("1s"), obeys: false });
    assert_eq!(fails(1, &mut early), Next::GiveUp { at: Instant::MIDNIGHT });
}

#[test]
fn only_a_budget_needs_order() {
    for (text, ordered) in [
        ("", false),
        ("retries = \"immediate\"", false),
        ("retries = \"immediate\"\nbudget = { kind = \"none\" }", false),
        (GRPC, true),
        (SLOTS, true),
        ("profile = \"finagle\"", true),
        ("profile = \"finagle\"\nbudget.kind = \"none\"", false),
    ] {
        let clients = clients(text);
        assert_eq!(Crowd::new(&clients, Seed(1), 1).needs_order(), ordered, "{text}");
    }
}
