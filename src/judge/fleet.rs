//! What becomes of limits that several nodes keep, with or without a store that they share: the findings of a
//! fleet, and the calls of the judge that lead to them.
//!
//! - **Effective limit**: the cost accepted under the first limit against what it promised. In a window of the
//!   clock (counted in `per` from the epoch) a key is promised no more than the limit and no more than it asked
//!   for in it; the promises of all windows and keys add up.
//! - **Outages**: an attempt is inside one if it is decided in it.

use super::distribution::Distribution;
use super::fold::{Judge, Touch};
use super::timeline::Timeline;
use crate::algorithm::Wait;
use crate::rate::Limit;
use crate::time::{Instant, Span, Window};

/// The findings of a fleet beside those of its attempts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FleetTally {
    /// The cost accepted under the first limit ...
    pub accepted_cost: u128,
    /// ... and the cost that it promised.
    pub promised_cost: u128,
    /// Attempts let through without any decision.
    pub unlimited: u64,
    /// Attempts rejected for the store's sake, by no limit.
    pub turned_down: u64,
    /// Attempts decided by a node's own fallback.
    pub fell_back: u64,
    /// How much later attempts were decided because the store was asked, of those about which it was.
    pub store_waits: Distribution,
    /// Attempts about which it was not asked because the node's breaker was open.
    pub short_circuited: u64,
    /// Calls of the store.
    pub calls: u64,
    /// Of these, those without an answer in time, or with an error.
    pub failed_calls: u64,
    /// Bytes of all calls, there and back.
    pub bytes: u64,
    /// How often a node's breaker opened.
    pub trips: u64,
    /// Keys that the store evicted.
    pub evicted: u64,
    /// The keys in the store; `None` where none was ever told of.
    pub keys: Option<StoreKeys>,
    /// What was decided in outages; `None` where there are none.
    pub in_outages: Option<InOutages>,
}

/// How many keys are in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreKeys {
    /// The most at any time.
    pub most: u64,
    /// Those at the end of the run ...
    pub at_end: u64,
    /// ... and of these, those without an expiry.
    pub stuck_at_end: u64,
}

/// What was decided while something was wrong with the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InOutages {
    /// Attempts accepted ...
    pub accepted: u64,
    /// ... of these over a limit ...
    pub over_limit: u64,
    /// ... and attempts rejected.
    pub rejected: u64,
}

/// What the judge keeps of a fleet while a run lasts.
#[derive(Debug, Clone)]
pub(super) struct FleetLedger {
    found: FleetTally,
    outages: Vec<Window>,
    /// By key of the first limit.
    owed: Vec<Owed>,
    /// The bin of the last change of the keys in the store.
    bin: usize,
}

/// What is promised of one key.
#[derive(Debug, Clone)]
struct Owed {
    promise: Limit,
    /// The window of the clock at hand ...
    window: i64,
    /// ... and the cost offered in it.
    offered: u64,
}

impl Owed {
    /// So much is offered; returns how much more is promised for it.
    fn offer(&mut self, at: Instant, cost: u32) -> u64 {
        let window = at.0.div_euclid(self.promise.per.signed());
        let before = if window == self.window { self.offered } else { 0 };
        (self.window, self.offered) = (window, before + u64::from(cost));
        self.offered.min(self.promise.requests) - before.min(self.promise.requests)
    }
}

impl FleetLedger {
    fn new(outages: Vec<Window>) -> FleetLedger {
        let in_outages = (!outages.is_empty()).then(InOutages::default);
        let found = FleetTally { in_outages, ..FleetTally::default() };
        FleetLedger { found, outages, owed: Vec::new(), bin: 0 }
    }

    /// A key of the first limit was seen first.
    pub fn meet(&mut self, promise: Limit) {
        self.owed.push(Owed { promise, window: i64::MIN, offered: 0 });
    }

    /// An attempt is made.
    pub fn offered(&mut self, at: Instant, touches: &[Touch]) {
        for touch in touches.iter().filter(|touch| touch.limit == 0) {
            let promised = self.owed[touch.key].offer(at, touch.cost);
            self.found.promised_cost += u128::from(promised);
        }
    }

    /// An attempt was let through.
    pub fn accepted(&mut self, at: Instant, touches: &[Touch], over: bool) {
        for touch in touches.iter().filter(|touch| touch.limit == 0) {
            self.found.accepted_cost += u128::from(touch.cost);
        }
        if let Some(found) = self.in_outage(at) {
            found.accepted += 1;
            found.over_limit += u64::from(over);
        }
    }

    /// An attempt was refused.
    pub fn rejected(&mut self, at: Instant) {
        if let Some(found) = self.in_outage(at) {
            found.rejected += 1;
        }
    }

    /// What was decided in outages so far, if one is at an instant.
    fn in_outage(&mut self, at: Instant) -> Option<&mut InOutages> {
        let next = self.outages.partition_point(|outage| outage.end <= at);
        let is_in = self.outages.get(next).is_some_and(|outage| outage.start <= at);
        self.found.in_outages.as_mut().filter(|_| is_in)
    }

