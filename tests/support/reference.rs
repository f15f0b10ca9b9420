//! The rules of the algorithms once more, as plainly as they can be said: lists of all that passed,
//! levels and times as fractions of unbounded size, nothing clever. Slow, and only compared with.

mod logs;

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use ratesim::rate::Limit;
use ratesim::time::Span;

use super::Variant;
use logs::{Log, NamedLog};

/// What a rule says of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Admit,
    Queue(Span),
    Deny,
}

/// The history of one key.
pub trait Rule {
    /// Decides and remembers.
    fn attempt(&mut self, now: i64, cost: u32) -> Outcome;
}

/// The rule of a variant; `None` for algorithms of which there is no second implementation.
pub fn rule(variant: &Variant, limit: &Limit) -> Option<Box<dyn Rule>> {
    let common = Common {
        counts_denials: variant.is("count-rejected", "true"),
        freezes: variant.is("backwards", "freeze"),
        rewinds: variant.option("backwards").is_some_and(|b| b.starts_with("rewind")),
        rewinds_always: variant.is("backwards", "rewind"),
    };
    let limit = *limit;
    Some(match variant.kind.name {
        "fixed-window" if variant.is("anchor", "first-request") => {
            Box::new(OwnWindow { limit, common, start: None, count: 0 })
        }
        "fixed-window" if variant.is("anchor", "expiry") => {
            Box::new(Expiring { limit, common, opened: None, count: 0 })
        }
        "fixed-window" | "sliding-window-counter" => Box::new(Grid {
            limit,
            common,
            weighs_previous: variant.kind.name == "sliding-window-counter",
            floors: variant.is("round", "floor"),
            counts: BTreeMap::new(),
            last: None,
        }),
        "sliding-window-log" => {
            let closed = variant.is("edge", "closed");
            match variant.option("member") {
                None | Some("unique") => Box::new(Log::new(limit, common, closed)),
                Some(member) => {
                    let draws = member == "stamp-and-random";
                    Box::new(NamedLog::new(limit, common, closed, draws))
                }
            }
        }
        "token-bucket" => {
            let initial = variant.option("initial").map(|n| n.parse().unwrap());
            Box::new(Bucket {
                limit,
                common,
                interval: variant.is("refill", "interval"),
                anchored: variant.is("refill", "interval")
                    || initial.is_some_and(|tokens: u64| tokens != limit.burst),
                level: whole(i128::from(initial.unwrap_or(limit.burst))),
                seen: None,
            })
        }
        "gcra" => Box::new(Arrival { limit, common, next: None, last: i64::MIN, queue: None }),
        "leaky-bucket" => {
            let queue = Some(variant.is("first", "immediate"));
            Box::new(Arrival { limit, common, next: None, last: i64::MIN, queue })
        }
        _ => return None,
    })
}

/// What a rule does with readings that go back (taken as they are, where none of these is set), and
/// whether denied attempts are charged.
#[derive(Clone, Copy)]
struct Common {
    counts_denials: bool,
    freezes: bool,
    rewinds: bool,
    rewinds_always: bool,
}

impl Common {
    /// When an attempt is decided.
    fn at(self, now: i64, last: Option<i64>) -> i64 {
        if self.freezes || self.rewinds { now.max(last.unwrap_or(now)) } else { now }
    }
}

fn whole(number: i128) -> BigRational {
    BigRational::from_integer(BigInt::from(number))
}

fn fraction(numerator: u64, denominator: u64) -> BigRational {
    BigRational::new(BigInt::from(numerator), BigInt::from(denominator))
}

fn outcome(fits: bool) -> Outcome {
    if fits { Outcome::Admit } else { Outcome::Deny }
}

/// Windows that a key opens for itself.
struct OwnWindow {
    limit: Limit,
    common: Common,
    start: Option<i64>,
    count: u128,
}

