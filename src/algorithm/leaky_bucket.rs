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

use super::schedule::{Due, Exact, Schedule};
use super::width::Nanos;
use super::{Algorithm, Backwards, Common, Footprint, Keyed, Kind, Limiter, Verdict, Wait};
use crate::params::{Choice, Params};
use crate::rate::Limit;
use crate::time::{Reading, Span};

/// The registry's entry.
pub const KIND: Kind = Kind {
    name: "leaky-bucket",
    summary: "Queues what comes and lets it out at an even rate.",
    weakness: "Makes bursts wait although the backend may be idle.",
    memory: "next free slot",
    queues: LeakyBucket::<i64>::QUEUES,
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
    Some(Box::new(Keyed::new(LeakyBucket { schedule, first }, common.tick)))
}

struct LeakyBucket<N> {
    schedule: Schedule<N>,
    first: First,
}

/// What passes once it leaves.
#[inline]
fn until<N: Nanos>(leaves: Exact<N>, now: Reading) -> Verdict {
    let span = (leaves.ceil() - i128::from(now.0)).unsigned_abs();
    match Span::try_from_nanos(span).unwrap_or(Span::MAX) {
        Span::ZERO => Verdict::Admit,
        span => Verdict::Queue(span),
    }
}

impl<N: Nanos> Algorithm for LeakyBucket<N> {
    type State = Due<N>;

