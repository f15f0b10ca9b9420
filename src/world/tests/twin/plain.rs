//! The plain loop itself.

use std::collections::BTreeMap;

use crate::client::{Crowd, Memory, Next};
use crate::judge::{Tally, Trial};
use crate::seed::Draws;
use crate::server::{Backend, Entry, Header, Job, Running, Started, Work};
use crate::time::{Instant, Span};
use crate::traffic::Arrival;
use crate::world::desk::Desk;
use crate::world::tests::Seen;
use crate::world::{Fate, Limiters, Plan};

/// What lies ahead, of one instant in this order.
#[derive(Debug, Clone, Copy)]
enum Event {
    Done(Running),
    Change,
    Depart(Try),
    Hear(Try, Answer),
    Expire(Try),
    Again(usize, Trial),
    Leave(usize),
    Arrive(Arrival),
}

impl Event {
    fn rank(self) -> u8 {
        match self {
            Event::Done(_) => 0,
            Event::Change => 1,
            Event::Depart(_) => 2,
            Event::Hear(..) | Event::Expire(_) | Event::Again(..) | Event::Leave(_) => 3,
            Event::Arrive(_) => 4,
        }
    }
}

/// An attempt: the request and the number of the try.
type Try = (usize, u32);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Answer {
    Success,
    Failure(Option<Header>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    InLine,
    Queued(Instant),
    LetThrough,
    Refused(Option<Header>),
    Between,
    Leaving,
    Ended,
}

struct Wish {
    arrival: Arrival,
    memory: Memory,
    until: Instant,
    state: State,
}

/// All that lies ahead, and every request that was ever made.
pub struct Twin<'a> {
    plan: &'a Plan<'a>,
    desk: Desk<'a>,
    crowd: Crowd<'a>,
    backend: Option<Backend>,
    draws: Draws,
    ahead: BTreeMap<(Instant, u8, u64), Event>,
    scheduled: u64,
    wishes: Vec<Wish>,
    seen: Vec<Seen>,
}

