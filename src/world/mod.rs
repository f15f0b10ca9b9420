//! The discrete-event engine: one algorithm, one case's traffic, one virtual clock.
//!
//! Events of one instant are handled in this order: departures from queues first (a place that
//! becomes free at an instant can be taken at that instant), then arrivals; of each kind in the
//! order in which they were scheduled, arrivals in the order of [`Traffic::merged`].

mod decisions;
mod gate;
mod keys;
mod queue;

use crate::algorithm::Wait;
use crate::judge::{Judge, Tally, Touch};
use crate::scenario::{Combine, LimitSpec};
use crate::time::{Instant, Span};
use crate::traffic::{Arrival, Traffic};

use gate::{Decision, Gate};
use keys::{Keyring, Met};
use queue::Queue;

pub use decisions::Decisions;
pub use gate::Limiters;
pub use keys::KeyPlan;

/// What all algorithms of a case are run over.
pub struct Plan<'a> {
    /// The requests.
    pub traffic: &'a Traffic,
    /// The same requests in time order, where they were stored; made up anew by every run if not.
    pub stored: Option<&'a [Arrival]>,
    /// The limits.
    pub limits: &'a [LimitSpec],
    /// How requests map to keys of the limits.
    pub keys: &'a KeyPlan,
    /// How the limits act together.
    pub combine: Combine,
}

/// One decision, for who wants to see them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decided<'a> {
    /// The attempt.
    pub arrival: &'a Arrival,
    /// What became of it.
    pub fate: Fate,
}

/// What became of an attempt when it was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Let through at once.
    Accepted,
    /// Let through after so long in the queue (if the run lasts until then).
    Queued(Span),
    /// Refused, with what the client was told.
    Rejected(Wait),
}

/// Who watches a run.
pub trait Observer {
    /// Called at every decision.
    fn decided(&mut self, _decided: Decided) {}

    /// Called now and then with the number of attempts decided since the last call; `false` stops
    /// the run.
    fn progressed(&mut self, attempts: u64) -> bool;
}

/// The run was stopped by its observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Attempts between two calls of [`Observer::progressed`].
const STRIDE: u64 = 1 << 14;

/// Runs one algorithm, as configured by limit and variant; `queues` tells whether it has a queue at
/// all, so that those who pass it at once count as having waited for no time. With a `reference`, its
/// decisions are compared with those, one by one; the decisions of this run are returned beside its
/// findings.
///
/// # Errors
/// [`Stopped`] if the observer asked for it.
///
/// # Panics
/// If the books of the run do not balance, which is a bug.
pub fn run(
    plan: &Plan,
    limiters: Limiters,
    queues: bool,
    reference: Option<&Decisions>,
    observer: &mut dyn Observer,
) -> Result<(Tally, Decisions), Stopped> {
    let mut world = World::new(plan, limiters, queues, reference);
    match plan.stored {
        Some(arrivals) => world.take_in(arrivals.iter().copied(), observer)?,
        None => world.take_in(plan.traffic.merged(), observer)?,
    }
    Ok(world.finish())
}

/// The state of a run.
struct World<'a> {
    plan: &'a Plan<'a>,
    ring: Keyring<'a>,
    gate: Gate,
    judge: Judge,
    departures: Queue<Queued>,
    /// How long those who pass at once waited in the queue; `None` where there is none.
    at_once: Option<Span>,
    reference: Option<&'a Decisions>,
    decisions: Decisions,
    /// The keys of the attempt at hand; kept to reuse its memory.
    keys: Vec<Met>,
    touches: Vec<Touch>,
}

/// An attempt in a queue.
struct Queued {
    arrival: Arrival,
    span: Span,
}

