//! The registry of scripts: one for each algorithm, with the numbers for which it is exact.

use crate::algorithm::{self, Kind};
use crate::rate::{Limit, gcd};
use crate::time::Reading;

/// A Lua script that decides as an algorithm does.
pub struct Script {
    /// The name of the algorithm.
    pub name: &'static str,
    /// What it keeps of a key in the server.
    pub keeps: &'static str,
    /// The whole text.
    pub text: &'static str,
    /// Numbers that must stay below 2^53 for it to be exact, with what they are.
    bounds: fn(&Terms) -> Vec<(&'static str, u128)>,
}

/// The registry, in the order of [`algorithm::ALGORITHMS`].
pub const SCRIPTS: &[Script] = &[
    Script {
        name: "fixed-window",
        keeps: "a string: end of the window, count",
        text: concat!(include_str!("scripts/fixed_window.lua"), include_str!("scripts/frame.lua")),
        bounds: |terms| vec![("the end of a window", terms.latest + terms.window)],
    },
    Script {
        name: "sliding-window-log",
        keeps: "a sorted set: an entry a request",
        text: concat!(
            include_str!("scripts/sliding_window_log.lua"),
            include_str!("scripts/frame.lua")
        ),
        bounds: |terms| vec![("the end of a window", terms.latest + terms.window)],
    },
    Script {
        name: "sliding-window-counter",
        keeps: "a string: end of the window, two counts, last time",
        text: concat!(
            include_str!("scripts/sliding_window_counter.lua"),
            include_str!("scripts/frame.lua")
        ),
        bounds: |terms| {
            vec![
                ("(requests + 1) times the window", (terms.limit + 1) * terms.window),
                ("the end of the next window", terms.latest + 2 * terms.window),
            ]
        },
    },
    Script {
        name: "token-bucket",
        keeps: "a string: last time, deficit",
        text: concat!(include_str!("scripts/token_bucket.lua"), include_str!("scripts/frame.lua")),
        bounds: |terms| {
            let deficit = terms.burst * terms.window / terms.common();
            vec![
                ("the burst times the window, over their divisor", deficit),
                ("when an empty bucket is full", terms.latest + terms.reach()),
            ]
        },
    },
    Script {
        name: "leaky-bucket",
        keeps: "a string: last time, when the queue is empty",
        text: concat!(
            include_str!("scripts/leaky_bucket.lua"),
            include_str!("scripts/schedule.lua"),
            include_str!("scripts/frame.lua")
        ),
        bounds: Terms::of_a_schedule,
    },
    Script {
        name: "gcra",
        keeps: "a string: last time, when the next is due",
        text: concat!(
            include_str!("scripts/gcra.lua"),
            include_str!("scripts/schedule.lua"),
            include_str!("scripts/frame.lua")
        ),
        bounds: Terms::of_a_schedule,
    },
];

/// What a script calculates with; times and spans in microseconds.
struct Terms {
    limit: u128,
    window: u128,
    burst: u128,
    latest: u128,
}

impl Terms {
    /// The divisor by which window and requests are shortened.
    fn common(&self) -> u128 {
        gcd(self.window, self.limit)
    }

    /// How long the burst takes at the rate of the limit, rounded up.
    fn reach(&self) -> u128 {
        (self.burst * self.window).checked_div(self.limit).map_or(0, |reach| reach + 1)
    }

    fn of_a_schedule(&self) -> Vec<(&'static str, u128)> {
        vec![
            (
                "the burst times the requests, over their divisor",
                self.burst * self.limit / self.common(),
            ),
            ("the latest that may fall due", self.latest + 2 * self.reach()),
        ]
    }
}

/// Lua's numbers are exact below it.
const EXACT: u128 = 1 << 53;

impl Script {
    /// The script of an algorithm.
    pub fn of(kind: &Kind) -> Option<&'static Script> {
        SCRIPTS.iter().find(|script| script.name == kind.name)
    }

    /// What the algorithm is.
    ///
    /// # Panics
    /// If there is no algorithm of its name, which a test rules out.
    pub fn kind(&self) -> &'static Kind {
        let kind = algorithm::find(self.name);
        kind.unwrap_or_else(|| unreachable!("every script has an algorithm"))
    }

    /// Whether the script decides as its algorithm does under this limit, for readings up to `latest`.
    ///
    /// # Errors
    /// A text that says why not.
    pub fn suits(&self, limit: &Limit, latest: Reading) -> Result<(), String> {
        let nanos = limit.per.nanos();
        if !nanos.is_multiple_of(MICRO) {
            return Err(format!("a window of {} is not in whole microseconds", limit.per));
        }
        let refills = matches!(self.name, "token-bucket" | "gcra");
        if refills && limit.requests == 0 && limit.burst > 0 {
            return Err(format!(
                "a burst of {} that never comes again would have to be remembered for ever, and scripts let \
                 every key expire",
                limit.burst
            ));
        }
        let terms = Terms {
            limit: limit.requests.into(),
            window: (nanos / MICRO).into(),
            burst: limit.burst.into(),
            latest: latest.0.max(0).unsigned_abs().div_ceil(MICRO).into(),
        };
        match (self.bounds)(&terms).into_iter().find(|&(_, number)| number >= EXACT) {
            Some((what, number)) => Err(format!(
                "under {limit} {what} (in us) is {number}, and scripts are exact below 2^53 = {EXACT}"
            )),
            None => Ok(()),
        }
    }
}

