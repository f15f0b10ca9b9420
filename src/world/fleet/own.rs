//! What nodes decide by states of their own, and how they forget.

use super::stock::Id;
use super::{Ask, Fleet, Outcome, Step};
use crate::nodes::Sweep;
use crate::time::{Instant, Reading, Window};
use crate::world::desk::Desk;
use crate::world::gate::Decision;
use crate::world::{Asked, By, Fate};

impl<'a> Fleet<'a> {
    /// A node decides an attempt by its own state.
    pub(super) fn decide(&mut self, desk: &mut Desk<'a>, ask: Ask, node: usize, reading: Reading) {
        let at = ask.arrival.at;
        let (_, decision) = self.places.decide(node, &desk.keys, &mut self.spots, reading);
        self.keep(desk, node, at, reading);
        self.see(desk, node, at);
        let by = By::Node(Asked { node: Some(node as u32), reading });
        self.decided_at_once(desk, ask, node, at, decision, by);
    }

    /// Tells the judge and whoever waits of a decision that its node knows of at once.
    pub(super) fn decided_at_once(
        &mut self,
        desk: &mut Desk<'a>,
        ask: Ask,
        node: usize,
        at: Instant,
        decision: Decision,
        by: By,
    ) {
        let fate = desk.settle(at, &ask.arrival, ask.number, decision);
        let end = match fate {
            Fate::Queued(span) => at + span,
            _ => at,
        };
        self.conclude(desk, ask, node, fate, by, Window { start: at, end });
    }

    /// An attempt was decided, and its node knows of it: at the beginning of the time for which it may be queued.
    pub(super) fn conclude(
        &mut self,
        desk: &Desk<'a>,
        ask: Ask,
        node: usize,
        fate: Fate,
        by: By,
        queued: Window,
    ) {
        let at = queued.start;
        self.outcomes.push(Outcome::Decided { ask, node, at, fate, by, queued });
        let window = desk.window();
        self.outcomes.push(Outcome::Answered { ask, at, fate, window });
    }

    /// Finds the states at a place of the keys at hand.
    pub(super) fn find_spots(&mut self, desk: &Desk<'a>, place: usize) {
        self.spots.clear();
        self.spots.extend_from_slice(&desk.keys);
        self.places.locate(place, &mut self.spots);
    }

    /// Takes down what the states of the keys at hand take at a node.
    pub(super) fn keep(&mut self, desk: &mut Desk<'a>, node: usize, at: Instant, reading: Reading) {
        for (met, spot) in desk.keys.iter().zip(&self.spots) {
            let kept = self.places.gate(node).kept(spot, reading);
            let until = kept.matters(reading).map_or(Instant(i64::MAX), |span| at + span);
            let id = (met.limit, met.key);
            let (footprint, until) = self.holdings.hold(id, node, at, kept.footprint, until);
            desk.judge.kept(met.limit, met.key, at, footprint, Some(until));
        }
    }

    /// A node has met the keys at hand.
    pub(super) fn see(&mut self, desk: &Desk<'a>, node: usize, at: Instant) {
        if self.nodes.sweep.is_none() {
            return;
        }
        for met in &desk.keys {
            self.seen[node].insert((met.limit, met.key), at);
        }
    }

    /// A node forgets the keys that it has not seen for long.
    pub(super) fn sweep(&mut self, desk: &mut Desk<'a>, at: Instant, node: usize) {
        let Some(Sweep { every, idle }) = self.nodes.sweep else { return };
        let idle: Vec<Id> = self.seen[node]
            .iter()
            .filter(|(_, last)| **last + idle <= at)
            .map(|(id, _)| *id)
            .collect();
        for id in idle {
            self.seen[node].swap_remove(&id);
            let spot = self.places.spot(node, desk.ring.met(id.0, id.1));
            self.places.gate(node).forget(&spot);
            self.syncs.forget(node, id);
            let (footprint, until) = self.holdings.hold(id, node, at, Default::default(), at);
            desk.judge.kept(id.0, id.1, at, footprint, Some(until));
        }
        self.later(at + every, Step::Sweeps(node));
    }
}
