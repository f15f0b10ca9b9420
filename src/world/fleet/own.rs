//! What nodes decide by states of their own, and how they forget.

use super::{Ask, Fleet, Outcome, Step};
use crate::nodes::Sweep;
use crate::time::{Instant, Reading};
use crate::world::desk::Desk;
use crate::world::gate::Decision;
use crate::world::{Asked, By, Fate};

impl<'a> Fleet<'a> {
    /// A node decides an attempt by its own state.
    pub(super) fn decide(&mut self, desk: &mut Desk<'a>, ask: Ask, node: usize, reading: Reading) {
        let at = ask.arrival.at;
        self.find_spots(desk, node);
        let gate = self.places.gate(node);
        let ruling = gate.rule(&self.spots, reading);
        let decision = gate.enact(&self.spots, reading, &ruling);
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
        let departs = match fate {
            Fate::Queued(span) => at + span,
            _ => at,
        };
        self.conclude(desk, ask, node, at, fate, by, departs);
    }

    /// An attempt was decided, and its node knows of it.
    #[expect(clippy::too_many_arguments, reason = "they are the fields of what is told")]
    pub(super) fn conclude(
        &mut self,
        desk: &Desk<'a>,
        ask: Ask,
        node: usize,
        at: Instant,
        fate: Fate,
        by: By,
        departs: Instant,
    ) {
        self.outcomes.push(Outcome::Decided { ask, node, at, fate, by, departs });
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
            let seen = &mut self.seen[met.limit];
            if seen.len() <= met.key {
                seen.resize(met.key + 1, Vec::new());
            }
            let seen = &mut seen[met.key];
            seen.resize(self.nodes.count, Instant(i64::MIN));
            seen[node] = at;
        }
    }

    /// A node forgets the keys that it has not seen for long.
    pub(super) fn sweep(&mut self, desk: &mut Desk<'a>, at: Instant, node: usize) {
        let Some(Sweep { every, idle }) = self.nodes.sweep else { return };
        for limit in 0..self.seen.len() {
            let keys: Vec<usize> = self.places.keys(node, limit).collect();
            for key in keys {
                let last = self.seen[limit].get_mut(key).and_then(|seen| seen.get_mut(node));
                let Some(last) = last.filter(|last| last.0 > i64::MIN && **last + idle <= at)
                else {
                    continue;
                };
                *last = Instant(i64::MIN);
                let met = desk.ring.met(limit, key);
                let spot = self.places.spot(node, met);
                self.places.gate(node).forget(&spot);
                self.syncs.forget(node, (limit, key));
                let (footprint, until) =
                    self.holdings.hold((limit, key), node, at, Default::default(), at);
                desk.judge.kept(limit, key, at, footprint, Some(until));
            }
        }
        self.later(at + every, Step::Sweeps(node));
    }
}
