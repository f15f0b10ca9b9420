//! The `[backend]` table.

use super::brown_out::{self, BrownOut, Disturbance};
use crate::error::Problems;
use crate::params::{Choice, Params};
use crate::time::{Span, Window};

/// The `[backend]` table.
#[derive(Debug, Clone)]
pub struct BackendSpec {
    pub(super) slots: u64,
    /// The mean.
    pub(super) service_time: Span,
    pub(super) service: Service,
    /// Jobs that may wait.
    pub(super) queue: u64,
    pub(super) abandoned: Abandoned,
    pub(super) reject_cost: Span,
    /// In the order in which they begin.
    brown_outs: Vec<BrownOut>,
}

/// What the table is for.
pub const MEANING: &str =
    "What does the work of attempts that were let through. Left out: it takes no time.";

/// How service times are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// All alike.
    Constant,
    /// Exponentially distributed.
    Exponential,
}

impl Choice for Service {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("constant", Service::Constant, "every attempt takes `service-time`"),
        (
            "exponential",
            Service::Exponential,
            "exponentially distributed; `service-time` is the mean",
        ),
    ];
}

/// What happens to a job that nobody waits for any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abandoned {
    /// It is done all the same.
    Serve,
    /// It is dropped when its turn comes.
    Skip,
}

impl Choice for Abandoned {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("serve", Abandoned::Serve, "it is done all the same, for nobody"),
        ("skip", Abandoned::Skip, "it is dropped when its turn comes; what has begun is done"),
    ];
}

/// More slots, or more entries of a queue, are refused.
const MOST: u64 = 1 << 32;

/// How many may wait if the scenario does not say: what the listen queues of nginx, Apache httpd, Redis
/// and Node.js hold by default. Long enough for a short burst, short enough for an overload to show as
/// attempts turned away rather than as waits without end.
const QUEUE: u64 = 511;

impl BackendSpec {
    /// Reads the table. Something stands in for what could not be read.
    pub fn read(params: &mut Params) -> BackendSpec {
        let slots =
            params.within(1..=MOST).required("slots", "How many attempts it works on at a time.");
        let service_time: Option<Span> =
            params.required("service-time", "How long a slot is busy with an attempt, on average.");
        params.require(
            "service-time",
            service_time != Some(Span::ZERO),
            "work that takes no time at all",
            "write a span such as \"20ms\"; without a `[backend]`, work takes no time",
        );
        let service =
            params.or("service", Service::Constant, "How the times of attempts are spread.");
        let queue = params.within(0..=MOST).or(
            "queue",
            QUEUE,
            "How many may wait for a slot, first come, first served; others are turned away, which \
             their clients learn at once.",
        );
        let abandoned = params.or(
            "abandoned",
            Abandoned::Serve,
            "What becomes of queued work whose client no longer waits for it.",
        );
        let reject_cost = params.or(
            "reject-cost",
            Span::ZERO,
            "How long a rejection takes a slot; it queues for that like any other work.",
        );
        let brown_outs = brown_out::read_all(params, slots);
        let stand_in = Span::from_nanos(1);
        BackendSpec {
            slots: slots.unwrap_or(1),
            service_time: service_time.unwrap_or(stand_in).max(stand_in),
            service,
            queue,
            abandoned,
            reject_cost,
            brown_outs,
        }
    }

    /// Reports brown-outs that do not begin within a run of this length.
    pub fn check_within(&self, duration: Span, problems: &Problems) {
        self.brown_outs.iter().for_each(|brown_out| brown_out.check_within(duration, problems));
    }

    /// What a rejection takes of a slot's time; zero where it costs nothing.
    pub fn reject_cost(&self) -> Span {
        self.reject_cost
    }

    /// From the start of its first disturbance to the end of its last within a run; `None` without any.
    pub fn disturbed(&self, run: Window) -> Option<Window> {
        let disturbances = self.disturbances(run);
        let (first, last) = (disturbances.first()?, disturbances.last()?);
        Some(Window { start: first.window.start, end: last.window.end.min(run.end) })
    }

    /// The brown-outs that begin within a run, in time order.
    pub(super) fn disturbances(&self, run: Window) -> Vec<Disturbance> {
        self.brown_outs.iter().filter_map(|one| one.within(run, self.slots)).collect()
    }
}
