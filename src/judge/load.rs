//! How attempts are spread over time: how high they peak, whether retries come in herds, and whether a run
//! finds back to what was normal after a disturbance.
//!
//! All of it is counted in whole seconds, as attempts come in, in a few numbers whatever the length of a
//! run.
//!
//! - **Peak**: the most attempts in any second from the start of the run.
//! - **Herd**: all attempts from the instant of the first retry on, counted in seconds from that instant:
//!   the most in any of them against their mean. Even traffic over whole seconds has 1; a herd that comes
//!   back together has as many as the seconds it might have spread over.
//! - **Recovery**: the normal level is the most attempts in any second that was over when the trigger
//!   began; a second is high if it has more than 11/10 of that. A run has recovered at the end of its last
//!   high second, and takes from the end of the trigger until then.
//!
//! The last second of a run may be cut short by its end. It counts as a second for peak and herd; whether
//! it is high is a matter of proportion.

use super::seconds::{Seconds, end_of};
use crate::time::{Instant, SECOND, Span, Window};

/// Attempts over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    window: Window,
    trigger: Option<Window>,
    /// From the start of the run.
    seconds: Seconds,
    /// Of the attempts of the second at hand, retries.
    retries: u64,
    /// From the first retry on.
    retrying: Option<Seconds>,
    /// The instant at hand with its attempts.
    instant: (Instant, u64),
    /// `None` without a trigger from which a recovery could be told.
    watch: Option<Watch>,
}

/// All attempts from the instant of the first retry on, in seconds from that instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Herd {
    /// The most in any second.
    pub peak: u64,
    /// All of them, at least 1.
    pub attempts: u64,
    /// Seconds to the end of the run, one that it cuts short included.
    pub seconds: u64,
}

/// How long a run took to find back to its normal level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// So long after the end of the trigger; zero if no second was high by then.
    After(Span),
    /// Not within the run.
    Never,
}

/// The attempts of a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Second {
    pub start: Instant,
    pub first: u64,
    pub retries: u64,
}

/// What tells whether a run recovers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Watch {
    trigger: Window,
    /// The most attempts in any second that was over when the trigger began.
    normal: u64,
    last_high: Option<u64>,
}

impl Load {
    /// No attempt yet in a run over `window`; `trigger` is what it may recover from. That can be told only
    /// if a whole second lies before it, and the run goes on after it.
    pub(super) fn new(window: Window, trigger: Option<Window>) -> Load {
        let tells = |trigger: &Window| {
            trigger.start - window.start >= Span::from_nanos(SECOND) && trigger.end < window.end
        };
        let watch = trigger.filter(tells);
        Load {
            window,
            trigger,
            seconds: Seconds::from(window.start),
            retries: 0,
            retrying: None,
            instant: (window.start, 0),
            watch: watch.map(|trigger| Watch { trigger, normal: 0, last_high: None }),
        }
    }

    /// An attempt is made; calls come in time order. Gives the second of the run that is over by then, if
    /// one is.
    #[inline]
    pub(super) fn attempt(&mut self, at: Instant, retry: bool) -> Option<Second> {
        let before = if self.instant.0 == at { self.instant.1 } else { 0 };
        self.instant = (at, before + 1);
        let over = self.seconds.add(at, 1).map(|over| self.over(over));
        self.retries += u64::from(retry);
        match &mut self.retrying {
            Some(seconds) => {
                seconds.add(at, 1);
            }
            None if retry => {
                let mut seconds = Seconds::from(at);
                seconds.add(at, self.instant.1);
                self.retrying = Some(seconds);
            }
            None => {}
        }
        over
    }

    /// A second is over.
    fn over(&mut self, (index, attempts): (u64, u64)) -> Second {
        if let Some(watch) = &mut self.watch {
            watch.look_at(self.window.start, index, attempts, SECOND);
        }
        let retries = std::mem::take(&mut self.retries);
        self.second((index, attempts), retries)
    }

    /// The second at hand.
    pub(super) fn at_hand(&self) -> Second {
        self.second((self.seconds.index, self.seconds.count), self.retries)
    }

    fn second(&self, (index, attempts): (u64, u64), retries: u64) -> Second {
        let start = self.window.start + Span::from_nanos(index * SECOND);
        Second { start, first: attempts - retries, retries }
    }

    /// The run.
    pub fn window(&self) -> Window {
        self.window
    }

    /// What disturbs the run, whether or not a recovery from it can be told.
    pub fn trigger(&self) -> Option<Window> {
        self.trigger
    }

    /// The most attempts in any second from the start of the run.
    pub fn peak_per_second(&self) -> u64 {
        self.seconds.most()
    }

    /// How the attempts from the first retry on were spread; `None` without a retry.
    pub fn herd(&self) -> Option<Herd> {
        self.retrying.map(|seconds| Herd {
            peak: seconds.most(),
            attempts: seconds.total(),
            seconds: (self.window.end - seconds.origin).ceil_secs(),
        })
    }

