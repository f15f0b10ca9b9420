//! All that is wrong with the store in the course of a run.

use super::outage::{Down, Outage, OutageKind};
use crate::time::{Instant, Span, Window};

/// The outages of a run.
#[derive(Debug, Clone)]
pub struct Outages {
    run: Window,
    outages: Vec<(Window, Outage)>,
}

/// What is wrong between a node and a shard at an instant; of several outages, all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// Whether the store works on nothing.
    pub down: Option<Down>,
    /// Calls take so many times as long ...
    pub times: u64,
    /// ... and so much longer.
    pub extra: Span,
    /// Of a million calls so many never reach it ...
    pub lost_calls_ppm: u32,
    /// ... and of those that it answered, so many answers are lost.
    pub lost_answers_ppm: u32,
}

const MILLION: u64 = 1_000_000;

impl Condition {
    /// Nothing is wrong.
    const GOOD: Condition = Condition {
        down: None,
        times: 1,
        extra: Span::ZERO,
        lost_calls_ppm: 0,
        lost_answers_ppm: 0,
    };

    /// Something more is wrong.
    fn add(&mut self, kind: OutageKind) {
        match kind {
            OutageKind::Down(Down::Refuses) if self.down == Some(Down::Silent) => {}
            OutageKind::Down(down) => self.down = Some(down),
            OutageKind::Slow { times, extra } => {
                self.times = self.times.saturating_mul(times);
                let extra = u128::from(self.extra.nanos()) + u128::from(extra.nanos());
                self.extra = Span::saturating(extra);
            }
            OutageKind::Lossy { ppm, answers } => {
                let lost =
                    if answers { &mut self.lost_answers_ppm } else { &mut self.lost_calls_ppm };
                *lost = either(*lost, ppm);
            }
        }
    }
}

/// What of a million is lost where one cause takes `a` and another, which knows nothing of the first, `b`; to the
/// nearest.
fn either(a: u32, b: u32) -> u32 {
    let kept = |ppm: u32| MILLION.saturating_sub(ppm.into());
    let both = (kept(a) * kept(b) + MILLION / 2) / MILLION;
    (MILLION - both) as u32
}

impl Outages {
    /// Those that begin within a run.
    pub fn within(run: Window, outages: &[Outage]) -> Outages {
        let window = |outage: &Outage| {
            let start = run.start + outage.at;
            Window { start, end: start + outage.lasts }
        };
        let all = outages.iter().map(|outage| (window(outage), outage.clone()));
        Outages { run, outages: all.filter(|(window, _)| run.contains(window.start)).collect() }
    }

    /// What is wrong between a node and a shard.
    pub fn condition(&self, at: Instant, node: usize, shard: usize) -> Condition {
        let covers = |list: &[usize], one: usize| list.is_empty() || list.contains(&one);
        let mut condition = Condition::GOOD;
        for (window, outage) in &self.outages {
            if window.contains(at) && covers(&outage.nodes, node) && covers(&outage.shards, shard) {
                condition.add(outage.kind);
            }
        }
        condition
    }

    /// Since when a shard (`None`: all of them) is down for all nodes without a break, just before `at`; `at` if it is
    /// not.
    pub fn down_since(&self, at: Instant, shard: Option<usize>) -> Instant {
        let covers = |outage: &Outage| {
            let shards = &outage.shards;
            let whole = shards.is_empty() || shard.is_some_and(|shard| shards.contains(&shard));
            matches!(outage.kind, OutageKind::Down(_)) && outage.nodes.is_empty() && whole
        };
        let down: Vec<Window> = self
            .outages
            .iter()
            .filter(|(_, outage)| covers(outage))
            .map(|(window, _)| *window)
            .collect();
        let mut since = at;
        while let Some(before) =
            down.iter().find(|window| window.start < since && since <= window.end)
        {
            since = before.start;
        }
        since
    }

