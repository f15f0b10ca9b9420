//! Logs of HAProxy in its HTTP and TCP formats, with or without a prefix of syslog. The time in brackets is
//! that at which the request was accepted, in the zone of the server; the last of the timers is how long all
//! of it took.

use std::net::Ipv6Addr;

use super::naming::span;
use super::request::{host, split, unquoted};
use super::words::Words;
use super::{Fault, Format, Layout, Parsed, Parser, Stamps};
use crate::error::Problem;
use crate::log::entry::{Entry, Field, Values};
use crate::log::number::Unit;
use crate::log::stamp::{self, NOT_A_TIME, Stamp};

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "haproxy",
    summary: "Logs of HAProxy, in its HTTP format; also TCP.",
    example: r#"May 17 10:05:03 lb1 haproxy[14389]: 192.0.2.7:33317 [17/May/2015:10:05:03.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {example.com|203.0.113.9} {} "GET /a?b=c HTTP/1.1""#,
    expected: "a line has the address of the client, a time as `[17/May/2015:10:05:03.655]`, and timers \
               as `10/0/30/69/109`",
    stamps: Stamps::Start,
    fits: |lines, _| lines.iter().filter(|line| fits(line)).count(),
    open,
};

fn open(layout: &Layout) -> Result<Box<dyn Parser>, Vec<Problem>> {
    let wanted: Vec<Field> = layout.wanted.iter().map(|field| layout.own(field)).collect();
    Ok(Box::new(HaProxy { values: Values::of(wanted.len()), wanted, words: Words::default() }))
}

fn fits(line: &[u8]) -> bool {
    let Ok(accepted) = accepted(line) else { return false };
    let mut words = Words::default();
    words.split(accepted.after);
    words
        .get(2, accepted.after)
        .is_some_and(|timers| timers.split(|&byte| byte == b'/').count() >= 3)
}

/// The time in brackets and what stands on both sides of it.
struct Accepted<'a> {
    client: &'a [u8],
    stamp: Stamp,
    after: &'a [u8],
}

fn accepted(line: &[u8]) -> Result<Accepted<'_>, &'static str> {
    let mut fault = None;
    // The closing bracket that was found last, which closes all that open before it.
    let mut close = 0;
    for open in memchr::memchr_iter(b'[', line) {
        // The number of the process stands in brackets too.
        if line.get(open + 3) != Some(&b'/') {
            continue;
        }
        if close <= open {
            let Some(found) = memchr::memchr(b']', &line[open..]) else { break };
            close = open + found;
        }
        match stamp::parse(&line[open + 1..close]) {
            Ok(stamp) => {
                let before = line[..open].trim_ascii_end();
                let start =
                    before.iter().rposition(|&byte| byte == b' ').map_or(0, |space| space + 1);
                return Ok(Accepted { client: &before[start..], stamp, after: &line[close + 1..] });
            }
            Err(reason) => fault = fault.or(Some(reason)),
        }
    }
    Err(fault.unwrap_or(NOT_A_TIME))
}

/// What the fields after the time are called, up to those that vary.
const NAMES: [&str; 10] = [
    "frontend",
    "backend",
    "timers",
    "status",
    "bytes",
    "request-cookie",
    "response-cookie",
    "termination",
    "connections",
    "queues",
];

#[derive(Clone)]
struct HaProxy {
    wanted: Vec<Field>,
    words: Words,
    values: Values,
}

