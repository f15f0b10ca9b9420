//! Access logs of Apache and nginx in the common or combined format:
//!
//! ```text
//! 192.0.2.7 - frank [17/May/2015:10:05:03 +0000] "GET /a?b=c HTTP/1.1" 200 203023 "-" "agent"
//! ```
//!
//! A line is a request if it starts with an address or host name and has a time in brackets. What
//! follows may be cut short, empty or not even text: scanners send such requests, and they are load
//! like any other. Everything needed stands before the referer and the agent, so their quotes cannot
//! do harm.

use super::{Format, Parsed, Request, Who};
use crate::log::format::Fault;
use crate::log::stamp::{self, NOT_A_TIME};
use crate::log::{Number, Unit};
use crate::params::{Choice, Params};
use crate::time::Span;
use crate::traffic::Kind;

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "access-log",
    summary: "An access log of Apache or nginx, in the common or combined format.",
    recorded: true,
    open: |params, context| super::open(params, context, settings),
};

struct AccessLog {
    client: Named,
    query: Query,
    duration: Option<Unit>,
}

/// What makes the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Address,
    User,
}

impl Choice for Named {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("address", Named::Address, "the address or host name that a line starts with"),
        ("user", Named::User, "the name of the user, or the address where there is none"),
    ];
}

/// What becomes of the query of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Query {
    Drop,
    Keep,
}

impl Choice for Query {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("drop", Query::Drop, "`/a?b=c` is `/a`"),
        ("keep", Query::Keep, "`/a?b=c` and `/a` are two endpoints"),
    ];
}

fn settings(params: &mut Params) -> Option<AccessLog> {
    Some(AccessLog {
        client: params.or("client", Named::Address, "What makes the client."),
        query: params.or("query", Query::Drop, "Whether the query is part of the endpoint."),
        duration: params.optional(
            "duration",
            "The unit of the last field of a line, after those of the format, if that is how long the \
             request took: `s` for `$request_time` of nginx, `us` for `%D` of Apache.",
        ),
    })
}

impl Format for AccessLog {
    const EXPECTED: &'static str = "a line starts with an address and has a time, as \
         `192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 512`";
    const TAKES_CUT_LINES: bool = true;

    fn parse<'a>(&'a mut self, line: &'a [u8]) -> Result<Parsed<'a>, Fault> {
        // Zeros stand where a log was cut while its server went on writing at the old place.
        let zeros = line.iter().position(|&byte| byte != 0).unwrap_or(line.len());
        let line = &line[zeros..];
        let host = memchr::memchr(b' ', line).unwrap_or(line.len());
        let (host, rest) = line.split_at(host);
        if host.is_empty() {
            return Err("there is no address at the start".into());
        }
        let (before, stamp, after) = bracketed_time(rest)?;
        let user = match self.client {
            Named::User => user(before),
            Named::Address => None,
        };
        let who = match user {
            Some(user) => Who { name: Some(user), ..Who::default() },
            None => Who { address: Some(host), ..Who::default() },
        };
        let endpoint = target(after).unwrap_or(&[]);
        let endpoint = match self.query {
            Query::Keep => endpoint,
            Query::Drop => &endpoint[..memchr::memchr(b'?', endpoint).unwrap_or(endpoint.len())],
        };
        let took = self.duration.and_then(|unit| last_field(after, unit));
        Ok(Parsed::Request(Request { stamp, who, endpoint, cost: 1, took }))
    }

    fn has_durations(&self) -> bool {
        self.duration.is_some()
    }

    fn notes(&self) -> Vec<String> {
        match self.duration {
            Some(_) => Vec::new(),
            None => vec![
                "Stamps count as arrivals; nginx stamps a request when it is done, Apache when it \
                 arrives."
                    .to_owned(),
            ],
        }
    }
}

/// The first time in brackets, with what stands before and after it. User names may have brackets
/// too.
fn bracketed_time(text: &[u8]) -> Result<(&[u8], stamp::Stamp, &[u8]), Fault> {
    let mut fault = None;
    for open in memchr::memchr_iter(b'[', text) {
        let inner = &text[open + 1..];
        if !inner.first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let close = memchr::memchr(b']', inner).unwrap_or(inner.len());
        let found = match close < inner.len() {
            true => stamp::parse(&inner[..close]),
            false => Err(NOT_A_TIME),
        };
        match found {
            Ok(stamp) => return Ok((&text[..open], stamp, &inner[close + 1..])),
            Err(reason) => fault = fault.or(Some(reason)),
        }
    }
    Err(fault.unwrap_or("there is no time in brackets").into())
}

