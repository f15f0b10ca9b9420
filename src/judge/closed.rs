//! What becomes of requests where clients react to answers: the findings of a closed loop, and the calls of
//! the judge that lead to them.

use super::distribution::Distribution;
use super::fold::Judge;
use super::load::Load;
use crate::fetch::fetch;
use crate::server::Work;
use crate::time::{Instant, Span, Window};

/// What an attempt is to its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// The first.
    First,
    /// A later one; `obeys` tells whether it comes no sooner than a Retry-After told it to, because it was
    /// told so.
    Retry {
        /// Whether it obeys.
        obeys: bool,
    },
}

/// The findings of a closed loop beside those of its attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// From the first intended attempt to the answer, of requests that succeeded.
    pub time_to_success: Distribution,
    /// How attempts were spread over time.
    pub load: Load,
    /// Retries that were rejected although they obeyed a Retry-After.
    pub broken_promises: u64,
    /// Attempts that were let through and turned away by a backend whose queue was full.
    pub turned_away: u64,
    /// Attempts that were let through, and whose client no longer waited when the answer came.
    pub abandoned: u64,
    /// Requests under way at the end that were being tried again.
    pub retrying: u64,
    /// Time of the backend's slots spent on answers, in nanoseconds ...
    pub worked: u128,
    /// ... and of that, on answers nobody waited for.
    pub wasted: u128,
    /// Time of the backend's slots spent on answers to rejected attempts, in nanoseconds.
    pub rejecting: u128,
}

impl Closed {
    fn new(window: Window, trigger: Option<Window>) -> Closed {
        Closed {
            time_to_success: Distribution::default(),
            load: Load::new(window, trigger),
            broken_promises: 0,
            turned_away: 0,
            abandoned: 0,
            retrying: 0,
            worked: 0,
            wasted: 0,
            rejecting: 0,
        }
    }
}

/// The calls of a closed loop.
impl Judge {
    /// Attempts belong to requests, whose fate is told too; `trigger` is what the run may recover from.
    pub fn with_requests(mut self, trigger: Option<Window>) -> Judge {
        self.closed = Some(Closed::new(self.window, trigger));
        self
    }

    /// A client means to have a piece of work done.
    pub fn requested(&mut self) {
        self.books.requests += 1;
    }

    /// What the attempt just offered is to its request.
    #[inline]
    pub fn tried(&mut self, at: Instant, trial: Trial) {
        let bin = self.bin_of(at);
        self.timeline.bins[bin].retries += u64::from(trial != Trial::First);
        let Some(closed) = &mut self.closed else { return };
        if let Some(second) = closed.load.attempt(at, trial != Trial::First) {
            self.timeline.note(second);
        }
    }

    /// A retry that obeyed a Retry-After was rejected all the same.
    pub fn broke_promise(&mut self) {
        if let Some(closed) = &mut self.closed {
            closed.broken_promises += 1;
        }
    }

    /// An attempt was given up by its client before the limiter's queue let it through.
    pub fn failed(&mut self) {
        self.books.failed += 1;
    }

    /// An attempt that was let through was turned away by a backend whose queue was full.
    pub fn turned_away(&mut self) {
        if let Some(closed) = &mut self.closed {
            closed.turned_away += 1;
        }
    }

    /// The client of an attempt that was let through stopped waiting for its answer.
    pub fn abandoned(&mut self) {
        if let Some(closed) = &mut self.closed {
            closed.abandoned += 1;
        }
    }

    /// So many of the requests under way at the end were being tried again.
    pub fn still_retrying(&mut self, requests: u64) {
        if let Some(closed) = &mut self.closed {
            closed.retrying = requests;
        }
    }

    /// A slot of the backend was busy for so long; `wasted` if nobody waited for the answer.
    pub fn worked(&mut self, work: Work, busy: Span, wasted: bool) {
        let Some(closed) = &mut self.closed else { return };
        let nanos = u128::from(busy.nanos());
        match work {
            Work::Reject => closed.rejecting += nanos,
            Work::Serve => {
                closed.worked += nanos;
                closed.wasted += if wasted { nanos } else { 0 };
            }
        }
    }

    /// A request ended well; its client had wanted it for so long. Not necessarily in time order with
    /// other calls.
    pub fn succeeded(&mut self, at: Instant, took: Span) {
        let bin = self.timeline.index(at);
        self.timeline.bins[bin].succeeded += 1;
        self.books.succeeded += 1;
        if let Some(closed) = &mut self.closed {
            closed.time_to_success.record(took);
        }
    }

    /// A client gave a request up. Not necessarily in time order with other calls.
    pub fn gave_up(&mut self, at: Instant) {
        let bin = self.timeline.index(at);
        self.timeline.bins[bin].gave_up += 1;
        self.books.gave_up += 1;
    }

    /// Has the records of clients fetched from memory.
    #[inline]
    pub fn fetch_clients(&self, clients: &[u32]) {
        if self.clients.is_empty() {
            return;
        }
        fetch(clients.iter().map(|&client| self.clients[client as usize].attempts));
    }

