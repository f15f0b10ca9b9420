//! Which node gets an attempt.

use crate::seed::{Draws, Seed, below, digest};

/// Which node gets an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Routing {
    /// In turn.
    RoundRobin,
    /// Any, each as likely as the next.
    Random,
    /// Always the same for a key of the first limit that covers the attempt.
    ByKey,
    /// One of those with the fewest attempts that it has not answered yet, of which it is the next in turn.
    LeastBusy,
    /// In turn, each as often as its weight, interleaved.
    Weighted(Vec<u32>),
}

/// Deals attempts out to the nodes of a run.
#[derive(Debug)]
pub struct Router {
    routing: Routing,
    count: usize,
    /// The node after the one picked last.
    next: usize,
    /// By node, how far it is behind its share; these add up to 0. Only with weights.
    behind: Vec<i64>,
    draws: Draws,
}

impl Router {
    /// Nothing was dealt out yet. There is a node at least, and each has a weight where there are any.
    pub fn new(routing: &Routing, count: usize, seed: Seed) -> Router {
        let weighted = if matches!(routing, Routing::Weighted(_)) { count } else { 0 };
        let behind = vec![0; weighted];
        Router { routing: routing.clone(), count, next: 0, behind, draws: seed.draws("routing") }
    }

    /// Whether [`Router::pick`] looks at how busy nodes are.
    pub fn counts_busy(&self) -> bool {
        self.routing == Routing::LeastBusy
    }

    /// The node for the next attempt. `key` names the key of the first limit that covers it, `drawn_by` are the
    /// request and the try, `busy` is by node (looked at only where [`Router::counts_busy`]).
    pub fn pick(
        &mut self,
        key: impl FnOnce() -> String,
        drawn_by: (u64, u64),
        busy: &[u32],
    ) -> usize {
        let count = self.count;
        let node = match &self.routing {
            Routing::RoundRobin => self.next,
            Routing::Random => {
                let (request, attempt) = drawn_by;
                below(&mut self.draws.part(request, attempt), count as u64) as usize
            }
            // The hash is a number below 2^64, each as likely as the next.
            Routing::ByKey => ((u128::from(digest(&key())) * count as u128) >> 64) as usize,
            Routing::LeastBusy => {
                let in_turn = (self.next..count).chain(0..self.next);
                in_turn.min_by_key(|&node| busy[node]).unwrap_or(0)
            }
            Routing::Weighted(weights) => smooth(&mut self.behind, weights),
        };
        self.next = (node + 1) % count;
        node
    }
}

