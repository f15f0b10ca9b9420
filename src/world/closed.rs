//! A closed loop: clients react to what they are answered, and the backend's capacity is bounded. What
//! happens at one instant happens in the order of the `agenda`.
//!
//! Where there is no store to be asked, an attempt is decided at the instant at which it is made. Its answer reaches the client a round trip
//! after it was decided, or after the backend has done its work: so no client, however hasty, makes two
//! attempts of a request at one instant.

mod answers;
mod asked;

use super::agenda::{Agenda, Turn};
use super::desk::Desk;
use super::fleet::Fleet;
use super::requests::{Line, Requests, Ticket};
use super::stage::{Answer, Stage};
use super::{Asked, By, Decided, Fate, Observer, Plan, STRIDE, Stopped};
use crate::algorithm::Wait;
use crate::client::{Clients, Crowd};
use crate::judge::Trial;
use crate::seed::Draws;
use crate::server::{Backend, Entry, Header, Job, Started, Work};
use crate::time::{Instant, Span};
use crate::traffic::Arrival;

/// The clients, the backend and what lies ahead of them.
pub(super) struct Loop<'a, 'b> {
    desk: &'b mut Desk<'a>,
    plan: &'a Plan<'a>,
    clients: &'a Clients,
    crowd: Crowd<'a>,
    backend: Option<Backend>,
    /// Whether clients look at what a rejection tells them.
    heeds_headers: bool,
    /// Where the jitter of the server comes from.
    draws: Draws,
    requests: Requests,
    /// The nodes that decide, where there are several or a store is asked.
    fleet: Option<Fleet<'a>>,
    /// By client; empty where clients send on schedule.
    lines: Vec<Line>,
    agenda: Agenda,
    /// Whether answers must be dealt with in time order.
    ordered: bool,
    /// Whether the backend is busy with answers to rejected attempts.
    refusing_takes_time: bool,
    end: Instant,
    attempts: u64,
    /// What happened to nodes and store, which need no attempts for that.
    steps: u64,
}

impl<'a, 'b> Loop<'a, 'b> {
    /// Nothing has happened yet; `queues` tells whether attempts may wait at the desk.
    pub fn new(
        plan: &'a Plan<'a>,
        desk: &'b mut Desk<'a>,
        fleet: Option<Fleet<'a>>,
        queues: bool,
    ) -> Loop<'a, 'b> {
        let window = plan.traffic.window;
        let count = plan.traffic.clients.len();
        let crowd = Crowd::new(plan.clients, plan.seed, count);
        let backend = plan.backend.map(|spec| Backend::new(spec, window, plan.seed));
        let capped = plan.clients.in_flight.is_some();
        // Those who learn of an answer and those who wait for none any longer come again in the order in
        // which they learn.
        let takes_time = queues || backend.is_some() || fleet.is_some();
        let times_out = plan.clients.timeout.is_some() && takes_time;
        Loop {
            ordered: capped || times_out || crowd.needs_order(),
            heeds_headers: crowd.heeds_headers(),
            desk,
            plan,
            clients: plan.clients,
            crowd,
            agenda: Agenda::new(backend.as_ref().map(Backend::changes).unwrap_or_default()),
            backend,
            draws: plan.seed.draws("rejection"),
            requests: Requests::default(),
            fleet,
            lines: if capped { vec![Line::default(); count] } else { Vec::new() },
            refusing_takes_time: plan.backend.is_some_and(|b| b.reject_cost() > Span::ZERO),
            end: window.end,
            attempts: 0,
            steps: 0,
        }
    }

