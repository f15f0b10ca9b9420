//! What one request costs: a fixed number, or one drawn from a distribution.

use std::ops::RangeInclusive;

use serde_json::{Value as Json, json};

use super::draw::normal;
use crate::error::{Problem, Problems};
use crate::params::{Node, Params, Setting, Value, kind_schema, within};
use crate::seed::{Stream, below};

/// What a request costs; from 1 in any case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cost {
    /// Always the same.
    Fixed(u32),
    /// Every whole number from `min` to `max` as often as the others.
    Uniform {
        /// The smallest.
        min: u32,
        /// The largest, not below `min`.
        max: u32,
    },
    /// The logarithm is normally distributed; rounded to a whole number, at least 1, at most `max`.
    LogNormal {
        /// Half of the costs are below it; the mean is `median * exp(sigma^2 / 2)`.
        median: u32,
        /// The standard deviation of the natural logarithm.
        sigma: f64,
        /// What costs beyond it are cut down to.
        max: u32,
    },
}

/// What a request may cost.
const COSTS: RangeInclusive<u64> = 1..=u32::MAX as u64;

/// A distribution that `cost` may name: reads its settings. `None` after a problem was reported.
type Reader = fn(&mut Params) -> Option<Cost>;

const KINDS: &[(&str, &str, Reader)] = &[
    ("uniform", "every whole number from `min` to `max` as often as the others", read_uniform),
    (
        "log-normal",
        "many small costs and few large ones; `median`, `sigma`, `max`",
        read_log_normal,
    ),
];

impl Cost {
    /// The cost of the next request.
    pub fn draw(self, stream: &mut Stream) -> u32 {
        match self {
            Cost::Fixed(cost) => cost,
            Cost::Uniform { min, max } => min + below(stream, u64::from(max - min) + 1) as u32,
            Cost::LogNormal { median, sigma, max } => {
                let cost = f64::from(median) * libm::exp(sigma * normal(stream));
                (libm::round(cost) as u32).clamp(1, max)
            }
        }
    }
}

fn read_uniform(params: &mut Params) -> Option<Cost> {
    let min: Option<u32> = params.within(COSTS).required("min", "The smallest cost, from 1.");
    let max: Option<u32> = params.within(COSTS).required("max", "The largest cost.");
    let (min, max) = (min?, max?);
    let message = format!("the largest cost, {max}, is below the smallest, {min}");
    let help = "write a `max` that is not below `min`";
    params.require("max", min <= max, message, help).then_some(Cost::Uniform { min, max })
}

fn read_log_normal(params: &mut Params) -> Option<Cost> {
    let median: Option<u32> = params
        .within(COSTS)
        .required("median", "Half of the requests cost less, half more; from 1.");
    let sigma: Option<f64> = params.required(
        "sigma",
        "The standard deviation of the natural logarithm; with 1.0 one in six costs more than 2.7 \
         times the median.",
    );
    let max = params.within(COSTS).or("max", u32::MAX, "What costs beyond it are cut down to.");
    let (median, sigma) = (median?, sigma?);
    params
        .require("sigma", sigma >= 0.0, "a negative sigma", "write a number from 0 up")
        .then_some(Cost::LogNormal { median, sigma, max })
}

fn read_table(params: &mut Params) -> Option<Cost> {
    let kind: String = params.required("kind", "The distribution.")?;
    match KINDS.iter().find(|(name, _, _)| *name == kind) {
        Some((_, _, reader)) => reader(params),
        None => {
            let known = KINDS.iter().map(|(name, _, _)| *name);
            let place = params.place_of("kind");
            params.problems().add(Problem::unknown(&place, "distribution", &kind, known));
            None
        }
    }
}

impl Setting for Cost {
    const EXPECTED: &'static str = "a whole number from 1, { kind = \"uniform\", min = 1, max = 9 } \
         or { kind = \"log-normal\", median = 100, sigma = 1.0 }";

    fn read(node: &Node) -> Result<Self, Problem> {
        match node.value {
            Value::Integer(_) => within::<u32>(node, &COSTS).map(Cost::Fixed),
            Value::Table(_) => {
                let problems = Problems::new();
                let mut params = Params::new(node, &problems);
                let cost = read_table(&mut params);
                // The keys of a distribution that is not known are not known either.
                if cost.is_some() {
                    params.finish();
                }
                match (problems.into_first(), cost) {
                    (None, Some(cost)) => Ok(cost),
                    (first, _) => Err(first.unwrap_or(Problem::at(&node.place, "no cost"))),
                }
            }
            _ => Err(Problem::at(&node.place, format!("{} is no cost", node.value.kind()))
                .help(format!("write {}", Self::EXPECTED))),
        }
    }

    fn json(&self) -> Json {
        match *self {
            Cost::Fixed(cost) => json!(cost),
            Cost::Uniform { min, max } => json!({ "kind": "uniform", "min": min, "max": max }),
            Cost::LogNormal { median, sigma, max } => {
                json!({ "kind": "log-normal", "median": median, "sigma": sigma, "max": max })
            }
        }
    }

    fn schema() -> Json {
        let tables = KINDS.iter().map(|(name, meaning, reader)| {
            let fields = Params::describe(|params| {
                params.required::<String>("kind", meaning);
                reader(params);
            });
            kind_schema(name, meaning, &fields)
        });
        let mut forms = vec![json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })];
        forms.extend(tables);
        json!({ "anyOf": forms })
    }
}
