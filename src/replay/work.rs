//! The keys of a run, block by block, spread over threads.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::Observer;
use super::collected::{Block, Collected};
use super::keys::Keys;
use super::lane::Lane;
use super::stream::Stream;
use crate::algorithm::{Batch, Gap, History, Segment};
use crate::judge::{Bins, BulkJudge};
use crate::traffic::Chunk;
use crate::world::Plan;

/// A thread takes so many keys at a time, if there are enough of them ...
const KEYS: usize = 128;

/// ... to take keys so often.
const TURNS: usize = 16;

/// Attempts between two calls of the observer.
const STRIDE: u64 = 1 << 14;

/// What there is to do, and what was found.
pub(super) struct Work<'a> {
    plan: &'a Plan<'a>,
    keys: &'a Keys,
    /// How many of them a thread takes at a time.
    at_a_time: usize,
    /// Whether costs other than 1 count.
    costs: bool,
    bins: Bins,
    observer: &'a dyn Observer,
    next: AtomicUsize,
    stopped: AtomicBool,
    collected: Mutex<Collected>,
}

/// The lanes of a thread with their judge, and the histories at hand.
pub(super) struct Hands {
    lanes: Vec<Lane>,
    judge: BulkJudge,
    chunk: Chunk,
    segments: Vec<Segment>,
    gaps: Vec<Gap>,
    histories: Vec<History>,
    /// By history, the position of its key in the block.
    positions: Vec<usize>,
    /// Attempts that the observer does not know of yet.
    untold: u64,
}

impl Hands {
    pub fn new(lanes: Vec<Lane>, judge: BulkJudge) -> Hands {
        Hands {
            lanes,
            judge,
            chunk: Chunk::default(),
            segments: Vec::new(),
            gaps: Vec::new(),
            histories: Vec::new(),
            positions: Vec::new(),
            untold: 0,
        }
    }
}

impl<'a> Work<'a> {
    pub fn new(
        plan: &'a Plan,
        keys: &'a Keys,
        costs: bool,
        observer: &'a dyn Observer,
        algorithms: usize,
        threads: usize,
    ) -> Work<'a> {
        let bins = Bins::over(plan.traffic.window);
        Work {
            plan,
            keys,
            at_a_time: (keys.len() / (TURNS * threads.max(1))).clamp(1, KEYS),
            costs,
            bins,
            observer,
            next: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            collected: Mutex::new(Collected::new(algorithms, keys.len())),
        }
    }

    /// Takes blocks of keys until there are no more.
    pub fn run(&self, mut hands: Hands) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let first = number.saturating_mul(self.at_a_time);
            if first >= self.keys.len() {
                break;
            }
            let keys = first..self.keys.len().min(first + self.at_a_time);
            let mut block = Block::of(keys.clone(), hands.judge.algorithms());
            if !self.take(keys, &mut hands, &mut block) {
                self.stopped.store(true, Ordering::Relaxed);
                return;
            }
            self.with(|collected| collected.add(number, block));
        }
        self.tell(&mut hands);
        let (offered, findings) = hands.judge.finish();
        self.with(|collected| collected.close(&offered, findings));
    }

    /// What was found; `None` if the work was stopped.
    pub fn finish(self) -> Option<Collected> {
        if self.stopped.into_inner() {
            return None;
        }
        self.collected.into_inner().ok()
    }

    /// Takes the histories of keys through all lanes, as many at once as fit into a chunk; `false` if the work is
    /// stopped.
    fn take(&self, keys: Range<usize>, hands: &mut Hands, block: &mut Block) -> bool {
        let mut variant = None;
        for number in keys.clone() {
            let key = self.keys.get(number);
            // A batch is of keys with one promise.
            if variant.is_some_and(|variant| variant != key.variant)
                && !self.pass(hands, block, true)
            {
                return false;
            }
            variant = Some(key.variant);
            let mut stream = Stream::of(self.plan.traffic, self.keys.streams(number));
            let mut starts = true;
            loop {
                let from = hands.chunk.times.len();
                stream.fill(&mut hands.chunk);
                if self.costs {
                    // A stream without costs tells none.
                    hands.chunk.costs.resize(hands.chunk.times.len(), 1);
                }
                let times = &hands.chunk.times[from..];
                if times.is_empty() {
                    if !starts {
                        let promise = self.plan.promise(0, key.variant as usize);
                        let position = number - keys.start;
                        let add = |algorithm, met, peak| {
                            block.add(position, algorithm, promise, met, peak);
                        };
                        hands.judge.end(add);
                    }
                    break;
                }
                block.attempts[number - keys.start] += times.len() as u64;
                let first = hands.segments.len();
                self.bins.cut(times, from, &mut hands.segments);
                let (times, segments) = (&hands.chunk.times, &hands.segments[first..]);
                self.bins.gaps(times, segments, &mut hands.gaps);
                hands.histories.push(History {
                    key: key.ordinal,
                    starts,
                    end: hands.chunk.times.len() as u32,
                    segments_end: hands.segments.len() as u32,
                });
                hands.positions.push(number - keys.start);
                starts = false;
                if !hands.chunk.is_full() {
                    // It had no more, or the chunk would be.
                    break;
                }
                if !self.pass(hands, block, false) {
                    return false;
                }
            }
        }
        self.pass(hands, block, true)
    }

    /// Decides and judges what was gathered; the last key has more to come unless it is `whole`.
    fn pass(&self, hands: &mut Hands, block: &mut Block, whole: bool) -> bool {
        let Hands { lanes, judge, chunk, segments, gaps, histories, positions, untold } = hands;
        let number = block.first + positions.first().copied().unwrap_or(0);
        if histories.is_empty() {
            return true;
        }
        let variant = self.keys.get(number).variant as usize;
        let promise = self.plan.promise(0, variant);
        let costs = self.costs.then_some(chunk.costs.as_slice());
        // What is plain is told once of all keys, so all must have the same promise.
        let marked = !self.plan.limits[0].tiers.is_empty();
        let batch = Batch { times: &chunk.times, costs, segments, gaps, histories, marked };
        lanes.iter_mut().for_each(|lane| lane.decide(variant, &batch));
        judge.judge(
            promise,
            &batch,
            |position| lanes[position].decided(),
            whole,
            |history, algorithm, met, peak| {
                block.add(positions[history], algorithm, promise, met, peak);
            },
        );
        *untold += chunk.times.len() as u64;
        chunk.clear();
        segments.clear();
        gaps.clear();
        histories.clear();
        positions.clear();
        hands.untold < STRIDE || self.tell(hands)
    }

    /// Tells the observer how far it has come; `false` if the work is stopped, here or elsewhere.
    fn tell(&self, hands: &mut Hands) -> bool {
        let goes_on = self.observer.progressed(std::mem::take(&mut hands.untold));
        goes_on && !self.stopped.load(Ordering::Relaxed)
    }

    fn with(&self, change: impl FnOnce(&mut Collected)) {
        if let Ok(mut collected) = self.collected.lock() {
            change(&mut collected);
        }
    }
}