impl Parser for HaProxy {
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<Parsed<'a>, Fault> {
        let Accepted { client, stamp, after } = accepted(record)?;
        self.words.split(after);
        let word = |index: usize| self.words.get(index, after);
        let timers = word(2);
        let total = timers.and_then(|timers| timers.rsplit(|&byte| byte == b'/').next());
        // With `logasap` the time is followed by a plus: at least so much.
        let took = total
            .and_then(|total| span(total.strip_prefix(b"+").unwrap_or(total), Unit::Milliseconds));
        // Connections of TCP have three timers, and no status after them.
        let http =
            timers.is_some_and(|timers| timers.iter().filter(|&&byte| byte == b'/').count() >= 4);
        let request =
            || (0..self.words.len()).rev().filter_map(word).find(|word| word.starts_with(b"\""));
        self.values.clear();
        for (position, field) in self.wanted.iter().enumerate() {
            let value = match field {
                Field::Address => Some(without_port(client)),
                Field::Status => word(3).filter(|_| http),
                Field::Bytes => word(if http { 4 } else { 3 }),
                Field::Method => {
                    request().and_then(|line| split(unquoted(line), true)).map(|(method, _)| method)
                }
                Field::Target => request().and_then(|line| split(unquoted(line), true)?.1),
                Field::Named(name) => match name.strip_prefix("captured:") {
                    Some(number) => number.parse().ok().and_then(|number| captured(after, number)),
                    None => NAMES.iter().position(|known| known == name).and_then(word),
                },
                Field::Host => request().and_then(|line| host(unquoted(line))),
                Field::User | Field::Forwarded | Field::Agent | Field::Referer => None,
            };
            if let Some(value) = value {
                self.values.put(position, record, value);
            }
        }
        Ok(Parsed::Entry(Entry::new(stamp, took, record, &self.values)))
    }

    fn takes_cut_records(&self) -> bool {
        true
    }

    fn has_durations(&self) -> bool {
        true
    }

    fn twin(&self) -> Option<Box<dyn Parser>> {
        Some(Box::new(self.clone()))
    }
}

/// The client without its port where that follows an IPv6 address in no brackets, as in `2001:db8::1:33317`. What is
/// no address without its last part is one with it.
fn without_port(client: &[u8]) -> &[u8] {
    let Some(colon) = memchr::memrchr(b':', client) else { return client };
    let (address, port) = (&client[..colon], &client[colon + 1..]);
    let is_port = (1..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit);
    let is_v6 =
        |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok());
    if is_port && address.contains(&b':') && is_v6(address) { address } else { client }
}

