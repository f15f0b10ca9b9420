//! What a record of a log is to everything that reads logs, whatever its format: a time, perhaps a
//! duration, and the bytes of the parts that were asked for.

use std::ops::Range;

use super::stamp::Stamp;
use crate::time::Span;

/// A part of a request that a log may have, besides its time and duration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The address or host name of the client.
    Address,
    /// The user that the server knows it by.
    User,
    /// The method of HTTP.
    Method,
    /// The target as it was asked for: path and query, or a whole URL.
    Target,
    /// The status of the answer.
    Status,
    /// The list of addresses that proxies have passed on (`X-Forwarded-For`, `Forwarded`).
    Forwarded,
    /// The name of the site that was asked.
    Host,
    /// The name that the client gives itself.
    Agent,
    /// The page that the client came from.
    Referer,
    /// The length of the answer.
    Bytes,
    /// What the format calls it: a column, a path in JSON with dots between, a named group, a header
    /// as `header:x-api-key`.
    Named(String),
}

/// The fields that have a name in every format.
static NAMES: [(&str, Field); 10] = [
    ("address", Field::Address),
    ("user", Field::User),
    ("method", Field::Method),
    ("target", Field::Target),
    ("status", Field::Status),
    ("forwarded", Field::Forwarded),
    ("host", Field::Host),
    ("agent", Field::Agent),
    ("referer", Field::Referer),
    ("bytes", Field::Bytes),
];

impl Field {
    /// The field of a name: one that every format knows, or [`Field::Named`].
    pub fn of(name: &str) -> Field {
        Field::known(name).unwrap_or_else(|| Field::Named(name.to_owned()))
    }

    /// The field of a name that every format knows.
    pub fn known(name: &str) -> Option<Field> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, field)| field.clone())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Field::Named(name) => name,
            known => NAMES.iter().find(|(_, field)| field == known).map_or("", |(name, _)| *name),
        }
    }

    /// The names of all fields but [`Field::Named`].
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }
}

/// One record of a log: when, for how long, and the values of the fields that were wanted.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Its time: when the request came or when it was done, as the format has it.
    pub stamp: Stamp,
    /// How long the request took, where the record says so.
    pub took: Option<Span>,
    record: &'a [u8],
    places: &'a [Place],
    scratch: &'a [u8],
}

impl<'a> Entry<'a> {
    /// An entry whose values stand in `record`, or in `values` themselves.
    pub fn new(stamp: Stamp, took: Option<Span>, record: &'a [u8], values: &'a Values) -> Self {
        Entry { stamp, took, record, places: &values.places, scratch: &values.scratch }
    }

    /// The value of the wanted field at `position` in the list that the parser was opened for; `None`
    /// where the record has none, and for `-` and nothing at all.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&'a [u8]> {
        let bytes = match *self.places.get(position)? {
            Place::Absent => return None,
            Place::Record(start, end) => self.record.get(start as usize..end as usize)?,
            Place::Scratch(start, end) => self.scratch.get(start as usize..end as usize)?,
        };
        (!bytes.is_empty() && bytes != b"-").then_some(bytes)
    }
}

/// The values of many entries, to be had later when whatever has read them went on. Memory is used again.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    places: Vec<Place>,
    scratch: Vec<u8>,
}

/// Where the values of an entry lie on a shelf.
#[derive(Debug, Clone, Copy)]
pub struct Put {
    places: u32,
    fields: u32,
    scratch: u32,
}

impl Shelf {
    /// Forgets all values.
    pub fn clear(&mut self) {
        self.places.clear();
        self.scratch.clear();
    }

    /// Keeps the values of an entry. There is room for those of some MiB of a log.
    #[inline]
    pub fn put(&mut self, entry: &Entry) -> Put {
        let (places, scratch) = (self.places.len() as u32, self.scratch.len() as u32);
        let fields = entry.places.len() as u32;
        // One field and nothing beside the record is what most readers want: no copy of an unknown length.
        match entry.places {
            [place] => self.places.push(*place),
            places => self.places.extend_from_slice(places),
        }
        if !entry.scratch.is_empty() {
            self.scratch.extend_from_slice(entry.scratch);
        }
        Put { places, fields, scratch }
    }

