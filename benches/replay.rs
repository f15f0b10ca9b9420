//! How fast the bulk engine is, beside the decisions alone of a well-known limiter.
//!
//! `cargo bench --bench replay` makes requests of many clients with unequal shares in memory and takes them, one thing
//! after another in every round, on one core: through the keyed limiter of the governor crate under its fake clock
//! (in time order, as such a limiter meets them); through each algorithm alone, grouped by key; and through the whole
//! comparison of all six with judging and time line, grouped by key and from time-ordered columns. It prints medians
//! and their ratios. Machines are noisy; the ratios of one run are what can be compared.
//!
//! `RATESIM_BENCH_REQUESTS` changes the number of requests.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::{Duration, Instant as Watch};

use governor::clock::FakeRelativeClock;
use governor::{Quota, RateLimiter};
use ratesim::algorithm::{ALGORITHMS, Batch, Decided, Gap, History, Segment};
use ratesim::replay;
use ratesim::run::{self, Contender};
use ratesim::scenario::{Changes, Scenario};
use ratesim::time::{Instant, Window};
use ratesim::traffic::{Chunk, Column, Recorded, Traffic};
use ratesim::world::{KeyPlan, Plan, Rules};

const ROUNDS: usize = 7;
const REQUESTS: u64 = 100_000_000;

/// The traffic of `scenarios/cloudflare.toml`, of which the first quarter of the day is taken.
const SCENARIO: &str = r#"
name = "bench"
start = "00:00:00"
duration = "24h"
seed = 1
limit = "100/60s"
max-requests = 1000000000
max-memory-mib = 100000
[[traffic]]
kind = "poisson"
clients = 270000
share = "zipf"
rate = "400000000/24h"
"#;

/// Requests grouped by client.
struct Grouped {
    times: Vec<i64>,
    /// By client, where its requests end.
    ends: Vec<usize>,
}

struct Unwatched;

