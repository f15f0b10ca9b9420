//! Takes the entries of a log in, one by one.

use foldhash::fast::FixedState;
use indexmap::IndexSet;
use jiff::tz::TimeZone;

use super::columns::{Columns, MOST};
use super::figures::{Figures, Resolution, Silence, Statuses};
use super::keys::KeyTable;
use super::peaks::peaks;
use crate::log::filter::{Filter, Sieve};
use crate::log::key::{Key, KeyReader};
use crate::log::limited::{Handling, Watch};
use crate::log::wanted::Wanted;
use crate::log::{Entry, Field};
use crate::time::{Instant, Span};

/// What tells requests apart, and which of them count.
#[derive(Debug, Clone)]
pub struct Rules {
    /// What tells them apart.
    pub key: Key,
    /// What must hold of all that count.
    pub filters: Vec<Filter>,
    /// The zone of times of day in filters.
    pub zone: TimeZone,
    /// The statuses of requests that had already been refused.
    pub refused: Vec<u16>,
    /// How long after a refusal an attempt is a retry.
    pub within: Span,
    /// What becomes of refused requests and retries.
    pub handling: Handling,
}

/// Entries so far.
#[derive(Debug)]
pub struct Census {
    rules: Rules,
    reader: KeyReader,
    sieve: Sieve,
    watch: Watch,
    status: usize,
    columns: Columns,
    keys: Keys,
    resolution: Resolution,
    statuses: Statuses,
    bytes: Vec<u8>,
}

/// The keys that were met.
#[derive(Debug, Default)]
struct Keys {
    met: IndexSet<Box<[u8]>, FixedState>,
    /// What is known of each.
    known: Vec<Known>,
    /// By number: the position among those that were met.
    counted: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
enum Known {
    /// A filter leaves its requests out.
    LeftOut(usize),
    /// None of its requests counts so far.
    Uncounted,
    /// Requests of it count under a number.
    Counted(u32),
}

impl Census {
    /// None so far. `wanted` gets the fields that entries must have.
    ///
    /// # Errors
    /// If a time in a filter is none in the zone.
    pub fn new(rules: Rules, wanted: &mut Wanted) -> Result<Census, String> {
        let reader = rules.key.reader(wanted);
        let sieve = Sieve::new(&rules.filters, wanted, &rules.zone)?;
        let watch = Watch::new(rules.refused.clone(), rules.within, wanted);
        let status = wanted.position(Field::Status);
        Ok(Census {
            rules,
            reader,
            sieve,
            watch,
            status,
            columns: Columns::default(),
            keys: Keys::default(),
            resolution: Resolution::Seconds,
            statuses: Statuses::default(),
            bytes: Vec::new(),
        })
    }

    /// Whether there is room for no more.
    pub fn is_full(&self) -> bool {
        self.columns.len() >= MOST
    }

    /// How many requests count so far.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes in an entry of a request that came `at` this time, unless it is left out; whether it counts.
    pub fn take(&mut self, entry: &Entry, at: Instant) -> bool {
        if !self.sieve.keeps(entry) {
            return false;
        }
        self.bytes.clear();
        self.reader.append(entry, &mut self.bytes);
        let (key, sieve) = (&self.rules.key, &self.sieve);
        let judge = |bytes: &[u8]| match sieve.has_keys() {
            true => sieve.keeps_key(&key.name(bytes)),
            false => Ok(()),
        };
        let position = self.keys.position(&self.bytes, judge);
        if let Known::LeftOut(filter) = self.keys.known[position] {
            self.sieve.left_out_by_key(filter);
            return false;
        }
        let standing = self.watch.judge(entry, &self.bytes);
        if !self.rules.handling.keeps(standing) {
            return false;
        }
        self.resolution = self.resolution.max(Resolution::of(entry.stamp.at));
        self.statuses.count(entry.get(self.status));
        self.columns.push(at, self.keys.count(position));
        true
    }

    /// How many requests filters left out, in the order of the filters.
    pub fn left_out(&self) -> Vec<(String, u64)> {
        self.sieve.left_out()
    }

    /// The figures, with the `top` keys of each list; `None` of nothing.
    pub fn figures(self, top: usize) -> Option<Figures> {
        let Census { rules, keys, columns, .. } = self;
        let requests = columns.len() as u64;
        let sorted = columns.sorted();
        let times = sorted.times();
        let (first, last) = (*times.first()?, *times.last()?);
        let bytes = |number: usize| -> &[u8] {
            keys.met.get_index(keys.counted[number] as usize).map_or(&[], |bytes| bytes)
        };
        let name = |number: usize| rules.key.name(bytes(number));
        let counted = || (0..keys.counted.len()).map(bytes);
        let present = counted().fold(0, |present, key| present | rules.key.present(key));
        let lacking = rules.key.lacking_note(present);
        let nameless = match rules.key.has_address() && lacking.is_none() {
            true => counted().filter(|key| rules.key.address_in(key).is_none()).count() as u64,
            false => 0,
        };
        Some(Figures {
            requests,
            first,
            last,
            peaks: peaks(times),
            silence: Silence::longest(times),
            resolution: self.resolution,
            statuses: self.statuses,
            limited: self.watch.count(),
            handling: rules.handling,
            left_out: self.sieve.left_out(),
            short_lists: self.reader.short_lists(),
            nameless,
            lacking,
            keys: KeyTable::of(&sorted, keys.counted.len(), top, &bytes, &name),
        })
    }
}

impl Keys {
    /// The position of a key; `judge` is asked about one that is new, and names the filter that leaves its
    /// requests out.
    #[inline]
    fn position(&mut self, bytes: &[u8], judge: impl FnOnce(&[u8]) -> Result<(), usize>) -> usize {
        if let Some(position) = self.met.get_index_of(bytes) {
            return position;
        }
        self.known.push(match judge(bytes) {
            Ok(()) => Known::Uncounted,
            Err(filter) => Known::LeftOut(filter),
        });
        self.met.insert_full(bytes.into()).0
    }

