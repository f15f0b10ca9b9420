//! Comparisons made by hand for the tests of the charts: what a run would have found, from the
//! instants at which attempts were offered and accepted.

use crate::judge::{
    Books, Distribution, Kept, LimitTally, Peak, SubjectTally, Subjects, Tally, Timeline, Worst,
};
use crate::metrics::{CaseInfo, Comparison, Repeat, Row, values};
use crate::rate::Limit;
use crate::time::Window;
use crate::time::{Instant, Span};

/// One algorithm's decisions: its kind and name, and for each attempt when it was offered and when
/// it was accepted, in milliseconds, in the order of acceptance.
pub struct Run {
    pub kind: usize,
    pub name: &'static str,
    pub attempts: Vec<(u64, Option<u64>)>,
}

pub fn window(seconds: u64) -> Window {
    let start = Instant::parse("12:00:00").unwrap();
    Window { start, end: start + Span::from_secs(seconds) }
}

pub fn comparison(name: &str, cases: Vec<(&str, Limit, u64, Vec<Run>)>) -> Comparison {
    let mut rows = Vec::new();
    let mut infos = Vec::new();
    for (case, (case_name, limit, seconds, runs)) in cases.into_iter().enumerate() {
        infos.push(CaseInfo {
            name: case_name.to_owned(),
            limits: vec![("requests".to_owned(), format!("{limit} for each client"))],
            sending: None,
            fleet: None,
            window: window(seconds),
            notes: Vec::new(),
        });
        for run in runs {
            let tally = tally(&run.attempts, limit, window(seconds));
            let algorithm = run.name.to_owned();
            let (kind, reference, repeats) = (run.kind, None, Vec::new());
            rows.push(Row { case, algorithm, kind, seed: 1, reference, tally, repeats });
        }
    }
    Comparison { scenario: name.to_owned(), about: String::new(), cases: infos, baseline: 0, rows }
}

pub fn tally(attempts: &[(u64, Option<u64>)], limit: Limit, window: Window) -> Tally {
    let at = |millis: u64| window.start + Span::from_nanos(millis * 1_000_000);
    let mut timeline = Timeline::over(window);
    let mut accepted: Vec<Instant> = Vec::new();
    let mut over_limit = 0;
    let mut queue_waits = Distribution::default();
    let mut peak = Peak { cost: 0, from: window.start, to: window.start };
    let (mut rejected, mut pending) = (0, 0);
    for &(offered, acceptance) in attempts {
        let bin = timeline.index(at(offered));
        timeline.bins[bin].offered += 1;
        let Some(moment) = acceptance.map(at) else {
            rejected += 1;
            timeline.bins[bin].rejected += 1;
            continue;
        };
        if !window.contains(moment) {
            pending += 1;
            continue;
        }
        accepted.push(moment);
        if attempts.iter().any(|(offered, accepted)| accepted.is_some_and(|a| a > *offered)) {
            queue_waits.record(moment - at(offered));
        }
        let first = accepted.partition_point(|&earlier| earlier + limit.per <= moment);
        let cost = (accepted.len() - first) as u64;
        let bin = timeline.index(moment);
        timeline.bins[bin].accepted += 1;
        timeline.bins[bin].window_max = timeline.bins[bin].window_max.max(cost);
        if cost > limit.requests {
            over_limit += 1;
            timeline.bins[bin].over_limit += 1;
        }
        if cost > peak.cost {
            peak = Peak { cost, from: accepted[first], to: moment };
        }
    }
    for index in 0..timeline.bins.len() {
        let start = timeline.start + Span::from_nanos(timeline.width.nanos() * index as u64);
        let until = accepted.partition_point(|&moment| moment < start);
        let from = accepted.partition_point(|&moment| moment + limit.per <= start);
        let carried = until.saturating_sub(from) as u64;
        timeline.bins[index].window_max = timeline.bins[index].window_max.max(carried);
    }
    let count = accepted.len() as u64;
    let key = SubjectTally {
        promise: Some(limit),
        attempts: attempts.len() as u64,
        accepted: count,
        rejected,
        over_limit,
        peak: Some(peak.cost),
        longest_lockout: Span::ZERO,
    };
    Tally {
        books: Books::of_open_loop(attempts.len() as u64, count, rejected, pending),
        over_limit,
        needless_rejections: 0,
        wrong: None,
        limits: vec![LimitTally {
            name: "requests".to_owned(),
            promise: limit,
            attempts: attempts.len() as u64,
            accepted: count,
            refused: rejected,
            over_limit,
            needless_rejections: 0,
            worst: (count > 0).then_some(Worst { key: 0, promise: limit, peak: Some(peak) }),
            keys: [("client-1", key)].into_iter().collect(),
        }],
        clients: Subjects::default(),
        timeline,
        queue_waits,
        denial_waits: Distribution::default(),
        denied_for_ever: 0,
        kept: Kept::default(),
        closed: None,
        fleet: None,
    }
}

/// 100 requests at 59 s and 100 spread over the second from 60 s on, against 100 per 60 s.
pub fn boundary() -> Comparison {
    let mut comparison = comparison("boundary", vec![("", LIMIT, 180, boundary_runs())]);
    comparison.about = "A full quota on each side of a minute edge.".to_owned();
    comparison
}

