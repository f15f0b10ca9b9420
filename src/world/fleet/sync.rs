//! Nodes that count by themselves and compare every so often: each pushes to the store what it has charged since
//! it did last, and pulls the states that came of what all have pushed. Between two such calls it decides by
//! what it knows.
//!
//! A push of which no answer came is pushed again, though the store may have worked on it.

use indexmap::IndexMap;

use super::stock::Id;
use super::trip::Trip;
use super::under_way::UnderWay;
use super::{Ask, Fleet, Step};
use crate::nodes::Placement;
use crate::seed::{Draws, Seed};
use crate::store::Exchange;
use crate::time::{Instant, Reading, Span};
use crate::world::desk::Desk;
use crate::world::gate::Ruling;
use crate::world::keyring::Met;
use crate::world::{Asked, By};

/// What nodes have to tell one another.
#[derive(Debug)]
pub(super) struct Syncs {
    /// By node.
    nodes: Vec<Own>,
    pushes: UnderWay<Push>,
    draws: Draws,
}

/// What a node has to tell, and which state of a key it has heard of.
#[derive(Debug, Default)]
struct Own {
    charges: IndexMap<Id, Vec<Charge>>,
    /// Of each key that it keeps, how often that had changed in the store when it heard of it last.
    heard: IndexMap<Id, u64>,
    /// Its pushes under way: it makes no others until these have ended, so that no answer overtakes another.
    under_way: usize,
    /// How often it has pushed.
    rounds: u64,
}

/// What a node did to a state.
#[derive(Debug, Clone, Copy)]
struct Charge {
    /// By which its own copy decided.
    as_of: Reading,
    cost: u32,
    denied: bool,
}

impl Charge {
    /// The only key of a list was charged so, or denied.
    fn ruling(&self) -> Ruling {
        let denied = u64::from(self.denied);
        Ruling { charged: 1 - denied, refused: denied, noted: denied, queued: Span::ZERO }
    }
}

/// By key, what a node did to its state.
type Charges = Vec<(Id, Vec<Charge>)>;

/// Keys about which a node asks. Of those that have changed since it heard of them, what the store has answered: a
/// copy of the state, and how often that had changed.
type Pulls = Vec<(Id, Option<(Met, u64)>)>;

/// A push under way.
#[derive(Debug)]
struct Push {
    node: usize,
    shard: usize,
    charges: Charges,
    pulls: Pulls,
    trip: Trip,
}

impl Syncs {
    /// Nobody has anything to tell.
    pub fn new(nodes: usize, seed: Seed) -> Syncs {
        Syncs {
            nodes: (0..nodes).map(|_| Own::default()).collect(),
            pushes: UnderWay::new(),
            draws: seed.draws("sync"),
        }
    }

    /// A node keeps a key no longer; what it has to tell of that it still tells.
    pub fn forget(&mut self, node: usize, id: Id) {
        self.nodes[node].heard.swap_remove(&id);
    }
}

impl<'a> Fleet<'a> {
    /// A node decides an attempt by its own copy, and takes down what it has to tell of that.
    pub(super) fn decide_synced(
        &mut self,
        desk: &mut Desk<'a>,
        ask: Ask,
        node: usize,
        reading: Reading,
    ) {
        let at = ask.arrival.at;
        let (ruling, decision) = self.places.decide(node, &desk.keys, &mut self.spots, reading);
        self.keep(desk, node, at, reading);
        self.see(desk, node, at);
        let own = &mut self.syncs.nodes[node];
        for (index, met) in desk.keys.iter().enumerate() {
            let (id, bit) = ((met.limit, met.key), |bits: u64| bits >> index & 1 == 1);
            own.heard.entry(id).or_insert(0);
            if bit(ruling.written()) {
                let as_of = self.places.gate(node).as_of(&self.spots[index], reading);
                let charge = Charge { as_of, cost: met.cost, denied: bit(ruling.noted) };
                own.charges.entry(id).or_default().push(charge);
            }
        }
        let by = By::Node(Asked { node: Some(node as u32), reading });
        self.decided_at_once(desk, ask, node, at, decision, by);
    }

    /// A node pushes what it has to tell, shard by shard, and asks for the sum of every key that it keeps.
    pub(super) fn sync(&mut self, desk: &mut Desk<'a>, at: Instant, node: usize) {
        let Placement::Synced { every } = self.nodes.placement else { return };
        self.later(at + every, Step::Syncs(node));
        let own = &mut self.syncs.nodes[node];
        if own.under_way > 0 {
            return;
        }
        own.rounds += 1;
        let charges = std::mem::take(&mut own.charges);
        let reading = self.nodes.clocks[node].reading(self.run.start, at);
        let (places, ring) = (&mut self.places, &desk.ring);
        // What means nothing any more is not kept.
        own.heard.retain(|id, _| {
            let spot = places.spot(node, ring.met(id.0, id.1));
            charges.contains_key(id)
                || places.gate(node).kept(&spot, reading).matters(reading) != Some(Span::ZERO)
        });
        let others = own.heard.keys().filter(|id| !charges.contains_key(*id));
        let others: Vec<Id> = others.copied().collect();
        let mut shards: IndexMap<usize, (Charges, Pulls)> = IndexMap::new();
        for (id, charges) in charges {
            let of = shards.entry(self.shard(desk, id)).or_default();
            of.1.push((id, None));
            of.0.push((id, charges));
        }
        for id in others {
            shards.entry(self.shard(desk, id)).or_default().1.push((id, None));
        }
        for (shard, (charges, pulls)) in shards {
            self.push(desk, at, (node, shard), charges, pulls);
        }
    }

