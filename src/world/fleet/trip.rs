//! What becomes of a call on its way to the store and back.

use crate::seed::{Stream, below};
use crate::store::{Condition, Down, RoundTrip};
use crate::time::{Instant, Span};

/// A call's way, drawn as it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trip {
    /// When the store works on it; `None` if it is lost.
    pub arrives: Option<Instant>,
    /// How long the answer takes.
    pub back: Span,
    /// Until when the node waits for that.
    pub deadline: Instant,
    /// Whether it comes too late or never, if the store works on the call at all.
    pub late: bool,
}

impl Trip {
    /// Of a call that leaves at `at`.
    pub fn draw(
        round_trip: &RoundTrip,
        condition: Condition,
        (at, deadline): (Instant, Instant),
        mut stream: Stream,
    ) -> Trip {
        let stream = &mut stream;
        let round_trip = condition.stretch(round_trip.draw(stream));
        let lost = (below(stream, 1_000_000) as u32) < condition.lost_calls_ppm;
        let unanswered = (below(stream, 1_000_000) as u32) < condition.lost_answers_ppm;
        let (out, back) = (round_trip.nanos() / 2, round_trip.nanos().div_ceil(2));
        Trip {
            arrives: (!lost).then(|| at + Span::from_nanos(out)),
            back: Span::from_nanos(back),
            deadline,
            late: lost || unanswered || at + round_trip > deadline,
        }
    }

    /// When the node learns that the store is down, once the call has reached it at `at`.
    pub fn fails(&self, at: Instant, down: Down) -> Instant {
        match down {
            Down::Refuses => at + self.back,
            Down::Silent => self.deadline,
        }
    }
}
