//! Histories of unit costs whose states are plain: how long these last is asked only before gaps.

use super::course::Course;
use super::{Batch, Decided, Gap, History, Lasting};
use crate::algorithm::{Algorithm, Keyed};
use crate::time::Reading;

impl<A: Algorithm> Keyed<A> {
    /// Decides a history, one attempt after the other.
    #[inline(always)]
    pub(super) fn plain(
        &self,
        batch: &Batch,
        history: &History,
        state: &mut A::State,
        course: &mut Course,
        decided: &mut Decided,
    ) {
        while course.index < history.end as usize {
            let end = batch.gaps[course.gap].attempt as usize + 1;
            self.stretch(&batch.times[..end], state, course, decided);
            self.tell(batch, course, decided, |begins| self.lasts_beyond(state, begins));
        }
    }

    /// Goes on to the next gap; `until` gives for the time when that at hand begins until when the state before it
    /// lasts, if that is later.
    #[inline]
    pub(super) fn tell(
        &self,
        batch: &Batch,
        course: &mut Course,
        decided: &mut Decided,
        until: impl Fn(i64) -> Option<i64>,
    ) {
        let Gap { attempt, after, .. } = batch.gaps[course.gap];
        let begins = batch.times[attempt as usize].saturating_add(after);
        if after < self.algorithm.lasts_at_most()
            && let Some(until) = until(begins)
        {
            decided.lasting.push(Lasting { gap: course.gap as u32, until });
        }
        course.gap += 1;
    }

    /// When a state may be forgotten, if that is after a time; `i64::MAX` for never.
    #[inline]
    pub(super) fn lasts_beyond(&self, state: &A::State, time: i64) -> Option<i64> {
        let lasts = !self.algorithm.is_neutral(state, Reading(time));
        lasts.then(|| self.algorithm.neutral_from(state).map_or(i64::MAX, |reading| reading.0))
    }
}
