//! Where attempts are decided: their keys found, the limits asked, the judge told.

use super::decisions::Decisions;
use super::gate::{Decision, Gate, Limiters};
use super::keyring::{Keyring, Met};
use super::{Fate, Plan};
use crate::judge::{Judge, Tally, Touch};
use crate::rate::Limit;
use crate::scenario::Combine;
use crate::store::{KeyName, Outages};
use crate::time::{Instant, Span};
use crate::traffic::Arrival;

/// The limits of one run with all that they remember, and the judge of it.
pub(super) struct Desk<'a> {
    plan: &'a Plan<'a>,
    pub ring: Keyring<'a>,
    /// Without any limiters where a fleet decides.
    gate: Gate,
    pub judge: Judge,
    one_key_each: bool,
    /// How long those who pass at once waited in the queue; `None` where there is none.
    at_once: Option<Span>,
    reference: Option<&'a Decisions>,
    decisions: Option<Decisions>,
    /// The keys of the attempt at hand; kept to reuse their memory.
    pub keys: Vec<Met>,
    /// Bit i tells whether the limit of `keys[i]` refused the attempt just decided.
    refused: u64,
    pub touches: Vec<Touch>,
    /// Clients that will act before long and their keys; kept to reuse their memory.
    soon: (Vec<u32>, Vec<u32>),
}

