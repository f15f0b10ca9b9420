//! The judge: it is told what becomes of every attempt and folds that into a [`Tally`].

use super::closed::Closed;
use super::course::Course;
use super::distribution::Distribution;
use super::fleet::FleetLedger;
use super::holding::Holdings;
use super::ledger::{KeyLedger, LimitLedger};
use super::maxima::Maxima;
use super::tally::{Books, Wrong};
use super::timeline::Timeline;
use crate::algorithm::{Footprint, Wait};
use crate::rate::Limit;
use crate::time::{Instant, Span, Window};

/// What an attempt is charged under one limit. The touches of one attempt are of different limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// The limit, by its position in the scenario.
    pub limit: usize,
    /// The key, by its number within the limit.
    pub key: usize,
    /// The cost.
    pub cost: u32,
}

/// Judges one run of one algorithm.
///
/// Calls come in time order for each key and each client (in that of a run, in short; but keys that
/// share no client may also come one after another), and all instants lie within the window. An
/// attempt is first offered, then accepted, rejected or left pending; one that no limit covers is
/// accepted, with no touches.
#[derive(Debug, Clone)]
pub struct Judge {
    pub(super) window: Window,
    pub(super) timeline: Timeline,
    /// The bin of the last call, with its bounds, because most calls fall in the same one.
    bin: (usize, Instant, Instant),
    pub(super) books: Books,
    pub(super) over_limit: u64,
    pub(super) needless_rejections: u64,
    pub(super) wrong: Option<Wrong>,
    pub(super) limits: Vec<LimitLedger>,
    /// By client; empty where `owners` are known.
    pub(super) clients: Vec<Course>,
    /// By key, the client, where each client has one key of its own under the only limit: what one meets with
    /// is what the other does.
    pub(super) owners: Option<Vec<u32>>,
    pub(super) queue_waits: Distribution,
    pub(super) denial_waits: Distribution,
    pub(super) denied_for_ever: u64,
    /// By bin, the highest trailing window of any one key of the first limit.
    pub(super) highest: Maxima,
    pub(super) holdings: Holdings,
    pub(super) closed: Option<Closed>,
    pub(super) fleet: Option<FleetLedger>,
}

impl Judge {
    /// A judge of a run over `window`, with the names and default promises of its limits and the
    /// number of its clients.
    pub fn new(window: Window, limits: &[(String, Limit)], clients: usize) -> Judge {
        let timeline = Timeline::over(window);
        let limits = limits.iter().map(|(name, promise)| LimitLedger::new(name, *promise));
        Judge {
            window,
            bin: (0, window.start, window.start),
            books: Books::default(),
            over_limit: 0,
            needless_rejections: 0,
            wrong: None,
            limits: limits.collect(),
            clients: vec![Course::default(); clients],
            owners: None,
            queue_waits: Distribution::default(),
            denial_waits: Distribution::default(),
            denied_for_ever: 0,
            highest: Maxima::new(timeline.bins.len()),
            holdings: Holdings::over(&timeline),
            closed: None,
            fleet: None,
            timeline,
        }
    }

    /// Every decision will be [`compared`](Judge::compared) with that of a reference.
    pub fn with_reference(self) -> Judge {
        Judge { wrong: Some(Wrong::default()), ..self }
    }

    /// There is one limit, and each client has one key of its own under it; whose each is will be
    /// [told](Judge::met_own).
    pub fn with_one_key_each(self) -> Judge {
        Judge { clients: Vec::new(), owners: Some(Vec::new()), ..self }
    }

    /// The key met just now is that of a client alone.
    ///
    /// # Panics
    /// Unless [`Judge::with_one_key_each`] said so.
    pub fn met_own(&mut self, client: u32) {
        self.owners.as_mut().expect("each client has one key").push(client);
    }

    /// A key of `limit` was seen first; keys are numbered in this order.
    pub fn meet(&mut self, limit: usize, promise: Limit) {
        self.limits[limit].keys.push(KeyLedger::new(promise));
        if let (0, Some(fleet)) = (limit, &mut self.fleet) {
            fleet.meet(promise);
        }
    }

