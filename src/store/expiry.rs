//! How long a key lives in the store.

use crate::error::Problem;
use crate::params::{Choice, Node, Params, Setting, Short, Table};
use crate::rate::Share;
use crate::time::{SECOND, Span};

/// The `[store.expiry]` table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expiry {
    /// Every write lets it live as long as its state matters, in whole milliseconds rounded up, and `margin` longer.
    Right {
        /// How much longer, for clocks that disagree.
        margin: Span,
    },
    /// For ever.
    None,
    /// So long from the last write, whatever its state still means.
    Short {
        /// How long.
        after: Span,
    },
    /// So long from the last hit, denied ones included.
    Renewed {
        /// How long; `None` for the window of its limit.
        after: Option<Span>,
    },
    /// Set when it is created and never again, as long as its state matters; the command that sets it may be lost,
    /// and the key then lives for ever.
    Lost {
        /// How often, of a million keys created.
        ppm: u32,
    },
    /// As [`Expiry::Right`], in whole seconds.
    WholeSeconds {
        /// How spans between them are rounded.
        round: Rounding,
    },
}

/// How spans are made whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Down, but at least one.
    DownToOne,
    /// Down to nothing, which deletes the key.
    Down,
    /// Up.
    Up,
}

impl Choice for Rounding {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("down-to-one", Rounding::DownToOne, "down, but at least one second"),
        (
            "down",
            Rounding::Down,
            "down; less than a second is nothing, and deletes the key at once",
        ),
        ("up", Rounding::Up, "up"),
    ];
}

/// A key is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Whether it is there only since now.
    pub created: bool,
    /// Whether its state was written.
    pub written: bool,
    /// How long its state matters from now on; `None` for ever.
    pub matters: Option<Span>,
    /// The window of its limit.
    pub window: Span,
}

/// When a key expires after a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// When it would have without.
    Same,
    /// Never.
    Never,
    /// After so long; at once if that is zero.
    After(Span),
}

const MILLISECOND: u64 = 1_000_000;

/// A span in whole multiples of `unit` nanoseconds, rounded up.
fn up_to(unit: u64, span: Span, more: Span) -> Span {
    let whole = u128::from(span.nanos()).div_ceil(unit.into()) * u128::from(unit);
    Span::saturating(whole + u128::from(more.nanos()))
}

impl Expiry {
    /// When a key expires after a hit. Where the key is not there after the hit (it was not, and nothing was
    /// written), that means nothing. `luck` draws a number below 1,000,000, each as likely as the next.
    pub fn deadline(&self, hit: Hit, luck: impl FnOnce() -> u32) -> Deadline {
        let matters = |how: &dyn Fn(Span) -> Span| {
            hit.matters.map_or(Deadline::Never, |matters| Deadline::After(how(matters)))
        };
        match *self {
            Expiry::Renewed { after } => Deadline::After(after.unwrap_or(hit.window)),
            _ if !hit.written => Deadline::Same,
            Expiry::Right { margin } => matters(&|span| up_to(MILLISECOND, span, margin)),
            Expiry::None => Deadline::Never,
            Expiry::Short { after } => Deadline::After(after),
            Expiry::Lost { .. } if !hit.created => Deadline::Same,
            Expiry::Lost { ppm } if luck() < ppm => Deadline::Never,
            Expiry::Lost { .. } => matters(&|span| up_to(MILLISECOND, span, Span::ZERO)),
            Expiry::WholeSeconds { round } => matters(&|span| {
                let seconds = span.nanos() / SECOND;
                match round {
                    Rounding::DownToOne => Span::from_secs(seconds.max(1)),
                    Rounding::Down => Span::from_secs(seconds),
                    Rounding::Up => up_to(SECOND, span, Span::ZERO),
                }
            }),
        }
    }

