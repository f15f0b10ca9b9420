//! How long a key lives in the store.

use crate::time::Span;

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
    /// A number below 1,000,000, each as likely as the next.
    pub luck: u32,
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

impl Expiry {
    /// When a key expires after a hit.
    pub fn deadline(&self, hit: Hit) -> Deadline {
        match (*self, hit.matters) {
            (Expiry::Right { margin }, Some(matters)) if hit.written => {
                let nanos = u128::from(matters.nanos()).div_ceil(1_000_000) * 1_000_000;
                Deadline::After(Span::saturating(nanos + u128::from(margin.nanos())))
            }
            (_, _) if hit.written && hit.created => Deadline::Never,
            _ => Deadline::Same,
        }
    }
}