    /// Has the records of keys fetched from memory.
    #[inline]
    pub fn fetch_keys(&self, limit: usize, keys: &[u32]) {
        let all = &self.limits[limit].keys;
        fetch(keys.iter().map(|&key| all[key as usize].glimpse()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Wait;
    use crate::judge::{Books, Recovery, Tally, Touch};
    use crate::rate::Limit;

    const TOUCHES: [Touch; 1] = [Touch { limit: 0, key: 0, cost: 1 }];

    fn at(secs: u64) -> Instant {
        Instant(0) + Span::from_secs(secs)
    }

    /// A judge of a minute with one client, whose requests are told, and which may recover from what
    /// happens from 10 s to 20 s.
    fn judge() -> Judge {
        let limit = Limit::new(2, Span::from_secs(60));
        let run = Window { start: at(0), end: at(60) };
        let trigger = Window { start: at(10), end: at(20) };
        let judge = Judge::new(run, &[("limit".to_owned(), limit)], 1);
        let mut judge = judge.with_requests(Some(trigger));
        judge.meet(0, limit);
        judge
    }

    fn attempt(judge: &mut Judge, secs: u64, trial: Trial) {
        judge.offered(at(secs), 0, &TOUCHES);
        judge.tried(at(secs), trial);
    }

    fn finish(judge: Judge, pending: u64, unfinished: u64) -> Tally {
        judge.finish(pending, unfinished, |_, _| "key".to_owned(), |_| "client".to_owned())
    }

    const RETRY: Trial = Trial::Retry { obeys: true };

    #[test]
    fn what_becomes_of_four_requests_in_seven_attempts() {
        let mut judge = judge();
        (0..4).for_each(|_| judge.requested());
        // The first succeeds with its second attempt, 3 s after it was meant to be sent.
        attempt(&mut judge, 1, Trial::First);
        judge.rejected(at(1), 0, &TOUCHES, 1, Wait::After(Span::from_secs(2)));
        attempt(&mut judge, 3, RETRY);
        judge.accepted(at(3), 0, &TOUCHES, None);
        judge.succeeded(at(4), Span::from_secs(3));
        judge.worked(Work::Serve, Span::from_secs(1), false);
        // The second is let through, its client leaves, and the backend works for nobody.
        attempt(&mut judge, 25, Trial::First);
        judge.accepted(at(25), 0, &TOUCHES, None);
        judge.abandoned();
        judge.worked(Work::Serve, Span::from_secs(3), true);
        judge.gave_up(at(26));
        // The third is turned away by the backend, then rejected though it came when it was told to.
        attempt(&mut judge, 30, Trial::First);
        judge.accepted(at(30), 0, &TOUCHES, None);
        judge.turned_away();
        attempt(&mut judge, 31, RETRY);
        judge.rejected(at(31), 0, &TOUCHES, 1, Wait::Never);
        judge.broke_promise();
        judge.gave_up(at(31));
        // The fourth gives up waiting in the limiter's queue, and is queued there again at the end.
        attempt(&mut judge, 50, Trial::First);
        judge.failed();
        attempt(&mut judge, 51, Trial::Retry { obeys: false });
        let tally = finish(judge, 1, 1);
        let books = Books {
            requests: 4,
            attempts: 7,
            accepted: 3,
            rejected: 2,
            failed: 1,
            pending: 1,
            succeeded: 1,
            gave_up: 2,
            unfinished: 1,
        };
        assert_eq!(tally.books, books);
        let closed = tally.closed.unwrap();
        assert_eq!((closed.turned_away, closed.abandoned, closed.broken_promises), (1, 1, 1));
        assert_eq!((closed.worked, closed.wasted), (4_000_000_000, 3_000_000_000));
        assert_eq!(closed.time_to_success.max(), Some(Span::from_secs(3)));
        // From 3 s on six attempts in 57 s, one at a time. The last, at 51 s, is as many in its second as
        // the one at 1 s was.
        let herd = closed.load.herd().unwrap();
        assert_eq!((herd.peak, herd.attempts, herd.seconds), (1, 6, 57));
        assert_eq!(closed.load.recovery(), Some(Recovery::After(Span::ZERO)));
        // Bins of 100 ms: each second is noted in its first.
        let noted = |secs: usize| {
            let bin = tally.timeline.bins[10 * secs];
            (bin.first_in_second, bin.retries_in_second)
        };
        assert_eq!(
            [1, 3, 25, 31, 51, 2].map(noted),
            [(1, 0), (0, 1), (1, 0), (0, 1), (0, 1), (0, 0)]
        );
        let bin = |secs: usize| tally.timeline.bins[10 * secs];
        assert_eq!([3, 25, 31, 51].map(|secs| bin(secs).retries), [1, 0, 1, 1]);
        assert_eq!(
            [4, 26, 31].map(|secs| (bin(secs).succeeded, bin(secs).gave_up)),
            [(1, 0), (0, 1), (0, 1)]
        );
    }

    #[test]
    #[should_panic(expected = "the books do not balance")]
    fn a_request_that_nothing_became_of_does_not_go_unnoticed() {
        let mut judge = judge();
        judge.requested();
        finish(judge, 0, 0);
    }

    #[test]
    #[should_panic(expected = "a closed loop does not split by keys")]
    fn closed_loops_do_not_add_up() {
        let mut tally = finish(judge(), 0, 0);
        tally.merge(finish(judge(), 0, 0));
    }
}
