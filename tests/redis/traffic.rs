//! Random traffic, decision by decision against the algorithms: several limits at once, costs above one and above
//! the limit, many keys, readings that go back, and times that fall on edges and on the ends of waits.
//!
//! `RATESIM_REDIS_DECISIONS` sets how many decisions of each algorithm are compared.

use std::sync::Arc;

use ratesim::algorithm::{self, Limiter, Verdict, Wait};
use ratesim::error::{Problems, Source};
use ratesim::params::{Node, Params};
use ratesim::rate::Limit;
use ratesim::redis::{Answer, Decision, Invocation, KeyArgs, SCRIPTS, Session};
use ratesim::scenario::Combine;
use ratesim::time::{Instant, Reading, Span};

use crate::Test;
use crate::support::{Numbers, session, url, variable};

pub fn tests() -> Vec<Test> {
    vec![
        crate::test!(Server, traffic::fixed_window),
        crate::test!(Server, traffic::sliding_window_log),
        crate::test!(Server, traffic::sliding_window_counter),
        crate::test!(Server, traffic::token_bucket),
        crate::test!(Server, traffic::leaky_bucket),
        crate::test!(Server, traffic::gcra),
    ]
}

pub fn fixed_window() {
    compare("fixed-window");
}

pub fn sliding_window_log() {
    compare("sliding-window-log");
}

pub fn sliding_window_counter() {
    compare("sliding-window-counter");
}

pub fn token_bucket() {
    compare("token-bucket");
}

pub fn leaky_bucket() {
    compare("leaky-bucket");
}

pub fn gcra() {
    compare("gcra");
}

/// Requests, microseconds, burst: each world has its limits at once. Intervals that are no whole microseconds,
/// bursts below and above the requests, a limit of one, limits that block, and numbers near what is exact.
const WORLDS: &[&[(u64, u64, u64)]] = &[
    &[(5, 1_000_000, 8)],
    &[(7, 13_000_000, 7), (100, 60_000_000, 40)],
    &[(3, 1_000_000, 3), (10, 10_000_000, 25), (2_000, 3_600_000_000, 2_000)],
    &[(1, 1_000_000, 1), (1_000_003, 999_983, 50)],
    &[(1_000, 1_000, 1_000), (6, 7_000_000, 11)],
    &[(100_000, 86_400_000_000, 20), (0, 1_000_000, 0)],
];

/// Keys of each limit.
const KEYS: u64 = 12;

/// Calls sent in one go.
const CHUNK: usize = 200;

fn decisions() -> u64 {
    let text = variable("RATESIM_REDIS_DECISIONS");
    text.map_or(20_000, |text| text.parse().expect("RATESIM_REDIS_DECISIONS is a number"))
}

fn compare(name: &str) {
    let mut session = session(&url().unwrap());
    let mut seen = Seen::default();
    let each = decisions().div_ceil(WORLDS.len() as u64);
    for (index, world) in WORLDS.iter().enumerate() {
        let mut world = World::new(name, world, index as u64);
        world.compare(&mut session, index, each, &mut seen);
    }
    session.clear(false).unwrap();
    // Traffic that only one answer is given to would prove little.
    let share = |count: u64| count * 100 / (each * WORLDS.len() as u64);
    assert!(share(seen.denied) >= 10 && share(seen.denied) <= 90, "{seen:?}");
    assert!(seen.never > 100 && seen.by_several > 100 && seen.earlier > 100, "{seen:?}");
    assert!(seen.waited_out > 100, "{seen:?}");
}

/// How often what was seen.
#[derive(Debug, Default)]
struct Seen {
    denied: u64,
    never: u64,
    by_several: u64,
    earlier: u64,
    waited_out: u64,
}

/// One combination of limits, with the states that the algorithm keeps.
struct World {
    limits: Vec<Limit>,
    limiters: Vec<Box<dyn Limiter>>,
    script: &'static str,
    numbers: Numbers,
    now: i64,
    /// When a denied attempt would pass, and what it was.
    awaited: Option<(i64, Asked)>,
}

/// What is asked: limit, key, cost.
type Asked = Vec<(usize, u64, u32)>;

impl World {
    fn new(name: &str, limits: &[(u64, u64, u64)], seed: u64) -> World {
        let limits: Vec<Limit> = limits
            .iter()
            .map(|&(requests, micros, burst)| Limit {
                requests,
                per: Span::from_nanos(micros * 1_000),
                burst,
            })
            .collect();
        let source = Source { name: String::new(), text: "tick = \"1us\"".to_owned() };
        let problems = Problems::new();
        let node = Node::parse(Arc::new(source), &problems);
        let limiters = limits.iter().map(|limit| {
            let mut params = Params::new(&node, &problems);
            let mut limiter = algorithm::find(name).unwrap().limiter(limit, &mut params).unwrap();
            limiter.reserve(KEYS as usize);
            limiter
        });
        let limiters = limiters.collect();
        assert!(problems.is_empty());
        let script = SCRIPTS.iter().find(|script| script.name == name).unwrap();
        for limit in &limits {
            script.suits(limit, Instant::MIDNIGHT.exact()).unwrap();
        }
        let now = Instant::MIDNIGHT.0 / 1_000;
        let numbers = Numbers::new(seed);
        World { limits, limiters, script: script.text, numbers, now, awaited: None }
    }

