//! The bulk engine: traffic that nothing feeds back into, key by key.
//!
//! Where clients send on schedule, keys do not influence one another. So each key's history goes through every
//! algorithm at once, a chunk at a time that stays in the cache, with the state in registers and the judge in the
//! same pass; keys are spread over threads. It finds the same numbers as the event engine ([`world`](crate::world)).

mod collected;
mod keys;
mod lane;
mod stream;
mod work;

use crate::judge::{BulkJudge, Tally};
use crate::world::{Plan, Rules};

use keys::Keys;
use lane::Lane;
use work::{Hands, Work};

/// Whether a plan's runs can be made here: clients send on schedule, one node decides, and each client has one key
/// of its own under the only limit.
pub fn takes(plan: &Plan) -> bool {
    !plan.is_closed_loop() && plan.fleet.is_none() && plan.keys.is_one_key_each()
}

/// Who watches a run.
pub trait Observer: Sync {
    /// So many more attempts were decided; `false` stops the run.
    fn progressed(&self, attempts: u64) -> bool;
}

/// Makes the rules of an algorithm, anew for each thread.
pub type Maker<'a> = &'a (dyn Fn() -> Rules + Sync);

/// Runs algorithms over the traffic of a plan, on so many threads, which change no number. The first of them are judged,
/// as many as there are `references`: each of these is the position of the one with whose decisions its own are
/// compared. Gives the findings in that order; `None` if the observer stopped it.
///
/// # Panics
/// Unless it [takes] the plan, or if the books of a run do not balance, which is a bug.
pub fn run(
    plan: &Plan,
    algorithms: &[Maker],
    references: &[usize],
    threads: usize,
    observer: &dyn Observer,
) -> Option<Vec<Tally>> {
    assert!(takes(plan), "such a run is none of this engine's");
    let window = plan.traffic.window;
    let keys = Keys::of(plan.keys, plan.traffic);
    let has_costs = plan.traffic.sources.iter().any(|source| source.has_costs());
    let costs = plan.keys.counts_costs() && has_costs;
    let work = Work::new(plan, &keys, costs, observer, references.len(), threads);
    let hands = || {
        let lanes = algorithms.iter().map(|make| Lane::new(plan, make(), !costs)).collect();
        let judged = &algorithms[..references.len()];
        let queues: Vec<bool> = judged.iter().map(|make| make().queues).collect();
        Hands::new(lanes, BulkJudge::new(window, !costs, &queues, references))
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(keys.len()) {
            scope.spawn(|| work.run(hands()));
        }
        work.run(hands());
    });
    Some(work.finish()?.tallies(plan, &keys))
}
