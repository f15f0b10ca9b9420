//! Takes in the requests of a record one by one, keeps count of everything that is left out or
//! understood in a way that a reader of the results must know, and makes the source of them.

use std::borrow::Cow;
use std::net::IpAddr;
use std::path::Path;

use indexmap::{IndexMap, IndexSet};

use super::columns::{Column, reordered, sorting};
use super::drawn::Stamped;
use super::spread::Spread;
use super::{Request, Who};
use crate::log::{Order, count, readable};
use crate::params::Choice;
use crate::time::{Instant, SECOND, Span};
use crate::traffic::{Client, Context, Input, Skipped, Source};

/// A record has at most so many requests.
pub const MOST: usize = u32::MAX as usize;

/// The requests of a record so far.
pub struct Intake<'a, 'c> {
    context: &'a mut Context<'c>,
    /// In the order of the record, as are the columns.
    stamps: Vec<Instant>,
    /// The client, endpoint and cost of each.
    columns: [Column; 3],
    /// How long each took, if that is to be taken off.
    took: Option<Vec<Span>>,
    clients: Numbers,
    endpoints: Numbers,
    identity: Vec<u8>,
    order: Order,
    skipped: IndexMap<Cow<'static, str>, Skipped>,
    tally: Tally,
}

/// How many requests, or clients, were understood in a way worth a note.
#[derive(Default)]
struct Tally {
    finer_than_seconds: u64,
    local: u64,
    leap: u64,
    without_duration: u64,
    clients_without_address: u64,
}

/// What was met so far, as bytes, with the numbers given to it.
#[derive(Default)]
struct Numbers {
    met: IndexSet<Box<[u8]>>,
    numbers: Vec<u32>,
    /// The number of no bytes at all, which are met often and are slow to look up.
    empty: Option<u32>,
}

impl Numbers {
    fn get(&mut self, bytes: &[u8], number: impl FnOnce() -> u32) -> u32 {
        if bytes.is_empty() {
            return *self.empty.get_or_insert_with(number);
        }
        match self.met.get_index_of(bytes) {
            Some(index) => self.numbers[index],
            None => {
                self.met.insert(bytes.into());
                let number = number();
                self.numbers.push(number);
                number
            }
        }
    }
}

impl<'a, 'c> Intake<'a, 'c> {
    /// None so far. `ends` if stamps are the ends of requests.
    pub fn new(context: &'a mut Context<'c>, ends: bool) -> Intake<'a, 'c> {
        Intake {
            context,
            stamps: Vec::new(),
            columns: [Column::EMPTY; 3],
            took: ends.then(Vec::new),
            clients: Numbers::default(),
            endpoints: Numbers::default(),
            identity: Vec::new(),
            order: Order::default(),
            skipped: IndexMap::new(),
            tally: Tally::default(),
        }
    }

    /// The folder from which paths start.
    pub fn folder(&self) -> &'c Path {
        self.context.folder
    }

    /// Whether there is no request.
    pub fn is_empty(&self) -> bool {
        self.stamps.is_empty()
    }

    /// Whether there are more requests than may be.
    pub fn is_full(&self) -> bool {
        self.stamps.len() > MOST
    }

    /// The next request of the record, from line `line`.
    pub fn push(&mut self, request: &Request, line: u64) {
        let Request { stamp, who, endpoint, cost, took } = request;
        write_identity(who, &mut self.identity);
        let client = self.clients.get(&self.identity, || {
            let client = client(who);
            let nameless = who.address.is_some() && client.address.is_none();
            self.tally.clients_without_address += u64::from(nameless);
            self.context.client(client)
        });
        let endpoint = self.endpoints.get(endpoint, || self.context.endpoint(&readable(endpoint)));
        let index = self.stamps.len();
        for (column, value) in self.columns.iter_mut().zip([client, endpoint, *cost]) {
            column.push(index, value);
        }
        self.order.push(stamp.at, line);
        self.stamps.push(stamp.at);
        self.tally.finer_than_seconds += u64::from(stamp.at.0 % SECOND as i64 != 0);
        self.tally.local += u64::from(stamp.local);
        self.tally.leap += u64::from(stamp.leap);
        if let Some(all) = &mut self.took {
            all.push(took.unwrap_or(Span::ZERO));
            self.tally.without_duration += u64::from(took.is_none());
        }
    }

    /// So many lines, the first of them `first`, are left out.
    pub fn skip(&mut self, reason: Cow<'static, str>, first: u64, lines: u64) {
        match self.skipped.get_mut(&reason) {
            Some(skipped) => skipped.lines += lines,
            None => {
                let shown = reason.clone().into_owned();
                self.skipped.insert(reason, Skipped { reason: shown, lines, first });
            }
        }
    }

    /// The reason for which most lines were left out.
    pub fn commonest_reason(&self) -> Option<&Skipped> {
        self.skipped.values().rev().max_by_key(|skipped| skipped.lines)
    }

    /// The source of all requests; `input` completed; and how whole seconds were spread.
    pub fn finish(
        self,
        input: Input,
        wanted: Option<Spread>,
        format_notes: Vec<String>,
    ) -> (Box<dyn Source>, Input, Spread) {
        let seconds = self.tally.finer_than_seconds == 0;
        let spread = match wanted {
            _ if !seconds => Spread::None,
            Some(spread) => spread,
            None => Spread::Even,
        };
        let used = self.stamps.len() as u64;
        let mut notes = format_notes;
        notes.extend(self.order.notes());
        notes.extend(spread_note(seconds, spread, wanted));
        notes.extend(self.tally.notes(self.took.is_some()));
        let mut skipped: Vec<Skipped> = self.skipped.into_values().collect();
        skipped.sort_by_key(|skipped| (std::cmp::Reverse(skipped.lines), skipped.first));
        let lines = used + skipped.iter().map(|skipped| skipped.lines).sum::<u64>();
        let input = Input { lines, used, skipped, notes, ..input };

        let mut stamps = self.stamps;
        let mut order = None;
        if !self.order.is_sorted() {
            let sorting = sorting(&stamps);
            stamps = reordered(&stamps, &sorting);
            order = Some(sorting);
        }
        let (columns, took) = (self.columns, self.took);
        let position = self.context.position as u64;
        let stamped = Stamped { stamps, order, columns, took, spread, position };
        let source = stamped.under(self.context.seed);
        (Box::new(source), input, spread)
    }
}

