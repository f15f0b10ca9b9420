//! Who waits in the queue of a key, in order.

/// The queue of the key at hand.
#[derive(Default)]
pub(super) struct Waiting {
    /// When each leaves.
    leaves: Vec<i64>,
    /// When each joined.
    joined: Vec<i64>,
    /// What each costs; empty while all cost 1.
    costs: Vec<u32>,
    /// How many have left.
    left: usize,
}

/// When some left, when each had joined, and what it costs.
pub(super) type Left<'a> = (&'a [i64], &'a [i64], Option<&'a [u32]>);

/// A queue of so many is looked at before it is over.
const LONG: usize = 1 << 12;

impl Waiting {
    pub fn clear(&mut self) {
        self.leaves.clear();
        self.joined.clear();
        self.costs.clear();
        self.left = 0;
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.leaves.len() - self.left
    }

    pub fn is_long(&self) -> bool {
        self.leaves.len() > LONG
    }

    /// When the next leaves.
    pub fn next(&self) -> Option<i64> {
        self.leaves.get(self.left).copied()
    }

    /// Attempts join; each leaves when `leave` says. Of one instant, who joined first leaves first.
    pub fn join(&mut self, times: &[i64], costs: Option<&[u32]>, leave: &[i64]) {
        self.forget();
        let last = self.leaves.last().copied().unwrap_or(i64::MIN);
        if ascend(leave) && leave.first().is_none_or(|&first| first >= last) {
            self.leaves.extend_from_slice(leave);
            self.joined.extend_from_slice(times);
            self.costs.extend_from_slice(costs.unwrap_or(&[]));
            return;
        }
        // By a clock of low resolution, who joins later may leave earlier.
        for (index, &leaves) in leave.iter().enumerate() {
            let waits = &self.leaves[self.left..];
            let place = self.left + waits.partition_point(|&other| other <= leaves);
            self.leaves.insert(place, leaves);
            self.joined.insert(place, times[index]);
            if let Some(costs) = costs {
                self.costs.insert(place, costs[index]);
            }
        }
    }

    /// Lets go whoever leaves before `end`; `None` if nobody does.
    pub fn leave_before(&mut self, end: i64) -> Option<Left<'_>> {
        let rest = &self.leaves[self.left..];
        if *rest.first()? >= end {
            return None;
        }
        let count = match rest.last() {
            Some(&last) if last < end => rest.len(),
            _ => rest.partition_point(|&leaves| leaves < end),
        };
        let range = self.left..self.left + count;
        self.left = range.end;
        let costs = (!self.costs.is_empty()).then(|| &self.costs[range.clone()]);
        Some((&self.leaves[range.clone()], &self.joined[range], costs))
    }

    /// Drops those who have left.
    fn forget(&mut self) {
        if self.left == self.leaves.len() {
            self.clear();
        } else if self.left > LONG {
            self.leaves.drain(..self.left);
            self.joined.drain(..self.left);
            if !self.costs.is_empty() {
                self.costs.drain(..self.left);
            }
            self.left = 0;
        }
    }
}

/// Whether none of some times comes before the one ahead of it; no, too, where two are 2^63 ns apart.
pub(super) fn ascend(times: &[i64]) -> bool {
    // The sign of a difference is quicker to put together than comparisons.
    let apart = times.iter().skip(1).zip(times).map(|(later, at)| later.wrapping_sub(*at));
    apart.fold(0, |all, apart| all | apart) >= 0
}
