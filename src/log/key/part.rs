//! The parts that a key may be made of: how each is written, which field of an entry it is taken from, and
//! what becomes of that field.

use super::address::Prefix;
use crate::error::suggest;
use crate::log::entry::Field;

/// A part of a key as the user writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The address that the server saw, or its network.
    Address(Prefix),
    /// A hop of the forwarded list, counted from 1 at the right, or its network.
    Forwarded(u32, Prefix),
    /// The path with its ids folded.
    Path,
    /// The path as it stands.
    RawPath,
    /// Method and folded path.
    Endpoint,
    /// A field as it stands, by the name of its part.
    Plain(Field),
}

/// What is taken of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// All of it.
    Plain,
    /// The address or network.
    Address(Prefix),
    /// The address or network of a hop.
    Hop(u32, Prefix),
    /// The path with its ids folded.
    Path,
    /// The path as it stands.
    RawPath,
}

/// An entry of the list of parts.
pub struct PartKind {
    /// Its name, which starts how it is written.
    pub name: &'static str,
    /// How it is written in full.
    pub form: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Reads what follows the name.
    read: fn(&str) -> Result<Part, String>,
}

/// All parts, in the order in which they are listed.
pub const PARTS: &[PartKind] = &[
    PartKind {
        name: "address",
        form: "address[/BITS[/BITS]]",
        summary: "The client's address, or its network: /24 of IPv4, /56 of IPv6, /24/56 of both.",
        read: |rest| Prefix::parse(rest).map(Part::Address),
    },
    PartKind {
        name: "forwarded",
        form: "forwarded:N[/BITS[/BITS]]",
        summary: "The N-th hop from the right of X-Forwarded-For or Forwarded; 1 is who the nearest \
                  proxy saw.",
        read: read_forwarded,
    },
    PartKind {
        name: "header",
        form: "header:NAME",
        summary: "The value of a header, where the log has it.",
        read: |rest| named(rest, "header:x-api-key").map(|name| Part::Plain(header(name))),
    },
    PartKind {
        name: "user",
        form: "user",
        summary: "The user that the server knew.",
        read: |rest| plain(rest, Field::User),
    },
    PartKind {
        name: "method",
        form: "method",
        summary: "GET, POST and so on.",
        read: |rest| plain(rest, Field::Method),
    },
    PartKind {
        name: "host",
        form: "host",
        summary: "The host that was asked.",
        read: |rest| plain(rest, Field::Host),
    },
    PartKind {
        name: "path",
        form: "path",
        summary: "The path without its query, ids folded: /users/{id}.",
        read: read_path,
    },
    PartKind {
        name: "path",
        form: "path:raw",
        summary: "The path without its query, as it stands.",
        read: read_path,
    },
    PartKind {
        name: "target",
        form: "target",
        summary: "Path and query as they stand.",
        read: |rest| plain(rest, Field::Target),
    },
    PartKind {
        name: "endpoint",
        form: "endpoint",
        summary: "Method and path.",
        read: |rest| bare(rest, Part::Endpoint),
    },
    PartKind {
        name: "status",
        form: "status",
        summary: "The status of the answer.",
        read: |rest| plain(rest, Field::Status),
    },
    PartKind {
        name: "field",
        form: "field:NAME",
        summary: "Any field by the name that the format gives it: a column, a JSON path (a.b), a group.",
        read: |rest| named(rest, "field:tenant").map(|name| Part::Plain(Field::of(name))),
    },
];

/// Headers that formats have under names of their own.
const HEADERS: [(&str, Field); 6] = [
    ("host", Field::Host),
    ("user-agent", Field::Agent),
    ("referer", Field::Referer),
    ("x-forwarded-for", Field::Forwarded),
    ("forwarded", Field::Forwarded),
    ("x-forwarded", Field::Forwarded),
];

impl Part {
    /// Reads one.
    ///
    /// # Errors
    /// A text that says what is wrong and what would be right.
    pub fn parse(text: &str) -> Result<Part, String> {
        let name = text.find([':', '/']).map_or(text, |end| &text[..end]);
        match PARTS.iter().find(|kind| kind.name == name) {
            Some(kind) => (kind.read)(&text[name.len()..]),
            None => {
                let names = PARTS.iter().map(|kind| kind.name).chain(["everything"]);
                Err(format!("`{text}` is no part of a request; {}", suggest(name, names)))
            }
        }
    }

    /// The components that it is made of, each with the field that it is taken from: one, but two of an
    /// endpoint.
    pub fn components(&self) -> Vec<(Field, Taken)> {
        let of = |field: Field, taken| vec![(field, taken)];
        match self {
            Part::Address(prefix) => of(Field::Address, Taken::Address(*prefix)),
            Part::Forwarded(number, prefix) => of(Field::Forwarded, Taken::Hop(*number, *prefix)),
            Part::Path => of(Field::Target, Taken::Path),
            Part::RawPath => of(Field::Target, Taken::RawPath),
            Part::Plain(field) => of(field.clone(), Taken::Plain),
            Part::Endpoint => {
                vec![(Field::Method, Taken::Plain), (Field::Target, Taken::Path)]
            }
        }
    }
}