/// The boundary in two cases, `plain` and `strict`, of four replicas each that differ a little.
pub fn replicated() -> Comparison {
    let strict = Limit::new(60, Span::from_secs(60));
    let mut comparison = comparison(
        "replicated",
        vec![("plain", LIMIT, 180, boundary_runs()), ("strict", strict, 180, boundary_runs())],
    );
    comparison.rows.retain(|row| [0, 3, 4].contains(&row.kind));
    for (index, row) in comparison.rows.iter_mut().enumerate() {
        let accepted = row.tally.books.accepted;
        row.repeats = (1..4)
            .map(|replica| {
                let mut tally = row.tally.clone();
                tally.books.accepted = accepted.saturating_sub(replica * (3 + index as u64));
                tally.over_limit = tally.over_limit.saturating_sub(replica * 2);
                Repeat { seed: replica, values: values(&tally), expected: Vec::new() }
            })
            .collect();
    }
    comparison
}

const LIMIT: Limit = Limit::new(100, Span::from_secs(60));

fn boundary_runs() -> Vec<Run> {
    let offered: Vec<u64> =
        (0..100).map(|_| 59_000).chain((0..100).map(|n| 60_000 + 10 * n)).collect();
    let decide = |kind, name, admit: &dyn Fn(usize, u64) -> bool| Run {
        kind,
        name,
        attempts: offered
            .iter()
            .enumerate()
            .map(|(index, &t)| (t, admit(index, t).then_some(t)))
            .collect(),
    };
    // One token comes back every 600 ms: at 59.6, 60.2 and 60.8 s.
    let earned = |index: usize, t: u64| index < 100 || [60_000, 60_200, 60_800].contains(&t);
    let mut runs = vec![
        decide(0, "fixed-window", &|_, _| true),
        decide(1, "sliding-window-log", &|index, _| index < 100),
        decide(2, "sliding-window-counter", &|index, t| index < 100 || t == 60_600),
        decide(3, "token-bucket", &earned),
    ];
    let leave = |n: u64| (n < 100).then(|| 59_000 + 600 * (n + 1));
    let attempts = offered.iter().zip(0..).map(|(&t, n)| (t, leave(n))).collect();
    runs.push(Run { kind: 4, name: "leaky-bucket", attempts });
    runs.push(decide(5, "gcra", &earned));
    runs
}

/// Cases of other shapes: one algorithm alone over less than a second, many variants with long names
/// over a day, tiers, a limit far above the traffic, requests still queued at the end.
pub fn odd() -> Comparison {
    let variants = [
        "fixed-window",
        "fixed-window anchored at the first request of every client",
        "fixed-window 3",
        "sliding-window-counter round none",
        "token-bucket",
        "token-bucket burst 10",
        "gcra",
        "gcra strict",
        "leaky-bucket",
        "leaky-bucket immediate",
    ];
    let kinds = [0, 0, 0, 2, 3, 3, 5, 5, 4, 4];
    let mut many = Vec::new();
    for (index, (name, kind)) in variants.into_iter().zip(kinds).enumerate() {
        let attempts = (0..2000_u64).map(|n| {
            let t = (n * n * 21) % 86_000_000;
            (t, (n % (index as u64 + 2) != 0).then_some(t))
        });
        let mut attempts: Vec<_> = attempts.collect();
        attempts.sort_unstable();
        many.push(Run { kind, name, attempts });
    }
    let waits = |kind, name, slow| Run {
        kind,
        name,
        attempts: (0..50_u64).map(|n| (n * 10, (n % 3 > 0).then_some(n * 10 + n * slow))).collect(),
    };
    let few =
        |limit| (0..400_u64).map(|n| (n * 1500, (n % limit > 0).then_some(n * 1500))).collect();
    let mut odd = comparison(
        "odd",
        vec![
            (
                "alone",
                Limit::new(20, Span::from_nanos(100_000_000)),
                1,
                vec![waits(4, "leaky-bucket", 30)],
            ),
            ("many", Limit::new(30, Span::from_secs(3600)), 86_400, many),
            (
                "tiers",
                Limit::new(10, Span::from_secs(60)),
                600,
                vec![
                    Run { kind: 0, name: "fixed-window", attempts: few(4) },
                    Run { kind: 3, name: "token-bucket", attempts: few(2) },
                ],
            ),
            (
                "far",
                Limit::new(1_000_000, Span::from_secs(60)),
                600,
                vec![
                    Run { kind: 0, name: "fixed-window", attempts: few(4) },
                    Run { kind: 1, name: "sliding-window-log", attempts: few(900) },
                ],
            ),
        ],
    );
    for row in odd.rows.iter_mut().filter(|row| row.case == 2) {
        let limit = &mut row.tally.limits[0];
        for requests in [25, 60] {
            let promise = Some(Limit::new(requests, Span::from_secs(60)));
            let key = SubjectTally { promise, peak: None, ..limit.keys.get(0) };
            limit.keys.extend([(format!("client of {requests}"), key)]);
        }
    }
    odd
}
