//! The discrete-event engine: one algorithm, one case's traffic, one virtual clock.
//!
//! Where clients send on schedule and work takes no time, nothing feeds back (`open`); elsewhere
//! requests are tried again, wait and are given up (`closed`). Both decide attempts at the same
//! `desk`. Arrivals of one instant come in the order of [`Traffic::merged`].

mod agenda;
mod closed;
mod decisions;
mod desk;
mod fleet;
mod gate;
mod keyring;
mod keys;
mod open;
mod queue;
mod requests;
mod stage;
#[cfg(test)]
mod tests;

use crate::algorithm::Wait;
use crate::client::Clients;
use crate::judge::Tally;
use crate::rate::Limit;
use crate::scenario::{self, Case, Combine, LimitSpec, Trigger};
use crate::seed::Seed;
use crate::server::{BackendSpec, Rejection};
use crate::store::Outages;
use crate::time::{Instant, Reading, Span, Window};
use crate::traffic::{Arrival, Traffic};

use desk::Desk;
use fleet::Fleet;

pub use decisions::Decisions;
pub use fleet::Rules;
pub use gate::Limiters;
pub use keyring::{Keyring, Met};
pub use keys::KeyPlan;
pub use requests::REQUEST_BYTES;

/// What all algorithms of a case are run over.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The requests.
    pub traffic: &'a Traffic,
    /// The same requests in time order, where they were stored; made up anew by every run if not.
    pub stored: Option<&'a [Arrival]>,
    /// The limits.
    pub limits: &'a [LimitSpec],
    /// How requests map to keys of the limits.
    pub keys: &'a KeyPlan,
    /// How the limits act together.
    pub combine: Combine,
    /// What clients do with the answers they get.
    pub clients: &'a Clients,
    /// What a rejection tells them.
    pub rejection: &'a Rejection,
    /// What does the work; `None` if it takes no time.
    pub backend: Option<&'a BackendSpec>,
    /// What the run may recover from.
    pub trigger: Option<Window>,
    /// The servers that decide and their store; `None` where one decides, whose clock is right.
    pub fleet: Option<&'a scenario::Fleet>,
    /// What random numbers derive from.
    pub seed: Seed,
    closed_loop: bool,
    /// A closed loop that makes more attempts than this is stopped.
    pub max_attempts: u64,
}

impl<'a> Plan<'a> {
    /// What a case says about `traffic`, whose requests map to `keys`, in a replica of this seed.
    pub fn of(
        case: &'a Case,
        seed: Seed,
        traffic: &'a Traffic,
        stored: Option<&'a [Arrival]>,
        keys: &'a KeyPlan,
    ) -> Plan<'a> {
        let window = traffic.window;
        let stated = case.trigger.as_ref().map(|Trigger { at, lasts, .. }| {
            let start = (window.start + *at).min(window.end);
            Window { start, end: (start + *lasts).min(window.end) }
        });
        let disturbed = case.backend.as_ref().and_then(|backend| backend.disturbed(window));
        let outage = case.fleet.as_ref().and_then(|fleet| {
            let outages = Outages::within(window, &fleet.store.outages).windows();
            Some(Window { start: outages.first()?.start, end: outages.last()?.end })
        });
        Plan {
            traffic,
            stored,
            limits: &case.limits,
            keys,
            combine: case.combine,
            clients: &case.clients,
            rejection: &case.rejection,
            backend: case.backend.as_ref(),
            trigger: stated.or(disturbed).or(outage),
            fleet: case.fleet.as_ref(),
            seed,
            closed_loop: case.is_closed_loop(),
            max_attempts: case.max_attempts,
        }
    }

    /// Whether clients react to answers, or work takes time.
    pub fn is_closed_loop(&self) -> bool {
        self.closed_loop
    }

    /// What was promised for the keys of a limit: 0 is the limit itself, else 1 + the position of the tier.
    pub fn promise(&self, limit: usize, variant: usize) -> Limit {
        let spec = &self.limits[limit];
        let tier = variant.checked_sub(1).map(|position| spec.tiers[position].limit);
        tier.unwrap_or(spec.limit)
    }

    /// The same with one node whose clock is right and whose state is at hand.
    pub fn without_fleet(self) -> Plan<'a> {
        Plan { fleet: None, ..self }
    }
}

/// One decision, for who wants to see them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decided<'a> {
    /// The attempt.
    pub arrival: &'a Arrival,
    /// The number of its request, from 0; in a closed loop modulo 2^32.
    pub request: u64,
    /// Which attempt of that request, from 1.
    pub attempt: u32,
    /// What became of it.
    pub fate: Fate,
    /// When that was decided.
    pub at: Instant,
    /// The node that it reached, counted from 0.
    pub node: u32,
    /// By what it was decided.
    pub by: By,
}

