//! The backend: what it takes to do the work of an attempt that was let through.
//!
//! A number of slots, each of which does one job at a time, and before them one queue, first in, first
//! out, with room for so many. A brown-out takes slots away, slows work down, or loses all that is there.
//!
//! A [`Backend`] keeps no clock. Whoever drives it tells it what happens and when, and decides the order
//! of what happens at one instant: jobs that are done ([`Backend::finish`]) first, so that a slot can be
//! taken at the instant at which it becomes free; then changes of capacity ([`Backend::change`]); then
//! new jobs ([`Backend::offer`]). After the first two, [`Backend::start`] hands out slots until it gives
//! nothing.

mod brown_out;
mod slots;
mod spec;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::seed::{Draws, Seed, exponential};
use crate::time::{Instant, Span, Window};

use brown_out::Disturbance;
use slots::Slots;
use spec::{Abandoned, Service};

pub use spec::{BackendSpec, MEANING};

/// What a job is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The answer to an attempt that was let through.
    Serve,
    /// The answer to one that was rejected.
    Reject,
}

/// A piece of work for the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// What for.
    pub work: Work,
    /// Whoever waits for it, as a number of the caller's.
    pub ticket: u64,
    /// The request and the try: what its service time is drawn by.
    pub drawn_by: (u64, u32),
}

/// What becomes of a job that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// It is being done.
    Started(Started),
    /// It waits for a slot.
    Queued,
    /// The queue is full.
    TurnedAway,
}

/// A job in service, by which [`Backend::finish`] finds it. No two jobs of one backend have the same,
/// unless four billion others were done in the slot between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Running(pub u64);

/// A job whose service began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    /// To be handed to [`Backend::finish`] ...
    pub running: Running,
    /// ... at this instant.
    pub until: Instant,
}

/// The backend of one run.
#[derive(Debug)]
pub struct Backend {
    spec: BackendSpec,
    /// Within the run, in time order.
    disturbances: Vec<Disturbance>,
    draws: Draws,
    slots: Slots,
    queue: VecDeque<Job>,
    /// Slots that may be busy, from the last change on; jobs that are being done are left to end.
    capacity: u64,
    /// What service that begins now takes longer by.
    slow_down: u64,
}

impl Backend {
    /// Idle. Brown-outs that would begin after the run are no part of it.
    pub fn new(spec: &BackendSpec, run: Window, seed: Seed) -> Backend {
        Backend {
            spec: spec.clone(),
            disturbances: spec.disturbances(run),
            draws: seed.draws("service"),
            slots: Slots::default(),
            queue: VecDeque::new(),
            capacity: spec.slots,
            slow_down: 1,
        }
    }

    /// When its capacity changes within the run, in time order: [`Backend::change`] is due then.
    pub fn changes(&self) -> Vec<Instant> {
        let mut changes: Vec<Instant> =
            self.disturbances.iter().flat_map(Disturbance::changes).collect();
        changes.dedup();
        changes
    }

    /// A job comes in. It starts at once only if nobody waits before it.
    pub fn offer(&mut self, at: Instant, job: Job) -> Entry {
        if self.queue.is_empty() && self.has_room() {
            return Entry::Started(self.serve(at, job));
        }
        if (self.queue.len() as u64) < self.spec.queue {
            self.queue.push_back(job);
            return Entry::Queued;
        }
        Entry::TurnedAway
    }

    /// A job in service is due: gives it with the time that its slot was busy, or `None` if it was lost
    /// before. Its slot is free then: call [`Backend::start`] until it gives nothing.
    pub fn finish(&mut self, at: Instant, running: Running) -> Option<(Job, Span)> {
        self.slots.free(running).map(|(job, since)| (job, at - since))
    }

    /// Starts the next job in the queue if a slot is free for it. `waits` tells whether anybody still waits for
    /// a job; those for which nobody does are passed over where the backend notices. They are gone then
    /// and took no time of a slot.
    pub fn start(&mut self, at: Instant, waits: impl Fn(Job) -> bool) -> Option<Started> {
        while self.has_room() {
            let job = self.queue.pop_front()?;
            if self.spec.abandoned == Abandoned::Serve || waits(job) {
                return Some(self.serve(at, job));
            }
        }
        None
    }

    /// The capacity changes: gives the jobs that are lost by it, each with the time that its slot was
    /// busy (zero for those in the queue); those in service first, in the order in which that began. Call
    /// [`Backend::start`] afterwards until it gives nothing.
    pub fn change(&mut self, at: Instant) -> Vec<(Job, Span)> {
        let current = self.disturbances.iter().find(|one| one.window.contains(at));
        (self.capacity, self.slow_down) =
            current.map_or((self.spec.slots, 1), |one| (one.slots, one.slow_down));
        if !current.is_some_and(|one| one.loses && one.window.start == at) {
            return Vec::new();
        }
        let running = self.slots.clear().into_iter().map(|(job, since)| (job, at - since));
        running.chain(self.queue.drain(..).map(|job| (job, Span::ZERO))).collect()
    }

    fn has_room(&self) -> bool {
        (self.slots.busy() as u64) < self.capacity
    }

    fn serve(&mut self, at: Instant, job: Job) -> Started {
        let until = at + self.time_of(job);
        Started { running: self.slots.take(job, at), until }
    }

    /// How long a job takes whose service begins now; saturates.
    fn time_of(&self, job: Job) -> Span {
        let time = match (job.work, self.spec.service) {
            (Work::Reject, _) => self.spec.reject_cost,
            (Work::Serve, Service::Constant) => self.spec.service_time,
            (Work::Serve, Service::Exponential) => {
                let (request, attempt) = job.drawn_by;
                let mut stream = self.draws.part(request, u64::from(attempt));
                let mean = self.spec.service_time.nanos() as f64;
                let nanos = libm::round(mean * exponential(&mut stream)) as u64;
                Span::try_from_nanos(u128::from(nanos)).unwrap_or(Span::MAX)
            }
        };
        let nanos = u128::from(time.nanos()) * u128::from(self.slow_down);
        Span::try_from_nanos(nanos).unwrap_or(Span::MAX)
    }
}
