//! The findings of one run of one algorithm.

use super::closed::Closed;
use super::distribution::Distribution;
use super::fleet::FleetTally;
use super::peak::Worst;
use super::subjects::Subjects;
use super::timeline::Timeline;
use crate::rate::Limit;

/// What one algorithm did with the traffic of one case under one seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// The counts that must balance.
    pub books: Books,
    /// Accepted attempts that, counting themselves, brought the cost accepted for a key of theirs in
    /// the trailing window above its limit; once however many limits they broke.
    pub over_limit: u64,
    /// Rejected attempts that, each taken alone against what was accepted, would have kept every
    /// limit of theirs.
    pub needless_rejections: u64,
    /// Decisions that differ from those of the reference; `None` where there is none to compare.
    pub wrong: Option<Wrong>,
    /// By limit, in the order of the scenario.
    pub limits: Vec<LimitTally>,
    /// By client, in the order of the traffic; clients that never asked are left out.
    pub clients: Subjects,
    /// By bins of time.
    pub timeline: Timeline,
    /// How long accepted attempts waited in a queue, those that did not wait included, for
    /// algorithms that queue; empty for others.
    pub queue_waits: Distribution,
    /// The waits that denials carried.
    pub denial_waits: Distribution,
    /// Denials that said never.
    pub denied_for_ever: u64,
    /// What was remembered.
    pub kept: Kept,
    /// What became of requests; `None` for an open loop, where each attempt is a request.
    pub closed: Option<Closed>,
    /// What became of limits that several nodes keep, or a store; `None` for one node that keeps them itself.
    pub fleet: Option<FleetTally>,
}

/// Attempts by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Books {
    /// Pieces of work that clients wanted done.
    pub requests: u64,
    /// Tries of them.
    pub attempts: u64,
    /// Let through.
    pub accepted: u64,
    /// Refused.
    pub rejected: u64,
    /// Given up by their clients while they waited in the limiter's queue, and never let through.
    pub failed: u64,
    /// Still queued at the end.
    pub pending: u64,
    /// Requests whose client got the answer it wanted. In an open loop, the attempts let through.
    pub succeeded: u64,
    /// Requests that their clients gave up. In an open loop, the attempts refused.
    pub gave_up: u64,
    /// Requests that were neither by the end.
    pub unfinished: u64,
}

impl Books {
    /// Where nobody reacts to an answer, each attempt is a request and its outcome that of the request.
    pub fn of_open_loop(attempts: u64, accepted: u64, rejected: u64, pending: u64) -> Books {
        Books {
            requests: attempts,
            attempts,
            accepted,
            rejected,
            failed: 0,
            pending,
            succeeded: accepted,
            gave_up: rejected,
            unfinished: pending,
        }
    }

    /// Whether attempts = accepted + rejected + failed + pending and requests = succeeded + gave up +
    /// unfinished.
    pub fn balance(&self) -> bool {
        self.attempts == self.accepted + self.rejected + self.failed + self.pending
            && self.requests == self.succeeded + self.gave_up + self.unfinished
    }
}

/// Decisions that differ from those of the sliding window log over the same traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wrong {
    /// Let through where the log refused.
    pub allowed: u64,
    /// Refused where the log let through.
    pub limited: u64,
}

/// One limit's share of the findings.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitTally {
    /// Its name.
    pub name: String,
    /// What it promises by default; keys of a tier may have another promise.
    pub promise: Limit,
    /// Attempts it covers.
    pub attempts: u64,
    /// Of these, accepted by all limits.
    pub accepted: u64,
    /// Attempts that this limit refused, alone or with others.
    pub refused: u64,
    /// Accepted attempts above this limit.
    pub over_limit: u64,
    /// Attempts that this limit refused although it had room.
    pub needless_rejections: u64,
    /// The key whose trailing window rose highest above its promise, the first of equals; `None` where there
    /// are none.
    pub worst: Option<Worst>,
    /// By key, in the order in which they were first seen.
    pub keys: Subjects,
}

impl Tally {
    /// The key whose trailing window rose highest above its promise, over all limits, with the
    /// position of its limit; the first of equals, `None` where there are no keys.
    pub fn worst(&self) -> Option<(usize, &Worst)> {
        let worst = self.limits.iter().enumerate();
        let worst = worst.filter_map(|(index, limit)| Some((index, limit.worst.as_ref()?)));
        worst.reduce(|worst, next| if next.1.rose_higher(worst.1) { next } else { worst })
    }

    /// Keeps once what these findings and those of another algorithm say of who asked, and how often, as far as
    /// it is the same.
    pub fn share_rolls(&mut self, other: &Tally) {
        for (own, others) in self.limits.iter_mut().zip(&other.limits) {
            own.keys.share_roll(&others.keys);
        }
        self.clients.share_roll(&other.clients);
    }
}

/// What was remembered at most. Counted in bins of the timeline: keys (entries, bytes) that were
/// kept at some time within one bin count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// Keys with a state that a store may not forget yet.
    pub keys_max: u64,
    /// Their entries.
    pub entries_max: u64,
    /// Their bytes.
    pub bytes_max: u64,
}

impl Kept {
    /// The largest over the bins of a timeline.
    pub fn over(timeline: &Timeline) -> Kept {
        timeline.bins.iter().fold(Kept::default(), |most, bin| Kept {
            keys_max: most.keys_max.max(bin.keys),
            entries_max: most.entries_max.max(bin.entries),
            bytes_max: most.bytes_max.max(bin.bytes),
        })
    }
}
