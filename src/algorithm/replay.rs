//! Histories of keys decided in bulk: a batch of them at a time, with the state in registers and one dynamic call a
//! batch.
//!
//! Between a denial that writes nothing and the end of the wait it tells, an attempt of the same cost is denied
//! ([`Algorithm`]'s contract says exactly when it would not be). So a stretch of denials of unit cost is as long as
//! the times in it say, and nothing is decided anew.

mod course;
mod flat;
mod plain;

pub use course::Course;

use super::{Algorithm, Footprint, Keyed, Verdict, Wait};
use crate::time::{Reading, Span};

/// Attempts of some keys: of each in time order, one key after the other. Clocks are exact: an attempt is decided by
/// its instant.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// When each is made, in nanoseconds since 1970.
    pub times: &'a [i64],
    /// What each costs; `None` where all cost 1.
    pub costs: Option<&'a [u32]>,
    /// The same attempts by keys and, of each, by bins of the run's timeline.
    pub segments: &'a [Segment],
    /// Where keys make no attempts for some bins: at least after the last attempt of each history.
    pub gaps: &'a [Gap],
    /// The same attempts by keys.
    pub histories: &'a [History],
    /// Whether every segment shall have its mark, even where states are plain.
    pub marked: bool,
}

/// Attempts of one key within one bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The bin.
    pub bin: u32,
    /// Where they end among the attempts of the batch.
    pub end: u32,
}

/// Bins in which a key makes no attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The position in the batch of the last attempt before them.
    pub attempt: u32,
    /// The first of them, if there are any ...
    pub from: u32,
    /// ... and the first after them: the end of the run after the key's last attempt, as far as the batch tells.
    pub to: u32,
    /// How long after the attempt they begin, in nanoseconds.
    pub after: i64,
}

/// A state that lasts into a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lasting {
    /// The position of the gap in the batch.
    pub gap: u32,
    /// When the state before it may be forgotten; `i64::MAX` for never.
    pub until: i64,
}

/// Attempts of one key: at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// The number of the key.
    pub key: u32,
    /// Whether these are its first attempts.
    pub starts: bool,
    /// Where they end among the attempts of the batch.
    pub end: u32,
    /// Where their segments end among those of the batch.
    pub segments_end: u32,
}

/// What was decided on a batch, and what the states took. The lists are in the order of the batch.
#[derive(Debug, Default)]
pub struct Decided {
    /// By history, what became of it.
    pub outcomes: Vec<Outcome>,
    /// What became of the attempts of those histories of which any was denied.
    pub runs: Vec<Run>,
    /// When each of those let through leaves the queue (or left at once), where there is one.
    pub leaves: Vec<i64>,
    /// What is kept of keys after each segment, unless states are plain ...
    pub marks: Vec<Mark>,
    /// ... as where every attempt leaves a state that takes the same, which is told of only where it matters.
    pub plain: bool,
    /// Where states are plain, those that last into gaps.
    pub lasting: Vec<Lasting>,
    /// What a state takes that is plain.
    pub footprint: Footprint,
}

/// What became of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Where its runs end; it has none if nothing was denied.
    pub runs_end: u32,
    /// How many attempts were denied.
    pub denied: u32,
}

/// So many attempts let through, then so many denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Run {
    /// Let through.
    pub accepted: u32,
    /// Denied.
    pub denied: u32,
    /// What the first of the denied was told to wait, in nanoseconds; each after it so much less as it comes later.
    /// [`Run::NEVER`] for all.
    pub wait: u64,
}

impl Run {
    /// Stands for the wait of what never passes.
    pub const NEVER: u64 = u64::MAX;
}

/// What is kept of a key after the attempts of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The most that was kept after any attempt of the segment; `None` if nothing was.
    pub most: Option<Footprint>,
    /// What the state takes after the last.
    pub now: Footprint,
    /// When it may be forgotten; `i64::MAX` for never.
    pub until: i64,
}

