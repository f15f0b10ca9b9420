//! Rate-limiting algorithms: pure rules over the state of one key.
//!
//! An algorithm knows nothing of nodes, stores, keys, scenarios or threads. It is told the time by
//! somebody else's clock (a [`Reading`]) and answers whether a cost may pass. [`Algorithm::check`]
//! is apart from [`Algorithm::charge`], because everything that real limiters get wrong lies between
//! the two: an atomic script is both at one instant, a race is a check on an old copy, several limits
//! at once are all checks before any charge, and a shadow mode is a check alone.
//!
//! [`ALGORITHMS`] lists them; [`Limiter`] is the face of any of them over the states of many keys.
//!
//! # Adding one
//! 1. A new file here, which starts with the rule, one citation and one known weakness, and has a
//!    `pub const KIND: Kind`. Its `configure` asks the [`Params`] for the algorithm's own options
//!    and puts the configured [`Algorithm`] into a [`Keyed`]; the options that all share
//!    ([`Common`]) have been read by then, and [`Keyed`] applies the `tick`.
//! 2. One `mod` line below.
//! 3. One line in [`ALGORITHMS`].
//!
//! The command line, the scenario reference, the schema and the conformance tests read the table.
//! The tests ask of any entry: waits exact to the nanosecond, no panic at the extremes, neutral
//! state that may be dropped, decisions that a shift in time does not change.

mod fixed_window;
mod gcra;
mod grid;
mod leaky_bucket;
mod limiter;
mod replay;
mod schedule;
mod sliding_window_counter;
mod sliding_window_log;
mod token_bucket;
#[cfg(test)]
mod trial;
mod width;

use replay::Course;

use crate::params::{Choice, Params};
use crate::rate::Limit;
use crate::seed::Draws;
use crate::time::{Reading, Span};

pub use limiter::{Kept, Keyed, Limiter, Settled};
pub use replay::{Batch, Decided, Gap, History, Lasting, Mark, Outcome, Run, Segment};

/// What an algorithm says of an attempt before it is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It passes now.
    Admit,
    /// It passes after waiting in the limiter's queue for a span longer than zero.
    Queue(Span),
    /// It does not pass.
    Deny,
}

/// How long until a denied attempt would be admitted if nothing else happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// Admitted exactly so much later, and not a nanosecond (a tick) earlier.
    After(Span),
    /// Never, or not within 2^63 ns.
    Never,
}

impl Wait {
    /// So many nanoseconds; `Never` from 2^63 on.
    fn nanos(nanos: i128) -> Wait {
        Span::try_from_nanos(nanos.max(0).unsigned_abs()).map_or(Wait::Never, Wait::After)
    }
}

/// What the state of one key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Footprint {
    /// Counters, levels, times or stamps kept, as textbooks count them (the bounds of a window and
    /// the length of a list are not counted).
    pub entries: u64,
    /// Bytes of the state as it lies in memory, its heap included.
    pub bytes: u64,
}

