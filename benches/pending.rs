//! How fast the event engine is with a million clients pending, beside a bare binary heap.
//!
//! `cargo bench --bench pending` measures two things in every round, one after another, and prints medians
//! and their ratios: a `BinaryHeap` of a million entries from which the earliest is taken and put back later,
//! with nothing else done; and whole events of the engine (a retry comes up, its keys are found, it is
//! decided, judged, binned and booked, its client draws the next delay, the retry is scheduled) while a
//! million clients wait. Machines are noisy: each ratio is that of two neighbours in time, and what is printed
//! is their median. Memory is what the engine has allocated at most, seen every 16,384 attempts, over the
//! clients pending. Words after `--` choose algorithms and cases.
//!
//! An entry of the heap is what the engine's own queue gives out, a time and a client, with a sequence number
//! between the two, without which a heap does not keep the order of events of one instant.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ratesim::algorithm::ALGORITHMS;
use ratesim::run;
use ratesim::scenario::{Case, Changes, Scenario};
use ratesim::seed::{Seed, below};
use ratesim::time::Span;
use ratesim::world::{self, KeyPlan, Observer, Plan};

const ROUNDS: usize = 3;
const PENDING: u64 = 1_000_000;
/// Steps of the bare heap.
const STEPS: u64 = 2_000_000;

/// Everybody is refused (all but the first request of each client where each has a key of its own), and comes
/// back after up to a minute.
const SCENARIO: &str = r#"
name = "pending"
duration = "120s"
[clients]
retries = "exponential"
base = "1s"
cap = "60s"
jitter = "full"
retry-after = "ignore"
[limit]
requests = 1
per = "1h"
key = "everything"
ipv4-prefix = 25
[[traffic]]
kind = "burst"
clients = 1000000
requests = 1000000
address = "10.0.0.0/8"
over = "10s"
[[case]]
name = "one key"
[[case]]
name = "7,813 keys"
set = { limit.key = "address-prefix" }
[[case]]
name = "a key each"
set = { limit.key = "client", traffic.0.requests = 2000000 }
"#;

/// Counts what is allocated.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator that counts; it hands everything on")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        NOW.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// When everybody has come and was refused.
const SETTLED: Span = Span::from_secs(20);

/// Looks now and then at the time and at what is allocated.
struct Watch {
    most: usize,
    /// Since when everybody is pending, with the attempts made from then on and how long they took.
    since: Option<Instant>,
    attempts: u64,
    took: Duration,
}

impl Observer for Watch {
    #[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
    fn progressed(&mut self, reached: Span, attempts: u64) -> bool {
        self.most = self.most.max(NOW.load(Ordering::Relaxed));
        match self.since {
            None if reached >= SETTLED => self.since = Some(Instant::now()),
            None => {}
            Some(since) => {
                self.attempts += attempts;
                self.took = since.elapsed();
            }
        }
        true
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let result = work();
    (result, begun.elapsed())
}

/// Pops and pushes of a heap of a million entries, each put back up to a minute later.
fn bare_heap(steps: u64) -> u64 {
    let mut stream = Seed(1).stream("bench", 0);
    let minute = Span::from_secs(60).nanos();
    let mut heap: BinaryHeap<Reverse<(u64, u64, u32)>> =
        (0..PENDING).map(|id| Reverse((below(&mut stream, minute), id, id as u32))).collect();
    for number in PENDING..PENDING + steps {
        let Some(Reverse((at, _, id))) = heap.pop() else { break };
        heap.push(Reverse((at + below(&mut stream, minute), number, id)));
    }
    heap.pop().map_or(0, |Reverse((at, ..))| at)
}

/// Attempts made while a million clients were pending, how long they took, and the most bytes allocated.
fn engine(case: &Case, plan: &Plan, kind: usize) -> (u64, Duration, usize) {
    let contender = run::Contender::plain(kind, &case.limits, &Default::default())
        .expect("defaults suit every limit");
    let rules = contender.alone(&case.limits);
    let before = NOW.load(Ordering::Relaxed);
    let mut watch = Watch { most: before, since: None, attempts: 0, took: Duration::ZERO };
    let result = world::run(plan, rules, None, &mut watch);
    let books = result.expect("nobody stops it").0.books;
    assert!(books.unfinished >= PENDING - 10_000, "pending: {books:?}");
    (watch.attempts, watch.took, watch.most - before)
}

/// What was measured of one case under one algorithm.
#[derive(Default)]
struct Measured {
    /// Events a second.
    speeds: Vec<f64>,
    /// Over the heap's.
    ratios: Vec<f64>,
    /// Bytes a pending client.
    bytes: f64,
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[expect(clippy::print_stdout, reason = "a bench prints what it measured")]
fn main() {
    let changes = Changes::default();
    let scenario = Scenario::parse(Path::new("pending.toml"), SCENARIO.to_owned(), &changes)
        .expect("the scenario is right");
    let cases = scenario.cases.clone();
    let prepared = run::prepare(scenario, &[]).expect("the scenario is right");
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let some_kind = ALGORITHMS.iter().any(|kind| chosen.iter().any(|one| one == kind.name));
    let is_chosen = |name: &str| !some_kind || chosen.iter().any(|one| one == name);

    let mut heap: Vec<f64> = Vec::new();
    let mut measured: BTreeMap<(usize, usize), Measured> = BTreeMap::new();
    let some_case = cases.iter().any(|case| chosen.contains(&case.name));
    for (index, case) in cases.iter().enumerate() {
        if some_case && !chosen.contains(&case.name) {
            continue;
        }
        let traffic = prepared.traffic(index);
        let keys = KeyPlan::new(&case.limits, traffic);
        let stored: Vec<_> = traffic.merged().collect();
        let plan = Plan::of(case, case.seed, traffic, Some(&stored), &keys);
        for _ in 0..ROUNDS {
            for (kind, algorithm) in ALGORITHMS.iter().enumerate() {
                if !is_chosen(algorithm.name) {
                    continue;
                }
                let (end, time) = timed(|| bare_heap(STEPS));
                std::hint::black_box(end);
                let bare = STEPS as f64 / time.as_secs_f64();
                heap.push(bare);
                let (attempts, time, most) = engine(case, &plan, kind);
                let speed = attempts as f64 / time.as_secs_f64();
                let of = measured.entry((index, kind)).or_default();
                of.speeds.push(speed);
                of.ratios.push(speed / bare);
                of.bytes = most as f64 / PENDING as f64;
            }
        }
    }
    println!(
        "bare BinaryHeap of a million: {:.2} M pops and pushes a second",
        median(&mut heap) / 1e6
    );
    println!(
        "{:<12} {:<24} {:>12} {:>8} {:>14}",
        "keys", "algorithm", "M events/s", "x heap", "bytes/pending"
    );
    for ((case, kind), of) in &mut measured {
        println!(
            "{:<12} {:<24} {:>12.2} {:>8.2} {:>14.0}",
            cases[*case].name,
            ALGORITHMS[*kind].name,
            median(&mut of.speeds) / 1e6,
            median(&mut of.ratios),
            of.bytes
        );
    }
}