    const QUEUES: bool = true;

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
        until(leaves, now)
    }

    fn wait(&self, state: &Due<N>, now: Reading, cost: u32) -> Wait {
        self.schedule.wait(state, now, cost)
    }

    fn charge(&self, state: &mut Due<N>, now: Reading, cost: u32) {
        self.schedule.charge(state, now, cost);
    }

    #[inline]
    fn pass(&self, state: &mut Due<N>, now: Reading) -> Verdict {
        let idle =
            self.first == First::Immediate && self.schedule.is_idle(&Due { last: now.0, ..*state });
        match self.schedule.pass(state, now) {
            None => Verdict::Deny,
            Some(_) if idle => Verdict::Admit,
            Some((start, done)) => match self.first {
                First::AfterInterval => until(done, now),
                First::Immediate => until(start, now),
            },
        }
    }

    fn is_flat(&self) -> bool {
        self.schedule.is_flat()
    }

    fn decide_all(&self, state: &mut Due<N>, times: &[i64], trail: &mut [Due<N>]) -> u64 {
        self.schedule.decide_all(state, times, trail)
    }

    #[inline]
    fn leave(&self, after: &Due<N>, now: Reading) -> i64 {
        let leaves = match self.first {
            First::AfterInterval => after.next,
            First::Immediate => self.schedule.started(after),
        };
        leaves.ceil_in_time().min(now.0.saturating_add(Span::MAX.signed()))
    }

    fn as_of(&self, state: &Due<N>, now: Reading) -> Reading {
        self.schedule.as_of(state, now)
    }

    fn owe(&self, state: &mut Due<N>, now: Reading, cost: u32) {
        self.schedule.owe(state, now, cost);
    }

    fn deny(&self, state: &mut Due<N>, now: Reading, cost: u32) {
        self.schedule.deny(state, now, cost);
    }

    fn denial_writes(&self, _state: &Due<N>) -> bool {
        self.schedule.denial_writes()
    }

    fn footprint(&self, _state: &Due<N>, _now: Reading) -> Footprint {
        Footprint { entries: 1, bytes: size_of::<Due<N>>() as u64 }
    }

    fn neutral_from(&self, state: &Due<N>) -> Option<Reading> {
        self.schedule.neutral_from(state)
    }

    fn lasts_at_most(&self) -> i64 {
        self.schedule.lasts_at_most()
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{MS, NEVER, SEC, Trial, wait};

    #[test]
    fn of_15_at_once_10_are_queued_and_the_last_leaves_after_5_seconds() {
        let mut trial = Trial::new("leaky-bucket", "2/s", Some(10), "");
        for n in 1..=10 {
            assert_eq!(trial.ask(0), Ok(n * 500_000_000));
        }
        for _ in 0..5 {
            assert_eq!(trial.ask(0), wait(500 * MS));
        }
        assert_eq!(trial.neutral_from(), Some(5 * SEC));
    }

    #[test]
    fn a_capacity_of_one_is_a_spacing() {
        let mut trial = Trial::new("leaky-bucket", "2/s", Some(1), "");
        let asks = (0..100).map(|n| n * 10 * MS);
        assert_eq!(trial.passing(asks), [0, 500 * MS]);
    }

    #[test]
    fn the_first_of_an_idle_queue_may_leave_at_once() {
        let mut trial = Trial::new("leaky-bucket", "2/s", Some(10), "first = \"immediate\"");
        assert_eq!(trial.ask(0), Ok(0));
        for n in 1..=10 {
            assert_eq!(trial.ask(0), Ok(n * 500_000_000));
        }
        // The oldest of those that wait leaves at 0.5 s.
        assert_eq!(trial.ask(0), wait(500 * MS));
        assert_eq!(trial.ask_for(100 * SEC, 11), NEVER);
        assert_eq!(trial.ask_for(100 * SEC, 10), Ok(0));
    }

    #[test]
    fn a_cost_takes_so_many_slots() {
        let mut trial = Trial::new("leaky-bucket", "2/s", Some(10), "");
        assert_eq!(trial.ask_for(0, 4), Ok(2_000_000_000));
        // 3.8 slots are 4 units, so 6 fit and 7 do not until one more slot is over.
        assert_eq!(trial.ask_for(100 * MS, 7), wait(400 * MS));
        assert_eq!(trial.ask_for(100 * MS, 6), Ok(4_900_000_000));
    }

    #[test]
    fn departures_are_rounded_up_from_exact_slots() {
        // Slots of 333 333 333 1/3 ns: the third is a whole second.
        let mut trial = Trial::new("leaky-bucket", "3/s", None, "");
        let told = [trial.ask(0), trial.ask(0), trial.ask(0)];
        assert_eq!(told, [Ok(333_333_334), Ok(666_666_667), Ok(1_000_000_000)]);
    }

    #[test]
    fn a_limit_of_none_lets_nothing_into_the_queue() {
        for first in ["immediate", "after-interval"] {
            let options = format!("first = \"{first}\"");
            let mut trial = Trial::new("leaky-bucket", "0/s", Some(10), &options);
            assert_eq!(trial.ask(0), NEVER);
        }
    }

    #[test]
    fn spans_are_counted_from_the_reading_that_was_given() {
        let mut frozen = Trial::new("leaky-bucket", "1/s", Some(10), "");
        assert_eq!(frozen.ask(5 * SEC), Ok(SEC as u64));
        // It queues behind the first, which leaves at 6 s, and leaves at 7 s.
        assert_eq!(frozen.ask(3 * SEC), Ok(4 * SEC as u64));
        let mut rewound = Trial::new("leaky-bucket", "1/s", Some(10), "backwards = \"rewind\"");
        assert_eq!(rewound.ask(5 * SEC), Ok(SEC as u64));
        // The second that is owed is owed from 3 s on.
        assert_eq!(rewound.ask(3 * SEC), Ok(2 * SEC as u64));
    }

    #[test]
    fn counted_denials_fill_the_queue_and_no_more() {
        let mut trial = Trial::new("leaky-bucket", "1/s", Some(2), "count-rejected = true");
        assert_eq!(trial.flood(0, 2), 2);
        // Half a slot is free at 0.5 s; the denial takes it.
        assert_eq!(trial.ask(500 * MS), wait(SEC));
        assert_eq!(trial.ask(SEC), wait(SEC));
        assert_eq!(trial.ask(2 * SEC), Ok(2 * SEC as u64));
    }
}
