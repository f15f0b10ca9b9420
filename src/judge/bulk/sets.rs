//! Algorithms by what they decided on the key at hand: those that have decided the same so far make up a set, which is
//! judged once. A set falls apart where its algorithms first differ; what was found for it before holds for all of
//! them.

use super::cursor::Cursor;
use super::denials::Denials;
use super::findings::Findings;
use super::one::One;
use super::{Bins, Place};
use crate::algorithm::{Batch, Decided};
use crate::judge::{Met, Peak};
use crate::rate::Limit;
use crate::time::Window;

/// The judges of sets.
pub(super) struct Sets {
    bins: Bins,
    window: Window,
    units: bool,
    /// By algorithm, whether it queues.
    queues: Vec<bool>,
    /// Of sets met with so far; first of those with which every key begins.
    ones: Vec<One>,
    denials: Denials,
    /// How many sets a key begins with: one of all that do not queue, and one of each that does.
    first: usize,
    /// The sets of the key at hand, by their positions; all algorithms are in one of them.
    at_hand: Vec<usize>,
    /// By algorithm, which of the sets at hand it is in.
    within: Vec<usize>,
    /// Batches since sets were told how high windows rose in others.
    batches: u32,
}

/// No more sets than this are kept for each algorithm, since all have tables of their own: others are judged as
/// algorithms alone.
const SETS: usize = 4;

/// Sets are told how high windows rose in others no more often than once in so many batches.
const REST: u32 = 64;

impl Sets {
    pub fn new(bins: &Bins, window: Window, units: bool, queues: &[bool]) -> Sets {
        let of = |wanted: bool| {
            (0..queues.len()).filter(|&position| queues[position] == wanted).collect::<Vec<_>>()
        };
        let mut sets = Sets {
            bins: *bins,
            window,
            units,
            queues: queues.to_vec(),
            ones: Vec::new(),
            denials: Denials::new(bins),
            first: 0,
            at_hand: Vec::new(),
            within: vec![0; queues.len()],
            batches: 0,
        };
        let queueing = of(true).into_iter().map(|position| vec![position]);
        for set in [of(false)].into_iter().chain(queueing).filter(|set| !set.is_empty()) {
            sets.open(set);
        }
        sets.first = sets.ones.len();
        sets
    }

    /// The position of a new judge of a set.
    fn open(&mut self, set: Vec<usize>) -> usize {
        let queues = self.queues[set[0]];
        self.ones.push(One::new(set, &self.bins, self.window, self.units, queues));
        self.ones.len() - 1
    }

    /// Another batch begins.
    pub fn begin_batch(&mut self) {
        self.batches += 1;
        if self.batches >= REST && self.ones.iter().any(|one| one.heights().rose) {
            self.batches = 0;
            self.level();
        }
    }

    /// Raises the bins of each set to what all of its algorithms came to in any set: the highest of an algorithm is that
    /// of all of its sets, and lower windows need not be looked at closely.
    fn level(&mut self) {
        let mut highest = vec![vec![0; self.bins.count]; self.queues.len()];
        for one in &self.ones {
            for &position in &one.set {
                let all = highest[position].iter_mut().zip(&one.heights().highest);
                all.for_each(|(highest, own)| *highest = (*own).max(*highest));
            }
        }
        for one in &mut self.ones {
            let of = |bin| one.set.iter().map(|&position| highest[position][bin]).min();
            let levels: Vec<u64> = (0..self.bins.count).map(|bin| of(bin).unwrap_or(0)).collect();
            one.raise_to(levels.into_iter());
        }
    }

    /// The history of another key follows, to which this was promised.
    pub fn begin(&mut self, promise: Limit) {
        self.at_hand.clear();
        self.at_hand.extend(0..self.first);
        for (number, one) in self.ones[..self.first].iter_mut().enumerate() {
            one.begin(promise);
            one.set.iter().for_each(|&position| self.within[position] = number);
        }
    }

