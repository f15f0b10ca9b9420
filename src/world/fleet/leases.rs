//! Quota that nodes fetch from the store in batches and spend by themselves.

use std::collections::VecDeque;

use indexmap::IndexMap;

use super::calls::{Call, Phase};
use super::{Ask, Fleet};
use crate::algorithm::Wait;
use crate::nodes::Placement;
use crate::time::{Instant, Span};
use crate::world::By;
use crate::world::desk::Desk;
use crate::world::gate::Decision;
use crate::world::keyring::Met;
use crate::world::requests::Ticket;

/// The quota of all nodes.
#[derive(Debug)]
pub(super) struct Leases {
    /// By node and key of the only limit.
    nodes: Vec<IndexMap<usize, Lease>>,
}

/// What a node has of the quota of a key.
#[derive(Debug, Default)]
struct Lease {
    /// In the order in which they came.
    batches: VecDeque<Batch>,
    fetching: bool,
    /// Attempts that wait for more.
    waiting: VecDeque<Ask>,
}

/// What is left of quota that a node has fetched.
#[derive(Debug, Clone, Copy)]
struct Batch {
    left: u64,
    /// From when on it may be spent: what the store let into its queue leaves that then.
    usable: Instant,
    /// Until when it may be.
    until: Instant,
}

/// What the store gave a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grant {
    amount: u32,
    /// Whether it is all that was asked for.
    full: bool,
    usable: Instant,
    /// How long those must wait who cost as much as the attempt that asked, and get nothing of it.
    wait: Wait,
}

impl Leases {
    /// No node has anything.
    pub fn new(nodes: usize) -> Leases {
        Leases { nodes: (0..nodes).map(|_| IndexMap::new()).collect() }
    }

    fn of(&mut self, node: usize, met: &Met) -> &mut Lease {
        self.nodes[node].entry(met.key).or_default()
    }
}

impl Lease {
    /// Spends quota at `at`, the oldest first, if there is enough; since when all of it may be spent.
    fn spend(&mut self, at: Instant, cost: u32) -> Option<Instant> {
        self.batches.retain(|batch| batch.left > 0 && batch.until > at);
        let mut due = u64::from(cost);
        if self.batches.iter().map(|batch| batch.left).sum::<u64>() < due {
            return None;
        }
        let mut usable = at;
        for batch in &mut self.batches {
            let spent = due.min(batch.left);
            if spent > 0 {
                usable = usable.max(batch.usable);
            }
            batch.left -= spent;
            due -= spent;
        }
        Some(usable)
    }
}

impl<'a> Fleet<'a> {
    /// A node spends quota on an attempt, or fetches more first.
    pub(super) fn spend(
        &mut self,
        desk: &mut Desk<'a>,
        ask: Ask,
        node: usize,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        let (at, met) = (ask.arrival.at, desk.keys[0]);
        let lease = self.leases.of(node, &met);
        if !lease.fetching
            && let Some(usable) = lease.spend(at, met.cost)
        {
            return self.decided_at_once(desk, ask, node, at, passes(at, usable), By::Lease);
        }
        lease.waiting.push_back(ask);
        self.fetch(desk, at, node, &met, waits);
    }

    /// A node asks for a batch, unless it has done so.
    fn fetch(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        node: usize,
        met: &Met,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        let lease = self.leases.of(node, met);
        if lease.fetching {
            return;
        }
        let Some(&ask) = lease.waiting.front() else { return };
        lease.fetching = true;
        desk.look_up(&ask.arrival);
        let reading = self.nodes.clocks[node].reading(self.run.start, at);
        let mut call = Call::new(ask, node, at, reading);
        call.phase = Phase::Lease;
        self.call_for(desk, call, waits);
    }

