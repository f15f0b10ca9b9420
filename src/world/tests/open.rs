//! The engine in an open loop.

use super::*;

/// A queue for one that lets out one a second: one attempt at 0 s, two at 1 s.
const QUEUE: &str = "limit = \"1/1s\"\n\
    [[traffic]]\nkind = \"burst\"\nrequests = 1\n\
    [[traffic]]\nkind = \"burst\"\nat = \"1s\"\nrequests = 2\n";

#[test]
fn who_leaves_at_an_instant_has_left_before_who_arrives_at_it() {
    let (tally, decisions, witness) =
        run_whole("leaky-bucket", &format!("duration = \"3s\"\n{QUEUE}"));
    let second = Span::from_secs(1);
    // The first leaves at 1 s, the second arrives then and takes its place until 2 s; the queue is
    // full for the third, which would be let in once the second has left.
    let expected = [
        (Span::ZERO, 0, 1, Fate::Queued(second)),
        (second, 1, 1, Fate::Queued(second)),
        (second, 2, 1, Fate::Rejected(Wait::After(second))),
    ];
    assert_eq!(witness.seen, expected);
    assert_eq!((tally.books.accepted, tally.books.rejected, tally.books.pending), (2, 1, 0));
    // One has passed in (0 s, 1 s] when the third is refused: there was no room for it.
    assert_eq!(tally.needless_rejections, 0);
    assert_eq!([0, 1, 2].map(|index| decisions.get(index)), [true, true, false]);
}

#[test]
fn who_would_leave_at_the_end_of_the_run_is_still_pending() {
    let (tally, ..) = run_whole("leaky-bucket", &format!("duration = \"2s\"\n{QUEUE}"));
    assert_eq!((tally.books.accepted, tally.books.rejected, tally.books.pending), (1, 1, 1));
    let longer = format!("duration = \"2000000001ns\"\n{QUEUE}");
    assert_eq!(run_whole("leaky-bucket", &longer).0.books.pending, 0);
}

#[test]
fn attempts_of_one_instant_are_decided_in_the_order_of_the_sources() {
    let scenario = "duration = \"1s\"\nlimit = { requests = 3, per = \"1s\", key = \"everything\" }\n\
        [[traffic]]\nkind = \"burst\"\nrequests = 2\nclient = \"first\"\n\
        [[traffic]]\nkind = \"burst\"\nrequests = 2\nclient = \"second\"\n";
    let (tally, ..) = run_whole("fixed-window", scenario);
    let accepted: Vec<_> =
        tally.clients.named().map(|(name, client)| (name, client.accepted)).collect();
    assert_eq!(accepted, [("first", 2), ("second", 1)]);
}

#[test]
fn decisions_are_compared_with_those_of_the_reference_one_by_one() {
    let mut reference = Decisions::default();
    [false, true, true].into_iter().for_each(|allowed| reference.push(allowed));
    let scenario = format!("duration = \"3s\"\n{QUEUE}");
    let (result, _) = run_until(u64::MAX, "leaky-bucket", &scenario, Some(&reference));
    let wrong = result.unwrap().0.wrong.unwrap();
    assert_eq!((wrong.allowed, wrong.limited), (1, 1));
}

#[test]
fn every_attempt_is_reported_as_progress_and_a_run_can_be_stopped() {
    let scenario = "duration = \"1s\"\nlimit = \"1/1s\"\n\
        [[traffic]]\nkind = \"burst\"\nrequests = 40000\nover = \"1s\"\n";
    let (tally, decisions, witness) = run_whole("gcra", scenario);
    assert_eq!(
        (tally.books.attempts, decisions.len(), witness.progressed),
        (40_000, 40_000, 40_000)
    );
    let (stopped, witness) = run_until(1, "gcra", scenario, None);
    assert_eq!(stopped, Err(Stopped::ByObserver));
    assert_eq!(witness.progressed, STRIDE);
}
