//! Clocks that are not quite right: ahead or behind, fast or slow, set anew, of limited resolution.

mod settings;

use std::collections::BTreeSet;

use crate::time::{Instant, Offset, Reading, Span, Window};

/// One clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    /// How far it is ahead at the start of the run.
    pub offset: Offset,
    /// By how many billionths it runs fast; negative where it runs slow.
    pub drift_ppb: i64,
    /// When it is set anew, from the start of the run, and by how much forwards; in time order.
    pub steps: Vec<(Span, Offset)>,
    /// Readings are cut down to this; at least 1 ns.
    pub resolution: Span,
}

impl Default for Clock {
    /// A clock that is right.
    fn default() -> Clock {
        let resolution = Span::from_nanos(1);
        Clock { offset: Offset::ZERO, drift_ppb: 0, steps: Vec::new(), resolution }
    }
}

impl Clock {
    /// What it shows at `at` in a run that started at `start`: what it gained since is rounded down, a step counts
    /// from its instant on, and the whole is cut down to the resolution. Saturates at both ends of time. Without a
    /// step it never goes back, as long as it loses no more than the time that passes.
    pub fn reading(&self, start: Instant, at: Instant) -> Reading {
        let since = i128::from(at.0) - i128::from(start.0);
        // Fits: the one factor is below 2^64, the other below 2^63.
        let drifted = (since * i128::from(self.drift_ppb)).div_euclid(1_000_000_000);
        let stepped = self.steps.iter().filter(|(when, _)| i128::from(when.nanos()) <= since);
        let stepped: i128 = stepped.map(|(_, by)| i128::from(by.nanos())).sum();
        let shown = i128::from(at.0) + i128::from(self.offset.nanos()) + drifted + stepped;
        let resolution = i128::from(self.resolution.nanos().max(1));
        let cut = shown.div_euclid(resolution) * resolution;
        Reading(cut.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }
}

impl Clock {
    /// Whether it is never set anew, and neither fast nor slow: a span by it is one of true time, but for the
    /// resolution.
    fn keeps_time(&self) -> bool {
        self.drift_ppb == 0 && self.steps.is_empty()
    }

