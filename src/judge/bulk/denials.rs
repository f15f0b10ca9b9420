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
                    let together = std::mem::take(&mut self.together);
                    for &set in &together {
                        let group = self.open(vec![set]);
                        self.groups[group].add(batch, place, own);
                    }
                    self.together = together;
                }
            }
        }
    }

    /// The group of the sets that are together; `None` where there are too many of several.
    fn known(&mut self) -> Option<usize> {
        let known = self.groups.iter().position(|group| group.sets == self.together);
        let several = self.groups.iter().filter(|group| group.sets.len() > 1).count();
        let may_open = self.together.len() == 1 || several < GROUPS;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::History;
    use crate::judge::Distribution;
    use crate::time::{Instant, Window};
    use proptest::prelude::*;

    const ATTEMPTS: u32 = 12;

    fn described(spans: &Distribution) -> impl PartialEq + std::fmt::Debug + use<> {
        (spans.count(), spans.mean_secs(), spans.min(), spans.max())
    }

    proptest! {
        // Five sets are together in more ways than there are groups.
        #[test]
        fn each_set_has_what_it_denied_with_whomever_it_did_so(
            histories in prop::collection::vec(prop::collection::vec(0_usize..4, 5), 1..60),
        ) {
            let bins = Bins::over(Window { start: Instant(0), end: Instant(600) });
            let times: Vec<i64> = (0..i64::from(ATTEMPTS)).map(|n| n * 50).collect();
            let mut segments = Vec::new();
            bins.cut(&times, 0, &mut segments);
            let whole = History { key: 0, starts: true, end: ATTEMPTS, segments_end: segments.len() as u32 };
            let batch = Batch {
                times: &times, costs: None, segments: &segments, gaps: &[], histories: &[whole], marked: false,
            };
            let run = |accepted, wait| Run { accepted, denied: ATTEMPTS - accepted, wait };
            let kinds = [vec![], vec![run(3, 900)], vec![run(3, 800)], vec![run(5, Run::NEVER)]];
            let place = Place { from: 0, to: ATTEMPTS as usize, segment: 0 };
            let mut denials = Denials::new(&bins);
            let mut alone: Vec<Denials> = (0..5).map(|_| Denials::new(&bins)).collect();
            for kind in &histories {
                denials.take(&batch, &place, &[4, 2, 0, 1, 3], |set| &kinds[kind[set]]);
                for (set, alone) in alone.iter_mut().enumerate() {
                    alone.take(&batch, &place, &[set], |set| &kinds[kind[set]]);
                }
            }
            prop_assert!(denials.groups.len() <= GROUPS + 5);
            for (set, alone) in alone.iter().enumerate() {
                let (mut found, mut expected) = (Findings::new(&bins), Findings::new(&bins));
                denials.add_to(&mut found, set);
                alone.add_to(&mut expected, set);
                prop_assert_eq!(&found.bins, &expected.bins);
                prop_assert_eq!(found.denied_for_ever, expected.denied_for_ever);
                let [found, expected] = [found, expected].map(|all| described(&all.denial_waits.distribution()));
                prop_assert_eq!(found, expected);
            }
        }
    }
}
