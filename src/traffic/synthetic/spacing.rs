//! Requests evenly spaced, in whole nanoseconds without any error that grows.

use super::family::Family;
use super::share::Shares;
use crate::params::Choice;

/// How the requests of a source lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly.
    Even,
    /// At random, as a Poisson process.
    Poisson,
}

impl Choice for Spacing {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("even", Spacing::Even, "evenly, to the nanosecond"),
        ("poisson", Spacing::Poisson, "at random, every client a Poisson process"),
    ];
}

/// The times `first + floor((index + k * step) * span / count)`, for k from 0.
#[derive(Debug, Clone)]
pub struct Progression {
    at: u64,
    /// The numerator's remainder at `at`.
    rest: u64,
    step: u64,
    step_rest: u64,
    count: u64,
    left: u64,
}

impl Progression {
    /// `left` of them. `count` is at least 1, and the last lies within 2^64 ns.
    pub fn new(first: u64, (index, step): (u64, u64), span: u64, count: u64, left: u64) -> Self {
        let divide = |factor: u64| {
            let (product, count) = (u128::from(factor) * u128::from(span), u128::from(count));
            // What does not fit is beyond the last and never reached.
            (u64::try_from(product / count).unwrap_or(u64::MAX), (product % count) as u64)
        };
        let (offset, rest) = divide(index);
        let (step, step_rest) = divide(step);
        Progression { at: first.saturating_add(offset), rest, step, step_rest, count, left }
    }

    /// How many of those that are left come before `end`.
    pub fn before(&self, end: u64) -> u64 {
        let Some(room) = end.checked_sub(self.at) else { return 0 };
        // floor((rest + k * numerator) / count) < room, with the numerator put together again.
        let count = u128::from(self.count);
        let numerator = u128::from(self.step) * count + u128::from(self.step_rest);
        let limit = u128::from(room) * count;
        let number = match (limit.checked_sub(self.rest.into()), numerator) {
            (None | Some(0), _) => 0,
            (_, 0) => u128::MAX,
            (Some(limit), numerator) => limit.div_ceil(numerator),
        };
        self.left.min(u64::try_from(number).unwrap_or(u64::MAX))
    }
}

impl Iterator for Progression {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let at = self.at;
        let room = self.count - self.rest;
        let carry = self.step_rest >= room;
        self.rest = if carry { self.step_rest - room } else { self.rest + self.step_rest };
        self.at = at.saturating_add(self.step).saturating_add(u64::from(carry));
        Some(at)
    }
}

/// How many k from 0 there are with `floor(k * span / count) < room`; saturates.
pub fn before(room: u64, span: u64, count: u64) -> u64 {
    match (room, span) {
        (0, _) => 0,
        (_, 0) => u64::MAX,
        _ => {
            let number = (u128::from(room) * u128::from(count)).div_ceil(span.into());
            u64::try_from(number).unwrap_or(u64::MAX)
        }
    }
}

/// How many of the numbers below `requests` are `client` modulo `clients`.
pub fn dealt(requests: u64, client: u64, clients: u64) -> u64 {
    requests.saturating_sub(client).div_ceil(clients)
}

/// A part of `length` for each client that spreads any number of clients evenly over it, whatever
/// their number: the fractions of the multiples of the golden ratio.
pub fn phase(client: usize, length: u64) -> u64 {
    let fraction = (client as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((u128::from(length) * u128::from(fraction)) >> 64) as u64
}

/// A number of requests spaced evenly and divided among the clients.
///
/// With even shares, request i of them all is at `first + floor(i * span / count)` and belongs to
/// client i modulo the number of clients. With weighted shares each client's own requests are spaced
/// evenly over the whole length, each client with its [`phase`].
pub struct Even {
    first: u64,
    span: u64,
    count: u64,
    /// All requests together, those beyond `end` left out where shares are even.
    requests: u64,
    /// The requests of each client where shares are weighted, with the length they are spread over.
    weighted: Option<(Vec<u64>, u64)>,
    end: u64,
}

impl Even {
    /// `requests` spaced by `span / count`, which together fill `length`, from `first` to before `end`.
    pub fn new(
        shares: &Shares,
        first: u64,
        (span, count): (u64, u64),
        requests: u64,
        length: u64,
        end: u64,
    ) -> Even {
        let room = end.saturating_sub(first);
        let (requests, weighted) = match shares {
            Shares::Even(_) => (requests.min(before(room, span, count)), None),
            Shares::Weighted { .. } => (requests, Some((shares.apportion(requests), length))),
        };
        Even { first, span, count, requests, weighted, end }
    }

    /// The times of a client.
    pub fn times(&self, family: &Family, client: usize) -> Progression {
        let Some((parts, length)) = &self.weighted else {
            let (index, clients) = (client as u64, family.clients() as u64);
            let left = dealt(self.requests, index, clients);
            // A client without requests would start beyond the end.
            let index = index.min(self.requests);
            let count = self.count.max(1);
            return Progression::new(self.first, (index, clients), self.span, count, left);
        };
        let part = parts[client].max(1);
        let first = self.first.saturating_add(phase(client, length / part));
        let room = self.end.saturating_sub(first);
        let left = parts[client].min(before(room, *length, part));
        Progression::new(first, (0, 1), *length, part, left)
    }

    /// The requests of all clients, exactly.
    pub fn total(&self, family: &Family) -> u64 {
        match self.weighted {
            None => self.requests,
            Some(_) => (0..family.clients())
                .fold(0, |sum, client| sum.saturating_add(self.times(family, client).left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_progression_is_its_formula(
            first in 0..1u64 << 40, index in 0..1000u64, step in 1..1000u64,
            span in 0..1u64 << 50, count in 1..=u64::MAX, left in 0..50u64,
        ) {
            let formula = (0..left).map(|k| {
                let factor = u128::from(index + k * step);
                first + u64::try_from(factor * u128::from(span) / u128::from(count)).unwrap()
            });
            let progression = Progression::new(first, (index, step), span, count, left);
            prop_assert_eq!(progression.collect::<Vec<_>>(), formula.collect::<Vec<_>>());
        }

        #[test]
        fn the_rest_of_a_progression_before_an_end_is_what_a_loop_counts(
            first in 0..20u64, index in 0..10u64, step in 1..10u64, span in 0..50u64,
            count in 1..20u64, left in 0..50u64, taken in 0..5usize, end in 0..400u64,
        ) {
            let mut progression = Progression::new(first, (index, step), span, count, left);
            progression.by_ref().take(taken).for_each(drop);
            let counted = progression.clone().filter(|&at| at < end).count() as u64;
            prop_assert_eq!(progression.before(end), counted);
        }

        #[test]
        fn before_counts_what_a_loop_counts(room in 0..50u64, span in 1..60u64, count in 1..60u64) {
            let counted = (0..10_000).take_while(|k| k * span / count < room).count() as u64;
            prop_assert_eq!(before(room, span, count), counted);
        }
    }

    #[test]
    fn phases_of_any_number_of_clients_leave_no_large_gap() {
        for clients in [2usize, 3, 10, 100, 1000] {
            let mut phases: Vec<u64> = (0..clients).map(|c| phase(c, 1_000_000)).collect();
            phases.push(1_000_000);
            phases.sort_unstable();
            let widest = phases.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
            // The three-distance theorem allows no gap wider than 1.9 times the mean here.
            assert!(widest as usize * clients < 2_000_000, "{clients}: {widest}");
        }
    }
}