    /// The number of a key, one of whose requests counts.
    #[inline]
    fn count(&mut self, position: usize) -> u32 {
        if let Known::Counted(number) = self.known[position] {
            return number;
        }
        let number = self.counted.len() as u32;
        self.counted.push(position as u32);
        self.known[position] = Known::Counted(number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::{MINUTE, Threshold};
    use crate::log::limited::{Count, TOO_MANY_REQUESTS, WITHIN};
    use crate::log::{Stamp, entry::Values};
    use crate::time::SECOND;

    /// The figures of attempts as (second, address, status).
    fn figures(
        key: &str,
        filters: &[&str],
        handling: Handling,
        attempts: &[(i64, &str, &str)],
    ) -> Option<Figures> {
        let rules = Rules {
            key: Key::parse(key).unwrap(),
            filters: filters.iter().map(|text| Filter::parse(text).unwrap()).collect(),
            zone: TimeZone::UTC,
            refused: vec![TOO_MANY_REQUESTS],
            within: WITHIN,
            handling,
        };
        let mut wanted = Wanted::default();
        let mut census = Census::new(rules, &mut wanted).unwrap();
        for &(second, address, status) in attempts {
            let mut values = Values::of(wanted.fields().len());
            for (position, field) in wanted.fields().iter().enumerate() {
                match field {
                    Field::Address => values.put(position, b"", address.as_bytes()),
                    Field::Status => values.put(position, b"", status.as_bytes()),
                    _ => {}
                }
            }
            let at = Instant(second * SECOND as i64);
            census
                .take(&Entry::new(Stamp { at, local: false, leap: false }, None, b"", &values), at);
        }
        census.figures(10)
    }

    const ATTEMPTS: &[(i64, &str, &str)] = &[
        (100, "192.0.2.1", "200"),
        (70, "192.0.2.2", "429"),
        (71, "192.0.2.2", "200"),
        (0, "192.0.2.1", "404"),
        (5, "2001:db8::1", "500"),
        (6, "192.0.2.3", "-"),
    ];

    #[test]
    fn everything_is_counted_whatever_its_order() {
        let figures = figures("address", &[], Handling::Keep, ATTEMPTS).unwrap();
        assert_eq!((figures.requests, figures.keys.keys), (6, 4));
        assert_eq!(figures.nanos(), 100 * SECOND);
        // 71 less 60 is 11: in (11, 71] are two, and in (40, 100] three.
        assert_eq!(figures.peaks.map(|peak| peak.requests), [1, 3, 3, 6, 6]);
        let silence = figures.silence.unwrap();
        assert_eq!((silence.from.0, silence.nanos), (6 * SECOND as i64, 64 * SECOND));
        assert_eq!(figures.statuses, Statuses { classes: [0, 2, 0, 2, 1], others: 0, none: 1 });
        assert_eq!(figures.limited, Count { refused: 1, retries: 1, unwatched: 0 });
        let busiest = &figures.keys.busiest[0];
        assert_eq!((busiest.name.as_str(), busiest.requests), ("192.0.2.1", 2));
        assert_eq!(busiest.peaks[MINUTE].requests, 1);
        assert_eq!(figures.keys.threshold, Threshold { requests: 2, above: 0 });
    }

    #[test]
    fn what_filters_and_handling_leave_out_counts_nowhere() {
        let filters = ["address=192.0.2.0/24", "key!=192.0.2.3"];
        let all = figures("address", &filters, Handling::Keep, ATTEMPTS).unwrap();
        assert_eq!((all.requests, all.keys.keys), (4, 2));
        let left_out: Vec<u64> = all.left_out.iter().map(|(_, count)| *count).collect();
        assert_eq!(left_out, [1, 1]);
        // A key of which nothing is left is none.
        let dropped = figures("address", &filters, Handling::Drop, ATTEMPTS).unwrap();
        assert_eq!((dropped.requests, dropped.keys.keys), (2, 1));
        assert_eq!(dropped.limited, all.limited);
        let kept = figures("address", &filters, Handling::DropRetries, ATTEMPTS).unwrap();
        assert_eq!((kept.requests, kept.keys.keys), (3, 2));
        assert_eq!(figures("address", &["status=302"], Handling::Keep, ATTEMPTS), None);
    }

    #[test]
    fn all_requests_may_be_of_one_key() {
        let figures = figures("everything", &[], Handling::Keep, ATTEMPTS).unwrap();
        assert_eq!(figures.keys.busiest[0].name, "everything");
        assert_eq!(figures.keys.busiest[0].peaks, figures.peaks);
    }
}