    /// From `at`, which lies in `bin`, on, so many keys are in the store.
    fn keep(
        &mut self,
        timeline: &mut Timeline,
        (bin, at): (usize, Instant),
        alive: u64,
        stuck: u64,
    ) {
        self.carry(timeline, timeline.first_from(at, bin + 1));
        self.bin = bin;
        raise(timeline, bin, alive, stuck);
        let keys = self.found.keys.get_or_insert_default();
        let most = keys.most.max(alive);
        *keys = StoreKeys { most, at_end: alive, stuck_at_end: stuck };
    }

    /// Brings what is in the store to the bins after the last change, before `end`.
    fn carry(&self, timeline: &mut Timeline, end: usize) {
        let StoreKeys { at_end, stuck_at_end, .. } = self.found.keys.unwrap_or_default();
        (self.bin + 1..end).for_each(|bin| raise(timeline, bin, at_end, stuck_at_end));
    }

    /// The findings, once the timeline is brought to its end.
    pub fn finish(self, timeline: &mut Timeline) -> FleetTally {
        self.carry(timeline, timeline.bins.len());
        self.found
    }
}

fn raise(timeline: &mut Timeline, bin: usize, alive: u64, stuck: u64) {
    let bin = &mut timeline.bins[bin];
    bin.keys_in_store = bin.keys_in_store.max(alive);
    bin.stuck_keys = bin.stuck_keys.max(stuck);
}

/// The calls of a fleet. They come in time order, as do all others of its run.
impl Judge {
    /// Several nodes decide, or share a store; in `outages` (sorted, disjoint) something is wrong with it. To be
    /// said before any key is met.
    pub fn with_fleet(mut self, outages: Vec<Window>) -> Judge {
        self.fleet = Some(FleetLedger::new(outages));
        self
    }

    /// A node calls the store, which takes so many bytes there and back.
    pub fn called(&mut self, at: Instant, bytes: u64) {
        let bin = self.bin_of(at);
        self.timeline.bins[bin].calls += 1;
        if let Some(FleetLedger { found, .. }) = &mut self.fleet {
            found.calls += 1;
            found.bytes += bytes;
        }
    }

    /// A node has had no answer to a call in time, or an error.
    pub fn call_failed(&mut self, at: Instant) {
        let bin = self.bin_of(at);
        self.timeline.bins[bin].failed_calls += 1;
        if let Some(FleetLedger { found, .. }) = &mut self.fleet {
            found.failed_calls += 1;
        }
    }

    /// An attempt was decided so much later because its node asked the store.
    pub fn waited_for_store(&mut self, waited: Span) {
        if let Some(FleetLedger { found, .. }) = &mut self.fleet {
            found.store_waits.record(waited);
        }
    }

    /// An attempt was decided about which its node would have asked the store, but its breaker was open.
    pub fn short_circuited(&mut self) {
        if let Some(FleetLedger { found, .. }) = &mut self.fleet {
            found.short_circuited += 1;
        }
    }

    /// The attempt just accepted passed without any decision.
    pub fn unlimited(&mut self, at: Instant) {
        let bin = self.bin_of(at);
        self.timeline.bins[bin].unlimited += 1;
        if let Some(FleetLedger { found, .. }) = &mut self.fleet {
            found.unlimited += 1;
        }
    }

    /// An attempt was refused because the store was no help: by no limit, and without a word on when to come
    /// again.
    pub fn turned_down(&mut self, at: Instant, client: u32, touches: &[Touch]) {
        let bin = self.refuse(at, client, touches, 0, Wait::Never);
        self.timeline.bins[bin].turned_down += 1;
        if let Some(FleetLedger { found, .. }) = &mut self.fleet {
            found.turned_down += 1;
        }
    }

    /// The attempt just accepted or rejected was decided by its node's own fallback.
    pub fn fell_back(&mut self, at: Instant) {
        let bin = self.bin_of(at);
        self.timeline.bins[bin].fell_back += 1;
        if let Some(FleetLedger { found, .. }) = &mut self.fleet {
            found.fell_back += 1;
        }
    }

    /// The store evicted a key.
    pub fn evicted(&mut self) {
        if let Some(FleetLedger { found, .. }) = &mut self.fleet {
            found.evicted += 1;
        }
    }

    /// A node's breaker opened.
    pub fn tripped(&mut self) {
        if let Some(FleetLedger { found, .. }) = &mut self.fleet {
            found.trips += 1;
        }
    }

    /// From `at` on so many keys are in the store, of which so many will never expire.
    pub fn keys_in_store(&mut self, at: Instant, alive: u64, stuck: u64) {
        let bin = self.bin_of(at);
        if let Some(fleet) = &mut self.fleet {
            fleet.keep(&mut self.timeline, (bin, at), alive, stuck);
        }
    }
}

#[cfg(test)]
mod tests;
