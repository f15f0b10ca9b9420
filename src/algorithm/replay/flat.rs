//! Histories of unit costs whose states are plain, decided many attempts at once ([`Algorithm::decide_all`]): what the
//! decisions look like in the end is read from bits, and how long states last beyond their attempts from states.

use super::course::Course;
use super::{Batch, Decided, History};
use crate::algorithm::{Algorithm, Keyed, Verdict};
use crate::time::Reading;

/// So many attempts are decided at once, at most ...
pub(super) const MOST: usize = 64;

/// ... and so many after a stretch of denials at least as long, since the next is soon come to ...
const FEW: usize = 16;

/// ... mostly after no more than so many.
const SOON: usize = 2;

impl<A: Algorithm> Keyed<A> {
    /// Decides a history; `trail` has room for the states of as many attempts as are decided at once.
    #[inline(always)]
    pub(super) fn flat(
        &self,
        batch: &Batch,
        history: &History,
        state: &mut A::State,
        trail: &mut [A::State],
        course: &mut Course,
        decided: &mut Decided,
    ) {
        let times = &batch.times[..history.end as usize];
        let mut most = MOST;
        while course.index < times.len() {
            let from = course.index;
            if course.run.denied > 0 {
                let refused = course.refused(&times[from..]);
                course.refuse(refused as u32);
                course.index += refused;
                self.lasts(batch, course, decided, |_, begins| self.lasts_beyond(state, begins));
                most = if refused >= FEW { FEW } else { MOST };
                if refused >= FEW && self.is_soon_denied(batch, times, state, course, decided) {
                    continue;
                }
                if course.index == times.len() {
                    return;
                }
            }
            let from = course.index;
            let rest = if A::QUEUES { &[] } else { &times[from..] };
            let admitted = self.algorithm.admit_first(state, rest);
            if admitted > 0 {
                course.accept(admitted as u32, &mut decided.runs);
                course.index += admitted;
                self.lasts(batch, course, decided, |attempt, begins| {
                    let until = self.algorithm.until_after(times[attempt]);
                    (until > begins).then_some(until)
                });
                continue;
            }
            let some = &times[from..times.len().min(from + most)];
            let denied = self.algorithm.decide_all(state, some, trail);
            if A::QUEUES {
                self.leaves(denied, some, trail, &mut decided.leaves);
            }
            self.runs(denied, some, trail, course, decided);
            course.index = from + some.len();
            let after = |attempt: usize| &trail[attempt - from];
            self.lasts(batch, course, decided, |n, begins| self.lasts_beyond(after(n), begins));
        }
    }

    /// Decides the first attempts after a stretch of denials one by one, up to the next that is denied, if that comes so
    /// soon.
    #[inline]
    fn is_soon_denied(
        &self,
        batch: &Batch,
        times: &[i64],
        state: &mut A::State,
        course: &mut Course,
        decided: &mut Decided,
    ) -> bool {
        for &at in times[course.index..].iter().take(SOON) {
            let now = Reading(at);
            match self.algorithm.pass(state, now) {
                Verdict::Deny => {
                    course.shut(at, self.told(state, now, 1));
                    course.index += 1;
                    self.lasts(batch, course, decided, |_, begins| {
                        self.lasts_beyond(state, begins)
                    });
                    return true;
                }
                _ if A::QUEUES => decided.leaves.push(self.algorithm.leave(state, now)),
                _ => {}
            }
            course.accept(1, &mut decided.runs);
            course.index += 1;
            self.lasts(batch, course, decided, |_, begins| self.lasts_beyond(state, begins));
        }
        false
    }

    /// Tells when those of some attempts leave the queue that were not denied.
    #[inline]
    fn leaves(&self, denied: u64, times: &[i64], trail: &[A::State], leaves: &mut Vec<i64>) {
        let all = times.iter().zip(trail);
        let all = all.map(|(&at, after)| self.algorithm.leave(after, Reading(at)));
        if denied == 0 {
            leaves.extend(all);
            return;
        }
        let mut passed = [0; MOST];
        let mut count = 0;
        for (n, leave) in all.enumerate() {
            passed[count & (MOST - 1)] = leave;
            count += usize::from(denied >> n & 1 == 0);
        }
        leaves.extend_from_slice(&passed[..count]);
    }

    /// Takes in which of some attempts were denied.
    #[inline]
    fn runs(
        &self,
        denied: u64,
        times: &[i64],
        trail: &[A::State],
        course: &mut Course,
        decided: &mut Decided,
    ) {
        let count = times.len() as u32;
        let mut at = 0;
        while at < count {
            let accepted = (denied >> at).trailing_zeros().min(count - at);
            if accepted > 0 {
                course.accept(accepted, &mut decided.runs);
                at += accepted;
                if at == count {
                    return;
                }
            }
            let refused = (!(denied >> at)).trailing_zeros().min(count - at);
            if course.run.denied == 0 {
                let first = times[at as usize];
                course.run.wait = self.told(&trail[at as usize], Reading(first), 1);
                (course.since, course.shut) = (first, course.run.wait);
            }
            course.refuse(refused);
            at += refused;
        }
    }

    /// Tells how long the states before the gaps up to the course's place last. `until_after` gives for an attempt, and
    /// the time when the gap after it begins, until when the state lasts, if that is later.
    #[inline]
    fn lasts(
        &self,
        batch: &Batch,
        course: &mut Course,
        decided: &mut Decided,
        until_after: impl Fn(usize, i64) -> Option<i64>,
    ) {
        while let Some(gap) = batch.gaps.get(course.gap)
            && (gap.attempt as usize) < course.index
        {
            let attempt = gap.attempt as usize;
            self.tell(batch, course, decided, |begins| until_after(attempt, begins));
        }
    }
}
