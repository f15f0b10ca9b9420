//! Nodes that count by themselves and compare every so often: each pushes to the store what it has charged since
//! it did last, and pulls the states that came of what all have pushed. Between two such calls it decides by
//! what it knows.
//!
//! A push of which no answer came is pushed again, though the store may have worked on it.

use indexmap::IndexMap;

use super::stock::Id;
use super::under_way::UnderWay;
use super::{Ask, Fleet, Step};
use crate::nodes::Placement;
use crate::seed::below;
use crate::store::{Down, Exchange, bytes};
use crate::time::{Instant, Reading, Span};
use crate::world::Asked;
use crate::world::desk::Desk;
use crate::world::gate::Ruling;
use crate::world::keys::Met;

/// What nodes have to tell one another.
#[derive(Debug)]
pub(super) struct Syncs {
    /// By node.
    nodes: Vec<Own>,
    /// How often what is known of a key in the store has changed.
    versions: IndexMap<Id, u64>,
    pushes: UnderWay<Push>,
    rounds: u64,
}

/// What a node has to tell, and which state of a key it has heard of.
#[derive(Debug, Default)]
struct Own {
    charges: IndexMap<Id, Vec<Charge>>,
    heard: IndexMap<Id, u64>,
    /// Its pushes under way: it makes no others until these have ended, so that no answer overtakes another.
    under_way: usize,
}

/// What a node did to a state.
#[derive(Debug, Clone, Copy)]
struct Charge {
    reading: Reading,
    cost: u32,
    denied: bool,
}

/// By key, what a node did to its state.
type Charges = Vec<(Id, Vec<Charge>)>;

/// Keys about which a node asks, with copies of their states and how often these had changed once the store has
/// answered.
type Pulls = Vec<(Id, Option<(Met, u64)>)>;

/// A push under way.
#[derive(Debug)]
struct Push {
    node: usize,
    shard: usize,
    charges: Charges,
    pulls: Pulls,
    deadline: Instant,
    back: Span,
    late: bool,
    luck: u32,
}

impl Syncs {
    /// Nobody has anything to tell.
    pub fn new(nodes: usize) -> Syncs {
        Syncs {
            nodes: (0..nodes).map(|_| Own::default()).collect(),
            versions: IndexMap::new(),
            pushes: UnderWay::new(),
            rounds: 0,
        }
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
        self.find_spots(desk, node);
        let gate = self.places.gate(node);
        let ruling = gate.rule(&self.spots, reading);
        let decision = gate.enact(&self.spots, reading, &ruling);
        self.keep(desk, node, at, reading);
        let own = &mut self.syncs.nodes[node];
        for (index, met) in desk.keys.iter().enumerate() {
            let (id, bit) = ((met.limit, met.key), |bits: u64| bits >> index & 1 == 1);
            own.heard.entry(id).or_insert(0);
            let denied = self.denials_write && bit(ruling.refused);
            if bit(ruling.charged) || denied {
                let charge = Charge { reading, cost: met.cost, denied };
                own.charges.entry(id).or_default().push(charge);
            }
        }
        let asked = Asked { node: Some(node as u32), reading };
        self.decided_at_once(desk, ask, node, at, decision, Some(asked));
    }