    /// An attempt is made.
    #[inline]
    pub fn offered(&mut self, at: Instant, client: u32, touches: &[Touch]) {
        let bin = self.bin_of(at);
        self.timeline.bins[bin].offered += 1;
        self.books.attempts += 1;
        if let Some(course) = self.clients.get_mut(client as usize) {
            course.attempts += 1;
        }
        for touch in touches {
            self.limits[touch.limit].keys[touch.key].course.attempts += 1;
        }
        if let Some(fleet) = &mut self.fleet {
            fleet.offered(at, touches);
        }
    }

    /// It was let through at `at`; `waited` is its time in the queue for algorithms that queue (zero
    /// included).
    #[inline]
    pub fn accepted(&mut self, at: Instant, client: u32, touches: &[Touch], waited: Option<Span>) {
        let bin = self.bin_of(at);
        let mut over = false;
        for touch in touches {
            let key = &mut self.limits[touch.limit].keys[touch.key];
            if touch.limit == 0 {
                key.carry(&mut self.highest, &self.timeline, bin);
            }
            let over_this = key.window.accept(at, touch.cost);
            if touch.limit == 0 {
                self.highest.raise(bin, bin + 1, key.window.sum());
            }
            key.course.accept(at, over_this);
            over |= over_this;
        }
        if let Some(course) = self.clients.get_mut(client as usize) {
            course.accept(at, over);
        }
        self.books.accepted += 1;
        self.over_limit += u64::from(over);
        self.timeline.bins[bin].accepted += 1;
        self.timeline.bins[bin].over_limit += u64::from(over);
        if let Some(waited) = waited {
            self.queue_waits.record(waited);
        }
        if let Some(fleet) = &mut self.fleet {
            fleet.accepted(at, touches, over);
        }
    }

    /// It was refused; bit i of `refused` tells whether the limit of `touches[i]` refused.
    #[inline]
    pub fn rejected(
        &mut self,
        at: Instant,
        client: u32,
        touches: &[Touch],
        refused: u64,
        wait: Wait,
    ) {
        self.refuse(at, client, touches, refused, wait);
        match wait {
            Wait::After(span) => self.denial_waits.record(span),
            Wait::Never => self.denied_for_ever += 1,
        }
    }

    /// Takes down a refusal but for the wait that it told, and gives its bin.
    #[inline]
    pub(super) fn refuse(
        &mut self,
        at: Instant,
        client: u32,
        touches: &[Touch],
        refused: u64,
        wait: Wait,
    ) -> usize {
        let bin = self.bin_of(at);
        let mut needless = true;
        for (index, touch) in touches.iter().enumerate() {
            let limit = &mut self.limits[touch.limit];
            let key = &mut limit.keys[touch.key];
            if touch.limit == 0 {
                key.carry(&mut self.highest, &self.timeline, bin);
            }
            let has_room = key.window.room_for(at, touch.cost);
            let by_this = refused >> index & 1 == 1;
            limit.refused += u64::from(by_this);
            limit.needless_rejections += u64::from(by_this && has_room);
            key.course.reject(at, wait);
            needless &= has_room;
        }
        if let Some(course) = self.clients.get_mut(client as usize) {
            course.reject(at, wait);
        }
        self.books.rejected += 1;
        self.needless_rejections += u64::from(needless);
        self.timeline.bins[bin].rejected += 1;
        if let Some(fleet) = &mut self.fleet {
            fleet.rejected(at);
        }
        bin
    }

    /// What the reference decided beside what this run decided for the same attempt.
    pub fn compared(&mut self, allowed: bool, reference: bool) {
        let wrong = self.wrong.get_or_insert_default();
        wrong.allowed += u64::from(allowed && !reference);
        wrong.limited += u64::from(reference && !allowed);
    }

    /// What a key's state takes from `at` on, until it may be forgotten (`None`: never) or the next
    /// such call for that key.
    #[inline]
    pub fn kept(
        &mut self,
        limit: usize,
        key: usize,
        at: Instant,
        footprint: Footprint,
        until: Option<Instant>,
    ) {
        let bin = self.bin_of(at);
        let holding = &mut self.limits[limit].keys[key].holding;
        let until = until.unwrap_or(Instant(i64::MAX));
        self.holdings.hold(holding, &self.timeline, (bin, at), footprint, until);
    }

