//! What stands before the time of a line: perhaps the name of the site or a prefix of syslog, one address
//! or several, perhaps in quotes, an identity that nobody uses, and the user.

use std::net::IpAddr;

use crate::log::word;

/// A field before the time that has its place in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    /// The first address.
    Address,
    /// The name of the site.
    Host,
}

/// What stands before the time.
#[derive(Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// The address: of a list the first.
    pub address: &'a [u8],
    /// The whole list, if it is one.
    pub forwarded: Option<&'a [u8]>,
    /// The name of the site, without its port.
    pub host: Option<&'a [u8]>,
    /// The user, without quotes.
    pub user: Option<&'a [u8]>,
}

/// How long the first word of a line is, and whether it is an IPv4 address by its looks.
#[inline]
pub fn first_word(line: &[u8]) -> (usize, bool) {
    if let Some(start) = line.first_chunk::<{ word::WIDTH }>() {
        let start = u128::from_le_bytes(*start);
        let space = word::first(word::equal(start, b' '));
        if space < word::WIDTH {
            let within = word::up_to(space);
            let dots = word::equal(start, b'.') & within;
            let others = word::not_digits(start) & !dots & within;
            return (space, (others == 0) & (dots.count_ones() == 3));
        }
    }
    first_of_any(line)
}

fn first_of_any(line: &[u8]) -> (usize, bool) {
    let mut dots = 0;
    for (index, &byte) in line.iter().enumerate() {
        if byte == b' ' {
            return (index, dots == 3);
        }
        // Where the dots stand differs from line to line, so nothing branches on them.
        let dot = byte == b'.';
        if !(dot | byte.is_ascii_digit()) {
            let rest = memchr::memchr(b' ', &line[index..]);
            return (rest.map_or(line.len(), |rest| index + rest), false);
        }
        dots += u32::from(dot);
    }
    (line.len(), dots == 3)
}

/// Whether a word is an IPv4 address by its looks.
fn is_plain(word: &[u8]) -> bool {
    let mut dots = 0;
    for byte in word {
        match byte {
            b'0'..=b'9' => {}
            b'.' => dots += 1,
            _ => return false,
        }
    }
    dots == 3
}

/// Reads what stands before the time of a line that starts with a word.
pub fn read(before: &[u8]) -> Head<'_> {
    quoted_list(before).unwrap_or_else(|| plain(before))
}

/// Reads what starts with a list of addresses in quotes, and after it may have the address of the nearest proxy. `None`
/// if it does not.
fn quoted_list(before: &[u8]) -> Option<Head<'_>> {
    let inner = before.strip_prefix(b"\"")?;
    let close = memchr::memchr(b'"', inner)?;
    let list = inner[..close].trim_ascii();
    if list != b"-" && !is_address(list) {
        return None;
    }
    let rest = &inner[close + 1..];
    let head = plain(&rest[next_word(rest, 0)?..]);
    let (list, first) = match list {
        b"-" => (None, None),
        list => (Some(list), list.split(|&byte| byte == b',').next()),
    };
    match (first, is_address(head.address)) {
        (_, true) => Some(Head { forwarded: list.or(head.forwarded), ..head }),
        (Some(first), false) => {
            let (address, host) = (first.trim_ascii(), None);
            Some(Head { address, forwarded: list, host, user: user(rest) })
        }
        (None, false) => None,
    }
}

/// Reads what starts with a word in no quotes.
fn plain(before: &[u8]) -> Head<'_> {
    let first = word(before, 0);
    let (mut start, mut host) = (0, None);
    if !is_address(first) {
        // An identity and a user follow an address; so a name with an address after it is that of the
        // site, or the words before are a prefix.
        let mut at = first.len();
        let mut words = 0;
        while let Some(next) = next_word(before, at) {
            words += 1;
            let found = word(before, next);
            at = next + found.len();
            if is_address(found)
                && next_word(before, at)
                    .and_then(|ident| next_word(before, ident + word(before, ident).len()))
                    .is_some()
            {
                start = next;
                host = (words == 1).then(|| without_port(first));
                break;
            }
        }
    }
    let address = word(before, start);
    let mut end = start + address.len();
    let list = address.ends_with(b",");
    while before[..end].ends_with(b",")
        && let Some(next) = next_word(before, end)
    {
        end = next + word(before, next).len();
    }
    let address = match memchr::memchr(b',', address) {
        Some(comma) => &address[..comma],
        None => address,
    };
    let several = list || end > start + address.len();
    Head {
        address,
        forwarded: several
            .then(|| before[start..end].strip_suffix(b",").unwrap_or(&before[start..end])),
        host,
        user: user(&before[end..]),
    }
}

/// The user of ` - frank `: all after the first field, quotes aside. `None` for `-` and nothing.
fn user(fields: &[u8]) -> Option<&[u8]> {
    let fields = fields.trim_ascii();
    let ident = memchr::memchr(b' ', fields)?;
    let user = fields[ident..].trim_ascii();
    let bare = user.strip_prefix(b"\"").and_then(|user| user.strip_suffix(b"\""));
    Some(bare.unwrap_or(user)).filter(|user| !user.is_empty() && *user != b"-")
}

