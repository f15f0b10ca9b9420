//! What a value is compared with: texts with wildcards, networks, statuses.

use std::ops::RangeInclusive;

use crate::log::key::address::{Host, Prefix};

/// One of the values that a filter lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// `-`: there is no value.
    Absent,
    /// A text, in which `*` stands for any number of bytes and `?` for one.
    Text(Vec<u8>),
    /// An address or a network.
    Network(Network),
    /// Statuses from one to another, both included.
    Statuses(RangeInclusive<u16>),
}

/// A network of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    prefix: Prefix,
    first: Host<'static>,
}

impl Pattern {
    /// Reads a text with wildcards, or `-`.
    pub fn text(text: &str) -> Pattern {
        match text {
            "-" => Pattern::Absent,
            _ => Pattern::Text(text.as_bytes().to_vec()),
        }
    }

    /// Reads an address, a network, or what names a host.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn host(text: &str) -> Result<Pattern, String> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(a, b)| (a, Some(b)));
        let whole = match Host::parse(address.as_bytes()) {
            Host::V4(octets) => (Host::V4(octets), Prefix::WHOLE.v4),
            Host::V6(octets) => (Host::V6(octets), Prefix::WHOLE.v6),
            Host::Name(_) if bits.is_some() => {
                return Err(format!("`{address}` before the `/` is no address"));
            }
            Host::Name(_) => return Ok(Pattern::text(text)),
        };
        let (address, most) = whole;
        let bits = match bits {
            None => most,
            Some(bits) => bits
                .parse()
                .ok()
                .filter(|&number: &u8| number <= most && bits.bytes().all(|b| b.is_ascii_digit()))
                .ok_or_else(|| format!("`{bits}` is no number of bits up to {most}"))?,
        };
        let prefix = Prefix { v4: bits.min(Prefix::WHOLE.v4), v6: bits };
        Ok(Pattern::Network(Network { prefix, first: address.network(prefix) }))
    }

    /// Reads `429`, `4xx` or `500..599`.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn status(text: &str) -> Result<Pattern, String> {
        let status = |text: &str| {
            let digits = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
            let status = text.parse::<u16>().ok().filter(|_| digits);
            status.ok_or_else(|| {
                format!("`{text}` is no status; write 429, 4xx, 500..599 (both included) or -")
            })
        };
        if text == "-" {
            return Ok(Pattern::Absent);
        }
        if let Some((from, to)) = text.split_once("..") {
            let (from, to) = (status(from)?, status(to)?);
            return match from <= to {
                true => Ok(Pattern::Statuses(from..=to)),
                false => Err(format!("`{text}` goes from the larger to the smaller")),
            };
        }
        match text.as_bytes() {
            [class @ b'1'..=b'9', b'x' | b'X', b'x' | b'X'] => {
                let from = u16::from(class - b'0') * 100;
                Ok(Pattern::Statuses(from..=from + 99))
            }
            _ => status(text).map(|status| Pattern::Statuses(status..=status)),
        }
    }

    /// Whether a value is one of these.
    pub fn matches(&self, value: Option<&[u8]>) -> bool {
        let Some(value) = value else { return *self == Pattern::Absent };
        match self {
            Pattern::Absent => false,
            Pattern::Text(pattern) => like(pattern, value),
            Pattern::Network(network) => {
                Host::parse(value).network(network.prefix) == network.first
            }
            Pattern::Statuses(range) => {
                let text = std::str::from_utf8(value).ok();
                text.and_then(|text| text.parse().ok())
                    .is_some_and(|status| range.contains(&status))
            }
        }
    }
}

/// Whether a text is as a pattern with wildcards says. Takes time in proportion to both at worst, since only
/// the last `*` is ever tried again.
fn like(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut in_text) = (0, 0);
    // Where the pattern goes on after its last `*`, and how much of the text that has to stand for.
    let mut star: Option<(usize, usize)> = None;
    while in_text < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                star = Some((at, in_text));
            }
            Some(&byte) if byte == b'?' || byte == text[in_text] => {
                at += 1;
                in_text += 1;
            }
            _ => {
                let Some((after, taken)) = star else { return false };
                star = Some((after, taken + 1));
                (at, in_text) = (after, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_any_byte() {
        for (pattern, text, fits) in [
            ("/api/*", "/api/", true),
            ("/api/*", "/api/a/b", true),
            ("/api/*", "/api", false),
            ("*/x", "/a/x/b/x", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a", "A", false),
            ("a**b", "ab", true),
        ] {
            assert_eq!(like(pattern.as_bytes(), text.as_bytes()), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn networks_have_the_addresses_whose_first_bits_are_theirs() {
        for (pattern, value, fits) in [
            ("192.0.2.0/24", "192.0.2.255", true),
            ("192.0.2.0/24", "::ffff:192.0.2.1", true),
            ("192.0.2.7/24", "192.0.2.8:443", true),
            ("192.0.2.0/24", "192.0.3.0", false),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.70", false),
            ("0.0.0.0/0", "203.0.113.1", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "[2001:db8:ffff::1]:80", true),
            ("2001:db8::/32", "2001:db9::", false),
            ("2001:DB8::1", "2001:db8:0::1", true),
            ("*.example.com", "a.example.com", true),
            ("example.com", "192.0.2.7", false),
        ] {
            let pattern_read = Pattern::host(pattern).unwrap();
            assert_eq!(pattern_read.matches(Some(value.as_bytes())), fits, "{pattern} {value}");
        }
        for text in
            ["192.0.2.0/33", "2001:db8::/129", "example.com/24", "192.0.2.0/", "192.0.2.0/+1"]
        {
            assert!(Pattern::host(text).is_err(), "{text}");
        }
    }

    #[test]
    fn statuses_are_single_classes_or_ranges() {
        for (pattern, value, fits) in [
            ("429", "429", true),
            ("429", "428", false),
            ("4xx", "400", true),
            ("4XX", "499", true),
            ("4xx", "500", false),
            ("500..599", "599", true),
            ("500..503", "504", false),
            ("4xx", "abc", false),
        ] {
            let pattern_read = Pattern::status(pattern).unwrap();
            assert_eq!(pattern_read.matches(Some(value.as_bytes())), fits, "{pattern} {value}");
        }
        for text in ["42", "4x", "0xx", "599..500", "500-599", "+42", "", "500..", "xxx"] {
            assert!(Pattern::status(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_dash_is_no_value() {
        let patterns =
            [Pattern::text("-"), Pattern::host("-").unwrap(), Pattern::status("-").unwrap()];
        for pattern in patterns {
            assert!(pattern.matches(None) && !pattern.matches(Some(b"x")));
        }
        assert!(!Pattern::text("*").matches(None));
    }

    proptest! {
        /// The crate for expressions is the reference.
        #[test]
        fn wildcards_are_those_expressions(pattern in "[ab*?]{0,8}", text in "[ab]{0,10}") {
            let expression = pattern.replace('*', ".*").replace('?', ".");
            let regex = regex::Regex::new(&format!("^{expression}$")).unwrap();
            prop_assert_eq!(like(pattern.as_bytes(), text.as_bytes()), regex.is_match(&text));
        }
    }
}