fn spread_note(seconds: bool, spread: Spread, wanted: Option<Spread>) -> Option<String> {
    if seconds {
        return Some(format!(
            "Stamps are whole seconds: the requests of each second {}; another `spread` gives \
             other numbers.",
            spread.done()
        ));
    }
    wanted.map(|wanted| {
        let name = wanted.name();
        format!("`spread = \"{name}\"` has no effect: stamps are finer than a second.")
    })
}

impl Tally {
    fn notes(&self, ends: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if ends {
            let without = match self.without_duration {
                0 => String::new(),
                some => format!(
                    "; {} none, and arrived when stamped",
                    count(some, "request has", "requests have")
                ),
            };
            notes.push(format!("Arrivals are the stamps less the durations{without}."));
        }
        if self.local > 0 {
            let stamps =
                count(self.local, "stamp without an offset is", "stamps without an offset are");
            notes.push(format!("{stamps} taken as UTC."));
        }
        if self.leap > 0 {
            let stamps = count(self.leap, "leap second (:60) is", "leap seconds (:60) are");
            notes.push(format!("{stamps} taken as the second after."));
        }
        if self.clients_without_address > 0 {
            let clients = count(
                self.clients_without_address,
                "client is known by a name that is no IP address",
                "clients are known by names that are no IP addresses",
            );
            notes.push(format!("{clients}."));
        }
        notes
    }
}

/// Writes who asked as bytes that differ if anything differs.
fn write_identity(who: &Who, identity: &mut Vec<u8>) {
    identity.clear();
    for part in [who.name, who.api_key, who.address, who.tenant, who.tier] {
        let length = part.map_or(0, |part| part.len() as u64 + 1);
        // Most parts are absent or short: one byte tells their length.
        match u8::try_from(length) {
            Ok(short) if short < u8::MAX => identity.push(short),
            _ => {
                identity.push(u8::MAX);
                identity.extend_from_slice(&length.to_le_bytes());
            }
        }
        identity.extend_from_slice(part.unwrap_or(&[]));
    }
}

fn client(who: &Who) -> Client {
    let address = who.address.and_then(|text| {
        let bare = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]"));
        let text = std::str::from_utf8(bare.unwrap_or(text)).ok()?;
        // ::ffff:192.0.2.7 is 192.0.2.7, as seen by a server that listens on both.
        text.parse().ok().map(|address: IpAddr| address.to_canonical())
    });
    let text = |part: Option<&[u8]>| part.map(readable);
    let shown = address.map(|address| address.to_string()).or_else(|| text(who.address));
    let name = text(who.name).or_else(|| text(who.api_key)).or(shown).or_else(|| text(who.tenant));
    Client {
        name: name.unwrap_or_else(|| "all".to_owned()),
        address,
        api_key: text(who.api_key),
        tenant: text(who.tenant),
        tier: text(who.tier),
    }
}
