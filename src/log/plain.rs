//! Requests of which nothing is wanted but when they came and from which address of IPv4: all that is known of most
//! requests of most logs, in so few bytes that many are handed on together.

use crate::time::{Instant, SECOND};

/// A request that is stamped with a whole second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plain {
    /// The second that its stamp says, from 1970.
    pub second: u32,
    /// The address, which is the value of the only field that is wanted.
    pub address: [u8; 4],
}

impl Plain {
    /// Its time.
    #[inline]
    pub fn at(self) -> Instant {
        Instant(i64::from(self.second) * SECOND as i64)
    }
}