    /// Runs to the end, and returns how many attempts are still queued and how many requests under way.
    pub fn run(
        mut self,
        arrivals: impl Iterator<Item = Arrival>,
        observer: &mut dyn Observer,
    ) -> Result<(u64, u64), Stopped> {
        let most = self.plan.max_attempts;
        let mut arrivals = arrivals.enumerate().peekable();
        let (mut reported, mut done) = (0, 0);
        loop {
            let arrival = arrivals.peek().map(|(_, arrival)| arrival.at);
            let step = self.fleet.as_ref().and_then(Fleet::next_at);
            let next = self.agenda.next(step, arrival).filter(|(at, _)| *at < self.end);
            let Some((now, turn)) = next else { break };
            match turn {
                Turn::Done => self.finish_next(observer),
                Turn::Changes => self.change(),
                Turn::Departs => self.depart_next(observer),
                Turn::Steps => self.step(observer)?,
                Turn::Acts => self.act_next(observer),
                Turn::Arrives => {
                    let Some((number, arrival)) = arrivals.next() else { break };
                    self.arrive(number as u64, &arrival, observer);
                    self.check_slots()?;
                }
            }
            if self.attempts + self.steps - done >= STRIDE || self.attempts > most {
                done = self.attempts + self.steps;
                let new = self.attempts - std::mem::replace(&mut reported, self.attempts);
                self.report(observer, now, new)?;
            }
        }
        observer.progressed(self.plan.traffic.window.span(), self.attempts - reported);
        self.desk.judge.still_retrying(self.requests.retrying());
        if let Some(fleet) = &mut self.fleet {
            fleet.finish(self.desk);
        }
        let mut queued = self.requests.asking();
        while let Some((_, ticket)) = self.agenda.departures.pop(|_| {}) {
            queued += u64::from(self.requests.is_current(ticket));
        }
        Ok((queued, self.requests.live()))
    }

    /// Tells how far the run has come.
    fn report(&self, observer: &mut dyn Observer, now: Instant, new: u64) -> Result<(), Stopped> {
        if self.attempts > self.plan.max_attempts {
            return Err(Stopped::TooManyAttempts { at: now });
        }
        let reached = now - self.plan.traffic.window.start;
        if observer.progressed(reached, new) { Ok(()) } else { Err(Stopped::ByObserver) }
    }

    /// A client means to send a request.
    fn arrive(&mut self, number: u64, arrival: &Arrival, observer: &mut dyn Observer) {
        self.desk.judge.requested();
        let slot = self.requests.add(number, arrival);
        if let Some(most) = self.clients.in_flight {
            let line = &mut self.lines[arrival.client as usize];
            if line.busy >= most {
                return line.join(&mut self.requests, slot);
            }
            line.busy += 1;
        }
        self.attempt(slot, arrival.at, Trial::First, observer);
    }

    /// The next of what clients that have sent something do.
    fn act_next(&mut self, observer: &mut dyn Observer) {
        let Loop { requests, agenda, desk, .. } = self;
        let soon = |events: &[(u64, Ticket)]| {
            desk.fetch(events.iter().map(|(_, ticket)| requests.get(ticket.slot).client));
        };
        let Some((at, ticket)) = agenda.acts.pop(soon) else { return };
        if !self.requests.is_current(ticket) {
            return;
        }
        let slot = ticket.slot;
        match self.requests.get(slot).stage() {
            Stage::Pausing { obeys } => self.attempt(slot, at, Trial::Retry { obeys }, observer),
            Stage::Answered(answer) => self.settle(slot, at, answer, observer),
            Stage::Leaving => {
                self.desk.judge.gave_up(at);
                self.end_request(slot, at, observer);
            }
            Stage::Asking | Stage::Queued(_) => {
                self.desk.judge.failed();
                self.let_go(slot, at, observer);
            }
            Stage::Working => {
                self.desk.judge.abandoned();
                self.let_go(slot, at, observer);
            }
            Stage::Refused(_) => self.let_go(slot, at, observer),
            Stage::Free(_) | Stage::Backlog(_) => unreachable!("nothing lies ahead of it"),
        }
    }

