//! The discrete-event engine: one algorithm, one case's traffic, one virtual clock.
//!
//! Events of one instant are handled in this order: departures from queues first (a place that
//! becomes free at an instant can be taken at that instant), then arrivals; of each kind in the
//! order in which they were scheduled, arrivals in the order of [`Traffic::merged`].

mod decisions;
mod gate;
mod keys;
mod queue;

use crate::algorithm::Wait;
use crate::judge::{Judge, Tally, Touch};
use crate::scenario::{Combine, LimitSpec};
use crate::time::{Instant, Span};
use crate::traffic::{Arrival, Traffic};

use gate::{Decision, Gate};
use keys::{Keyring, Met};
use queue::Queue;

pub use decisions::Decisions;
pub use gate::Limiters;
pub use keys::KeyPlan;

/// What all algorithms of a case are run over.
pub struct Plan<'a> {
    /// The requests.
    pub traffic: &'a Traffic,
    /// The limits.
    pub limits: &'a [LimitSpec],
    /// How requests map to keys of the limits.
    pub keys: &'a KeyPlan,
    /// How the limits act together.
    pub combine: Combine,
}

/// One decision, for who wants to see them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decided<'a> {
    /// The attempt.
    pub arrival: &'a Arrival,
    /// What became of it.
    pub fate: Fate,
}

/// What became of an attempt when it was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Let through at once.
    Accepted,
    /// Let through after so long in the queue (if the run lasts until then).
    Queued(Span),
    /// Refused, with what the client was told.
    Rejected(Wait),
}

/// Who watches a run.
pub trait Observer {
    /// Called at every decision.
    fn decided(&mut self, _decided: Decided) {}

    /// Called now and then with the number of attempts decided since the last call; `false` stops
    /// the run.
    fn progressed(&mut self, attempts: u64) -> bool;
}

/// The run was stopped by its observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Attempts between two calls of [`Observer::progressed`].
const STRIDE: u64 = 1 << 14;

/// Runs one algorithm, as configured by limit and variant; `queues` tells whether it has a queue at
/// all, so that those who pass it at once count as having waited for no time. With a `reference`, its decisions are
/// compared one by one; the decisions of this run are returned beside its findings.
///
/// # Errors
/// [`Stopped`] if the observer asked for it.
///
/// # Panics
/// If the books of the run do not balance, which is a bug.
pub fn run(
    plan: &Plan,
    limiters: Limiters,
    queues: bool,
    reference: Option<&Decisions>,
    observer: &mut dyn Observer,
) -> Result<(Tally, Decisions), Stopped> {
    let mut world = World::new(plan, limiters, queues, reference);
    let mut undecided = 0;
    for arrival in plan.traffic.merged() {
        world.depart_until(arrival.at);
        let fate = world.arrive(&arrival);
        observer.decided(Decided { arrival: &arrival, fate });
        undecided += 1;
        if undecided == STRIDE && !observer.progressed(std::mem::take(&mut undecided)) {
            return Err(Stopped);
        }
    }
    observer.progressed(undecided);
    Ok(world.finish())
}

/// The state of a run.
struct World<'a> {
    plan: &'a Plan<'a>,
    ring: Keyring<'a>,
    gate: Gate,
    judge: Judge,
    departures: Queue<Queued>,
    /// How long those who pass at once waited in the queue; `None` where there is none.
    at_once: Option<Span>,
    reference: Option<&'a Decisions>,
    decisions: Decisions,
    /// The keys of the attempt at hand; kept to reuse its memory.
    keys: Vec<Met>,
    touches: Vec<Touch>,
}

/// An attempt in a queue.
struct Queued {
    arrival: Arrival,
    span: Span,
}

impl<'a> World<'a> {
    fn new(
        plan: &'a Plan,
        limiters: Limiters,
        queues: bool,
        reference: Option<&'a Decisions>,
    ) -> World<'a> {
        let limits: Vec<_> = plan.limits.iter().map(|l| (l.name.clone(), l.limit)).collect();
        let judge = Judge::new(plan.traffic.window, &limits, plan.traffic.clients.len());
        World {
            plan,
            ring: Keyring::new(plan.keys),
            gate: Gate::new(plan.combine, limiters),
            judge,
            departures: Queue::new(),
            at_once: queues.then_some(Span::ZERO),
            reference,
            decisions: Decisions::default(),
            keys: Vec::new(),
            touches: Vec::new(),
        }
    }

    /// Finds the keys of an attempt, and meets those that are new.
    fn look_up(&mut self, arrival: &Arrival) {
        let World { plan, ring, gate, judge, keys, touches, .. } = self;
        keys.clear();
        touches.clear();
        ring.keys_of(arrival, |met| {
            if met.first {
                let spec = &plan.limits[met.limit];
                let tier = met.variant.checked_sub(1).map(|position| spec.tiers[position].limit);
                judge.meet(met.limit, tier.unwrap_or(spec.limit));
                gate.meet(&met);
            }
            touches.push(Touch { limit: met.limit, key: met.key, cost: met.cost });
            keys.push(met);
        });
    }

    fn arrive(&mut self, arrival: &Arrival) -> Fate {
        self.look_up(arrival);
        let World { gate, judge, keys, touches, at_once, .. } = self;
        // Clocks are exact: a reading is the instant.
        let (at, now) = (arrival.at, arrival.at.exact());
        judge.offered(at, arrival.client, touches);
        let fate = match gate.decide(keys, now) {
            Decision::Admit => {
                judge.accepted(at, arrival.client, touches, *at_once);
                Fate::Accepted
            }
            Decision::Queue(span) => {
                self.departures.push(at + span, Queued { arrival: *arrival, span });
                Fate::Queued(span)
            }
            Decision::Deny { refused, wait } => {
                judge.rejected(at, arrival.client, touches, refused, wait);
                Fate::Rejected(wait)
            }
        };
        for met in keys.iter() {
            let (footprint, neutral) = gate.kept(met, now);
            let until = neutral.map(|reading| Instant(reading.0));
            judge.kept(met.limit, met.key, at, footprint, until);
        }
        let allowed = !matches!(fate, Fate::Rejected(_));
        if let Some(reference) = self.reference {
            judge.compared(allowed, reference.get(self.decisions.len()));
        }
        self.decisions.push(allowed);
        fate
    }

    /// Lets leave whoever's time has come.
    fn depart_until(&mut self, until: Instant) {
        while let Some((at, queued)) = self.departures.pop_until(until) {
            self.look_up(&queued.arrival);
            let client = queued.arrival.client;
            self.judge.accepted(at, client, &self.touches, Some(queued.span));
        }
    }

    fn finish(mut self) -> (Tally, Decisions) {
        // The run is half-open: who would leave at its end has not left.
        self.depart_until(self.plan.traffic.window.end - Span::from_nanos(1));
        let World { ring, judge, departures, plan, decisions, .. } = self;
        let clients = &plan.traffic.clients;
        let tally = judge.finish(
            departures.len() as u64,
            |limit, key| ring.name(limit, key),
            |client| clients[client].name.clone(),
        );
        (tally, decisions)
    }
}