impl<'a> World<'a> {
    fn new(
        plan: &'a Plan,
        limiters: Limiters,
        queues: bool,
        reference: Option<&'a Decisions>,
    ) -> World<'a> {
        let limits: Vec<_> = plan.limits.iter().map(|l| (l.name.clone(), l.limit)).collect();
        let judge = Judge::new(plan.traffic.window, &limits, plan.traffic.clients.len());
        let judge = if reference.is_some() { judge.with_reference() } else { judge };
        World {
            plan,
            ring: Keyring::new(plan.keys),
            gate: Gate::new(plan.combine, limiters),
            judge,
            departures: Queue::new(),
            at_once: queues.then_some(Span::ZERO),
            reference,
            decisions: Decisions::default(),
            keys: Vec::new(),
            touches: Vec::new(),
        }
    }

    /// Decides all arrivals, which come in time order.
    fn take_in(
        &mut self,
        arrivals: impl Iterator<Item = Arrival>,
        observer: &mut dyn Observer,
    ) -> Result<(), Stopped> {
        let mut undecided = 0;
        for arrival in arrivals {
            self.depart_until(arrival.at);
            let fate = self.arrive(&arrival);
            observer.decided(Decided { arrival: &arrival, fate });
            undecided += 1;
            if undecided == STRIDE && !observer.progressed(std::mem::take(&mut undecided)) {
                return Err(Stopped);
            }
        }
        observer.progressed(undecided);
        Ok(())
    }

    /// Finds the keys of an attempt, and meets those that are new.
    fn look_up(&mut self, arrival: &Arrival) {
        let World { plan, ring, gate, judge, keys, touches, .. } = self;
        keys.clear();
        touches.clear();
        ring.keys_of(arrival, |met| {
            if met.first {
                let spec = &plan.limits[met.limit];
                let tier = met.variant.checked_sub(1).map(|position| spec.tiers[position].limit);
                judge.meet(met.limit, tier.unwrap_or(spec.limit));
                gate.meet(&met);
            }
            touches.push(Touch { limit: met.limit, key: met.key, cost: met.cost });
            keys.push(met);
        });
    }

    fn arrive(&mut self, arrival: &Arrival) -> Fate {
        self.look_up(arrival);
        let World { gate, judge, keys, touches, at_once, .. } = self;
        // Clocks are exact: a reading is the instant.
        let (at, now) = (arrival.at, arrival.at.exact());
        judge.offered(at, arrival.client, touches);
        let fate = match gate.decide(keys, now) {
            Decision::Admit => {
                judge.accepted(at, arrival.client, touches, *at_once);
                Fate::Accepted
            }
            Decision::Queue(span) => {
                self.departures.push(at + span, Queued { arrival: *arrival, span });
                Fate::Queued(span)
            }
            Decision::Deny { refused, wait } => {
                judge.rejected(at, arrival.client, touches, refused, wait);
                Fate::Rejected(wait)
            }
        };
        for met in keys.iter() {
            let (footprint, neutral) = gate.kept(met, now);
            let until = neutral.map(|reading| Instant(reading.0));
            judge.kept(met.limit, met.key, at, footprint, until);
        }
        let allowed = !matches!(fate, Fate::Rejected(_));
        if let Some(reference) = self.reference {
            judge.compared(allowed, reference.get(self.decisions.len()));
        }
        self.decisions.push(allowed);
        fate
    }

    /// Lets leave whoever's time has come.
    fn depart_until(&mut self, until: Instant) {
        while let Some((at, queued)) = self.departures.pop_until(until) {
            self.look_up(&queued.arrival);
            let client = queued.arrival.client;
            self.judge.accepted(at, client, &self.touches, Some(queued.span));
        }
    }

    fn finish(mut self) -> (Tally, Decisions) {
        // The run is half-open: who would leave at its end has not left.
        self.depart_until(self.plan.traffic.window.end - Span::from_nanos(1));
        let World { ring, judge, departures, plan, decisions, .. } = self;
        let clients = &plan.traffic.clients;
        let tally = judge.finish(
            departures.len() as u64,
            0,
            |limit, key| ring.name(limit, key),
            |client| clients[client].name.clone(),
        );
        (tally, decisions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::find;
    use crate::error::Problems;
    use crate::params::{Node, Params};
    use crate::scenario::{Changes, Scenario};
    use crate::time::SECOND;
    use crate::traffic;
    use std::path::Path;

    /// Takes down every decision, and stops after so many reports of progress.
    struct Witness {
        fates: Vec<(u64, Fate)>,
        progressed: u64,
        reports_left: u64,
    }

    impl Observer for Witness {
        fn decided(&mut self, decided: Decided) {
            let since_1970 = decided.arrival.at - Instant(0);
            self.fates.push((since_1970.nanos() / SECOND, decided.fate));
        }

        fn progressed(&mut self, attempts: u64) -> bool {
            self.progressed += attempts;
            self.reports_left = self.reports_left.saturating_sub(1);
            self.reports_left > 0
        }
    }

    /// Runs an algorithm with its defaults from 1970 on.
    fn run_until(
        reports: u64,
        algorithm: &str,
        scenario: &str,
        reference: Option<&Decisions>,
    ) -> (Result<(Tally, Decisions), Stopped>, Witness) {
        let text = format!("name = \"t\"\nstart = \"1970-01-01T00:00:00Z\"\n{scenario}");
        let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default()).unwrap();
        let case = &scenario.cases[0];
        let (traffic, _) = traffic::build(case, Path::new("")).unwrap();
        let keys = KeyPlan::new(&case.limits, &traffic);
        let arrivals: Vec<Arrival> = traffic.merged().collect();
        let plan = |stored| {
            let (limits, combine) = (&case.limits[..], case.combine);
            Plan { traffic: &traffic, stored, limits, keys: &keys, combine }
        };
        let kind = find(algorithm).unwrap();
        let (node, problems) = (Node::empty(), Problems::new());
        let of = |plan: &Plan| {
            let limiters = case.limits.iter().map(|spec| {
                vec![kind.limiter(&spec.limit, &mut Params::new(&node, &problems)).unwrap()]
            });
            let mut witness = Witness { fates: Vec::new(), progressed: 0, reports_left: reports };
            let result = run(plan, limiters.collect(), kind.queues, reference, &mut witness);
            (result, witness)
        };
        let (made_up, stored) = (of(&plan(None)), of(&plan(Some(&arrivals))));
        assert_eq!(made_up.0, stored.0, "requests that were stored decide as others");
        stored
    }

    fn run_whole(algorithm: &str, scenario: &str) -> (Tally, Decisions, Witness) {
        let (result, witness) = run_until(u64::MAX, algorithm, scenario, None);
        let (tally, decisions) = result.unwrap();
        (tally, decisions, witness)
    }

    /// A queue for one that lets out one a second: one attempt at 0 s, two at 1 s.
    const QUEUE: &str = "limit = \"1/1s\"\n\
        [[traffic]]\nkind = \"burst\"\nrequests = 1\n\
        [[traffic]]\nkind = \"burst\"\nat = \"1s\"\nrequests = 2\n";

    #[test]
    fn who_leaves_at_an_instant_has_left_before_who_arrives_at_it() {
        let (tally, decisions, witness) =
            run_whole("leaky-bucket", &format!("duration = \"3s\"\n{QUEUE}"));
        let second = Span::from_secs(1);
        // The first leaves at 1 s, the second arrives then and takes its place until 2 s; the queue is
        // full for the third, which would be let in once the second has left.
        let expected = [
            (0, Fate::Queued(second)),
            (1, Fate::Queued(second)),
            (1, Fate::Rejected(Wait::After(second))),
        ];
        assert_eq!(witness.fates, expected);
        assert_eq!((tally.books.accepted, tally.books.rejected, tally.books.pending), (2, 1, 0));
        // One has passed in (0 s, 1 s] when the third is refused: there was no room for it.
        assert_eq!(tally.needless_rejections, 0);
        assert_eq!([0, 1, 2].map(|index| decisions.get(index)), [true, true, false]);
    }

    #[test]
    fn who_would_leave_at_the_end_of_the_run_is_still_pending() {
        let (tally, ..) = run_whole("leaky-bucket", &format!("duration = \"2s\"\n{QUEUE}"));
        assert_eq!((tally.books.accepted, tally.books.rejected, tally.books.pending), (1, 1, 1));
        let longer = format!("duration = \"2000000001ns\"\n{QUEUE}");
        assert_eq!(run_whole("leaky-bucket", &longer).0.books.pending, 0);
    }

    #[test]
    fn attempts_of_one_instant_are_decided_in_the_order_of_the_sources() {
        let scenario = "duration = \"1s\"\nlimit = { requests = 3, per = \"1s\", key = \"everything\" }\n\
            [[traffic]]\nkind = \"burst\"\nrequests = 2\nclient = \"first\"\n\
            [[traffic]]\nkind = \"burst\"\nrequests = 2\nclient = \"second\"\n";
        let (tally, ..) = run_whole("fixed-window", scenario);
        let accepted: Vec<_> =
            tally.clients.iter().map(|client| (client.name.as_str(), client.accepted)).collect();
        assert_eq!(accepted, [("first", 2), ("second", 1)]);
    }

    #[test]
    fn decisions_are_compared_with_those_of_the_reference_one_by_one() {
        let mut reference = Decisions::default();
        [false, true, true].into_iter().for_each(|allowed| reference.push(allowed));
        let scenario = format!("duration = \"3s\"\n{QUEUE}");
        let (result, _) = run_until(u64::MAX, "leaky-bucket", &scenario, Some(&reference));
        let wrong = result.unwrap().0.wrong.unwrap();
        assert_eq!((wrong.allowed, wrong.limited), (1, 1));
    }

    #[test]
    fn every_attempt_is_reported_as_progress_and_a_run_can_be_stopped() {
        let scenario = "duration = \"1s\"\nlimit = \"1/1s\"\n\
            [[traffic]]\nkind = \"burst\"\nrequests = 40000\nover = \"1s\"\n";
        let (tally, decisions, witness) = run_whole("gcra", scenario);
        assert_eq!(
            (tally.books.attempts, decisions.len(), witness.progressed),
            (40_000, 40_000, 40_000)
        );
        let (stopped, witness) = run_until(1, "gcra", scenario, None);
        assert_eq!(stopped, Err(Stopped));
        assert_eq!(witness.progressed, STRIDE);
    }
}
