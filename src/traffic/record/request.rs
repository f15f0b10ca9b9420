//! How an entry of a log becomes a request: who made it, what for, and what it cost.

use std::net::IpAddr;

use crate::log::format::Fault;
use crate::log::key::address::Prefix;
use crate::log::word::octets;
use crate::log::{Entry, readable};
use crate::traffic::Client;

/// Makes requests of entries that have the fields it has asked for.
pub trait Reading {
    /// Appends bytes that tell all about the client, and differ if it does.
    fn identity(&mut self, entry: &Entry, into: &mut Vec<u8>);

    /// Whether a request counts; asked once of each.
    fn keeps(&mut self, _entry: &Entry) -> bool {
        true
    }

    /// The client with these bytes, and whether it is known by an address that is none.
    fn client(&self, identity: &[u8]) -> (Client, bool);

    /// Appends what was asked for, and nothing if that does not matter.
    fn endpoint(&mut self, entry: &Entry, into: &mut Vec<u8>);

    /// How such bytes are shown.
    fn endpoint_name(&self, bytes: &[u8]) -> String {
        readable(bytes)
    }

    /// The prefix of an address of IPv4 that is all of the identity, as the byte 4 and its octets, where the
    /// address is all that is wanted; every such request then counts, costs 1 and asks for nothing.
    fn prefix(&self) -> Option<Prefix> {
        None
    }

    /// What it cost, from 1.
    ///
    /// # Errors
    /// Why it cannot be told.
    fn cost(&mut self, _entry: &Entry) -> Result<u32, Fault> {
        Ok(1)
    }

    /// What shows that the user has meant something else, once all is read.
    fn mistake(&self) -> Option<String> {
        None
    }

    /// What else must be known of what was read, one sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Appends an address so that it is told from every other, in few bytes where it is one of IPv4.
#[inline]
pub fn append_address(text: &[u8], into: &mut Vec<u8>) {
    match octets(text) {
        Some(octets) => {
            into.push(4);
            into.extend_from_slice(&octets);
        }
        None => append_text(text, into),
    }
}

/// Appends a text so that it is told from every address.
pub fn append_text(text: &[u8], into: &mut Vec<u8>) {
    into.push(0);
    into.extend_from_slice(text);
}

/// The address that a text is, as far as it is one: without brackets, and ::ffff:192.0.2.7 as 192.0.2.7, as
/// seen by a server that listens on both; of a list the first.
pub fn address(text: &[u8]) -> Option<IpAddr> {
    let comma = memchr::memchr(b',', text).unwrap_or(text.len());
    let text = text[..comma].trim_ascii();
    let bare = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]"));
    let text = std::str::from_utf8(bare.unwrap_or(text)).ok()?;
    text.parse().ok().map(|address: IpAddr| address.to_canonical())
}

/// The client that was appended as an address, and whether that is none.
pub fn client_at(identity: &[u8]) -> (Client, bool) {
    let (address, text) = match *identity {
        [4, a, b, c, d] => (Some(IpAddr::from([a, b, c, d])), &[][..]),
        [_, ref text @ ..] => (address(text), text),
        [] => (None, &[][..]),
    };
    let name = address.map_or_else(|| readable(text), |address| address.to_string());
    (Client::new(name, address), address.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_named_by_its_address_in_short_or_by_what_stands_there() {
        for (text, name, nameless) in [
            ("192.0.2.7", "192.0.2.7", false),
            ("::ffff:192.0.2.7", "192.0.2.7", false),
            ("[2001:db8:0::1]", "2001:db8::1", false),
            ("192.0.2.7, 10.0.0.1", "192.0.2.7", false),
            ("host.example", "host.example", true),
            ("-", "-", true),
        ] {
            let mut identity = Vec::new();
            append_address(text.as_bytes(), &mut identity);
            let (client, found) = client_at(&identity);
            assert_eq!((client.name.as_str(), found), (name, nameless), "{text}");
        }
    }
}