/// The rule of one algorithm, configured for one limit.
///
/// # Contract
/// For any state that `charge` and `deny` can produce from `fresh`, any reading (older ones
/// included) and any cost:
///
/// - nothing panics and nothing overflows, for limits up to 2^32 per span of 1 ns to ten years and
///   readings up to the year 2200;
/// - if `check` denies at `now`, `deny` is told, and then `wait` is `After(d)`, the same attempt is
///   not denied at `now + d` and is denied at `now + d - 1 ns`, if nothing was charged in between; if
///   `Never`, it is denied at every later reading; `d` is zero only where the denial itself, by
///   storing an older reading, made room (the sliding counter where readings are rewound);
/// - in the meantime it is denied at every reading from `now` on that comes no earlier than one before it, where
///   denials write nothing (`denial_writes`);
/// - from the reading `neutral_from` on, the state decides as `fresh` does, as long as no reading goes
///   back behind it.
///
/// The fixed window with `anchor = "expiry"` keeps the last two with the store's help alone: if that
/// forgets the state at `neutral_from`.
pub trait Algorithm: Send + Sync + 'static {
    /// What is remembered of one key.
    type State: Clone + Send;

    /// Whether attempts may wait in a queue.
    const QUEUES: bool = false;

    /// Whether what a state takes depends on what it has seen.
    const GROWS: bool = false;

    /// Whether states that take more and less tell the most themselves; see `most`.
    const TELLS_MOST: bool = false;

    /// The state of a key that was never seen.
    fn fresh(&self) -> Self::State;

    /// The state of a key that was never seen, of which the limiter knows only the number. Other than
    /// `fresh` where a rule draws random numbers, in which keys must differ.
    fn fresh_of(&self, _key: usize, _draws: Draws) -> Self::State {
        self.fresh()
    }

    /// May `cost` pass at `now`? Changes nothing.
    fn check(&self, state: &Self::State, now: Reading, cost: u32) -> Verdict;

    /// After a denial at `now` of which `deny` has been told: how long until the same attempt is
    /// admitted, if nothing else happens. Counted from `now`, even where that is older than the
    /// key's last reading.
    fn wait(&self, state: &Self::State, now: Reading, cost: u32) -> Wait;

    /// `cost` has passed at `now` (or joined the queue). Also called without a passing check, by
    /// modes that charge whatever the verdict; then a bucket stops at empty and a queue at full.
    fn charge(&self, state: &mut Self::State, now: Reading, cost: u32);

    /// An attempt of cost 1 at a reading no older than any that the state has seen: decides it and, unless it is
    /// denied, charges it. What `check` and `charge` do then, where that can be quicker.
    fn pass(&self, state: &mut Self::State, now: Reading) -> Verdict {
        let verdict = self.check(state, now, 1);
        if verdict != Verdict::Deny {
            self.charge(state, now, 1);
        }
        verdict
    }

    /// Whether many attempts can be decided at once; see `decide_all`.
    fn is_flat(&self) -> bool {
        false
    }

    /// What `pass` does with each of up to 64 attempts at readings no older than any that the state has seen, where
    /// that can be done without branches that depend on what is decided, since those cannot be foretold. `trail`
    /// receives the state after each (one that decides, waits and may be forgotten as that does); bits of those denied
    /// are set in the result. Asked only where `is_flat`.
    fn decide_all(&self, state: &mut Self::State, times: &[i64], trail: &mut [Self::State]) -> u64 {
        let mut denied = 0;
        for (n, (&at, after)) in times.iter().zip(trail).enumerate() {
            denied |= u64::from(self.pass(state, Reading(at)) == Verdict::Deny) << n;
            after.clone_from(state);
        }
        denied
    }

    /// Takes in the first of some attempts, at readings no older than any that the state has seen: as many as all pass
    /// whenever they come, if they are worth it. Gives how many; `until_after` tells how long states last after each
    /// of them. Asked only where `is_flat`, and not of rules with a queue.
    fn admit_first(&self, _state: &mut Self::State, _times: &[i64]) -> usize {
        0
    }

    /// When the state after an attempt may be forgotten that `admit_first` has taken in; `i64::MAX` for never.
    fn until_after(&self, _at: i64) -> i64 {
        i64::MAX
    }

    /// Decides the attempts of a history, which cost 1 and are decided by their instants, with their marks, from the
    /// course's place on; `false` where that is not quicker than one by one, and then nothing has happened.
    fn decide_history(
        &self,
        _state: &mut Self::State,
        _batch: &Batch,
        _history: &History,
        _course: &mut Course,
        _decided: &mut Decided,
    ) -> bool {
        false
    }

    /// When an attempt of cost 1 that was let through at a reading leaves the queue, or left at once; `after` is the
    /// state since. Asked only where `is_flat`.
    fn leave(&self, _after: &Self::State, now: Reading) -> i64 {
        now.0
    }

    /// The reading by which an attempt at `now` is decided: under `freeze` one that this state has seen, if that is
    /// newer.
    fn as_of(&self, _state: &Self::State, now: Reading) -> Reading {
        now
    }

    /// `cost` has passed by a decision that was made elsewhere, as of `now`, on a copy of this state: what there is
    /// not is owed, as far as a state can hold it. Under `freeze` it counts as of that reading, where this state has
    /// seen newer ones, as what is told late has passed when it did: in the window in which that lay, and refilled
    /// since.
    fn owe(&self, state: &mut Self::State, now: Reading, cost: u32) {
        self.charge(state, now, cost);
    }

    /// `cost` was denied at `now`. Only variants that write on a denial do anything here:
    /// `count-rejected`, and buckets that store the older time of a refused call.
    fn deny(&self, _state: &mut Self::State, _now: Reading, _cost: u32) {}

    /// Whether `deny` would write this state. Where it would not, a limiter that keeps its states elsewhere has
    /// nothing to send.
    fn denial_writes(&self, _state: &Self::State) -> bool {
        false
    }

    /// The most that a state took after any attempt of unit cost since this was asked last, of attempts in time order
    /// of which some were `denied` or none; `None` if it was never charged. Told only where `TELLS_MOST`.
    fn most(&self, _state: &mut Self::State, _denied: bool) -> Option<Footprint> {
        None
    }

    /// The same rule in a form that is quicker where costs are all 1 and readings, those of an exact clock, never go
    /// back; it decides the same and keeps as much. `None` where this form is as quick as any.
    fn in_time_order(&self) -> Option<Box<dyn Limiter>> {
        None
    }

    /// What `state` takes at `now`.
    fn footprint(&self, state: &Self::State, now: Reading) -> Footprint;

    /// The earliest reading known from which `state` decides as a fresh one, so that a store may
    /// forget it; `None` if it never does.
    fn neutral_from(&self, state: &Self::State) -> Option<Reading>;

    /// Whether a state is neutral from a reading on, which is no older than any that it has seen.
    fn is_neutral(&self, state: &Self::State, now: Reading) -> bool {
        self.neutral_from(state).is_some_and(|reading| reading <= now)
    }

    /// How long a state lasts at most after an attempt of unit cost, let through or denied, where readings never go
    /// back: by so many nanoseconds later it is neutral. `i64::MAX` where nothing is known.
    fn lasts_at_most(&self) -> i64 {
        i64::MAX
    }
}