impl Rule for OwnWindow {
    fn attempt(&mut self, now: i64, cost: u32) -> Outcome {
        let width = self.limit.per.signed();
        let (start, count) = match self.start {
            Some(start) if now < start && self.common.freezes => (start, self.count),
            Some(start) if now < start && self.common.rewinds => (now, self.count),
            Some(start) if now >= start && now - start < width => (start, self.count),
            _ => (now, 0),
        };
        let fits = count + u128::from(cost) <= u128::from(self.limit.requests);
        if fits || self.common.counts_denials || self.common.rewinds_always {
            let charged = fits || self.common.counts_denials;
            self.start = Some(start);
            self.count = count + if charged { u128::from(cost) } else { 0 };
        }
        outcome(fits)
    }
}

/// A counter that a store forgets a window after it was opened.
struct Expiring {
    limit: Limit,
    common: Common,
    opened: Option<i64>,
    count: u128,
}

impl Rule for Expiring {
    fn attempt(&mut self, now: i64, cost: u32) -> Outcome {
        let width = i128::from(self.limit.per.signed());
        let age = |opened: i64| i128::from(now) - i128::from(opened);
        if self.opened.is_some_and(|opened| age(opened) >= width) {
            (self.opened, self.count) = (None, 0);
        }
        let fits = self.count + u128::from(cost) <= u128::from(self.limit.requests);
        if fits || self.common.counts_denials {
            self.opened = self.opened.or(Some(now));
            self.count += u128::from(cost);
        }
        outcome(fits)
    }
}

/// Windows of a grid, for the fixed window and the sliding counter.
struct Grid {
    limit: Limit,
    common: Common,
    weighs_previous: bool,
    floors: bool,
    /// What passed in each window, by the window's number.
    counts: BTreeMap<i64, i128>,
    last: Option<i64>,
}

impl Grid {
    fn window(&self, reading: i64) -> i64 {
        reading.div_euclid(self.limit.per.signed())
    }

    fn estimate(&self, at: i64, previous: i128, current: i128) -> BigRational {
        let width = i128::from(self.limit.per.signed());
        let elapsed = i128::from(at).rem_euclid(width);
        let share = whole(previous) * whole(width - elapsed) / whole(width);
        let share = if self.floors { share.floor() } else { share };
        whole(current) + if self.weighs_previous { share } else { whole(0) }
    }
}

impl Rule for Grid {
    fn attempt(&mut self, now: i64, cost: u32) -> Outcome {
        let at = self.common.at(now, self.last);
        let window = self.window(at);
        let naive = !self.common.freezes && !self.common.rewinds;
        let mut counts = self.counts.clone();
        if let Some(last) = self.last.filter(|_| naive) {
            // The listing knows two counters and the number of one window.
            let stored = self.window(last);
            counts.retain(|&number, _| match window - stored {
                0 => number >= stored - 1,
                1 => number == stored,
                _ => false,
            });
        }
        let count = |number: i64| counts.get(&number).copied().unwrap_or(0);
        let estimate = self.estimate(at, count(window - 1), count(window));
        let fits = estimate + whole(cost.into()) <= whole(self.limit.requests.into());
        let charged = fits || self.common.counts_denials;
        if charged || self.common.rewinds_always {
            let stored = if self.common.rewinds { self.window(now) } else { window };
            let (previous, current) = (count(window - 1), count(window));
            counts = BTreeMap::from([(stored - 1, previous), (stored, current)]);
            if charged {
                *counts.entry(stored).or_default() += i128::from(cost);
            }
            self.counts = counts;
            self.last = Some(if self.common.rewinds { now } else { at });
        }
        outcome(fits)
    }
}

/// A level of tokens.
struct Bucket {
    limit: Limit,
    common: Common,
    interval: bool,
    /// Whether the first attempt starts the clock even where it is denied.
    anchored: bool,
    level: BigRational,
    /// The first reading and the last.
    seen: Option<(i64, i64)>,
}

