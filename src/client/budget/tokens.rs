//! `tokens`: a bucket that failures or retries empty and successes fill. It starts full, and time fills
//! nothing: after an outage it takes as many successes as were lost.
//!
//! gRPC charges failures and stops retries while half of the tokens are gone (gRFC A6: `capacity` 10,
//! `per-failure` 1, `refund` 0.1, `threshold` 5); the AWS SDKs charge retries (500, `per-retry` 5, `refund` 1,
//! `refund-retried` 5). The count is clamped to 0 and the capacity, so that yesterday's successes do not pay
//! for today's storm.

use std::sync::Arc;

use super::{Kind, Ledger, Rule};
use crate::params::{Params, Setting};
use crate::rate::Decimal;
use crate::time::Instant;

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "tokens",
    summary: "A bucket that failures or retries empty and successes fill.",
    source: "gRPC retry throttling (gRFC A6); the retry quota of the AWS SDKs",
    read: Some(read),
};

/// In thousandths of a token.
#[derive(Debug, Clone, Copy)]
struct Tokens {
    capacity: u64,
    per_failure: u64,
    per_retry: u64,
    refund: u64,
    refund_retried: u64,
    threshold: u64,
}

fn read(params: &mut Params) -> Option<Arc<dyn Rule>> {
    let capacity: Option<Decimal> =
        params.required("capacity", "The most tokens, and how many there are at first.");
    let none = Decimal::default();
    let per_failure = params.or("per-failure", none, "Charged for each attempt that fails.");
    let per_retry = params.or("per-retry", none, "Charged for each retry that is granted.");
    let refund = params.or("refund", none, "Given back for each attempt that succeeds.");
    let refund_retried = params.optional(
        "refund-retried",
        "Given back for each retry that succeeds instead. By default as `refund`.",
    );
    let threshold = params.or("threshold", none, "A retry is granted only above so many tokens.");
    let refund_retried: Decimal = refund_retried.unwrap_or(refund);
    params.resolve("refund-retried", refund_retried.json());
    let capacity = capacity?;
    let charges = params.require(
        "kind",
        per_failure > none || per_retry > none,
        "a budget that charges nothing",
        "write `per-failure`, `per-retry` or both",
    );
    let above = params.require(
        if params.has("threshold") { "threshold" } else { "capacity" },
        threshold < capacity,
        format!(
            "there are never more than {capacity} tokens, and a retry needs more than {threshold}: none \
             would be granted"
        ),
        "make `threshold` less than `capacity`",
    );
    let enough = params.require(
        if params.has("per-retry") { "per-retry" } else { "capacity" },
        per_retry <= capacity,
        format!("there are never {per_retry} tokens for a retry: none would be granted"),
        "make `per-retry` no more than `capacity`",
    );
    let tokens = Tokens {
        capacity: capacity.thousandths(),
        per_failure: per_failure.thousandths(),
        per_retry: per_retry.thousandths(),
        refund: refund.thousandths(),
        refund_retried: refund_retried.thousandths(),
        threshold: threshold.thousandths(),
    };
    (charges && above && enough).then(|| Arc::new(tokens) as Arc<dyn Rule>)
}

impl Rule for Tokens {
    fn open(&self, count: usize) -> Box<dyn Ledger> {
        Box::new(Buckets { rule: *self, spent: vec![0; count] })
    }
}

#[derive(Debug)]
struct Buckets {
    rule: Tokens,
    /// What is missing in each, so that zeroed memory, which costs nothing until it is touched, is full
    /// buckets.
    spent: Vec<u64>,
}

impl Ledger for Buckets {
    fn failed(&mut self, state: usize) {
        let spent = &mut self.spent[state];
        *spent = (*spent + self.rule.per_failure).min(self.rule.capacity);
    }

    fn succeeded(&mut self, state: usize, retry: bool) {
        let refund = if retry { self.rule.refund_retried } else { self.rule.refund };
        self.spent[state] = self.spent[state].saturating_sub(refund);
    }

    fn allows(&mut self, state: usize, _at: Instant) -> bool {
        let tokens = self.rule.capacity - self.spent[state];
        tokens > self.rule.threshold && tokens >= self.rule.per_retry
    }

