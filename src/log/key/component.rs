//! One component of a key: taken from an entry, written as bytes, read back and shown.

use super::address::{Host, Prefix};
use super::part::Taken;
use super::{forwarded, path};
use crate::log::entry::Entry;
use crate::log::readable;

/// Where a component comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The position of its field among those that are wanted.
    position: usize,
    taken: Taken,
}

/// What an entry has of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<'a> {
    /// It, as the log has it; ids are not yet folded. `None` where there is none.
    pub bytes: Option<&'a [u8]>,
    /// Whether a list was too short, and this is its leftmost.
    pub short: bool,
}

/// A component as bytes have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component<'a> {
    /// The entry lacked it.
    Absent,
    /// An IPv4 address or the first of a network.
    V4([u8; 4]),
    /// An IPv6 address or the first of a network.
    V6([u8; 16]),
    /// A text.
    Text(&'a [u8]),
}

/// The first byte of each sort of component.
const ABSENT: u8 = 0;
const TEXT: u8 = 1;
const V4: u8 = 4;
const V6: u8 = 6;

impl Source {
    /// What is `taken` of the field at a position.
    pub fn new(position: usize, taken: Taken) -> Source {
        Source { position, taken }
    }

    /// Takes it from an entry.
    #[inline]
    pub fn find<'a>(&self, entry: &Entry<'a>) -> Found<'a> {
        let bytes = entry.get(self.position);
        match self.taken {
            Taken::Plain | Taken::Address(_) => Found { bytes, short: false },
            Taken::Path | Taken::RawPath => Found { bytes: bytes.map(path::path), short: false },
            Taken::Hop(number, _) => match bytes.and_then(|list| forwarded::hop(list, number)) {
                Some(hop) => Found { bytes: Some(hop.node), short: hop.short },
                None => Found { bytes: None, short: false },
            },
        }
    }

    /// Appends what was found as bytes; all but the `last` of a key say where they end.
    #[inline]
    pub fn append(&self, found: &Found, last: bool, into: &mut Vec<u8>) {
        let Some(bytes) = found.bytes.filter(|bytes| !bytes.is_empty()) else {
            into.push(ABSENT);
            return;
        };
        let prefix = match self.taken {
            Taken::Address(prefix) | Taken::Hop(_, prefix) => prefix,
            Taken::Path => return text(last, into, |into| path::fold(bytes, into)),
            Taken::Plain | Taken::RawPath => {
                return text(last, into, |into| into.extend_from_slice(bytes));
            }
        };
        match Host::parse(bytes).network(prefix) {
            Host::V4([a, b, c, d]) => into.extend_from_slice(&[V4, a, b, c, d]),
            Host::V6(octets) => {
                into.push(V6);
                into.extend_from_slice(&octets);
            }
            Host::Name(name) => text(last, into, |into| into.extend_from_slice(name)),
        }
    }
}

/// Appends a text, its length before it unless it is the last.
fn text(last: bool, into: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    into.push(TEXT);
    if last {
        return write(into);
    }
    let start = into.len();
    into.extend_from_slice(&[0; 4]);
    write(into);
    // Records are cut long before a length leaves 32 bits.
    let length = (into.len() - start - 4) as u32;
    into[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

impl<'a> Component<'a> {
    /// Cuts the first component off bytes that [`Source::append`] wrote.
    ///
    /// # Panics
    /// If it did not.
    pub fn cut(bytes: &mut &'a [u8], last: bool) -> Component<'a> {
        fn array<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
            let (array, rest) = bytes.split_first_chunk().unwrap_or_else(|| not_a_key());
            *bytes = rest;
            *array
        }
        let [sort] = array(bytes);
        match sort {
            ABSENT => Component::Absent,
            V4 => Component::V4(array(bytes)),
            V6 => Component::V6(array(bytes)),
            TEXT => {
                let length =
                    if last { bytes.len() } else { u32::from_le_bytes(array(bytes)) as usize };
                let (text, rest) = bytes.split_at_checked(length).unwrap_or_else(|| not_a_key());
                *bytes = rest;
                Component::Text(text)
            }
            _ => not_a_key(),
        }
    }

    /// As people read it.
    pub fn show(self, taken: Taken) -> String {
        let prefix = match taken {
            Taken::Address(prefix) | Taken::Hop(_, prefix) => prefix,
            Taken::Plain | Taken::Path | Taken::RawPath => Prefix::WHOLE,
        };
        match self {
            Component::Absent => "-".to_owned(),
            Component::V4(octets) => prefix.show_v4(octets),
            Component::V6(octets) => prefix.show_v6(octets),
            Component::Text(text) => readable(text),
        }
    }
}

fn not_a_key() -> ! {
    unreachable!("these are not the bytes of a key")
}