/// The user of ` - frank `: all after the first field, quotes aside. `None` for `-` and nothing.
fn user(fields: &[u8]) -> Option<&[u8]> {
    let fields = fields.trim_ascii();
    let ident = memchr::memchr(b' ', fields)?;
    let user = fields[ident..].trim_ascii();
    let bare = user.strip_prefix(b"\"").and_then(|user| user.strip_suffix(b"\""));
    Some(bare.unwrap_or(user)).filter(|user| !user.is_empty() && *user != b"-")
}

/// The target of the request that starts the text, quoted: `/a?b` of ` "GET /a?b HTTP/1.1" …`.
/// `None` if there is no request, it has no method, or it was cut off inside its target.
fn target(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii_start().strip_prefix(b"\"")?;
    let end = closing_quote(text);
    let request = &text[..end.unwrap_or(text.len())];
    let space = memchr::memchr(b' ', request)?;
    let (method, rest) = (&request[..space], &request[space + 1..]);
    if method.is_empty() || !method.iter().all(u8::is_ascii_alphabetic) {
        return None;
    }
    // A target with spaces ends at the protocol, any other at the space or quote after it.
    let protocol = memchr::memmem::rfind(rest, b" HTTP/");
    let space = || memchr::memchr(b' ', rest);
    let length = protocol.or_else(space).or_else(|| end.map(|_| rest.len()))?;
    Some(&rest[..length])
}

/// Where the quote that closes a field stands; a backslash takes the meaning from what follows it.
fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', text.get(from..)?)?;
        match text[at] {
            b'"' => return Some(at),
            _ => from = at + 2,
        }
    }
}

/// The last field of what follows the time, as a span, quotes aside. `None` if it belongs to the
/// format: to request, status and bytes, or to these with referer and agent, which are quoted.
fn last_field(text: &[u8], unit: Unit) -> Option<Span> {
    let fields = fields(text);
    let quoted = |field: &[u8]| field.first() == Some(&b'"');
    let more = match fields.as_slice() {
        [] | [_] | [_, _] | [_, _, _] => false,
        [_, _, _, referer, _] => !quoted(referer),
        _ => true,
    };
    let field = *fields.last().filter(|_| more)?;
    let bare = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
    let nanos = Number::parse(bare.unwrap_or(field))?.nanos(unit)?;
    u64::try_from(nanos).ok().map(Span::from_nanos)
}

