//! The end of a run: the judge brings everything to the end, checks its books, and tells what it found.

use std::sync::Arc;

use super::fold::Judge;
use super::subjects::Subjects;
use super::tally::{Books, Kept, LimitTally, Tally};

impl Judge {
    /// Closes the books. `pending` attempts are still queued, `unfinished` requests under way; in an open
    /// loop each attempt is a request. `key_names` names a key by its limit and number, `client_names` a client by number.
    ///
    /// # Panics
    /// If the books do not balance, or a key or client was decided on more often than it asked.
    pub fn finish(
        mut self,
        pending: u64,
        unfinished: u64,
        key_names: impl Fn(usize, usize) -> String,
        client_names: impl Fn(usize) -> String,
    ) -> Tally {
        self.close_books(pending, unfinished);
        if let Some(closed) = &self.closed {
            self.timeline.note(closed.load.at_hand());
        }
        self.audit();
        self.close_keys();
        let highest = self.highest.into_bins();
        for (bin, most) in self.timeline.bins.iter_mut().zip(highest) {
            bin.window_max = most;
        }
        let limits = self.limits.into_iter().enumerate();
        let limits = limits.map(|(index, limit)| limit.finish(|key| key_names(index, key)));
        let limits: Vec<LimitTally> = limits.collect();
        let clients: Subjects = match self.owners {
            // What one of them meets with is what its key does.
            Some(owners) => {
                let keys = &limits[0].keys;
                keys.under(Arc::new(keys.roll().of_owners(&owners, client_names)))
            }
            None => {
                let clients = self.clients.into_iter().enumerate().filter(|(_, c)| c.attempts > 0);
                clients.map(|(i, course)| (client_names(i), course.finish(None, None))).collect()
            }
        };
        Tally {
            books: self.books,
            over_limit: self.over_limit,
            needless_rejections: self.needless_rejections,
            wrong: self.wrong,
            limits,
            clients,
            queue_waits: self.queue_waits,
            denial_waits: self.denial_waits,
            denied_for_ever: self.denied_for_ever,
            kept: Kept::over(&self.timeline),
            fleet: self.fleet.map(|fleet| fleet.finish(&mut self.timeline)),
            timeline: self.timeline,
            closed: self.closed,
        }
    }

    /// Brings every key to the end of the timeline.
    fn close_keys(&mut self) {
        let end = self.timeline.bins.len();
        for (index, limit) in self.limits.iter_mut().enumerate() {
            for key in &mut limit.keys {
                if index == 0 {
                    key.carry(&mut self.highest, &self.timeline, end - 1);
                }
                self.holdings.settle(&key.holding, &self.timeline, end);
            }
        }
        self.holdings.write(&mut self.timeline);
    }

    fn audit(&self) {
        let books = self.books;
        assert!(books.balance(), "the books do not balance: {books:?}");
        let keys = self.limits.iter().flat_map(|limit| &limit.keys).map(|key| &key.course);
        let asked: u64 = match self.owners {
            Some(_) => keys.clone().map(|key| key.attempts).sum(),
            None => self.clients.iter().map(|client| client.attempts).sum(),
        };
        assert_eq!(asked, books.attempts, "attempts of all clients against {books:?}");
        let unsound = keys.chain(&self.clients).find(|course| !course.is_sound());
        assert!(unsound.is_none(), "more was decided than asked: {unsound:?}");
    }

    /// Takes down what is left at the end; in an open loop each attempt is a request.
    pub(super) fn close_books(&mut self, pending: u64, unfinished: u64) {
        match self.closed {
            Some(_) => {
                self.books.pending = pending;
                self.books.unfinished = unfinished;
            }
            None => {
                let Books { attempts, accepted, rejected, .. } = self.books;
                self.books = Books::of_open_loop(attempts, accepted, rejected, pending);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Wait;
    use crate::judge::Touch;
    use crate::rate::Limit;
    use crate::time::{Instant, Span, Window};
    use proptest::prelude::*;

    proptest! {
        /// Whether or not the judge knows that each client has a key of its own.
        #[test]
        fn what_the_owner_of_a_key_meets_with_is_what_the_key_does(
            attempts in prop::collection::vec((0..300_i64, 0..5_u32, 0..4_u8), 0..80),
        ) {
            let window = Window { start: Instant(0), end: Instant(30_000) };
            let limit = Limit::new(2, Span::from_nanos(500));
            let plain = Judge::new(window, &[("limit".to_owned(), limit)], 5);
            let mut judges = [plain.clone(), plain.with_one_key_each()];
            let (mut at, mut met, mut queued) = (Instant(0), Vec::new(), 0);
            for (gap, client, outcome) in attempts {
                at = at + Span::from_nanos(gap as u64);
                let known = met.iter().position(|&other| other == client);
                let key = known.unwrap_or(met.len());
                let touches = [Touch { limit: 0, key, cost: 1 }];
                for (judge, owned) in judges.iter_mut().zip([false, true]) {
                    if known.is_none() {
                        judge.meet(0, limit);
                        if owned {
                            judge.met_own(client);
                        }
                    }
                    judge.offered(at, client, &touches);
                    match outcome {
                        0 => {}
                        1 => judge.rejected(at, client, &touches, 1, Wait::Never),
                        2 => {
                            let wait = Wait::After(Span::from_nanos(gap as u64));
                            judge.rejected(at, client, &touches, 1, wait);
                        }
                        _ => judge.accepted(at, client, &touches, None),
                    }
                }
                queued += u64::from(outcome == 0);
                if known.is_none() {
                    met.push(client);
                }
            }
            let [apart, together] = judges.map(|judge| {
                judge.finish(queued, queued, |_, key| format!("key {key}"), |c| format!("client {c}"))
            });
            prop_assert_eq!(apart, together);
        }
    }
}
