//! The limits of one run acting together: what becomes of an attempt under all of them.

use super::Fate;
use super::keyring::Met;
use crate::algorithm::{Kept, Limiter, Verdict, Wait};
use crate::scenario::Combine;
use crate::time::{Reading, Span};

/// What the limits decided together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// It passes now.
    Admit,
    /// It passes after a span longer than zero.
    Queue(Span),
    /// It does not pass.
    Deny {
        /// Bit i: whether the limit of the i-th key refused.
        refused: u64,
        /// How long until every limit that refused would admit it: the longest of their waits.
        wait: Wait,
    },
}

impl Decision {
    /// What it means for an attempt.
    pub fn fate(self) -> Fate {
        match self {
            Decision::Admit => Fate::Accepted,
            Decision::Queue(span) => Fate::Queued(span),
            Decision::Deny { wait, .. } => Fate::Rejected(wait),
        }
    }
}

/// What the limits say of an attempt. Bit i is about the limit of its i-th key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Ruling {
    /// Which refuse; those that were not asked do not.
    pub refused: u64,
    /// Which of these write that they do.
    pub noted: u64,
    /// Which charge it.
    pub charged: u64,
    /// How long it waits in their queues.
    pub queued: Span,
}

impl Ruling {
    /// Which states are written.
    pub fn written(&self) -> u64 {
        self.charged | self.noted
    }
}

/// By limit and variant (the limit itself, then its tiers), the configured algorithm.
pub type Limiters = Vec<Vec<Box<dyn Limiter>>>;

/// The states of all limits.
pub(super) struct Gate {
    combine: Combine,
    limiters: Limiters,
    /// By limit and key, the key's number within its variant's limiter; `None` where there is only one variant and
    /// numbers are the same.
    local: Vec<Option<Vec<u32>>>,
    /// By limit and variant, how many keys its limiter has ...
    counts: Vec<Vec<u32>>,
    /// ... and which of them nobody uses any more.
    spare: Vec<Vec<Vec<u32>>>,
}

impl Gate {
    pub(super) fn new(combine: Combine, limiters: Limiters) -> Gate {
        let counts = limiters.iter().map(|variants| vec![0; variants.len()]).collect();
        let spare = limiters.iter().map(|variants| vec![Vec::new(); variants.len()]).collect();
        let local = limiters.iter().map(|variants| (variants.len() > 1).then(Vec::new)).collect();
        Gate { combine, limiters, local, counts, spare }
    }

    /// A gate whose keys are the numbers of their states within the limiters of their variants, as
    /// [`Gate::take`] hands them out; none is to be met.
    pub(super) fn numbered(combine: Combine, limiters: Limiters) -> Gate {
        let gate = Gate::new(combine, limiters);
        Gate { local: vec![None; gate.limiters.len()], ..gate }
    }

    /// The number of a fresh state that nobody else uses.
    pub(super) fn take(&mut self, limit: usize, variant: usize) -> usize {
        let limiter = &mut self.limiters[limit][variant];
        if let Some(number) = self.spare[limit][variant].pop() {
            limiter.forget(number as usize);
            return number as usize;
        }
        let count = &mut self.counts[limit][variant];
        *count += 1;
        limiter.reserve(*count as usize - 1);
        *count as usize - 1
    }

    /// A state that nobody else uses, which is that of a key.
    pub(super) fn duplicate(&mut self, met: &Met) -> Met {
        let copy = Met { key: self.take(met.limit, met.variant), ..*met };
        self.copy(met, &copy);
        copy
    }

    /// The state of a key is not used any more.
    pub(super) fn give_back(&mut self, met: &Met) {
        self.spare[met.limit][met.variant].push(met.key as u32);
    }

    /// The state of a key becomes that of another of the same variant.
    pub(super) fn copy(&mut self, from: &Met, to: &Met) {
        let (source, target) = (self.number(from), self.number(to));
        self.limiters[to.limit][to.variant].copy(source, target);
    }

