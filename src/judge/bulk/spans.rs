//! Spans in bulk on their way into a [`Distribution`]: counted by the steps of its histogram, which is what remains of
//! them there, in a plain table.

use crate::algorithm::Run;
use crate::judge::Distribution;

/// Spans recorded so far.
pub struct Spans {
    count: u64,
    sum: u128,
    least: u64,
    most: u64,
    /// All of them as they are, as long as they are few; else some ...
    exact: Vec<u64>,
    /// ... and how many of the others fall on each step of the histogram.
    steps: Vec<u64>,
    /// When each attempt of a history may come back; kept to reuse its memory.
    ends: Vec<i64>,
}

/// Stands for the end of what need not come back.
const PASSED: i64 = i64::MIN;

/// Runs of more attempts than this on average are long.
const LONG: usize = 16;

/// So many ends are written at once.
const SHORT: usize = 8;

/// So many spans are looked at, at once.
const GROUP: usize = 8;

/// Binary digits that a step tells apart: three decimal ones.
const DIGITS: u32 = 11;

impl Default for Spans {
    fn default() -> Spans {
        Spans {
            count: 0,
            sum: 0,
            least: u64::MAX,
            most: 0,
            exact: Vec::new(),
            steps: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl Spans {
    /// Adds what the denied of a history were told to wait, of which these are all attempts with what became of them.
    #[inline]
    pub fn record_runs(&mut self, runs: &[Run], times: &[i64]) {
        let told = |run: &&Run| run.denied > 0 && run.wait != Run::NEVER;
        let Some(most) = runs.iter().filter(told).map(|run| run.wait).max() else { return };
        if self.steps.is_empty() || most.checked_mul(times.len() as u64).is_none() {
            return each_told(runs, times, |wait, times| {
                let end = times[0].wrapping_add(wait as i64);
                self.record_each(times.iter().map(|at| end.wrapping_sub(*at) as u64));
            });
        }
        match times.len() > LONG * runs.len() {
            true => self.record_long(runs, times, most),
            false => self.record_short(runs, times, most),
        }
    }

    /// The same where there are few runs for as many attempts.
    fn record_long(&mut self, runs: &[Run], times: &[i64], most: u64) {
        let (mut count, mut sum, mut least) = (0, 0, u64::MAX);
        let steps = self.steps_to(most);
        each_told(runs, times, |wait, times| {
            count += times.len() as u64;
            least = least.min(shortest(wait, times));
            sum += count_falling(steps, wait, times);
        });
        self.add_up_to(most, (count, sum, least));
    }

    /// The same where there are many: first each attempt is told its end, then all are looked at alike.
    fn record_short(&mut self, runs: &[Run], times: &[i64], most: u64) {
        let mut ends = std::mem::take(&mut self.ends);
        ends.resize(ends.len().max(times.len() + SHORT), PASSED);
        let (mut from, mut count, mut least) = (0, 0, u64::MAX);
        for &Run { accepted, denied, wait } in runs {
            let first = from + accepted as usize;
            let to = first + denied as usize;
            fill(&mut ends, from, first, PASSED);
            let mut end = PASSED;
            if first < to && wait != Run::NEVER {
                count += u64::from(denied);
                least = least.min(shortest(wait, &times[first..to]));
                end = times[first].wrapping_add(wait as i64);
            }
            fill(&mut ends, first, to, end);
            from = to;
        }
        ends[from..times.len()].fill(PASSED);
        let mut sum = 0;
        let steps = self.steps_to(most);
        for (&at, &end) in times.iter().zip(&ends) {
            let span = end.max(at).wrapping_sub(at) as u64;
            sum += span;
            add(steps, step(span), 1);
        }
        // Those that passed were counted as if they had not to wait at all.
        steps[0] -= times.len() as u64 - count;
        self.ends = ends;
        self.add_up_to(most, (count, sum, least));
    }

    /// Takes in what there was of some spans, of which `most` is the longest.
    #[inline]
    fn add_up_to(&mut self, most: u64, (count, sum, least): (u64, u64, u64)) {
        self.count += count;
        self.sum += u128::from(sum);
        self.most = self.most.max(most);
        self.least = self.least.min(least);
    }

    /// Adds the spans from each of some times to that of the same place, which does not come before it.
    pub fn record_between(&mut self, times: &[i64], ends: &[i64]) {
        for (times, ends) in times.chunks(GROUP).zip(ends.chunks(GROUP)) {
            let spans = times.iter().zip(ends).map(|(at, end)| end.wrapping_sub(*at) as u64);
            let first = ends[0].wrapping_sub(times[0]) as u64;
            let unlike = spans.clone().fold(0, |all, span| all | (span ^ first));
            // No span is longer than this, which is less than twice the longest.
            let bound = unlike | first;
            if self.steps.is_empty() || bound >= u64::MAX / GROUP as u64 {
                self.record_each(spans);
                continue;
            }
            let sum = spans.clone().sum::<u64>();
            let steps = self.steps_to(bound);
            let (mut least, mut most) = (first, first);
            // Who finds nobody ahead waits as long as everybody else who does.
            match unlike {
                0 => add(steps, step(first), times.len() as u64),
                _ => spans.for_each(|span| {
                    (least, most) = (least.min(span), most.max(span));
                    add(steps, step(span), 1);
                }),
            }
            self.add_up_to(most, (times.len() as u64, sum, least));
        }
    }

    #[inline]
    fn record_each(&mut self, spans: impl ExactSizeIterator<Item = u64> + Clone) {
        let Some(most) = spans.clone().max() else { return };
        self.count += spans.len() as u64;
        self.most = self.most.max(most);
        self.least = self.least.min(spans.clone().min().unwrap_or(most));
        self.keep(most, spans);
    }

    /// Keeps spans of which none is longer than `most`.
    #[inline]
    fn keep(&mut self, most: u64, spans: impl ExactSizeIterator<Item = u64> + Clone) {
        self.add_up(most, spans.clone());
        if !self.keep_exact(spans.clone()) {
            let steps = self.steps_to(most);
            spans.for_each(|span| add(steps, step(span), 1));
        }
    }

    /// Adds spans, of which none is longer than `most`, to the sum.
    #[inline]
    fn add_up(&mut self, most: u64, spans: impl ExactSizeIterator<Item = u64>) {
        self.sum += match most.checked_mul(spans.len() as u64) {
            Some(_) => u128::from(spans.sum::<u64>()),
            None => spans.map(u128::from).sum(),
        };
    }

    /// Keeps spans as they are, as long as they are few: whether it does.
    #[inline]
    fn keep_exact(&mut self, spans: impl ExactSizeIterator<Item = u64>) -> bool {
        if !self.steps.is_empty() {
            return false;
        }
        let few = self.exact.len() + spans.len() <= Distribution::EXACT;
        match few {
            true => self.exact.extend(spans),
            false => self.round(),
        }
        few
    }

    /// Counts by steps what was kept as it is.
    fn round(&mut self) {
        let exact = std::mem::take(&mut self.exact);
        let steps = self.steps_to(exact.iter().copied().max().unwrap_or(0));
        exact.into_iter().for_each(|span| add(steps, step(span), 1));
    }

    /// The table, long enough for spans up to this.
    #[inline]
    fn steps_to(&mut self, most: u64) -> &mut [u64] {
        let last = step(most);
        if last >= self.steps.len() {
            self.steps.resize(last + 1, 0);
        }
        &mut self.steps
    }

    /// Adds the spans that others have recorded.
    pub fn merge(&mut self, other: &Spans) {
        let sum = self.sum + other.sum;
        self.count += other.count;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.keep(other.most, other.exact.iter().copied());
        self.sum = sum;
        self.steps.resize(self.steps.len().max(other.steps.len()), 0);
        self.steps.iter_mut().zip(&other.steps).for_each(|(own, others)| *own += others);
    }

    /// The distribution of all of them.
    pub fn distribution(&self) -> Distribution {
        let steps = self.steps.iter().enumerate().filter(|(_, count)| **count > 0);
        let steps = steps.map(|(step, &count)| (start(step), count));
        Distribution::of_parts(self.count, self.sum, (self.least, self.most), &self.exact, steps)
    }
}

/// Tells `each` of the denials that were told to wait: what the first of them was told, and when they were made.
#[inline]
fn each_told(runs: &[Run], times: &[i64], mut each: impl FnMut(u64, &[i64])) {
    let mut from = 0;
    for &Run { accepted, denied, wait } in runs {
        from += accepted as usize;
        let to = from + denied as usize;
        if from < to && wait != Run::NEVER {
            each(wait, &times[from..to]);
        }
        from = to;
    }
}

/// The shortest of the spans from each of `times`, which ascend, to the instant `wait` ns after the first.
#[inline]
fn shortest(wait: u64, times: &[i64]) -> u64 {
    wait - times[times.len() - 1].abs_diff(times[0])
}

/// Fills a range, and perhaps up to [`SHORT`] places from its start, which is quicker where ranges are short.
#[inline]
fn fill(ends: &mut [i64], from: usize, to: usize, end: i64) {
    match ends[from..].first_chunk_mut::<SHORT>() {
        Some(chunk) if to - from <= SHORT => *chunk = [end; SHORT],
        _ => ends[from..to].fill(end),
    }
}

/// Counts the spans from each of `times`, which ascend, to the instant `wait` ns after the first by their steps, and
/// gives their sum.
#[inline]
fn count_falling(steps: &mut [u64], wait: u64, times: &[i64]) -> u64 {
    let end = times[0].wrapping_add(wait as i64);
    let span = |at: &i64| end.wrapping_sub(*at) as u64;
    let (groups, rest) = times.as_chunks::<GROUP>();
    let mut sum = 0;
    for group in groups {
        sum += group.iter().map(span).sum::<u64>();
        // Those of a flood fall on few steps.
        let [highest, lowest] = [group[0], group[GROUP - 1]].map(|at| step(span(&at)));
        match highest == lowest {
            true => add(steps, highest, GROUP as u64),
            false => group.iter().for_each(|at| add(steps, step(span(at)), 1)),
        }
    }
    for span in rest.iter().map(span) {
        sum += span;
        add(steps, step(span), 1);
    }
    sum
}

/// Counts spans on a step.
#[inline]
fn add(steps: &mut [u64], step: usize, count: u64) {
    // No step is missing, which the compiler does not know.
    if let Some(counted) = steps.get_mut(step) {
        *counted += count;
    }
}

/// The step on which a span falls.
#[inline]
fn step(span: u64) -> usize {
    let shift = (u64::BITS - (span | ((1 << DIGITS) - 1)).leading_zeros()) - DIGITS;
    (shift as usize) * (1 << (DIGITS - 1)) + (span >> shift) as usize
}

/// The least span that falls on a step.
fn start(step: usize) -> u64 {
    let half = 1 << (DIGITS - 1);
    match (step / half).checked_sub(1) {
        None | Some(0) => step as u64,
        Some(shift) => ((step - shift * half) as u64) << shift,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use proptest::prelude::*;

    fn described(spans: &Distribution) -> impl PartialEq + std::fmt::Debug + use<> {
        let quantiles: Vec<_> = (0..=100).map(|percent| spans.percentile(percent)).collect();
        (spans.count(), spans.mean_secs(), spans.min(), spans.max(), quantiles)
    }

    #[test]
    fn steps_are_as_wide_as_three_digits_need() {
        let all: Vec<usize> = [0, 1, 2047, 2048, 2049, 2050, 4095, 4096].map(step).to_vec();
        assert_eq!(all, [0, 1, 2047, 2048, 2048, 2049, 3071, 3072]);
        for span in [0, 1, 2047, 2048, 5000, 1 << 40, (1 << 63) - 1] {
            let start = start(step(span));
            assert!(start <= span && span - start <= span / 1024, "{span}");
            assert_eq!(step(start), step(span));
        }
    }

    proptest! {
        #[test]
        fn many_spans_are_told_as_if_each_had_been_recorded(
            few in prop::collection::vec(0..=i64::MAX as u64, 0..50),
            many in 0..3 * Distribution::EXACT as u64,
            factor in 1..1_000_000_u64,
        ) {
            let all: Vec<u64> = (0..many).map(|n| n * factor).chain(few).collect();
            let mut spans = Spans::default();
            let mut plain = Distribution::default();
            for chunk in all.chunks(1000) {
                let ends: Vec<i64> = chunk.iter().map(|&span| span as i64).collect();
                spans.record_between(&vec![0; chunk.len()], &ends);
            }
            all.iter().for_each(|&nanos| plain.record(Span::from_nanos(nanos)));
            prop_assert_eq!(described(&spans.distribution()), described(&plain));
        }
    }

    proptest! {
        #[test]
        fn falling_spans_are_those_to_one_instant(
            runs in prop::collection::vec((prop::collection::vec(0_u64..40, 1..100), 0..5_u64), 1..60),
            unit in prop::sample::select(vec![1_u64, 900, 70_000_000]),
        ) {
            let (mut falling, mut all) = (Spans::default(), Spans::default());
            for (gaps, left) in runs {
                let mut at = -1_000_i64;
                let times: Vec<i64> = gaps.iter().map(|gap| { at += (gap * unit) as i64; at }).collect();
                let end = at + (left * unit) as i64;
                let run = Run { accepted: 0, denied: times.len() as u32, wait: end.abs_diff(times[0]) };
                falling.record_runs(&[run, Run { wait: Run::NEVER, denied: 0, accepted: 0 }], &times);
                all.record_between(&times, &vec![end; times.len()]);
            }
            prop_assert_eq!(described(&falling.distribution()), described(&all.distribution()));
        }
    }

    #[test]
    fn falling_spans_end_at_one_instant() {
        let (mut falling, mut all) = (Spans::default(), Spans::default());
        let run = |accepted, denied, wait| Run { accepted, denied, wait };
        let runs = [run(0, 3, 100), run(1, 1, 7), run(2, 1, Run::NEVER), run(1, 0, 0)];
        falling.record_runs(&runs, &[50, 60, 75, 78, 80, 85, 90, 95, 96]);
        all.record_between(&[0; 4], &[100, 90, 75, 7]);
        assert_eq!(described(&falling.distribution()), described(&all.distribution()));
    }
}
