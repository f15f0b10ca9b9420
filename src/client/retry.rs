//! How failed attempts are made again: the settings of `[clients]` that mean something only to those who
//! retry.

use super::budget::{self, Budget};
use super::crowd::Memory;
use super::jitter::{JITTERS, Jitter, Sides};
use super::policy::{POLICIES, Schedule};
use super::retry_after::Heed;
use crate::params::{Named, Params};
use crate::time::Span;

/// How failed attempts are made again.
#[derive(Debug, Clone)]
pub struct Retry {
    /// The delays before jitter.
    pub schedule: Schedule,
    /// What chance makes of them.
    pub jitter: &'static Jitter,
    /// The options of the jitter.
    pub sides: Sides,
    /// What a header makes of them.
    pub heed: Heed,
    /// At most so many attempts, the first included.
    pub attempts: Option<u32>,
    /// At most so long between attempts, in sum.
    pub total_wait: Option<Span>,
    /// What retries are paid from.
    pub budget: Option<Budget>,
}

impl Retry {
    /// Reads the settings. `None` if clients do not retry, or after a problem was reported.
    pub fn read(params: &mut Params) -> Option<Retry> {
        let policy = params.pick(
            "retries",
            POLICIES,
            Some("none"),
            "Whether and when a failed attempt is made again; see `ratesim list retries`.",
        );
        let retries = policy.map(|policy| policy.delays.is_some());
        let retry = params.only(retries, "a `retries` other than \"none\"", |params| {
            let jitter = params.pick(
                "jitter",
                JITTERS,
                Some("none"),
                "What chance makes of the delay; see `ratesim list retries`.",
            );
            let jitter = jitter.zip(policy).map(|(jitter, policy)| {
                // Of a profile whose policy was changed, a jitter that makes no sense is passed over.
                if params.has("jitter") || policy.jitters.contains(&jitter.name) {
                    return jitter;
                }
                params.resolve("jitter", Jitter::NONE.name.into());
                &Jitter::NONE
            });
            let mut sides = Some(Sides::default());
            for kind in JITTERS {
                let Some(options) = kind.options else { continue };
                let chosen = jitter.map(|jitter| jitter.name == kind.name);
                let with = format!("`jitter = \"{}\"`", kind.name);
                if let Some(read) = params.only(chosen, &with, options) {
                    sides = read;
                }
            }
            let mut schedule = None;
            for kind in POLICIES {
                let Some(delays) = kind.delays else { continue };
                let chosen = policy.map(|policy| policy.name == kind.name);
                let with = format!("`retries = \"{}\"`", kind.name);
                if let Some(read) = params.only(chosen, &with, |params| delays(params, jitter)) {
                    schedule = read;
                }
            }
            let fits = jitter.zip(policy).is_some_and(|(jitter, policy)| {
                params.require(
                    "jitter",
                    policy.jitters.contains(&jitter.name),
                    format!(
                        "`{}` makes no sense with `retries = \"{}\"`: {}",
                        jitter.name(),
                        policy.name(),
                        policy.unjittered
                    ),
                    &format!("{} takes: {}", policy.name, policy.jitters.join(", ")),
                )
            });
            let heed = Heed::read(params);
            let attempts = params.within(1..=u64::from(Memory::MOST_TRIES)).optional(
                "attempts",
                "At most so many attempts of a request, the first included. By default no bound.",
            );
            let total_wait = params.optional(
                "total-wait",
                "A retry that would bring the sum of waits between attempts above this is not made, and \
                 the request given up at once. By default no bound.",
            );
            let budget = params.optional_table("budget", budget::MEANING, budget::read);
            let (jitter, sides, schedule) = (jitter.filter(|_| fits)?, sides?, schedule?);
            let budget = budget.flatten();
            Some(Retry { schedule, jitter, sides, heed, attempts, total_wait, budget })
        });
        retry.flatten()
    }
}
