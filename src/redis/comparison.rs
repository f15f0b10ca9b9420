//! What of a scenario can be compared with a server, and what cannot.

use super::job::Job;
use super::refusal::{self, Skipped};
use crate::error::Error;
use crate::run::Prepared;
use crate::world::KeyPlan;

/// What of a scenario can be compared with a server.
pub struct Comparison<'a> {
    pub(super) jobs: Vec<Job<'a>>,
    pub(super) skipped: Vec<Skipped>,
}

impl<'a> Comparison<'a> {
    /// Sorts every algorithm of every case.
    ///
    /// # Errors
    /// If an algorithm cannot be put on the clock on which it would be compared.
    pub fn of(prepared: &'a Prepared) -> Result<Comparison<'a>, Error> {
        let (mut jobs, mut skipped) = (Vec::new(), Vec::new());
        for (position, case) in prepared.scenario.cases.iter().enumerate() {
            if let Some((why, without)) = refusal::of_case(case) {
                skipped.push(Skipped { case: case.name.clone(), algorithm: None, why, without });
                continue;
            }
            let traffic = prepared.traffic(position);
            for contender in prepared.contenders(position) {
                match refusal::clock(contender, case, traffic.window) {
                    Ok(tick) => jobs.push(Job {
                        position,
                        case: refusal::keeping(case),
                        contender: contender.on_clock(tick, &case.limits)?,
                        tick,
                        traffic,
                        keys: KeyPlan::new(&case.limits, traffic),
                    }),
                    Err(why) => skipped.push(Skipped {
                        case: case.name.clone(),
                        algorithm: Some(contender.name.clone()),
                        why,
                        without: Vec::new(),
                    }),
                }
            }
        }
        Ok(Comparison { jobs, skipped })
    }

    /// Whether nothing can be compared.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// What cannot be compared.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }
}