/// The word that starts at a position.
fn word(text: &[u8], from: usize) -> &[u8] {
    let rest = &text[from..];
    &rest[..memchr::memchr(b' ', rest).unwrap_or(rest.len())]
}

/// Where the next word after a position starts.
fn next_word(text: &[u8], from: usize) -> Option<usize> {
    text[from..].iter().position(|&byte| byte != b' ').map(|spaces| from + spaces)
}

/// Whether a word is an IP address, perhaps with brackets and a port, perhaps the first of a list.
fn is_address(word: &[u8]) -> bool {
    let word = &word[..memchr::memchr(b',', word).unwrap_or(word.len())];
    if is_plain(word) {
        return true;
    }
    let bare = match word {
        [b'[', inner @ ..] => &inner[..memchr::memchr(b']', inner).unwrap_or(inner.len())],
        _ => match memchr::memchr(b':', word) {
            // One colon: an IPv4 address with a port.
            Some(colon) if memchr::memchr(b':', &word[colon + 1..]).is_none() => &word[..colon],
            _ => word,
        },
    };
    std::str::from_utf8(bare).is_ok_and(|text| text.parse::<IpAddr>().is_ok())
}

/// The name of a site without the port after it.
fn without_port(name: &[u8]) -> &[u8] {
    match name.iter().rposition(|&byte| byte == b':') {
        Some(colon) if name[colon + 1..].iter().all(u8::is_ascii_digit) => &name[..colon],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Address, list, site and user.
    fn shown(before: &str) -> String {
        let head = read(before.as_bytes());
        let text = |part: Option<&[u8]>| {
            part.map_or("none".to_owned(), |part| part.escape_ascii().to_string())
        };
        let [address, list, host, user] =
            [Some(head.address), head.forwarded, head.host, head.user].map(text);
        format!("{address} | {list} | {host} | {user}")
    }

    #[test]
    fn an_address_may_have_a_site_a_prefix_or_more_addresses_beside_it() {
        for (before, expected) in [
            ("192.0.2.7 - - ", "192.0.2.7 | none | none | none"),
            ("192.0.2.7 - frank ", "192.0.2.7 | none | none | frank"),
            ("1.2.3.4, 5.6.7.8 - frank ", "1.2.3.4 | 1.2.3.4, 5.6.7.8 | none | frank"),
            ("1.2.3.4,5.6.7.8 - - ", "1.2.3.4 | 1.2.3.4,5.6.7.8 | none | none"),
            (
                "1.2.3.4, unknown, 2001:db8::1 - - ",
                "1.2.3.4 | 1.2.3.4, unknown, 2001:db8::1 | none | none",
            ),
            ("example.com:443 192.0.2.7 - - ", "192.0.2.7 | none | example.com | none"),
            ("example.com 2001:db8::1 - ann ", "2001:db8::1 | none | example.com | ann"),
            (
                "www.example.com:80 1.2.3.4, 5.6.7.8 - - ",
                "1.2.3.4 | 1.2.3.4, 5.6.7.8 | www.example.com | none",
            ),
            ("May 17 10:05:03 web1 nginx: 192.0.2.7 - - ", "192.0.2.7 | none | none | none"),
            (
                "<13>May 17 10:05:03 web1 nginx: 192.0.2.7 - j.doe ",
                "192.0.2.7 | none | none | j.doe",
            ),
            ("192.0.2.7:51234 - - ", "192.0.2.7:51234 | none | none | none"),
            ("[2001:db8::1]:443 - - ", "[2001:db8::1]:443 | none | none | none"),
            // A user may be an address, and a client a name.
            ("host.example - 192.0.2.1 ", "host.example | none | none | 192.0.2.1"),
            ("host.example - - ", "host.example | none | none | none"),
            ("- - - ", "- | none | none | none"),
            ("192.0.2.7 ", "192.0.2.7 | none | none | none"),
            ("192.0.2.7, ", "192.0.2.7 | 192.0.2.7 | none | none"),
            ("\"1.2.3.4, 5.6.7.8\" - ann ", "1.2.3.4 | 1.2.3.4, 5.6.7.8 | none | ann"),
            ("\"1.2.3.4\" - - ", "1.2.3.4 | 1.2.3.4 | none | none"),
            ("\"1.2.3.4, 5.6.7.8\" 10.0.0.1 - ann ", "10.0.0.1 | 1.2.3.4, 5.6.7.8 | none | ann"),
            ("\"-\" 10.0.0.1 - - ", "10.0.0.1 | none | none | none"),
        ] {
            assert_eq!(shown(before), expected, "{before}");
        }
    }

    proptest! {
        #[test]
        fn a_first_word_is_the_same_however_it_is_looked_for(
            line in prop::collection::vec(prop::sample::select(b"0179./: \xb0".to_vec()), 0..40),
        ) {
            prop_assert_eq!(first_word(&line), first_of_any(&line));
        }

        #[test]
        fn no_bytes_make_it_panic(
            before in prop::collection::vec(prop::sample::select(b"1.:,a[] -\"\xff".to_vec()), 0..40),
        ) {
            let before = [b"x", &before[..]].concat();
            prop_assert!(read(&before).address.len() <= before.len());
        }
    }
}
