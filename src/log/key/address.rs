//! Network addresses as logs write them, read from bytes without allocating: with ports, brackets and
//! zones, and in the two forms that one IPv4 address has.

use std::net::Ipv6Addr;

use crate::log::word::octets;

/// Who a request came from, as far as a log tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host<'a> {
    /// An IPv4 address; also one that was written as IPv6 (`::ffff:192.0.2.7`).
    V4([u8; 4]),
    /// Any other IPv6 address.
    V6([u8; 16]),
    /// What is no address: the name of a host, `unknown`, `unix:`.
    Name(&'a [u8]),
}

impl Host<'_> {
    /// Reads an address with or without brackets, a port after it and a zone (`fe80::1%eth0`), which are
    /// dropped; of a list of addresses the first. What is no address is a name, as it stands.
    #[inline]
    pub fn parse(text: &[u8]) -> Host<'_> {
        match octets(text) {
            Some(octets) => Host::V4(octets),
            None => Host::other(text),
        }
    }

    /// Reads what is not an IPv4 address alone.
    fn other(text: &[u8]) -> Host<'_> {
        let comma = memchr::memchr(b',', text).unwrap_or(text.len());
        let text = text[..comma].trim_ascii();
        let bare = bare(text);
        if let Some(octets) = octets(bare) {
            return Host::V4(octets);
        }
        let address = std::str::from_utf8(bare).ok().and_then(|text| text.parse::<Ipv6Addr>().ok());
        match address {
            Some(address) => match address.to_ipv4_mapped() {
                Some(address) => Host::V4(address.octets()),
                None => Host::V6(address.octets()),
            },
            None => Host::Name(text),
        }
    }

    /// The network of so many bits that it lies in, written as its first address. A name stays as it is.
    pub fn network(self, bits: Prefix) -> Self {
        match self {
            Host::V4(octets) => Host::V4(bits.of_v4(octets)),
            Host::V6(octets) => Host::V6(first_bits(octets, bits.v6)),
            Host::Name(name) => Host::Name(name),
        }
    }
}

/// How many of an address's first bits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Prefix {
    /// Of IPv4, at most 32.
    pub v4: u8,
    /// Of IPv6, at most 128.
    pub v6: u8,
}

impl Prefix {
    /// All bits of both.
    pub const WHOLE: Prefix = Prefix { v4: 32, v6: 128 };

    /// Reads what follows the name of a part that is an address: nothing, `/24` (of IPv4), `/56` (above 32
    /// it can only be of IPv6) or `/24/56`.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn parse(text: &str) -> Result<Prefix, String> {
        let Some(numbers) = text.strip_prefix('/') else {
            return match text {
                "" => Ok(Prefix::WHOLE),
                _ => Err(format!("`{text}` is no length of a prefix")),
            };
        };
        let length = |text: &str, most: u8| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let bits = text.parse::<u8>().ok().filter(|&bits| digits && bits <= most);
            bits.ok_or_else(|| format!("`{text}` is no number of bits up to {most}"))
        };
        match numbers.split_once('/') {
            Some((v4, v6)) => Ok(Prefix { v4: length(v4, 32)?, v6: length(v6, 128)? }),
            None => Ok(match length(numbers, 128)? {
                v4 @ ..=32 => Prefix { v4, ..Prefix::WHOLE },
                v6 => Prefix { v6, ..Prefix::WHOLE },
            }),
        }
    }

    /// The network of so many bits that an address lies in, written as its first address.
    #[inline]
    pub fn of_v4(self, octets: [u8; 4]) -> [u8; 4] {
        first_bits(octets, self.v4)
    }

    /// An address of this network, or of a whole address.
    pub fn show_v4(self, octets: [u8; 4]) -> String {
        shown(dotted(octets), self.v4, Prefix::WHOLE.v4)
    }

    /// As [`Prefix::show_v4`].
    pub fn show_v6(self, octets: [u8; 16]) -> String {
        shown(Ipv6Addr::from(octets).to_string(), self.v6, Prefix::WHOLE.v6)
    }
}

impl std::fmt::Display for Prefix {
    /// As [`Prefix::parse`] takes it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Prefix::WHOLE => Ok(()),
            Prefix { v4, v6: 128 } => write!(formatter, "/{v4}"),
            Prefix { v4: 32, v6 } if v6 > 32 => write!(formatter, "/{v6}"),
            Prefix { v4, v6 } => write!(formatter, "/{v4}/{v6}"),
        }
    }
}

fn shown(address: String, bits: u8, whole: u8) -> String {
    match bits == whole {
        true => address,
        false => format!("{address}/{bits}"),
    }
}

/// An address of IPv4, written without the formatter: a log has many.
fn dotted(octets: [u8; 4]) -> String {
    let digit = |value: u8| char::from(b'0' + value % 10);
    let mut text = String::with_capacity("255.255.255.255".len());
    for (index, octet) in octets.into_iter().enumerate() {
        text.extend((index > 0).then_some('.'));
        text.extend((octet >= 100).then(|| digit(octet / 100)));
        text.extend((octet >= 10).then(|| digit(octet / 10)));
        text.push(digit(octet));
    }
    text
}

/// An address with all but its first bits cleared.
#[inline]
fn first_bits<const N: usize>(mut octets: [u8; N], bits: u8) -> [u8; N] {
    if usize::from(bits) >= 8 * N {
        return octets;
    }
    for (octet, from) in octets.iter_mut().zip((0..).step_by(8)) {
        let kept = u32::from(bits).saturating_sub(from).min(8);
        *octet &= (0xff00_u32 >> kept) as u8;
    }
    octets
}