    /// The state of a key becomes that of one that was never met.
    pub(super) fn forget(&mut self, met: &Met) {
        let (limiter, key) = self.of(met);
        limiter.forget(key);
    }

    /// How long until all limits that refuse would admit an attempt.
    pub(super) fn wait(&self, keys: &[Met], now: Reading, refused: u64) -> Wait {
        let refusing = keys.iter().enumerate().filter(|(index, _)| refused >> index & 1 == 1);
        let waits = refusing.map(|(_, met)| {
            let (limiter, key) = self.at(met);
            limiter.wait(key, now, met.cost)
        });
        waits.fold(Wait::After(Span::ZERO), Wait::max)
    }

    /// Makes room for a key that was met first.
    pub(super) fn meet(&mut self, met: &Met) {
        let count = &mut self.counts[met.limit][met.variant];
        self.limiters[met.limit][met.variant].reserve(*count as usize);
        if let Some(local) = &mut self.local[met.limit] {
            local.push(*count);
        }
        *count += 1;
    }

    /// Decides an attempt that is counted under `keys`, and charges it. `kept` is told what the state of each key
    /// takes then, and from when on it may be forgotten.
    pub(super) fn decide(
        &mut self,
        keys: &[Met],
        now: Reading,
        mut kept: impl FnMut(&Met, &Kept),
    ) -> Decision {
        // One limit is the most frequent case, and all ways of combining are the same for it.
        if let [only] = keys {
            let (limiter, key) = self.of(only);
            let settled = limiter.settle(key, now, only.cost);
            kept(only, &settled.kept);
            return match settled.verdict {
                Verdict::Admit => Decision::Admit,
                Verdict::Queue(span) => Decision::Queue(span),
                Verdict::Deny => Decision::Deny { refused: 1, wait: settled.wait },
            };
        }
        let ruling = self.rule(keys, now);
        let decision = self.enact(keys, now, &ruling);
        for met in keys {
            kept(met, &self.kept(met, now));
        }
        decision
    }

    /// What the limits say of an attempt that is counted under `keys`; changes nothing.
    pub(super) fn rule(&self, keys: &[Met], now: Reading) -> Ruling {
        let mut ruling = Ruling::default();
        for (index, met) in keys.iter().enumerate() {
            let (limiter, key) = self.at(met);
            match limiter.check(key, now, met.cost) {
                Verdict::Deny => {
                    ruling.refused |= 1 << index;
                    ruling.noted |= u64::from(limiter.denial_writes(key)) << index;
                }
                verdict => {
                    ruling.charged |= 1 << index;
                    if let Verdict::Queue(span) = verdict {
                        ruling.queued = ruling.queued.max(span);
                    }
                }
            }
            if self.combine == Combine::Sequential && ruling.refused != 0 {
                break;
            }
        }
        if self.combine == Combine::AllOrNothing && ruling.refused != 0 {
            ruling.charged = 0;
        }
        ruling
    }

    /// Does to the states what a ruling says.
    pub(super) fn enact(&mut self, keys: &[Met], now: Reading, ruling: &Ruling) -> Decision {
        for (index, met) in keys.iter().enumerate() {
            let (limiter, key) = self.of(met);
            if ruling.charged >> index & 1 == 1 {
                limiter.charge(key, now, met.cost);
            } else if ruling.refused >> index & 1 == 1 {
                limiter.deny(key, now, met.cost);
            }
        }
        self.decision(keys, now, ruling)
    }

    /// Does to the states what a ruling says that was made on copies of them, as far as that was written.
    /// Each counts as of its own reading.
    pub(super) fn enact_elsewhere(&mut self, keys: &[Met], as_of: &[Reading], ruling: &Ruling) {
        for (index, (met, now)) in keys.iter().zip(as_of).enumerate() {
            let (limiter, key) = self.of(met);
            if ruling.charged >> index & 1 == 1 {
                limiter.owe(key, *now, met.cost);
            } else if ruling.noted >> index & 1 == 1 {
                limiter.deny(key, *now, met.cost);
            }
        }
    }