/// Smooth weighted round-robin, as in nginx since 1.3.1: each node falls behind by its weight, and the one furthest
/// behind, the first of equals, is picked and gets ahead by the sum of all weights.
fn smooth(behind: &mut [i64], weights: &[u32]) -> usize {
    let mut picked = 0;
    let mut sum = 0;
    for (node, weight) in weights.iter().copied().map(i64::from).enumerate() {
        behind[node] += weight;
        sum += weight;
        if behind[node] > behind[picked] {
            picked = node;
        }
    }
    behind[picked] -= sum;
    picked
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn router(routing: Routing, count: usize) -> Router {
        Router::new(&routing, count, Seed(1))
    }

    /// So many picks, of keys named after their number, while all nodes are idle.
    fn picks(routing: Routing, count: usize, attempts: u64) -> Vec<usize> {
        let mut router = router(routing, count);
        let idle = vec![0; count];
        (0..attempts).map(|n| router.pick(|| format!("key {n}"), (n, 1), &idle)).collect()
    }

    fn tally(picks: &[usize], count: usize) -> Vec<usize> {
        (0..count).map(|node| picks.iter().filter(|&&pick| pick == node).count()).collect()
    }

    #[test]
    fn in_turn_is_0_1_2_0_1_2() {
        assert_eq!(picks(Routing::RoundRobin, 3, 7), [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn weights_of_5_1_and_1_interleave_as_a_a_b_a_c_a_a() {
        let weighted = Routing::Weighted(vec![5, 1, 1]);
        assert_eq!(picks(weighted, 3, 14), [0, 0, 1, 0, 2, 0, 0].repeat(2));
        assert_eq!(picks(Routing::Weighted(vec![2, 2, 2]), 3, 6), [0, 1, 2, 0, 1, 2]);
        let largest = Routing::Weighted(vec![0, u32::MAX, u32::MAX]);
        assert_eq!(picks(largest, 3, 4), [1, 2, 1, 2]);
    }

    #[test]
    fn the_least_busy_node_is_picked_and_among_equals_the_next_in_turn() {
        let mut router = router(Routing::LeastBusy, 3);
        assert!(router.counts_busy());
        let mut pick = |busy: [u32; 3]| router.pick(String::new, (0, 1), &busy);
        assert_eq!(pick([0, 0, 0]), 0);
        assert_eq!(pick([0, 0, 0]), 1);
        assert_eq!(pick([0, 1, 0]), 2);
        assert_eq!(pick([5, 4, 5]), 1);
        // After node 1 comes node 2, then node 0.
        assert_eq!(pick([4, 4, 5]), 0);
        assert_eq!(pick([4, 5, 4]), 2);
    }

    #[test]
    fn a_key_has_one_node_whoever_asks_and_whatever_the_seed() {
        for seed in [1, 2] {
            let mut router = Router::new(&Routing::ByKey, 4, Seed(seed));
            let mut of = |key: &str, n| router.pick(|| key.to_owned(), (n, 1), &[]);
            let first = ["ann", "bob", "cid", "dan", "eve"].map(|key| of(key, 0));
            assert_eq!(first, ["ann", "bob", "cid", "dan", "eve"].map(|key| of(key, 7)));
            assert_eq!(first, [2, 0, 3, 2, 0]);
        }
    }

    #[test]
    fn many_keys_and_many_draws_spread_evenly() {
        for routing in [Routing::ByKey, Routing::Random] {
            let picks = picks(routing, 4, 40_000);
            // The standard deviation is sqrt(40,000 * 1/4 * 3/4) = 87.
            for of_node in tally(&picks, 4) {
                assert!(of_node.abs_diff(10_000) < 400, "{of_node}");
            }
        }
    }

    #[test]
    fn a_random_pick_depends_on_the_request_and_the_try_alone() {
        let mut router = router(Routing::Random, 1000);
        let mut pick = |request, attempt| router.pick(String::new, (request, attempt), &[]);
        let (first, retry, other) = (pick(7, 1), pick(7, 2), pick(8, 1));
        assert_eq!((pick(8, 1), pick(7, 2), pick(7, 1)), (other, retry, first));
        assert!(first != retry && first != other);
    }

    proptest! {
        #[test]
        fn in_as_many_picks_as_all_weights_each_node_has_as_many_as_its_own(
            weights in prop::collection::vec(0..20_u32, 1..6),
        ) {
            let sum: u32 = weights.iter().sum();
            prop_assume!(sum > 0);
            let picks = picks(Routing::Weighted(weights.clone()), weights.len(), 3 * u64::from(sum));
            for round in picks.chunks(sum as usize) {
                let each: Vec<u32> =
                    tally(round, weights.len()).into_iter().map(|n| n as u32).collect();
                prop_assert_eq!(&each, &weights);
            }
        }

        #[test]
        fn every_pick_is_a_node(count in 1..1000_usize, key in ".*", attempt in 0..1000_u64) {
            let busy = vec![3; count];
            for routing in [Routing::RoundRobin, Routing::Random, Routing::ByKey, Routing::LeastBusy] {
                let mut router = router(routing, count);
                for _ in 0..3 {
                    prop_assert!(router.pick(|| key.clone(), (attempt, 1), &busy) < count);
                }
            }
        }
    }
}