    /// From when to when anything is wrong, in time order, up to the end of the run; spans that touch or overlap
    /// are one.
    pub fn windows(&self) -> Vec<Window> {
        let mut all: Vec<Window> = self.outages.iter().map(|(window, _)| *window).collect();
        all.sort_by_key(|window| window.start);
        let mut merged: Vec<Window> = Vec::new();
        for Window { start, end } in all {
            let end = end.min(self.run.end);
            match merged.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => merged.push(Window { start, end }),
            }
        }
        merged
    }

    /// When all is lost that is in some shards, and in which (empty for all), in time order; maybe after the run.
    pub fn losses(&self) -> impl Iterator<Item = (Instant, &[usize])> {
        let losing = self.outages.iter().filter(|(_, outage)| outage.loses);
        let mut losses: Vec<_> =
            losing.map(|(window, outage)| (window.end, &outage.shards[..])).collect();
        losses.sort_by_key(|(at, _)| *at);
        losses.into_iter()
    }
}

impl Condition {
    /// Of what is wrong in two places, the worse of each.
    pub fn worse(self, other: Condition) -> Condition {
        Condition {
            down: match (self.down, other.down) {
                (Some(Down::Silent), _) | (_, Some(Down::Silent)) => Some(Down::Silent),
                (one, other) => one.or(other),
            },
            times: self.times.max(other.times),
            extra: self.extra.max(other.extra),
            lost_calls_ppm: self.lost_calls_ppm.max(other.lost_calls_ppm),
            lost_answers_ppm: self.lost_answers_ppm.max(other.lost_answers_ppm),
        }
    }

