//! The judge of one algorithm among others.

use super::findings::Findings;
use super::heights::Heights;
use super::keeping::Keeping;
use super::lockout::Lockout;
use super::offer::Offer;
use super::queue::Waiting;
use super::windows::{Costing, Windows};
use super::{Bins, Place};
use crate::algorithm::{Batch, Decided, Run, Segment};
use crate::judge::{Met, Peak};
use crate::rate::Limit;
use crate::time::{Span, Window};

/// Judges one algorithm.
pub(super) struct One {
    /// The end of the run.
    end: i64,
    queues: bool,
    findings: Findings,
    heights: Heights,
    keeping: Keeping,
    windows: Windows,
    key: Key,
    waiting: Waiting,
    /// Segments of departures; kept to reuse their memory.
    segments: Vec<Segment>,
    /// Where the marks, runs and departures of the next history of the batch begin.
    marks: usize,
    runs: usize,
    leaves: usize,
}

/// What one key has met with so far.
#[derive(Default)]
struct Key {
    /// Whether nothing was denied to it, so that the judge of all knows what it met with.
    with_all: bool,
    accepted: u64,
    rejected: u64,
    over_limit: u64,
    lockout: Lockout,
}

impl One {
    pub fn new(bins: &Bins, window: Window, units: bool, queues: bool) -> One {
        One {
            end: window.end.0,
            queues,
            findings: Findings::new(bins),
            heights: Heights::new(bins),
            keeping: Keeping::new(bins),
            windows: Windows::new(units),
            key: Key::default(),
            waiting: Waiting::default(),
            segments: Vec::new(),
            marks: 0,
            runs: 0,
            leaves: 0,
        }
    }

    pub fn begin_batch(&mut self) {
        self.heights.settle();
        (self.marks, self.runs, self.leaves) = (0, 0, 0);
    }

    /// The history of another key follows, to which this was promised.
    pub fn begin(&mut self, promise: Limit) {
        self.key = Key { with_all: true, ..Key::default() };
        self.windows.begin(promise);
        self.keeping.begin();
        self.waiting.clear();
    }

    /// Whether it is judged with all others that have denied nothing to the key: from the first denial on it is not.
    pub fn goes_with_all(&mut self, denied: u32, offer: &Offer) -> bool {
        let Some(lag) = offer.lag().filter(|_| !self.queues) else {
            self.key.with_all = false;
            return false;
        };
        if self.key.with_all && denied > 0 {
            self.key.with_all = false;
            (self.key.accepted, self.key.over_limit) = offer.counts();
            if let Windows::Lag(own) = &mut self.windows {
                own.copy(lag);
            }
        }
        self.key.with_all
    }

    /// Takes in what is kept of a key that is otherwise judged with all.
    pub fn keep_with_all(&mut self, bins: &Bins, batch: &Batch, place: &Place, decided: &Decided) {
        self.marks = self.keeping.keep(bins, batch, place, decided, self.marks);
    }

    /// Takes in a history of a batch.
    pub fn judge(
        &mut self,
        bins: &Bins,
        batch: &Batch,
        place: &Place,
        decided: &Decided,
        number: usize,
    ) {
        self.marks = self.keeping.keep(bins, batch, place, decided, self.marks);
        let outcome = decided.outcomes[number];
        let runs = self.runs..outcome.runs_end as usize;
        self.runs = runs.end;
        let all = Run { accepted: (place.to - place.from) as u32, ..Run::default() };
        let runs = match outcome.denied {
            0 => std::slice::from_ref(&all),
            _ => &decided.runs[runs],
        };
        let mut at = At { index: place.from, segment: place.segment };
        for run in runs {
            if run.accepted > 0 {
                self.accept(bins, batch, run.accepted as usize, decided, &mut at);
            }
            if run.denied > 0 {
                self.deny(bins, batch, run, &mut at);
            }
        }
    }

    /// The key's history is over: what it met with.
    pub fn end(&mut self, bins: &Bins, offer: &Offer) -> (Met, Option<Peak>) {
        self.keeping.end(bins);
        let Key { with_all, lockout, .. } = &self.key;
        if *with_all {
            let (accepted, over_limit) = offer.counts();
            let peak = offer.peak();
            let cost = peak.map_or(0, |peak| peak.cost);
            let met = Met { accepted, over_limit, peak: cost, ..Met::default() };
            return (met, peak);
        }
        let longest_lockout = lockout.longest();
        if self.queues {
            self.leave_before(bins, self.end);
            self.findings.pending += self.waiting.len() as u64;
        }
        self.windows.end(bins, &mut self.heights);
        let Key { accepted, rejected, over_limit, .. } = self.key;
        let longest_lockout = match self.queues {
            true => self.key.lockout.longest(),
            false => longest_lockout,
        };
        let peak = self.windows.peak();
        let met = Met {
            accepted,
            rejected,
            over_limit,
            peak: peak.map_or(0, |peak| peak.cost),
            longest_lockout: Span::from_nanos(longest_lockout as u64),
        };
        (met, peak)
    }

