//! The judge: it is told what becomes of every attempt and folds that into a [`Tally`].

use super::course::Course;
use super::distribution::Distribution;
use super::holding::{Holding, Holdings};
use super::tally::{Books, Kept, LimitTally, SubjectTally, Tally, Wrong};
use super::timeline::Timeline;
use super::trailing::Trailing;
use crate::algorithm::{Footprint, Wait};
use crate::rate::Limit;
use crate::scenario::Window;
use crate::time::{Instant, Span};

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
    timeline: Timeline,
    /// The bin of the last call, with its bounds, because most calls fall in the same one.
    bin: (usize, Instant, Instant),
    books: Books,
    over_limit: u64,
    needless_rejections: u64,
    wrong: Option<Wrong>,
    limits: Vec<LimitFold>,
    clients: Vec<Course>,
    queue_waits: Distribution,
    denial_waits: Distribution,
    denied_for_ever: u64,
    holdings: Holdings,
}

#[derive(Debug, Clone)]
struct LimitFold {
    name: String,
    promise: Limit,
    refused: u64,
    needless_rejections: u64,
    keys: Vec<KeyFold>,
}

#[derive(Debug, Clone)]
struct KeyFold {
    course: Course,
    window: Trailing,
    /// The last bin whose `window_max` knows of this key.
    seen: usize,
    holding: Holding,
}

impl KeyFold {
    /// Brings what the window carries into each bin after the last one seen, up to `bin`.
    fn carry(&mut self, timeline: &mut Timeline, bin: usize) {
        for later in self.seen + 1..=bin {
            let carried = self.window.sum_at(timeline.start_of(later));
            if carried == 0 {
                break;
            }
            let most = &mut timeline.bins[later].window_max;
            *most = (*most).max(carried);
        }
        self.seen = bin;
    }
}

impl Judge {
    /// A judge of a run over `window`, with the names and default promises of its limits and the
    /// number of its clients.
    pub fn new(window: Window, limits: &[(String, Limit)], clients: usize) -> Judge {
        let timeline = Timeline::over(window);
        let limits = limits.iter().map(|(name, promise)| LimitFold {
            name: name.clone(),
            promise: *promise,
            refused: 0,
            needless_rejections: 0,
            keys: Vec::new(),
        });
        Judge {
            bin: (0, window.start, window.start),
            books: Books::default(),
            over_limit: 0,
            needless_rejections: 0,
            wrong: None,
            limits: limits.collect(),
            clients: vec![Course::default(); clients],
            queue_waits: Distribution::default(),
            denial_waits: Distribution::default(),
            denied_for_ever: 0,
            holdings: Holdings::over(&timeline),
            timeline,
        }
    }

    /// A key of `limit` was seen first; keys are numbered in this order.
    pub fn meet(&mut self, limit: usize, promise: Limit) {
        self.limits[limit].keys.push(KeyFold {
            course: Course::default(),
            window: Trailing::new(promise),
            seen: 0,
            holding: Holding::default(),
        });
    }

    /// An attempt is made.
    pub fn offered(&mut self, at: Instant, client: u32, touches: &[Touch]) {
        let bin = self.bin_of(at);
        self.timeline.bins[bin].offered += 1;
        self.books.attempts += 1;
        self.clients[client as usize].attempts += 1;
        for touch in touches {
            self.limits[touch.limit].keys[touch.key].course.attempts += 1;
        }
    }

    /// It was let through at `at`; `waited` is its time in the queue for algorithms that queue (zero
    /// included).
    pub fn accepted(&mut self, at: Instant, client: u32, touches: &[Touch], waited: Option<Span>) {
        let bin = self.bin_of(at);
        let mut over = false;
        for touch in touches {
            let key = &mut self.limits[touch.limit].keys[touch.key];
            if touch.limit == 0 {
                key.carry(&mut self.timeline, bin);
            }
            let over_this = key.window.accept(at, touch.cost);
            if touch.limit == 0 {
                let most = &mut self.timeline.bins[bin].window_max;
                *most = (*most).max(key.window.sum_at(at));
            }
            key.course.accept(at, over_this);
            over |= over_this;
        }
        self.clients[client as usize].accept(at, over);
        self.books.accepted += 1;
        self.over_limit += u64::from(over);
        self.timeline.bins[bin].accepted += 1;
        self.timeline.bins[bin].over_limit += u64::from(over);
        if let Some(waited) = waited {
            self.queue_waits.record(waited);
        }
    }