    fn compare(&mut self, session: &mut Session, run: usize, count: u64, seen: &mut Seen) {
        let sha = session.connection().load(self.script).unwrap();
        let mut done = 0;
        while done < count {
            let mut expected = Vec::new();
            let mut packed = Vec::new();
            for _ in 0..CHUNK {
                let (now, asked) = self.next(seen);
                let combine = match self.numbers.below(8) {
                    0 => Combine::Sequential,
                    1 => Combine::Independent,
                    _ => Combine::AllOrNothing,
                };
                let keys = asked.iter().map(|&(limit, key, cost)| KeyArgs {
                    key: session.key(run, None, limit, key as usize),
                    limit: self.limits[limit],
                    cost,
                });
                let keys = keys.collect();
                let call = Invocation { now, slack: 3_600_000, combine, keys };
                packed.push(call.command(&sha).get_packed_command());
                let answer = self.decide(now, &asked, combine);
                self.note(now, &asked, &answer, seen);
                expected.push((call, answer));
            }
            let answers = session.connection().ask_all(packed.iter().map(Vec::as_slice)).unwrap();
            for ((call, expected), answer) in expected.iter().zip(answers) {
                let answer = answer.unwrap_or_else(|fault| panic!("{fault}\n{call:?}"));
                assert_eq!(Answer::read(&answer).as_ref(), Some(expected), "{call:#?}");
            }
            done += CHUNK as u64;
        }
    }

    /// The next attempt: when, and under which keys.
    fn next(&mut self, seen: &mut Seen) -> (i64, Asked) {
        let numbers = &mut self.numbers;
        // One at the very end of a wait, or just before that.
        if let Some((at, asked)) = self.awaited.take().filter(|_| numbers.one_in(3)) {
            self.now = self.now.max(at);
            seen.waited_out += 1;
            return (at - i64::from(numbers.one_in(2)), asked);
        }
        let window = (self.limits[0].per.nanos() / 1_000) as i64;
        self.now += match numbers.below(20) {
            0..8 => 0,
            8..16 => numbers.below(window as u64 / 8 + 1) as i64,
            16 => numbers.below(3) as i64,
            // To an edge, or one before.
            17 => window - self.now.rem_euclid(window) - numbers.below(2) as i64,
            18 => numbers.below(2 * window as u64) as i64,
            _ => numbers.below(40_000_000) as i64,
        };
        let mut now = self.now;
        if numbers.one_in(10) {
            now -= numbers.below(3 * window as u64) as i64;
            seen.earlier += 1;
        }
        let mut asked = Vec::new();
        for (index, limit) in self.limits.iter().enumerate() {
            // A limit need not cover every request.
            if !asked.is_empty() && numbers.one_in(4) {
                continue;
            }
            let most = limit.requests.max(limit.burst).max(1);
            let cost = match numbers.below(10) {
                0..6 => 1,
                6..9 => 1 + numbers.below(most.min(5)),
                _ => 1 + numbers.below(most + 3),
            };
            // Few keys get most.
            let key = numbers.below(KEYS).min(numbers.below(KEYS));
            asked.push((index, key, cost as u32));
        }
        (now, asked)
    }

    fn note(&mut self, now: i64, asked: &Asked, answer: &Answer, seen: &mut Seen) {
        if answer.decision != Decision::Denied {
            return;
        }
        seen.denied += 1;
        seen.by_several += u64::from(answer.refused.len() > 1);
        match answer.micros {
            None => seen.never += 1,
            Some(micros) if micros < 60_000_000 => {
                self.awaited = Some((now + micros as i64, asked.clone()));
            }
            Some(_) => {}
        }
    }

    /// What the algorithm decides: the limits asked in order, then charged.
    fn decide(&mut self, now: i64, asked: &Asked, combine: Combine) -> Answer {
        let now = Reading(now * 1_000);
        let (mut queued, mut wait) = (0, Some(0));
        let (mut refused, mut passing) = (Vec::new(), Vec::new());
        for (index, &(limit, key, cost)) in asked.iter().enumerate() {
            let (limiter, key) = (&mut self.limiters[limit], key as usize);
            match limiter.check(key, now, cost) {
                Verdict::Admit => passing.push((limit, key, cost)),
                Verdict::Queue(span) => {
                    queued = queued.max(span.nanos() / 1_000);
                    passing.push((limit, key, cost));
                }
                Verdict::Deny => {
                    refused.push(index);
                    limiter.deny(key, now, cost);
                    let longer = match limiter.wait(key, now, cost) {
                        Wait::After(span) => Some(span.nanos() / 1_000),
                        Wait::Never => None,
                    };
                    wait = wait.zip(longer).map(|(one, other): (u64, u64)| one.max(other));
                    if combine == Combine::Sequential {
                        break;
                    }
                }
            }
        }
        if refused.is_empty() || combine != Combine::AllOrNothing {
            for (limit, key, cost) in passing {
                self.limiters[limit].charge(key, now, cost);
            }
        }
        let (decision, micros) = match (refused.is_empty(), queued) {
            (false, _) => (Decision::Denied, wait),
            (true, 0) => (Decision::Admitted, Some(0)),
            (true, queued) => (Decision::Queued, Some(queued)),
        };
        Answer { decision, micros, refused }
    }
}