    /// When, from `from` on, it first shows that `span` has passed since `from`, or more; at the end of time if never.
    /// Counted in true time, if it is neither set anew nor fast nor slow.
    pub fn passes(&self, start: Instant, from: Instant, span: Span) -> Instant {
        if self.keeps_time() {
            return from + span;
        }
        let target = Reading(self.reading(start, from).0.saturating_add(span.signed()));
        let never = Instant(i64::MAX);
        let steps = self.steps.iter().map(|(at, _)| start + *at).filter(|at| *at > from);
        let mut begin = from;
        // Between two steps it does not go back.
        for end in steps.chain([never]) {
            if self.reading(start, begin) >= target {
                return begin;
            }
            let (mut before, mut after) = (begin.0, end.0);
            while after - before > 1 {
                let middle = before + (after - before) / 2;
                match self.reading(start, Instant(middle)) < target {
                    true => before = middle,
                    false => after = middle,
                }
            }
            if after < end.0 {
                return Instant(after);
            }
            begin = end;
        }
        never
    }
}

/// How far two clocks differ at most: of all of them, at the start of a run, just before its end, and at and just
/// before each step within it. Between those the differences only grow or only shrink, but for the resolution.
pub fn spread(clocks: &[Clock], run: Window) -> Span {
    let just_before = |at: Instant| Instant(at.0.saturating_sub(1));
    let steps = clocks.iter().flat_map(|clock| &clock.steps).map(|(at, _)| run.start + *at);
    let moments = steps.flat_map(|at| [just_before(at), at]);
    let moments: BTreeSet<Instant> = moments
        .chain([just_before(run.end)])
        .filter(|at| run.contains(*at))
        .chain([run.start])
        .collect();
    let differ = |at: &Instant| {
        let readings = clocks.iter().map(|clock| i128::from(clock.reading(run.start, *at).0));
        let (earliest, latest) = (readings.clone().min()?, readings.max()?);
        Some(Span::saturating((latest - earliest) as u128))
    };
    moments.iter().filter_map(differ).max().unwrap_or(Span::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND;
    use proptest::prelude::*;

    const DAY: i64 = 86_400 * SECOND as i64;

    fn offset(nanos: i64) -> Offset {
        Offset::saturating(nanos.into())
    }

    /// A clock of which the start, the drift in parts per billion, and the steps are given.
    fn clock(ahead: i64, drift_ppb: i64, steps: &[(u64, i64)]) -> Clock {
        let step = |&(at, by): &(u64, i64)| (Span::from_nanos(at), offset(by));
        Clock {
            offset: offset(ahead),
            drift_ppb,
            steps: steps.iter().map(step).collect(),
            ..Clock::default()
        }
    }

    /// What it shows so long after a start at 1,000 ns.
    fn shown(clock: &Clock, since: i64) -> i64 {
        clock.reading(Instant(1000), Instant(1000 + since)).0 - 1000
    }

    #[test]
    fn a_clock_of_the_default_is_right() {
        assert_eq!(shown(&Clock::default(), 7), 7);
    }

    #[test]
    fn a_clock_is_ahead_or_behind_from_the_start() {
        assert_eq!([5, -5].map(|ahead| shown(&clock(ahead, 0, &[]), 100)), [105, 95]);
    }

    #[test]
    fn a_span_passes_later_on_a_clock_that_is_set_back_and_sooner_on_one_that_is_set_forwards() {
        let passes = |clock: &Clock, from: i64, span: u64| {
            clock.passes(Instant(1000), Instant(1000 + from), Span::from_nanos(span)).0 - 1000
        };
        assert_eq!(passes(&clock(7, 0, &[]), 100, 50), 150);
        let back = clock(0, 0, &[(120, -20)]);
        assert_eq!([119, 120, 121].map(|span| passes(&back, 0, span)), [119, 140, 141]);
        assert_eq!(passes(&back, 130, 50), 180);
        let forwards = clock(0, 0, &[(120, 20), (150, 5)]);
        assert_eq!(
            [119, 120, 139, 141, 180].map(|span| passes(&forwards, 0, span)),
            [119, 120, 120, 121, 155]
        );
        // One per cent fast: 101 ns are shown after 100.
        assert_eq!(passes(&clock(0, 10_000_000, &[]), 0, 101), 100);
        assert_eq!(passes(&clock(0, -500_000_000, &[]), 0, 50), 100);
    }

    proptest! {
        #[test]
        fn what_passes_is_the_first_instant_that_shows_it(
            drift in -999_999_999..2_000_000_000_i64, from in 0..300_i64, span in 0..300_u64,
            steps in prop::collection::btree_map(1..400_u64, -90..90_i64, 0..4),
        ) {
            let steps: Vec<_> = steps.into_iter().collect();
            let clock = clock(3, drift, &steps);
            let at = |since: i64| shown(&clock, since);
            let first = (from..from + 3000).find(|&since| at(since) >= at(from) + span as i64);
            let passes = clock.passes(Instant(1000), Instant(1000 + from), Span::from_nanos(span));
            match first {
                Some(first) => prop_assert_eq!(passes.0, 1000 + first),
                None => prop_assert!(passes.0 >= 1000 + from + 3000),
            }
        }
    }

    #[test]
    fn twenty_ppm_are_1_728_seconds_a_day() {
        let fast = clock(0, 20_000, &[]);
        assert_eq!(shown(&fast, DAY) - DAY, 1_728_000_000);
        assert_eq!(shown(&clock(0, -20_500, &[]), DAY) - DAY, -1_771_200_000);
        assert_eq!(shown(&fast, 0), 0);
        // 20 ppm of 49,999 ns are 0.99998 ns, of 50,000 ns one.
        assert_eq!([49_999, 50_000].map(|since| shown(&fast, since) - since), [0, 1]);
        // Of a slow one, the least part of a nanosecond is a whole one.
        assert_eq!(shown(&clock(0, -20_000, &[]), 1) - 1, -1);
    }

    #[test]
    fn a_step_counts_from_its_instant_on_and_steps_add_up() {
        let stepped = clock(0, 0, &[(10, -4), (20, 30)]);
        assert_eq!([9, 10, 19, 20].map(|since| shown(&stepped, since)), [9, 6, 15, 46]);
    }

    #[test]
    fn readings_are_cut_down_to_the_resolution_before_1970_too() {
        let coarse = Clock { resolution: Span::from_nanos(10), ..clock(3, 0, &[]) };
        let reading = |at| coarse.reading(Instant(0), Instant(at)).0;
        assert_eq!([0, 6, 7, -3, -4].map(reading), [0, 0, 10, 0, -10]);
    }

    #[test]
    fn the_ends_of_time_are_as_far_as_a_clock_goes() {
        let at = |clock: &Clock, start, at| clock.reading(Instant(start), Instant(at)).0;
        let (first, last) = (i64::MIN, i64::MAX);
        let (fast, slow) = (clock(last, last, &[(0, last)]), clock(-last, first, &[(0, -last)]));
        assert_eq!((at(&fast, first, last), at(&slow, first, last)), (last, first));
        // What a clock that started at the last instant showed at the first.
        assert_eq!((at(&fast, last, first), at(&slow, last, first)), (first, last));
        // A hundred years at a tenth of a second a second.
        let tenth = clock(0, 100_000_000, &[]);
        assert_eq!(at(&tenth, 0, 36_500 * DAY), 36_500 * DAY / 10 * 11);
    }

    fn between(start: i64, end: i64) -> Window {
        Window { start: Instant(start), end: Instant(end) }
    }

    #[test]
    fn clocks_are_as_far_apart_as_they_ever_are() {
        let run = between(0, 1_000_000_000);
        let nanos = |clocks: &[Clock]| spread(clocks, run).nanos();
        assert_eq!((nanos(&[]), nanos(&[clock(5, 5, &[])])), (0, 0));
        assert_eq!(nanos(&[clock(5, 0, &[]), clock(-7, 0, &[]), clock(1, 0, &[])]), 12);
        // 1,000 ppb of 999,999,999 ns are 999.999999 ns.
        assert_eq!(nanos(&[clock(0, 1000, &[]), clock(0, 0, &[])]), 999);
        // 100 apart at the start, and 50 on the other side in the end.
        assert_eq!(nanos(&[clock(100, -150, &[]), clock(0, 0, &[])]), 100);
        // The step undoes what has come together until then: 500 ns at the half.
        assert_eq!(nanos(&[clock(0, 1000, &[(500_000_000, -450)]), clock(0, 0, &[])]), 549);
        assert_eq!(nanos(&[clock(0, 1000, &[(500_000_000, -700)]), clock(0, 0, &[])]), 499);
        assert_eq!(nanos(&[clock(0, 0, &[(500_000_000, -700)]), clock(0, 0, &[])]), 700);
        // A step after the run, and a run of no time at all.
        assert_eq!(nanos(&[clock(0, 0, &[(1_000_000_000, 9)]), clock(0, 0, &[])]), 0);
        assert_eq!(spread(&[clock(3, 0, &[(0, 9)]), clock(0, 0, &[])], between(0, 0)).nanos(), 12);
    }

    proptest! {
        #[test]
        fn between_steps_no_clock_goes_back(
            ahead in -100_000..100_000_i64, drift in -100_000_000..=100_000_000_i64,
            resolution in 1..1000_u64, since in 0..1i64 << 50, later in 0..1i64 << 40,
        ) {
            let resolution = Span::from_nanos(resolution);
            let clock = Clock { resolution, ..clock(ahead, drift, &[]) };
            prop_assert!(shown(&clock, since) <= shown(&clock, since + later));
        }

        #[test]
        fn a_reading_is_within_a_resolution_below_the_exact_value(
            ahead in -100_000..100_000_i64, drift in -100_000_000..=100_000_000_i64,
            resolution in 1..1000_u64, since in -(1i64 << 50)..1i64 << 50,
        ) {
            let fine = clock(ahead, drift, &[]);
            let coarse = Clock { resolution: Span::from_nanos(resolution), ..fine.clone() };
            let [fine, coarse] = [fine, coarse].map(|clock| clock.reading(Instant(0), Instant(since)).0);
            prop_assert_eq!(coarse.rem_euclid(resolution as i64), 0);
            prop_assert!(coarse <= fine && fine < coarse + resolution as i64);
            // In billionths: since * (1 + drift) + ahead.
            let exact = i128::from(since) * (1_000_000_000 + i128::from(drift))
                + i128::from(ahead) * 1_000_000_000;
            let shown = i128::from(fine) * 1_000_000_000;
            prop_assert!(shown <= exact && exact < shown + 1_000_000_000);
        }

        #[test]
        fn at_no_instant_of_a_run_are_clocks_further_apart_than_the_spread(
            clocks in prop::collection::vec(
                (-1000..1000_i64, -9_000_000..9_000_000_i64, 0..2000_u64, -500..500_i64), 2..4,
            ),
            since in 0..1000_i64,
        ) {
            let clocks: Vec<Clock> = clocks
                .into_iter()
                .map(|(ahead, drift, at, by)| clock(ahead, drift, &[(at, by)]))
                .collect();
            let run = between(0, 1000);
            let readings = clocks.iter().map(|clock| clock.reading(run.start, Instant(since)).0);
            let apart = readings.clone().max().unwrap() - readings.min().unwrap();
            // Rounding down is worth less than a nanosecond.
            prop_assert!(apart <= spread(&clocks, run).signed() + 1);
        }
    }
}
