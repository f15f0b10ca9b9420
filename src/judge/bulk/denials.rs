//! What the denied were told to wait, and in which bins they asked: the same for all algorithms that deny the same
//! attempts of a history in the same words, whether they queue or not.

use super::findings::Findings;
use super::spans::Spans;
use super::{Bins, Place};
use crate::algorithm::{Batch, Run};

/// Denials by who made them.
pub(super) struct Denials {
    bins: usize,
    groups: Vec<Group>,
    /// Which of the sets at hand were taken in with others; kept to reuse its memory.
    together: Vec<usize>,
}

/// What some sets of algorithms denied alike.
struct Group {
    /// The positions of the sets.
    sets: Vec<usize>,
    waits: Spans,
    for_ever: u64,
    /// By bin.
    rejected: Vec<u64>,
}

/// No more groups of several sets than this, since all have tables of their own.
const GROUPS: usize = 16;

impl Denials {
    pub fn new(bins: &Bins) -> Denials {
        Denials { bins: bins.count, groups: Vec::new(), together: Vec::new() }
    }

    /// Takes in the denials of a history: by set, given by their positions, what became of all attempts in runs; in
    /// none if nothing was denied.
    pub fn take<'r>(
        &mut self,
        batch: &Batch,
        place: &Place,
        sets: &[usize],
        runs: impl Fn(usize) -> &'r [Run],
    ) {
        for (index, &set) in sets.iter().enumerate() {
            let own = runs(set);
            let alike = |other: &usize| runs(*other) == own;
            if own.is_empty() || sets[..index].iter().any(alike) {
                continue;
            }
            self.together.clear();
            self.together.push(set);
            self.together.extend(sets[index + 1..].iter().filter(|other| alike(other)));
            self.together.sort_unstable();
            match self.known() {
                Some(group) => self.groups[group].add(batch, place, own),
                None => {
                    for set in std::mem::take(&mut self.together) {
                        let group = self.open(vec![set]);
                        self.groups[group].add(batch, place, own);
                    }
                }
            }
        }
    }

    /// The group of the sets that are together; `None` where there are too many groups.
    fn known(&mut self) -> Option<usize> {
        let known = self.groups.iter().position(|group| group.sets == self.together);
        let may_open = self.together.len() == 1 || self.groups.len() < GROUPS;
        known.or_else(|| may_open.then(|| self.open(self.together.clone())))
    }

    /// The group of these sets.
    fn open(&mut self, sets: Vec<usize>) -> usize {
        if let Some(known) = self.groups.iter().position(|group| group.sets == sets) {
            return known;
        }
        let rejected = vec![0; self.bins];
        self.groups.push(Group { sets, waits: Spans::default(), for_ever: 0, rejected });
        self.groups.len() - 1
    }

    /// Adds what a set denied to its findings.
    pub fn add_to(&self, findings: &mut Findings, set: usize) {
        for group in self.groups.iter().filter(|group| group.sets.contains(&set)) {
            findings.denial_waits.merge(&group.waits);
            findings.denied_for_ever += group.for_ever;
            for (bin, rejected) in findings.bins.iter_mut().zip(&group.rejected) {
                bin.rejected += rejected;
            }
        }
    }
}

impl Group {
    fn add(&mut self, batch: &Batch, place: &Place, runs: &[Run]) {
        self.waits.record_runs(runs, &batch.times[place.from..place.to]);
        let never = runs.iter().filter(|run| run.wait == Run::NEVER);
        self.for_ever += never.map(|run| u64::from(run.denied)).sum::<u64>();
        let mut at = place.start();
        for run in runs {
            at.index += run.accepted as usize;
            let to = at.index + run.denied as usize;
            at.each(batch, to, |bin, range| self.rejected[bin] += range.len() as u64);
        }
    }
}