    /// The reading by which the state of a key decides an attempt at `now`.
    pub(super) fn as_of(&self, met: &Met, now: Reading) -> Reading {
        let (limiter, key) = self.at(met);
        limiter.as_of(key, now)
    }

    /// What becomes of an attempt by a ruling that was enacted.
    pub(super) fn decision(&self, keys: &[Met], now: Reading, ruling: &Ruling) -> Decision {
        match (ruling.refused, ruling.queued) {
            (0, Span::ZERO) => Decision::Admit,
            (0, span) => Decision::Queue(span),
            (refused, _) => Decision::Deny { refused, wait: self.wait(keys, now, refused) },
        }
    }

    /// Has the states of keys of a limit fetched from memory, as they will be needed before long; where there are
    /// tiers, whose states lie apart, they are left where they are.
    pub(super) fn fetch(&self, limit: usize, keys: &[u32]) {
        if let [only] = &self.limiters[limit][..] {
            only.fetch(keys);
        }
    }

    /// What is kept of a key.
    pub(super) fn kept(&self, met: &Met, now: Reading) -> Kept {
        let (limiter, key) = self.at(met);
        limiter.kept(key, now)
    }

    fn number(&self, met: &Met) -> usize {
        match &self.local[met.limit] {
            Some(local) => local[met.key] as usize,
            None => met.key,
        }
    }

    fn at(&self, met: &Met) -> (&dyn Limiter, usize) {
        (self.limiters[met.limit][met.variant].as_ref(), self.number(met))
    }

