//! The judge of one set of algorithms, which have decided the same on the key at hand.

use super::cursor::Cursor;
use super::findings::Findings;
use super::heights::Heights;
use super::lockout::Lockout;
use super::queue::{Left, Waiting, ascend};
use super::windows::{Costing, Windows};
use super::{At, Bins, Place};
use crate::algorithm::{Batch, Decided, Run, Segment};
use crate::judge::{Met, Peak};
use crate::rate::Limit;
use crate::time::{Span, Window};

/// Judges algorithms that decide alike.
pub(super) struct One {
    /// The positions of the algorithms, in order.
    pub set: Vec<usize>,
    /// The end of the run.
    end: i64,
    queues: bool,
    findings: Findings,
    heights: Heights,
    windows: Windows,
    key: Key,
    waiting: Waiting,
    /// Segments of departures; kept to reuse their memory.
    segments: Vec<Segment>,
}

/// What one key has met with so far.
#[derive(Clone, Default)]
struct Key {
    accepted: u64,
    rejected: u64,
    over_limit: u64,
    lockout: Lockout,
}

impl One {
    /// The judge of a set of which either none queues, or the only one does.
    pub fn new(set: Vec<usize>, bins: &Bins, window: Window, units: bool, queues: bool) -> One {
        One {
            set,
            end: window.end.0,
            queues,
            findings: Findings::new(bins),
            heights: Heights::new(bins),
            windows: Windows::new(units),
            key: Key::default(),
            waiting: Waiting::default(),
            segments: Vec::new(),
        }
    }

    /// How high windows rose.
    pub fn heights(&self) -> &Heights {
        &self.heights
    }

    /// Every bin is known to be as high as this anyhow.
    pub fn raise_to(&mut self, levels: impl Iterator<Item = u64>) {
        self.heights.raise_to(levels);
    }

    /// The history of another key follows, to which this was promised.
    pub fn begin(&mut self, promise: Limit) {
        self.key = Key::default();
        self.windows.begin(promise);
        self.waiting.clear();
    }

    /// Goes on with the key of another, whose algorithms have decided the same so far; none of them queues.
    pub fn take_over(&mut self, other: &One) {
        self.key = other.key.clone();
        self.windows.copy(&other.windows);
    }

    /// Takes in a history of a batch, of which an algorithm of the set has these runs.
    pub fn judge(
        &mut self,
        bins: &Bins,
        batch: &Batch,
        place: &Place,
        decided: &Decided,
        cursor: &Cursor,
    ) {
        if self.queues && cursor.runs.is_empty() && batch.costs.is_none() {
            let times = &batch.times[place.from..place.to];
            let leave = &decided.leaves[cursor.leaves..][..times.len()];
            self.let_through(bins, times, leave);
            self.key.over_limit += self.windows.settle(bins, &mut self.heights);
            return;
        }
        let all = [Run { accepted: (place.to - place.from) as u32, ..Run::default() }];
        let runs = match cursor.runs.is_empty() {
            true => &all,
            false => &decided.runs[cursor.runs.clone()],
        };
        let mut at = place.start();
        let mut leaves = cursor.leaves;
        for run in runs {
            if run.accepted > 0 {
                let next = leaves + run.accepted as usize;
                let leave = if self.queues { &decided.leaves[leaves..next] } else { &[] };
                leaves = next;
                self.accept(bins, batch, run.accepted as usize, leave, &mut at);
            }
            if run.denied > 0 {
                self.deny(bins, batch, run, &mut at);
            }
        }
        self.key.over_limit += self.windows.settle(bins, &mut self.heights);
    }

    /// The key's history is over: what it met with.
    pub fn end(&mut self, bins: &Bins) -> (Met, Option<Peak>) {
        if self.queues {
            self.leave_before(bins, self.end);
            self.key.over_limit += self.windows.settle(bins, &mut self.heights);
            self.findings.pending += self.waiting.len() as u64;
        }
        self.windows.end(bins, &mut self.heights);
        let Key { accepted, rejected, over_limit, lockout } = &self.key;
        let peak = self.windows.peak();
        let met = Met {
            accepted: *accepted,
            rejected: *rejected,
            over_limit: *over_limit,
            peak: peak.map_or(0, |peak| peak.cost),
            longest_lockout: Span::from_nanos(lockout.longest() as u64),
        };
        (met, peak)
    }

    /// The set, and all that was found.
    pub fn finish(self) -> (Vec<usize>, Findings) {
        let One { set, mut findings, heights, .. } = self;
        for (bin, over) in findings.bins.iter_mut().zip(heights.over) {
            bin.over_limit = over;
        }
        findings.highest = heights.highest;
        (set, findings)
    }

