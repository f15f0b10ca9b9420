//! The findings of one run of one algorithm.

use super::closed::Closed;
use super::distribution::Distribution;
use super::fleet::FleetTally;
use super::timeline::Timeline;
use crate::rate::Limit;
use crate::time::{Instant, Span};

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
    pub clients: Vec<SubjectTally>,
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
    /// The key whose trailing window rose highest above its promise, the first of equals: its position
    /// in `keys`; `None` where there are none.
    pub worst: Option<usize>,
    /// By key, in the order in which they were first seen.
    pub keys: Vec<SubjectTally>,
}

/// What one key, or one client, met with.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectTally {
    /// Its name.
    pub name: String,
    /// What was promised for it; `None` for a client.
    pub promise: Option<Limit>,
    /// Attempts.
    pub attempts: u64,
    /// Accepted by all limits.
    pub accepted: u64,
    /// Rejected by any limit.
    pub rejected: u64,
    /// Accepted attempts above the limit; for a client above any of its limits.
    pub over_limit: u64,
    /// The largest cost accepted in any trailing window; `None` for a client, and for a key of which
    /// nothing was accepted.
    pub peak: Option<Peak>,
    /// The longest time from the first rejection after an acceptance (or since the start) to the next
    /// acceptance, or to when the last rejection said that one would be possible if that is sooner;
    /// to the last rejection if no acceptance followed.
    pub longest_lockout: Span,
}

impl Tally {
    /// The key whose trailing window rose highest above its promise, over all limits, with the
    /// position of its limit; the first of equals, `None` where there are no keys.
    pub fn worst(&self) -> Option<(usize, &SubjectTally)> {
        let worst = self.limits.iter().enumerate();
        let worst = worst.filter_map(|(index, limit)| Some((index, limit.worst_key()?)));
        worst.reduce(|worst, next| if next.1.rose_higher(worst.1) { next } else { worst })
    }
}

impl LimitTally {
    /// The key that `worst` points to.
    pub fn worst_key(&self) -> Option<&SubjectTally> {
        self.worst.map(|index| &self.keys[index])
    }

    /// What `worst` must be.
    pub(super) fn find_worst(keys: &[SubjectTally]) -> Option<usize> {
        let all = 0..keys.len();
        all.reduce(|worst, next| if keys[next].rose_higher(&keys[worst]) { next } else { worst })
    }
}

impl SubjectTally {
    /// Whether this key's peak, in units of its promise, is above another's. Anything accepted under
    /// a promise of nothing is above all else.
    fn rose_higher(&self, other: &SubjectTally) -> bool {
        let cost = |key: &SubjectTally| key.peak.map_or(0, |peak| u128::from(peak.cost));
        let promised = |key: &SubjectTally| key.promise.map_or(0, |p| u128::from(p.requests));
        match (promised(self), promised(other)) {
            (0, 0) => cost(self) > cost(other),
            (0, _) => cost(self) > 0,
            (_, 0) => cost(other) == 0 && cost(self) > 0,
            (own, others) => cost(self) * others > cost(other) * own,
        }
    }
}

/// The largest cost accepted for one key in any trailing window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// The cost.
    pub cost: u64,
    /// The first acceptance in that window.
    pub from: Instant,
    /// The last, at which the peak was reached first.
    pub to: Instant,
}

impl Peak {
    /// The peak in units of the limit; `None` for a limit of zero.
    pub fn ratio(&self, promise: &Limit) -> Option<f64> {
        (promise.requests > 0).then(|| self.cost as f64 / promise.requests as f64)
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
