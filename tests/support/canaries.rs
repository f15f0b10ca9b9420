//! Algorithms wrong on purpose, each in one thing that real limiters got wrong. The checks are worth
//! something only as long as each of these fails one.

use ratesim::algorithm::{Algorithm, Footprint, Keyed, Limiter, Verdict, Wait};
use ratesim::rate::Limit;
use ratesim::time::{Reading, Span};

const TICK: Span = Span::from_nanos(1);

/// A rate that divides evenly, so that the canaries are right in everything but their one fault.
pub fn even(limit: &Limit) -> Option<i64> {
    let (width, requests) = (limit.per.signed(), i64::try_from(limit.requests).ok()?);
    let small = limit.requests.max(limit.burst) <= 1_000 && width < 1 << 40;
    (requests > 0 && small && width % requests == 0).then(|| width / requests)
}

/// GCRA that tells a denied client to wait for the theoretical arrival time, as if it had no burst.
pub fn wait_without_burst(limit: &Limit) -> Option<Box<dyn Limiter>> {
    Some(Box::new(Keyed::new(ArrivalTime::new(limit, Fault::WaitWithoutBurst)?, TICK)))
}

/// GCRA that forgets a debt when an older reading comes, so that it is earned twice.
pub fn earns_twice(limit: &Limit) -> Option<Box<dyn Limiter>> {
    Some(Box::new(Keyed::new(ArrivalTime::new(limit, Fault::EarnsTwice)?, TICK)))
}

/// GCRA without a fault, to show that it is the fault that is caught.
pub fn faultless(limit: &Limit) -> Option<Box<dyn Limiter>> {
    Some(Box::new(Keyed::new(ArrivalTime::new(limit, Fault::None)?, TICK)))
}

#[derive(PartialEq, Eq)]
enum Fault {
    None,
    WaitWithoutBurst,
    EarnsTwice,
}

struct ArrivalTime {
    interval: i64,
    burst: i64,
    fault: Fault,
}

impl ArrivalTime {
    fn new(limit: &Limit, fault: Fault) -> Option<ArrivalTime> {
        Some(ArrivalTime { interval: even(limit)?, burst: limit.burst as i64, fault })
    }
}

impl Algorithm for ArrivalTime {
    /// The theoretical arrival time and the last reading.
    type State = (i64, i64);

    fn fresh(&self) -> (i64, i64) {
        (i64::MIN, i64::MIN)
    }

    fn check(&self, &(arrival, last): &(i64, i64), now: Reading, cost: u32) -> Verdict {
        let (now, cost) = (now.0.max(last), i64::from(cost));
        let fits =
            cost <= self.burst && arrival.max(now) - now <= self.interval * (self.burst - cost);
        if fits { Verdict::Admit } else { Verdict::Deny }
    }

    fn wait(&self, &(arrival, _): &(i64, i64), now: Reading, cost: u32) -> Wait {
        let cost = i64::from(cost);
        if cost > self.burst {
            return Wait::Never;
        }
        let tolerance = match self.fault {
            Fault::WaitWithoutBurst => 0,
            Fault::None | Fault::EarnsTwice => self.interval * (self.burst - cost),
        };
        let span = (i128::from(arrival) - i128::from(tolerance) - i128::from(now.0)).max(0);
        Wait::After(Span::from_nanos(span as u64))
    }

    fn charge(&self, state: &mut (i64, i64), now: Reading, cost: u32) {
        let (arrival, last) = *state;
        let cost = self.interval * i64::from(cost).min(self.burst);
        let at = now.0.max(last);
        *state = match self.fault {
            Fault::EarnsTwice if now.0 < last => (now.0 + (arrival - last).max(0) + cost, now.0),
            _ => (arrival.max(at) + cost, at),
        };
    }

    fn footprint(&self, _state: &(i64, i64), _now: Reading) -> Footprint {
        Footprint { entries: 1, bytes: 16 }
    }

    fn neutral_from(&self, &(arrival, _): &(i64, i64)) -> Option<Reading> {
        Some(Reading(arrival))
    }
}

/// A log that lets stamps go one nanosecond before they have left the window.
pub fn edge_too_early(limit: &Limit) -> Option<Box<dyn Limiter>> {
    Some(Box::new(Keyed::new(EarlyLog { limit: limit.requests, width: limit.per.signed() }, TICK)))
}

struct EarlyLog {
    limit: u64,
    width: i64,
}

impl EarlyLog {
    fn held(&self, state: &[(i64, u32)], now: i64) -> u64 {
        let inside = state.iter().filter(|(stamp, _)| now - stamp < self.width - 1);
        inside.map(|&(_, cost)| u64::from(cost)).sum()
    }
}

impl Algorithm for EarlyLog {
    type State = Vec<(i64, u32)>;

    fn fresh(&self) -> Self::State {
        Vec::new()
    }

    fn check(&self, state: &Self::State, now: Reading, cost: u32) -> Verdict {
        let fits = self.held(state, now.0) + u64::from(cost) <= self.limit;
        if fits { Verdict::Admit } else { Verdict::Deny }
    }

    fn wait(&self, _state: &Self::State, _now: Reading, _cost: u32) -> Wait {
        Wait::Never
    }

    fn charge(&self, state: &mut Self::State, now: Reading, cost: u32) {
        state.push((now.0, cost));
    }

    fn footprint(&self, state: &Self::State, _now: Reading) -> Footprint {
        Footprint { entries: state.len() as u64, bytes: 0 }
    }

    fn neutral_from(&self, _state: &Self::State) -> Option<Reading> {
        None
    }
}