    /// A node pushes what it has to tell, shard by shard, and asks for what others have told.
    pub(super) fn sync(&mut self, desk: &mut Desk<'a>, at: Instant, node: usize) {
        let Placement::Synced { every } = self.nodes.placement else { return };
        self.later(at + every, Step::Syncs(node));
        let own = &mut self.syncs.nodes[node];
        if own.under_way > 0 {
            return;
        }
        let charges = std::mem::take(&mut own.charges);
        let news = own.heard.iter().filter(|(id, heard)| {
            let version = self.syncs.versions.get(*id).copied().unwrap_or(0);
            version > **heard && !charges.contains_key(*id)
        });
        let news: Vec<Id> = news.map(|(id, _)| *id).collect();
        let mut shards: IndexMap<usize, (Charges, Pulls)> = IndexMap::new();
        for (id, charges) in charges {
            let of = shards.entry(self.shard(desk, id)).or_default();
            of.1.push((id, None));
            of.0.push((id, charges));
        }
        for id in news {
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
        self.syncs.rounds += 1;
        let mut stream = self.draws.part(u64::MAX, self.syncs.rounds);
        let condition = self.outages.condition(at, node, shard);
        let round_trip = condition.stretch(self.store.round_trip.draw(&mut stream));
        let chance = |stream: &mut _| below(stream, 1_000_000) as u32;
        let lost = chance(&mut stream) < condition.lost_calls_ppm;
        let unanswered = chance(&mut stream) < condition.lost_answers_ppm;
        let luck = chance(&mut stream);
        let (out, back) = (round_trip.nanos() / 2, round_trip.nanos().div_ceil(2));
        let (out, back) = (Span::from_nanos(out), Span::from_nanos(back));
        let deadline = at + self.store.timeout;
        let late = lost || unanswered || at + round_trip > deadline;
        let sizes: Vec<(usize, u64)> = pulls
            .iter()
            .map(|(id, _)| {
                let name = self.names.of(desk, &self.store.key_name, *id).length;
                (name, self.stock.get(*id).bytes.saturating_sub(name as u64))
            })
            .collect();
        desk.judge.called(at, bytes(Exchange::Increment, sizes.into_iter()));
        self.syncs.nodes[node].under_way += 1;
        let id = self.syncs.pushes.add();
        if !lost {
            self.expect_push(id, at + out, Step::SyncExecutes(id));
        }
        if late {
            self.expect_push(id, deadline, Step::SyncFails(id));
        }
        self.syncs.pushes.put(id, Push { node, shard, charges, pulls, deadline, back, late, luck });
    }

    fn expect_push(&mut self, id: u32, at: Instant, step: Step) {
        self.syncs.pushes.expect(id);
        self.later(at, step);
    }

    /// The store works on a push.
    pub(super) fn sync_executes(&mut self, desk: &mut Desk<'a>, at: Instant, id: u32) {
        let mut push = self.syncs.pushes.take_up(id);
        let down = self.outages.condition(at, push.node, push.shard).down;
        let fails = match down {
            None => (!self.make_room(desk, at)).then_some(at + push.back),
            Some(Down::Refuses) => Some(at + push.back),
            Some(Down::Silent) => Some(push.deadline),
        };
        if let Some(fails) = fails {
            if !push.late {
                self.expect_push(id, fails, Step::SyncFails(id));
            }
            self.syncs.pushes.put(id, push);
            return;
        }
        for (key, charges) in &push.charges {
            self.apply(desk, at, *key, charges, push.luck);
            *self.syncs.versions.entry(*key).or_insert(0) += 1;
        }
        if !push.late {
            let shelf = self.shelf();
            for (key, copy) in &mut push.pulls {
                let met = desk.ring.met(key.0, key.1);
                let spot = self.places.spot(shelf, met);
                let gate = self.places.gate(shelf);
                let own = Met { key: gate.take(met.limit, met.variant), ..met };
                gate.copy(&spot, &own);
                *copy = Some((own, self.syncs.versions.get(key).copied().unwrap_or(0)));
            }
            self.expect_push(id, at + push.back, Step::SyncAnswered(id));
        }
        self.syncs.pushes.put(id, push);
    }

    /// Charges the store's state of a key with what a node has charged.
    fn apply(&mut self, desk: &mut Desk<'a>, at: Instant, id: Id, charges: &[Charge], luck: u32) {
        self.remember(desk, id);
        let met = desk.ring.met(id.0, id.1);
        desk.keys.clear();
        desk.keys.push(met);
        let shelf = self.shelf();
        self.find_spots(desk, shelf);
        for charge in charges {
            let (own, other) = (u64::from(!charge.denied), u64::from(charge.denied));
            let ruling = Ruling { charged: own, refused: other, queued: Span::ZERO };
            self.spots[0].cost = charge.cost;
            self.places.gate(shelf).enact_elsewhere(&self.spots, charge.reading, &ruling);
            self.hit(desk, at, charge.reading, &ruling, luck);
        }
    }

    /// A node has the answer to a push: what is known to all, and what it has charged since.
    pub(super) fn sync_answered(&mut self, desk: &mut Desk<'a>, at: Instant, id: u32) {
        let mut push = self.syncs.pushes.take_up(id);
        let node = push.node;
        let reading = self.nodes.clocks[node].reading(self.run.start, at);
        for (key, copy) in std::mem::take(&mut push.pulls) {
            let Some((copy, version)) = copy else { continue };
            let met = desk.ring.met(key.0, key.1);
            let spot = self.places.spot(node, met);
            let gate = self.places.gate(node);
            gate.copy(&copy, &spot);
            gate.give_back(&copy);
            let own = &mut self.syncs.nodes[node];
            for charge in own.charges.get(&key).into_iter().flatten() {
                let ruling = Ruling {
                    charged: u64::from(!charge.denied),
                    refused: u64::from(charge.denied),
                    queued: Span::ZERO,
                };
                let met = Met { cost: charge.cost, ..spot };
                gate.enact_elsewhere(&[met], charge.reading, &ruling);
            }
            own.heard.insert(key, version);
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
