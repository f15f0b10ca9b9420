//! The settings of clocks, of nodes and of shards alike.

use serde_json::{Value as Json, json};

use super::Clock;
use crate::error::Problem;
use crate::params::{Begin, Node, Params, Setting, Value};
use crate::rate::Decimal;
use crate::time::{Offset, Span};

/// How fast or slow a clock runs, in parts per billion; negative where it is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Drift(i64);

/// A clock gains or loses at most so many parts per billion: a tenth.
const FASTEST: u64 = 100_000_000;

impl Setting for Drift {
    const EXPECTED: &'static str = "a number from -100000 to 100000 with at most three decimals";

    fn read(node: &Node) -> Result<Self, Problem> {
        let wrong =
            |message| Problem::at(&node.place, message).help(format!("write {}", Self::EXPECTED));
        let (text, slow) = match node.value {
            Value::Integer(number) => (number.unsigned_abs().to_string(), number < 0),
            Value::Float(number) if number.is_finite() => (number.abs().to_string(), number < 0.0),
            _ => {
                let found = node.value.kind();
                return Err(wrong(format!("expected {}, found {found}", Self::EXPECTED)));
            }
        };
        let size = Decimal::parse(&text).map_err(wrong)?.thousandths();
        if size > FASTEST {
            return Err(wrong(format!("a clock that is off by {text} ppm is no clock")));
        }
        Ok(Drift(if slow { -(size as i64) } else { size as i64 }))
    }

    fn json(&self) -> Json {
        match self.0 {
            whole if whole % 1000 == 0 => json!(whole / 1000),
            thousandths => json!(thousandths as f64 / 1000.0),
        }
    }

    fn schema() -> Json {
        json!({ "type": "number", "minimum": -100_000, "maximum": 100_000, "title": Self::EXPECTED })
    }
}

impl Clock {
    /// There are at most so many nodes, and so many shards, with a clock each.
    pub const MOST: usize = 1000;

    /// Reads the clocks of `count` nodes or shards, as `one` says; `None` where it is not known how many there
    /// are. Something stands in for what could not be read. `begins` gets the steps.
    pub fn read(
        params: &mut Params,
        one: &'static str,
        count: Option<usize>,
        begins: &mut Vec<Begin>,
    ) -> Vec<Clock> {
        let offsets: Option<Vec<Offset>> = params.optional(
            "offsets",
            &format!(
                "How far the clock of each {one} is ahead at the start; by default all are right."
            ),
        );
        let drifts: Option<Vec<Drift>> = params.optional(
            "drifts-ppm",
            &format!(
                "By how many millionths the clock of each {one} runs fast, negative where it runs slow; by \
                 default none does."
            ),
        );
        let lengths = [("offsets", offsets.as_ref().map(Vec::len))];
        let lengths = lengths.into_iter().chain([("drifts-ppm", drifts.as_ref().map(Vec::len))]);
        for (name, length) in lengths {
            if let (Some(length), Some(count)) = (length, count) {
                params.require(
                    name,
                    length == count,
                    format!("a list of {length} for {count} {one}{}", plural(count)),
                    &format!("write one for each {one}, or leave `{name}` out"),
                );
            }
        }
        let fine = Span::from_nanos(1);
        let resolution = params.or(
            "resolution",
            fine,
            "What the clocks show is cut down to whole multiples of this.",
        );
        params.require(
            "resolution",
            resolution != Span::ZERO,
            "a resolution of no time at all",
            "write a span such as \"1ms\"",
        );
        for offset in offsets.iter().flatten() {
            require_near(params, "offsets", *offset);
        }
        let mut clocks: Vec<Clock> = (0..count.unwrap_or(1))
            .map(|index| Clock {
                offset: offsets
                    .as_ref()
                    .and_then(|all| all.get(index))
                    .copied()
                    .unwrap_or_default(),
                drift_ppb: drifts
                    .as_ref()
                    .and_then(|all| all.get(index))
                    .map_or(0, |drift| drift.0),
                steps: Vec::new(),
                resolution: resolution.max(fine),
            })
            .collect();
        let meaning = format!(
            "A clock is set anew, as by a time server: from then on the clock of one {one}, or of all, shows \
             another time."
        );
        let steps = params.tables("step", &meaning, |params| read_step(params, one, count, begins));
        for Step { of, at, by } in steps.into_iter().flatten() {
            for (index, clock) in clocks.iter_mut().enumerate() {
                if of.is_none_or(|of| of == index) {
                    clock.steps.push((at, by));
                }
            }
        }
        clocks.iter_mut().for_each(|clock| clock.steps.sort_by_key(|(at, _)| *at));
        clocks
    }
}

/// A clock is set anew.
struct Step {
    /// Whose, from 0; `None` for all.
    of: Option<usize>,
    at: Span,
    by: Offset,
}

/// `None` after a problem was reported.
fn read_step(
    params: &mut Params,
    one: &'static str,
    count: Option<usize>,
    begins: &mut Vec<Begin>,
) -> Option<Step> {
    let most = count.unwrap_or(Clock::MOST) as u64;
    let of: Option<u64> = params
        .within(1..=most)
        .optional(one, &format!("Whose clock, counted from 1; left out, those of every {one}."));
    let at: Option<Span> = params.required("at", "When, from the start of the run.");
    let by: Option<Offset> = params.required("by", "By how much forwards; negative for backwards.");
    by.into_iter().for_each(|by| require_near(params, "by", by));
    begins.extend(at.map(|at| Begin::new("step", at, params)));
    let known = of.is_some() || !params.has(one);
    let of = of.map(|of| of as usize - 1);
    Some(Step { of, at: at?, by: by? }).filter(|_| known)
}

/// Reports a clock that is set so far off that it may leave the times that can be told.
fn require_near(params: &Params, name: &str, by: Offset) {
    const FARTHEST: Span = Span::from_secs(10 * 365 * 86_400);
    let near = by.nanos().unsigned_abs() <= FARTHEST.nanos();
    let message = "a clock more than ten years off";
    params.require(name, near, message, "write a span of at most 3650d, with a sign");
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
