//! The backend: what it takes to do the work of an attempt that was let through.

use crate::params::Params;
use crate::seed::Seed;
use crate::time::{Instant, Span, Window};

/// The `[backend]` table.
#[derive(Debug, Clone)]
pub struct BackendSpec {}

/// What the table is for.
pub const MEANING: &str =
    "What does the work of attempts that were let through. Left out: it takes no time.";

impl BackendSpec {
    /// Reads the table.
    pub fn read(_params: &mut Params) -> BackendSpec {
        BackendSpec {}
    }

    /// What a rejection takes of a slot's time; zero where it costs nothing.
    pub fn reject_cost(&self) -> Span {
        Span::ZERO
    }

    /// From the start of its first disturbance to the end of its last within a run; `None` without any.
    pub fn disturbed(&self, _run: Window) -> Option<Window> {
        None
    }
}

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

/// A job in service, by which [`Backend::finish`] finds it.
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
pub struct Backend {}

impl Backend {
    /// Idle.
    pub fn new(_spec: &BackendSpec, _run: Window, _seed: Seed) -> Backend {
        Backend {}
    }

    /// When its capacity changes within the run, in time order: [`Backend::change`] is due then.
    pub fn changes(&self) -> Vec<Instant> {
        Vec::new()
    }

    /// A job comes in.
    pub fn offer(&mut self, at: Instant, _job: Job) -> Entry {
        Entry::Started(Started { running: Running(0), until: at })
    }

    /// A job in service is due: gives it with the time that its slot was busy, or `None` if it was lost
    /// before. Its slot is free then: call [`Backend::start`] until it gives nothing.
    pub fn finish(&mut self, _at: Instant, _running: Running) -> Option<(Job, Span)> {
        None
    }

    /// Starts the next job in the queue if a slot is free for it. `waits` tells whether anybody still waits for
    /// a job; those for which nobody does are passed over where the backend notices.
    pub fn start(&mut self, _at: Instant, _waits: impl Fn(Job) -> bool) -> Option<Started> {
        None
    }

    /// The capacity changes: gives the jobs that are lost by it, each with the time that its slot was
    /// busy (zero for those in the queue). Call [`Backend::start`] afterwards until it gives nothing.
    pub fn change(&mut self, _at: Instant) -> Vec<(Job, Span)> {
        Vec::new()
    }

    /// Jobs in service or queued.
    pub fn len(&self) -> usize {
        0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