    fn granted(&mut self, state: usize, _at: Instant) {
        let spent = &mut self.spent[state];
        *spent = (*spent + self.rule.per_retry).min(self.rule.capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AT: Instant = Instant(0);

    const GRPC: Tokens = Tokens {
        capacity: 10_000,
        per_failure: 1_000,
        per_retry: 0,
        refund: 100,
        refund_retried: 100,
        threshold: 5_000,
    };

    const AWS: Tokens = Tokens {
        capacity: 500_000,
        per_failure: 0,
        per_retry: 5_000,
        refund: 1_000,
        refund_retried: 5_000,
        threshold: 0,
    };

    /// Whether the retry after a failure is made.
    fn fails(ledger: &mut dyn Ledger, state: usize) -> bool {
        ledger.failed(state);
        let allowed = ledger.allows(state, AT);
        if allowed {
            ledger.granted(state, AT);
        }
        allowed
    }

    #[test]
    fn grpc_retries_after_four_failures_and_not_after_the_fifth() {
        let mut ledger = GRPC.open(1);
        let granted: Vec<bool> = (0..6).map(|_| fails(&mut *ledger, 0)).collect();
        assert_eq!(granted, [true, true, true, true, false, false]);
    }

    #[test]
    fn from_nothing_grpc_takes_51_successes_to_pass_5() {
        let mut ledger = GRPC.open(1);
        assert_eq!((0..100).filter(|_| fails(&mut *ledger, 0)).count(), 4);
        (0..50).for_each(|_| ledger.succeeded(0, false));
        assert!(!ledger.allows(0, AT));
        ledger.succeeded(0, false);
        assert!(ledger.allows(0, AT));
    }

    #[test]
    fn yesterdays_successes_do_not_pay_for_todays_storm() {
        let mut ledger = GRPC.open(1);
        (0..1_000_000).for_each(|_| ledger.succeeded(0, false));
        assert_eq!((0..10).filter(|_| fails(&mut *ledger, 0)).count(), 4);
    }

    #[test]
    fn a_hundred_failing_retries_drain_the_quota_of_aws_and_five_clean_successes_pay_for_one() {
        let mut ledger = AWS.open(1);
        assert_eq!((0..1000).take_while(|_| fails(&mut *ledger, 0)).count(), 100);
        (0..4).for_each(|_| ledger.succeeded(0, false));
        assert!(!fails(&mut *ledger, 0));
        ledger.succeeded(0, false);
        assert!(fails(&mut *ledger, 0));
        assert!(!fails(&mut *ledger, 0));
        ledger.succeeded(0, true);
        assert!(fails(&mut *ledger, 0));
    }

    #[test]
    fn each_client_has_its_own_in_eight_bytes() {
        let mut buckets = Buckets { rule: AWS, spent: vec![0; 1_000_000] };
        assert_eq!(size_of_val(&buckets.spent[..]), 8_000_000);
        assert_eq!((0..100).filter(|_| fails(&mut buckets, 7)).count(), 100);
        assert!(!buckets.allows(7, AT) && buckets.allows(8, AT));
    }

    proptest! {
        #[test]
        fn tokens_are_those_of_plain_arithmetic_within_their_bounds(
            numbers in prop::array::uniform6(0..=Decimal::MAX.thousandths()),
            steps in prop::collection::vec(0..3_u8, 0..50),
        ) {
            let [capacity, per_failure, per_retry, refund, refund_retried, threshold] = numbers;
            let rule = Tokens { capacity, per_failure, per_retry, refund, refund_retried, threshold };
            let mut ledger = rule.open(1);
            let mut tokens = i128::from(capacity);
            for step in steps {
                let change = match step {
                    0 => {
                        ledger.failed(0);
                        -i128::from(per_failure)
                    }
                    1 => {
                        ledger.succeeded(0, false);
                        i128::from(refund)
                    }
                    _ => {
                        ledger.succeeded(0, true);
                        i128::from(refund_retried)
                    }
                };
                tokens = (tokens + change).clamp(0, capacity.into());
                let allowed = tokens > threshold.into() && tokens >= per_retry.into();
                prop_assert_eq!(ledger.allows(0, AT), allowed);
                if allowed {
                    ledger.granted(0, AT);
                    tokens -= i128::from(per_retry);
                }
            }
        }
    }
}
