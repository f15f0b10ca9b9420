//! The first decision on which model and server differ, with what came before it.

use std::collections::VecDeque;

use super::invocation::{Answer, micros};
use crate::time::{Reading, Span};
use crate::traffic::Traffic;
use crate::world::{Decided, Keyring, Observer};

/// An attempt as the model decided it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Its number among the attempts of the run, from 1.
    pub number: u64,
    /// What the clock showed by which it was decided, on the clock's resolution.
    pub reading: Reading,
    /// Whose state decided; `None` for the one that all nodes share.
    pub node: Option<u32>,
    /// Who made it.
    pub client: String,
    /// For what.
    pub endpoint: String,
    /// What the model decided.
    pub model: Answer,
    /// The keys it was counted under.
    pub keys: Vec<Counted>,
}

/// A key under which an attempt is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The position of the limit.
    pub limit: usize,
    /// The name of the key.
    pub key: String,
    /// What the attempt costs there.
    pub cost: u32,
}

/// The first attempt that a server decided otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The attempt.
    pub attempt: Attempt,
    /// What the server decided.
    pub server: Answer,
    /// The last attempts before it that were counted under any of its keys, the oldest first.
    pub before: Vec<Attempt>,
}

/// So many attempts before it are told.
const TOLD: usize = 10;

/// Watches a second run of the model up to an attempt.
pub(super) struct Lookback<'a> {
    ring: Keyring<'a>,
    traffic: &'a Traffic,
    tick: Span,
    /// The number of the attempt, from 1.
    until: u64,
    /// Its place and keys: node, then limit and number of each key.
    node: Option<u32>,
    keys: &'a [(usize, usize)],
    number: u64,
    attempts: VecDeque<Attempt>,
}

impl<'a> Lookback<'a> {
    pub fn new(
        ring: Keyring<'a>,
        traffic: &'a Traffic,
        tick: Span,
        until: u64,
        (node, keys): (Option<u32>, &'a [(usize, usize)]),
    ) -> Lookback<'a> {
        let attempts = VecDeque::new();
        Lookback { ring, traffic, tick, until, node, keys, number: 0, attempts }
    }

    /// The difference to what the server decided, once the run has passed it.
    pub fn difference(mut self, server: Answer) -> Option<Difference> {
        let attempt = self.attempts.pop_back().filter(|attempt| attempt.number == self.until)?;
        Some(Difference { attempt, server, before: self.attempts.into() })
    }
}

impl Lookback<'_> {
    /// An attempt was decided.
    fn note(&mut self, decided: Decided) {
        let Decided { arrival, fate, by, .. } = decided;
        self.number += 1;
        let mut met = Vec::new();
        self.ring.keys_of(arrival, |key| met.push(key));
        let asked = by.asked().filter(|asked| asked.node == self.node);
        let (Some(asked), Some(model)) = (asked, Answer::of(fate)) else { return };
        let concerns = met.iter().any(|met| self.keys.contains(&(met.limit, met.key)));
        if self.number > self.until || !concerns {
            return;
        }
        if self.attempts.len() > TOLD {
            self.attempts.pop_front();
        }
        self.attempts.push_back(Attempt {
            number: self.number,
            reading: Reading(micros(asked.reading, self.tick) * 1_000),
            node: asked.node,
            client: self.traffic.clients[arrival.client as usize].name.clone(),
            endpoint: self.traffic.endpoints[arrival.endpoint as usize].clone(),
            model,
            keys: met
                .iter()
                .map(|met| Counted {
                    limit: met.limit,
                    key: self.ring.name(self.traffic, met.limit, met.key),
                    cost: met.cost,
                })
                .collect(),
        });
    }
}

impl Observer for Lookback<'_> {
    fn decided(&mut self, decided: Decided) {
        self.note(decided);
    }

    fn decided_in_vain(&mut self, decided: Decided) {
        self.note(decided);
    }

    fn progressed(&mut self, _reached: Span, _attempts: u64) -> bool {
        self.number < self.until
    }
}