    /// It was refused; bit i of `refused` tells whether the limit of `touches[i]` refused.
    pub fn rejected(
        &mut self,
        at: Instant,
        client: u32,
        touches: &[Touch],
        refused: u64,
        wait: Wait,
    ) {
        let bin = self.bin_of(at);
        let mut needless = true;
        for (index, touch) in touches.iter().enumerate() {
            let limit = &mut self.limits[touch.limit];
            let key = &mut limit.keys[touch.key];
            if touch.limit == 0 {
                key.carry(&mut self.timeline, bin);
            }
            let has_room = key.window.room_for(at, touch.cost);
            let by_this = refused >> index & 1 == 1;
            limit.refused += u64::from(by_this);
            limit.needless_rejections += u64::from(by_this && has_room);
            key.course.reject(at);
            needless &= has_room;
        }
        self.clients[client as usize].reject(at);
        self.books.rejected += 1;
        self.needless_rejections += u64::from(needless);
        self.timeline.bins[bin].rejected += 1;
        match wait {
            Wait::After(span) => self.denial_waits.record(span),
            Wait::Never => self.denied_for_ever += 1,
        }
    }

    /// What the reference decided beside what this run decided for the same attempt.
    pub fn compared(&mut self, allowed: bool, reference: bool) {
        let wrong = self.wrong.get_or_insert_default();
        wrong.allowed += u64::from(allowed && !reference);
        wrong.limited += u64::from(reference && !allowed);
    }

    /// What a key's state takes from `at` on, until it may be forgotten (`None`: never) or the next
    /// such call for that key.
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

    /// Closes the books. `pending` attempts are still queued. Where nobody retries, each attempt is
    /// a request. `key_names` names a key by its limit and number, `client_names` a client by number.
    ///
    /// # Panics
    /// If the books do not balance, or a key or client was decided on more often than it asked.
    pub fn finish(
        mut self,
        pending: u64,
        key_names: impl Fn(usize, usize) -> String,
        client_names: impl Fn(usize) -> String,
    ) -> Tally {
        self.books.pending = pending;
        self.books.requests = self.books.attempts;
        self.close_keys();
        self.audit();
        let limits = self.limits.into_iter().enumerate();
        let limits = limits.map(|(index, limit)| limit.finish(|key| key_names(index, key)));
        let clients = self.clients.into_iter().enumerate().filter(|(_, c)| c.attempts > 0);
        Tally {
            books: self.books,
            over_limit: self.over_limit,
            needless_rejections: self.needless_rejections,
            wrong: self.wrong,
            limits: limits.collect(),
            clients: clients.map(|(i, c)| c.finish(client_names(i), None, None)).collect(),
            queue_waits: self.queue_waits,
            denial_waits: self.denial_waits,
            denied_for_ever: self.denied_for_ever,
            kept: Kept::over(&self.timeline),
            timeline: self.timeline,
        }
    }

    /// Brings every key to the end of the timeline.
    fn close_keys(&mut self) {
        let end = self.timeline.bins.len();
        for (index, limit) in self.limits.iter_mut().enumerate() {
            for key in &mut limit.keys {
                if index == 0 {
                    key.carry(&mut self.timeline, end - 1);
                }
                self.holdings.settle(&key.holding, &self.timeline, end);
            }
        }
        self.holdings.write(&mut self.timeline);
    }

    fn audit(&self) {
        let books = self.books;
        assert!(books.balance(), "the books do not balance: {books:?}");
        let asked: u64 = self.clients.iter().map(|client| client.attempts).sum();
        assert_eq!(asked, books.attempts, "attempts of all clients against {books:?}");
        let keys = self.limits.iter().flat_map(|limit| &limit.keys).map(|key| &key.course);
        let unsound = keys.chain(&self.clients).find(|course| !course.is_sound());
        assert!(unsound.is_none(), "more was decided than asked: {unsound:?}");
    }

    fn bin_of(&mut self, at: Instant) -> usize {
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

impl LimitFold {
    fn finish(self, key_names: impl Fn(usize) -> String) -> LimitTally {
        let keys = self.keys.into_iter().enumerate().map(|(index, key)| {
            let (promise, peak) = (key.window.promise(), key.window.peak());
            key.course.finish(key_names(index), Some(promise), peak)
        });
        let keys: Vec<SubjectTally> = keys.collect();
        LimitTally {
            name: self.name,
            promise: self.promise,
            attempts: keys.iter().map(|key| key.attempts).sum(),
            accepted: keys.iter().map(|key| key.accepted).sum(),
            refused: self.refused,
            over_limit: keys.iter().map(|key| key.over_limit).sum(),
            needless_rejections: self.needless_rejections,
            worst: LimitTally::find_worst(&keys),
            keys,
        }
    }
}
