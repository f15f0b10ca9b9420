//! What the states of keys take, bin by bin, where each key is told of as a whole: sums over keys of what each kept at
//! most in each bin.

use super::{Bins, Place};
use crate::algorithm::{Batch, Decided, Footprint, Mark};

/// How many keys there are, their entries and bytes; the last is not used, but four are added as quickly as two.
type Sum = [u64; 4];

/// The states kept, and that of the key at hand.
pub(super) struct Keeping {
    /// Sums by bin of what was kept at most in those in which keys ask: how many there were, entries and bytes ...
    sums: Vec<Sum>,
    /// ... and differences between bins, modulo 2^64, of the sums of what was kept in others.
    steps: Vec<Sum>,
    /// What every attempt's state takes, where that is plain.
    plain: Option<Footprint>,
    /// Then, differences of how many keys are kept in bins in which they do not ask.
    lasting: Vec<i64>,
    held: Held,
}

/// What is kept of the key at hand.
#[derive(Clone, Copy)]
struct Held {
    /// The bin of its last attempt; `usize::MAX` before the first.
    bin: usize,
    /// What was kept at most in that bin.
    most: Option<Footprint>,
    /// What its state takes since, and until when.
    now: Footprint,
    until: i64,
}

impl Held {
    const NOTHING: Held = Held {
        bin: usize::MAX,
        most: None,
        now: Footprint { entries: 0, bytes: 0 },
        until: i64::MIN,
    };
}

impl Keeping {
    pub fn new(bins: &Bins) -> Keeping {
        Keeping {
            sums: vec![[0; 4]; bins.count],
            steps: vec![[0; 4]; bins.count + 1],
            plain: None,
            lasting: vec![0; bins.count + 1],
            held: Held::NOTHING,
        }
    }

    pub fn begin(&mut self) {
        self.held = Held::NOTHING;
    }

    /// Takes in what is kept after the attempts of a history. `marks` is the first that may be of it; gives the first
    /// that is not.
    #[inline]
    pub fn keep(
        &mut self,
        bins: &Bins,
        batch: &Batch,
        place: &Place,
        decided: &Decided,
        marks: usize,
    ) -> usize {
        match decided.plain {
            true => self.keep_plain(bins, batch, place, decided, marks),
            false => self.keep_marked(bins, batch, place, decided, marks),
        }
    }

    /// Every attempt leaves the same, so only what lasts into bins without any needs to be added.
    #[inline]
    fn keep_plain(
        &mut self,
        bins: &Bins,
        batch: &Batch,
        place: &Place,
        decided: &Decided,
        mut lasts: usize,
    ) -> usize {
        self.plain = Some(decided.footprint);
        if self.held.until != i64::MIN {
            // Kept since the last batch.
            self.last_to(bins, batch.segments[place.segment].bin as usize);
        }
        let end = place.segments_end;
        while let Some(last) = decided.lasts.get(lasts).filter(|last| (last.segment as usize) < end)
        {
            lasts += 1;
            let position = last.segment as usize;
            self.held.bin = batch.segments[position].bin as usize;
            self.held.until = last.until;
            if position + 1 < end {
                self.last_to(bins, batch.segments[position + 1].bin as usize);
            }
        }
        lasts
    }

    /// What was kept at the key's last mark lasted, but no longer than to its next attempt, in the bin `next`.
    fn last_to(&mut self, bins: &Bins, next: usize) {
        let Held { bin, until, .. } = self.held;
        let end = bins.first_from(until, next);
        self.lasting[bin + 1] += 1;
        self.lasting[end.max(bin + 1)] -= 1;
        self.held.until = i64::MIN;
    }

    #[inline]
    fn keep_marked(
        &mut self,
        bins: &Bins,
        batch: &Batch,
        place: &Place,
        decided: &Decided,
        marks: usize,
    ) -> usize {
        let count = place.segments_end - place.segment;
        let mut from = place.from;
        let segments = &batch.segments[place.segment..place.segments_end];
        let mut held = self.held;
        for (mark, segment) in decided.marks[marks..marks + count].iter().zip(segments) {
            let Mark { most, now, until } = *mark;
            let (at, bin) = (batch.times[from], segment.bin as usize);
            from = segment.end as usize;
            let before = if held.bin == bin {
                held.most
            } else {
                let start = bins.start(bin);
                let last = match held.until >= start {
                    true => bin,
                    false => bins.first_from(held.until, bin),
                };
                self.leave(&held, last);
                (start < held.until.min(at)).then_some(held.now)
            };
            let most = match (before, most) {
                (Some(before), Some(most)) => Some(Footprint {
                    entries: before.entries.max(most.entries),
                    bytes: before.bytes.max(most.bytes),
                }),
                (before, most) => before.or(most),
            };
            held = Held { bin, most, now, until };
        }
        self.held = held;
        marks + count
    }

    /// The key's history is over.
    pub fn end(&mut self, bins: &Bins) {
        match self.plain {
            Some(_) if self.held.until != i64::MIN => self.last_to(bins, bins.count),
            Some(_) => {}
            None => {
                let held = self.held;
                self.leave(&held, bins.first_from(held.until, bins.count));
            }
        }
    }

    /// What all keys took, by bin: how many there were, their entries and bytes. `asked` tells how many keys asked.
    pub fn finish(self, asked: &[u64]) -> Vec<[u64; 3]> {
        if let Some(Footprint { entries, bytes }) = self.plain {
            let mut lasting = 0;
            let keys = asked.iter().zip(&self.lasting).map(|(asked, step)| {
                lasting += step;
                asked.wrapping_add_signed(lasting)
            });
            return keys.map(|keys| [keys, keys * entries, keys * bytes]).collect();
        }
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
        let Some(most) = most else { return };
        add(&mut self.sums[bin], sum(most));
        if bin + 1 < end {
            let now = sum(now);
            add(&mut self.steps[bin + 1], now);
            add(&mut self.steps[end], now.map(u64::wrapping_neg));
        }
    }
}

#[inline]
fn sum(footprint: Footprint) -> Sum {
    [1, footprint.entries, footprint.bytes, 0]
}

#[inline]
fn add(sum: &mut Sum, amounts: Sum) {
    for (sum, amount) in sum.iter_mut().zip(amounts) {
        *sum = sum.wrapping_add(amount);
    }
}
