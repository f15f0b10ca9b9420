//! The store in which nodes share the state of limits: how long a call takes, what is atomic, how long keys
//! live, what is lost, and what nodes do while it does not answer.

mod breaker;
mod expiry;
mod fail_over;
mod key_name;
mod outage;
mod outages;
mod round_trip;
mod settings;
mod slot;
#[cfg(test)]
mod tests;
mod wire;

use crate::clock::Clock;
use crate::rate::Limit;
use crate::time::Span;

pub use breaker::{Breaker, BreakerSpec};
pub use expiry::{Deadline, Expiry, Hit, Rounding};
pub use fail_over::FailOver;
pub use key_name::KeyName;
pub use outage::{Down, Outage, OutageKind};
pub use outages::{Condition, Outages};
pub use round_trip::RoundTrip;
pub use settings::{Around, MEANING};
pub use slot::{hash_slot, shard_of};
pub use wire::{Exchange, bytes};

/// The `[store]` table.
#[derive(Debug, Clone)]
pub struct StoreSpec {
    /// How long a call takes, there and back.
    pub round_trip: RoundTrip,
    /// How long a node waits for the answer to a call.
    pub timeout: Span,
    /// What happens at one instant.
    pub atomicity: Atomicity,
    /// Whose clock tells the time of a decision.
    pub time: TimeOf,
    /// The clocks of its shards, by shard; at least one.
    pub clocks: Vec<Clock>,
    /// What a key is called in it.
    pub key_name: KeyName,
    /// How long a key lives.
    pub expiry: Expiry,
    /// How much it may hold; `None` if all that there is.
    pub memory: Option<Memory>,
    /// When a replica takes over, in time order.
    pub fail_overs: Vec<FailOver>,
    /// When it does not answer, or badly.
    pub outages: Vec<Outage>,
    /// What nodes do with an attempt on which it gives no answer.
    pub on_failure: OnFailure,
    /// The limit of each node's fallback, for `on-failure = "local"`, instead of each limit itself.
    pub fallback: Option<Limit>,
    /// What keeps nodes from calling it while it does not answer; `None` if nothing does.
    pub breaker: Option<BreakerSpec>,
}

/// What happens at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomicity {
    /// A script reads, decides and writes.
    Script,
    /// The node reads, decides, and has what it charges added to what is there then.
    CheckThenIncrement,
    /// The node reads, decides, and writes back what it read with its own charge, over whatever is there then.
    ReadModifyWrite,
}

/// Whose clock tells the time of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeOf {
    /// That of the node, read when the attempt reaches it.
    Node,
    /// That of the shard, read when it works on the call.
    Store,
}

/// How much a store may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// While all keys with their states take more than this, something goes before a write.
    pub bytes: u64,
    /// What goes.
    pub eviction: Eviction,
}

/// What goes when the memory is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eviction {
    /// The key that was asked for least recently.
    LeastRecentlyUsed,
    /// The key that expires soonest; a write fails if none does.
    SoonestToExpire,
    /// Nothing: the write fails.
    Refuse,
}

/// What a node does with an attempt on which the store gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Lets it through.
    Open,
    /// Rejects it.
    Closed,
    /// Decides by a limiter of its own.
    Local,
    /// Holds it until so long after it came, then lets it through; no answer is waited for longer.
    OpenAfter(Span),
}

impl StoreSpec {
    /// No call takes longer, whatever is wrong.
    pub fn slowest(&self) -> Span {
        let longest = u128::from(self.round_trip.longest().nanos());
        let slowed = self.outages.iter().fold(longest, |nanos, outage| match outage.kind {
            OutageKind::Slow { times, extra } => {
                nanos.saturating_mul(times.into()).saturating_add(extra.nanos().into())
            }
            _ => nanos,
        });
        Span::saturating(slowed)
    }
}

impl Default for StoreSpec {
    /// A store that answers at once and never fails.
    fn default() -> StoreSpec {
        StoreSpec {
            round_trip: RoundTrip::Constant(Span::ZERO),
            timeout: Span::from_secs(1),
            atomicity: Atomicity::Script,
            time: TimeOf::Node,
            clocks: vec![Clock::default()],
            key_name: KeyName::default(),
            expiry: Expiry::Right { margin: Span::ZERO },
            memory: None,
            fail_overs: Vec::new(),
            outages: Vec::new(),
            on_failure: OnFailure::Open,
            fallback: None,
            breaker: None,
        }
    }
}
