//! Brown-outs: spans in which the backend has less to give.

use serde_json::json;

use crate::error::{Place, Problem, Problems};
use crate::params::Params;
use crate::time::{Instant, Span, Window};

/// A `[[backend.brown-out]]`, counted from the start of the run.
#[derive(Debug, Clone)]
pub struct BrownOut {
    at: Span,
    lasts: Span,
    /// `None` leaves all.
    slots: Option<u64>,
    slow_down: u64,
    loses: bool,
    /// Where it says when it begins.
    place: Place,
}

/// A brown-out of a run.
#[derive(Debug, Clone, Copy)]
pub struct Disturbance {
    /// From when to when; it may end after the run.
    pub window: Window,
    /// Whether it is over within the run.
    ends: bool,
    /// Slots that may be busy.
    pub slots: u64,
    /// What service that begins within it takes longer by, at least 1.
    pub slow_down: u64,
    /// Whether all that is there when it begins is lost.
    pub loses: bool,
}

impl Disturbance {
    /// When it changes the capacity within the run.
    pub fn changes(&self) -> impl Iterator<Item = Instant> + use<> {
        let Window { start, end } = self.window;
        [Some(start), self.ends.then_some(end)].into_iter().flatten()
    }
}

/// What the table is for.
pub const MEANING: &str =
    "A span in which the backend has less to give. Brown-outs do not overlap.";

/// Reads all of them, in the order in which they begin; `slots` is how many the backend has, where that
/// is known.
pub fn read_all(params: &mut Params, slots: Option<u64>) -> Vec<BrownOut> {
    let read = params.tables("brown-out", MEANING, |params| BrownOut::read(params, slots));
    let mut brown_outs: Vec<BrownOut> = read.into_iter().flatten().collect();
    brown_outs.sort_by_key(|brown_out| brown_out.at);
    let mut last: Option<&BrownOut> = None;
    for next in &brown_outs {
        if let Some(last) = last.filter(|last| next.at < last.end()) {
            let (line, column) = last.place.line_column();
            let name = &last.place.source.name;
            let message =
                format!("this begins before the brown-out of {name}:{line}:{column} is over");
            let help = format!("that lasts from {} to {}", last.at, last.end());
            params.problems().add(Problem::at(&next.place, message).help(help));
        }
        last = last.filter(|last| last.end() > next.end()).or(Some(next));
    }
    brown_outs
}

impl BrownOut {
    /// `None` after a problem was reported.
    fn read(params: &mut Params, all: Option<u64>) -> Option<BrownOut> {
        let at: Option<Span> = params.required("at", "When it begins, from the start of the run.");
        let lasts: Option<Span> =
            params.required("for", "How long it lasts; the end of the run ends it too.");
        let slots: Option<u64> = params.optional(
            "slots",
            "Slots that work meanwhile; 0 stops all. By default all of them. What is in service when it \
             begins is done even so.",
        );
        let slow_down: Option<u64> = params.within(1..=SLOWEST).optional(
            "slow-down",
            "By how many times service takes longer that begins meanwhile; by default 1.",
        );
        let loses: Option<bool> = params.optional(
            "loses",
            "Whether what is in service or queued when it begins is lost, and nobody gets an answer; by \
             default false.",
        );
        let lasting = params.require(
            "for",
            lasts != Some(Span::ZERO),
            "a brown-out of no time at all",
            "write a span such as \"10s\"",
        );
        if let (Some(slots), Some(all)) = (slots, all) {
            let message = format!("{slots} slots are more than the {all} that the backend has");
            params.require("slots", slots <= all, message, "write how many of them still work");
        }
        // What could not be read may have changed something.
        let changes = slots.map_or(params.has("slots"), |slots| Some(slots) != all)
            || slow_down.map_or(params.has("slow-down"), |times| times > 1)
            || loses.unwrap_or(params.has("loses"));
        if !changes {
            let help = "lower `slots`, raise `slow-down` above 1, or write `loses = true`";
            let problem = Problem::at(params.place(), "a brown-out that changes nothing");
            params.problems().add(problem.help(help));
        }
        let (slow_down, loses) = (slow_down.unwrap_or(1), loses.unwrap_or(false));
        params.resolve("slots", json!(slots.or(all)));
        params.resolve("slow-down", json!(slow_down));
        params.resolve("loses", json!(loses));
        let place = params.place_of("at");
        let brown_out = BrownOut { at: at?, lasts: lasts?, slots, slow_down, loses, place };
        Some(brown_out).filter(|_| lasting)
    }

    /// When it ends, from the start of the run; saturates.
    fn end(&self) -> Span {
        let nanos = u128::from(self.at.nanos()) + u128::from(self.lasts.nanos());
        Span::try_from_nanos(nanos).unwrap_or(Span::MAX)
    }

    /// Reports that it does not begin within a run of this length.
    pub fn check_within(&self, duration: Span, problems: &Problems) {
        if self.at >= duration {
            let message = "this brown-out begins when the run is over";
            let help = format!("the run lasts {duration}, and `at` counts from its start");
            problems.add(Problem::at(&self.place, message).help(help));
        }
    }

    /// What it is in a run; `None` if it begins after it. `all` is the number of slots.
    pub fn within(&self, run: Window, all: u64) -> Option<Disturbance> {
        let window = Window { start: run.start + self.at, end: run.start + self.end() };
        run.contains(window.start).then(|| Disturbance {
            window,
            ends: window.end < run.end,
            slots: self.slots.unwrap_or(all),
            slow_down: self.slow_down,
            loses: self.loses,
        })
    }
}

/// The largest `slow-down`.
const SLOWEST: u64 = 1_000_000;
