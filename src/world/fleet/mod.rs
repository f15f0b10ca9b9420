//! Several nodes that decide, and the store that they share.
//!
//! An attempt reaches a node when it is made. If the node has the state that decides it, that is done at once;
//! if the store has it, the node calls the store, and what is there when the store works on the call decides.
//! What a node decides, it decides by its own clock. All is judged by true time: an attempt counts when the state
//! is charged, or when a node lets it through without.
//!
//! Of one instant, first keys expire; then what happens to nodes and store comes in the order in which it was
//! scheduled: what is known from the start (an outage ends with a loss, a replica takes over, the first rounds of nodes)
//! before calls.

mod calls;
mod deciding;
mod journal;
mod leases;
mod names;
mod own;
mod places;
mod shelf;
mod stock;
mod sync;
mod trip;
mod under_way;
mod without;

use indexmap::IndexMap;

use super::desk::Desk;
use super::gate::{Gate, Limiters};
use super::keyring::Met;
use super::queue::Queue;
use super::requests::Ticket;
use super::{By, Fate, Plan};
use crate::nodes::{NodesSpec, Placement, Router, Sweep};
use crate::seed::{Draws, Seed};
use crate::store::{Breaker, OnFailure, Outages, StoreSpec};
use crate::time::{Instant, Span, Window};
use crate::traffic::Arrival;

use calls::Call;
use journal::Journal;
use leases::Leases;
use names::Names;
use places::{Holdings, Places};
use stock::{Id, Stock};
use sync::Syncs;
use under_way::UnderWay;

/// What decides in one run.
pub struct Rules {
    /// By place, its limiters: one where there is no fleet, where nodes share the store, or where they copy one
    /// another; else one a node.
    pub limiters: Vec<Limiters>,
    /// By node, what it falls back on; empty where it does not.
    pub fallback: Vec<Limiters>,
    /// Whether attempts may wait in a queue.
    pub queues: bool,
}

impl Rules {
    /// One set of limiters, which nobody falls back from.
    pub fn plain(limiters: Limiters, queues: bool) -> Rules {
        Rules { limiters: vec![limiters], fallback: Vec::new(), queues }
    }

    /// Tells each limiter what its states draw from.
    pub fn seed(&mut self, seed: Seed) {
        let all = self.limiters.iter_mut().chain(&mut self.fallback).flatten().flatten();
        for (index, limiter) in all.enumerate() {
            limiter.seed(seed.part("limiter", index as u64));
        }
    }
}

/// An attempt that a node has to decide.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask {
    pub arrival: Arrival,
    /// Who waits for it.
    pub ticket: Ticket,
    /// The number of its request.
    pub number: u32,
    /// Which attempt of that.
    pub attempt: u32,
    /// Whether it comes because a Retry-After told it to.
    pub obeys: bool,
}

/// What becomes of an attempt.
#[derive(Debug, Clone, Copy)]
pub(super) enum Outcome {
    /// It was decided.
    Decided {
        ask: Ask,
        node: usize,
        at: Instant,
        fate: Fate,
        by: By,
        /// Since when it waits in the queue and when it leaves that, if it joined it.
        queued: Window,
    },
    /// The store decided it, but nobody waits for that.
    InVain { ask: Ask, node: usize, at: Instant, fate: Fate, by: By },
    /// Its node knows, and answers.
    Answered {
        ask: Ask,
        at: Instant,
        fate: Fate,
        /// The longest window of the limits that refused it.
        window: Span,
    },
}

/// What lies ahead of nodes and store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// What is in these shards is lost, by the number of the loss.
    Loses(usize),
    /// A replica no longer learns what is written, by the number of the fail-over ...
    Lags(usize),
    /// ... and takes over.
    TakesOver(usize),
    /// A node forgets idle keys.
    Sweeps(usize),
    /// A node pushes and pulls.
    Syncs(usize),
    /// The store works on what a node pushes.
    SyncExecutes(u32),
    /// A node learns what others pushed.
    SyncAnswered(u32),
    /// A node learns nothing.
    SyncFails(u32),
    /// The store works on a call.
    Executes(u32),
    /// A node has the answer.
    Answered(u32),
    /// A node waits no longer, or has an error for an answer.
    Fails(u32),
    /// A node lets an attempt through that it held.
    LetsThrough(u32),
}

