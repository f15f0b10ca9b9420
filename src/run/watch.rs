//! Who watches a run of the event engine: passes progress and decisions on.

use super::cut_off;
use super::progress::{Progress, micros};
use super::simulate::DecisionSink;
use crate::error::Error;
use crate::scenario::Case;
use crate::time::Span;
use crate::traffic::Traffic;
use crate::world::{Decided, Observer, Stopped};

/// Passes progress and decisions on.
pub(super) struct Watch<'a> {
    case: &'a Case,
    pub progress: &'a dyn Progress,
    traffic: &'a Traffic,
    pub sink: Option<&'a mut dyn DecisionSink>,
    failure: Option<Error>,
    /// Simulated time told so far, in microseconds.
    told: u64,
}

impl<'a> Watch<'a> {
    pub fn new(
        case: &'a Case,
        progress: &'a dyn Progress,
        traffic: &'a Traffic,
        sink: Option<&'a mut dyn DecisionSink>,
    ) -> Watch<'a> {
        Watch { case, progress, traffic, sink, failure: None, told: 0 }
    }

    /// What a run came to, and why it stopped if it did.
    pub fn outcome<T>(&mut self, result: Result<T, Stopped>) -> Result<T, Error> {
        match (result, self.failure.take()) {
            (_, Some(failure)) => Err(failure),
            (Err(Stopped::ByObserver), None) => Err(Error::Interrupted),
            (Err(Stopped::TooManyAttempts { at }), None) => {
                Err(cut_off::too_many_attempts(self.case, self.traffic, at))
            }
            (Err(Stopped::CrossSlot { keys }), None) => Err(cut_off::cross_slot(self.case, &keys)),
            (Ok(value), None) => Ok(value),
        }
    }
}

impl Observer for Watch<'_> {
    fn decided(&mut self, decided: Decided) {
        if let (Some(sink), None) = (&mut self.sink, &self.failure) {
            self.failure = sink.decided(self.traffic, &decided).err();
        }
    }

    fn progressed(&mut self, reached: Span, attempts: u64) -> bool {
        let new = match self.case.is_closed_loop() {
            true => {
                let reached = micros(reached);
                reached - std::mem::replace(&mut self.told, reached)
            }
            false => attempts,
        };
        self.progress.advance(new);
        self.failure.is_none() && !self.progress.stop()
    }
}
