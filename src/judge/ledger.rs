//! What the judge keeps of each limit and each of its keys while a run lasts.

use super::course::Course;
use super::holding::Holding;
use super::maxima::Maxima;
use super::peak::Worst;
use super::subjects::Subjects;
use super::tally::LimitTally;
use super::timeline::Timeline;
use super::trailing::Trailing;
use crate::rate::Limit;

/// What happened under one limit so far.
#[derive(Debug, Clone)]
pub(super) struct LimitLedger {
    name: String,
    promise: Limit,
    pub refused: u64,
    pub needless_rejections: u64,
    pub keys: Vec<KeyLedger>,
}

/// What happened to one key so far.
///
/// In the order of the fields, so that what a rejection looks at lies in three cache lines: there may be
/// millions of keys.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct KeyLedger {
    pub course: Course,
    pub holding: Holding,
    /// The last bin that knows what this key's window carries into it.
    seen: usize,
    pub window: Trailing,
}

const _: () = assert!(size_of::<KeyLedger>() == 256);

impl KeyLedger {
    pub fn new(promise: Limit) -> KeyLedger {
        KeyLedger {
            course: Course::default(),
            window: Trailing::new(promise),
            seen: 0,
            holding: Holding::default(),
        }
    }

    /// A value that is known only once all that a rejection looks at was read from memory.
    #[inline]
    pub fn glimpse(&self) -> u64 {
        self.course.attempts ^ self.window.sum() ^ self.seen as u64 ^ self.holding.glimpse()
    }

    /// Raises every bin after the last one seen, up to `bin`, to what the window carries into it.
    pub fn carry(&mut self, highest: &mut Maxima, timeline: &Timeline, bin: usize) {
        let mut from = self.seen + 1;
        while from <= bin {
            let sum = self.window.sum_at(timeline.start_of(from));
            let Some(falls) = self.window.falls_at() else { break };
            let to = timeline.first_from(falls, bin + 1);
            highest.raise(from, to, sum);
            from = to;
        }
        self.seen = bin;
    }
}

impl LimitLedger {
    pub fn new(name: &str, promise: Limit) -> LimitLedger {
        let name = name.to_owned();
        LimitLedger { name, promise, refused: 0, needless_rejections: 0, keys: Vec::new() }
    }

    /// The findings; `key_names` names a key by its number.
    pub fn finish(self, key_names: impl Fn(usize) -> String) -> LimitTally {
        let worst = self.keys.iter().enumerate().map(|(key, ledger)| {
            let (promise, peak) = (ledger.window.promise(), ledger.window.peak());
            Worst { key, promise, peak }
        });
        let worst = worst.reduce(Worst::worse);
        let keys = self.keys.into_iter().enumerate().map(|(key, ledger)| {
            let (promise, peak) = (ledger.window.promise(), ledger.window.peak());
            let peak = peak.map(|peak| peak.cost);
            (key_names(key), ledger.course.finish(Some(promise), peak))
        });
        let keys: Subjects = keys.collect();
        LimitTally {
            name: self.name,
            promise: self.promise,
            attempts: keys.iter().map(|key| key.attempts).sum(),
            accepted: keys.iter().map(|key| key.accepted).sum(),
            refused: self.refused,
            over_limit: keys.iter().map(|key| key.over_limit).sum(),
            needless_rejections: self.needless_rejections,
            worst,
            keys,
        }
    }
}