/// An entry of the registry.
pub struct Kind {
    /// As written in a scenario.
    pub name: &'static str,
    /// One line for `ratesim list`.
    pub summary: &'static str,
    /// One known weakness, one line.
    pub weakness: &'static str,
    /// What is kept for one key, in the words of the textbooks: "1 counter".
    pub memory: &'static str,
    /// Whether it lets attempts wait in a queue.
    pub queues: bool,
    /// Reads the algorithm's own settings and configures it for a limit. `None` after a problem
    /// was reported.
    pub configure: fn(&Limit, Common, &mut Params) -> Option<Box<dyn Limiter>>,
    /// What an older reading may do under this algorithm.
    pub backwards: &'static [Backwards],
}

/// The registry, in the order in which algorithms are listed, drawn and tabled.
pub const ALGORITHMS: &[Kind] = &[
    fixed_window::KIND,
    sliding_window_log::KIND,
    sliding_window_counter::KIND,
    token_bucket::KIND,
    leaky_bucket::KIND,
    gcra::KIND,
];

/// The options that every algorithm has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Common {
    /// Whether a denied attempt is charged too; it is then stored as an admitted one is.
    pub count_rejected: bool,
    /// The resolution to which readings are cut down and waits rounded up.
    pub tick: Span,
    /// What a reading older than the key's last does.
    pub backwards: Backwards,
}

impl Default for Common {
    fn default() -> Common {
        let tick = Span::from_nanos(1);
        Common { count_rejected: false, tick, backwards: Backwards::Freeze }
    }
}

/// What a reading older than the key's last does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backwards {
    /// It counts as the key's last reading; nothing is ever earned twice.
    Freeze,
    /// It earns nothing, but is stored if the attempt is admitted, so a span is earned twice.
    RewindOnAdmit,
    /// It earns nothing, but is always stored, so a span is earned twice.
    Rewind,
    /// It is taken as it is: denied until true time catches up.
    Strict,
    /// As textbook listings do: a window is opened anew, a bucket loses what it earned.
    Naive,
}

impl Choice for Backwards {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("freeze", Backwards::Freeze, "an older reading counts as the key's last"),
        ("rewind-on-admit", Backwards::RewindOnAdmit, "an older reading is stored on admission"),
        ("rewind", Backwards::Rewind, "an older reading is always stored"),
        ("strict", Backwards::Strict, "denied until true time catches up (gcra)"),
        ("naive", Backwards::Naive, "as textbook listings do, wiping windows and draining buckets"),
    ];
}

impl Backwards {
    /// The reading at which an attempt at `now` is decided, where the key's last is `last`.
    fn decided_at(self, now: i64, last: i64) -> i64 {
        match self {
            Backwards::Freeze | Backwards::RewindOnAdmit | Backwards::Rewind => now.max(last),
            Backwards::Strict | Backwards::Naive => now,
        }
    }

    /// The reading that is the key's last once an attempt at `now` was stored.
    fn stored_as(self, now: i64, last: i64) -> i64 {
        if self == Backwards::Freeze { now.max(last) } else { now }
    }

    /// See [`Algorithm::as_of`], of a key whose last reading is `last`.
    fn as_of(self, now: Reading, last: i64) -> Reading {
        Reading(self.stored_as(now.0, last))
    }
}

/// Stands for the last reading of a key that was never seen; earlier than any other.
const UNSEEN: i64 = i64::MIN;

/// Finds an algorithm by its name.
pub fn find(name: &str) -> Option<&'static Kind> {
    position(name).map(|position| &ALGORITHMS[position])
}

/// The position of an algorithm in [`ALGORITHMS`].
pub fn position(name: &str) -> Option<usize> {
    ALGORITHMS.iter().position(|kind| kind.name == name)
}

impl Kind {
    /// Reads the options common to all and the algorithm's own, for one limit. `None` after a
    /// problem was reported. Every call over the same settings gives an equal limiter without state.
    pub fn limiter(&self, limit: &Limit, params: &mut Params) -> Option<Box<dyn Limiter>> {
        let defaults = Common::default();
        let common = Common {
            count_rejected: params.or(
                "count-rejected",
                defaults.count_rejected,
                "Whether a denied attempt is charged too, so that a client that keeps asking stays out.",
            ),
            tick: params.or(
                "tick",
                defaults.tick,
                "The clock's resolution: readings are cut down to it, waits rounded up.",
            ),
            backwards: params.or(
                "backwards",
                defaults.backwards,
                "What a reading older than the key's last does.",
            ),
        };
        let ticks = params.require(
            "tick",
            common.tick != Span::ZERO,
            "a clock without resolution",
            "write a span of at least \"1ns\"",
        );
        let names: Vec<&str> = self.backwards.iter().map(|b| b.name()).collect();
        let known = params.require(
            "backwards",
            self.backwards.contains(&common.backwards),
            format!("`{}` makes no sense for {}", common.backwards.name(), self.name),
            &format!("{} takes: {}", self.name, names.join(", ")),
        );
        let limiter = (self.configure)(limit, common, params);
        limiter.filter(|_| ticks && known)
    }
}
