//! gcra and token-bucket against the governor crate under its fake clock: the same decisions and the
//! same waits, for over a million random requests, at rates that divide evenly (governor cuts the
//! interval between two requests down to whole nanoseconds).

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, FakeRelativeClock};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use rand::{Rng, RngExt};
use ratesim::algorithm::{Limiter, Verdict, Wait, find};
use ratesim::error::Problems;
use ratesim::params::{Node, Params};
use ratesim::rate::Limit;
use ratesim::seed::Seed;
use ratesim::time::{Reading, SECOND, Span};

type Governor = RateLimiter<NotKeyed, InMemoryState, FakeRelativeClock, NoOpMiddleware<Nanos>>;

fn limiter(name: &str, limit: &Limit) -> Box<dyn Limiter> {
    let (node, problems) = (Node::empty(), Problems::new());
    let mut params = Params::new(&node, &problems);
    let mut limiter = find(name).unwrap().limiter(limit, &mut params).unwrap();
    limiter.reserve(0);
    limiter
}

/// The span until governor would admit; `None` if it admits now.
fn governor_says(governor: &Governor, clock: &FakeRelativeClock, cost: NonZeroU32) -> Option<Wait> {
    match governor.check_n(cost) {
        Ok(Ok(())) => None,
        Ok(Err(not_until)) => {
            let wait = not_until.wait_time_from(clock.now()).as_nanos();
            Some(Wait::After(Span::try_from_nanos(wait).unwrap()))
        }
        Err(_insufficient_capacity) => Some(Wait::Never),
    }
}

fn we_say(limiter: &mut dyn Limiter, now: Reading, cost: NonZeroU32) -> Option<Wait> {
    match limiter.check(0, now, cost.get()) {
        Verdict::Deny => {
            limiter.deny(0, now, cost.get());
            Some(limiter.wait(0, now, cost.get()))
        }
        _ => {
            limiter.charge(0, now, cost.get());
            None
        }
    }
}

#[test]
fn gcra_and_token_bucket_decide_as_governor_does() {
    const REQUESTS: u32 = 250_000;
    let mut random = Seed(1).stream("governor", 0);
    let mut denied = 0;
    // Requests, width, burst: a nanosecond apart, a spacing, a burst of less and of more than a window.
    for (requests, per, burst) in [
        (100, 60 * SECOND, 100),
        (2, SECOND, 10),
        (1_000_000_000, SECOND, 5),
        (1, SECOND, 1),
        (1_200, 60 * SECOND, 7),
        (50, SECOND, 400),
    ] {
        let limit = Limit { requests, per: Span::from_nanos(per), burst: u64::from(burst) };
        let interval = per / requests;
        let quota = Quota::with_period(Duration::from_nanos(interval)).unwrap();
        let clock = FakeRelativeClock::default();
        let quota = quota.allow_burst(NonZeroU32::new(burst).unwrap());
        let governor = RateLimiter::direct_with_clock(quota, clock.clone());
        let mut ours = [limiter("gcra", &limit), limiter("token-bucket", &limit)];
        let mut now = 0;
        for request in 0..REQUESTS {
            let gap = match random.next_u32() % 8 {
                0 | 1 => 0,
                2 => 1,
                3 => interval,
                4 => interval.saturating_sub(1),
                5 | 6 => random.random_range(0..=2 * interval),
                _ => random.random_range(0..=interval * u64::from(burst) / 2),
            };
            clock.advance(Duration::from_nanos(gap));
            now += gap as i64;
            let cost = match random.next_u32() % 8 {
                0 => random.random_range(1..=burst + 1),
                1 | 2 => 2,
                _ => 1,
            };
            let cost = NonZeroU32::new(cost).unwrap();
            let right = governor_says(&governor, &clock, cost);
            denied += u32::from(right.is_some());
            for limiter in &mut ours {
                let said = we_say(limiter.as_mut(), Reading(now), cost);
                assert_eq!(said, right, "{limit}: request {request}, {cost} at {now} ns");
            }
        }
    }
    // Neither side would be tested by traffic that is all admitted or all denied.
    assert!((6 * REQUESTS / 5..6 * REQUESTS * 4 / 5).contains(&denied), "{denied} denied");
}
