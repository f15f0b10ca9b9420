//! `in-flight`: at most so many retries at once, from the grant of one, its delay included, until it
//! succeeded, failed, timed out, or its client left. (Envoy's `max_retries` circuit breaker.)

use std::sync::Arc;

use super::{Kind, Ledger, Rule};
use crate::params::Params;
use crate::time::Instant;

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "in-flight",
    summary: "At most so many retries at once, their delays included.",
    source: "the max_retries circuit breaker of Envoy",
    read: Some(read),
};

#[derive(Debug, Clone, Copy)]
struct Slots {
    most: u32,
}

fn read(params: &mut Params) -> Option<Arc<dyn Rule>> {
    let most = params.within(1..=u64::from(u32::MAX)).required(
        "most",
        "Retries at once, each counted from its grant, its delay included, to its end.",
    );
    Some(Arc::new(Slots { most: most? }))
}

impl Rule for Slots {
    fn open(&self, count: usize) -> Box<dyn Ledger> {
        Box::new(Taken { most: self.most, taken: vec![0; count] })
    }
}

#[derive(Debug)]
struct Taken {
    most: u32,
    taken: Vec<u32>,
}

impl Ledger for Taken {
    fn ended(&mut self, state: usize) {
        self.taken[state] = self.taken[state].saturating_sub(1);
    }

    fn allows(&mut self, state: usize, _at: Instant) -> bool {
        self.taken[state] < self.most
    }

    fn granted(&mut self, state: usize, _at: Instant) {
        self.taken[state] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_slots_the_third_retry_gets_one_when_another_ends() {
        let at = Instant(0);
        let mut slots = Slots { most: 2 }.open(2);
        for allowed in [true, true, false] {
            assert_eq!(slots.allows(0, at), allowed);
            if allowed {
                slots.granted(0, at);
            }
        }
        assert!(slots.allows(1, at));
        slots.ended(0);
        assert!(slots.allows(0, at));
        slots.granted(0, at);
        assert!(!slots.allows(0, at));
    }
}