    #[inline]
    pub(super) fn bin_of(&mut self, at: Instant) -> usize {
        let (bin, from, to) = self.bin;
        if from <= at && at < to {
            return bin;
        }
        let bin = self.timeline.index(at);
        let from = self.timeline.start_of(bin);
        self.bin = (bin, from, from + self.timeline.width);
        bin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Peak, Subjects, Tally};

    const MS: i64 = 1_000_000;

    /// A judge over three minutes from 0 with clients 0 and 1, whose key of every limit is 0.
    fn judge(limits: &[Limit]) -> Judge {
        let window = Window { start: Instant(0), end: Instant(180_000 * MS) };
        let name = |index: usize| ["first", "second"][index].to_owned();
        let named: Vec<_> = limits.iter().enumerate().map(|(i, &limit)| (name(i), limit)).collect();
        let mut judge = Judge::new(window, &named, 2);
        limits.iter().enumerate().for_each(|(index, &limit)| judge.meet(index, limit));
        judge
    }

    fn per_minute(requests: u64) -> Limit {
        Limit::new(requests, Span::from_secs(60))
    }

    /// An attempt of client 0 at `ms` that touches the limits with these costs, and which of them
    /// refuse.
    fn attempt(judge: &mut Judge, ms: i64, costs: &[u32], refused: u64) {
        let at = Instant(ms * MS);
        let touch = |(limit, &cost)| Touch { limit, key: 0, cost };
        let touches: Vec<_> = costs.iter().enumerate().map(touch).collect();
        judge.offered(at, 0, &touches);
        match refused {
            0 => judge.accepted(at, 0, &touches, None),
            _ => judge.rejected(at, 0, &touches, refused, Wait::After(Span::from_secs(1))),
        }
    }

    fn finish(judge: Judge) -> Tally {
        judge.finish(
            0,
            0,
            |limit, key| format!("{limit}/{key}"),
            |client| format!("client {client}"),
        )
    }

    #[test]
    fn of_100_at_59_s_and_100_from_60_s_on_the_second_hundred_is_over() {
        let mut judge = judge(&[per_minute(100)]);
        (0..100).for_each(|_| attempt(&mut judge, 59_000, &[1], 0));
        (0..100).for_each(|n| attempt(&mut judge, 60_000 + 10 * n, &[1], 0));
        let tally = finish(judge);
        assert_eq!((tally.books.accepted, tally.over_limit), (200, 100));
        let (limit, worst) = tally.worst().unwrap();
        let peak = Peak { cost: 200, from: Instant(59_000 * MS), to: Instant(60_990 * MS) };
        assert_eq!((limit, worst.peak), (0, Some(peak)));
        assert_eq!(peak.ratio(&per_minute(100)), Some(2.0));
        // Bins of 500 ms: 100 at 59 s; 50 more from 60 s, all 200 from 60.5 s until 119 s; at
        // 119 s those of 59 s are gone, at 120 s that of 60 s too, at 120.5 s those up to 60.5 s.
        let max = |ms: i64| tally.timeline.bins[(ms / 500) as usize].window_max;
        let shown = [58_500, 59_000, 59_500, 60_000, 60_500, 118_500, 119_000, 120_000, 120_500];
        assert_eq!(shown.map(max), [0, 100, 100, 150, 200, 200, 100, 99, 49]);
        assert_eq!(max(121_000), 0);
    }

    #[test]
    fn a_rejection_is_needless_if_the_window_had_room_for_it_alone() {
        let mut judge = judge(&[per_minute(3)]);
        attempt(&mut judge, 0, &[2], 0);
        attempt(&mut judge, 10, &[1], 1); // 2 + 1 = 3: needless, and so is the next like it,
        attempt(&mut judge, 20, &[1], 1); // because rejections do not add up.
        attempt(&mut judge, 30, &[2], 1); // 2 + 2 > 3
        attempt(&mut judge, 59_999, &[2], 1); // still 2 in (-0.001 s, 59.999 s]
        attempt(&mut judge, 60_000, &[3], 1); // 0 in (0 s, 60 s]
        attempt(&mut judge, 60_000, &[4], 1); // never fits
        let tally = finish(judge);
        assert_eq!((tally.books.rejected, tally.needless_rejections), (6, 3));
        assert_eq!(tally.denial_waits.count(), 6);
    }

