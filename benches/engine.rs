//! How fast the event engine is, beside the decisions alone of a well-known limiter.
//!
//! `cargo bench --bench engine` runs the same Poisson traffic of many clients through every
//! algorithm (keys found, decided, judged, binned, books kept) and through the
//! keyed limiter of the governor crate under its fake clock (keys found and decided, nothing else),
//! one after another in every round, and prints medians and their ratios. Machines are noisy; the
//! ratios of one run are what can be compared.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::{Duration, Instant};

use governor::clock::FakeRelativeClock;
use governor::{Quota, RateLimiter};
use ratesim::algorithm::ALGORITHMS;
use ratesim::run;
use ratesim::scenario::{Changes, Scenario};
use ratesim::time::Span;
use ratesim::world::{self, KeyPlan, Observer, Plan};

const ROUNDS: usize = 5;
const SCENARIO: &str = r#"
name = "bench"
duration = "100s"
limit = "100/60s"
[[traffic]]
kind = "poisson"
clients = 10000
share = "zipf"
rate = "20000/s"
"#;

struct Unwatched;

impl Observer for Unwatched {
    fn progressed(&mut self, _reached: Span, _attempts: u64) -> bool {
        true
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let result = work();
    (result, begun.elapsed())
}

fn governor(arrivals: &[(i64, u32)]) -> u64 {
    let clock = FakeRelativeClock::default();
    let quota = Quota::with_period(Duration::from_millis(600)).expect("not zero");
    let quota = quota.allow_burst(NonZeroU32::new(100).expect("not zero"));
    let limiter = RateLimiter::hashmap_with_clock(quota, clock.clone());
    let mut now = arrivals.first().map_or(0, |arrival| arrival.0);
    let mut accepted = 0;
    for &(at, client) in arrivals {
        clock.advance(Duration::from_nanos((at - now) as u64));
        now = at;
        accepted += u64::from(limiter.check_key(&client).is_ok());
    }
    accepted
}

#[expect(clippy::print_stdout, reason = "a bench prints what it measured")]
fn main() {
    let scenario =
        Scenario::parse(Path::new("bench.toml"), SCENARIO.to_owned(), &Changes::default())
            .expect("the scenario is right");
    let case = scenario.cases[0].clone();
    let prepared = run::prepare(scenario, &[]).expect("the scenario is right");
    let traffic = prepared.traffic(0);
    let arrivals: Vec<(i64, u32)> = traffic.merged().map(|a| (a.at.0, a.client)).collect();
    let keys = KeyPlan::new(&case.limits, traffic);
    let stored: Vec<_> = traffic.merged().collect();
    let plan = Plan::of(&case, case.seed, traffic, Some(&stored), &keys);

    let mut times: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    let mut accepted: BTreeMap<&str, u64> = BTreeMap::new();
    let mut note = |name: &'static str, result: u64, time: Duration| {
        times.entry(name).or_default().push(time);
        accepted.insert(name, result);
    };
    for _ in 0..ROUNDS {
        let (result, time) = timed(|| governor(&arrivals));
        note("governor", result, time);
        let (count, time) = timed(|| traffic.merged().count());
        note("traffic alone", count as u64, time);
        for (kind, algorithm) in ALGORITHMS.iter().enumerate() {
            let contender = run::Contender::plain(kind, &case.limits, &Default::default())
                .expect("defaults suit every limit");
            let rules = contender.alone(&case.limits);
            let (tally, time) = timed(|| {
                world::run(&plan, rules, None, &mut Unwatched).expect("nobody stops it").0
            });
            note(algorithm.name, tally.books.accepted, time);
        }
    }
    assert_eq!(accepted["gcra"], accepted["governor"], "the same decisions");

    let median = |name: &str| {
        let mut all = times[name].clone();
        all.sort();
        all[all.len() / 2].as_secs_f64()
    };
    let base = median("governor");
    println!("{} requests of 10,000 clients, medians of {ROUNDS} rounds", arrivals.len());
    println!("{:<24} {:>12} {:>10} {:>12}", "", "M requests/s", "x governor", "accepted");
    let names = ["governor", "traffic alone"].into_iter().chain(ALGORITHMS.iter().map(|a| a.name));
    for name in names {
        let speed = arrivals.len() as f64 / median(name) / 1e6;
        let ratio = base / median(name);
        println!("{name:<24} {speed:>12.2} {ratio:>10.2} {:>12}", accepted[name]);
    }
}