    /// Reads the setting `expiry`. `None` after a problem was reported.
    pub(super) fn read(params: &mut Params) -> Option<Expiry> {
        let meaning = "How long a key lives: a table, or the name of its `kind` alone.";
        params.shortened("expiry", meaning, SHORT, Some("right"), Expiry::settings).flatten()
    }

    fn settings(params: &mut Params) -> Option<Expiry> {
        let kind =
            params.or_unknown("kind", Kind::Right, "When a key's end of life is set, and to what.");
        let is = |one| kind.map(|kind| kind == one);
        let lasting = |params: &Params, span: Option<Span>| {
            let help = "write a span such as \"1s\"";
            params.require("after", span != Some(Span::ZERO), "a life of no time at all", help);
            span.filter(|span| *span != Span::ZERO)
        };
        let margin = params.only(is(Kind::Right), "`kind = \"right\"`", |params| {
            params.or("margin", Span::ZERO, "How much longer, for clocks that disagree.")
        });
        let timed = kind.map(|kind| matches!(kind, Kind::Short | Kind::Renewed));
        let after = params.only(timed, "`kind = \"short\"` or \"renewed\"", |params| {
            let meaning = "How long from then on. By default, with \"renewed\", the window of the key's limit.";
            let after = match kind {
                Some(Kind::Short) => Some(params.required("after", meaning)?),
                _ => params.optional("after", meaning),
            };
            let wanted = after.is_some() || params.has("after");
            let after = lasting(params, after);
            (after.is_some() || !wanted).then_some(after)
        });
        let ppm = params.only(is(Kind::Lost), "`kind = \"lost\"`", |params| {
            let share: Option<Share> = params.required(
                "probability",
                "Of how many keys that are created the command that would let them expire is lost.",
            );
            share.map(Share::ppm)
        });
        let round = params.only(is(Kind::WholeSeconds), "`kind = \"whole-seconds\"`", |params| {
            params.or("round", Rounding::Up, "How spans between whole seconds are rounded.")
        });
        match kind? {
            Kind::Right => margin.map(|margin| Expiry::Right { margin }),
            Kind::None => Some(Expiry::None),
            Kind::Short => after.flatten().flatten().map(|after| Expiry::Short { after }),
            Kind::Renewed => after.flatten().map(|after| Expiry::Renewed { after }),
            Kind::Lost => ppm.flatten().map(|ppm| Expiry::Lost { ppm }),
            Kind::WholeSeconds => round.map(|round| Expiry::WholeSeconds { round }),
        }
    }
}

/// A text alone is the kind.
const SHORT: Short = Short {
    schema: Kind::schema,
    expand: |node: &Node| -> Result<Table, Problem> {
        Kind::read(node)?;
        Ok(Table::at(&node.place, [("kind", node.value.clone())]))
    },
};

/// When a key's end of life is set, and to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Right,
    None,
    Short,
    Renewed,
    Lost,
    WholeSeconds,
}

