//! One replica of a case: its seed, its traffic, and what all algorithms share that run over it.

use std::sync::Arc;

use super::contender::Contender;
use super::prepare::PreparedCase;
use super::progress::Progress;
use super::reference::Reference;
use super::simulate::STORED;
use super::watch::Watch;
use crate::error::Error;
use crate::judge::Tally;
use crate::scenario::Case;
use crate::seed::Seed;
use crate::traffic::{self, Arrival, Traffic};
use crate::world::{self, KeyPlan, Plan};

/// What all algorithms of a replica share.
pub struct Stage<'a> {
    /// Which replica, from 0.
    pub replica: u32,
    /// Its seed.
    pub seed: Seed,
    case: &'a Case,
    /// Its requests.
    pub traffic: Arc<Traffic>,
    stored: Option<Vec<Arrival>>,
    keys: KeyPlan,
    /// None of closed loops, where each algorithm has traffic of its own.
    reference: Option<Reference>,
}

impl<'a> Stage<'a> {
    /// Makes its traffic and what its algorithms are compared with.
    pub fn open(
        replica: u32,
        case: &'a Case,
        ready: &PreparedCase,
        progress: &dyn Progress,
    ) -> Result<Stage<'a>, Error> {
        let seed = case.seed.replica(replica);
        let traffic = match replica {
            0 => Arc::clone(&ready.traffic),
            _ => Arc::new(traffic::again(case, seed, &ready.traffic)?),
        };
        let keys = KeyPlan::new(&case.limits, &traffic);
        let few = ready.estimate.requests <= STORED;
        let stored: Option<Vec<Arrival>> = few.then(|| traffic.merged().collect());
        let plan = Plan::of(case, seed, &traffic, stored.as_deref(), &keys);
        let reference = match plan.is_closed_loop() {
            true => None,
            false => Some(Reference::over(case, &plan, progress)?),
        };
        Ok(Stage { replica, seed, case, traffic, stored, keys, reference })
    }

    /// Runs one algorithm.
    pub fn run(&self, contender: &Contender, watch: &mut Watch) -> Result<Tally, Error> {
        let Stage { seed, case, traffic, stored, keys, reference, .. } = self;
        if let Some(reference) = reference
            && watch.sink.is_none()
            && case.fleet.is_none()
            && contender.decides_as(&reference.log)
            && contender.compared_with.is_none()
        {
            return Ok(reference.tally());
        }
        let plan = Plan::of(case, *seed, traffic, stored.as_deref(), keys);
        let other = match &contender.compared_with {
            None => None,
            Some(other) => {
                let alone = plan.without_fleet();
                let mut unseen = Watch::new(case, watch.progress, traffic, None);
                let result = world::run(&alone, other.alone(plan.limits), None, &mut unseen);
                Some(unseen.outcome(result)?.1)
            }
        };
        let decisions = other.as_ref().or(reference.as_ref().map(|reference| &reference.decisions));
        let result = world::run(&plan, contender.rules(case), decisions, watch);
        let (mut tally, _) = watch.outcome(result)?;
        if let Some(reference) = reference {
            tally.share_rolls(reference.findings());
        }
        Ok(tally)
    }
}