impl<A: Algorithm> Keyed<A> {
    /// Decides a batch; a history that does not start goes on from the state left by the last batch.
    pub(super) fn decide(&mut self, batch: &Batch, decided: &mut Decided) {
        decided.outcomes.clear();
        decided.runs.clear();
        decided.leaves.clear();
        decided.marks.clear();
        decided.lasting.clear();
        decided.plain = false;
        let Some(&first) = batch.times.first() else { return };
        match (batch.costs, self.tick) {
            (None, 1) => {
                decided.footprint =
                    self.algorithm.footprint(&self.algorithm.fresh(), Reading(first));
                decided.plain = !A::GROWS && !batch.marked && self.holds(Reading(first));
                match decided.plain {
                    true => self.each::<true, true>(batch, |_| 1, decided),
                    false => self.each::<true, false>(batch, |_| 1, decided),
                }
            }
            (None, _) => self.each::<false, false>(batch, |_| 1, decided),
            (Some(costs), _) => self.each::<false, false>(batch, |index| costs[index], decided),
        }
    }

    /// Whether an attempt of unit cost leaves a state that is kept, even if it is the first and is denied.
    fn holds(&self, now: Reading) -> bool {
        let mut state = self.algorithm.fresh();
        match self.algorithm.check(&state, now, 1) {
            Verdict::Deny => self.algorithm.deny(&mut state, now, 1),
            _ => self.algorithm.charge(&mut state, now, 1),
        }
        self.algorithm.neutral_from(&state).is_none_or(|until| until > now)
    }

    /// `EVEN` if all costs are 1 and readings are instants: denials then come in stretches. `PLAIN` if states are.
    fn each<const EVEN: bool, const PLAIN: bool>(
        &mut self,
        batch: &Batch,
        cost: impl Fn(usize) -> u32,
        decided: &mut Decided,
    ) {
        let mut state = self.states.pop().unwrap_or_else(|| self.algorithm.fresh());
        let mut trail = std::mem::take(&mut self.trail);
        if PLAIN && self.algorithm.is_flat() {
            trail.resize(flat::MOST, state.clone());
        }
        let (mut index, mut segment, mut gap) = (0, 0, 0);
        decided.outcomes.reserve(batch.histories.len());
        for history in batch.histories {
            if history.starts {
                state = self.algorithm.fresh_of(history.key as usize, self.draws);
            }
            let mut course = Course { index, segment, gap, ..Course::default() };
            if PLAIN && !trail.is_empty() {
                self.flat(batch, history, &mut state, &mut trail, &mut course, decided);
            } else if PLAIN {
                self.plain(batch, history, &mut state, &mut course, decided);
            } else if !EVEN
                || !self.algorithm.decide_history(&mut state, batch, history, &mut course, decided)
            {
                self.marked::<EVEN>(batch, history, &cost, &mut state, &mut course, decided);
            }
            if course.denied > 0 {
                decided.runs.push(course.run);
            }
            let runs_end = decided.runs.len() as u32;
            decided.outcomes.push(Outcome { runs_end, denied: course.denied });
            (index, segment) = (history.end as usize, history.segments_end as usize);
            gap = course.gap;
        }
        self.states.push(state);
        self.trail = trail;
    }

    /// Decides the attempts of unit cost from the course's place to the end of `times`.
    #[inline(always)]
    fn stretch(
        &self,
        times: &[i64],
        state: &mut A::State,
        course: &mut Course,
        decided: &mut Decided,
    ) {
        loop {
            // Those of the stretch of denials at hand ...
            let first = course.index;
            while course.index < times.len()
                && (times[course.index].wrapping_sub(course.since) as u64) < course.shut
            {
                course.index += 1;
            }
            course.refuse((course.index - first) as u32);
            // ... then what passes ...
            let first = course.index;
            let mut denial = None;
            for (index, &at) in times.iter().enumerate().skip(first) {
                let now = Reading(at);
                match self.algorithm.pass(state, now) {
                    Verdict::Deny => {
                        denial = Some((index, now));
                        break;
                    }
                    Verdict::Admit if A::QUEUES => decided.leaves.push(at),
                    Verdict::Admit => {}
                    Verdict::Queue(span) => decided.leaves.push(at.saturating_add(span.signed())),
                }
            }
            let next = denial.map_or(times.len(), |(index, _)| index);
            let passed = (next - first) as u32;
            if passed > 0 {
                course.accept(passed, &mut decided.runs);
            }
            course.index = next;
            // ... and the denial that ends it.
            let Some((_, now)) = denial else { return };
            self.deny(now, 1, true, state, course, decided);
            course.index += 1;
        }
    }