    fn push(
        &mut self,
        desk: &mut Desk<'a>,
        at: Instant,
        (node, shard): (usize, usize),
        charges: Charges,
        pulls: Pulls,
    ) {
        let told = self.size_about(desk, Exchange::Increment, charges.iter().map(|(id, _)| *id));
        let asked = pulls[charges.len()..].iter().map(|(id, _)| *id);
        let asked = self.size_about(desk, Exchange::Read, asked);
        desk.judge.called(at, told + asked);
        let condition = self.outages.condition(at, node, shard);
        let own = &mut self.syncs.nodes[node];
        own.under_way += 1;
        let stream = self.syncs.draws.part((node as u64) << 32 | shard as u64, own.rounds);
        let deadline = at + self.store.timeout;
        let trip = Trip::draw(&self.store.round_trip, condition, (at, deadline), stream);
        let id = self.syncs.pushes.add();
        if let Some(arrives) = trip.arrives {
            self.expect_push(id, arrives, Step::SyncExecutes(id));
        }
        if trip.late {
            self.expect_push(id, deadline, Step::SyncFails(id));
        }
        self.syncs.pushes.put(id, Push { node, shard, charges, pulls, trip });
    }

    fn expect_push(&mut self, id: u32, at: Instant, step: Step) {
        self.syncs.pushes.expect(id);
        self.later(at, step);
    }

    /// The store works on a push.
    pub(super) fn sync_executes(&mut self, desk: &mut Desk<'a>, at: Instant, id: u32) {
        let mut push = self.syncs.pushes.take_up(id);
        let ends = match self.outages.condition(at, push.node, push.shard).down {
            Some(down) => (push.trip.fails(at, down), Step::SyncFails(id)),
            None if !self.make_room(desk, at) && !push.charges.is_empty() => {
                (at + push.trip.back, Step::SyncFails(id))
            }
            None => {
                self.add_up(desk, at, &mut push);
                (at + push.trip.back, Step::SyncAnswered(id))
            }
        };
        if !push.trip.late {
            self.expect_push(id, ends.0, ends.1);
        }
        self.syncs.pushes.put(id, push);
    }

    /// The store takes what a node has to tell, and copies what that does not know.
    fn add_up(&mut self, desk: &mut Desk<'a>, at: Instant, push: &mut Push) {
        for (key, charges) in &push.charges {
            self.apply(desk, at, *key, charges);
        }
        if push.trip.late {
            return;
        }
        let shelf = self.shelf();
        for (key, copy) in &mut push.pulls {
            let changes = self.stock.get(*key).changes;
            if self.syncs.nodes[push.node].heard.get(key).is_none_or(|heard| *heard == changes) {
                continue;
            }
            let met = desk.ring.met(key.0, key.1);
            let spot = self.places.spot(shelf, met);
            *copy = Some((self.places.gate(shelf).duplicate(&spot), changes));
        }
    }

    /// Charges the store's state of a key with what a node has charged.
    fn apply(&mut self, desk: &mut Desk<'a>, at: Instant, id: Id, charges: &[Charge]) {
        self.remember(desk, id);
        let met = desk.ring.met(id.0, id.1);
        desk.keys.clear();
        desk.keys.push(met);
        let shelf = self.shelf();
        self.find_spots(desk, shelf);
        for charge in charges {
            let ruling = charge.ruling();
            self.spots[0].cost = charge.cost;
            self.places.gate(shelf).enact_elsewhere(&self.spots, &[charge.as_of], &ruling);
            self.hit(desk, at, charge.as_of, &ruling);
        }
    }

    /// A node has the answer to a push: what is known to all, and what it has charged since.
    pub(super) fn sync_answered(&mut self, desk: &mut Desk<'a>, at: Instant, id: u32) {
        let mut push = self.syncs.pushes.take_up(id);
        let node = push.node;
        let reading = self.nodes.clocks[node].reading(self.run.start, at);
        for (key, copy) in std::mem::take(&mut push.pulls) {
            let Some((copy, changes)) = copy else { continue };
            let met = desk.ring.met(key.0, key.1);
            let spot = self.places.spot(node, met);
            let gate = self.places.gate(node);
            let own = &mut self.syncs.nodes[node];
            // Of a key that it has forgotten since, it does not learn anew.
            let Some(heard) = own.heard.get_mut(&key) else {
                gate.give_back(&copy);
                continue;
            };
            *heard = changes;
            gate.copy(&copy, &spot);
            gate.give_back(&copy);
            for charge in own.charges.get(&key).into_iter().flatten() {
                let met = Met { cost: charge.cost, ..spot };
                gate.enact_elsewhere(&[met], &[charge.as_of], &charge.ruling());
            }
            desk.keys.clear();
            desk.keys.push(met);
            self.find_spots(desk, node);
            self.keep(desk, node, at, reading);
        }
        self.syncs.nodes[node].under_way -= 1;
        self.syncs.pushes.close(id);
        self.syncs.pushes.put(id, push);
    }

    /// A node has no answer to a push, and will tell the same again.
    pub(super) fn sync_fails(&mut self, desk: &mut Desk<'a>, at: Instant, id: u32) {
        desk.judge.call_failed(at);
        let push = self.syncs.pushes.take_up(id);
        let own = &mut self.syncs.nodes[push.node];
        // The store may still work on it: then it is told twice.
        for (key, charges) in &push.charges {
            let later = own.charges.entry(*key).or_default();
            later.splice(0..0, charges.iter().copied());
        }
        own.under_way -= 1;
        self.syncs.pushes.close(id);
        self.syncs.pushes.put(id, push);
    }
}
