//! The judge of traffic that nothing feeds back into: one key's whole history after another, under all algorithms at
//! once, batch by batch.
//!
//! It finds exactly what [`Judge`](super::Judge) finds for the same decisions. What differs is the order in which it
//! is told: there all keys take turns in time, here each is judged alone, so that what is looked at stays in
//! registers and in the nearest cache, and stretches of attempts are taken in at once. Algorithms that have denied
//! nothing to a key have let through the same: those are judged together (`offer`).

mod bins;
mod findings;
mod heights;
mod keeping;
mod lag;
mod lockout;
mod offer;
mod one;
mod queue;
mod spans;
mod sums;
mod windows;

use crate::algorithm::{Batch, Decided};
use crate::judge::{Met, Peak};
use crate::rate::Limit;
use crate::time::Window;

pub use bins::Bins;
pub use findings::{Findings, Whole};
use offer::Offer;
use one::One;

/// Judges the decisions of several algorithms on the same histories.
pub struct BulkJudge {
    bins: Bins,
    /// By algorithm.
    ones: Vec<One>,
    offer: Offer,
}

impl BulkJudge {
    /// A judge of runs over `window`. `units` if all attempts cost 1; of each algorithm, whether it queues.
    pub fn new(window: Window, units: bool, queues: impl Iterator<Item = bool>) -> BulkJudge {
        let bins = Bins::over(window);
        let one = |queues| One::new(&bins, window, units, queues);
        BulkJudge { ones: queues.map(one).collect(), offer: Offer::new(&bins, units), bins }
    }

    /// How many algorithms it judges.
    pub fn algorithms(&self) -> usize {
        self.ones.len()
    }

    /// Takes in what each algorithm decided on a batch of keys to which this was promised. `ended` is told what each key
    /// has met with whose history is over, in the order of the algorithms; of the last key, that is if `whole`.
    pub fn judge<'d>(
        &mut self,
        promise: Limit,
        batch: &Batch,
        decided: impl Fn(usize) -> &'d Decided,
        whole: bool,
        mut ended: impl FnMut(usize, usize, Met, Option<Peak>),
    ) {
        let BulkJudge { bins, ones, offer } = self;
        ones.iter_mut().for_each(One::begin_batch);
        offer.begin_batch();
        let (mut from, mut segment) = (0, 0);
        for (number, history) in batch.histories.iter().enumerate() {
            if history.starts {
                offer.begin(promise);
                ones.iter_mut().for_each(|one| one.begin(promise));
            }
            let to = history.end as usize;
            let place = Place { from, to, segment, segments_end: history.segments_end as usize };
            offer.ask(batch, &place);
            let mut together = 0_u64;
            for (position, one) in ones.iter_mut().enumerate() {
                let decided = decided(position);
                if one.goes_with_all(decided.outcomes[number].denied, offer) {
                    together |= 1 << position;
                    one.keep_with_all(bins, batch, &place, decided);
                } else {
                    one.judge(bins, batch, &place, decided, number);
                }
            }
            if together != 0 {
                offer.accept(bins, batch, &place, together);
            }
            if number + 1 < batch.histories.len() || whole {
                end(bins, ones, offer, |position, met, peak| ended(number, position, met, peak));
            }
            (from, segment) = (to, history.segments_end as usize);
        }
    }

    /// The last key of the last batch, which had more to come, turned out to be whole.
    pub fn end(&mut self, ended: impl FnMut(usize, Met, Option<Peak>)) {
        end(&self.bins, &mut self.ones, &mut self.offer, ended);
    }

    /// All that was found, by algorithm.
    pub fn finish(self) -> (Vec<u64>, Vec<Findings>) {
        let BulkJudge { ones, offer, .. } = self;
        let (offered, asked, shared) = offer.finish();
        let findings = ones.into_iter().enumerate().map(|(position, one)| {
            let heights = shared.iter().filter(|(together, _)| together >> position & 1 == 1);
            one.finish(&offered, &asked, heights.map(|(_, heights)| heights))
        });
        let findings = findings.collect();
        (offered, findings)
    }
}

/// The place of a history in its batch.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Its attempts.
    from: usize,
    to: usize,
    /// Its segments.
    segment: usize,
    segments_end: usize,
}

/// A key's history is over.
fn end(
    bins: &Bins,
    ones: &mut [One],
    offer: &mut Offer,
    mut ended: impl FnMut(usize, Met, Option<Peak>),
) {
    offer.end(bins);
    for (position, one) in ones.iter_mut().enumerate() {
        let (met, peak) = one.end(bins, offer);
        ended(position, met, peak);
    }
}