impl std::fmt::Display for Part {
    /// As [`Part::parse`] takes it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Part::Address(prefix) => write!(formatter, "address{prefix}"),
            Part::Forwarded(number, prefix) => write!(formatter, "forwarded:{number}{prefix}"),
            Part::Path => formatter.write_str("path"),
            Part::RawPath => formatter.write_str("path:raw"),
            Part::Endpoint => formatter.write_str("endpoint"),
            Part::Plain(field) => {
                let name = field.name();
                let is_part = PARTS.iter().any(|kind| kind.name == name && kind.form == name);
                match is_part || name.starts_with("header:") {
                    true => formatter.write_str(name),
                    false => write!(formatter, "field:{name}"),
                }
            }
        }
    }
}

/// The field of a header.
fn header(name: &str) -> Field {
    let name = name.to_ascii_lowercase();
    let known = HEADERS.iter().find(|(known, _)| *known == name);
    known.map_or_else(|| Field::Named(format!("header:{name}")), |(_, field)| field.clone())
}

/// What follows a colon.
fn named<'a>(rest: &'a str, example: &str) -> Result<&'a str, String> {
    let name = rest.strip_prefix(':').map(str::trim).filter(|name| !name.is_empty());
    name.ok_or_else(|| format!("write its name after a colon, such as `{example}`"))
}

/// Nothing must follow.
fn bare(rest: &str, part: Part) -> Result<Part, String> {
    match rest {
        "" => Ok(part),
        _ => Err(format!("`{part}` has nothing after it, as `{rest}`")),
    }
}

fn plain(rest: &str, field: Field) -> Result<Part, String> {
    bare(rest, Part::Plain(field))
}

fn read_path(rest: &str) -> Result<Part, String> {
    match rest {
        "" => Ok(Part::Path),
        ":raw" => Ok(Part::RawPath),
        _ => Err(format!("after `path` there may only be `:raw`, not `{rest}`")),
    }
}

fn read_forwarded(rest: &str) -> Result<Part, String> {
    let (number, prefix) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let number = number.strip_prefix(':').unwrap_or(number);
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    match number.parse::<u32>() {
        Ok(number @ 1..=1000) if digits => Ok(Part::Forwarded(number, Prefix::parse(prefix)?)),
        _ => {
            Err("write which hop, counted from the right: `forwarded:1` is who the nearest proxy \
                  saw, `forwarded:2` whom the one before it saw"
                .to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_read_and_writes_itself_the_same_way() {
        for text in [
            "address",
            "address/24",
            "address/24/56",
            "forwarded:1",
            "forwarded:2/24/48",
            "forwarded:2/64",
            "header:x-api-key",
            "user",
            "method",
            "host",
            "path",
            "path:raw",
            "target",
            "endpoint",
            "status",
            "field:tenant.id",
            "field:agent",
        ] {
            assert_eq!(Part::parse(text).map(|part| part.to_string()).as_deref(), Ok(text));
        }
        for (text, right) in [
            ("header:X-Api-Key", "header:x-api-key"),
            ("header:Host", "host"),
            ("header:User-Agent", "field:agent"),
            ("field:status", "status"),
            ("forwarded:1/32/128", "forwarded:1"),
            ("forwarded:2/32/64", "forwarded:2/64"),
        ] {
            assert_eq!(Part::parse(text).map(|part| part.to_string()).as_deref(), Ok(right));
        }
    }

    #[test]
    fn every_form_in_the_list_is_one_that_is_read() {
        for PartKind { name, form, .. } in PARTS {
            let text = form.split('[').next().unwrap().replace('N', "1").replace("1AME", "x");
            let part = Part::parse(&text).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
            assert!(text.starts_with(name) && part.to_string() == text, "{text}");
        }
    }

    #[test]
    fn what_is_no_part_is_refused_with_what_would_be_right() {
        for (text, message) in [
            ("adress", "`adress` is no part of a request; did you mean `address`?"),
            ("address/33/1", "`33` is no number of bits up to 32"),
            ("header", "write its name after a colon, such as `header:x-api-key`"),
            ("field:", "write its name after a colon, such as `field:tenant`"),
            ("user:x", "`user` has nothing after it, as `:x`"),
            ("path:template", "after `path` there may only be `:raw`, not `:template`"),
            ("forwarded", "write which hop, counted from the right"),
            ("forwarded:0", "write which hop, counted from the right"),
            ("forwarded:+1", "write which hop, counted from the right"),
        ] {
            let wrong = Part::parse(text).unwrap_err();
            assert!(wrong.starts_with(message), "{text}: {wrong}");
        }
    }
}