    fn of(&mut self, met: &Met) -> (&mut dyn Limiter, usize) {
        let number = self.number(met);
        (self.limiters[met.limit][met.variant].as_mut(), number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::find;
    use crate::error::Problems;
    use crate::params::{Node, Params};
    use crate::rate::{Limit, Rate};

    fn limiter(algorithm: &str, limit: &str) -> Box<dyn Limiter> {
        let Rate { count, per } = Rate::parse(limit).unwrap();
        let (node, problems) = (Node::empty(), Problems::new());
        let mut params = Params::new(&node, &problems);
        find(algorithm).unwrap().limiter(&Limit::new(count, per), &mut params).unwrap()
    }

    /// A gate of one key for each limit, without tiers.
    fn gate(combine: Combine, algorithm: &str, limits: &[&str]) -> Gate {
        let limiters = limits.iter().map(|limit| vec![limiter(algorithm, limit)]);
        let mut gate = Gate::new(combine, limiters.collect());
        (0..limits.len()).for_each(|limit| gate.meet(&met(limit)));
        gate
    }

    impl Gate {
        fn decided(&mut self, keys: &[Met], now: Reading) -> Decision {
            self.decide(keys, now, |_, _| {})
        }
    }

    fn met(limit: usize) -> Met {
        Met { limit, key: 0, first: false, variant: 0, cost: 1 }
    }

    fn secs(seconds: i64) -> Reading {
        Reading(seconds * 1_000_000_000)
    }

    fn deny(refused: u64, seconds: u64) -> Decision {
        Decision::Deny { refused, wait: Wait::After(Span::from_secs(seconds)) }
    }

    /// 2 per 10 s, then 1 per 60 s, in windows that began at 0 s.
    const TWO_THEN_ONE: [&str; 2] = ["2/10s", "1/60s"];

    #[test]
    fn all_or_nothing_charges_no_limit_if_one_refuses() {
        let mut gate = gate(Combine::AllOrNothing, "fixed-window", &TWO_THEN_ONE);
        let both = [met(0), met(1)];
        assert_eq!(gate.decided(&both, secs(0)), Decision::Admit);
        // The minute's only one is gone; its window ends at 60 s.
        assert_eq!(gate.decided(&both, secs(1)), deny(0b10, 59));
        // The first limit still has its second.
        assert_eq!(gate.decided(&both[..1], secs(2)), Decision::Admit);
        // Both refuse until 10 s and 60 s: the longer wait counts.
        assert_eq!(gate.decided(&both, secs(3)), deny(0b11, 57));
    }

    #[test]
    fn sequential_charges_the_limits_before_the_one_that_refuses() {
        let mut gate = gate(Combine::Sequential, "fixed-window", &TWO_THEN_ONE);
        let both = [met(0), met(1)];
        assert_eq!(gate.decided(&both, secs(0)), Decision::Admit);
        assert_eq!(gate.decided(&both, secs(1)), deny(0b10, 59));
        // The refused attempt took the second of 10 s; the limit of a minute is not asked.
        assert_eq!(gate.decided(&both, secs(2)), deny(0b01, 8));
    }

    #[test]
    fn sequential_charges_no_limit_after_the_one_that_refuses() {
        let mut gate = gate(Combine::Sequential, "fixed-window", &["1/60s", "2/10s"]);
        let both = [met(0), met(1)];
        assert_eq!(gate.decided(&both, secs(0)), Decision::Admit);
        assert_eq!(gate.decided(&both, secs(1)), deny(0b01, 59));
        assert_eq!(gate.decided(&both[1..], secs(2)), Decision::Admit);
        assert_eq!(gate.decided(&both[1..], secs(3)), deny(0b01, 7));
    }

    #[test]
    fn independent_limits_decide_and_charge_whatever_the_others_say() {
        let mut gate = gate(Combine::Independent, "fixed-window", &["1/60s", "2/10s"]);
        let both = [met(0), met(1)];
        assert_eq!(gate.decided(&both, secs(0)), Decision::Admit);
        assert_eq!(gate.decided(&both, secs(1)), deny(0b01, 59));
        // The refused attempt took the second of 10 s all the same.
        assert_eq!(gate.decided(&both, secs(2)), deny(0b11, 58));
    }

    #[test]
    fn a_wait_for_ever_is_longer_than_any_other() {
        for combine in [Combine::AllOrNothing, Combine::Independent] {
            let mut gate = gate(combine, "fixed-window", &["1/60s", "2/10s"]);
            let three = [Met { cost: 3, ..met(0) }, Met { cost: 2, ..met(1) }];
            let refused = Decision::Deny { refused: 0b01, wait: Wait::Never };
            assert_eq!(gate.decided(&three, secs(0)), refused, "{combine:?}");
        }
    }

    #[test]
    fn an_attempt_waits_for_the_slowest_of_its_queues() {
        // The first of an idle queue leaves after one interval: 500 ms and 1 s.
        let mut gate = gate(Combine::AllOrNothing, "leaky-bucket", &["2/1s", "10/10s"]);
        let queued = Decision::Queue(Span::from_secs(1));
        assert_eq!(gate.decided(&[met(0), met(1)], secs(0)), queued);
    }

    #[test]
    fn a_limit_that_no_key_is_met_for_lets_everything_pass() {
        let mut gate = gate(Combine::AllOrNothing, "fixed-window", &["0/1s"]);
        assert_eq!(gate.decided(&[], secs(0)), Decision::Admit);
    }

    #[test]
    fn keys_of_a_tier_have_states_of_their_own() {
        let variants = vec![limiter("fixed-window", "1/60s"), limiter("fixed-window", "2/60s")];
        let mut gate = Gate::new(Combine::AllOrNothing, vec![variants]);
        let keys = [(0, 0), (1, 1), (2, 0)];
        let keys = keys.map(|(key, variant)| Met { key, variant, ..met(0) });
        keys.iter().for_each(|key| gate.meet(key));
        let admitted = keys.map(|key| {
            (0..5).filter(|&second| gate.decided(&[key], secs(second)) == Decision::Admit).count()
        });
        assert_eq!(admitted, [1, 2, 1]);
    }
}
