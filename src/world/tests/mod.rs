//! The engine over small scenarios.
//!
//! - `open`: clients send on schedule.
//! - `closed`: what clients do after an answer; `backend`: what they wait for; `promises`: Retry-After.
//! - `twin`: a second closed loop, as plain as can be, over generated scenarios.

mod backend;
mod closed;
mod open;
mod promises;
mod twin;

use super::*;
use crate::algorithm::find;
use crate::error::Problems;
use crate::judge::Closed;
use crate::params::{Node, Params};
use crate::scenario::{Changes, Scenario};
use crate::traffic;
use std::path::Path;

/// An attempt: when it was made since 1970, its request, which try it is, and its fate.
type Seen = (Span, u64, u32, Fate);

/// Takes down every decision, and stops after so many reports of progress.
struct Witness {
    seen: Vec<Seen>,
    progressed: u64,
    reached: Vec<Span>,
    reports_left: u64,
}

impl Witness {
    fn new(reports_left: u64) -> Witness {
        Witness { seen: Vec::new(), progressed: 0, reached: Vec::new(), reports_left }
    }
}

impl Observer for Witness {
    fn decided(&mut self, decided: Decided) {
        let Decided { arrival, request, attempt, fate, .. } = decided;
        self.seen.push((arrival.at - Instant(0), request, attempt, fate));
    }

    fn progressed(&mut self, reached: Span, attempts: u64) -> bool {
        self.progressed += attempts;
        self.reached.push(reached);
        self.reports_left = self.reports_left.saturating_sub(1);
        self.reports_left > 0
    }
}

/// A scenario from 1970 on, read and with its traffic.
struct Staged {
    case: Case,
    traffic: Traffic,
    keys: KeyPlan,
}

impl Staged {
    fn new(scenario: &str) -> Staged {
        let text = format!("name = \"t\"\nstart = \"1970-01-01T00:00:00Z\"\n{scenario}");
        let scenario = Scenario::parse(Path::new("t.toml"), text.clone(), &Changes::default());
        let scenario = scenario.unwrap_or_else(|error| panic!("{}\n{text}", error.render(false)));
        let case = scenario.cases.into_iter().next().unwrap();
        let (traffic, _) = traffic::build(&case, Path::new("")).unwrap();
        let keys = KeyPlan::new(&case.limits, &traffic);
        Staged { case, traffic, keys }
    }

    fn plan<'a>(&'a self, stored: Option<&'a [Arrival]>) -> Plan<'a> {
        Plan::of(&self.case, self.case.seed, &self.traffic, stored, &self.keys)
    }

    /// The limiters of an algorithm with its defaults, and whether it has a queue.
    fn limiters(&self, algorithm: &str) -> (Limiters, bool) {
        let kind = find(algorithm).unwrap();
        let (node, problems) = (Node::empty(), Problems::new());
        let limiter = |limit| kind.limiter(limit, &mut Params::new(&node, &problems)).unwrap();
        let limiters = self.case.limits.iter().map(|spec| {
            let tiers = spec.tiers.iter().map(|tier| &tier.limit);
            [&spec.limit].into_iter().chain(tiers).map(limiter).collect()
        });
        (limiters.collect(), kind.queues)
    }

    /// Runs an algorithm over requests made up on the way, and over those stored.
    fn run_until(
        &self,
        reports: u64,
        algorithm: &str,
        reference: Option<&Decisions>,
    ) -> (Result<(Tally, Decisions), Stopped>, Witness) {
        let of = |plan: &Plan| {
            let (limiters, queues) = self.limiters(algorithm);
            let mut witness = Witness::new(reports);
            (run(plan, Rules::plain(limiters, queues), reference, &mut witness), witness)
        };
        let arrivals: Vec<Arrival> = self.traffic.merged().collect();
        let (made_up, stored) = (of(&self.plan(None)), of(&self.plan(Some(&arrivals))));
        assert_eq!(made_up.0, stored.0, "requests that were stored decide as others");
        assert_eq!(made_up.1.seen, stored.1.seen);
        stored
    }
}

fn run_until(
    reports: u64,
    algorithm: &str,
    scenario: &str,
    reference: Option<&Decisions>,
) -> (Result<(Tally, Decisions), Stopped>, Witness) {
    Staged::new(scenario).run_until(reports, algorithm, reference)
}

fn run_whole(algorithm: &str, scenario: &str) -> (Tally, Decisions, Witness) {
    let (result, witness) = run_until(u64::MAX, algorithm, scenario, None);
    let (tally, decisions) = result.unwrap();
    (tally, decisions, witness)
}

/// A closed loop from 1970 on, as it happened.
struct Story {
    tally: Tally,
    seen: Vec<Seen>,
}

/// Runs an algorithm with its defaults. Traffic of one client, unless the scenario says otherwise.
fn story(algorithm: &str, scenario: &str) -> Story {
    let (tally, decisions, witness) = run_whole(algorithm, scenario);
    assert_eq!(decisions.len(), 0, "decisions are kept in an open loop only");
    assert!(tally.closed.is_some());
    Story { tally, seen: witness.seen }
}

impl Story {
    /// Every attempt, as in `500ms 3.2 no`: at 500 ms the second of request 3 was refused.
    fn attempts(&self) -> String {
        let said = self.seen.iter().map(|(at, request, attempt, fate)| {
            let fate = match fate {
                Fate::Accepted => "yes".to_owned(),
                Fate::Queued(span) => format!("in {span}"),
                Fate::Rejected(_) | Fate::TurnedDown => "no".to_owned(),
            };
            format!("{at} {request}.{attempt} {fate}")
        });
        said.collect::<Vec<_>>().join(", ")
    }

    fn closed(&self) -> &Closed {
        self.tally.closed.as_ref().unwrap()
    }

    /// Requests that succeeded, were given up, and were neither.
    fn ends(&self) -> [u64; 3] {
        let books = self.tally.books;
        [books.succeeded, books.gave_up, books.unfinished]
    }

    /// Attempts let through, rejected, failed and pending.
    fn fates(&self) -> [u64; 4] {
        let books = self.tally.books;
        [books.accepted, books.rejected, books.failed, books.pending]
    }

    /// When the bins begin in which requests were given up, one for each request.
    fn gave_up_at(&self) -> Vec<String> {
        let timeline = &self.tally.timeline;
        let bins = timeline.bins.iter().enumerate();
        bins.flat_map(|(index, bin)| {
            let start = timeline.start_of(index) - Instant(0);
            std::iter::repeat_n(start.to_string(), bin.gave_up as usize)
        })
        .collect()
    }

    /// The longest time to success.
    fn slowest(&self) -> String {
        self.closed().time_to_success.max().unwrap().to_string()
    }
}

/// A burst of so many requests.
fn burst(at: &str, requests: u32) -> String {
    format!("[[traffic]]\nkind = \"burst\"\nat = \"{at}\"\nrequests = {requests}\n")
}
