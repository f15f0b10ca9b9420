//! How long a key, or a client, was shut out.

/// From the first rejection after an acceptance to the next acceptance, or to when the last rejection said that one
/// would be possible, if that is sooner; to the last rejection where no acceptance followed.
#[derive(Debug, Clone)]
pub(super) struct Lockout {
    /// The first rejection since the last acceptance; [`NONE`] without any.
    since: i64,
    /// The last rejection, and when that would have been let through; [`NONE`] for never.
    last: i64,
    opens: i64,
    longest: i64,
}

/// No instant of a run.
const NONE: i64 = i64::MAX;

impl Default for Lockout {
    fn default() -> Lockout {
        Lockout { since: NONE, last: NONE, opens: NONE, longest: 0 }
    }
}

impl Lockout {
    /// An attempt was let through.
    #[inline]
    pub fn accept(&mut self, at: i64) {
        if self.since != NONE {
            // Who comes back later than it was told to was not locked out in the meantime.
            self.longest = self.longest.max(self.opens.min(at) - self.since);
            self.since = NONE;
        }
    }

    /// Attempts from `first` to `last` were refused; the last was told to come back when it `opens`.
    #[inline]
    pub fn reject(&mut self, first: i64, last: i64, opens: i64) {
        self.since = self.since.min(first);
        (self.last, self.opens) = (last, opens);
    }

    /// The longest, in nanoseconds.
    pub fn longest(&self) -> i64 {
        match self.since {
            NONE => self.longest,
            since => self.longest.max(self.last - since),
        }
    }
}