/// Fields between spaces; spaces in quotes are part of theirs.
fn fields(text: &[u8]) -> Vec<&[u8]> {
    let mut fields = Vec::new();
    let mut rest = text.trim_ascii();
    while !rest.is_empty() {
        let quoted = rest.strip_prefix(b"\"").and_then(closing_quote).map(|end| end + 2);
        let from = quoted.unwrap_or(0);
        let end = memchr::memchr(b' ', &rest[from..]).map_or(rest.len(), |space| from + space);
        fields.push(&rest[..end]);
        rest = rest[end..].trim_ascii_start();
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Client, time, endpoint, seconds taken.
    fn parsed(line: &[u8], client: Named, duration: Option<Unit>) -> Result<String, Fault> {
        let mut log = AccessLog { client, query: Query::Drop, duration };
        let Parsed::Request(request) = log.parse(line)? else { panic!("a log has no heading") };
        let who = request.who.name.or(request.who.address).unwrap_or(b"?");
        Ok(format!(
            "{} {} `{}`{}",
            who.escape_ascii(),
            request.stamp.at,
            request.endpoint.escape_ascii(),
            request.took.map_or(String::new(), |took| format!(" {took}"))
        ))
    }

    #[test]
    fn every_line_with_an_address_and_a_time_is_a_request() {
        let time = "[04/Oct/2022:04:34:49 +0200]";
        let at = "192.0.2.7 2022-10-04T02:34:49Z";
        for (tail, endpoint) in [
            (r#" "GET /a/b?c=d HTTP/1.1" 200 12 "-" "agent""#, "/a/b"),
            (r#" "GET /a b HTTP/1.1" 200 12"#, "/a b"),
            (r#" "GET /a" 200 12"#, "/a"),
            (r#" "GET /q\"uoted HTTP/1.1" 200 12"#, r#"/q\\\"uoted"#),
            (r#" "OPTIONS * HTTP/1.1" 200 -"#, "*"),
            (r#" "GET /a HTTP/1.1" 200 12 "-" "Alba 10\" Build/LMY47V""#, "/a"),
            (r#" "GET /a HTTP/1.1" 200 12 "-" "raw "user" agent"#, "/a"),
            (r#" "GET /a HTTP/1.1" 200 1"#, "/a"),
            (r#" "GET /cut/short"#, ""),
            (r#" "GET /cut HT"#, "/cut"),
            (r#" "" 400 0 "-" "-""#, ""),
            (r#" "-" 408 -"#, ""),
            (r#" "\x03\x00\x00/*\xE0\x00" 400 150 "-" "-""#, ""),
            (r#" "\x16\x03\x01\x02 /a HTTP/1.1" 400 150"#, ""),
            (r#" "quit" 400 150"#, ""),
            (r#" "ends in a backslash\"#, "in"),
            ("", ""),
        ] {
            let line = format!("192.0.2.7 - - {time}{tail}");
            let found = parsed(line.as_bytes(), Named::Address, None);
            assert_eq!(found, Ok(format!("{at} `{endpoint}`")), "{line}");
        }
        let raw = [&b"\x00\x00192.0.2.7 - - "[..], time.as_bytes(), b" \"\x16\x03\xff\x00\" 400"]
            .concat();
        assert_eq!(parsed(&raw, Named::Address, None), Ok(format!("{at} ``")));
        let short = format!("192.0.2.7 {time}");
        assert_eq!(parsed(short.as_bytes(), Named::Address, None), Ok(format!("{at} ``")));
    }

    #[test]
    fn hosts_are_addresses_of_either_kind_or_names() {
        for host in ["2001:db8::1", "192.0.2.7", "crawl-7.example.com", "-"] {
            let line = format!("{host} - - [17/May/2015:10:05:03 +0000] \"\"");
            let expected = format!("{host} 2015-05-17T10:05:03Z ``");
            assert_eq!(parsed(line.as_bytes(), Named::Address, None), Ok(expected));
        }
    }

    #[test]
    fn the_user_is_the_client_where_there_is_one() {
        for (user, client) in [
            ("- frank", "frank"),
            ("- j.doe@example.com", "j.doe@example.com"),
            ("- \"two words\"", "two words"),
            ("- two words", "two words"),
            ("- [odd]", "[odd]"),
            ("ident [1]", "[1]"),
            ("- \"\"", "192.0.2.7"),
            ("- -", "192.0.2.7"),
            ("- ", "192.0.2.7"),
        ] {
            let line = format!("192.0.2.7 {user} [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\"");
            let expected = format!("{client} 2015-05-17T10:05:03Z `/`");
            assert_eq!(parsed(line.as_bytes(), Named::User, None), Ok(expected), "{user}");
        }
    }

    #[test]
    fn the_last_field_is_the_duration_if_it_is_one() {
        let line =
            "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"a\"";
        for (tail, unit, took) in [
            (" 10.005", Unit::Seconds, " 10005ms"),
            (" \"0.250\"", Unit::Seconds, " 250ms"),
            (" 1500", Unit::Microseconds, " 1.5ms"),
            (" -", Unit::Seconds, ""),
            (" -3", Unit::Seconds, ""),
            ("", Unit::Seconds, ""),
        ] {
            let found = parsed(format!("{line}{tail}").as_bytes(), Named::Address, Some(unit));
            assert_eq!(found, Ok(format!("192.0.2.7 2015-05-17T10:05:03Z `/`{took}")), "{tail}");
        }
    }

    #[test]
    fn a_field_of_the_format_is_no_duration() {
        let seconds = |tail: &str| {
            let line = format!("192.0.2.7 - - [17/May/2015:10:05:03 +0000] {tail}");
            let found = parsed(line.as_bytes(), Named::Address, Some(Unit::Seconds)).unwrap();
            found.rsplit_once('`').unwrap().1.trim().to_owned()
        };
        for (tail, took) in [
            ("\"GET / HTTP/1.1\" 200 512", ""),
            ("\"GET / HTTP/1.1\" 200 512 3", "3s"),
            ("\"GET / HTTP/1.1\" 200 512 - 3", "3s"),
            ("\"GET / HTTP/1.1\" 200 512 \"-\" \"7\"", ""),
            ("\"GET / HTTP/1.1\" 200 512 \"-\" \"a b\" 3", "3s"),
            ("\"GET / HTTP/1.1\" 200 512 \"-\" \"raw \"user\" agent\" 3", "3s"),
            ("\"GET / HTTP/1.1\" 200", ""),
            ("\"GET /3", ""),
            ("", ""),
        ] {
            assert_eq!(seconds(tail), took, "{tail}");
        }
    }

    #[test]
    fn a_line_without_address_or_time_is_left_out_for_a_reason() {
        for (line, reason) in [
            (" - - [17/May/2015:10:05:03 +0000]", "there is no address at the start"),
            ("192.0.2.7 - - \"GET / HTTP/1.1\" 200 5", "there is no time in brackets"),
            ("192.0.2.7 - - [17/May/2015:10:05", NOT_A_TIME),
            ("192.0.2.7 - - [31/Feb/2015:10:05:03 +0000] \"\"", stamp::NO_SUCH_TIME),
            ("garbage", "there is no time in brackets"),
        ] {
            assert_eq!(parsed(line.as_bytes(), Named::Address, None), Err(reason.into()), "{line}");
        }
    }
}
