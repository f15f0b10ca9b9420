//! The judge of traffic that nothing feeds back into: one key's whole history after another, under all algorithms at
//! once, batch by batch.
//!
//! It finds exactly what [`Judge`](super::Judge) finds for the same decisions. What differs is the order in which it
//! is told: there all keys take turns in time, here each is judged alone, so that what is looked at stays in
//! registers and in the nearest cache, and stretches of attempts are taken in at once. Algorithms that have decided
//! the same on a key so far are judged once for all of them (`sets`), and what the denied were told is counted once for
//! all who told them the same (`denials`).

mod bins;
mod cursor;
mod denials;
mod differences;
mod findings;
mod heights;
mod keeping;
mod lag;
mod lockout;
mod offer;
mod one;
mod queue;
mod sets;
mod spans;
mod sums;
mod windows;

use std::ops::Range;

use crate::algorithm::{Batch, Decided, Segment};
use crate::judge::{Met, Peak, Wrong};
use crate::rate::Limit;
use crate::time::Window;

pub use bins::Bins;
use cursor::Cursor;
pub use findings::{Findings, Whole};
use keeping::Keeping;
use offer::Offer;
use sets::Sets;

/// Judges the decisions of several algorithms on the same histories.
pub struct BulkJudge {
    bins: Bins,
    offer: Offer,
    sets: Sets,
    /// By algorithm that is judged.
    keepings: Vec<Keeping>,
    /// By algorithm that is judged, the position of the one with whose decisions its own are compared ...
    references: Vec<usize>,
    /// ... and how they differed.
    wrong: Vec<Wrong>,
    /// The same on the history at hand.
    differing: Vec<Wrong>,
    /// By algorithm, judged or only a reference.
    cursors: Vec<Cursor>,
}

impl BulkJudge {
    /// A judge of runs over `window`. `units` if all attempts cost 1. Of each algorithm, whether it queues, and the
    /// position of the one with whose decisions its own are compared, which may come after those that are judged.
    pub fn new(window: Window, units: bool, queues: &[bool], references: &[usize]) -> BulkJudge {
        let bins = Bins::over(window);
        let farthest = references.iter().map(|reference| reference + 1).max().unwrap_or(0);
        BulkJudge {
            offer: Offer::new(&bins),
            sets: Sets::new(&bins, window, units, queues),
            keepings: queues.iter().map(|_| Keeping::new(&bins)).collect(),
            references: references.to_vec(),
            wrong: vec![Wrong::default(); references.len()],
            differing: vec![Wrong::default(); references.len()],
            cursors: vec![Cursor::default(); queues.len().max(farthest)],
            bins,
        }
    }

    /// How many algorithms it judges.
    pub fn algorithms(&self) -> usize {
        self.keepings.len()
    }

    /// Takes in what each algorithm decided on a batch of keys to which this was promised. `ended` is told what each key
    /// has met with whose history is over, by algorithm; of the last key, that is if `whole`.
    pub fn judge<'d>(
        &mut self,
        promise: Limit,
        batch: &Batch,
        decided: impl Fn(usize) -> &'d Decided,
        whole: bool,
        mut ended: impl FnMut(usize, usize, Met, Option<Peak>),
    ) {
        self.sets.begin_batch();
        self.cursors.fill(Cursor::default());
        self.offer.ask(batch);
        for (position, keeping) in self.keepings.iter_mut().enumerate() {
            keeping.keep(&self.bins, batch, decided(position));
        }
        let (mut from, mut segment) = (0, 0);
        for (number, history) in batch.histories.iter().enumerate() {
            if history.starts {
                self.sets.begin(promise);
            }
            let to = history.end as usize;
            let place = Place { from, to, segment };
            for (position, cursor) in self.cursors.iter_mut().enumerate() {
                cursor.advance(decided(position), number, to - from);
            }
            self.sets.judge(batch, &place, &decided, &self.cursors);
            self.compare(to - from, &decided);
            if number + 1 < batch.histories.len() || whole {
                self.end(|position, met, peak| ended(number, position, met, peak));
            }
            (from, segment) = (to, history.segments_end as usize);
        }
    }

    /// Counts how decisions on a history of so many attempts differ from those of the references.
    fn compare<'d>(&mut self, attempts: usize, decided: &impl Fn(usize) -> &'d Decided) {
        for (position, &reference) in self.references.iter().enumerate() {
            let (own, other) = (&self.cursors[position].runs, &self.cursors[reference].runs);
            let nothing_denied = own.is_empty() && other.is_empty();
            if nothing_denied || self.sets.are_together(position, reference) {
                self.differing[position] = Wrong::default();
                continue;
            }
            let is_twin = |&twin: &usize| {
                self.references[twin] == reference && self.sets.are_together(position, twin)
            };
            self.differing[position] = match (0..position).find(is_twin) {
                Some(twin) => self.differing[twin],
                None => {
                    let runs = |position: usize| self.cursors[position].runs(decided(position));
                    differences::of_history(attempts, runs(position), runs(reference))
                }
            };
            self.wrong[position].allowed += self.differing[position].allowed;
            self.wrong[position].limited += self.differing[position].limited;
        }
    }

    /// The key at hand, which had more to come, turned out to be whole.
    pub fn end(&mut self, ended: impl FnMut(usize, Met, Option<Peak>)) {
        self.sets.end(ended);
    }

    /// How many attempts were made by bin, and by algorithm what was found and how its decisions differed.
    pub fn finish(self) -> (Vec<u64>, Vec<(Findings, Wrong)>) {
        let BulkJudge { bins, offer, sets, keepings, wrong, .. } = self;
        let kept = |keeping: Keeping| keeping.finish(&bins, &offer.keys);
        let kept = keepings.into_iter().map(kept);
        let found = sets.finish(&offer.attempts).into_iter().zip(kept).zip(wrong);
        let found = found.map(|((findings, kept), wrong)| (Findings { kept, ..findings }, wrong));
        let found = found.collect();
        (offer.attempts, found)
    }
}

/// The place of a history in its batch.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Its attempts.
    from: usize,
    to: usize,
    /// The first of its segments.
    segment: usize,
}

impl Place {
    fn start(&self) -> At {
        At { index: self.from, segment: self.segment }
    }
}

/// How far a history was taken in.
struct At {
    index: usize,
    /// One that does not begin after it.
    segment: usize,
}

impl At {
    /// The segment of the next attempt, and those after it.
    #[inline]
    fn segments<'a>(&mut self, batch: &Batch<'a>) -> &'a [Segment] {
        while batch.segments[self.segment].end as usize <= self.index {
            self.segment += 1;
        }
        &batch.segments[self.segment..]
    }

    /// Goes on to `to`, bin by bin.
    #[inline]
    fn each(&mut self, batch: &Batch, to: usize, mut each: impl FnMut(usize, Range<usize>)) {
        while self.index < to {
            let segment = self.segments(batch)[0];
            let end = (segment.end as usize).min(to);
            each(segment.bin as usize, self.index..end);
            self.index = end;
        }
    }
}