impl<'a> Twin<'a> {
    /// Nothing has happened yet.
    pub fn new(plan: &'a Plan<'a>, limiters: Limiters, queues: bool) -> Twin<'a> {
        let window = plan.traffic.window;
        let backend = plan.backend.map(|spec| Backend::new(spec, window, plan.seed));
        let mut twin = Twin {
            plan,
            desk: Desk::new(plan, limiters, queues, None),
            crowd: Crowd::new(plan.clients, plan.seed, plan.traffic.clients.len()),
            backend,
            draws: plan.seed.draws("rejection"),
            ahead: BTreeMap::new(),
            scheduled: 0,
            wishes: Vec::new(),
            seen: Vec::new(),
        };
        let changes = twin.backend.as_ref().map(Backend::changes).unwrap_or_default();
        changes.into_iter().for_each(|at| twin.schedule(at, Event::Change));
        plan.traffic.merged().for_each(|arrival| twin.schedule(arrival.at, Event::Arrive(arrival)));
        twin
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.ahead.insert((at, event.rank(), self.scheduled), event);
        self.scheduled += 1;
    }

    /// Runs to the end.
    pub fn run(mut self) -> (Tally, Vec<Seen>) {
        let end = self.plan.traffic.window.end;
        while let Some(((at, ..), event)) = self.ahead.pop_first().filter(|((at, ..), _)| *at < end)
        {
            match event {
                Event::Done(running) => {
                    let done = self.backend.as_mut().unwrap().finish(at, running);
                    done.into_iter().for_each(|(job, busy)| self.done(at, job, busy));
                    self.start(at);
                }
                Event::Change => {
                    for (job, busy) in self.backend.as_mut().unwrap().change(at) {
                        self.desk.judge.worked(job.work, busy, true);
                    }
                    self.start(at);
                }
                Event::Depart((wish, attempt)) => {
                    if let State::Queued(since) = self.state_of((wish, attempt)) {
                        let arrival = Arrival { at: since, ..self.wishes[wish].arrival };
                        self.desk.depart(at, &arrival, at - since);
                        self.wishes[wish].state = State::LetThrough;
                        self.serve(at, wish);
                    }
                }
                Event::Hear(attempt, answer) => {
                    if self.waits(attempt) {
                        self.learn(at, attempt.0, answer);
                    }
                }
                Event::Expire(attempt) => self.expire(at, attempt),
                Event::Again(wish, trial) => self.attempt(at, wish, trial),
                Event::Leave(wish) => self.give_up(at, at, wish),
                Event::Arrive(arrival) => self.arrive(arrival),
            }
        }
        self.close(end)
    }

    fn arrive(&mut self, arrival: Arrival) {
        self.desk.judge.requested();
        let memory = Memory { first: arrival.at, waited: Span::ZERO, delay: Span::ZERO, tries: 0 };
        self.wishes.push(Wish { arrival, memory, until: arrival.at, state: State::InLine });
        let mine = self.wishes.iter().filter(|wish| wish.arrival.client == arrival.client);
        let busy = mine.filter(|wish| !matches!(wish.state, State::InLine | State::Ended)).count();
        if self.plan.clients.in_flight.is_none_or(|most| busy < most as usize) {
            self.attempt(arrival.at, self.wishes.len() - 1, Trial::First);
        }
    }

    fn leaves(&self, wish: usize) -> Option<Instant> {
        self.plan.clients.patience.map(|patience| self.wishes[wish].memory.first + patience)
    }

    fn attempt(&mut self, at: Instant, wish: usize, trial: Trial) {
        let timeout = self.plan.clients.timeout.map(|timeout| at + timeout);
        let until = timeout.into_iter().chain(self.leaves(wish)).min();
        let request = &mut self.wishes[wish];
        request.memory.tries += 1;
        request.until = until.unwrap_or(Instant(i64::MAX));
        let (arrival, tries) = (Arrival { at, ..request.arrival }, request.memory.tries);
        self.schedule(self.wishes[wish].until, Event::Expire((wish, tries)));
        if trial == Trial::First {
            self.crowd.began(arrival.client, at);
        }
        let fate = self.desk.decide(&arrival);
        self.desk.judge.tried(at, trial);
        self.seen.push((at - self.plan.traffic.window.start, wish as u64, tries, fate));
        match fate {
            Fate::TurnedDown => unreachable!("there is no store"),
            Fate::Accepted => {
                self.wishes[wish].state = State::LetThrough;
                self.serve(at, wish);
            }
            Fate::Queued(span) => {
                self.wishes[wish].state = State::Queued(at);
                self.schedule(at + span, Event::Depart((wish, tries)));
            }
            Fate::Rejected(wait) => {
                if trial == (Trial::Retry { obeys: true }) {
                    self.desk.judge.broke_promise();
                }
                let draws = || self.draws.part(wish as u64, u64::from(tries));
                let header = self.plan.rejection.header(at, wait, || self.desk.window(), draws);
                self.wishes[wish].state = State::Refused(header);
                match self.plan.backend.is_some_and(|spec| spec.reject_cost() > Span::ZERO) {
                    true => self.employ(at, wish, Work::Reject),
                    false => self.send(at, wish, Answer::Failure(header)),
                }
            }
        }
    }

    fn serve(&mut self, at: Instant, wish: usize) {
        match self.backend {
            None => self.send(at, wish, Answer::Success),
            Some(_) => self.employ(at, wish, Work::Serve),
        }
    }

    fn employ(&mut self, at: Instant, wish: usize, work: Work) {
        let tries = self.wishes[wish].memory.tries;
        let ticket = (wish as u64) << 32 | u64::from(tries);
        let job = Job { work, ticket, drawn_by: (wish as u64, tries) };
        match self.backend.as_mut().unwrap().offer(at, job) {
            Entry::Started(Started { running, until }) => {
                self.schedule(until, Event::Done(running))
            }
            Entry::Queued => {}
            Entry::TurnedAway => {
                if work == Work::Serve {
                    self.desk.judge.turned_away();
                }
                self.wishes[wish].state = State::Refused(None);
                self.send(at, wish, Answer::Failure(None));
            }
        }
    }

    fn start(&mut self, at: Instant) {
        loop {
            let wishes = &self.wishes;
            let waits = |job: Job| waits(wishes, try_of(job));
            let Some(started) = self.backend.as_mut().unwrap().start(at, waits) else { return };
            self.schedule(started.until, Event::Done(started.running));
        }
    }

    fn done(&mut self, at: Instant, job: Job, busy: Span) {
        let attempt = try_of(job);
        let in_time = self.wishes[attempt.0].until >= at + self.plan.clients.rtt;
        let waits = self.waits(attempt);
        self.desk.judge.worked(job.work, busy, !(waits && in_time));
        match self.state_of(attempt) {
            State::LetThrough => self.send(at, attempt.0, Answer::Success),
            State::Refused(header) => self.send(at, attempt.0, Answer::Failure(header)),
            _ => {}
        }
    }

    fn send(&mut self, at: Instant, wish: usize, answer: Answer) {
        let attempt = (wish, self.wishes[wish].memory.tries);
        self.schedule(at + self.plan.clients.rtt, Event::Hear(attempt, answer));
    }

    /// Where an attempt stands; one that was given up, or is not the last, has ended.
    fn state_of(&self, attempt: Try) -> State {
        state_of(&self.wishes, attempt)
    }

    /// Whether its client waits for an answer to it.
    fn waits(&self, attempt: Try) -> bool {
        waits(&self.wishes, attempt)
    }

    /// A client waits no longer, unless the answer comes just then.
    fn expire(&mut self, at: Instant, attempt: Try) {
        let hears = |event: &Event| matches!(event, Event::Hear(of, _) if *of == attempt);
        let now = self.ahead.range((at, 0, 0)..=(at, u8::MAX, u64::MAX));
        if !self.waits(attempt) || now.into_iter().any(|(_, event)| hears(event)) {
            return;
        }
        match self.state_of(attempt) {
            State::Queued(_) => self.desk.judge.failed(),
            State::LetThrough => self.desk.judge.abandoned(),
            _ => {}
        }
        self.learn(at, attempt.0, Answer::Failure(None));
    }

    fn learn(&mut self, at: Instant, wish: usize, answer: Answer) {
        let client = self.wishes[wish].arrival.client;
        let Answer::Failure(header) = answer else {
            let memory = self.wishes[wish].memory;
            self.crowd.succeeded(client, &memory);
            self.desk.judge.succeeded(at, at - memory.first);
            return self.end(at, wish);
        };
        let memory = &mut self.wishes[wish].memory;
        match self.crowd.failed(client, wish as u64, at, memory, header) {
            Next::Retry { at, obeys } => {
                self.wishes[wish].state = State::Between;
                self.schedule(at, Event::Again(wish, Trial::Retry { obeys }));
            }
            Next::GiveUp { at: leaves } if leaves > at => {
                self.wishes[wish].state = State::Leaving;
                self.schedule(leaves, Event::Leave(wish));
            }
            Next::GiveUp { .. } => self.give_up(at, at, wish),
        }
    }

    fn give_up(&mut self, at: Instant, left: Instant, wish: usize) {
        self.desk.judge.gave_up(left);
        self.end(at, wish);
    }

    fn end(&mut self, at: Instant, wish: usize) {
        let was_sent = self.wishes[wish].state != State::InLine;
        self.wishes[wish].state = State::Ended;
        let client = self.wishes[wish].arrival.client;
        if !was_sent {
            return;
        }
        loop {
            let in_line =
                |wish: &Wish| wish.state == State::InLine && wish.arrival.client == client;
            let Some(next) = self.wishes.iter().position(in_line) else { return };
            match self.leaves(next).filter(|leaves| *leaves <= at) {
                Some(left) => self.give_up(at, left, next),
                None => return self.attempt(at, next, Trial::First),
            }
        }
    }

    fn close(mut self, end: Instant) -> (Tally, Vec<Seen>) {
        for wish in 0..self.wishes.len() {
            let left = self.leaves(wish).filter(|leaves| *leaves < end);
            if let (State::InLine, Some(left)) = (self.wishes[wish].state, left) {
                self.give_up(end, left, wish);
            }
        }
        let count =
            |of: &dyn Fn(&Wish) -> bool| self.wishes.iter().filter(|w| of(w)).count() as u64;
        let pending = count(&|wish| matches!(wish.state, State::Queued(_)));
        let unfinished = count(&|wish| wish.state != State::Ended);
        let retrying = count(&|wish| match wish.state {
            State::Ended | State::Leaving | State::InLine => false,
            State::Between => true,
            _ => wish.memory.tries > 1,
        });
        self.desk.judge.still_retrying(retrying);
        (self.desk.finish(pending, unfinished).0, self.seen)
    }
}

fn try_of(job: Job) -> Try {
    ((job.ticket >> 32) as usize, job.ticket as u32)
}

fn state_of(wishes: &[Wish], (wish, attempt): Try) -> State {
    match wishes[wish].memory.tries == attempt {
        true => wishes[wish].state,
        false => State::Ended,
    }
}

fn waits(wishes: &[Wish], attempt: Try) -> bool {
    use State::{LetThrough, Queued, Refused};
    matches!(state_of(wishes, attempt), Queued(_) | LetThrough | Refused(_))
}
