//! Requests that a limiter had already refused when the log was written, and the attempts with which their
//! clients came back: a log of limited traffic has more attempts than requests, and counts some of them
//! again and again.

use foldhash::fast::FixedState;
use indexmap::IndexMap;

use super::entry::{Entry, Field};
use super::wanted::Wanted;
use crate::params::Choice;
use crate::time::{Instant, Span};

/// What becomes of requests that were already refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Handling {
    /// They are counted.
    #[default]
    Keep,
    /// Retries are left out.
    DropRetries,
    /// They and their retries are left out.
    Drop,
}

impl Choice for Handling {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("keep", Handling::Keep, "they are counted, and stay"),
        (
            "drop-retries",
            Handling::DropRetries,
            "retries of refused requests are left out: what stays is what clients wanted",
        ),
        ("drop", Handling::Drop, "refused requests are left out with their retries"),
    ];
}

impl Handling {
    /// Whether requests of this standing stay.
    pub fn keeps(self, standing: Standing) -> bool {
        match self {
            Handling::Keep => true,
            Handling::DropRetries => !standing.retry,
            Handling::Drop => !standing.retry && !standing.refused,
        }
    }
}

/// What a request is with regard to a limit that was in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// It was refused.
    pub refused: bool,
    /// It is another attempt of one that was.
    pub retry: bool,
}

/// How many requests were what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Refused ones, retries that were refused again among them.
    pub refused: u64,
    /// Retries.
    pub retries: u64,
    /// Refused ones whose retries could not be watched for, because too many were at once.
    pub unwatched: u64,
}

/// Watches for requests that were refused, and for their retries: the attempts of the same key for the same
/// method and target, each no later than a span after the one before it, up to the first that was answered
/// otherwise.
#[derive(Debug)]
pub struct Watch {
    statuses: Vec<u16>,
    within: Span,
    status: usize,
    method: usize,
    target: usize,
    /// When each attempt that may come back was last refused, by key, method and target.
    pending: IndexMap<Box<[u8]>, Instant, FixedState>,
    /// The bytes of those.
    size: usize,
    most: usize,
    identity: Vec<u8>,
    latest: Instant,
    count: Count,
}

/// The status of a refused request.
pub const TOO_MANY_REQUESTS: u16 = 429;

/// How long a client may take to come back.
pub const WITHIN: Span = Span::from_secs(60);

/// Identities that are watched for take at most so many bytes.
const MOST: usize = 64 << 20;

impl Watch {
    /// Watches for requests that were answered with one of `statuses` and come back `within` a span; entries
    /// have the fields of `wanted`, to which those that are needed are added.
    pub fn new(statuses: Vec<u16>, within: Span, wanted: &mut Wanted) -> Watch {
        Watch {
            statuses,
            within,
            status: wanted.position(Field::Status),
            method: wanted.position(Field::Method),
            target: wanted.position(Field::Target),
            pending: IndexMap::default(),
            size: 0,
            most: MOST,
            identity: Vec::new(),
            latest: Instant(i64::MIN),
            count: Count::default(),
        }
    }

    /// What an entry of a key is; entries come in the order of the log. One stamped earlier than the refusal
    /// is no retry of it.
    #[inline]
    pub fn judge(&mut self, entry: &Entry, key: &[u8]) -> Standing {
        let status =
            entry.get(self.status).and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
        let refused = status.is_some_and(|status: u16| self.statuses.contains(&status));
        if !refused && self.pending.is_empty() {
            return Standing::default();
        }
        self.identify(entry, key);
        self.compare(entry.stamp.at, refused)
    }

    /// How many were what so far.
    pub fn count(&self) -> Count {
        self.count
    }

    /// Writes down whose attempt for what it is.
    fn identify(&mut self, entry: &Entry, key: &[u8]) {
        self.identity.clear();
        let [method, target] =
            [self.method, self.target].map(|position| entry.get(position).unwrap_or(b""));
        for part in [key, method] {
            self.identity.extend_from_slice(&(part.len() as u32).to_le_bytes());
            self.identity.extend_from_slice(part);
        }
        self.identity.extend_from_slice(target);
    }

    fn compare(&mut self, at: Instant, refused: bool) -> Standing {
        self.latest = self.latest.max(at);
        let known = self.pending.get_index_of(self.identity.as_slice());
        let retry = known.is_some_and(|index| {
            let since = self.pending[index];
            since <= at && at - since <= self.within
        });
        self.count.retries += u64::from(retry);
        self.count.refused += u64::from(refused);
        match known {
            Some(index) if refused => self.pending[index] = self.pending[index].max(at),
            Some(index) if at >= self.pending[index] => {
                if let Some((identity, _)) = self.pending.swap_remove_index(index) {
                    self.size -= identity.len();
                }
            }
            Some(_) => {}
            None if refused => self.watch_for(at),
            None => {}
        }
        Standing { refused, retry }
    }

