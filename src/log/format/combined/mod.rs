//! Access logs of Apache, nginx and all that follow them, in the common or combined format:
//!
//! ```text
//! 192.0.2.7 - frank [17/May/2015:10:05:03 +0000] "GET /a?b=c HTTP/1.1" 200 203023 "-" "agent"
//! ```
//!
//! A line is a request if it starts with an address or host name and has a time in brackets. What
//! follows may be cut short, empty or not even text: scanners send such requests, and they are load
//! like any other. Before the address there may be the name of the site (`vhost:443 192.0.2.7 - - […`),
//! a prefix of syslog, or a list of addresses that proxies passed on; after the agent there may be
//! further fields, of which the first quoted one is taken for such a list, and the last one for the
//! duration if its unit is given.

mod front;
mod tail;
mod time;

use super::{Fault, Format, Layout, Parsed, Parser, Stamps};
use crate::error::Problem;
use crate::log::entry::{Entry, Field, Values};
use crate::log::number::Unit;
use crate::log::{Plain, word};
use front::Front;
use tail::{Part, Tail};
use time::Bracketed;

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "combined",
    summary: "Access logs of Apache and nginx: the common and the combined format, with more before \
              or after.",
    example: "192.0.2.7 - frank [17/May/2015:10:05:03 +0000] \"GET /a?b=c HTTP/1.1\" 200 512 \"-\" \
              \"curl/8.5\"",
    expected: "a line starts with an address and has a time, as \
               `192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 512`",
    stamps: Stamps::EndIfTimed,
    fits: |lines, _| fits(lines),
    open,
};

fn fits(lines: &[&[u8]]) -> usize {
    let fits = |line: &[u8]| match memchr::memchr(b' ', line) {
        Some(host) if host > 0 && line[0] != b'{' => {
            Bracketed::default().find(&line[host..]).is_ok_and(|found| found.in_access_log_form)
        }
        _ => false,
    };
    lines.iter().filter(|line| fits(line)).count()
}

fn open(layout: &Layout) -> Result<Box<dyn Parser>, Vec<Problem>> {
    let place = |field: &Field| match field {
        Field::Address => Some(Wanted::Front(Front::Address)),
        Field::Host => Some(Wanted::Front(Front::Host)),
        Field::User => Some(Wanted::User),
        Field::Forwarded => Some(Wanted::Forwarded),
        Field::Method => Some(Wanted::Tail(Part::Method)),
        Field::Target => Some(Wanted::Tail(Part::Target)),
        Field::Status => Some(Wanted::Tail(Part::Status)),
        Field::Bytes => Some(Wanted::Tail(Part::Bytes)),
        Field::Referer => Some(Wanted::Tail(Part::Referer)),
        Field::Agent => Some(Wanted::Tail(Part::Agent)),
        Field::Named(name) => {
            let number: usize = name.strip_prefix("extra:")?.parse().ok()?;
            Some(Wanted::Tail(Part::Extra(number.checked_sub(1)?)))
        }
    };
    let wanted: Vec<(usize, Wanted)> = (0..)
        .zip(&layout.wanted)
        .filter_map(|(position, field)| Some((position, place(&layout.own(field))?)))
        .collect();
    let beyond_request = wanted.iter().any(|(_, wanted)| match wanted {
        Wanted::Front(_) | Wanted::User => false,
        Wanted::Tail(part) => !matches!(part, Part::Method | Part::Target),
        Wanted::Forwarded => true,
    });
    Ok(Box::new(Combined {
        address: match wanted[..] {
            [(position, Wanted::Front(Front::Address))] => Some(position),
            _ => None,
        },
        wanted,
        beyond_request,
        duration: layout.duration_unit,
        values: Values::of(layout.wanted.len()),
        time: Bracketed::default(),
        tail: Tail::default(),
    }))
}

/// Where a wanted field stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Front(Front),
    User,
    Forwarded,
    Tail(Part),
}

#[derive(Clone)]
struct Combined {
    wanted: Vec<(usize, Wanted)>,
    /// The position of the address if nothing else is wanted.
    address: Option<usize>,
    /// Whether fields after the request are wanted.
    beyond_request: bool,
    duration: Option<Unit>,
    values: Values,
    time: Bracketed,
    tail: Tail,
}

impl Parser for Combined {
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<Parsed<'a>, Fault> {
        // Zeros stand where a log was cut while its server went on writing at the old place.
        let zeros = match record {
            [0, ..] => record.iter().position(|&byte| byte != 0).unwrap_or(record.len()),
            _ => 0,
        };
        let line = &record[zeros..];
        let (host, is_plain) = front::first_word(line);
        if host == 0 {
            return Err("there is no address at the start".into());
        }
        let found = self.time.find(&line[host..])?;
        let (before, after) = (&line[..host + found.open], &line[host + found.after..]);
        self.values.clear();
        match self.address {
            Some(position) if is_plain => {
                self.values.set(position, zeros..zeros + host);
            }
            Some(_) => self.fill(record, before, after),
            None if self.wanted.is_empty() => {}
            None => self.fill(record, before, after),
        }
        let took = self.duration.and_then(|unit| {
            self.tail.split(after);
            self.tail.duration(after, unit)
        });
        Ok(Parsed::Entry(Entry::new(found.stamp, took, record, &self.values)))
    }

    fn tells_plain(&self) -> bool {
        self.address.is_some() && self.duration.is_none()
    }

    fn plain(&mut self, text: &[u8], longest: usize, into: &mut Vec<Plain>) -> usize {
        let mut at = 0;
        while let Some((address, length)) = word::first_octets(&text[at..])
            && let Some(rest) = memchr::memchr(b'\n', &text[at + length..])
            && length + rest < longest
            && let Some(second) = self.time.second(&text[at + length..at + length + rest])
        {
            into.push(Plain { second, address });
            at += length + rest + 1;
        }
        at
    }

    fn takes_cut_records(&self) -> bool {
        true
    }

    fn has_durations(&self) -> bool {
        self.duration.is_some()
    }

    fn twin(&self) -> Option<Box<dyn Parser>> {
        Some(Box::new(self.clone()))
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

impl Combined {
    /// Finds the values of all wanted fields, given what stands before and after the time.
    fn fill(&mut self, record: &[u8], before: &[u8], after: &[u8]) {
        let head = front::read(before);
        if self.beyond_request {
            self.tail.split(after);
        } else {
            self.tail.request_only(after);
        }
        for &(position, wanted) in &self.wanted {
            let value = match wanted {
                Wanted::Front(Front::Address) => Some(head.address),
                Wanted::Front(Front::Host) => head.host,
                Wanted::User => head.user,
                Wanted::Forwarded => head.forwarded.or_else(|| self.tail.forwarded(after)),
                Wanted::Tail(part) => self.tail.part(after, part),
            };
            if let Some(value) = value {
                self.values.put(position, record, value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
