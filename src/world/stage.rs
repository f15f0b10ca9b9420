//! Where a request of a closed loop stands, and the two numbers in which that is kept.

use crate::server::Header;
use crate::time::{Instant, Span};

/// How an attempt was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// As its client wished.
    Success,
    /// Otherwise, with what it was told.
    Failure(Option<Header>),
}

/// Where a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The slot is free; the next free one follows.
    Free(Option<u32>),
    /// It waits until its client may send another; the next of that client follows.
    Backlog(Option<u32>),
    /// Between attempts.
    Pausing {
        /// Whether the next one obeys a Retry-After.
        obeys: bool,
    },
    /// Its node asks the store about its attempt.
    Asking,
    /// Its attempt waits in the limiter's queue, since then.
    Queued(Instant),
    /// Its attempt was let through and waits for its answer.
    Working,
    /// Its attempt was refused, and the answer that says so is being made.
    Refused(Option<Header>),
    /// The answer is on its way.
    Answered(Answer),
    /// Its client leaves at a time to come.
    Leaving,
}

/// What stands for a [`Stage`]. Each that may carry a header has two more after it: with a delay, with a date.
mod code {
    pub const FREE: u32 = 0;
    pub const BACKLOG: u32 = 1;
    pub const PAUSING: u32 = 2;
    pub const QUEUED: u32 = 3;
    pub const WORKING: u32 = 4;
    pub const LEAVING: u32 = 5;
    pub const SUCCEEDED: u32 = 6;
    pub const REFUSED: u32 = 7;
    pub const REFUSED_LAST: u32 = REFUSED + 2;
    pub const FAILED: u32 = 10;
    pub const FAILED_LAST: u32 = FAILED + 2;
    pub const ASKING: u32 = 13;
}

impl Stage {
    /// As its kind, below 16, and what belongs to it.
    #[inline]
    pub fn encode(self) -> (u32, i64) {
        let slot = |next: Option<u32>| next.map_or(-1, i64::from);
        let told = |kind, header| match header {
            None => (kind, 0),
            Some(Header::Delay(span)) => (kind + 1, span.signed()),
            Some(Header::Date(at)) => (kind + 2, at.0),
        };
        match self {
            Stage::Free(next) => (code::FREE, slot(next)),
            Stage::Backlog(next) => (code::BACKLOG, slot(next)),
            Stage::Pausing { obeys } => (code::PAUSING, i64::from(obeys)),
            Stage::Asking => (code::ASKING, 0),
            Stage::Queued(since) => (code::QUEUED, since.0),
            Stage::Working => (code::WORKING, 0),
            Stage::Leaving => (code::LEAVING, 0),
            Stage::Answered(Answer::Success) => (code::SUCCEEDED, 0),
            Stage::Refused(header) => told(code::REFUSED, header),
            Stage::Answered(Answer::Failure(header)) => told(code::FAILED, header),
        }
    }

    /// From [`Stage::encode`].
    #[inline]
    pub fn decode(kind: u32, detail: i64) -> Stage {
        let slot = u32::try_from(detail).ok();
        let header = |kind| match kind {
            0 => None,
            1 => Some(Header::Delay(Span::from_nanos(detail as u64))),
            _ => Some(Header::Date(Instant(detail))),
        };
        match kind {
            code::FREE => Stage::Free(slot),
            code::BACKLOG => Stage::Backlog(slot),
            code::PAUSING => Stage::Pausing { obeys: detail != 0 },
            code::ASKING => Stage::Asking,
            code::QUEUED => Stage::Queued(Instant(detail)),
            code::WORKING => Stage::Working,
            code::LEAVING => Stage::Leaving,
            code::SUCCEEDED => Stage::Answered(Answer::Success),
            code::REFUSED..=code::REFUSED_LAST => Stage::Refused(header(kind - code::REFUSED)),
            code::FAILED..=code::FAILED_LAST => {
                Stage::Answered(Answer::Failure(header(kind - code::FAILED)))
            }
            kind => unreachable!("no stage is {kind}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header() -> impl Strategy<Value = Option<Header>> {
        let delay =
            (0..=Span::MAX.nanos()).prop_map(|nanos| Header::Delay(Span::from_nanos(nanos)));
        let date = any::<i64>().prop_map(|nanos| Header::Date(Instant(nanos)));
        prop::option::of(prop_oneof![delay, date])
    }

    fn stage() -> impl Strategy<Value = Stage> {
        prop_oneof![
            any::<Option<u32>>().prop_map(Stage::Free),
            any::<Option<u32>>().prop_map(Stage::Backlog),
            any::<bool>().prop_map(|obeys| Stage::Pausing { obeys }),
            Just(Stage::Asking),
            any::<i64>().prop_map(|since| Stage::Queued(Instant(since))),
            Just(Stage::Working),
            Just(Stage::Leaving),
            Just(Stage::Answered(Answer::Success)),
            header().prop_map(Stage::Refused),
            header().prop_map(|told| Stage::Answered(Answer::Failure(told))),
        ]
    }

    proptest! {
        #[test]
        fn a_stage_is_read_back_as_it_was(stage in stage()) {
            let (kind, detail) = stage.encode();
            prop_assert!(kind < 16);
            prop_assert_eq!(Stage::decode(kind, detail), stage);
        }
    }
}
