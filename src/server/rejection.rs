//! What a rejection tells the client: the Retry-After header.

use crate::algorithm::Wait;
use crate::params::Params;
use crate::seed::Stream;
use crate::time::{Instant, Span};

/// The `[rejection]` table: how the Retry-After of a rejection is made.
#[derive(Debug, Clone, Default)]
pub struct Rejection {}

/// A Retry-After header as a client reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// To come back after so long.
    Delay(Span),
    /// To come back at a time, by the server's clock.
    Date(Instant),
}

/// What the table is for.
pub const MEANING: &str = "What a rejection tells the client: its Retry-After header.";

impl Rejection {
    /// Reads the table.
    pub fn read(_params: &mut Params) -> Rejection {
        Rejection {}
    }

    /// The header of a rejection at `at` that carries `wait`; `window` is the longest `per` of the
    /// limits that refused, `draws` is where jitter comes from. `None` where none is sent.
    pub fn header(
        &self,
        _at: Instant,
        wait: Wait,
        _window: Span,
        _draws: impl FnOnce() -> Stream,
    ) -> Option<Header> {
        match wait {
            Wait::After(span) => Some(Header::Delay(Span::from_secs(span.ceil_secs()))),
            Wait::Never => None,
        }
    }
}