    #[test]
    fn an_acceptance_counts_until_just_before_w_has_passed() {
        let mut judge = judge(&[per_minute(1)]);
        for (at, over) in [(0, 0), (59_999, 1), (119_998, 2), (179_998, 2)] {
            attempt(&mut judge, at, &[1], 0);
            assert_eq!(judge.over_limit, over, "{at} ms");
        }
    }

    #[test]
    fn several_limits_are_judged_each_and_counted_once() {
        let mut judge = judge(&[per_minute(2), Limit::new(1, Span::from_secs(1))]);
        attempt(&mut judge, 0, &[1, 1], 0);
        attempt(&mut judge, 10, &[1, 1], 0b10); // the second is full; the first has room, did not refuse
        attempt(&mut judge, 20, &[1, 1], 0b01); // the first refuses needlessly, but the second is full
        attempt(&mut judge, 30, &[1, 1], 0); // 2 of 2, 2 of 1: over the second
        attempt(&mut judge, 40, &[1, 1], 0); // 3 of 2, 3 of 1: over both, once
        attempt(&mut judge, 2000, &[1, 1], 0b10); // the second refuses needlessly, but the first is full
        let tally = finish(judge);
        assert_eq!((tally.over_limit, tally.needless_rejections), (2, 0));
        let [first, second] = &tally.limits[..] else { panic!("two limits") };
        assert_eq!((first.refused, first.over_limit, first.needless_rejections), (1, 1, 1));
        assert_eq!((second.refused, second.over_limit, second.needless_rejections), (2, 2, 1));
        assert_eq!((first.attempts, first.accepted, first.keys.get(0).rejected), (6, 3, 3));
        // 3 of 1 is higher than 3 of 2.
        assert_eq!(tally.worst().map(|(limit, worst)| (limit, worst.key)), Some((1, 0)));
        assert_eq!(second.keys.name(0), "1/0");
        // Rejected at 10 ms first, accepted again at 30 ms.
        let lockout = |of: &Subjects| of.get(0).longest_lockout.nanos();
        let lockouts = [&first.keys, &second.keys, &tally.clients].map(lockout);
        assert_eq!(lockouts, [20_000_000; 3]);
    }

    #[test]
    fn what_no_limit_covers_is_accepted_and_over_none() {
        let mut judge = judge(&[per_minute(0)]);
        attempt(&mut judge, 0, &[], 0);
        let tally = finish(judge);
        assert_eq!((tally.books.accepted, tally.over_limit, tally.limits[0].attempts), (1, 0, 0));
        assert_eq!(tally.clients.len(), 1, "client 1 never asked");
    }

    #[test]
    fn decisions_are_compared_both_ways() {
        let mut judge = judge(&[per_minute(1)]);
        assert_eq!(judge.wrong, None);
        for (allowed, reference) in [(true, true), (true, false), (false, true), (false, true)] {
            judge.compared(allowed, reference);
        }
        assert_eq!(judge.wrong, Some(Wrong { allowed: 1, limited: 2 }));
    }

    #[test]
    #[should_panic(expected = "the books do not balance")]
    fn an_attempt_that_nothing_became_of_does_not_go_unnoticed() {
        let mut judge = judge(&[per_minute(1)]);
        judge.offered(Instant(0), 0, &[]);
        finish(judge);
    }

    #[test]
    #[should_panic(expected = "more was decided than asked")]
    fn a_decision_booked_to_another_client_does_not_go_unnoticed() {
        let mut judge = judge(&[per_minute(1)]);
        judge.offered(Instant(0), 0, &[]);
        judge.accepted(Instant(0), 1, &[], None);
        finish(judge);
    }
}