/// The captured header of a number, from 1, those of the answer after those of the request.
fn captured(after: &[u8], number: usize) -> Option<&[u8]> {
    // Braces may be in the request as well, which comes last.
    let end = memchr::memmem::find(after, b" \"").unwrap_or(after.len());
    let mut left = number.checked_sub(1)?;
    let mut rest = &after[..end];
    while let Some(open) = memchr::memchr(b'{', rest) {
        let inner = &rest[open + 1..];
        let close = memchr::memchr(b'}', inner).unwrap_or(inner.len());
        for value in inner[..close].split(|&byte| byte == b'|') {
            match left {
                0 => return Some(value),
                _ => left -= 1,
            }
        }
        rest = &inner[close..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::format::Column;
    use crate::log::readable;
    use proptest::prelude::*;

    fn parsed(line: &str) -> Result<String, Fault> {
        let column = Column { name: "captured:2".to_owned(), place: None };
        let mut wanted: Vec<Field> =
            vec![Field::Address, Field::Status, Field::Method, Field::Target];
        wanted.extend([
            Field::Forwarded,
            Field::of("captured:1"),
            Field::of("captured:3"),
            Field::of("backend"),
        ]);
        let count = wanted.len();
        let columns = vec![(Field::Forwarded, column)];
        let layout = Layout { wanted, columns, ..Layout::default() };
        let mut parser = open(&layout).unwrap();
        let Parsed::Entry(entry) = parser.parse(line.as_bytes())? else { panic!("no heading") };
        let values =
            (0..count).map(|position| entry.get(position).map_or("none".to_owned(), readable));
        let took = entry.took.map_or("none".to_owned(), |took| took.to_string());
        let local = if entry.stamp.local { " local" } else { "" };
        Ok(format!(
            "{}{local} {} took {took}",
            entry.stamp.at,
            values.collect::<Vec<_>>().join(" ")
        ))
    }

    #[test]
    fn the_time_is_that_of_the_arrival_whatever_stands_before_it() {
        let found = "2015-05-17T10:05:03.655Z local 192.0.2.7:33317 200 GET /a?b=c 203.0.113.9 example.com \
                     none static/srv1 took 109ms";
        let line = FORMAT.example;
        assert_eq!(parsed(line).unwrap(), found);
        let bare = &line[line.find("192").unwrap()..];
        assert_eq!(parsed(bare).unwrap(), found);
        assert_eq!(parsed(&bare.replace("/109 ", "/+109 ")).unwrap(), found);
        let more = bare.replace("{}", "{text/html|x}");
        assert_eq!(parsed(&more).unwrap(), found.replace(" none ", " text/html "));
    }

    #[test]
    fn a_port_is_no_part_of_an_address() {
        for (client, address) in [
            ("2001:db8::1:33317", "2001:db8::1"),
            ("::1:40000", "::1"),
            ("::ffff:10.0.1.4:33318", "::ffff:10.0.1.4"),
            ("2001:db8:1:2:3:4:5:6:33317", "2001:db8:1:2:3:4:5:6"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"),
            ("2001:db8::1", "2001:db8::1"),
            ("::1", "::1"),
            ("192.0.2.7:33317", "192.0.2.7:33317"),
            ("unix:1", "unix:1"),
        ] {
            assert_eq!(without_port(client.as_bytes()), address.as_bytes(), "{client}");
        }
    }

    #[test]
    fn a_whole_url_has_the_host() {
        let line = FORMAT.example.replace(" /a?b=c ", " https://example.com/a ");
        let layout = Layout { wanted: vec![Field::Host], ..Layout::default() };
        let mut parser = open(&layout).unwrap();
        let Ok(Parsed::Entry(entry)) = parser.parse(line.as_bytes()) else { panic!("no entry") };
        assert_eq!(entry.get(0), Some(&b"example.com"[..]));
    }

    #[test]
    fn what_is_not_there_is_none() {
        let at = "2015-05-17T10:05:03.655Z local 192.0.2.7:33317";
        let bad = "192.0.2.7:33317 [17/May/2015:10:05:03.655] in in/<NOSRV> -1/-1/-1/-1/2 400 187 - - PR-- 0/0/0/0/0 0/0 \"<BADREQ>\"";
        assert_eq!(
            parsed(bad).unwrap(),
            format!("{at} 400 none none none none none in/<NOSRV> took 2ms")
        );
        let tcp =
            "192.0.2.7:33317 [17/May/2015:10:05:03.655] in out/s1 0/0/5007 212 -- 0/0/0/0/3 0/0";
        assert_eq!(
            parsed(tcp).unwrap(),
            format!("{at} none none none none none none out/s1 took 5007ms")
        );
        let cut = "192.0.2.7:33317 [17/May/2015:10:05:03.655] in";
        assert_eq!(
            parsed(cut).unwrap(),
            format!("{at} none none none none none none none took none")
        );
        let started = "May 17 10:05:03 lb1 haproxy[14389]: Proxy http-in started.";
        assert_eq!(parsed(started), Err(NOT_A_TIME.into()));
    }

    #[test]
    fn its_lines_are_told_from_those_of_other_servers() {
        assert!(fits(FORMAT.example.as_bytes()));
        let combined = super::super::combined::FORMAT;
        assert!(!fits(combined.example.as_bytes()));
        assert_eq!((combined.fits)(&[FORMAT.example.as_bytes()], &Layout::default()), 0);
    }

    /// Looking for the end of each of 2^18 brackets from its beginning on would read 2^36 bytes and more.
    #[test]
    fn brackets_without_end_are_read_once() {
        let text = "[17/".repeat(1 << 18);
        assert_eq!(accepted(text.as_bytes()).err(), Some(NOT_A_TIME));
        let ended = text + "May/2015:10:05:03.655] in";
        assert_eq!(accepted(ended.as_bytes()).ok().map(|found| found.after), Some(&b" in"[..]));
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in "(192.0.2.7:1 |\\[17/May/2015:10:05:03.655\\]|[]\\[{}|/\"]| |1/2/3/4/5|GET){0,20}") {
            let _ = parsed(&line);
        }
    }
}
