//! The leaky bucket as a queue: what passes leaves at an even rate, what finds the queue full does
//! not pass.
//!
//! **Rule.** Units leave T = W/L apart, the first of an idle queue after one interval. With `next`
//! the time at which the queue is empty, it holds ceil((next - now) / T) units; an attempt of cost c
//! passes if they and c are at most B, and leaves at max(next, now) + cT, which is then `next`, rounded
//! up to whole nanoseconds. With `first = "immediate"` it leaves at max(next, now), an idle queue lets
//! it pass at once, and the unit that has left last is not counted among those that wait.
//! A limit of none denies all, since nothing would ever leave.
//!
//! **Source.** J. Turner, "New directions in communications (or which way to the information age?)",
//! IEEE Communications Magazine 24(10), 1986.
//!
//! **Weakness.** Bursts wait although nobody else asks for anything.

use super::schedule::{Due, Nanos, Schedule};
use super::{Algorithm, Backwards, Common, Footprint, Keyed, Kind, Limiter, Verdict, Wait};
use crate::params::{Choice, Params};
use crate::rate::Limit;
use crate::time::{Reading, Span};

/// The registry's entry.
pub const KIND: Kind = Kind {
    name: "leaky-bucket",
    summary: "queues what comes and lets it out at an even rate",
    weakness: "makes bursts wait although the backend may be idle",
    memory: "next free slot",
    queues: true,
    configure,
    backwards: &[Backwards::Freeze, Backwards::RewindOnAdmit, Backwards::Rewind, Backwards::Naive],
};

/// When the first of an idle queue leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    AfterInterval,
    Immediate,
}

impl Choice for First {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("after-interval", First::AfterInterval, "once the interval of its cost has passed"),
        ("immediate", First::Immediate, "at once"),
    ];
}

fn configure(limit: &Limit, common: Common, params: &mut Params) -> Option<Box<dyn Limiter>> {
    let first = params.or("first", First::AfterInterval, "When the first of an idle queue leaves.");
    match limiter::<i64>(limit, first, common) {
        None => limiter::<i128>(limit, first, common),
        narrow => narrow,
    }
}

fn limiter<N: Nanos>(limit: &Limit, first: First, common: Common) -> Option<Box<dyn Limiter>> {
    let capacity = if limit.requests == 0 { 0 } else { limit.burst };
    // ceil(x / T) + c <= B is x <= (B - c)T for whole B and c: what is owed with the newcomer may
    // reach B intervals ahead; one more where the unit that left last does not count.
    let ahead = capacity + u64::from(first == First::Immediate);
    let schedule = Schedule::<N>::new(limit, capacity, ahead, common)?;
    Some(Box::new(Keyed::new(LeakyBucket { schedule, first, common }, common.tick)))
}

struct LeakyBucket<N> {
    schedule: Schedule<N>,
    first: First,
    common: Common,
}

impl<N: Nanos> Algorithm for LeakyBucket<N> {
    type State = Due<N>;

    fn fresh(&self) -> Due<N> {
        self.schedule.fresh()
    }

    fn check(&self, state: &Due<N>, now: Reading, cost: u32) -> Verdict {
        let settled = self.schedule.settled(state, now);
        if !self.schedule.has_room(&settled, cost) {
            return Verdict::Deny;
        }
        let leaves = match self.first {
            First::AfterInterval => self.schedule.done(&settled, cost),
            First::Immediate if self.schedule.is_idle(&settled) => return Verdict::Admit,
            First::Immediate => self.schedule.start(&settled),
        };
        let span = (leaves.ceil() - i128::from(now.0)).unsigned_abs();
        match Span::try_from_nanos(span).unwrap_or(Span::MAX) {
            Span::ZERO => Verdict::Admit,
            span => Verdict::Queue(span),
        }
    }

    fn wait(&self, state: &Due<N>, now: Reading, cost: u32) -> Wait {
        self.schedule.wait(state, now, cost)
    }

    fn charge(&self, state: &mut Due<N>, now: Reading, cost: u32) {
        self.schedule.charge(state, now, cost);
    }

    fn deny(&self, state: &mut Due<N>, now: Reading, cost: u32) {
        if self.common.count_rejected {
            self.schedule.charge(state, now, cost);
        } else if self.common.backwards == Backwards::Rewind {
            *state = self.schedule.settled(state, now);
        }
    }

    fn footprint(&self, _state: &Due<N>, _now: Reading) -> Footprint {
        Footprint { entries: 1, bytes: size_of::<Due<N>>() as u64 }
    }

    fn neutral_from(&self, state: &Due<N>) -> Option<Reading> {
        self.schedule.neutral_from(state)
    }
}