    /// A client waits no longer for the answer to an attempt.
    fn let_go(&mut self, slot: u32, at: Instant, observer: &mut dyn Observer) {
        if let Some(fleet) = &mut self.fleet {
            fleet.answered(slot);
        }
        self.settle(slot, at, Answer::Failure(None), observer);
    }

    /// Makes an attempt of a request.
    #[inline]
    fn attempt(&mut self, slot: u32, at: Instant, trial: Trial, observer: &mut dyn Observer) {
        self.attempts += 1;
        let never = Instant(i64::MAX);
        let timeout = self.clients.timeout.map_or(never, |timeout| at + timeout);
        let request = self.requests.get_mut(slot);
        let leaves = self.crowd.leaves_at(&request.memory());
        request.until = timeout.min(leaves.unwrap_or(never));
        let attempt = request.try_again();
        let (client, number, arrival) = (request.client, request.number, request.arrival(at));
        if trial == Trial::First {
            self.crowd.began(client, at);
        }
        if self.fleet.is_some() {
            return self.ask(slot, number, attempt, arrival, trial, observer);
        }
        let fate = self.desk.decide(&arrival);
        self.desk.judge.tried(at, trial);
        let by = By::Node(Asked { node: None, reading: at.exact() });
        let request = u64::from(number);
        let arrival = &arrival;
        observer.decided(Decided { arrival, request, attempt, fate, at, node: 0, by });
        match fate {
            Fate::Accepted => match self.backend {
                None => self.answer_at_once(slot, at, Stage::Working, Answer::Success, observer),
                Some(_) => {
                    let ticket = self.wait(slot, Stage::Working);
                    self.employ(ticket, at, Work::Serve, observer);
                }
            },
            Fate::Queued(span) => {
                let ticket = self.wait(slot, Stage::Queued(at));
                self.agenda.departures.push(at + span, ticket);
            }
            Fate::TurnedDown => unreachable!("there is no store"),
            Fate::Rejected(wait) => {
                if trial == (Trial::Retry { obeys: true }) {
                    self.desk.judge.broke_promise();
                }
                let header = self.header(at, number, attempt, wait, || self.desk.window());
                if self.refusing_takes_time {
                    let ticket = self.wait(slot, Stage::Refused(header));
                    self.employ(ticket, at, Work::Reject, observer);
                } else {
                    let answer = Answer::Failure(header);
                    self.answer_at_once(slot, at, Stage::Refused(header), answer, observer);
                }
            }
        }
    }

    /// What a rejection tells its client, if that looks at it.
    #[inline]
    fn header(
        &self,
        at: Instant,
        number: u32,
        attempt: u32,
        wait: Wait,
        window: impl Fn() -> Span,
    ) -> Option<Header> {
        if !self.heeds_headers {
            return None;
        }
        let draw = || self.draws.part(u64::from(number), u64::from(attempt));
        self.plan.rejection.header(at, wait, window, draw)
    }

    /// Puts an attempt into a stage in which its client waits, for as long as it does.
    fn wait(&mut self, slot: u32, stage: Stage) -> Ticket {
        let ticket = self.requests.enter(slot, stage);
        self.remind(self.requests.get(slot).until, ticket);
        ticket
    }

    /// Schedules what a client does. What lies behind the run's end never happens.
    #[inline]
    fn remind(&mut self, at: Instant, ticket: Ticket) {
        if at < self.end {
            self.agenda.remind(at, ticket, &self.requests);
        }
    }

    /// Gives the backend the work for an attempt that waits for it.
    fn employ(&mut self, ticket: Ticket, at: Instant, work: Work, observer: &mut dyn Observer) {
        let Some(backend) = &mut self.backend else { unreachable!("it was looked for") };
        let request = self.requests.get(ticket.slot);
        let drawn_by = (u64::from(request.number), request.memory().tries);
        match backend.offer(at, Job { work, ticket: ticket.number(), drawn_by }) {
            Entry::Started(started) => self.schedule(started),
            Entry::Queued => {}
            Entry::TurnedAway => {
                if work == Work::Serve {
                    self.desk.judge.turned_away();
                }
                self.requests.get_mut(ticket.slot).set_stage(Stage::Refused(None));
                self.answer(ticket.slot, at, Answer::Failure(None), observer);
            }
        }
    }

