//! Closed loops made by hand for the tests of their charts.

use super::sample;
use crate::judge::{Closed, Judge, Tally, Trial};
use crate::metrics::Comparison;
use crate::time::{Span, Window};

/// What became of one request: when it was meant to be sent, when it was tried again, and whether (and
/// when) it succeeded or was given up; in milliseconds.
struct Request {
    sent: u64,
    retries: Vec<u64>,
    end: Option<(u64, bool)>,
}

const RUN: u64 = 60_000;
const TRIGGER: (u64, u64) = (20_000, 30_000);

/// Two requests a second through a trigger in which nothing succeeds, under two algorithms in four cases:
/// nobody retries, or all do at once, every second, or rarely. Under the first the storm dies down, under
/// the second that of clients who retry at once does not.
pub fn storm() -> Comparison {
    let mut comparison = sample::boundary();
    comparison.scenario = "storm".to_owned();
    let (case, row) = (comparison.cases[0].clone(), comparison.rows[0].clone());
    (comparison.cases, comparison.rows) = (Vec::new(), Vec::new());
    let cases = [("none", 0), ("naive", 20), ("every second", 1000), ("rarely", 9000)];
    for (index, (name, pause)) in cases.into_iter().enumerate() {
        comparison.cases.push(case.clone());
        comparison.cases[index].name = name.to_owned();
        for (kind, algorithm) in [(0, "fixed-window"), (5, "gcra")] {
            let until = if pause == 20 && kind == 5 { RUN } else { 35_000 };
            let mut row = row.clone();
            (row.case, row.kind, row.algorithm) = (index, kind, algorithm.to_owned());
            row.tally = tally(&requests(pause, until));
            comparison.rows.push(row);
        }
    }
    comparison
}

/// A request each half second; those from the start of the trigger until an instant are tried again after
/// each pause until then, or given up if there is no pause.
fn requests(pause: u64, until: u64) -> Vec<Request> {
    let request = |sent: u64| {
        let lost = (TRIGGER.0..until).contains(&sent) && (pause > 0 || sent < TRIGGER.1);
        if !lost {
            return Request { sent, retries: Vec::new(), end: Some((sent + 150, true)) };
        }
        if pause == 0 {
            return Request { sent, retries: Vec::new(), end: Some((sent + 1000, false)) };
        }
        let retries: Vec<u64> =
            (1..).map(|n| sent + n * pause).take_while(|at| *at < until).collect();
        Request { sent, retries, end: (until < RUN).then_some((until + 150, true)) }
    };
    (0..RUN / 500).map(|n| request(n * 500)).collect()
}

fn window(from: u64, to: u64) -> Window {
    let start = sample::window(1).start;
    let at = |ms: u64| start + Span::from_nanos(ms * 1_000_000);
    Window { start: at(from), end: at(to) }
}

fn tally(requests: &[Request]) -> Tally {
    let run = window(0, RUN);
    let judge = Judge::new(run, &[], 1);
    let mut judge = judge.with_requests(Some(window(TRIGGER.0, TRIGGER.1)));
    let mut attempts: Vec<(u64, Trial)> = Vec::new();
    for request in requests {
        attempts.push((request.sent, Trial::First));
        attempts.extend(request.retries.iter().map(|at| (*at, Trial::Retry { obeys: true })));
    }
    attempts.sort_by_key(|(at, _)| *at);
    for (at, trial) in &attempts {
        let at = window(0, *at).end;
        judge.offered(at, 0, &[]);
        judge.tried(at, *trial);
        judge.accepted(at, 0, &[], None);
    }
    let mut unfinished = 0;
    for Request { sent, end, .. } in requests {
        judge.requested();
        match end.filter(|(at, _)| *at < RUN) {
            Some((at, true)) => judge.succeeded(window(0, at).end, window(*sent, at).span()),
            Some((at, false)) => judge.gave_up(window(0, at).end),
            None => unfinished += 1,
        }
    }
    judge.finish(0, unfinished, |_, _| String::new(), |_| String::new())
}

/// What a closed loop found over a window, with a trigger, attempts at instants of it and times to success.
pub fn closed(run: Window, trigger: Option<Window>, attempts: u64, took: &[Span]) -> Closed {
    let mut judge = Judge::new(run, &[], 1).with_requests(trigger);
    for n in 0..attempts {
        let at = run.start + Span::from_nanos(run.span().nanos() / attempts * n);
        judge.offered(at, 0, &[]);
        judge.tried(at, if n > 1 { Trial::Retry { obeys: false } } else { Trial::First });
    }
    for took in took {
        judge.requested();
        judge.succeeded(run.start, *took);
    }
    let tally = judge.finish(attempts, 0, |_, _| String::new(), |_| String::new());
    tally.closed.unwrap_or_else(|| unreachable!("requests were told"))
}