    /// All that was found, with what was found for keys judged with all.
    pub fn finish<'a>(
        self,
        offered: &[u64],
        asked: &[u64],
        shared: impl Iterator<Item = &'a Heights>,
    ) -> Findings {
        let One { mut findings, mut heights, keeping, queues, .. } = self;
        shared.for_each(|others| heights.merge(others));
        if !queues {
            // Whoever does not queue is let through where it asks, or denied.
            for (bin, offered) in findings.bins.iter_mut().zip(offered) {
                bin.accepted = offered - bin.rejected;
            }
        }
        for (bin, over) in findings.bins.iter_mut().zip(heights.over) {
            bin.over_limit = over;
        }
        findings.highest = heights.highest;
        findings.kept = keeping.finish(asked);
        findings
    }

    /// So many attempts from a place on are let through.
    fn accept(&mut self, bins: &Bins, batch: &Batch, count: usize, decided: &Decided, at: &mut At) {
        let to = at.index + count;
        let times = &batch.times[at.index..to];
        let costs = batch.costs.map(|costs| &costs[at.index..to]);
        if self.queues {
            let leaves = self.leaves..self.leaves + count;
            self.leaves = leaves.end;
            self.waiting.join(times, costs, &decided.leaves[leaves]);
            if self.waiting.is_long() {
                self.leave_before(bins, times[count - 1]);
            }
        } else {
            let segments = &batch.segments[at.segment..];
            let Self { windows, heights, key, .. } = self;
            key.over_limit += windows.accept(bins, (times, costs), at.index, segments, heights);
            key.lockout.accept(times[0]);
            key.accepted += count as u64;
        }
        at.skip(batch, to);
    }

    /// The attempts of a run that were denied, from a place on.
    fn deny(&mut self, bins: &Bins, batch: &Batch, run: &Run, at: &mut At) {
        let first = at.index;
        let to = first + run.denied as usize;
        let times = &batch.times[first..to];
        self.findings.denials(run.wait, times);
        let opens = match run.wait {
            Run::NEVER => i64::MAX,
            wait => times[0].saturating_add(wait as i64),
        };
        self.key.rejected += u64::from(run.denied);
        if !self.queues {
            self.key.lockout.reject(times[0], times[times.len() - 1], opens);
        }
        at.each(batch, to, |bin, range| {
            self.findings.bins[bin].rejected += range.len() as u64;
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

    /// Lets leave the queue whoever's time comes before `end`.
    fn leave_before(&mut self, bins: &Bins, end: i64) {
        let Self { waiting, findings, segments, windows, heights, key, .. } = self;
        let Some((leave, spans, costs)) = waiting.leave_before(end) else { return };
        findings.queue_waits.record_all(spans);
        segments.clear();
        bins.cut(leave, 0, segments);
        let mut from = 0;
        for segment in segments.iter() {
            findings.bins[segment.bin as usize].accepted += u64::from(segment.end - from);
            from = segment.end;
        }
        key.over_limit += windows.accept(bins, (leave, costs), 0, segments, heights);
        key.lockout.accept(leave[0]);
        key.accepted += leave.len() as u64;
    }
}

/// How far a history was taken in.
struct At {
    index: usize,
    segment: usize,
}

impl At {
    /// Goes on to `to`, bin by bin.
    #[inline]
    fn each(
        &mut self,
        batch: &Batch,
        to: usize,
        mut each: impl FnMut(usize, std::ops::Range<usize>),
    ) {
        while self.index < to {
            let segment = batch.segments[self.segment];
            let end = (segment.end as usize).min(to);
            each(segment.bin as usize, self.index..end);
            self.index = end;
            self.segment += usize::from(end == segment.end as usize);
        }
    }

    fn skip(&mut self, batch: &Batch, to: usize) {
        while self.index < to {
            let end = batch.segments[self.segment].end as usize;
            self.index = end.min(to);
            self.segment += usize::from(end <= to);
        }
    }
}