impl Choice for Kind {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        (
            "right",
            Kind::Right,
            "every write lets it live as long as its state matters, in whole milliseconds rounded up",
        ),
        ("none", Kind::None, "never: it lives for ever"),
        ("short", Kind::Short, "`after` from the last write, whatever its state still means"),
        ("renewed", Kind::Renewed, "`after` from the last time it was asked for, denials included"),
        (
            "lost",
            Kind::Lost,
            "set once, when it is created, to as long as its state matters then; with a `probability` never",
        ),
        ("whole-seconds", Kind::WholeSeconds, "as \"right\", in whole seconds"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WINDOW: Span = Span::from_secs(60);

    /// A hit on a key whose state matters for another 1.5004 s.
    const HIT: Hit = Hit {
        created: false,
        written: true,
        matters: Some(Span::from_nanos(1_500_400_000)),
        window: WINDOW,
    };

    const KINDS: [Expiry; 9] = [
        Expiry::Right { margin: Span::ZERO },
        Expiry::None,
        Expiry::Short { after: Span::from_secs(1) },
        Expiry::Renewed { after: None },
        Expiry::Renewed { after: Some(Span::from_secs(5)) },
        Expiry::Lost { ppm: 10_000 },
        Expiry::WholeSeconds { round: Rounding::DownToOne },
        Expiry::WholeSeconds { round: Rounding::Down },
        Expiry::WholeSeconds { round: Rounding::Up },
    ];

    fn ms(count: u64) -> Deadline {
        Deadline::After(Span::from_nanos(count * MILLISECOND))
    }

    /// Of a hit by which nothing is lost.
    fn deadline(kind: Expiry, hit: Hit) -> Deadline {
        kind.deadline(hit, || 999_999)
    }

    /// What each kind makes of that.
    fn deadlines(hit: Hit) -> [Deadline; 9] {
        KINDS.map(|kind| deadline(kind, hit))
    }

    #[test]
    fn after_a_write() {
        use Deadline::{Never, Same};
        let expected =
            [ms(1501), Never, ms(1000), ms(60_000), ms(5000), Same, ms(1000), ms(1000), ms(2000)];
        assert_eq!(deadlines(HIT), expected);
        let right = Expiry::Right { margin: Span::from_secs(2) };
        assert_eq!(deadline(right, HIT), ms(3501));
    }

    #[test]
    fn after_a_denial_that_wrote_nothing_only_a_renewed_life_is_longer() {
        use Deadline::Same;
        let denied = Hit { written: false, ..HIT };
        let expected = [Same, Same, Same, ms(60_000), ms(5000), Same, Same, Same, Same];
        assert_eq!(deadlines(denied), expected);
    }

    #[test]
    fn the_command_that_sets_an_end_is_lost_for_10_000_of_a_million_keys_that_are_created() {
        let lost = Expiry::Lost { ppm: 10_000 };
        let created = |luck| lost.deadline(Hit { created: true, ..HIT }, || luck);
        assert_eq!(created(9_999), Deadline::Never);
        assert_eq!(created(10_000), ms(1501));
    }

    #[test]
    fn what_matters_for_ever_never_ends_unless_the_end_does_not_look_at_that() {
        use Deadline::Never;
        let hit = Hit { created: true, matters: None, ..HIT };
        let expected = [Never, Never, ms(1000), ms(60_000), ms(5000), Never, Never, Never, Never];
        assert_eq!(deadlines(hit), expected);
    }

    #[test]
    fn less_than_a_second_is_one_or_nothing_and_whole_seconds_stay() {
        let seconds = |round, nanos| {
            let matters = Some(Span::from_nanos(nanos));
            deadline(Expiry::WholeSeconds { round }, Hit { matters, ..HIT })
        };
        for (round, below, whole, above) in [
            (Rounding::DownToOne, ms(1000), ms(3000), ms(3000)),
            (Rounding::Down, ms(0), ms(3000), ms(3000)),
            (Rounding::Up, ms(1000), ms(3000), ms(4000)),
        ] {
            assert_eq!(seconds(round, SECOND - 1), below);
            assert_eq!(seconds(round, 3 * SECOND), whole);
            assert_eq!(seconds(round, 3 * SECOND + 1), above);
        }
    }

    proptest! {
        #[test]
        fn right_is_never_too_early_and_less_than_a_millisecond_and_the_margin_too_late(
            matters in 0..=Span::MAX.nanos(), margin in 0..=Span::MAX.nanos(),
        ) {
            let [matters, margin] = [matters, margin].map(Span::from_nanos);
            let hit = Hit { matters: Some(matters), ..HIT };
            let Deadline::After(after) = deadline(Expiry::Right { margin }, hit) else {
                panic!("an end")
            };
            let exact = u128::from(matters.nanos()) + u128::from(margin.nanos());
            prop_assert!(after >= Span::saturating(exact));
            prop_assert!(u128::from(after.nanos()) < exact + u128::from(MILLISECOND));
            for kind in KINDS {
                let _ = deadline(kind, hit);
            }
        }
    }
}