    /// How long a call takes that would take so long if nothing were wrong; saturates.
    pub fn stretch(&self, round_trip: Span) -> Span {
        let nanos = u128::from(round_trip.nanos()) * u128::from(self.times);
        Span::saturating(nanos + u128::from(self.extra.nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RUN: Window = Window { start: Instant(1000), end: Instant(2000) };

    fn outage(at: u64, lasts: u64, kind: OutageKind) -> Outage {
        let [at, lasts] = [at, lasts].map(Span::from_nanos);
        Outage { at, lasts, kind, nodes: Vec::new(), shards: Vec::new(), loses: false }
    }

    const SILENT: OutageKind = OutageKind::Down(Down::Silent);
    const REFUSES: OutageKind = OutageKind::Down(Down::Refuses);

    fn slow(times: u64, extra: u64) -> OutageKind {
        OutageKind::Slow { times, extra: Span::from_nanos(extra) }
    }

    fn lossy(ppm: u32, answers: bool) -> OutageKind {
        OutageKind::Lossy { ppm, answers }
    }

    /// What is wrong at an instant at which all of these are.
    fn together(kinds: &[OutageKind]) -> Condition {
        let all: Vec<Outage> = kinds.iter().map(|kind| outage(0, 10, *kind)).collect();
        Outages::within(RUN, &all).condition(Instant(1005), 0, 0)
    }

    #[test]
    fn an_outage_covers_its_first_instant_and_not_the_one_after_its_last() {
        let outages = Outages::within(RUN, &[outage(10, 5, SILENT)]);
        let down = |at| outages.condition(Instant(at), 0, 0).down;
        assert_eq!(
            [1009, 1010, 1014, 1015].map(down),
            [None, Some(Down::Silent), Some(Down::Silent), None]
        );
        assert_eq!(outages.condition(Instant(1009), 0, 0), Condition::GOOD);
    }

    #[test]
    fn an_outage_of_some_nodes_and_shards_is_none_of_the_others() {
        let some = Outage { nodes: vec![1, 2], shards: vec![0], ..outage(0, 10, REFUSES) };
        let outages = Outages::within(RUN, &[some]);
        let down = |node, shard| outages.condition(Instant(1000), node, shard).down.is_some();
        let seen = [(0, 0), (1, 0), (2, 0), (1, 1)].map(|(node, shard)| down(node, shard));
        assert_eq!(seen, [false, true, true, false]);
    }

    #[test]
    fn of_several_outages_all_is_wrong() {
        for kinds in [[SILENT, REFUSES], [REFUSES, SILENT], [SILENT, SILENT]] {
            assert_eq!(together(&kinds).down, Some(Down::Silent));
        }
        assert_eq!(together(&[REFUSES]).down, Some(Down::Refuses));
        let condition = together(&[slow(2, 5), slow(3, 0), slow(1, 7)]);
        assert_eq!((condition.times, condition.extra), (6, Span::from_nanos(12)));
        // 1 - 0.7 * 0.5 = 0.65, and 1 - 0.9 * 0.9 = 0.19.
        let condition = together(&[
            lossy(300_000, false),
            lossy(100_000, true),
            lossy(500_000, false),
            lossy(100_000, true),
        ]);
        assert_eq!((condition.lost_calls_ppm, condition.lost_answers_ppm), (650_000, 190_000));
        assert_eq!((condition.times, condition.down), (1, None));
        assert_eq!(together(&[lossy(1_000_000, false), lossy(1, false)]).lost_calls_ppm, 1_000_000);
        let most = slow(u64::MAX, Span::MAX.nanos());
        let condition = together(&[most, most]);
        assert_eq!((condition.times, condition.extra), (u64::MAX, Span::MAX));
    }

    #[test]
    fn spans_that_touch_or_overlap_are_one_and_end_with_the_run() {
        let all = [(50, 10), (0, 10), (10, 5), (12, 2), (16, 1), (990, 100), (1000, 1)];
        let all = all.map(|(at, lasts)| outage(at, lasts, SILENT));
        let seen = Outages::within(RUN, &all).windows();
        let seen: Vec<_> = seen.iter().map(|window| (window.start.0, window.end.0)).collect();
        assert_eq!(seen, [(1000, 1015), (1016, 1017), (1050, 1060), (1990, 2000)]);
    }

    #[test]
    fn what_is_lost_is_lost_at_the_end_in_time_order() {
        let losing = |at, lasts, shards: &[usize]| Outage {
            loses: true,
            shards: shards.to_vec(),
            ..outage(at, lasts, SILENT)
        };
        let all = [
            losing(0, 900, &[1]),
            outage(5, 5, SILENT),
            losing(10, 10, &[]),
            losing(950, 100, &[0]),
        ];
        let outages = Outages::within(RUN, &all);
        let seen: Vec<_> = outages.losses().map(|(at, shards)| (at.0, shards.to_vec())).collect();
        assert_eq!(seen, [(1020, vec![]), (1900, vec![1]), (2050, vec![0])]);
    }

    #[test]
    fn a_shard_is_down_since_the_first_of_outages_without_a_break_that_cover_it_for_all_nodes() {
        let all = [
            outage(10, 5, SILENT),
            outage(15, 5, REFUSES),
            outage(18, 12, SILENT),
            outage(50, 10, slow(2, 0)),
            Outage { nodes: vec![0], ..outage(60, 10, SILENT) },
            Outage { shards: vec![1], ..outage(70, 10, SILENT) },
        ];
        let outages = Outages::within(RUN, &all);
        let since = |at, shard| outages.down_since(Instant(at), shard).0;
        assert_eq!(
            [1010, 1011, 1025, 1030, 1031].map(|at| since(at, None)),
            [1010, 1010, 1010, 1010, 1031]
        );
        assert_eq!([1055, 1065, 1075].map(|at| since(at, Some(0))), [1055, 1065, 1075]);
        assert_eq!((since(1075, Some(1)), since(1075, None)), (1070, 1075));
    }

    proptest! {
        #[test]
        fn windows_cover_exactly_the_instants_at_which_something_is_wrong(
            spans in prop::collection::vec((0..60_u64, 1..20_u64), 0..8),
        ) {
            let run = Window { start: Instant(0), end: Instant(50) };
            let all: Vec<_> = spans.iter().map(|&(at, lasts)| outage(at, lasts, SILENT)).collect();
            let outages = Outages::within(run, &all);
            let windows = outages.windows();
            for at in (0..50).map(Instant) {
                let covered = windows.iter().filter(|window| window.contains(at)).count();
                let wrong = outages.condition(at, 0, 0).down.is_some();
                prop_assert_eq!(covered, usize::from(wrong));
            }
            for pair in windows.windows(2) {
                prop_assert!(pair[0].end < pair[1].start);
            }
        }

        #[test]
        fn causes_that_know_nothing_of_each_other_lose_at_least_what_the_worse_loses(
            a in 0..=1_000_000_u32, b in 0..=1_000_000_u32,
        ) {
            let both = either(a, b);
            prop_assert_eq!(both, either(b, a));
            prop_assert!(both >= a.max(b) && both <= 1_000_000 && both <= a + b);
            prop_assert_eq!(either(a, 0), a);
        }
    }
}
