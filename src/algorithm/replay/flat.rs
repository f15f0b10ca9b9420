//! Histories of unit costs whose states are plain, decided many attempts at once ([`Algorithm::decide_all`]): what the
//! decisions look like in the end is read from bits, and how long states last beyond their attempts from states.

use super::course::Course;
use super::{Batch, Decided, History};
use crate::algorithm::{Algorithm, Keyed};
use crate::time::Reading;

/// So many attempts are decided at once, at most ...
pub(super) const MOST: usize = 64;

/// ... and so many after a stretch of denials at least as long, since the next is soon come to.
const FEW: usize = 16;

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
                self.lasts(batch, course, decided, |_| self.until(state));
                most = if refused >= FEW { FEW } else { MOST };
                if course.index == times.len() {
                    return;
                }
            }
            let from = course.index;
            let admitted = self.algorithm.admit_first(state, &times[from..]);
            if admitted > 0 {
                course.accept(admitted as u32, &mut decided.runs);
                course.index += admitted;
                let until = |attempt: usize| self.algorithm.until_after(times[attempt]);
                self.lasts(batch, course, decided, until);
                continue;
            }
            let some = &times[from..times.len().min(from + most)];
            let denied = self.algorithm.decide_all(state, some, trail);
            if A::QUEUES && denied == 0 {
                let all = some.iter().zip(&*trail);
                let leave = all.map(|(&at, after)| self.algorithm.leave(after, Reading(at)));
                decided.leaves.extend(leave);
            } else if A::QUEUES {
                let mut leaves = [0; MOST];
                let mut count = 0;
                for (n, &at) in some.iter().enumerate() {
                    leaves[count & (MOST - 1)] = self.algorithm.leave(&trail[n], Reading(at));
                    count += usize::from(denied >> n & 1 == 0);
                }
                decided.leaves.extend_from_slice(&leaves[..count]);
            }
            self.runs(denied, some, trail, course, decided);
            course.index = from + some.len();
            self.lasts(batch, course, decided, |attempt| self.until(&trail[attempt - from]));
        }
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

    /// Tells how long the states before the gaps up to the course's place last: until when after an attempt.
    #[inline]
    fn lasts(
        &self,
        batch: &Batch,
        course: &mut Course,
        decided: &mut Decided,
        until_after: impl Fn(usize) -> i64,
    ) {
        let most = self.algorithm.lasts_at_most();
        while let Some(gap) = batch.gaps.get(course.gap)
            && (gap.attempt as usize) < course.index
        {
            if gap.after < most {
                decided.lasts(batch, course.gap, until_after(gap.attempt as usize));
            }
            course.gap += 1;
        }
    }
}