/// By what an attempt is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The limits, on the node's own state or what it knows of that of all.
    Node(Asked),
    /// The limits, on the state in the store.
    Store(Asked),
    /// Quota that the node has fetched.
    Lease,
    /// What the node falls back on, by what its clock showed.
    Fallback(Reading),
    /// No state at all.
    Nothing,
}

impl By {
    /// What it is called in files.
    pub fn name(self) -> &'static str {
        match self {
            By::Node(_) => "node",
            By::Store(_) => "store",
            By::Lease => "lease",
            By::Fallback(_) => "fallback",
            By::Nothing => "nothing",
        }
    }

    /// What the limits were asked; `None` where they were not.
    pub fn asked(self) -> Option<Asked> {
        match self {
            By::Node(asked) | By::Store(asked) => Some(asked),
            By::Lease | By::Fallback(_) | By::Nothing => None,
        }
    }

    /// What the clock showed by which it was decided; `None` where none was looked at.
    pub fn clock(self) -> Option<Reading> {
        match self {
            By::Node(asked) | By::Store(asked) => Some(asked.reading),
            By::Fallback(reading) => Some(reading),
            By::Lease | By::Nothing => None,
        }
    }
}

/// By which state, and at which time, an attempt was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// The node whose own state it was, counted from 0; `None` for the one that all share.
    pub node: Option<u32>,
    /// What the clock showed that told the time.
    pub reading: Reading,
}

/// What became of an attempt when it was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Let through at once.
    Accepted,
    /// Let through after so long in the queue (if the run lasts until then).
    Queued(Span),
    /// Refused, with the wait that the limits know of.
    Rejected(Wait),
    /// Refused because the store gave no answer.
    TurnedDown,
}

/// Who watches a run.
pub trait Observer {
    /// Called at every decision.
    fn decided(&mut self, _decided: Decided) {}

    /// Called when the store decides an attempt that nobody waits for any more; its state is charged all the
    /// same.
    fn decided_in_vain(&mut self, _decided: Decided) {}

    /// Called now and then: the run has come so far from its start, and so many attempts were decided
    /// since the last call; `false` stops the run, unless it has come to its end.
    fn progressed(&mut self, reached: Span, attempts: u64) -> bool;
}

/// Why a run was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// Its observer asked for it.
    ByObserver,
    /// Clients made more attempts than [`Plan::max_attempts`].
    TooManyAttempts {
        /// When.
        at: Instant,
    },
    /// A script was to touch keys that lie in different hash slots of the store.
    CrossSlot {
        /// Their names and slots.
        keys: [(String, u16); 2],
    },
}

/// Attempts, and steps of nodes and store, between two calls of [`Observer::progressed`].
const STRIDE: u64 = 1 << 14;

/// Runs one algorithm by its `rules`. With a `reference`, the decisions on traffic that clients send on schedule
/// are compared with those, one by one; where one node decides it, they are returned beside the findings.
///
/// # Errors
/// [`Stopped`], with the reason.
///
/// # Panics
/// If the books of the run do not balance, which is a bug.
pub fn run(
    plan: &Plan,
    mut rules: Rules,
    reference: Option<&Decisions>,
    observer: &mut dyn Observer,
) -> Result<(Tally, Decisions), Stopped> {
    rules.seed(plan.seed);
    let queues = rules.queues;
    let (limiters, rules) = match plan.fleet {
        None => (rules.limiters.into_iter().next().unwrap_or_default(), None),
        Some(fleet) => (Limiters::new(), Some((fleet, rules))),
    };
    let mut desk = Desk::new(plan, limiters, queues, reference);
    let fleet = rules.map(|(spec, rules)| Fleet::new(plan, spec, rules));
    match plan.stored {
        Some(arrivals) => {
            run_over(plan, &mut desk, fleet, queues, arrivals.iter().copied(), observer)
        }
        None => run_over(plan, &mut desk, fleet, queues, plan.traffic.merged(), observer),
    }
    .map(|(pending, unfinished)| desk.finish(pending, unfinished))
}

/// The attempts still queued and the requests under way at the end.
fn run_over<'a>(
    plan: &'a Plan<'a>,
    desk: &mut Desk<'a>,
    fleet: Option<Fleet<'a>>,
    queues: bool,
    arrivals: impl Iterator<Item = Arrival>,
    observer: &mut dyn Observer,
) -> Result<(u64, u64), Stopped> {
    if plan.is_closed_loop() || fleet.is_some() {
        return closed::Loop::new(plan, desk, fleet, queues).run(arrivals, observer);
    }
    let pending = open::run(desk, plan.traffic.window, arrivals, observer)?;
    Ok((pending, 0))
}
