//! Rates and limits: a count per span, kept as the two integers that the user wrote, so that no
//! division rounds before a decision is made.

mod exact;

use std::fmt;

use crate::time::Span;

pub use exact::{Decimal, Share};

/// So many per span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many.
    pub count: u64,
    /// Per how long; never zero.
    pub per: Span,
}

impl Rate {
    /// The largest count of a rate or limit.
    pub const MAX_COUNT: u64 = 1 << 32;

    /// Parses `"100/60s"` or `"50/s"`: a count, a slash, and a span whose number may be left out
    /// where it is 1.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn parse(text: &str) -> Result<Rate, String> {
        let Some((count, per)) = text.split_once('/') else {
            return Err(format!("`{text}` has no `/`"));
        };
        if count.is_empty() || !count.bytes().all(|b| b.is_ascii_digit()) {
            return Err(format!("`{count}` before the `/` is not a whole number"));
        }
        let count = count.parse().ok().filter(|&c| c <= Rate::MAX_COUNT);
        let count = count.ok_or_else(|| format!("`{text}` is more than 2^32 per span"))?;
        let span = if per.starts_with(|c: char| c.is_ascii_alphabetic()) {
            Span::parse(&format!("1{per}"))
        } else {
            Span::parse(per)
        }?;
        if span == Span::ZERO {
            return Err(format!("`{text}` is a rate per no time at all"));
        }
        Ok(Rate { count, per: span })
    }

    /// What [`Rate::parse`] takes, for messages.
    pub const GRAMMAR: &str = "a count per span with its unit, such as \"100/60s\" or \"50/s\"";
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.count, self.per)
    }
}

/// What is promised for one key: at most `requests` (in cost) in any `per`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// L, the cost that may pass per span; 0 blocks everything. At most 2^32.
    pub requests: u64,
    /// W, from 1 ns to ten years.
    pub per: Span,
    /// B, the cost that may pass at once from rest, for the algorithms that have one. At most 2^32.
    pub burst: u64,
}

impl Limit {
    /// The longest `per`: ten years of 365 days.
    pub const MAX_PER: Span = Span::from_secs(10 * 365 * 86_400);

    /// A limit whose burst is its number of requests.
    pub const fn new(requests: u64, per: Span) -> Limit {
        Limit { requests, per, burst: requests }
    }

    /// The share that one of `parts` has of it, counted from 0; what does not divide goes to the first.
    pub const fn share(self, part: u64, parts: u64) -> Limit {
        const fn of(whole: u64, part: u64, parts: u64) -> u64 {
            whole / parts + (part < whole % parts) as u64
        }
        let (requests, burst) = (of(self.requests, part, parts), of(self.burst, part, parts));
        Limit { requests, burst, ..self }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} per {}", self.requests, self.per)?;
        if self.burst != self.requests {
            write!(formatter, ", burst {}", self.burst)?;
        }
        Ok(())
    }
}

/// The greatest common divisor; `gcd(0, n)` is n.
pub(crate) const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_common_divisor_of_a_span_and_a_count() {
        assert_eq!(gcd(60_000_000_000, 100), 100);
        assert_eq!(gcd(1_000_000_000, 3), 1);
        assert_eq!((gcd(0, 7), gcd(7, 0)), (7, 7));
    }

    #[test]
    fn shares_add_up_and_the_first_have_what_does_not_divide() {
        let limit = Limit { burst: 4, ..Limit::new(10, Span::from_secs(1)) };
        let shares = [0, 1, 2].map(|part| limit.share(part, 3));
        assert_eq!(shares.map(|share| (share.requests, share.burst)), [(4, 2), (3, 1), (3, 1)]);
    }

    #[test]
    fn a_rate_needs_a_count_a_slash_and_a_unit() {
        let rate = |count, per| Ok(Rate { count, per: Span::from_secs(per) });
        assert_eq!(Rate::parse("100/60s"), rate(100, 60));
        assert_eq!(Rate::parse("50/s"), rate(50, 1));
        assert_eq!(Rate::parse("100/m"), rate(100, 60));
        for (text, reason) in [
            ("100/60", "`60` has no unit"),
            ("100", "`100` has no `/`"),
            ("/s", "`` before the `/` is not a whole number"),
            ("1.5/s", "`1.5` before the `/` is not a whole number"),
            ("1/0s", "`1/0s` is a rate per no time at all"),
            ("1/mo", "`mo` is not a unit of time"),
            ("4294967297/s", "`4294967297/s` is more than 2^32 per span"),
        ] {
            assert_eq!(Rate::parse(text), Err(reason.to_owned()), "{text}");
        }
    }
}
