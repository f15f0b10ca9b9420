//! Spans in which the store does not answer, or badly.

use crate::time::{Instant, Span, Window};

/// A `[[store.outage]]`, counted from the start of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outage {
    /// When it begins.
    pub at: Span,
    /// How long it lasts; not zero.
    pub lasts: Span,
    /// What is wrong.
    pub kind: OutageKind,
    /// The nodes for which it is; empty for all. Counted from 0.
    pub nodes: Vec<usize>,
    /// The shards which it is about; empty for all. Counted from 0.
    pub shards: Vec<usize>,
    /// Whether all that is in these shards is lost at its end.
    pub loses: bool,
}

/// What is wrong with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutageKind {
    /// It works on nothing.
    Down(Down),
    /// Calls take so many times as long, and so much longer.
    Slow {
        /// So many times, at least 1.
        times: u64,
        /// So much longer.
        extra: Span,
    },
    /// Of a million calls so many are lost.
    Lossy {
        /// How many.
        ppm: u32,
        /// Whether it is their answers: then the store has worked on them.
        answers: bool,
    },
}

/// What a node learns of a store that is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Down {
    /// The connection is refused, after a round trip.
    Refuses,
    /// Nothing, until it gives up.
    Silent,
}

/// The outages of a run.
#[derive(Debug, Clone)]
pub struct Outages {
    outages: Vec<(Window, Outage)>,
}

/// What is wrong between a node and a shard at an instant; of several outages, all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// Whether the store works on nothing.
    pub down: Option<Down>,
    /// Calls take so many times as long ...
    pub times: u64,
    /// ... and so much longer.
    pub extra: Span,
    /// Of a million calls so many never reach it ...
    pub lost_calls_ppm: u32,
    /// ... and of those that it answered, so many answers are lost.
    pub lost_answers_ppm: u32,
}

impl Outages {
    /// Those that begin within a run.
    pub fn within(run: Window, outages: &[Outage]) -> Outages {
        let window = |outage: &Outage| {
            let start = run.start + outage.at;
            Window { start, end: start + outage.lasts }
        };
        let all = outages.iter().map(|outage| (window(outage), outage.clone()));
        Outages { outages: all.filter(|(window, _)| run.contains(window.start)).collect() }
    }

    /// What is wrong between a node and a shard.
    pub fn condition(&self, at: Instant, node: usize, shard: usize) -> Condition {
        let mut condition = Condition {
            down: None,
            times: 1,
            extra: Span::ZERO,
            lost_calls_ppm: 0,
            lost_answers_ppm: 0,
        };
        let covers = |list: &[usize], one: usize| list.is_empty() || list.contains(&one);
        for (window, outage) in &self.outages {
            let here = covers(&outage.nodes, node) && covers(&outage.shards, shard);
            if !(here && window.contains(at)) {
                continue;
            }
            match outage.kind {
                OutageKind::Down(down) => condition.down = Some(down),
                OutageKind::Slow { times, extra } => {
                    (condition.times, condition.extra) = (times, extra);
                }
                OutageKind::Lossy { ppm, answers: false } => condition.lost_calls_ppm = ppm,
                OutageKind::Lossy { ppm, answers: true } => condition.lost_answers_ppm = ppm,
            }
        }
        condition
    }

    /// From when to when anything is wrong, in time order; spans that touch or overlap are one.
    pub fn windows(&self) -> Vec<Window> {
        self.outages.iter().map(|(window, _)| *window).collect()
    }

    /// When all is lost that is in some shards, and in which (empty for all), in time order.
    pub fn losses(&self) -> impl Iterator<Item = (Instant, &[usize])> {
        let losing = self.outages.iter().filter(|(_, outage)| outage.loses);
        losing.map(|(window, outage)| (window.end, &outage.shards[..]))
    }
}

impl Condition {
    /// Of what is wrong in two places, the worse of each.
    pub fn worse(self, other: Condition) -> Condition {
        Condition {
            down: match (self.down, other.down) {
                (Some(Down::Silent), _) | (_, Some(Down::Silent)) => Some(Down::Silent),
                (one, other) => one.or(other),
            },
            times: self.times.max(other.times),
            extra: self.extra.max(other.extra),
            lost_calls_ppm: self.lost_calls_ppm.max(other.lost_calls_ppm),
            lost_answers_ppm: self.lost_answers_ppm.max(other.lost_answers_ppm),
        }
    }

    /// How long a call takes that would take so long if nothing were wrong; saturates.
    pub fn stretch(&self, round_trip: Span) -> Span {
        let nanos = u128::from(round_trip.nanos()) * u128::from(self.times);
        Span::saturating(nanos + u128::from(self.extra.nanos()))
    }
}
