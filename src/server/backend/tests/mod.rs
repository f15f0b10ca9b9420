//! The backend against hand-worked cases, problems of its settings, and a second backend.

mod naive;
mod problems;
mod worked;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::*;
use crate::error::{Problems, Source};
use crate::params::{Node, Params};

const MS: i64 = 1_000_000;

/// A run of so many milliseconds from 1970 on.
/// Jobs in service or queued.
fn jobs(backend: &Backend) -> usize {
    backend.slots.busy() + backend.queue.len()
}

fn run(ms: i64) -> Window {
    Window { start: Instant(0), end: Instant(ms * MS) }
}

/// Reads a `[backend]` table.
fn read(text: &str) -> Result<BackendSpec, String> {
    let problems = Problems::new();
    let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
    let node = Node::parse(Arc::new(source), &problems);
    let mut params = Params::new(&node, &problems);
    let spec = BackendSpec::read(&mut params);
    params.finish();
    problems.into_result().map(|()| spec).map_err(|error| error.render(false))
}

fn job(ticket: u64) -> Job {
    Job { work: Work::Serve, ticket, drawn_by: (ticket, 1) }
}

/// What became of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// A slot was busy with it from when to when.
    Done(Instant, Instant),
    /// It was lost after its slot was busy for so long.
    Lost(Span),
    /// It was passed over, because nobody waited for it.
    Skipped,
    TurnedAway,
    /// It is in service, or queued, at the end of the run.
    Inside,
}

/// Drives a backend over a run as an event loop would, and checks after every step what always holds.
struct Driver<'a> {
    backend: Backend,
    /// Until when `waits` says whether somebody waits for a job.
    waits: &'a dyn Fn(Instant, Job) -> bool,
    /// What is due when, lost jobs included.
    due: BTreeMap<(Instant, u64), (Running, u64)>,
    scheduled: u64,
    started: BTreeMap<u64, Instant>,
    fates: BTreeMap<u64, Fate>,
    /// Tickets in the order in which they were offered and not turned away.
    admitted: VecDeque<u64>,
}

impl Driver<'_> {
    fn schedule(&mut self, at: Instant, ticket: u64, started: Started) {
        // First come, first served: who is passed by was skipped.
        while let Some(next) = self.admitted.pop_front()
            && next != ticket
        {
            assert!(!(self.waits)(at, job(next)), "{next} waits before {ticket}");
        }
        self.started.insert(ticket, at);
        self.due.insert((started.until, self.scheduled), (started.running, ticket));
        self.scheduled += 1;
    }

    fn start_all(&mut self, at: Instant) {
        loop {
            let queue: Vec<u64> = self.backend.queue.iter().map(|job| job.ticket).collect();
            let waits = self.waits;
            let Some(started) = self.backend.start(at, |job| waits(at, job)) else { break };
            // It is the last of those that left the queue now.
            let left = queue.len() - self.backend.queue.len();
            self.schedule(at, queue[left - 1], started);
        }
        assert!(self.backend.queue.is_empty() || !self.backend.has_room(), "a slot is idle");
    }

    fn finish(&mut self, at: Instant, running: Running, ticket: u64) {
        let lost = self.fates.contains_key(&ticket);
        let found = self.backend.finish(at, running);
        assert_eq!(found.is_none(), lost, "{ticket}");
        if let Some((job, busy)) = found {
            assert_eq!((job.ticket, busy), (ticket, at - self.started[&ticket]));
            self.fates.insert(ticket, Fate::Done(at - busy, at));
        }
        assert_eq!(self.backend.finish(at, running), None, "{ticket} ends once");
        self.start_all(at);
    }

    fn change(&mut self, at: Instant) {
        for (job, busy) in self.backend.change(at) {
            assert_eq!(self.started.get(&job.ticket).map_or(Span::ZERO, |&from| at - from), busy);
            self.fates.insert(job.ticket, Fate::Lost(busy));
            self.admitted.retain(|&ticket| ticket != job.ticket);
        }
        self.start_all(at);
    }

    fn offer(&mut self, at: Instant, job: Job) {
        let queued = self.backend.queue.len() as u64;
        match self.backend.offer(at, job) {
            Entry::Started(started) => {
                self.admitted.push_back(job.ticket);
                self.schedule(at, job.ticket, started);
                assert!(self.backend.slots.busy() as u64 <= self.backend.capacity);
            }
            Entry::Queued => self.admitted.push_back(job.ticket),
            Entry::TurnedAway => {
                assert_eq!(queued, self.backend.spec.queue, "only a full queue turns away");
                self.fates.insert(job.ticket, Fate::TurnedAway);
            }
        }
        assert!(self.backend.queue.len() as u64 <= self.backend.spec.queue);
    }
}

/// What becomes of jobs, by their tickets, which are 0, 1 and so on; offers come in time order.
fn fates(
    spec: &BackendSpec,
    run: Window,
    offers: &[(Instant, Job)],
    waits: &dyn Fn(Instant, Job) -> bool,
) -> Vec<Fate> {
    let backend = Backend::new(spec, run, Seed(1));
    let mut changes: VecDeque<Instant> = backend.changes().into();
    let mut offers: VecDeque<_> = offers.iter().copied().collect();
    let count = offers.len() as u64;
    let mut driver = Driver {
        backend,
        waits,
        due: BTreeMap::new(),
        scheduled: 0,
        started: BTreeMap::new(),
        fates: BTreeMap::new(),
        admitted: VecDeque::new(),
    };
    loop {
        let due = driver.due.first_key_value().map(|(key, _)| key.0);
        let [change, offer] = [changes.front().copied(), offers.front().map(|offer| offer.0)];
        let next = [due, change, offer].into_iter().flatten().min();
        let Some(at) = next.filter(|&at| at < run.end) else { break };
        if due == Some(at) {
            if let Some((_, (running, ticket))) = driver.due.pop_first() {
                driver.finish(at, running, ticket);
            }
        } else if change == Some(at) {
            changes.pop_front();
            driver.change(at);
        } else if let Some((_, job)) = offers.pop_front() {
            driver.offer(at, job);
        }
    }
    let Driver { backend, fates, started, .. } = driver;
    let queued = |ticket| backend.queue.iter().any(|job| job.ticket == ticket);
    let fate = |ticket| match fates.get(&ticket) {
        Some(&fate) => fate,
        None if queued(ticket) || started.contains_key(&ticket) => Fate::Inside,
        None => Fate::Skipped,
    };
    let fates: Vec<Fate> = (0..count).map(fate).collect();
    let inside = fates.iter().filter(|&&fate| fate == Fate::Inside).count();
    assert_eq!(jobs(&backend), inside);
    fates
}
