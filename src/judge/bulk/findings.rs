//! What a bulk judge found; what is found for some keys adds up with what is found for others.

use super::Bins;
use super::spans::Spans;
use crate::judge::{Books, Kept, LimitTally, Subjects, Tally, Timeline, Worst, Wrong};
use crate::rate::Limit;
use crate::time::Window;

/// What was found for a number of keys.
pub struct Findings {
    /// By bin.
    pub bins: Vec<Counts>,
    /// By bin, the highest trailing window of any one key.
    pub highest: Vec<u64>,
    /// By bin, how many keys were kept, their entries and bytes.
    pub kept: Vec<[u64; 3]>,
    /// Attempts still queued at the end.
    pub pending: u64,
    /// Rejected attempts that would have had room.
    pub needless: u64,
    /// Denials that said never.
    pub denied_for_ever: u64,
    /// See [`Tally`](crate::judge::Tally).
    pub queue_waits: Spans,
    /// See [`Tally`](crate::judge::Tally).
    pub denial_waits: Spans,
}

/// Attempts of one bin by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Let through (for those that queued: when they left the queue).
    pub accepted: u64,
    /// Refused.
    pub rejected: u64,
    /// Let through above the limit.
    pub over_limit: u64,
}

impl Findings {
    pub(super) fn new(bins: &Bins) -> Findings {
        Findings {
            bins: vec![Counts::default(); bins.count],
            highest: vec![0; bins.count],
            kept: Vec::new(),
            pending: 0,
            needless: 0,
            denied_for_ever: 0,
            queue_waits: Spans::default(),
            denial_waits: Spans::default(),
        }
    }

    /// Adds what was found for other keys of the same run.
    pub fn merge(&mut self, other: &Findings) {
        for (own, others) in self.bins.iter_mut().zip(&other.bins) {
            own.accepted += others.accepted;
            own.rejected += others.rejected;
            own.over_limit += others.over_limit;
        }
        for (own, others) in self.highest.iter_mut().zip(&other.highest) {
            *own = (*own).max(*others);
        }
        for (own, others) in self.kept.iter_mut().zip(&other.kept) {
            own.iter_mut().zip(others).for_each(|(own, others)| *own += others);
        }
        self.pending += other.pending;
        self.needless += other.needless;
        self.denied_for_ever += other.denied_for_ever;
        self.queue_waits.merge(&other.queue_waits);
        self.denial_waits.merge(&other.denial_waits);
    }

    /// The findings of the whole run.
    ///
    /// # Panics
    /// If the books do not balance, or more was decided than asked.
    pub fn tally(self, whole: Whole) -> Tally {
        let Whole { window, limit: (name, promise), keys, clients, worst, wrong, offered } = whole;
        let mut timeline = Timeline::over(window);
        for (index, bin) in timeline.bins.iter_mut().enumerate() {
            let counts = self.bins[index];
            bin.offered = offered[index];
            bin.accepted = counts.accepted;
            bin.rejected = counts.rejected;
            bin.over_limit = counts.over_limit;
            bin.window_max = self.highest[index];
            [bin.keys, bin.entries, bin.bytes] = self.kept[index];
        }
        let sum = |of: fn(&Counts) -> u64| self.bins.iter().map(of).sum::<u64>();
        let (accepted, rejected) = (sum(|bin| bin.accepted), sum(|bin| bin.rejected));
        let over_limit = sum(|bin| bin.over_limit);
        let attempts = offered.iter().sum();
        let books = Books::of_open_loop(attempts, accepted, rejected, self.pending);
        assert!(books.balance(), "the books do not balance: {books:?}");
        assert_eq!(keys.decided(), [accepted, rejected], "keys against {books:?}");
        let limit = LimitTally {
            name,
            promise,
            attempts,
            accepted,
            refused: rejected,
            over_limit,
            needless_rejections: self.needless,
            worst,
            keys,
        };
        Tally {
            books,
            over_limit,
            needless_rejections: self.needless,
            wrong: Some(wrong),
            limits: vec![limit],
            clients,
            kept: Kept::over(&timeline),
            timeline,
            queue_waits: self.queue_waits.distribution(),
            denial_waits: self.denial_waits.distribution(),
            denied_for_ever: self.denied_for_ever,
            closed: None,
            fleet: None,
        }
    }
}

/// What a run as a whole consists of besides what was found for its keys.
pub struct Whole<'a> {
    /// From when to when.
    pub window: Window,
    /// The name and the default promise of the only limit.
    pub limit: (String, Limit),
    /// What its keys met with.
    pub keys: Subjects,
    /// The same of their clients, of whom each has one.
    pub clients: Subjects,
    /// The key whose window rose highest above its promise.
    pub worst: Option<Worst>,
    /// How decisions differ from those of the reference.
    pub wrong: Wrong,
    /// By bin, how many attempts were made.
    pub offered: &'a [u64],
}