    /// The store gives as much of a batch as it may; false if that would write and there is no room.
    pub(super) fn grant(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        call: &mut Call,
        has_room: bool,
    ) -> bool {
        let Placement::Leased { batch, .. } = self.nodes.placement else { return true };
        let (shelf, spot, reading) = (self.shelf(), self.spots[0], call.reading);
        let least = spot.cost;
        let gate = self.places.gate(shelf);
        let of = |cost: u32| [Met { cost, ..spot }];
        let most = batch.max(least);
        let mut ruling = gate.rule(&of(most), reading);
        let mut amount = most;
        if ruling.refused != 0 {
            // Of costs, those up to some are let through.
            let (mut passes, mut fails) = (0, most);
            while fails - passes > 1 {
                let middle = passes + (fails - passes) / 2;
                match gate.rule(&of(middle), reading).refused {
                    0 => passes = middle,
                    _ => fails = middle,
                }
            }
            amount = if passes >= least { passes } else { 0 };
            ruling = gate.rule(&of(if amount > 0 { amount } else { least }), reading);
        }
        if !has_room && ruling.written() != 0 {
            return false;
        }
        let cost = if amount > 0 { amount } else { least };
        let decision = gate.enact(&of(cost), reading, &ruling);
        let wait = match decision {
            Decision::Deny { wait, .. } => wait,
            // What would be said to another attempt like the first.
            _ => match gate.rule(&[spot], reading).refused {
                0 => Wait::After(Span::ZERO),
                refused => gate.wait(&[spot], reading, refused),
            },
        };
        let usable = call.read_at + ruling.queued;
        call.granted = Some(Grant { amount, full: amount == most, usable, wait });
        self.hit(desk, at, reading, &ruling);
        true
    }

    /// A batch has come: whoever waited for it spends of it.
    pub(super) fn fetched(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        call: &Call,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        let (Placement::Leased { lasts, .. }, Some(grant)) = (self.nodes.placement, call.granted)
        else {
            return;
        };
        desk.look_up(&call.ask.arrival);
        let met = desk.keys[0];
        let node = call.node;
        let lease = self.leases.of(node, &met);
        lease.fetching = false;
        if grant.amount > 0 {
            let (left, until) = (u64::from(grant.amount), at + lasts);
            lease.batches.push_back(Batch { left, usable: grant.usable, until });
        }
        let mut unanswered = VecDeque::new();
        let mut waiting = std::mem::take(&mut lease.waiting);
        while let Some(ask) = waiting.pop_front() {
            if !waits(ask.ticket) {
                continue;
            }
            desk.look_up(&ask.arrival);
            let cost = desk.keys[0].cost;
            let decision = match self.leases.of(node, &met).spend(at, cost) {
                Some(usable) => passes(at, usable),
                // Whoever comes next might pass, but nobody overtakes.
                None if grant.full => {
                    unanswered.push_back(ask);
                    break;
                }
                // What another must wait says nothing to one of another cost: it asks for itself.
                None if cost != met.cost => {
                    unanswered.push_back(ask);
                    continue;
                }
                None => Decision::Deny { refused: 1, wait: grant.wait },
            };
            desk.judge.waited_for_store(at - ask.arrival.at);
            self.decided_at_once(desk, ask, node, at, decision, By::Lease);
        }
        unanswered.append(&mut waiting);
        self.leases.of(node, &met).waiting = unanswered;
        self.fetch(desk, at, node, &met, waits);
    }

    /// No batch has come: whoever waited for it does without.
    pub(super) fn not_fetched(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        call: &Call,
        waits: &dyn Fn(Ticket) -> bool,
    ) {
        desk.look_up(&call.ask.arrival);
        let (met, node) = (desk.keys[0], call.node);
        let lease = self.leases.of(node, &met);
        lease.fetching = false;
        for ask in std::mem::take(&mut lease.waiting) {
            if waits(ask.ticket) {
                self.do_without(desk, at, ask, call);
            }
        }
    }
}

/// An attempt at `at` passes with quota that may be spent from then on.
fn passes(at: Instant, usable: Instant) -> Decision {
    if usable > at { Decision::Queue(usable - at) } else { Decision::Admit }
}