    /// Takes in a history of a batch.
    pub fn judge<'d>(
        &mut self,
        batch: &Batch,
        place: &Place,
        decided: &impl Fn(usize) -> &'d Decided,
        cursors: &[Cursor],
    ) {
        let mut index = 0;
        while let Some(&number) = self.at_hand.get(index) {
            if self.differ(number, decided, cursors) {
                self.divide(index, decided, cursors);
            }
            let number = self.at_hand[index];
            let one = &mut self.ones[number];
            let leader = one.set[0];
            one.judge(&self.bins, batch, place, decided(leader), &cursors[leader]);
            index += 1;
        }
        let Sets { ones, denials, at_hand, .. } = self;
        denials.take(batch, place, at_hand, |number: usize| {
            let leader = ones[number].set[0];
            cursors[leader].runs(decided(leader))
        });
    }

    /// Whether the algorithms of a set decided differently on a history.
    fn differ<'d>(
        &self,
        number: usize,
        decided: &impl Fn(usize) -> &'d Decided,
        cursors: &[Cursor],
    ) -> bool {
        let set = &self.ones[number].set;
        let runs = |position: usize| cursors[position].runs(decided(position));
        set[1..].iter().any(|&other| runs(other) != runs(set[0]))
    }

    /// Puts in place of a set at hand those into which it falls apart.
    fn divide<'d>(
        &mut self,
        index: usize,
        decided: &impl Fn(usize) -> &'d Decided,
        cursors: &[Cursor],
    ) {
        let whole = self.at_hand.swap_remove(index);
        let mut rest = self.ones[whole].set.clone();
        let runs = |position: usize| cursors[position].runs(decided(position));
        while let Some(&leader) = rest.first() {
            let (set, others) = rest.iter().partition(|&&other| runs(other) == runs(leader));
            rest = others;
            for part in self.known(set) {
                if let Ok([part, whole]) = self.ones.get_disjoint_mut([part, whole]) {
                    part.take_over(whole);
                }
                let set = &self.ones[part].set;
                set.iter().for_each(|&position| self.within[position] = part);
                self.at_hand.push(part);
            }
        }
        // The first of them takes the place.
        let last = self.at_hand.len() - 1;
        self.at_hand.swap(index, last);
    }

    /// The judge of a set; those of its algorithms alone where there are too many sets.
    fn known(&mut self, set: Vec<usize>) -> Vec<usize> {
        if let Some(known) = self.ones.iter().position(|one| one.set == set) {
            return vec![known];
        }
        if set.len() == 1 || self.ones.len() < SETS * self.queues.len() {
            return vec![self.open(set)];
        }
        set.into_iter().flat_map(|position| self.known(vec![position])).collect()
    }

    /// Whether two algorithms have decided the same on the key at hand.
    pub fn are_together(&self, one: usize, other: usize) -> bool {
        match (self.within.get(one), self.within.get(other)) {
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        }
    }

    /// The key's history is over: what it met with, by algorithm.
    pub fn end(&mut self, mut ended: impl FnMut(usize, Met, Option<Peak>)) {
        for &number in &self.at_hand {
            let one = &mut self.ones[number];
            let (met, peak) = one.end(&self.bins);
            one.set.iter().for_each(|&position| ended(position, met, peak));
        }
    }

    /// All that was found, by algorithm; `offered` tells how many attempts were made in each bin.
    pub fn finish(self, offered: &[u64]) -> Vec<Findings> {
        let mut all: Vec<_> = self.queues.iter().map(|_| Findings::new(&self.bins)).collect();
        for (number, one) in self.ones.into_iter().enumerate() {
            let (set, findings) = one.finish();
            for position in set {
                all[position].merge(&findings);
                self.denials.add_to(&mut all[position], number);
            }
        }
        for (findings, _) in all.iter_mut().zip(&self.queues).filter(|(_, queues)| !**queues) {
            // Whoever does not queue is let through where it asks, or denied.
            for (bin, offered) in findings.bins.iter_mut().zip(offered) {
                bin.accepted = offered - bin.rejected;
            }
        }
        all
    }
}
