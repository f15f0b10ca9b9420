//! What the states of keys take, bin by bin, where each key is told of as a whole: sums over keys of what each kept at
//! most in each bin.

use super::Bins;
use crate::algorithm::{Batch, Decided, Footprint, Gap, History, Lasting, Mark};

/// How many keys there are, their entries and bytes; the last is not used, but four are added as quickly as two.
type Sum = [u64; 4];

/// The states kept, and that of the key at hand.
pub(super) struct Keeping {
    /// Sums by bin of what was kept at most in those in which keys ask: how many there were, entries and bytes ...
    sums: Vec<Sum>,
    /// ... and differences between bins, modulo 2^64, of the sums of what was kept in others.
    steps: Vec<Sum>,
    held: Held,
    /// What every attempt's state takes, where that is plain.
    plain: Option<Footprint>,
    /// Then, differences between bins, modulo 2^64, of how many last into gaps ...
    lasting: Vec<u64>,
    /// ... and the gap after the last attempt, which may turn out not to be one, with how long the state before it
    /// lasts, if it lasts into it.
    last: Option<(Gap, i64)>,
}

/// What is kept of the key at hand.
#[derive(Clone, Copy)]
struct Held {
    /// The bin of its last attempt; `usize::MAX` before the first.
    bin: usize,
    /// What was kept at most in that bin; zeros if nothing was.
    most: Sum,
    /// What its state takes since, and until when.
    now: Footprint,
    until: i64,
}

impl Held {
    const NOTHING: Held = Held {
        bin: usize::MAX,
        most: [0; 4],
        now: Footprint { entries: 0, bytes: 0 },
        until: i64::MIN,
    };
}

impl Keeping {
    pub fn new(bins: &Bins) -> Keeping {
        Keeping {
            sums: vec![[0; 4]; bins.count],
            steps: vec![[0; 4]; bins.count + 1],
            held: Held::NOTHING,
            plain: None,
            lasting: vec![0; bins.count + 1],
            last: None,
        }
    }

    /// Takes in what is kept after the attempts of a batch.
    pub fn keep(&mut self, bins: &Bins, batch: &Batch, decided: &Decided) {
        match decided.plain {
            true => self.keep_plain(bins, batch, decided),
            false => self.keep_marked(bins, batch, decided),
        }
    }

    /// Every attempt leaves the same, so only what lasts into gaps needs to be added.
    fn keep_plain(&mut self, bins: &Bins, batch: &Batch, decided: &Decided) {
        self.plain = Some(decided.footprint);
        if let ([History { starts: false, .. }, ..], [next, ..]) = (batch.histories, batch.segments)
            && let Some((gap, until)) = self.last
        {
            // The gap before the batch ends where the key asks again.
            let before = bins.first_from(until, gap.to as usize).max(gap.from as usize);
            let now = bins.first_from(until, next.bin as usize).max(gap.from as usize);
            step(&mut self.lasting, before, now);
        }
        for &Lasting { gap, until } in &decided.lasting {
            let gap = &batch.gaps[gap as usize];
            let from = gap.from as usize;
            let end = bins.first_from(until, gap.to as usize).max(from);
            step(&mut self.lasting, from, end);
        }
        let last = decided.lasting.last().filter(|last| last.gap as usize + 1 == batch.gaps.len());
        self.last = last.zip(batch.gaps.last()).map(|(last, gap)| (*gap, last.until));
    }

    fn keep_marked(&mut self, bins: &Bins, batch: &Batch, decided: &Decided) {
        let mut held = self.held;
        let (mut from, mut segment) = (0, 0);
        for history in batch.histories {
            if history.starts {
                self.leave(&held, bins.first_from(held.until, bins.count));
                held = Held::NOTHING;
            }
            let range = segment..history.segments_end as usize;
            segment = range.end;
            let segments = &batch.segments[range.clone()];
            for (mark, segment) in decided.marks[range].iter().zip(segments) {
                let at = batch.times[from];
                from = segment.end as usize;
                held = self.next(bins, &held, mark, segment.bin as usize, at);
            }
        }
        self.held = held;
    }

    /// What is held after a mark in a bin, in which the key first asks at `at`.
    #[inline]
    fn next(&mut self, bins: &Bins, held: &Held, mark: &Mark, bin: usize, at: i64) -> Held {
        let before = if held.bin == bin {
            held.most
        } else {
            self.leave(held, bins.first_from(held.until, bin));
            let lasts = bins.start(bin) < held.until.min(at);
            sum(held.now).map(|amount| if lasts { amount } else { 0 })
        };
        let most = mark.most.map_or([0; 4], sum);
        let most = std::array::from_fn(|n| before[n].max(most[n]));
        Held { bin, most, now: mark.now, until: mark.until }
    }

    /// What all keys took, by bin: how many there were, their entries and bytes. `asked` tells how many keys asked.
    pub fn finish(mut self, bins: &Bins, asked: &[u64]) -> Vec<[u64; 3]> {
        if let Some(Footprint { entries, bytes }) = self.plain {
            let mut lasting = 0_u64;
            let keys = asked.iter().zip(&self.lasting).map(|(asked, step)| {
                lasting = lasting.wrapping_add(*step);
                asked + lasting
            });
            return keys.map(|keys| [keys, keys * entries, keys * bytes]).collect();
        }
        let held = self.held;
        self.leave(&held, bins.first_from(held.until, bins.count));
        let mut lasting = [0; 4];
        let all = self.sums.into_iter().zip(&self.steps).map(|(mut sum, step)| {
            add(&mut lasting, *step);
            add(&mut sum, lasting);
            let [keys, entries, bytes, _] = sum;
            [keys, entries, bytes]
        });
        all.collect()
    }

    /// Books what was kept of a key in the bin of its last attempt and in those after it, before `end`.
    #[inline]
    fn leave(&mut self, held: &Held, end: usize) {
        let Held { bin, most, now, .. } = *held;
        if bin == usize::MAX {
            return;
        }
        add(&mut self.sums[bin], most);
        // Where there are none after it, this takes what it adds.
        let now = sum(now);
        add(&mut self.steps[bin + 1], now);
        take(&mut self.steps[end.max(bin + 1)], now);
    }
}

/// One more from a bin on, and one less from another on.
#[inline]
fn step(steps: &mut [u64], from: usize, end: usize) {
    steps[from] = steps[from].wrapping_add(1);
    steps[end] = steps[end].wrapping_sub(1);
}

#[inline]
fn sum(footprint: Footprint) -> Sum {
    [1, footprint.entries, footprint.bytes, 0]
}

#[inline]
fn take(sum: &mut Sum, amounts: Sum) {
    for (sum, amount) in sum.iter_mut().zip(amounts) {
        *sum = sum.wrapping_sub(amount);
    }
}

#[inline]
fn add(sum: &mut Sum, amounts: Sum) {
    for (sum, amount) in sum.iter_mut().zip(amounts) {
        *sum = sum.wrapping_add(amount);
    }
}