/// Nodes and store of one run.
pub(super) struct Fleet<'a> {
    nodes: &'a NodesSpec,
    store: &'a StoreSpec,
    run: Window,
    router: Router,
    /// By node, attempts not answered yet; counted where routing asks for it ...
    busy: Vec<u32>,
    /// ... and by slot of a request, the node that its attempt reached.
    node_of: Vec<u32>,
    /// The states: of each node, then of the store.
    places: Places,
    /// The states of what nodes fall back on.
    fallback: Option<Places>,
    holdings: Holdings,
    /// By node, when it met the keys that it keeps last, where idle ones are swept.
    seen: Vec<IndexMap<Id, Instant>>,
    stock: Stock,
    names: Names,
    journals: Vec<Journal>,
    losses: Vec<Vec<usize>>,
    calls: UnderWay<Call>,
    leases: Leases,
    syncs: Syncs,
    steps: Queue<Step>,
    breakers: Vec<Breaker>,
    outages: Outages,
    draws: Draws,
    /// Which expiries are lost.
    lucks: Draws,
    /// The keys at hand with the numbers of their states.
    spots: Vec<Met>,
    outcomes: Vec<Outcome>,
    /// Keys of one script in different slots.
    crossed: Option<[(String, u16); 2]>,
}

impl<'a> Fleet<'a> {
    /// Nothing was decided yet.
    pub fn new(plan: &Plan<'a>, spec: &'a crate::scenario::Fleet, rules: Rules) -> Fleet<'a> {
        let crate::scenario::Fleet { nodes, store, .. } = spec;
        let (run, limits, count) = (plan.traffic.window, plan.limits.len(), nodes.count);
        let gates = |limiters: Vec<Limiters>| -> Vec<Gate> {
            limiters.into_iter().map(|limiters| Gate::numbered(plan.combine, limiters)).collect()
        };
        let own = matches!(nodes.placement, Placement::Local | Placement::Split);
        let gate_of = move |place: usize| if own { place.min(count - 1) } else { 0 };
        let fallback = (!rules.fallback.is_empty())
            .then(|| Places::new(limits, gates(rules.fallback), 0..count));
        let outages = Outages::within(run, &store.outages);
        let mut fleet = Fleet {
            router: Router::new(&nodes.routing, count, plan.seed),
            busy: vec![0; count],
            node_of: Vec::new(),
            places: Places::new(limits, gates(rules.limiters), (0..=count).map(gate_of)),
            fallback,
            holdings: Holdings::default(),
            seen: vec![IndexMap::new(); count],
            stock: Stock::new(limits, store.memory),
            names: Names::new(limits),
            journals: Vec::new(),
            losses: Vec::new(),
            calls: UnderWay::new(),
            leases: Leases::new(count),
            syncs: Syncs::new(count, plan.seed),
            steps: Queue::new(),
            breakers: store.breaker.map_or(Vec::new(), |spec| vec![Breaker::new(spec); count]),
            draws: plan.seed.draws("store"),
            lucks: plan.seed.draws("expiry"),
            spots: Vec::new(),
            outcomes: Vec::new(),
            crossed: None,
            nodes,
            store,
            run,
            outages,
        };
        fleet.schedule();
        fleet
    }

    /// Schedules what happens by itself.
    fn schedule(&mut self) {
        let losses: Vec<_> =
            self.outages.losses().map(|(at, shards)| (at, shards.to_vec())).collect();
        for (at, shards) in losses {
            self.later(at, Step::Loses(self.losses.len()));
            self.losses.push(shards);
        }
        for (index, fail_over) in self.store.fail_overs.iter().enumerate() {
            let at = self.run.start + fail_over.at;
            // Nothing is written to a primary that is down: what is lost was written before.
            let died = self.outages.down_since(at, fail_over.shard);
            let lags = Instant(died.0 - fail_over.lag.signed()).max(self.run.start);
            self.journals.push(Journal::new(fail_over.shard));
            self.later(lags, Step::Lags(index));
            self.later(at, Step::TakesOver(index));
        }
        if let Some(Sweep { every, .. }) = self.nodes.sweep {
            for node in 0..self.nodes.count {
                self.later(self.run.start + every, Step::Sweeps(node));
            }
        }
        if let Placement::Synced { every } = self.nodes.placement {
            // Nodes take turns, as they would have been started one after another.
            let count = self.nodes.count as u128;
            for node in 0..self.nodes.count {
                let part = u128::from(every.nanos()) * (node as u128 + 1) / count;
                let first = self.run.start + Span::saturating(part);
                self.later(first, Step::Syncs(node));
            }
        }
    }

    /// What lies behind the run's end never happens.
    fn later(&mut self, at: Instant, step: Step) {
        if at < self.run.end {
            self.steps.push(at, step);
        }
    }

    /// When something happens next.
    pub fn next_at(&self) -> Option<Instant> {
        self.steps.next_at()
    }

    /// What became of attempts since this was asked last.
    pub fn outcomes(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.outcomes)
    }

    /// The list that [`Fleet::outcomes`] gave, to use its memory again.
    pub fn recycle(&mut self, mut outcomes: Vec<Outcome>) {
        outcomes.clear();
        if self.outcomes.is_empty() {
            self.outcomes = outcomes;
        }
    }

    /// Keys of one script that lie in different slots, with these.
    pub fn crossed(&self) -> Option<&[(String, u16); 2]> {
        self.crossed.as_ref()
    }

    /// An attempt is made; `waits` tells whether a ticket still means something.
    pub fn ask(&mut self, desk: &mut Desk<'a>, ask: Ask, waits: &dyn Fn(Ticket) -> bool) {
        let Ask { arrival, number, attempt, .. } = ask;
        let at = arrival.at;
        desk.look_up(&arrival);
        desk.judge.offered(at, arrival.client, &desk.touches);
        let key = || desk.first_key();
        let drawn_by = (u64::from(number), u64::from(attempt));
        let node = self.router.pick(key, drawn_by, &self.busy);
        self.note_busy(ask.ticket.slot, node);
        let reading = self.nodes.clocks[node].reading(self.run.start, at);
        match self.nodes.placement {
            Placement::Local | Placement::Split => self.decide(desk, ask, node, reading),
            Placement::Synced { .. } => self.decide_synced(desk, ask, node, reading),
            // What no limit covers needs no state.
            Placement::Shared | Placement::Leased { .. } if desk.keys.is_empty() => {
                self.decide(desk, ask, node, reading);
            }
            Placement::Shared => self.call_for(desk, Call::new(ask, node, at, reading), waits),
            Placement::Leased { .. } => self.spend(desk, ask, node, waits),
        }
    }

    fn note_busy(&mut self, slot: u32, node: usize) {
        if !self.router.counts_busy() {
            return;
        }
        let slot = slot as usize;
        if self.node_of.len() <= slot {
            self.node_of.resize(slot + 1, 0);
        }
        self.node_of[slot] = node as u32;
        self.busy[node] += 1;
    }

    /// The attempt of a slot is answered, or nobody waits for its answer any more.
    pub fn answered(&mut self, slot: u32) {
        if self.router.counts_busy() {
            self.busy[self.node_of[slot as usize] as usize] -= 1;
        }
    }

    /// The next thing happens; `waits` tells whether a ticket still means something.
    pub fn step(&mut self, desk: &mut Desk<'a>, waits: &dyn Fn(Ticket) -> bool) {
        let Some((at, step)) = self.steps.pop(|_| {}) else { return };
        self.expire(desk, at);
        match step {
            Step::Loses(loss) => self.lose(desk, at, loss),
            Step::Lags(index) => self.journals[index].begin(),
            Step::TakesOver(index) => self.take_over(desk, at, index),
            Step::Sweeps(node) => self.sweep(desk, at, node),
            Step::Syncs(node) => self.sync(desk, at, node),
            Step::SyncExecutes(id) => self.sync_executes(desk, at, id),
            Step::SyncAnswered(id) => self.sync_answered(desk, at, id),
            Step::SyncFails(id) => self.sync_fails(desk, at, id),
            Step::Executes(id) => self.execute(desk, at, id, waits),
            Step::Answered(id) => self.answer(desk, at, id, waits),
            Step::Fails(id) => self.fail(desk, at, id, waits),
            Step::LetsThrough(id) => self.let_through(desk, at, id, waits),
        }
    }

    /// The run is over.
    pub fn finish(&mut self, desk: &mut Desk<'a>) {
        self.expire(desk, Instant(self.run.end.0 - 1));
    }

    /// Whether an attempt without an answer is let through.
    fn opens(&self) -> bool {
        matches!(self.store.on_failure, OnFailure::Open | OnFailure::OpenAfter(_))
    }
}
