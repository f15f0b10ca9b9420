//! Findings over parts of the traffic, added up.

use super::peak::Worst;
use super::tally::{Books, Kept, LimitTally, Tally, Wrong};
use super::timeline::Timeline;

impl Tally {
    /// Adds what was found for other keys of the same run.
    ///
    /// The sum is exactly what one judge finds for both parts together if each part is the whole
    /// history of some keys of one limit, judged over the same window, and no client asks for keys of
    /// both (as where the key is the client, or what a client belongs to). Keys and clients are
    /// appended, so their order is that of the parts.
    ///
    /// What does not add up this way: several limits at once, whose keys do not nest; and clients that
    /// have keys in both parts, who would be listed twice; and closed loops, where what becomes of one key
    /// changes what is asked for another (a shared backend, a budget of retries); and fleets, whose nodes and
    /// store all keys share.
    ///
    /// # Panics
    /// If the parts are not of one limit with one promise, not of one window, of a closed loop, or of a fleet.
    pub fn merge(&mut self, other: Tally) {
        let open = self.closed.is_none() && other.closed.is_none();
        assert!(open, "a closed loop does not split by keys");
        let alone = self.fleet.is_none() && other.fleet.is_none();
        assert!(alone, "a fleet does not split by keys");
        let (own, others) = (&mut self.books, other.books);
        *own = Books::of_open_loop(
            own.attempts + others.attempts,
            own.accepted + others.accepted,
            own.rejected + others.rejected,
            own.pending + others.pending,
        );
        self.over_limit += other.over_limit;
        self.needless_rejections += other.needless_rejections;
        self.wrong = match (self.wrong, other.wrong) {
            (Some(own), Some(others)) => Some(Wrong {
                allowed: own.allowed + others.allowed,
                limited: own.limited + others.limited,
            }),
            // A part without attempts compared nothing.
            (own, others) => own.or(others),
        };
        match (&mut self.limits[..], <[LimitTally; 1]>::try_from(other.limits)) {
            ([own], Ok([others])) => own.merge(others),
            _ => panic!("only the keys of a single limit add up"),
        }
        self.clients.extend(other.clients.named());
        self.timeline.merge(&other.timeline);
        self.queue_waits.merge(&other.queue_waits);
        self.denial_waits.merge(&other.denial_waits);
        self.denied_for_ever += other.denied_for_ever;
        self.kept = Kept::over(&self.timeline);
    }
}

impl LimitTally {
    fn merge(&mut self, other: LimitTally) {
        let same = (&self.name, self.promise) == (&other.name, other.promise);
        assert!(same, "keys of `{}` and of `{}` do not add up", self.name, other.name);
        self.attempts += other.attempts;
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.over_limit += other.over_limit;
        self.needless_rejections += other.needless_rejections;
        let ahead = self.keys.len();
        let others = other.worst.map(|worst| Worst { key: ahead + worst.key, ..worst });
        self.worst = self.worst.into_iter().chain(others).reduce(Worst::worse);
        self.keys.extend(other.keys.named());
    }
}

impl Timeline {
    /// Adds the bins of other keys.
    fn merge(&mut self, other: &Timeline) {
        let shape = |timeline: &Timeline| (timeline.start, timeline.width, timeline.bins.len());
        assert_eq!(shape(self), shape(other), "timelines of one window add up");
        for (own, others) in self.bins.iter_mut().zip(&other.bins) {
            own.offered += others.offered;
            own.accepted += others.accepted;
            own.rejected += others.rejected;
            own.over_limit += others.over_limit;
            own.window_max = own.window_max.max(others.window_max);
            own.keys += others.keys;
            own.entries += others.entries;
            own.bytes += others.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::judge::calls::{Call, assert_equal, judged, single_limit};
    use crate::judge::{Distribution, SubjectTally};

    fn described(spans: &Distribution) -> impl PartialEq + std::fmt::Debug + use<> {
        let quantiles: Vec<_> = (0..=100).map(|percent| spans.percentile(percent)).collect();
        (spans.count(), spans.mean_secs(), spans.min(), spans.max(), quantiles)
    }

    /// Keys and clients in the order of their names, and the height of the worst key.
    fn sorted(mut tally: Tally) -> (Tally, Option<f64>) {
        let worst = tally.worst().and_then(|(_, key)| key.peak?.ratio(&key.promise));
        let (queue, denial) = Default::default();
        (tally.queue_waits, tally.denial_waits) = (queue, denial);
        for subjects in [&mut tally.limits[0].keys, &mut tally.clients] {
            let asked = subjects.named().filter(|(_, subject)| subject.attempts > 0);
            let mut asked: Vec<(&str, SubjectTally)> = asked.collect();
            asked.sort_by_key(|(name, _)| *name);
            *subjects = asked.into_iter().collect();
        }
        tally.limits[0].worst = None;
        (tally, worst)
    }

    proptest! {
        #[test]
        fn what_is_found_by_key_adds_up_to_the_whole(
            (promises, calls) in single_limit(),
            apart in 0..3_u32,
        ) {
            let part = |of: &dyn Fn(&Call) -> bool| {
                let calls: Vec<Call> = calls.iter().filter(|&call| of(call)).cloned().collect();
                judged(&promises, &calls)
            };
            let whole = judged(&promises, &calls);
            let mut sum = part(&|call| call.client == apart);
            sum.merge(part(&|call| call.client != apart));
            prop_assert_eq!(described(&sum.queue_waits), described(&whole.queue_waits));
            prop_assert_eq!(described(&sum.denial_waits), described(&whole.denial_waits));
            let (sum, whole) = (sorted(sum), sorted(whole));
            prop_assert_eq!(sum.1, whole.1);
            assert_equal(&sum.0, &whole.0);
        }
    }
}
