//! What the conformance tests are run over: every algorithm of the registry with every combination
//! of its options, and generated limits and traffic.

pub mod canaries;
pub mod checks;
pub mod forgetting;
pub mod reference;

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ratesim::algorithm::{Kind, Limiter};
use ratesim::error::{Problems, Source};
use ratesim::params::{Choice, Node, Params};
use ratesim::rate::Limit;
use ratesim::time::{Reading, Span};

/// One attempt of the traffic of a single key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    pub now: i64,
    pub cost: u32,
}

impl Attempt {
    pub fn at(self) -> Reading {
        Reading(self.now)
    }
}

/// A limit and traffic that asks for it.
#[derive(Debug, Clone)]
pub struct Situation {
    pub limit: Limit,
    pub traffic: Vec<Attempt>,
}

/// Makes a limiter without state, or none where its options make no sense for the limit.
pub type Make<'a> = &'a dyn Fn(&Limit) -> Option<Box<dyn Limiter>>;

/// An algorithm with one combination of its options.
#[derive(Clone)]
pub struct Variant {
    pub kind: &'static Kind,
    /// As written in a scenario: key and TOML value.
    pub options: Vec<(String, String)>,
}

impl Variant {
    pub fn make(&self, limit: &Limit) -> Option<Box<dyn Limiter>> {
        let text = self.options.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        let source = Arc::new(Source { name: "options".to_owned(), text });
        let problems = Problems::new();
        let node = Node::parse(source, &problems);
        let mut params = Params::new(&node, &problems);
        let limiter = self.kind.limiter(limit, &mut params);
        params.finish();
        let limiter = limiter.filter(|_| problems.is_empty())?;
        Some(if self.is("anchor", "expiry") { forgetting::at_neutral(limiter) } else { limiter })
    }

    /// The value of an option, without quotes.
    pub fn option(&self, key: &str) -> Option<&str> {
        let found = self.options.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.trim_matches('"'))
    }

    pub fn is(&self, key: &str, value: &str) -> bool {
        self.option(key) == Some(value)
    }

    pub fn name(&self) -> String {
        format!("{} {:?}", self.kind.name, self.options)
    }
}

/// An algorithm with every combination of its options, as the options describe themselves, under
/// each of the clock resolutions given.
pub fn variants(kind: &'static Kind, ticks: &[&str]) -> Vec<Variant> {
    let limit = Limit::new(1, Span::from_secs(1));
    let fields = Params::describe(|params| {
        kind.limiter(&limit, params);
    });
    let mut found = vec![Variant { kind, options: Vec::new() }];
    for field in fields {
        let values: Vec<Option<String>> = match field.name.as_str() {
            "tick" => ticks.iter().map(|tick| Some(format!("{tick:?}"))).collect(),
            "backwards" => kind.backwards.iter().map(|b| Some(format!("{:?}", b.name()))).collect(),
            _ => match field.schema["type"].as_str() {
                Some("boolean") => ["false", "true"].map(|value| Some(value.to_owned())).into(),
                Some("integer") => {
                    vec![None, Some("0".to_owned()), Some("1".to_owned())]
                }
                _ => field.schema["oneOf"]
                    .as_array()
                    .unwrap_or_else(|| panic!("{}: no values known for {}", kind.name, field.name))
                    .iter()
                    .map(|choice| Some(choice["const"].to_string()))
                    .collect(),
            },
        };
        let mut combined = Vec::new();
        for variant in &found {
            for value in &values {
                let mut variant = variant.clone();
                variant.options.extend(value.clone().map(|value| (field.name.clone(), value)));
                combined.push(variant);
            }
        }
        found = combined;
    }
    found
}

/// The last reading of the year 2200, and one as long before 1970.
pub const LATEST: i64 = 7_289_654_399_999_999_999;
const EARLIEST: i64 = -LATEST;

fn limits() -> impl Strategy<Value = Limit> {
    let count = prop_oneof![
        4 => 0_u64..=8,
        2 => 1_u64..=100,
        1 => prop::sample::select(vec![0, 1, 97, 300_000, (1 << 32) - 1, 1 << 32]),
    ];
    let per = prop_oneof![
        4 => 1_u64..=60,
        2 => 1_u64..=100_000,
        2 => prop::sample::select(vec![
            1,
            1_000_000_000,
            60_000_000_000,
            61_000_000_007,
            86_400_000_000_000,
            Limit::MAX_PER.nanos(),
        ]),
    ];
    let burst = prop_oneof![
        3 => Just(None),
        2 => (0_u64..=12).prop_map(Some),
        1 => prop::sample::select(vec![0, 1, 213_504, 1 << 32]).prop_map(Some),
    ];
    (count, per, burst).prop_map(|(requests, per, burst)| Limit {
        requests,
        per: Span::from_nanos(per),
        burst: burst.unwrap_or(requests),
    })
}

/// Limits and traffic around them: gaps of the lengths at which a limiter changes its mind, costs
/// around what passes at most; `disorder` in a hundred readings go back.
pub fn situations(disorder: u32) -> impl Strategy<Value = Situation> {
    let start = prop::sample::select(vec![0, -7, 1_767_225_659_000_000_000, EARLIEST, LATEST / 2]);
    let step = (0_u8..12, 0_u64..1_000, 0_u32..100, 0_u8..10, 1_u32..=6);
    (limits(), start, prop::collection::vec(step, 1..60)).prop_map(move |(limit, start, steps)| {
        let per = limit.per.nanos();
        let interval = per / limit.requests.max(1);
        let mut now: i64 = start;
        let traffic = steps.into_iter().map(|(scale, share, back, size, small)| {
            let gap = match scale {
                0..=3 => 0,
                4 => 1,
                5 => (u128::from(interval) * u128::from(share) / 1_000) as u64,
                6 => interval,
                7 => interval + 1,
                8 => (u128::from(per) * u128::from(share) / 1_000) as u64,
                9 => per - 1,
                10 => per,
                _ => per.saturating_mul(share % 4),
            };
            let gap = gap.min(i64::MAX as u64) as i64;
            let gap = if back < disorder { -gap } else { gap };
            now = now.saturating_add(gap).clamp(EARLIEST, LATEST);
            let most = limit.requests.min(limit.burst).min(u64::from(u32::MAX)) as u32;
            let cost = match size {
                0 => most,
                1 => most.saturating_add(1),
                2 => (most / 2).max(1),
                3 => (limit.burst.min(u64::from(u32::MAX)) as u32).max(1),
                4 if small == 1 => u32::MAX,
                4 | 5 => small,
                _ => 1,
            };
            Attempt { now, cost: cost.max(1) }
        });
        Situation { limit, traffic: traffic.collect() }
    })
}

/// Runs `check` over generated situations, the same ones in every run of the tests.
///
/// # Errors
/// The smallest situation found that fails, and why.
pub fn generated(
    cases: u32,
    disorder: u32,
    check: impl Fn(&Situation) -> Result<(), String>,
) -> Result<(), String> {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let judged = |situation: Situation| check(&situation).map_err(TestCaseError::fail);
    runner.run(&situations(disorder), judged).map_err(|failure| failure.to_string())
}
