//! Jitter: what chance makes of a delay, so that clients that failed together do not come again together.
//! [`JITTERS`] lists the kinds. Each is a range from which a whole number of nanoseconds is drawn, every
//! one as likely as the next.
//!
//! With e the delay of the policy and U(a, b) a draw from a to b, both included:
//!
//! | name | delay | good for |
//! |---|---|---|
//! | `none` | e | showing what the others are for |
//! | `full` | U(0, e) | the widest spread, and half the waiting on average |
//! | `equal` | e/2 + U(0, e/2) | a spread that still leaves the server half of the delay |
//! | `decorrelated` | min(cap, U(base, 3 x the last)) | a spread that does not depend on the retry's number |
//! | `proportional` | e + U(0, e x share), or e + U(-e x share, e x share) | a delay near a promised one |
//!
//! Half of an odd delay is rounded up, so that `equal` is never zero where e is not.
//!
//! The first four as in M. Brooker, *Exponential Backoff And Jitter* (AWS Architecture Blog, 2015).

use crate::params::{Choice, Named, Params};
use crate::rate::Share;
use crate::seed::{Stream, below};
use crate::time::Span;

/// An entry of the registry.
#[derive(Debug)]
pub struct Jitter {
    /// As written in a scenario.
    pub name: &'static str,
    /// One line for `ratesim list`.
    pub summary: &'static str,
    /// The delay, where e is the policy's.
    pub formula: &'static str,
    /// Where it is found.
    pub source: &'static str,
    /// What it is good for.
    pub good_for: &'static str,
    /// Whether each delay starts from the last one drawn, up to the cap, instead of the policy's growth.
    pub feeds_back: bool,
    /// Reads its options, if it has any.
    pub options: Option<fn(&mut Params) -> Option<Sides>>,
    /// The least and the greatest delay.
    pub range: fn(&Raw) -> (u64, u64),
}

/// What a delay is drawn from, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Raw {
    /// The delay of the policy.
    pub delay: u64,
    /// The policy's first delay.
    pub base: u64,
    /// The last delay drawn, or the first of the policy.
    pub previous: u64,
    /// The options.
    pub sides: Sides,
}

/// How far a proportional delay strays, as shares of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sides {
    /// At most so much is taken off.
    pub below: Share,
    /// At most so much is added.
    pub above: Share,
}

/// The registry, in the order in which kinds are listed.
pub const JITTERS: &[Jitter] = &[
    Jitter::NONE,
    Jitter {
        name: "full",
        summary: "Any delay up to that of the policy.",
        formula: "U(0, e)",
        source: BROOKER,
        good_for: "the widest spread of many clients, with half the waiting on average",
        feeds_back: false,
        options: None,
        range: |raw| (0, raw.delay),
    },
    Jitter {
        name: "equal",
        summary: "Half of the delay, and any part of the other half.",
        formula: "e/2 + U(0, e/2)",
        source: BROOKER,
        good_for: "a spread that still leaves the server half of each delay to recover in",
        feeds_back: false,
        options: None,
        range: |raw| (raw.delay.div_ceil(2), raw.delay),
    },
    Jitter {
        name: "decorrelated",
        summary: "Any delay from the base to three times the last one, up to the cap.",
        formula: "min(cap, U(base, 3 x last delay)), the first from U(base, 3 x base)",
        source: BROOKER,
        good_for: "many clients of different age: the spread does not depend on a retry's number",
        feeds_back: true,
        options: None,
        range: |raw| (raw.base, raw.previous.saturating_mul(3).min(Span::MAX.nanos())),
    },
    Jitter {
        name: "proportional",
        summary: "The delay and a share of it, on top or to both sides.",
        formula: "e + U(0, e x share), or e + U(-e x share, e x share)",
        source: "gRFC A6 (20 % around); many articles' clients (20 % above)",
        good_for: "delays near those that were promised; a small share spreads a herd only little",
        feeds_back: false,
        options: Some(Sides::read),
        range: |raw| {
            let above = raw.delay.saturating_add(raw.sides.above.of(raw.delay));
            (raw.delay - raw.sides.below.of(raw.delay), above.min(Span::MAX.nanos()))
        },
    },
];

const BROOKER: &str = "M. Brooker, Exponential Backoff And Jitter (AWS Architecture Blog, 2015)";

impl Named for Jitter {
    const WHAT: &'static str = "jitter";

    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }
}

impl Jitter {
    /// What those have who do not say.
    pub const NONE: Jitter = Jitter {
        name: "none",
        summary: "The delay as it is.",
        formula: "e",
        source: "clients without jitter",
        good_for: "showing what the others are for: clients that failed together come again together",
        feeds_back: false,
        options: None,
        range: |raw| (raw.delay, raw.delay),
    };

    /// The delay that comes out, at most `cap` where that bounds draws. Draws only where there is a choice.
    pub fn draw(&self, raw: &Raw, cap: Span, draws: impl FnOnce() -> Stream) -> Span {
        let (least, most) = (self.range)(raw);
        let drawn = match most - least {
            0 => least,
            width => least + below(&mut draws(), width + 1),
        };
        let drawn = Span::from_nanos(drawn);
        if self.feeds_back { drawn.min(cap) } else { drawn }
    }
}

/// On which sides of the delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Above,
    Around,
}

impl Choice for Side {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("above", Side::Above, "up to the share is added"),
        ("around", Side::Around, "up to the share is added or taken off"),
    ];
}

impl Sides {
    fn read(params: &mut Params) -> Option<Sides> {
        let share = params.or("jitter-share", Share::percent(20), "The share of the delay.");
        let side = params.or("jitter-side", Side::Around, "On which side of the delay.");
        let strays = params.require(
            "jitter-share",
            share != Share::ZERO,
            "a share of nothing",
            "write a share such as \"20%\", or `jitter = \"none\"`",
        );
        strays.then_some(match side {
            Side::Above => Sides { below: Share::ZERO, above: share },
            Side::Around => Sides { below: share, above: share },
        })
    }
}
