//! Runs by the bulk engine: all algorithms of a replica at once.

use super::contender::Contender;
use super::prepare::PreparedCase;
use super::progress::Progress;
use super::reference::Reference;
use crate::error::Error;
use crate::judge::Tally;
use crate::replay;
use crate::scenario::Case;
use crate::traffic;
use crate::world::{KeyPlan, Plan};

/// The keys of a case, of its first replica, if its runs can be made in bulk.
pub fn takes(case: &Case, ready: &PreparedCase) -> Option<KeyPlan> {
    let keys = KeyPlan::new(&case.limits, &ready.traffic);
    let takes = replay::takes(&Plan::of(case, case.seed, &ready.traffic, None, &keys));
    takes.then_some(keys)
}

/// The findings of a replica, in the order of the algorithms; `keys` are those of the first one.
pub fn run(
    replica: u32,
    case: &Case,
    ready: &PreparedCase,
    keys: &KeyPlan,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Vec<Tally>, Error> {
    let seed = case.seed.replica(replica);
    let again = match replica {
        0 => None,
        _ => Some(traffic::again(case, seed, &ready.traffic)?),
    };
    let keys_again = again.as_ref().map(|traffic| KeyPlan::new(&case.limits, traffic));
    let traffic = again.as_ref().unwrap_or(&ready.traffic);
    let plan = Plan::of(case, seed, traffic, None, keys_again.as_ref().unwrap_or(keys));
    let log = Reference::log(plan.limits)?;
    // Those that are run, and those besides with which others are compared.
    let mut all: Vec<&Contender> = ready.contenders.iter().collect();
    let mut references = Vec::new();
    for contender in &ready.contenders {
        let other = contender.compared_with.as_deref().unwrap_or(&log);
        let known = all.iter().position(|one| one.decides_as(other));
        references.push(known.unwrap_or(all.len()));
        if known.is_none() {
            all.push(other);
        }
    }
    let makers: Vec<_> = all.iter().map(|one| || one.alone(plan.limits)).collect();
    let makers: Vec<replay::Maker> = makers.iter().map(|make| make as replay::Maker).collect();
    let told = Told { progress, runs: ready.contenders.len() as u64 + 1 };
    replay::run(&plan, &makers, &references, threads, &told).ok_or(Error::Interrupted)
}

/// Passes progress on.
struct Told<'a> {
    progress: &'a dyn Progress,
    /// Attempts of so many runs are decided at once, the reference's included.
    runs: u64,
}

impl replay::Observer for Told<'_> {
    fn progressed(&self, attempts: u64) -> bool {
        self.progress.advance(attempts * self.runs);
        !self.progress.stop()
    }
}
