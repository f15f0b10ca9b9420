//! Attempts that a fleet decides: they are handed to it, and what becomes of them comes back at once or later.

use super::Loop;
use crate::judge::Trial;
use crate::server::Work;
use crate::time::{Instant, Span, Window};
use crate::traffic::Arrival;
use crate::world::fleet::{Ask, Outcome};
use crate::world::stage::{Answer, Stage};
use crate::world::{Decided, Fate, Observer, Stopped};

impl<'a> Loop<'a, '_> {
    /// Hands an attempt to the fleet.
    pub(super) fn ask(
        &mut self,
        slot: u32,
        number: u32,
        attempt: u32,
        arrival: Arrival,
        trial: Trial,
        observer: &mut dyn Observer,
    ) {
        let ticket = self.wait(slot, Stage::Asking);
        let obeys = trial == Trial::Retry { obeys: true };
        let Some(fleet) = &mut self.fleet else { return };
        let waits = |ticket| self.requests.is_current(ticket);
        fleet.ask(self.desk, Ask { arrival, ticket, number, attempt, obeys }, &waits);
        self.desk.judge.tried(arrival.at, trial);
        self.take_outcomes(observer);
    }

    /// The next thing happens to nodes or store.
    pub(super) fn step(&mut self, observer: &mut dyn Observer) -> Result<(), Stopped> {
        self.steps += 1;
        let Some(fleet) = &mut self.fleet else { return Ok(()) };
        fleet.step(self.desk, &|ticket| self.requests.is_current(ticket));
        self.take_outcomes(observer);
        self.check_slots()
    }

    /// Stops a run in which a script was to touch keys of different hash slots.
    pub(super) fn check_slots(&self) -> Result<(), Stopped> {
        match self.fleet.as_ref().and_then(|fleet| fleet.crossed()) {
            Some(keys) => Err(Stopped::CrossSlot { keys: keys.clone() }),
            None => Ok(()),
        }
    }

    /// Deals with what became of attempts.
    fn take_outcomes(&mut self, observer: &mut dyn Observer) {
        let Some(fleet) = &mut self.fleet else { return };
        let outcomes = fleet.outcomes();
        for outcome in &outcomes {
            match *outcome {
                Outcome::Decided { ask, node, at, fate, by, queued } => {
                    let (request, attempt) = (u64::from(ask.number), ask.attempt);
                    let (arrival, node) = (&ask.arrival, node as u32);
                    observer.decided(Decided { arrival, request, attempt, fate, at, node, by });
                    self.note(ask, fate, queued);
                }
                Outcome::InVain { ask, node, at, fate, by } => {
                    let (request, attempt) = (u64::from(ask.number), ask.attempt);
                    let (arrival, node) = (&ask.arrival, node as u32);
                    let decided = Decided { arrival, request, attempt, fate, at, node, by };
                    observer.decided_in_vain(decided);
                }
                Outcome::Answered { ask, at, fate, window } => {
                    self.resume(ask, at, fate, window, observer);
                }
            }
        }
        if let Some(fleet) = &mut self.fleet {
            fleet.recycle(outcomes);
        }
    }

    /// An attempt for which its client waits was decided.
    fn note(&mut self, ask: Ask, fate: Fate, queued: Window) {
        let stage = match fate {
            Fate::Accepted => Stage::Working,
            Fate::Queued(_) => Stage::Queued(queued.start),
            Fate::Rejected(_) | Fate::TurnedDown => Stage::Refused(None),
        };
        self.requests.get_mut(ask.ticket.slot).set_stage(stage);
        if let Fate::Queued(_) = fate {
            self.agenda.departures.push(queued.end, ask.ticket);
        }
    }

    /// The node of an attempt knows what became of it.
    fn resume(
        &mut self,
        ask: Ask,
        at: Instant,
        fate: Fate,
        window: Span,
        observer: &mut dyn Observer,
    ) {
        let Ask { ticket, number, attempt, obeys, .. } = ask;
        if !self.requests.is_current(ticket) {
            return;
        }
        let (work, answer) = match fate {
            // It leaves the queue in its own time.
            Fate::Queued(_) => return,
            Fate::Accepted => (self.backend.is_some().then_some(Work::Serve), Answer::Success),
            Fate::Rejected(_) | Fate::TurnedDown => {
                if obeys {
                    self.desk.judge.broke_promise();
                }
                let header = match fate {
                    Fate::Rejected(wait) => self.header(at, number, attempt, wait, || window),
                    _ => None,
                };
                self.requests.get_mut(ticket.slot).set_stage(Stage::Refused(header));
                (self.refusing_takes_time.then_some(Work::Reject), Answer::Failure(header))
            }
        };
        match work {
            Some(work) => self.employ(ticket, at, work, observer),
            None => drop(self.answer(ticket.slot, at, answer, observer)),
        }
    }
}
