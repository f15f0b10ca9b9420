//! The network addresses of clients: one for all of them, or one each out of a prefix.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Value as Json, json};

use crate::error::Problem;
use crate::params::{Node, Setting};

/// Where clients come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// All from one address.
    One(IpAddr),
    /// Each from its own: the n-th client, n from 1, from the n-th address after the first.
    Prefix {
        /// The first address.
        first: IpAddr,
        /// The number of bits that they have in common.
        bits: u32,
    },
}

impl Addresses {
    /// How many clients can be given an address.
    pub fn room(self) -> u128 {
        match self {
            Addresses::One(_) => u128::MAX,
            Addresses::Prefix { first, bits } => last_of_prefix(width(first) - bits),
        }
    }

    /// The address of a client, counted from 0 and below [`Addresses::room`].
    pub fn of(self, client: usize) -> IpAddr {
        match self {
            Addresses::One(address) => address,
            Addresses::Prefix { first: IpAddr::V4(first), .. } => {
                Ipv4Addr::from_bits(first.to_bits() + client as u32 + 1).into()
            }
            Addresses::Prefix { first: IpAddr::V6(first), .. } => {
                Ipv6Addr::from_bits(first.to_bits() + client as u128 + 1).into()
            }
        }
    }
}

fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The number of the last address, the first being 0, where `free` bits are free.
fn last_of_prefix(free: u32) -> u128 {
    u128::MAX.checked_shr(128 - free).unwrap_or(0)
}

impl Setting for Addresses {
    const EXPECTED: &'static str = "an address for all clients such as \"203.0.113.7\", or a prefix \
         with one for each such as \"203.0.113.0/24\"";

    fn read(node: &Node) -> Result<Self, Problem> {
        let wrong = |message: String| {
            Problem::at(&node.place, message).help(format!("write {}", Self::EXPECTED))
        };
        let text = String::read(node)?;
        let Some((first, bits)) = text.split_once('/') else {
            let address = text.parse().map_err(|_| wrong(format!("`{text}` is no address")))?;
            return Ok(Addresses::One(address));
        };
        let first: IpAddr =
            first.parse().map_err(|_| wrong(format!("`{first}` before the `/` is no address")))?;
        let width = width(first);
        let digits = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
        let bits =
            bits.parse().ok().filter(|&bits: &u32| digits && bits <= width).ok_or_else(|| {
                wrong(format!("`{bits}` after the `/` is not a number of bits from 0 to {width}"))
            })?;
        let number = match first {
            IpAddr::V4(first) => u128::from(first.to_bits()),
            IpAddr::V6(first) => first.to_bits(),
        };
        if number & last_of_prefix(width - bits) != 0 {
            return Err(wrong(format!("`{text}` has bits set after the first {bits}")));
        }
        Ok(Addresses::Prefix { first, bits })
    }

    fn json(&self) -> Json {
        match self {
            Addresses::One(address) => json!(address.to_string()),
            Addresses::Prefix { first, bits } => json!(format!("{first}/{bits}")),
        }
    }

    fn schema() -> Json {
        json!({ "type": "string", "title": Self::EXPECTED })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;

    fn read(text: &str) -> Result<Addresses, String> {
        let node = Node { value: Value::String(text.to_owned()), ..Node::empty() };
        Addresses::read(&node).map_err(|problem| problem.message)
    }

    #[test]
    fn clients_take_the_addresses_of_a_prefix_from_its_second_on() {
        let prefix = read("203.0.113.0/24").unwrap();
        assert_eq!(prefix.of(0).to_string(), "203.0.113.1");
        assert_eq!(prefix.of(254).to_string(), "203.0.113.255");
        assert_eq!(prefix.room(), 255);
        let prefix = read("2001:db8::/64").unwrap();
        assert_eq!(prefix.of(255).to_string(), "2001:db8::100");
        assert_eq!(prefix.room(), (1 << 64) - 1);
        assert_eq!(read("10.0.0.1/32").unwrap().room(), 0);
        assert_eq!(read("0.0.0.0/0").unwrap().room(), (1 << 32) - 1);
        assert_eq!(read("::/0").unwrap().room(), u128::MAX);
    }

    #[test]
    fn an_address_is_that_of_every_client() {
        let one = read("203.0.113.7").unwrap();
        assert_eq!(one.of(0), one.of(1_000_000));
    }

    #[test]
    fn what_is_no_address_is_refused_with_its_reason() {
        for (text, reason) in [
            ("203.0.113", "`203.0.113` is no address"),
            ("203.0.113/24", "`203.0.113` before the `/` is no address"),
            ("203.0.113.0/33", "`33` after the `/` is not a number of bits from 0 to 32"),
            ("203.0.113.0/+8", "`+8` after the `/` is not a number of bits from 0 to 32"),
            ("203.0.113.0/", "`` after the `/` is not a number of bits from 0 to 32"),
            ("203.0.113.7/24", "`203.0.113.7/24` has bits set after the first 24"),
        ] {
            assert_eq!(read(text), Err(reason.to_owned()), "{text}");
        }
    }
}