    fn schedule(&mut self, started: Started) {
        self.agenda.done.push(started.until, started.running);
    }

    /// Hands out the slots of the backend that are free.
    fn start(&mut self, at: Instant) {
        let Loop { backend: Some(backend), requests, agenda, .. } = self else { return };
        let waits = |job: Job| requests.is_current(Ticket::from_number(job.ticket));
        while let Some(started) = backend.start(at, waits) {
            agenda.done.push(started.until, started.running);
        }
    }

    /// The capacity of the backend changes.
    fn change(&mut self) {
        let Some(at) = self.agenda.changes.pop_front() else { return };
        let Some(backend) = &mut self.backend else { return };
        for (job, busy) in backend.change(at) {
            self.desk.judge.worked(job.work, busy, true);
        }
        self.start(at);
    }

    /// The next job in service is done, unless it was lost before.
    fn finish_next(&mut self, observer: &mut dyn Observer) {
        let Some((at, running)) = self.agenda.done.pop(|_| {}) else { return };
        let Some(backend) = &mut self.backend else { return };
        if let Some((job, busy)) = backend.finish(at, running) {
            self.finish_job(at, job, busy, observer);
        }
        self.start(at);
    }

    /// The next attempt leaves the limiter's queue. If its client no longer waits, it goes nowhere.
    fn depart_next(&mut self, observer: &mut dyn Observer) {
        let Some((at, ticket)) = self.agenda.departures.pop(|_| {}) else { return };
        if !self.requests.is_current(ticket) {
            return;
        }
        let request = self.requests.get_mut(ticket.slot);
        let Stage::Queued(since) = request.stage() else { unreachable!("it was in the queue") };
        request.set_stage(Stage::Working);
        let arrival = request.arrival(since);
        self.desk.depart(at, &arrival, at - since);
        match self.backend {
            None => drop(self.answer(ticket.slot, at, Answer::Success, observer)),
            Some(_) => self.employ(ticket, at, Work::Serve, observer),
        }
    }

    /// The backend has done a job.
    fn finish_job(&mut self, at: Instant, job: Job, busy: Span, observer: &mut dyn Observer) {
        let ticket = Ticket::from_number(job.ticket);
        let answered = self.requests.is_current(ticket) && {
            let answer = match self.requests.get(ticket.slot).stage() {
                Stage::Refused(header) => Answer::Failure(header),
                _ => Answer::Success,
            };
            self.answer(ticket.slot, at, answer, observer)
        };
        self.desk.judge.worked(job.work, busy, !answered);
    }

    /// A request has ended: its client may send the next one that waits.
    fn end_request(&mut self, slot: u32, at: Instant, observer: &mut dyn Observer) {
        let client = self.requests.get(slot).client as usize;
        self.requests.remove(slot);
        let Some(line) = self.lines.get_mut(client) else { return };
        line.busy -= 1;
        while let Some(next) = self.lines[client].next(&self.requests) {
            if !self.left_waiting(next, at) {
                self.lines[client].busy += 1;
                return self.attempt(next, at, Trial::First, observer);
            }
        }
    }

    /// Gives up a request that was never sent if its client has left by `at`. (What is still not sent at the
    /// end waits for a request that was made before it, and whose client would have left before.)
    fn left_waiting(&mut self, slot: u32, at: Instant) -> bool {
        let leaves = self.crowd.leaves_at(&self.requests.get(slot).memory());
        let Some(leaves) = leaves.filter(|&leaves| leaves <= at) else { return false };
        self.desk.judge.gave_up(leaves);
        self.requests.remove(slot);
        true
    }
}
