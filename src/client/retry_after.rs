//! What a client makes of a Retry-After header (RFC 9110, section 10.2.3): how long it waits because of
//! it, and by which clock.
//!
//! A delay in seconds needs no clock. A date is by the server's clock, and the client takes from it what
//! its own clock shows: one that is 5 s ahead comes 5 s early, and is refused again.

use serde_json::{Value as Json, json};

use crate::error::Problem;
use crate::params::{Choice, Node, Params, Setting, Value};
use crate::rate::Share;
use crate::seed::{Stream, below};
use crate::server::Header;
use crate::time::{Instant, Offset, Span};

/// What clients do with the header, and how well they can read a date.
#[derive(Debug, Clone, Copy)]
pub struct Heed {
    mode: Mode,
    /// What `obey-plus-jitter` adds.
    extra: Extra,
    /// How far ahead all clocks are.
    offset: Offset,
    /// How far each is off that, at most, on either side.
    spread: Span,
}

/// What a header does to a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Ignore,
    Obey,
    ObeyPlusJitter,
    Longer,
}

impl Choice for Mode {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("ignore", Mode::Ignore, "the client's own delay, whatever the header says"),
        ("obey", Mode::Obey, "exactly what the header says, without jitter"),
        (
            "obey-plus-jitter",
            Mode::ObeyPlusJitter,
            "what it says and up to `retry-after-jitter` more",
        ),
        ("longer", Mode::Longer, "what it says or the client's own delay, whichever is longer"),
    ];
}

/// A span, or a share of what the header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extra {
    Span(Span),
    Share(Share),
}

impl Setting for Extra {
    const EXPECTED: &'static str =
        "a span such as \"30s\" or a share of what the header says, such as \"10%\"";

    fn read(node: &Node) -> Result<Self, Problem> {
        match &node.value {
            Value::String(text) if text.ends_with('%') => Share::read(node).map(Extra::Share),
            Value::String(_) => Span::read(node).map(Extra::Span),
            other => {
                let message = format!("expected {}, found {}", Self::EXPECTED, other.kind());
                let help = format!("write {}", Self::EXPECTED);
                Err(Problem::at(&node.place, message).help(help))
            }
        }
    }

    fn json(&self) -> Json {
        match self {
            Extra::Span(span) => span.json(),
            Extra::Share(share) => share.json(),
        }
    }

    fn schema() -> Json {
        json!({ "type": "string", "title": Self::EXPECTED })
    }
}

impl Heed {
    /// Reads the options.
    pub fn read(params: &mut Params) -> Heed {
        let mode =
            params.or("retry-after", Mode::Ignore, "What a Retry-After header does to a delay.");
        let extra = params.only(
            Some(mode == Mode::ObeyPlusJitter),
            "`retry-after = \"obey-plus-jitter\"`",
            |params| {
                let extra = params.or(
                    "retry-after-jitter",
                    Extra::Share(Share::percent(10)),
                    "Up to so much longer than the header says.",
                );
                params.require(
                    "retry-after-jitter",
                    !matches!(extra, Extra::Span(Span::ZERO) | Extra::Share(Share::ZERO)),
                    "nothing to draw from",
                    "write a span or share above zero, or `retry-after = \"obey\"`",
                );
                extra
            },
        );
        let clock = params.only(
            Some(mode != Mode::Ignore),
            "a `retry-after` other than \"ignore\"",
            |params| {
                let offset = params.or(
                    "clock-offset",
                    Offset::ZERO,
                    "How far ahead all clients' clocks are when they read a date; negative where they \
                     are behind.",
                );
                let spread = params.or(
                    "clock-spread",
                    Span::ZERO,
                    "Each client's clock is off by up to so much more, ahead or behind.",
                );
                (offset, spread)
            },
        );
        let (offset, spread) = clock.unwrap_or_default();
        Heed { mode, extra: extra.unwrap_or(Extra::Span(Span::ZERO)), offset, spread }
    }

    /// Whether clients do not ignore it.
    pub fn heeds(&self) -> bool {
        self.mode != Mode::Ignore
    }

    /// How long a client waits that learns of `header` at `at`, and whether it comes no sooner than that told it
    /// to, because it was told so: who reads a date by a clock that is ahead comes sooner. `own`
    /// gives its own delay, `draws` is where what it adds to the header comes from, `clock` where its clock's
    /// error does.
    pub fn wait(
        &self,
        header: Option<Header>,
        at: Instant,
        own: impl FnOnce() -> Span,
        draws: impl FnOnce() -> Stream,
        clock: impl FnOnce() -> Stream,
    ) -> (Span, bool) {
        let header = header.filter(|_| self.mode != Mode::Ignore);
        let Some(header) = header else { return (own(), false) };
        let told = match header {
            Header::Delay(span) => span,
            Header::Date(date) => date.exact() - (at.exact() + self.clock(clock)),
        };
        let wait = match self.mode {
            Mode::Ignore | Mode::Obey => told,
            Mode::ObeyPlusJitter => {
                let most = match self.extra {
                    Extra::Span(span) => span.nanos(),
                    Extra::Share(share) => share.of(told.nanos()),
                };
                let more = if most == 0 { 0 } else { below(&mut draws(), most + 1) };
                Span::saturating(u128::from(told.nanos()) + u128::from(more))
            }
            Mode::Longer => told.max(own()),
        };
        let obeys = match header {
            Header::Delay(_) => true,
            Header::Date(date) => at + wait >= date,
        };
        (wait, obeys)
    }

    /// How far ahead a client's clock is.
    fn clock(&self, draws: impl FnOnce() -> Stream) -> Offset {
        if self.spread == Span::ZERO {
            return self.offset;
        }
        let spread = i128::from(self.spread.nanos());
        let drawn = below(&mut draws(), 2 * self.spread.nanos() + 1);
        Offset::saturating(i128::from(self.offset.nanos()) + i128::from(drawn) - spread)
    }
}