impl<'a> Desk<'a> {
    /// Nothing was decided yet. Decisions are kept, and compared with those of a `reference`, in an
    /// open loop only: elsewhere the attempts themselves depend on the algorithm.
    pub fn new(
        plan: &'a Plan,
        limiters: Limiters,
        queues: bool,
        reference: Option<&'a Decisions>,
    ) -> Desk<'a> {
        let limits: Vec<_> = plan.limits.iter().map(|l| (l.name.clone(), l.limit)).collect();
        let window = plan.traffic.window;
        let mut judge = Judge::new(window, &limits, plan.traffic.clients.len());
        let open = !plan.is_closed_loop();
        if !open {
            judge = judge.with_requests(plan.trigger);
        } else if reference.is_some() {
            judge = judge.with_reference();
        }
        if let Some(fleet) = plan.fleet {
            judge = judge.with_fleet(Outages::within(window, &fleet.store.outages).windows());
        }
        let one_key_each = plan.keys.is_one_key_each();
        if one_key_each {
            judge = judge.with_one_key_each();
        }
        Desk {
            plan,
            one_key_each,
            ring: Keyring::new(plan.keys),
            gate: Gate::new(plan.combine, limiters),
            judge,
            at_once: queues.then_some(Span::ZERO),
            reference: reference.filter(|_| open),
            decisions: open.then(Decisions::default),
            keys: Vec::new(),
            refused: 0,
            touches: Vec::new(),
            soon: Default::default(),
        }
    }

    /// Finds the keys of an attempt, and meets those that are new.
    #[inline]
    pub fn look_up(&mut self, arrival: &Arrival) {
        let Desk { plan, ring, gate, judge, keys, touches, one_key_each, .. } = self;
        keys.clear();
        touches.clear();
        ring.keys_of(arrival, |met| {
            if met.first {
                judge.meet(met.limit, plan.promise(met.limit, met.variant));
                if *one_key_each {
                    judge.met_own(arrival.client);
                }
                if plan.fleet.is_none() {
                    gate.meet(&met);
                }
            }
            touches.push(Touch { limit: met.limit, key: met.key, cost: met.cost });
            keys.push(met);
        });
    }

    /// Has what is known of clients and their keys fetched from memory, as it will be needed before long: one
    /// kind of record after another, so that the misses of one kind overlap.
    pub fn fetch(&mut self, clients: impl Iterator<Item = u32>) {
        let Desk { plan, ring, gate, judge, soon: (soon, keys), .. } = self;
        if plan.fleet.is_some() {
            return;
        }
        soon.clear();
        soon.extend(clients);
        judge.fetch_clients(soon);
        for limit in 0..plan.limits.len() {
            keys.clear();
            keys.extend(ring.known(soon, limit));
            judge.fetch_keys(limit, keys);
            gate.fetch(limit, keys);
        }
    }

    /// Decides an attempt. One that is queued counts as accepted once [`Desk::depart`] is told.
    pub fn decide(&mut self, arrival: &Arrival) -> Fate {
        self.look_up(arrival);
        let Desk { gate, judge, keys, touches, .. } = self;
        // Clocks are exact: a reading is the instant.
        let (at, now) = (arrival.at, arrival.at.exact());
        judge.offered(at, arrival.client, touches);
        let decision = gate.decide(keys, now, |met, kept| {
            let until = kept.neutral_from.map(|reading| Instant(reading.0));
            judge.kept(met.limit, met.key, at, kept.footprint, until);
        });
        let fate = self.judged(at, arrival, decision);
        if let Some(decisions) = &mut self.decisions {
            let allowed = !matches!(fate, Fate::Rejected(_));
            if let Some(reference) = self.reference {
                self.judge.compared(allowed, reference.get(decisions.len()));
            }
            decisions.push(allowed);
        }
        fate
    }

    /// Tells the judge what was decided at `at` of the attempt whose keys are at hand.
    fn judged(&mut self, at: Instant, arrival: &Arrival, decision: Decision) -> Fate {
        let Desk { judge, touches, at_once, .. } = self;
        match decision {
            Decision::Admit => judge.accepted(at, arrival.client, touches, *at_once),
            Decision::Queue(_) => {}
            Decision::Deny { refused, wait } => {
                judge.rejected(at, arrival.client, touches, refused, wait);
                self.refused = refused;
            }
        }
        decision.fate()
    }

    /// The fleet has decided at `at` an attempt of the request with this number, whose keys are at hand.
    pub fn settle(
        &mut self,
        at: Instant,
        arrival: &Arrival,
        number: u32,
        decision: Decision,
    ) -> Fate {
        let fate = self.judged(at, arrival, decision);
        self.compare(number, !matches!(fate, Fate::Rejected(_)));
        fate
    }

    /// A node has refused at `at` an attempt of which the store told it nothing, and whose keys are at hand.
    pub fn turn_down(&mut self, at: Instant, arrival: &Arrival, number: u32) -> Fate {
        self.judge.turned_down(at, arrival.client, &self.touches);
        self.refused = 0;
        self.compare(number, false);
        Fate::TurnedDown
    }

    /// Where clients send on schedule, requests are numbered as those of the reference are.
    fn compare(&mut self, number: u32, allowed: bool) {
        if let Some(reference) = self.reference {
            self.judge.compared(allowed, reference.get(number as usize));
        }
    }

    /// What was promised for a key.
    pub fn promise(&self, met: &Met) -> Limit {
        self.plan.promise(met.limit, met.variant)
    }

    /// The name of the first key of the attempt at hand; empty if it has none.
    pub fn first_key(&self) -> String {
        let name = |met: &Met| self.ring.name(self.plan.traffic, met.limit, met.key);
        self.keys.first().map_or(String::new(), name)
    }

    /// What a key is called in the store.
    pub fn stored_name(&self, template: &KeyName, limit: usize, key: usize) -> String {
        template.of(&self.plan.limits[limit].name, &self.ring.name(self.plan.traffic, limit, key))
    }

    /// Whether every limit decides for itself.
    pub fn is_independent(&self) -> bool {
        self.plan.combine == Combine::Independent
    }

    /// An attempt leaves the queue at `at`, having waited for `span`.
    pub fn depart(&mut self, at: Instant, arrival: &Arrival, span: Span) {
        self.look_up(arrival);
        self.judge.accepted(at, arrival.client, &self.touches, Some(span));
    }

    /// The longest `per` of the limits that refused the attempt just decided.
    pub fn window(&self) -> Span {
        let of = |(index, met): (usize, &Met)| {
            (self.refused >> index & 1 == 1).then(|| self.promise(met).per)
        };
        self.keys.iter().enumerate().filter_map(of).max().unwrap_or(Span::ZERO)
    }

    /// Closes the books over `pending` attempts in queues and `unfinished` requests.
    pub fn finish(self, pending: u64, unfinished: u64) -> (Tally, Decisions) {
        let Desk { ring, judge, plan, decisions, .. } = self;
        let clients = &plan.traffic.clients;
        let tally = judge.finish(
            pending,
            unfinished,
            |limit, key| ring.name(plan.traffic, limit, key),
            |client| clients[client].name.clone(),
        );
        (tally, decisions.unwrap_or_default())
    }
}
