//! How the requests of a source are divided among its clients.

use std::cmp::Reverse;

use crate::params::{Choice, Params};
use crate::rate::Rate;

/// The shares of the clients.
#[derive(Debug, Clone, PartialEq)]
pub enum Shares {
    /// All alike; so many clients.
    Even(u64),
    /// By weight.
    Weighted {
        /// The weight of each client.
        weights: Vec<u64>,
        /// Their sum, at least 1.
        total: u128,
    },
}

/// How shares are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    Even,
    Zipf,
}

impl Choice for Share {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("even", Share::Even, "every client asks as often as the others"),
        ("zipf", Share::Zipf, "client number k asks in proportion to 1 / k^exponent"),
    ];
}

impl Shares {
    /// Reads `share` and `exponent`. `None` after a problem was reported.
    pub fn read(params: &mut Params, clients: usize) -> Option<Shares> {
        let share =
            params.or("share", Share::Even, "How the requests are divided among the clients.");
        let exponent: Option<f64> = params.optional(
            "exponent",
            "How unequal `share = \"zipf\"` is: 0 is even; by default 1, where the second asks half \
             as often as the first.",
        );
        let belongs = params.require(
            "exponent",
            exponent.is_none() || share == Share::Zipf,
            "`exponent` without `share = \"zipf\"`",
            "add `share = \"zipf\"`, or leave `exponent` out",
        );
        let exponent_good = params.require(
            "exponent",
            exponent.is_none_or(|exponent| exponent >= 0.0),
            "a negative exponent",
            "write a number from 0 up; a usual one is 1.0",
        );
        if !(belongs && exponent_good) {
            return None;
        }
        if share == Share::Even {
            return Some(Shares::Even(clients as u64));
        }
        let exponent = exponent.unwrap_or(1.0);
        params.resolve("exponent", exponent.into());
        Some(Shares::zipf(clients, exponent))
    }

    /// Zipf's law: weights in proportion to 1 / k^exponent, k from 1, in steps of 2^-52 of the first.
    pub fn zipf(clients: usize, exponent: f64) -> Shares {
        const FIRST: f64 = (1u64 << 52) as f64;
        if clients == 1 {
            return Shares::Even(1);
        }
        let weights: Vec<u64> =
            (1..=clients).map(|k| (FIRST * libm::pow(k as f64, -exponent)) as u64).collect();
        let total = weights.iter().map(|&weight| u128::from(weight)).sum();
        Shares::Weighted { weights, total }
    }

    /// The mean nanoseconds from one request of a client to its next, where all clients together make
    /// `rate`. Infinite for a client that makes none.
    pub fn mean_gap(&self, rate: Rate, client: usize) -> f64 {
        let gap = rate.per.nanos() as f64 / rate.count as f64;
        match self {
            Shares::Even(clients) => gap * *clients as f64,
            Shares::Weighted { weights, total } => gap * (*total as f64 / weights[client] as f64),
        }
    }

    /// Divides a number of requests exactly: every client gets its quota rounded down, and those with
    /// the largest remainders one more (the method of Hamilton), the first of equals first.
    pub fn apportion(&self, requests: u64) -> Vec<u64> {
        let (weights, total) = match self {
            Shares::Even(clients) => {
                let (each, more) = (requests / clients, requests % clients);
                return (0..*clients).map(|client| each + u64::from(client < more)).collect();
            }
            Shares::Weighted { weights, total } => (weights, *total),
        };
        let quota = |weight: &u64| u128::from(requests) * u128::from(*weight);
        let mut parts: Vec<u64> =
            weights.iter().map(|weight| (quota(weight) / total) as u64).collect();
        let left = (requests - parts.iter().sum::<u64>()) as usize;
        if left > 0 {
            let mut order: Vec<(Reverse<u128>, usize)> = weights
                .iter()
                .enumerate()
                .map(|(client, weight)| (Reverse(quota(weight) % total), client))
                .collect();
            order.select_nth_unstable(left - 1);
            for &(_, client) in &order[..left] {
                parts[client] += 1;
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use proptest::prelude::*;

    #[test]
    fn zipf_with_exponent_1_gives_6_3_2_of_11_and_the_rest_by_largest_remainder() {
        // Weights 1, 1/2, 1/3 are 6 : 3 : 2.
        assert_eq!(Shares::zipf(3, 1.0).apportion(11), [6, 3, 2]);
        // Of 12: quotas 6.545, 3.273, 2.182; the one left goes to .545.
        assert_eq!(Shares::zipf(3, 1.0).apportion(12), [7, 3, 2]);
        // Of 4: quotas 2.18, 1.09, 0.73; the one left goes to .73.
        assert_eq!(Shares::zipf(3, 1.0).apportion(4), [2, 1, 1]);
    }

    #[test]
    fn with_exponent_0_the_first_clients_get_what_does_not_divide() {
        assert_eq!(Shares::zipf(4, 0.0).apportion(10), [3, 3, 2, 2]);
        assert_eq!(Shares::Even(4).apportion(10), [3, 3, 2, 2]);
    }

    #[test]
    fn a_zipf_client_waits_in_inverse_proportion_to_its_share() {
        // 11 a second among 6 : 3 : 2: client 2 makes 3 a second.
        let rate = Rate { count: 11, per: Span::from_secs(1) };
        let gap = Shares::zipf(3, 1.0).mean_gap(rate, 1);
        assert!((gap - 1e9 / 3.0).abs() < 1e-3, "{gap}");
        assert_eq!(Shares::Even(11).mean_gap(rate, 0), 1e9);
        let none = Rate { count: 0, ..rate };
        assert_eq!(Shares::Even(1).mean_gap(none, 0), f64::INFINITY);
    }

    proptest! {
        #[test]
        fn apportioned_requests_add_up_and_lie_within_one_of_the_quota(
            clients in 1usize..200, exponent in 0.0..4.0f64, requests in 0..=u64::MAX,
        ) {
            let shares = Shares::zipf(clients, exponent);
            let parts = shares.apportion(requests);
            prop_assert_eq!(parts.iter().map(|&p| u128::from(p)).sum::<u128>(), requests.into());
            if let Shares::Weighted { weights, total } = shares {
                for (part, weight) in parts.into_iter().zip(weights) {
                    let floor = (u128::from(requests) * u128::from(weight) / total) as u64;
                    prop_assert!(part == floor || part == floor + 1);
                }
            }
        }
    }
}