/// Nanoseconds of the unit in which scripts count time.
pub(super) const MICRO: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::ALGORITHMS;
    use crate::time::{Instant, Span};

    #[test]
    fn every_algorithm_has_a_script_in_the_same_order() {
        let scripts: Vec<_> = SCRIPTS.iter().map(|script| script.name).collect();
        let algorithms: Vec<_> = ALGORITHMS.iter().map(|kind| kind.name).collect();
        assert_eq!(scripts, algorithms);
    }

    #[test]
    fn every_script_says_what_it_is_and_ends_in_the_frame_that_all_share() {
        for script in SCRIPTS {
            assert!(script.text.starts_with("-- "), "{}", script.name);
            assert!(script.text.contains("Exact while "), "{}", script.name);
            assert!(script.text.ends_with(include_str!("scripts/frame.lua")), "{}", script.name);
            assert_eq!(script.text.matches("local function ask(").count(), 1, "{}", script.name);
            let widest = script.text.lines().map(str::len).max();
            assert!(widest <= Some(110), "{}: {widest:?}", script.name);
        }
    }

    fn suits(name: &str, limit: Limit) -> Result<(), String> {
        let script = SCRIPTS.iter().find(|script| script.name == name).unwrap();
        script.suits(&limit, Instant::MIDNIGHT.exact())
    }

    fn limit(requests: u64, seconds: u64) -> Limit {
        Limit::new(requests, Span::from_secs(seconds))
    }

    #[test]
    fn the_counter_is_exact_up_to_a_hundred_thousand_a_day() {
        // 2^53 / 86,400,000,000 is 104,249.99.
        assert_eq!(suits("sliding-window-counter", limit(104_248, 86_400)), Ok(()));
        let shown = suits("sliding-window-counter", limit(104_249, 86_400)).unwrap_err();
        assert!(shown.contains("(requests + 1) times the window"), "{shown}");
        assert_eq!(suits("sliding-window-counter", limit(3_400, 30 * 86_400)), Ok(()));
        assert_eq!(suits("sliding-window-counter", limit(2_500_000, 3_600)), Ok(()));
    }

    #[test]
    fn buckets_shorten_by_what_window_and_requests_have_in_common() {
        // 10^6 * 86,400,000,000 / 10^6.
        assert_eq!(suits("token-bucket", limit(1_000_000, 86_400)), Ok(()));
        // 1,000,003 is prime.
        let shown = suits("token-bucket", limit(1_000_003, 86_400)).unwrap_err();
        assert!(shown.contains("is 86400259200000000, and"), "{shown}");
        assert_eq!(suits("gcra", limit(1_000_003, 86_400)), Ok(()));
        let shown = suits("gcra", limit(100_000_007, 86_400)).unwrap_err();
        assert!(shown.contains("the burst times the requests"), "{shown}");
    }

    #[test]
    fn times_must_be_exact_too() {
        // 2^53 us after 1970 is in 2255.
        let far = Limit { burst: 1 << 32, ..limit(1, 86_400) };
        for name in ["token-bucket", "gcra", "leaky-bucket"] {
            assert!(suits(name, far).unwrap_err().contains("exact below 2^53"), "{name}");
        }
        let decade = Limit::new(1, Limit::MAX_PER);
        for script in SCRIPTS {
            assert_eq!(suits(script.name, decade), Ok(()), "{}", script.name);
        }
    }

    #[test]
    fn windows_are_whole_microseconds_and_no_key_is_kept_for_ever() {
        let odd = Limit::new(1, Span::from_nanos(1_500));
        let once = Limit { burst: 5, ..limit(0, 1) };
        for script in SCRIPTS {
            let shown = suits(script.name, odd).unwrap_err();
            assert_eq!(shown, "a window of 1.5us is not in whole microseconds");
            let refills = matches!(script.name, "token-bucket" | "gcra");
            assert_eq!(suits(script.name, once).is_err(), refills, "{}", script.name);
            assert_eq!(suits(script.name, limit(0, 1)), Ok(()));
        }
    }
}
