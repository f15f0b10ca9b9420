//! What the threads of a run find, put together: by key in the order in which keys are first seen, whichever thread is
//! done first.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::keys::Keys;
use crate::judge::{Findings, Met, Peak, Roll, Subjects, Tally, Whole, Worst, Wrong};
use crate::rate::Limit;
use crate::world::Plan;

/// What was found for keys in a row.
pub(super) struct Block {
    /// The first key.
    pub first: usize,
    /// By key.
    pub attempts: Vec<u64>,
    /// By key and algorithm.
    met: Vec<Met>,
    /// By algorithm, the key whose window rose highest above its promise.
    worst: Vec<Option<Worst>>,
}

impl Block {
    /// Nothing yet for so many algorithms.
    pub fn of(keys: Range<usize>, algorithms: usize) -> Block {
        Block {
            first: keys.start,
            attempts: vec![0; keys.len()],
            met: vec![Met::default(); keys.len() * algorithms],
            worst: vec![None; algorithms],
        }
    }

    /// What a key of the block met with under an algorithm.
    pub fn add(
        &mut self,
        key: usize,
        algorithm: usize,
        promise: Limit,
        met: Met,
        peak: Option<Peak>,
    ) {
        self.met[key * self.worst.len() + algorithm] = met;
        let this = Worst { key: self.first + key, promise, peak };
        let worst = &mut self.worst[algorithm];
        *worst = Some(worst.map_or(this, |worst| worst.worse(this)));
    }
}

/// What was found so far.
pub(super) struct Collected {
    /// Blocks that came before those ahead of them.
    early: BTreeMap<usize, Block>,
    /// How many blocks were put in their places.
    blocks: usize,
    /// By key.
    attempts: Vec<u64>,
    entrants: Vec<Entrant>,
    /// By bin.
    offered: Vec<u64>,
}

/// What was found for one entrant.
#[derive(Default)]
struct Entrant {
    keys: Subjects,
    worst: Option<Worst>,
    findings: Option<Findings>,
    wrong: Wrong,
}

impl Entrant {
    fn with_room(keys: usize) -> Entrant {
        Entrant { keys: Subjects::with_room(keys), ..Entrant::default() }
    }
}

impl Collected {
    /// Nothing yet of so many algorithms and keys.
    pub fn new(entrants: usize, keys: usize) -> Collected {
        Collected {
            early: BTreeMap::new(),
            blocks: 0,
            attempts: Vec::with_capacity(keys),
            entrants: (0..entrants).map(|_| Entrant::with_room(keys)).collect(),
            offered: Vec::new(),
        }
    }

    /// Takes in the block with this number.
    pub fn add(&mut self, number: usize, block: Block) {
        self.early.insert(number, block);
        while let Some(block) = self.early.remove(&self.blocks) {
            self.blocks += 1;
            self.attempts.extend(block.attempts);
            let count = self.entrants.len();
            for (position, entrant) in self.entrants.iter_mut().enumerate() {
                let met = block.met.iter().skip(position).step_by(count);
                entrant.keys.push_all(met.copied());
                let worst = [entrant.worst, block.worst[position]];
                entrant.worst = worst.into_iter().flatten().reduce(Worst::worse);
            }
        }
    }

    /// Takes in what a thread found over all of its keys.
    pub fn close(&mut self, offered: &[u64], found: Vec<(Findings, Wrong)>) {
        self.offered.resize(offered.len(), 0);
        self.offered.iter_mut().zip(offered).for_each(|(own, others)| *own += others);
        for (entrant, (findings, wrong)) in self.entrants.iter_mut().zip(found) {
            entrant.wrong.allowed += wrong.allowed;
            entrant.wrong.limited += wrong.limited;
            match &mut entrant.findings {
                Some(own) => own.merge(&findings),
                none => *none = Some(findings),
            }
        }
    }

    /// The findings of all entrants.
    pub fn tallies(self, plan: &Plan, keys: &Keys) -> Vec<Tally> {
        let mut roll = Roll::default();
        let mut owners = Vec::with_capacity(keys.len());
        for (number, &attempts) in self.attempts.iter().enumerate() {
            let key = keys.get(number);
            let promise = plan.promise(0, key.variant as usize);
            roll.push(&plan.keys.name_of(0, key.client, plan.traffic), attempts, Some(promise));
            owners.push(key.client);
        }
        let client = |client: usize| plan.traffic.clients[client].name.as_str();
        let clients = Arc::new(roll.of_owners(&owners, client));
        let roll = Arc::new(roll);
        let limit = &plan.limits[0];
        let tally = |entrant: Entrant| {
            let Entrant { keys, worst, findings, wrong } = entrant;
            let findings =
                findings.unwrap_or_else(|| unreachable!("a thread has closed its lanes"));
            findings.tally(Whole {
                window: plan.traffic.window,
                limit: (limit.name.clone(), limit.limit),
                keys: keys.under(Arc::clone(&roll)),
                clients: keys.under(Arc::clone(&clients)),
                worst,
                wrong,
                offered: &self.offered,
            })
        };
        self.entrants.into_iter().map(tally).collect()
    }
}
