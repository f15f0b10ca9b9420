//! Spans in which the store does not answer, or badly.

use serde_json::json;

use crate::clock::Clock;
use crate::error::Problem;
use crate::params::{Begin, Choice, Params};
use crate::rate::Share;
use crate::time::Span;

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

impl Choice for Down {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("silent", Down::Silent, "nothing: calls end with the timeout"),
        ("refuses", Down::Refuses, "that it is down, after a round trip"),
    ];
}

/// What is wrong, without the numbers that go with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Down,
    Slow,
    Lossy,
}

impl Choice for Kind {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("down", Kind::Down, "it works on nothing"),
        ("slow", Kind::Slow, "calls take longer"),
        ("lossy", Kind::Lossy, "a share of the calls is lost"),
    ];
}

/// What is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lost {
    Calls,
    Answers,
}

impl Choice for Lost {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("calls", Lost::Calls, "calls, on their way to the store"),
        ("answers", Lost::Answers, "answers, so that the store has worked on the call"),
    ];
}

/// What is left of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Kept,
    Lost,
}

impl Choice for State {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("kept", State::Kept, "all is there as it was"),
        ("lost", State::Lost, "nothing is left"),
    ];
}

const MEANING: &str =
    "A span in which the store does not answer, or badly. Where some overlap, all of it is wrong.";

/// The largest `times`.
const SLOWEST: u64 = 1_000_000;

impl Outage {
    /// Reads all of them; `None` where it is not known how many nodes or shards there are.
    pub(super) fn read_all(
        params: &mut Params,
        nodes: Option<usize>,
        shards: Option<usize>,
        begins: &mut Vec<Begin>,
    ) -> Vec<Outage> {
        let read =
            params.tables("outage", MEANING, |params| Outage::read(params, nodes, shards, begins));
        read.into_iter().flatten().collect()
    }

    /// `None` after a problem was reported.
    fn read(
        params: &mut Params,
        nodes: Option<usize>,
        shards: Option<usize>,
        begins: &mut Vec<Begin>,
    ) -> Option<Outage> {
        let at: Option<Span> = params.required("at", "When it begins, from the start of the run.");
        begins.extend(at.map(|at| Begin::new("outage", at, params)));
        let lasts: Option<Span> = params.required("for", "How long it lasts.");
        let lasting = params.require(
            "for",
            lasts != Some(Span::ZERO),
            "an outage of no time at all",
            "write a span such as \"10s\"",
        );
        let kind = read_kind(params);
        let nodes = read_list(params, "nodes", "node", nodes);
        let shards = read_list(params, "shards", "shard", shards);
        let state = params.or("state", State::Kept, "What is left of the state when it is over.");
        let outage = Outage {
            at: at?,
            lasts: lasts?,
            kind: kind?,
            nodes: nodes?,
            shards: shards?,
            loses: state == State::Lost,
        };
        lasting.then_some(outage)
    }
}

fn read_kind(params: &mut Params) -> Option<OutageKind> {
    let kind = params.or_unknown("kind", Kind::Down, "What is wrong.");
    let is = |one| kind.map(|kind| kind == one);
    let down = params.only(is(Kind::Down), "`kind = \"down\"`", |params| {
        params.or("how", Down::Silent, "What nodes learn of that.")
    });
    let slow = params.only(is(Kind::Slow), "`kind = \"slow\"`", |params| {
        let times: Option<u64> = params
            .within(1..=SLOWEST)
            .optional("times", "By how many times calls take longer; by default 1.");
        let extra: Option<Span> =
            params.optional("extra", "How much longer they take besides; by default not at all.");
        // One that is written may be the first of a row that begins with no change.
        let changes = params.has("times") || params.has("extra");
        if !changes {
            let help = "write `times`, or an `extra` such as \"100ms\"";
            let problem = Problem::at(params.place(), "an outage that changes nothing");
            params.problems().add(problem.help(help));
        }
        let (times, extra) = (times.unwrap_or(1), extra.unwrap_or_default());
        params.resolve("times", json!(times));
        params.resolve("extra", json!(extra.to_string()));
        changes.then_some(OutageKind::Slow { times, extra })
    });
    let lossy = params.only(is(Kind::Lossy), "`kind = \"lossy\"`", |params| {
        let share: Option<Share> = params.required("share", "How many are lost.");
        let of = params.or("of", Lost::Calls, "Of what.");
        Some(OutageKind::Lossy { ppm: share?.ppm(), answers: of == Lost::Answers })
    });
    match kind? {
        Kind::Down => down.map(OutageKind::Down),
        Kind::Slow => slow.flatten(),
        Kind::Lossy => lossy.flatten(),
    }
}

/// Some of `count`, counted from 0; empty if it is about all. `None` after a problem was reported.
fn read_list(
    params: &mut Params,
    name: &str,
    one: &str,
    count: Option<usize>,
) -> Option<Vec<usize>> {
    let meaning = format!("The {name} it is about, counted from 1. By default all.");
    let Some(list) = params.optional::<Vec<u64>>(name, &meaning) else {
        return (!params.has(name)).then(Vec::new);
    };
    let most = count.unwrap_or(Clock::MOST) as u64;
    let help = format!("write numbers from 1 to {most}, or leave it out for every {one}");
    let wrong =
        match list.iter().enumerate().find(|(index, number)| {
            !(1..=most).contains(*number) || list[..*index].contains(number)
        }) {
            _ if list.is_empty() => Some(format!("an outage of no {one} at all")),
            Some((_, number)) if (1..=most).contains(number) => {
                Some(format!("{number} is there twice"))
            }
            Some((_, number)) => Some(format!("there is no {one} {number}")),
            None => None,
        };
    match wrong {
        Some(message) => {
            params.require(name, false, message, &help);
            None
        }
        None => Some(list.into_iter().map(|number| number as usize - 1).collect()),
    }
}
