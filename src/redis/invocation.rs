//! One call of a script, and its answer.

use redis::{Cmd, Value, cmd};

use super::script::MICRO;
use crate::algorithm::Wait;
use crate::params::Choice;
use crate::rate::Limit;
use crate::scenario::Combine;
use crate::time::{Reading, Span};
use crate::world::Fate;

/// The arguments of a script about one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyArgs {
    /// The key in the server.
    pub key: String,
    /// Its limit; the window in whole microseconds.
    pub limit: Limit,
    /// What the request costs there.
    pub cost: u32,
}

/// A call of a script: everything that it is told of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The caller's time, in microseconds since 1970.
    pub now: i64,
    /// How many milliseconds keys live longer than they matter.
    pub slack: u64,
    /// How the limits act together.
    pub combine: Combine,
    /// The keys with their limits.
    pub keys: Vec<KeyArgs>,
}

impl Invocation {
    /// The command that calls the script of this digest.
    pub fn command(&self, sha: &str) -> Cmd {
        let mut command = cmd("EVALSHA");
        command.arg(sha).arg(self.keys.len());
        for KeyArgs { key, .. } in &self.keys {
            command.arg(key);
        }
        command.arg(self.now).arg(self.slack).arg(self.combine.name());
        for KeyArgs { limit, cost, .. } in &self.keys {
            let micros = limit.per.nanos() / MICRO;
            command.arg(limit.requests).arg(micros).arg(limit.burst).arg(*cost);
        }
        command
    }
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It does not pass.
    Denied,
    /// It passes.
    Admitted,
    /// It passes after a wait in the queue.
    Queued,
}

/// What a script answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What becomes of the request.
    pub decision: Decision,
    /// How long until it would pass, or in the queue, in microseconds; `None` for ever.
    pub micros: Option<u64>,
    /// The positions of the keys that refused, from 0.
    pub refused: Vec<usize>,
}

impl Answer {
    /// Reads the reply of a script; `None` if no script of [`super::SCRIPTS`] replies so.
    pub fn read(value: &Value) -> Option<Answer> {
        let Value::Array(values) = value else { return None };
        let numbers: Option<Vec<i64>> = values
            .iter()
            .map(|value| match value {
                Value::Int(number) => Some(*number),
                _ => None,
            })
            .collect();
        let numbers = numbers?;
        let (&[decision, micros], refused) = numbers.split_first_chunk::<2>()?;
        let decision = match decision {
            0 => Decision::Denied,
            1 => Decision::Admitted,
            2 => Decision::Queued,
            _ => return None,
        };
        let refused = refused.iter().map(|&key| usize::try_from(key - 1).ok());
        Some(Answer {
            decision,
            micros: match micros {
                -1 => None,
                micros => Some(u64::try_from(micros).ok()?),
            },
            refused: refused.collect::<Option<Vec<usize>>>()?,
        })
    }

    /// What the model decided, as a script would say it, without the keys that refused; `None` if no limit did.
    pub fn of(fate: Fate) -> Option<Answer> {
        let micros = |span: Span| Some(span.nanos().div_ceil(MICRO));
        let (decision, micros) = match fate {
            Fate::Accepted => (Decision::Admitted, Some(0)),
            Fate::Queued(span) => (Decision::Queued, micros(span)),
            Fate::Rejected(Wait::After(span)) => (Decision::Denied, micros(span)),
            Fate::Rejected(Wait::Never) => (Decision::Denied, None),
            Fate::TurnedDown => return None,
        };
        Some(Answer { decision, micros, refused: Vec::new() })
    }

    /// The same on a clock of this resolution, in whole microseconds, without the keys that refused.
    pub fn on_clock(&self, tick: Span) -> Answer {
        let tick = (tick.nanos() / MICRO).max(1);
        let micros = self.micros.map(|micros| micros.div_ceil(tick).saturating_mul(tick));
        Answer { decision: self.decision, micros, refused: Vec::new() }
    }
}

/// A reading as a clock of this resolution shows it, in microseconds since 1970.
pub(super) fn micros(reading: Reading, tick: Span) -> i64 {
    let tick = tick.signed();
    (reading.0.div_euclid(tick) * tick).div_euclid(MICRO as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_its_keys_then_its_time_then_four_numbers_a_key() {
        let args = |key: &str, requests, cost| KeyArgs {
            key: key.to_owned(),
            limit: Limit { burst: 7, ..Limit::new(requests, Span::from_secs(60)) },
            cost,
        };
        let keys = vec![args("{a}:1", 100, 1), args("{a}:2", 5, 3)];
        let call = Invocation { now: -5, slack: 250, combine: Combine::Sequential, keys };
        let packed = String::from_utf8(call.command("cafe").get_packed_command()).unwrap();
        let words: Vec<&str> = packed.split("\r\n").skip(2).step_by(2).collect();
        let expected =
            "EVALSHA cafe 2 {a}:1 {a}:2 -5 250 sequential 100 60000000 7 1 5 60000000 7 3";
        assert_eq!(words.join(" ").trim_end(), expected);
    }

    #[test]
    fn a_reply_is_a_decision_a_span_and_the_keys_that_refused() {
        let read = |numbers: &[i64]| {
            Answer::read(&Value::Array(numbers.iter().map(|&n| Value::Int(n)).collect()))
        };
        let answer = |decision, micros, refused: &[usize]| {
            Some(Answer { decision, micros, refused: refused.to_vec() })
        };
        assert_eq!(read(&[1, 0]), answer(Decision::Admitted, Some(0), &[]));
        assert_eq!(read(&[2, 500_000]), answer(Decision::Queued, Some(500_000), &[]));
        assert_eq!(read(&[0, -1, 1, 3]), answer(Decision::Denied, None, &[0, 2]));
        for wrong in [&[][..], &[1], &[3, 0], &[0, -2], &[0, 1, 0]] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
        assert_eq!(Answer::read(&Value::Okay), None);
    }

    #[test]
    fn readings_are_cut_down_and_spans_rounded_up_to_the_clock() {
        let tick = Span::from_nanos(1_000_000);
        assert_eq!(micros(Reading(1_999_999), tick), 1_000);
        assert_eq!(micros(Reading(-1), tick), -1_000);
        assert_eq!(micros(Reading(1_999_999), Span::from_nanos(1_000)), 1_999);
        let waits = Answer::of(Fate::Rejected(Wait::After(Span::from_nanos(1_000_001)))).unwrap();
        assert_eq!((waits.micros, waits.on_clock(tick).micros), (Some(1_001), Some(2_000)));
    }
}