    /// What an attempt that is denied is told to wait, as runs tell it.
    #[inline]
    fn told(&self, state: &A::State, now: Reading, cost: u32) -> u64 {
        match self.waits(state, now, cost) {
            Wait::After(span) => span.nanos(),
            Wait::Never => Run::NEVER,
        }
    }

    /// An attempt is denied; a stretch of denials begins with it if it `lasts` and they write nothing.
    #[inline]
    fn deny(
        &self,
        now: Reading,
        cost: u32,
        lasts: bool,
        state: &mut A::State,
        course: &mut Course,
        decided: &mut Decided,
    ) {
        self.algorithm.deny(state, now, cost);
        if course.run.denied > 0 {
            decided.runs.push(std::mem::take(&mut course.run));
        }
        course.run.denied = 1;
        course.run.wait = self.told(state, now, cost);
        course.denied += 1;
        let lasts = lasts && !self.algorithm.denial_writes(state);
        (course.since, course.shut) = (now.0, if lasts { course.run.wait } else { 0 });
    }

    /// Any history: what is kept is looked at after every attempt, unless the state itself tells the most.
    #[inline(always)]
    fn marked<const EVEN: bool>(
        &self,
        batch: &Batch,
        history: &History,
        cost: &impl Fn(usize) -> u32,
        state: &mut A::State,
        course: &mut Course,
        decided: &mut Decided,
    ) {
        let times = batch.times;
        while course.segment < history.segments_end as usize {
            let end = batch.segments[course.segment].end as usize;
            let mut most: Option<Footprint> = None;
            if EVEN && A::TELLS_MOST {
                let before = course.denied;
                self.stretch(&times[..end], state, course, decided);
                most = self.algorithm.most(state, course.denied > before);
            } else {
                while course.index < end {
                    let at = times[course.index];
                    if EVEN && (at.wrapping_sub(course.since) as u64) < course.shut {
                        course.refuse(1);
                    } else {
                        self.one::<EVEN>(at, cost(course.index), state, course, decided);
                    }
                    course.index += 1;
                    most = self.larger(most, state, Reading(at));
                }
            }
            let now = self.algorithm.footprint(state, self.cut(Reading(times[end - 1])));
            let until = self.neutral(state).map_or(i64::MAX, |reading| reading.0);
            decided.marks.push(Mark { most, now, until });
            course.segment += 1;
        }
    }

    /// One attempt.
    #[inline]
    fn one<const EVEN: bool>(
        &self,
        at: i64,
        cost: u32,
        state: &mut A::State,
        course: &mut Course,
        decided: &mut Decided,
    ) {
        let now = self.cut(Reading(at));
        let verdict = self.checked(state, now, cost);
        if verdict == Verdict::Deny {
            self.deny(now, cost, EVEN, state, course, decided);
            // Readings may be cut down, but spans are told from the instant.
            course.since = at;
            return;
        }
        self.algorithm.charge(state, now, cost);
        course.accept(1, &mut decided.runs);
        if A::QUEUES {
            let span = match verdict {
                Verdict::Queue(span) => span,
                _ => Span::ZERO,
            };
            decided.leaves.push(at.saturating_add(span.signed()));
        }
    }

    /// The larger of what was kept before and what is kept after an attempt, if that is kept at all.
    #[inline]
    fn larger(&self, most: Option<Footprint>, state: &A::State, at: Reading) -> Option<Footprint> {
        if self.neutral(state).is_some_and(|until| until <= at) {
            return most;
        }
        let now = self.algorithm.footprint(state, self.cut(at));
        Some(most.map_or(now, |most| Footprint {
            entries: most.entries.max(now.entries),
            bytes: most.bytes.max(now.bytes),
        }))
    }
}