impl replay::Observer for Unwatched {
    fn progressed(&self, _attempts: u64) -> bool {
        true
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Watch::now();
    let result = work();
    (result, begun.elapsed())
}

/// What governor lets through of requests in time order.
fn governor(times: &[i64], clients: &[u32]) -> u64 {
    let clock = FakeRelativeClock::default();
    let quota = Quota::with_period(Duration::from_millis(600)).expect("not zero");
    let quota = quota.allow_burst(NonZeroU32::new(100).expect("not zero"));
    let limiter = RateLimiter::hashmap_with_clock(quota, clock.clone());
    let mut now = times.first().copied().unwrap_or(0);
    let mut accepted = 0;
    for (&at, &client) in times.iter().zip(clients) {
        clock.advance(Duration::from_nanos((at - now) as u64));
        now = at;
        accepted += u64::from(limiter.check_key(&client).is_ok());
    }
    accepted
}

/// What an algorithm lets through, decided key by key and nothing else.
fn decided(rules: Rules, grouped: &Grouped) -> u64 {
    let mut limiters = rules.limiters;
    let limiter = limiters[0][0].remove(0);
    let mut limiter = limiter.in_time_order().unwrap_or(limiter);
    let mut decided = Decided::default();
    let mut accepted = 0;
    let mut from = 0;
    let (mut segments, mut gaps, mut histories) = (Vec::new(), Vec::new(), Vec::new());
    let mut start = 0;
    for (client, &end) in grouped.ends.iter().enumerate() {
        let mut starts = true;
        while start < end {
            let to = end.min(from + Chunk::MOST);
            let end = (to - from) as u32;
            segments.push(Segment { bin: 0, end });
            gaps.push(Gap { attempt: end - 1, from: 1, to: 1, after: 0 });
            histories.push(History {
                key: client as u32,
                starts,
                end,
                segments_end: segments.len() as u32,
            });
            starts = false;
            start = to;
            if to - from == Chunk::MOST || to == grouped.times.len() {
                let batch = Batch {
                    times: &grouped.times[from..to],
                    costs: None,
                    segments: &segments,
                    gaps: &gaps,
                    histories: &histories,
                    marked: false,
                };
                limiter.replay(&batch, &mut decided);
                let denied = decided.outcomes.iter().map(|outcome| u64::from(outcome.denied));
                accepted += (to - from) as u64 - denied.sum::<u64>();
                segments.clear();
                gaps.clear();
                histories.clear();
                from = to;
            }
        }
    }
    accepted
}

#[expect(clippy::disallowed_methods, reason = "how long a bench takes is for its user to say")]
fn requests() -> u64 {
    let wanted = std::env::var("RATESIM_BENCH_REQUESTS");
    wanted.ok().and_then(|text| text.parse().ok()).unwrap_or(REQUESTS)
}

#[expect(clippy::print_stdout, reason = "a bench prints what it measured")]
fn main() {
    let requests = requests();
    let scenario =
        Scenario::parse(Path::new("bench.toml"), SCENARIO.to_owned(), &Changes::default())
            .expect("the scenario is right");
    let case = scenario.cases[0].clone();
    let prepared = run::prepare(scenario, &[]).expect("the scenario is right");
    let synthetic = prepared.traffic(0);
    let (times, clients): (Vec<i64>, Vec<u32>) =
        synthetic.merged().take(requests as usize).map(|a| (a.at.0, a.client)).unzip();
    let grouped = grouped(&times, &clients, synthetic.clients.len());
    let end = Instant(times.last().map_or(0, |last| last + 1));
    let traffic = |at: Vec<Instant>, clients: Vec<u32>| Traffic {
        clients: synthetic.clients.clone(),
        endpoints: synthetic.endpoints.clone(),
        sources: vec![Box::new(Recorded::new(
            at,
            [Column::Each(clients), Column::Same(0), Column::Same(1)],
        ))],
        inputs: Vec::new(),
        window: Window { end, ..synthetic.window },
        outside: 0,
        met_in_records: (0, 0),
    };
    let contenders: Vec<Contender> = (0..ALGORITHMS.len())
        .filter_map(|kind| Contender::plain(kind, &case.limits, &Default::default()))
        .collect();
    let makers: Vec<_> =
        contenders.iter().map(|contender| || contender.alone(&case.limits)).collect();
    let makers: Vec<replay::Maker> = makers.iter().map(|make| make as replay::Maker).collect();
    let log =
        contenders.iter().position(|one| one.name == "sliding-window-log").expect("it is one");
    let references = vec![log; makers.len()];

    let mut rounds: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    let mut accepted: BTreeMap<&str, u64> = BTreeMap::new();
    let mut note = |name: &'static str, result: u64, time: Duration| {
        rounds.entry(name).or_default().push(time);
        accepted.insert(name, result);
    };
    let columns = || (times.iter().map(|&at| Instant(at)).collect(), clients.clone());
    let compared = |in_memory: &Traffic| {
        let keys = KeyPlan::new(&case.limits, in_memory);
        let plan = Plan::of(&case, case.seed, in_memory, None, &keys);
        let tallies = replay::run(&plan, &makers, &references, 1, &Unwatched);
        let tallies = tallies.expect("nobody stops it");
        tallies.iter().map(|tally| tally.books.accepted).sum()
    };
    let (at, whose) = columns();
    let in_memory = traffic(at, whose);
    for _ in 0..ROUNDS {
        let (result, time) = timed(|| governor(&times, &clients));
        note("governor", result, time);
        for (kind, contender) in ALGORITHMS.iter().zip(&contenders) {
            let rules = contender.alone(&case.limits);
            let (result, time) = timed(|| decided(rules, &grouped));
            note(kind.name, result, time);
        }
        let (result, time) = timed(|| compared(&in_memory));
        note("whole comparison", result, time);
        let (at, whose) = columns();
        // What was grouped is let go only afterwards, as are the columns that governor reads.
        let ((result, _), time) = timed(|| {
            let grouped = traffic(at, whose);
            (compared(&grouped), grouped)
        });
        note("... grouping included", result, time);
    }
    assert_eq!(accepted["gcra"], accepted["governor"], "the same decisions");

    let median = |name: &str| {
        let mut all = rounds[name].clone();
        all.sort();
        all[all.len() / 2].as_secs_f64()
    };
    let base = median("governor");
    println!(
        "{} requests of {} clients, 100 per 60 s, one core, medians of {ROUNDS} rounds",
        times.len(),
        synthetic.clients.len()
    );
    println!("{:<24} {:>12} {:>10} {:>12}", "", "M requests/s", "x governor", "accepted");
    let names = std::iter::once("governor").chain(ALGORITHMS.iter().map(|kind| kind.name));
    for name in names.chain(["whole comparison", "... grouping included"]) {
        let speed = times.len() as f64 / median(name) / 1e6;
        let ratio = base / median(name);
        println!("{name:<24} {speed:>12.1} {ratio:>10.2} {:>12}", accepted[name]);
    }
}

/// Time-ordered columns grouped by client.
fn grouped(times: &[i64], clients: &[u32], count: usize) -> Grouped {
    let mut next = vec![0_usize; count];
    clients.iter().for_each(|&client| next[client as usize] += 1);
    let mut start = 0;
    for slot in &mut next {
        start += std::mem::replace(slot, start);
    }
    let mut all = vec![0; times.len()];
    for (&at, &client) in times.iter().zip(clients) {
        let place = &mut next[client as usize];
        all[*place] = at;
        *place += 1;
    }
    Grouped { times: all, ends: next }
}
