//! What clients learn of their attempts, and what they do then.

use super::Loop;
use crate::client::Next;
use crate::time::Instant;
use crate::world::Observer;
use crate::world::stage::{Answer, Stage};

impl Loop<'_, '_> {
    /// Answers an attempt that was decided just now; `stage` is where it stands for as long as its client waits,
    /// if that is not until the answer comes.
    #[inline]
    pub(super) fn answer_at_once(
        &mut self,
        slot: u32,
        at: Instant,
        stage: Stage,
        answer: Answer,
        observer: &mut dyn Observer,
    ) {
        if !self.answer(slot, at, answer, observer) {
            self.wait(slot, stage);
        }
    }

    /// Sends the answer to an attempt on its way at `at`. Whether it arrives while its client waits; if not,
    /// nothing happens. An answer that would arrive after the run's end leaves the request under way.
    #[inline]
    pub(super) fn answer(
        &mut self,
        slot: u32,
        at: Instant,
        answer: Answer,
        observer: &mut dyn Observer,
    ) -> bool {
        let arrives = at + self.clients.rtt;
        if self.requests.get(slot).until < arrives {
            return false;
        }
        if let Some(fleet) = &mut self.fleet {
            fleet.answered(slot);
        }
        if self.ordered || arrives >= self.end {
            let ticket = self.requests.enter(slot, Stage::Answered(answer));
            self.remind(arrives, ticket);
        } else {
            self.settle(slot, arrives, answer, observer);
        }
        true
    }

    /// A client learns at `at`, before the run's end, what became of its attempt.
    #[inline]
    pub(super) fn settle(
        &mut self,
        slot: u32,
        at: Instant,
        answer: Answer,
        observer: &mut dyn Observer,
    ) {
        let request = self.requests.get_mut(slot);
        let Answer::Failure(header) = answer else {
            let memory = request.memory();
            self.crowd.succeeded(request.client, &memory);
            self.desk.judge.succeeded(at, at - memory.first);
            return self.end_request(slot, at, observer);
        };
        let mut memory = request.memory();
        let number = u64::from(request.number);
        let next = self.crowd.failed(request.client, number, at, &mut memory, header);
        request.remember(&memory);
        match next {
            Next::Retry { at: next, obeys } => {
                let ticket = self.requests.enter(slot, Stage::Pausing { obeys });
                self.remind(next, ticket);
            }
            // Whoever waits for this request to end must not hear of it before its time.
            Next::GiveUp { at: leaves } if leaves > at && self.ordered => {
                let ticket = self.requests.enter(slot, Stage::Leaving);
                self.remind(leaves, ticket);
            }
            Next::GiveUp { at: leaves } if leaves < self.end => {
                self.desk.judge.gave_up(leaves);
                self.end_request(slot, at, observer);
            }
            Next::GiveUp { .. } => drop(self.requests.enter(slot, Stage::Leaving)),
        }
    }
}