/// An address without what may stand around it. What is no address may be cut in any way.
fn bare(text: &[u8]) -> &[u8] {
    let inside = match text {
        [b'[', rest @ ..] => match memchr::memchr(b']', rest) {
            Some(end) if is_port(&rest[end + 1..]) => &rest[..end],
            _ => return text,
        },
        _ => match memchr::memchr(b':', text) {
            // One colon is that of a port; IPv6 has two at least.
            Some(colon) if is_port(&text[colon..]) => &text[..colon],
            _ => text,
        },
    };
    let zone = memchr::memchr(b'%', inside).filter(|_| inside.contains(&b':'));
    &inside[..zone.unwrap_or(inside.len())]
}

/// Nothing, or a colon and digits.
fn is_port(text: &[u8]) -> bool {
    match text {
        [] => true,
        [b':', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    fn shown(text: &str, prefix: &str) -> String {
        let prefix = Prefix::parse(prefix).unwrap();
        match Host::parse(text.as_bytes()).network(prefix) {
            Host::V4(octets) => prefix.show_v4(octets),
            Host::V6(octets) => prefix.show_v6(octets),
            Host::Name(name) => format!("name {}", name.escape_ascii()),
        }
    }

    #[test]
    fn one_address_is_one_however_it_is_written() {
        for text in [
            "192.0.2.7",
            " 192.0.2.7 ",
            "192.0.2.7:51234",
            "::ffff:192.0.2.7",
            "::FFFF:c000:207",
            "[::ffff:192.0.2.7]:443",
            "192.0.2.7, 10.0.0.1",
            " 192.0.2.7:51234,unknown",
        ] {
            assert_eq!(shown(text, ""), "192.0.2.7", "{text}");
        }
        for text in [
            "2001:db8::1",
            "2001:0DB8:0:0:0:0:0:0001",
            "[2001:db8::1]",
            "[2001:db8::1]:8080",
            "2001:db8::1%eth0",
            "[2001:db8::1%25eth0]:80",
        ] {
            assert_eq!(shown(text, ""), "2001:db8::1", "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_a_name() {
        for text in [
            "crawl-7.example.com",
            "example.com:8080",
            "unknown",
            "unix:",
            "192.0.2.256",
            "192.0.2",
            "192.0.2.7.1",
            "192.0.02.7",
            "1.2.3.",
            "[192.0.2.7",
            "2001:db8::1]",
            "192.0.2.7:",
            "192.0.2.7:http",
            "50%:1",
        ] {
            assert_eq!(shown(text, ""), format!("name {text}"), "{text}");
        }
    }

    #[test]
    fn a_network_is_its_first_address_and_its_bits() {
        for (text, prefix, network) in [
            ("192.0.2.7", "/24", "192.0.2.0/24"),
            ("192.0.2.7", "/30", "192.0.2.4/30"),
            ("192.0.2.7", "/0", "0.0.0.0/0"),
            ("192.0.2.7", "/56", "192.0.2.7"),
            ("::ffff:192.0.2.7", "/24/56", "192.0.2.0/24"),
            ("2001:db8:1:2ff::1", "/24/56", "2001:db8:1:200::/56"),
            ("2001:db8:1:2ff::1", "/56", "2001:db8:1:200::/56"),
            ("2001:db8:1:2ff::1", "/24", "2001:db8:1:2ff::1"),
            ("2001:db8:1:2ff::1", "/24/0", "::/0"),
            ("example.com", "/24/56", "name example.com"),
        ] {
            assert_eq!(shown(text, prefix), network, "{text}{prefix}");
        }
    }

    #[test]
    fn a_length_of_a_prefix_is_a_number_within_the_address() {
        for (text, right) in [("", ""), ("/24", "/24"), ("/24/56", "/24/56"), ("/56", "/56")] {
            assert_eq!(Prefix::parse(text).unwrap().to_string(), right);
        }
        assert_eq!(Prefix::parse("/32/128").unwrap().to_string(), "");
        assert_eq!(Prefix::parse("/32/20").unwrap().to_string(), "/32/20");
        for text in ["24", "/", "/129", "/33/56", "/24/", "/24/129", "/+4", "/a", "/24/56/8"] {
            assert!(Prefix::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        /// The standard library is the reference.
        #[test]
        fn addresses_are_those_of_the_standard_library(text in "[0-9.]{5,16}|[0-9a-f:]{2,20}|([0-9]{1,3}[.]){3}[0-9]{1,3}") {
            let is_port = text.matches(':').count() == 1;
            if let (Ok(address), false) = (text.parse::<std::net::IpAddr>(), is_port) {
                prop_assert_eq!(shown(&text, ""), address.to_canonical().to_string());
            } else if !is_port {
                prop_assert_eq!(shown(&text, ""), format!("name {text}"));
            }
        }

        #[test]
        fn an_address_with_a_port_is_the_address(octets: [u8; 4], parts: [u16; 8], port: u16) {
            let (v4, v6) = (Ipv4Addr::from(octets), Ipv6Addr::from(parts));
            prop_assert_eq!(shown(&format!("{v4}:{port}"), ""), v4.to_string());
            let canonical = std::net::IpAddr::V6(v6).to_canonical().to_string();
            prop_assert_eq!(shown(&format!("[{v6}]:{port}"), ""), canonical);
        }

        #[test]
        fn a_network_keeps_the_first_bits(octets: [u8; 4], bits in 0_u8..=32) {
            let prefix = Prefix { v4: bits, v6: 128 };
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            let expected = Host::V4((u32::from_be_bytes(octets) & mask).to_be_bytes());
            prop_assert_eq!(Host::V4(octets).network(prefix), expected);
        }

        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = Host::parse(&text);
        }
    }
}