impl Bucket {
    fn gained(&self, first: i64, from: i64, to: i64) -> BigRational {
        let width = i128::from(self.limit.per.signed());
        let since = |reading: i64| i128::from(reading) - i128::from(first);
        if self.interval {
            let intervals = since(to).div_euclid(width) - since(from).div_euclid(width);
            return whole(intervals) * whole(self.limit.requests.into());
        }
        let span = i128::from(to) - i128::from(from);
        whole(span) * fraction(self.limit.requests, self.limit.per.nanos())
    }
}

impl Rule for Bucket {
    fn attempt(&mut self, now: i64, cost: u32) -> Outcome {
        let capacity = whole(self.limit.burst.into());
        let (first, last) = self.seen.unwrap_or((now, now));
        let at = self.common.at(now, Some(last));
        let level = (self.level.clone() + self.gained(first, last, at)).min(capacity.clone());
        let price = whole(cost.into());
        let fits = price <= capacity && price <= level;
        let charged = fits || self.common.counts_denials;
        if charged {
            let left = (level.clone() - price).max(whole(0));
            self.level = level.min(left);
        } else if self.common.rewinds_always {
            self.level = level;
        }
        if charged || self.common.rewinds_always || (self.anchored && self.seen.is_none()) {
            self.seen = Some((first, if self.common.freezes { at } else { now }));
        }
        outcome(fits)
    }
}

/// Times that are T apart, as a meter (`queue` is none) or as a queue, of which the first leaves
/// immediately or not.
struct Arrival {
    limit: Limit,
    common: Common,
    next: Option<BigRational>,
    last: i64,
    queue: Option<bool>,
}

impl Arrival {
    /// A limit of none: longer than a queue or a burst is ever watched.
    fn interval(&self) -> BigRational {
        match self.limit.requests {
            0 => whole(10_i128.pow(38)),
            requests => fraction(self.limit.per.nanos(), requests),
        }
    }

    fn fits(&self, backlog: &BigRational, cost: u32) -> bool {
        let (capacity, cost) = (whole(self.limit.burst.into()), whole(cost.into()));
        let interval = self.interval();
        match self.queue {
            None => cost <= capacity && *backlog <= (capacity - cost) * interval,
            Some(_) if self.limit.requests == 0 => false,
            Some(immediate) => {
                let left = whole(i128::from(immediate && *backlog > whole(0)));
                let waiting = (backlog / interval).ceil() - left;
                waiting + cost <= capacity
            }
        }
    }
}

impl Rule for Arrival {
    fn attempt(&mut self, now: i64, cost: u32) -> Outcome {
        let at = if self.common.freezes { now.max(self.last) } else { now };
        let next = match &self.next {
            // What was owed at the last reading is owed at the older one.
            Some(next) if self.common.rewinds && now < self.last => {
                next - whole(self.last.into()) + whole(now.into())
            }
            Some(next) => next.clone(),
            None => whole(at.into()),
        };
        let start = next.clone().max(whole(at.into()));
        let backlog = &start - whole(at.into());
        let fits = self.fits(&backlog, cost);
        let price = whole(cost.into()) * self.interval();
        if fits || self.common.counts_denials {
            let most = i128::from(self.limit.burst) + i128::from(self.queue == Some(true));
            let blocked = self.queue.is_some() && self.limit.requests == 0;
            let most = if blocked { 0 } else { most };
            let price = price.clone().min(whole(self.limit.burst.into()) * self.interval());
            let full = whole(at.into()) + whole(most) * self.interval();
            self.next = Some((start.clone() + price).min(full).max(next));
            self.last = at;
        } else if self.common.rewinds_always {
            self.next = Some(next);
            self.last = at;
        }
        let leaves = match self.queue {
            _ if !fits => return Outcome::Deny,
            None => return Outcome::Admit,
            Some(true) if backlog == whole(0) => return Outcome::Admit,
            Some(true) => start,
            Some(false) => start + price,
        };
        let span = (leaves.ceil() - whole(now.into())).to_integer();
        let span = u128::try_from(span).ok().and_then(Span::try_from_nanos);
        Outcome::Queue(span.unwrap_or(Span::MAX))
    }
}
