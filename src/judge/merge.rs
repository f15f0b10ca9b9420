//! Findings over parts of the traffic, added up.

use super::tally::{Kept, LimitTally, Tally, Wrong};
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
    /// have keys in both parts, who would be listed twice.
    ///
    /// # Panics
    /// If the parts are not of one limit with one promise, or not of one window.
    pub fn merge(&mut self, other: Tally) {
        self.books.requests += other.books.requests;
        self.books.attempts += other.books.attempts;
        self.books.accepted += other.books.accepted;
        self.books.rejected += other.books.rejected;
        self.books.pending += other.books.pending;
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
        self.clients.extend(other.clients);
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
        self.keys.extend(other.keys);
        self.worst = LimitTally::find_worst(&self.keys);
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
