//! What requests are told apart by: the key of an entry, made of its parts.
//!
//! A [`Key`] is what the user wrote, such as `address/24+endpoint`. A [`KeyReader`] makes the bytes of it
//! from entries, without allocating; entries have the same bytes if, and only if, all parts are the same.
//! [`Key::name`] is how such bytes are shown.

pub mod address;
mod component;
mod forwarded;
mod part;
mod path;

use std::net::IpAddr;

use serde_json::{Value as Json, json};

use super::entry::Entry;
use super::wanted::Wanted;
use crate::error::Problem;
use crate::params::{Node, Setting, Value};
use component::Component;
pub use component::{Found, Source};
pub use part::{PARTS, Part, PartKind};

/// The parts that tell requests apart; of none all requests are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    parts: Vec<Part>,
    /// What its components are, which every name of a key asks for.
    taken: Vec<part::Taken>,
}

impl Key {
    /// What [`Key::parse`] takes, for messages.
    pub const GRAMMAR: &str = "a key such as \"address\", \"address/24/56\", \"header:x-api-key\", \
         \"user+endpoint\" or \"everything\"";

    /// The address that the server saw.
    pub fn address() -> Key {
        Key::of(vec![Part::Address(address::Prefix::WHOLE)])
    }

    fn of(parts: Vec<Part>) -> Key {
        let taken = parts.iter().flat_map(Part::components).map(|(_, taken)| taken).collect();
        Key { parts, taken }
    }

    /// Parses parts joined with `+`, or `everything`.
    ///
    /// # Errors
    /// A text that says what is wrong and what would be right.
    pub fn parse(text: &str) -> Result<Key, String> {
        if text.trim() == "everything" {
            return Ok(Key::of(Vec::new()));
        }
        let mut parts: Vec<Part> = Vec::new();
        for text in text.split('+').map(str::trim) {
            match text {
                "" => return Err("a key has parts, with `+` between them".to_owned()),
                "everything" => {
                    return Err(
                        "`everything` stands alone: it has no parts to tell apart".to_owned()
                    );
                }
                _ => {}
            }
            let part = Part::parse(text)?;
            if parts.contains(&part) {
                return Err(format!("`{part}` is there twice"));
            }
            parts.push(part);
        }
        Ok(Key::of(parts))
    }

    /// What makes its bytes from entries that have the fields of `wanted`, to which those that it needs
    /// are added.
    pub fn reader(&self, wanted: &mut Wanted) -> KeyReader {
        let components = self.parts.iter().flat_map(Part::components);
        let sources = components.map(|(field, taken)| Source::new(wanted.position(field), taken));
        KeyReader { sources: sources.collect(), short: 0 }
    }

    /// How bytes that a reader of this key made are shown: the components with spaces between them, `-`
    /// for what an entry lacked. Spaces within a component are shown as `\x20` where there are several.
    ///
    /// # Panics
    /// If they are not bytes of this key.
    pub fn name(&self, bytes: &[u8]) -> String {
        if self.parts.is_empty() {
            return self.to_string();
        }
        let mut shown = self.components(bytes).map(|(component, taken)| component.show(taken));
        match self.taken.len() {
            1 => shown.next().unwrap_or_default(),
            _ => {
                let shown: Vec<String> = shown.map(|text| text.replace(' ', "\\x20")).collect();
                shown.join(" ")
            }
        }
    }

    /// The address in such bytes, of a network its first one; `None` if there is none.
    ///
    /// # Panics
    /// If they are not bytes of this key.
    pub fn address_in(&self, bytes: &[u8]) -> Option<IpAddr> {
        self.components(bytes).find_map(|(component, _)| match component {
            Component::V4(octets) => Some(octets.into()),
            Component::V6(octets) => Some(octets.into()),
            Component::Absent | Component::Text(_) => None,
        })
    }

    /// Which components there are in such bytes, a bit for each.
    ///
    /// # Panics
    /// If they are not bytes of this key.
    pub fn present(&self, bytes: &[u8]) -> u64 {
        let components = self.components(bytes).enumerate();
        let there = components.filter(|(_, (component, _))| *component != Component::Absent);
        there.fold(0, |bits, (index, _)| bits | bit(index))
    }

    /// A sentence on components that no request had, if there are any, where `present` has the bits of all that one
    /// had at least.
    pub fn lacking_note(&self, present: u64) -> Option<String> {
        let components = self.parts.iter().flat_map(|part| {
            part.components().into_iter().map(move |(field, _)| match part {
                Part::Endpoint => field.name().to_owned(),
                part => part.to_string(),
            })
        });
        let lacking = components.enumerate().filter(|(index, _)| present & bit(*index) == 0);
        let names: Vec<String> = lacking.map(|(_, name)| format!("`{name}`")).collect();
        (!names.is_empty()).then(|| {
            format!(
                "No request has {}: `-` stands for it in every key. Perhaps these logs have it under another name.",
                names.join(" or ")
            )
        })
    }

    /// What counts of the address that the server saw, if that is all of it.
    pub fn prefix(&self) -> Option<address::Prefix> {
        match self.parts[..] {
            [Part::Address(prefix)] => Some(prefix),
            _ => None,
        }
    }

    /// Whether an address is part of it.
    pub fn has_address(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Address(_) | Part::Forwarded(..)))
    }

    /// The components in bytes of this key, with what was taken for them.
    fn components<'a>(
        &self,
        bytes: &'a [u8],
    ) -> impl Iterator<Item = (Component<'a>, part::Taken)> {
        let last = self.taken.len().saturating_sub(1);
        let mut rest = bytes;
        self.taken.iter().enumerate().map(move |(index, &taken)| {
            let component = Component::cut(&mut rest, index == last);
            (component, taken)
        })
    }
}

impl std::fmt::Display for Key {
    /// As [`Key::parse`] takes it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.parts.is_empty() {
            return formatter.write_str("everything");
        }
        for (index, part) in self.parts.iter().enumerate() {
            write!(formatter, "{}{part}", if index > 0 { "+" } else { "" })?;
        }
        Ok(())
    }
}

impl Setting for Key {
    const EXPECTED: &'static str = Key::GRAMMAR;

    fn read(node: &Node) -> Result<Key, Problem> {
        let wrong = |message: String| {
            Problem::at(&node.place, message).help(format!("write {}", Key::GRAMMAR))
        };
        match &node.value {
            Value::String(text) => Key::parse(text).map_err(wrong),
            other => Err(wrong(format!("expected {}, found {}", Key::GRAMMAR, other.kind()))),
        }
    }

    fn json(&self) -> Json {
        json!(self.to_string())
    }

    fn schema() -> Json {
        json!({ "type": "string", "title": Key::GRAMMAR })
    }
}

/// The bit of a component; all from the last of them on share one.
fn bit(component: usize) -> u64 {
    1 << component.min(63)
}

/// Makes the bytes of a key.
#[derive(Debug, Clone)]
pub struct KeyReader {
    sources: Vec<Source>,
    short: u64,
}

impl KeyReader {
    /// Appends the bytes of an entry's key.
    #[inline]
    pub fn append(&mut self, entry: &Entry, into: &mut Vec<u8>) {
        let last = self.sources.len().saturating_sub(1);
        let mut short = false;
        for (index, source) in self.sources.iter().enumerate() {
            let found = source.find(entry);
            short |= found.short;
            source.append(&found, index == last, into);
        }
        self.short += u64::from(short);
    }

    /// Of how many entries a forwarded list was too short for the hop that was asked for, so that its
    /// leftmost was taken.
    pub fn short_lists(&self) -> u64 {
        self.short
    }
}

#[cfg(test)]
mod tests;