    /// How long the run took to recover: never, if its last whole second is high, or what its end leaves
    /// of the second after that. `None` without a trigger, without a whole second before it, and if the
    /// run does not go on after it.
    pub fn recovery(&self) -> Option<Recovery> {
        let mut watch = self.watch?;
        let (whole, rest) =
            (self.window.span().nanos() / SECOND, self.window.span().nanos() % SECOND);
        let Seconds { index, count, .. } = self.seconds;
        let length = if index < whole { SECOND } else { rest };
        watch.look_at(self.window.start, index, count, length);
        Some(match watch.last_high {
            Some(index) if index + 1 >= whole => Recovery::Never,
            Some(index) => Recovery::After(end_of(self.window.start, index) - watch.trigger.end),
            None => Recovery::After(Span::ZERO),
        })
    }
}

impl Watch {
    /// Takes in what came in a second of so many nanoseconds; those in which nothing came are never high.
    fn look_at(&mut self, start: Instant, index: u64, count: u64, length: u64) {
        let [count, normal, length] = [count, self.normal, length].map(u128::from);
        if end_of(start, index) <= self.trigger.start {
            self.normal = self.normal.max(count as u64);
        } else if 10 * count * u128::from(SECOND) > 11 * normal * length {
            self.last_high = Some(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: i64 = 1_000_000;

    fn window(from: i64, to: i64) -> Window {
        Window { start: Instant(from * MS), end: Instant(to * MS) }
    }

    fn load(run: Window, trigger: Option<Window>, attempts: &[(i64, bool)]) -> Load {
        let mut load = Load::new(run, trigger);
        for &(ms, retry) in attempts {
            load.attempt(Instant(ms * MS), retry);
        }
        load
    }

    /// So many first attempts in each of the seconds of a run, evenly spread.
    fn by_second(counts: &[i64]) -> Vec<(i64, bool)> {
        let second = |(index, &count): (usize, &i64)| {
            (0..count).map(move |n| (1000 * index as i64 + n * 1000 / count, false))
        };
        counts.iter().enumerate().flat_map(second).collect()
    }

    fn after(ms: u64) -> Option<Recovery> {
        Some(Recovery::After(Span::from_nanos(ms * 1_000_000)))
    }

    #[test]
    fn seconds_count_from_the_start_of_the_run() {
        // From 0.5 s on: two in [0.5 s, 1.5 s), three in [1.5 s, 2.5 s), none, one at the end.
        let attempts = [500, 1499, 1500, 1999, 2499, 3999].map(|ms| (ms, false));
        let run = Window { start: Instant(500 * MS), end: Instant(4000 * MS) };
        assert_eq!(load(run, None, &attempts).peak_per_second(), 3);
        assert_eq!(load(run, None, &[]).peak_per_second(), 0);
    }

    #[test]
    fn thirty_that_come_back_together_within_ten_seconds_are_a_herd_of_ten_times_the_mean() {
        let mut attempts = vec![(0, false); 30];
        attempts.extend(vec![(600_000, true); 30]);
        let herd = load(window(0, 610_000), None, &attempts).herd();
        assert_eq!(herd, Some(Herd { peak: 30, attempts: 30, seconds: 10 }));
        // Spread over the ten seconds, three in each.
        let spread = (0..30).map(|n| (600_000 + n * 1000 / 3, true));
        let herd = load(window(0, 610_000), None, &spread.collect::<Vec<_>>()).herd();
        assert_eq!(herd, Some(Herd { peak: 3, attempts: 30, seconds: 10 }));
    }

    #[test]
    fn a_herd_counts_in_seconds_from_the_first_retry_with_all_attempts_of_its_instant() {
        // From 1.2 s on: three in [1.2 s, 2.2 s), two in [2.2 s, 3.2 s); that at 1.1 s came before.
        let attempts =
            [(1100, false), (1200, false), (1200, true), (2100, false), (2200, true), (3199, true)];
        let herd = load(window(0, 3500), None, &attempts).herd();
        assert_eq!(herd, Some(Herd { peak: 3, attempts: 5, seconds: 3 }));
        assert_eq!(load(window(0, 3500), None, &[(0, false)]).herd(), None);
    }

    #[test]
    fn a_run_has_recovered_at_the_end_of_its_last_high_second() {
        // Normal is 20, so 22 are not high and 23 are. The trigger lasts from 2 s to 3.5 s.
        let recovery = |counts: &[i64]| {
            let run = window(0, 1000 * counts.len() as i64);
            load(run, Some(window(2000, 3500)), &by_second(counts)).recovery()
        };
        assert_eq!(recovery(&[20, 10, 90, 90, 90, 23, 22, 20]), after(2500));
        assert_eq!(recovery(&[20, 10, 90, 90, 22, 23, 0, 0]), after(2500));
        assert_eq!(recovery(&[20, 10, 90, 90, 22, 22, 22, 22]), after(500), "until 4 s");
        assert_eq!(recovery(&[20, 10, 90, 22, 22, 22, 22, 22]), after(0), "over before the end");
        assert_eq!(recovery(&[20, 10, 0, 0, 22, 22, 22, 22]), after(0));
        assert_eq!(recovery(&[20, 10, 0, 0, 22, 22, 22, 23]), Some(Recovery::Never));
        assert_eq!(recovery(&[0, 0, 1, 0, 0, 1, 0, 0]), after(2500), "of nothing, one is more");
        assert_eq!(recovery(&[20, 10, 90, 90]), Some(Recovery::Never));
    }

    #[test]
    fn what_the_end_leaves_of_a_second_is_high_in_proportion() {
        // Normal is 20; of 0.5 s, 11 are 22 a second and not high, 12 are 24 and are.
        let recovery = |counts: &[i64], last: usize| {
            let mut attempts = by_second(counts);
            attempts.extend(vec![(5499, false); last]);
            load(window(0, 5500), Some(window(2000, 2500)), &attempts).recovery()
        };
        assert_eq!(recovery(&[20, 20, 20, 90, 20], 11), after(1500));
        assert_eq!(recovery(&[20, 20, 20, 90, 20], 12), Some(Recovery::Never));
        assert_eq!(recovery(&[20, 20, 20, 20, 90], 0), Some(Recovery::Never), "the last whole one");
    }

    #[test]
    fn where_nothing_lies_before_or_after_the_trigger_no_recovery_can_be_told() {
        let recovery = |trigger| load(window(0, 5000), trigger, &by_second(&[9; 5])).recovery();
        assert_eq!(recovery(None), None);
        assert_eq!(recovery(Some(window(999, 2000))), None);
        assert_eq!(recovery(Some(window(1000, 2000))), after(0));
        assert_eq!(recovery(Some(window(1000, 4999))), after(0));
        assert_eq!(recovery(Some(window(1000, 5000))), None);
    }

    /// What the definitions say, with all seconds at hand.
    fn naive(run: Window, trigger: Window, attempts: &[(i64, bool)]) -> Option<Recovery> {
        let (length, second) = (run.end.0 - run.start.0, SECOND as i64);
        let count = |index: i64| {
            let from = run.start.0 + index * second;
            attempts.iter().filter(|(ms, _)| (from..from + second).contains(&(ms * MS))).count()
        };
        let before = (trigger.start.0 - run.start.0) / second;
        if before == 0 || trigger.end >= run.end {
            return None;
        }
        let normal = (0..before).map(count).max().unwrap() as i64;
        let seconds = (length + second - 1) / second;
        let is_high = |&index: &i64| {
            let length = second.min(length - index * second);
            10 * count(index) as i64 * second > 11 * normal * length
        };
        let last = (before..seconds).filter(is_high).max();
        Some(match last {
            Some(index) if index + 1 >= length / second => Recovery::Never,
            Some(index) => {
                let end = run.start.0 + (index + 1) * second;
                Recovery::After(Span::from_nanos((end - trigger.end.0).max(0) as u64))
            }
            None => Recovery::After(Span::ZERO),
        })
    }

    proptest! {
        #[test]
        fn what_is_counted_on_the_way_is_what_the_definitions_say(
            start in -3000..3000_i64,
            length in 1..8000_i64,
            (at, lasts) in (0..4000_i64, 0..3000_i64),
            offsets in prop::collection::vec((0..8000_i64, any::<bool>()), 0..80),
        ) {
            let run = window(start, start + length);
            let trigger = window(start + at, start + at + lasts);
            let within = offsets.into_iter().filter(|offset| offset.0 < length);
            let mut attempts: Vec<_> = within.map(|(ms, retry)| (start + ms, retry)).collect();
            attempts.sort_by_key(|attempt| attempt.0);
            let load = load(run, Some(trigger), &attempts);
            prop_assert_eq!(load.recovery(), naive(run, trigger, &attempts));
            let most = |from: i64| {
                let from = from.max(start);
                let count = |index: i64| attempts.iter().filter(|(ms, _)| {
                    *ms >= from && (ms - from) / 1000 == index
                }).count() as u64;
                (0..=8).map(count).max().unwrap()
            };
            prop_assert_eq!(load.peak_per_second(), most(start));
            let first = attempts.iter().find(|attempt| attempt.1).map(|attempt| attempt.0);
            let herd = first.map(|first| Herd {
                peak: most(first),
                attempts: attempts.iter().filter(|attempt| attempt.0 >= first).count() as u64,
                seconds: (start + length - first).unsigned_abs().div_ceil(1000),
            });
            prop_assert_eq!(load.herd(), herd);
        }
    }
}