    /// The entry with these values; `record` is the one that it was read from.
    ///
    /// # Panics
    /// If they were never put here.
    #[inline]
    pub fn entry<'a>(
        &'a self,
        stamp: Stamp,
        took: Option<Span>,
        record: &'a [u8],
        put: Put,
    ) -> Entry<'a> {
        let places = &self.places[put.places as usize..(put.places + put.fields) as usize];
        Entry { stamp, took, record, places, scratch: &self.scratch[put.scratch as usize..] }
    }
}

/// The values of one record, by the position of their fields in the list of those that are wanted. A
/// parser keeps one and uses its memory from record to record.
#[derive(Debug, Clone, Default)]
pub struct Values {
    places: Vec<Place>,
    /// What does not stand in the record as it is meant: with escapes resolved, or joined.
    scratch: Vec<u8>,
}

/// Where a value is; a record has at most some MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Absent,
    Record(u32, u32),
    Scratch(u32, u32),
}

impl Values {
    /// No values of so many fields.
    pub fn of(fields: usize) -> Values {
        Values { places: vec![Place::Absent; fields], scratch: Vec::new() }
    }

    /// Forgets the values of the last record.
    #[inline]
    pub fn clear(&mut self) {
        self.places.fill(Place::Absent);
        self.scratch.clear();
    }

    /// The value of a field is this part of the record.
    #[inline]
    pub fn set(&mut self, position: usize, range: Range<usize>) {
        self.places[position] = Place::Record(range.start as u32, range.end as u32);
    }

    /// The value of a field is `part`, which lies in `record`, or does not and is copied.
    pub fn put(&mut self, position: usize, record: &[u8], part: &[u8]) {
        let start = (part.as_ptr() as usize).wrapping_sub(record.as_ptr() as usize);
        if start <= record.len() && part.len() <= record.len() - start {
            self.set(position, start..start + part.len());
        } else {
            self.write(position, |scratch| scratch.extend_from_slice(part));
        }
    }

    /// The value of a field is what `write` appends.
    pub fn write(&mut self, position: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.scratch.len();
        write(&mut self.scratch);
        self.places[position] = Place::Scratch(start as u32, self.scratch.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Instant;

    #[test]
    fn values_stand_in_the_record_or_beside_it_and_a_dash_is_none() {
        let record = b"192.0.2.7 - x".to_vec();
        let mut values = Values::of(5);
        values.set(0, 0..9);
        values.put(1, &record, &record[10..11]);
        values.put(2, &record, b"elsewhere");
        values.write(3, |scratch| scratch.extend_from_slice(b"made"));
        let stamp = Stamp { at: Instant(0), local: false, leap: false };
        let entry = Entry::new(stamp, None, &record, &values);
        let found: Vec<Option<&[u8]>> = (0..6).map(|position| entry.get(position)).collect();
        let made = [Some(&b"192.0.2.7"[..]), None, Some(b"elsewhere"), Some(b"made"), None, None];
        assert_eq!(found, made);
        let mut shelf = Shelf::default();
        shelf.put(&entry);
        let put = shelf.put(&entry);
        values.clear();
        assert_eq!(Entry::new(stamp, None, &record, &values).get(0), None);
        let kept = shelf.entry(stamp, None, &record, put);
        let found: Vec<Option<&[u8]>> = (0..6).map(|position| kept.get(position)).collect();
        assert_eq!(found, made);
    }

    #[test]
    fn every_name_is_that_of_its_field() {
        for name in Field::names() {
            assert_eq!(Field::known(name).unwrap().name(), name);
        }
        assert_eq!(Field::of("x.y"), Field::Named("x.y".to_owned()));
        assert_eq!(Field::of("x.y").name(), "x.y");
    }
}