    /// Keeps the identity that was written down last, if there is room.
    fn watch_for(&mut self, at: Instant) {
        let length = self.identity.len();
        if self.size + length > self.most {
            let (latest, within) = (self.latest, self.within);
            self.pending.retain(|_, since| latest - *since <= within);
            self.size = self.pending.keys().map(|identity| identity.len()).sum();
        }
        if self.size + length > self.most {
            self.count.unwatched += 1;
            return;
        }
        self.size += length;
        self.pending.insert(self.identity.as_slice().into(), at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::entry::Values;
    use crate::log::stamp::Stamp;
    use crate::time::SECOND;
    use proptest::prelude::*;

    /// Attempts as (second, key, target, status); `R` for refused, `r` for a retry, `.` for neither.
    fn judged(watch: &mut Watch, attempts: &[(i64, &str, &str, &str)]) -> Vec<&'static str> {
        let one = |&(second, key, target, status): &(i64, &str, &str, &str)| {
            let mut values = Values::of(3);
            for (position, value) in
                [(watch.status, status), (watch.method, "GET"), (watch.target, target)]
            {
                values.put(position, b"", value.as_bytes());
            }
            let at = Instant(second * SECOND as i64);
            let entry = Entry::new(Stamp { at, local: false, leap: false }, None, b"", &values);
            match watch.judge(&entry, key.as_bytes()) {
                Standing { refused: true, retry: true } => "Rr",
                Standing { refused: true, retry: false } => "R",
                Standing { refused: false, retry: true } => "r",
                Standing { refused: false, retry: false } => ".",
            }
        };
        attempts.iter().map(one).collect()
    }

    fn watch() -> Watch {
        Watch::new(vec![TOO_MANY_REQUESTS], WITHIN, &mut Wanted::default())
    }

    #[test]
    fn retries_are_the_attempts_after_a_refusal_up_to_the_first_that_is_let_through() {
        let mut watch = watch();
        let found = judged(
            &mut watch,
            &[
                (0, "a", "/x", "200"),
                (1, "a", "/x", "429"),
                (2, "a", "/x", "429"),
                (62, "a", "/x", "200"),
                (63, "a", "/x", "200"),
                (70, "a", "/x", "503"),
            ],
        );
        assert_eq!(found, [".", "R", "Rr", "r", ".", "."]);
        assert_eq!(watch.count(), Count { refused: 2, retries: 2, unwatched: 0 });
        assert!(watch.pending.is_empty() && watch.size == 0);
    }

    #[test]
    fn another_key_target_or_a_later_time_is_no_retry() {
        let found = judged(
            &mut watch(),
            &[
                (0, "a", "/x", "429"),
                (1, "b", "/x", "200"),
                (2, "a", "/y", "200"),
                // Exactly 60 s after is in time, 61 s is not.
                (60, "a", "/x", "429"),
                (121, "a", "/x", "429"),
                (182, "a", "/x", "200"),
                (183, "a", "/x", "200"),
            ],
        );
        assert_eq!(found, ["R", ".", ".", "Rr", "R", ".", "."]);
    }

    #[test]
    fn what_is_stamped_before_the_refusal_is_no_retry_and_ends_nothing() {
        let found = judged(
            &mut watch(),
            &[(5, "a", "/x", "429"), (4, "a", "/x", "200"), (5, "a", "/x", "200")],
        );
        assert_eq!(found, ["R", ".", "r"]);
    }

    #[test]
    fn a_status_that_is_none_refuses_nothing() {
        let attempts = [(0, "a", "/x", ""), (1, "a", "/x", "abc"), (2, "a", "/x", "4290")];
        assert_eq!(judged(&mut watch(), &attempts), [".", ".", "."]);
    }

    #[test]
    fn handling_says_what_stays() {
        let standing = |refused, retry| Standing { refused, retry };
        let all = [(false, false), (true, false), (true, true), (false, true)];
        let kept = |handling: Handling| {
            all.map(|(refused, retry)| handling.keeps(standing(refused, retry)))
        };
        assert_eq!(kept(Handling::Keep), [true, true, true, true]);
        assert_eq!(kept(Handling::DropRetries), [true, true, false, false]);
        assert_eq!(kept(Handling::Drop), [true, false, false, false]);
    }

    #[test]
    fn where_too_many_are_watched_for_the_late_ones_are_forgotten_and_others_not_watched() {
        // Identities of 4 + 1 + 4 + 3 + 2 bytes; there is room for two.
        let mut watch = Watch { most: 28, ..watch() };
        let found = judged(
            &mut watch,
            &[
                (0, "a", "/x", "429"),
                (30, "b", "/x", "429"),
                (31, "c", "/x", "429"),
                (32, "c", "/x", "200"),
                // a can no longer come back.
                (61, "d", "/x", "429"),
                (62, "d", "/x", "200"),
                (63, "b", "/x", "200"),
            ],
        );
        assert_eq!(found, ["R", "R", "R", ".", "R", "r", "r"]);
        assert_eq!(watch.count().unwatched, 1);
    }

    proptest! {
        /// A plain list of all refusals is the reference.
        #[test]
        fn retries_are_those_of_a_plain_search(
            attempts in prop::collection::vec((0_i64..200, 0_u8..3, prop::bool::ANY), 0..40),
        ) {
            let mut attempts = attempts;
            attempts.sort_by_key(|(second, ..)| *second);
            let names = ["a", "b", "c"];
            let told: Vec<_> = attempts.iter().map(|&(second, key, refused)| {
                (second, names[key as usize], "/x", if refused { "429" } else { "200" })
            }).collect();
            let expected: Vec<&str> = attempts.iter().enumerate().map(|(index, &(second, key, refused))| {
                let before = attempts[..index].iter().rev().find(|(_, other, _)| *other == key);
                let retry = before.is_some_and(|&(since, _, refused)| refused && second - since <= 60);
                match (refused, retry) { (true, true) => "Rr", (true, false) => "R", (false, true) => "r", _ => "." }
            }).collect();
            prop_assert_eq!(judged(&mut watch(), &told), expected);
        }
    }
}