    /// So many attempts from a place on are let through, and leave the queue, if there is one, at these times.
    #[inline]
    fn accept(&mut self, bins: &Bins, batch: &Batch, count: usize, leave: &[i64], at: &mut At) {
        let to = at.index + count;
        let times = &batch.times[at.index..to];
        let costs = batch.costs.map(|costs| &costs[at.index..to]);
        if self.queues {
            self.waiting.join(times, costs, leave);
            if self.waiting.is_long() {
                self.leave_before(bins, times[count - 1]);
            }
        } else {
            let Self { windows, heights, key, .. } = self;
            match windows {
                Windows::Lag(lag) => lag.accept(times),
                Windows::Sums(sums) => {
                    let segments = at.segments(batch);
                    let accepted = (times, costs);
                    key.over_limit += sums.accept(bins, accepted, at.index, segments, heights);
                }
            }
            key.lockout.accept(times[0]);
            key.accepted += count as u64;
        }
        at.index = to;
    }

    /// The attempts of a run that were denied, from a place on.
    #[inline]
    fn deny(&mut self, bins: &Bins, batch: &Batch, run: &Run, at: &mut At) {
        let first = at.index;
        let to = first + run.denied as usize;
        let times = &batch.times[first..to];
        let opens = match run.wait {
            Run::NEVER => i64::MAX,
            wait => times[0].saturating_add(wait as i64),
        };
        self.key.rejected += u64::from(run.denied);
        if !self.queues {
            self.key.lockout.reject(times[0], times[times.len() - 1], opens);
            if let Windows::Lag(lag) = &self.windows {
                self.findings.needless += lag.with_room(times);
                at.index = to;
                return;
            }
        }
        at.each(batch, to, |bin, range| {
            let costs = batch.costs.map(|costs| &costs[range.clone()]);
            let rejected = (&batch.times[range], costs);
            let Self { windows, heights, .. } = self;
            self.findings.needless += match self.queues {
                true => self.refuse_amid_departures(bins, rejected, bin, opens),
                false => windows.with_room(bins, rejected, bin, heights),
            };
        });
    }

    /// How many of some rejected attempts would have had room, where others leave the queue in between, which ends a
    /// lockout; who leaves at an instant has left by then.
    fn refuse_amid_departures(
        &mut self,
        bins: &Bins,
        (times, costs): Costing,
        bin: usize,
        opens: i64,
    ) -> u64 {
        let mut with_room = 0;
        let mut from = 0;
        while from < times.len() {
            self.leave_before(bins, times[from].saturating_add(1));
            let next = self.waiting.next().unwrap_or(i64::MAX);
            let to = from + times[from..].iter().take_while(|&&at| at < next).count();
            let some = (&times[from..to], costs.map(|costs| &costs[from..to]));
            self.key.lockout.reject(some.0[0], some.0[some.0.len() - 1], opens);
            with_room += self.windows.with_room(bins, some, bin, &mut self.heights);
            from = to;
        }
        with_room
    }

    /// Attempts of unit cost are let through, and leave the queue at these times. Nobody is denied in between, so where
    /// nobody waits any more, those who leave before the last of them need not join.
    fn let_through(&mut self, bins: &Bins, times: &[i64], leave: &[i64]) {
        // Who joins later leaves no earlier than it joins, but by a clock of low resolution it may leave before who
        // still waits.
        self.leave_before(bins, times[0]);
        let last = times[times.len() - 1];
        let mut gone = 0;
        if self.waiting.len() == 0 && ascend(leave) {
            gone = leave.partition_point(|&at| at < last);
            self.left(bins, (&leave[..gone], &times[..gone], None));
        }
        self.waiting.join(&times[gone..], None, &leave[gone..]);
        if self.waiting.is_long() {
            self.leave_before(bins, last);
        }
    }

    /// Lets leave the queue whoever's time comes before `end`.
    #[inline]
    fn leave_before(&mut self, bins: &Bins, end: i64) {
        if self.waiting.next().is_some_and(|next| next < end) {
            let mut waiting = std::mem::take(&mut self.waiting);
            if let Some(left) = waiting.leave_before(end) {
                self.left(bins, left);
            }
            self.waiting = waiting;
        }
    }

    /// These have left the queue.
    fn left(&mut self, bins: &Bins, (leave, joined, costs): Left) {
        let Some(&first) = leave.first() else { return };
        let Self { findings, segments, windows, heights, key, .. } = self;
        findings.queue_waits.record_between(joined, leave);
        segments.clear();
        bins.cut(leave, 0, segments);
        let mut from = 0;
        for segment in segments.iter() {
            findings.bins[segment.bin as usize].accepted += u64::from(segment.end - from);
            from = segment.end;
        }
        key.over_limit += windows.accept(bins, (leave, costs), 0, segments, heights);
        key.lockout.accept(first);
        key.accepted += leave.len() as u64;
    }
}
