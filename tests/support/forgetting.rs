//! A store in small, for algorithms whose windows only end when their state is forgotten: it forgets the
//! state of a key at the first reading from which that should be neutral.

use ratesim::algorithm::{Batch, Decided, Kept, Limiter, Settled, Verdict, Wait};
use ratesim::seed::Seed;
use ratesim::time::Reading;

/// A limiter whose states are forgotten when they should be neutral.
pub fn at_neutral(limiter: Box<dyn Limiter>) -> Box<dyn Limiter> {
    Box::new(Forgetting { limiter })
}

struct Forgetting {
    /// The state of a key is the one at twice its number; the next is never charged, and tells what a
    /// forgotten one says.
    limiter: Box<dyn Limiter>,
}

impl Forgetting {
    fn is_over(&self, key: usize, now: Reading) -> bool {
        self.limiter.kept(2 * key, now).neutral_from.is_some_and(|from| from <= now)
    }

    /// The state that a key has at `now`.
    fn state(&self, key: usize, now: Reading) -> usize {
        2 * key + usize::from(self.is_over(key, now))
    }

    fn forget_if_over(&mut self, key: usize, now: Reading) {
        if self.is_over(key, now) {
            self.forget(key);
        }
    }
}

impl Limiter for Forgetting {
    fn seed(&mut self, seed: Seed) {
        self.limiter.seed(seed);
    }

    fn reserve(&mut self, key: usize) {
        self.limiter.reserve(2 * key + 1);
    }

    fn check(&self, key: usize, now: Reading, cost: u32) -> Verdict {
        self.limiter.check(self.state(key, now), now, cost)
    }

    fn wait(&self, key: usize, now: Reading, cost: u32) -> Wait {
        self.limiter.wait(self.state(key, now), now, cost)
    }

    fn charge(&mut self, key: usize, now: Reading, cost: u32) {
        self.forget_if_over(key, now);
        self.limiter.charge(2 * key, now, cost);
    }

    fn as_of(&self, key: usize, now: Reading) -> Reading {
        self.limiter.as_of(self.state(key, now), now)
    }

    fn owe(&mut self, key: usize, now: Reading, cost: u32) {
        self.forget_if_over(key, now);
        self.limiter.owe(2 * key, now, cost);
    }

    fn deny(&mut self, key: usize, now: Reading, cost: u32) {
        self.forget_if_over(key, now);
        self.limiter.deny(2 * key, now, cost);
    }

    /// A key that is over is forgotten.
    fn denial_writes(&self, _key: usize) -> bool {
        true
    }

    fn settle(&mut self, key: usize, now: Reading, cost: u32) -> Settled {
        self.forget_if_over(key, now);
        self.limiter.settle(2 * key, now, cost)
    }

    fn kept(&self, key: usize, now: Reading) -> Kept {
        self.limiter.kept(self.state(key, now), now)
    }

    fn copy(&mut self, from: usize, to: usize) {
        self.limiter.copy(2 * from, 2 * to);
    }

    fn forget(&mut self, key: usize) {
        self.limiter.forget(2 * key);
    }

    fn fetch(&self, _keys: &[u32]) {}

    fn in_time_order(&self) -> Option<Box<dyn Limiter>> {
        None
    }

    fn replay(&mut self, _batch: &Batch, _decided: &mut Decided) {
        unreachable!("what a store forgets is not decided in bulk")
    }
}
