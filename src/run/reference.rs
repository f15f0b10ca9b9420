//! What the decisions of an open loop are compared with.

use super::contender::Contender;
use super::progress::Progress;
use super::watch::Watch;
use crate::algorithm;
use crate::error::{Error, Problems};
use crate::judge::{Tally, Wrong};
use crate::metrics;
use crate::scenario::{Case, LimitSpec};
use crate::world::{self, Decisions, Plan};

/// The sliding window log with its defaults over the same traffic, against whose decisions the
/// others are compared.
pub struct Reference {
    /// The contender that it is.
    pub log: Contender,
    tally: Tally,
    /// One by one.
    pub decisions: Decisions,
}

impl Reference {
    /// The sliding window log under some limits.
    pub fn log(limits: &[LimitSpec]) -> Result<Contender, Error> {
        let kind = algorithm::position("sliding-window-log");
        let log = kind.and_then(|kind| Contender::plain(kind, limits, &Problems::new()));
        log.ok_or_else(|| Error::failed("compare", "there is no reference"))
    }

    /// With what the decisions of a contender are compared in a case; `None` where clients react to them.
    ///
    /// # Errors
    /// If there is no log to compare with.
    pub fn told(contender: &Contender, case: &Case) -> Result<Option<metrics::Reference>, Error> {
        if case.is_closed_loop() {
            return Ok(None);
        }
        let log = Reference::log(&case.limits)?;
        let other = contender.compared_with.as_deref().unwrap_or(&log);
        let counts_all = |one: &Contender| one.resolved["count-rejected"] == true;
        Ok(Some(metrics::Reference {
            name: other.name.clone(),
            named: contender.compared_with.is_some(),
            same_past: counts_all(contender) && counts_all(other),
        }))
    }

    /// Runs it over the requests of a plan.
    pub fn over(case: &Case, plan: &Plan, progress: &dyn Progress) -> Result<Reference, Error> {
        let log = Reference::log(plan.limits)?;
        let mut watch = Watch::new(case, progress, plan.traffic, None);
        let result = world::run(&plan.without_fleet(), log.alone(plan.limits), None, &mut watch);
        let (tally, decisions) = watch.outcome(result)?;
        Ok(Reference { log, tally, decisions })
    }

    /// What it found.
    pub fn findings(&self) -> &Tally {
        &self.tally
    }

    /// What a contender finds that decides as the reference does.
    pub fn tally(&self) -> Tally {
        Tally { wrong: Some(Wrong::default()), ..self.tally.clone() }
    }
}
