//! Keys and filters: their own texts, and what they make of the entries of a log. The first line is a key, the
//! second has filters with tabs between them, the rest is a log.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use ratesim::inspect::{Census, Rules};
use ratesim::log::Zone;
use ratesim::log::filter::Filter;
use ratesim::log::format::{FORMATS, Layout, Parsed};
use ratesim::log::key::{Key, PARTS};
use ratesim::log::limited::Handling;
use ratesim::log::names::Names;
use ratesim::log::wanted::Wanted;
use ratesim::time::Span;

use crate::Target;
use crate::choices::Choices;

/// The target.
pub const TARGET: Target = Target { name: "keys", seeds, words, run };

fn run(data: &[u8]) {
    let mut choices = Choices(data);
    let format = choices.of(&FORMATS.iter().collect::<Vec<_>>());
    let handling = choices.of(&[Handling::Keep, Handling::Drop, Handling::DropRetries]);
    let zone = choices.of(&["UTC", "Europe/Berlin", "-11:30"]);
    let zone = Zone::parse(zone).map_or(TimeZone::UTC, |zone| zone.clocks().clone());
    let (key, filters) = (choices.line(), choices.line());
    let key = key_of(key);
    let filters: Vec<Filter> = filters.split('\t').filter_map(filter_of).collect();
    let refused = vec![429, 403];
    let within = Span::from_secs(60);
    let rules = Rules { key: key.clone(), filters, zone, refused, within, handling };
    let mut wanted = Wanted::default();
    let Ok(mut census) = Census::new(rules, &mut wanted) else { return };
    let mut reader = key.reader(&mut wanted);
    let layout = Layout { wanted: wanted.fields().to_vec(), ..Layout::default() };
    let Ok(mut parser) = (format.open)(&layout) else { return };
    let mut names = Names::default();
    let mut met: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    let mut counted = 0;
    let mut rest = choices.0;
    while !rest.is_empty() {
        let end = parser.end(rest).map_or(rest.len(), |end| end.feed);
        let (line, more) = rest.split_at(end);
        rest = more.get(1..).unwrap_or_default();
        let Ok(Parsed::Entry(entry)) = parser.parse(line) else { continue };
        let mut bytes = Vec::new();
        reader.append(&entry, &mut bytes);
        let next = met.len() as u32;
        let number = *met.entry(bytes.clone()).or_insert(next);
        assert_eq!(names.get(&bytes, || next), number);
        let shown = key.name(&bytes);
        assert!(!shown.chars().any(char::is_control), "{shown:?}");
        counted += u64::from(census.take(&entry, entry.stamp.at));
    }
    assert_eq!(census.len() as u64, counted);
    if let Some(figures) = census.figures(3) {
        assert_eq!(figures.requests, counted);
    }
}

/// A key, which reads the same as it is written.
fn key_of(text: &str) -> Key {
    let Ok(key) = Key::parse(text) else { return Key::address() };
    let shown = key.to_string();
    assert_eq!(Key::parse(&shown).as_ref(), Ok(&key), "{shown}");
    key
}

/// A filter, which reads the same as it is written.
fn filter_of(text: &str) -> Option<Filter> {
    let filter = Filter::parse(text).ok()?;
    let shown = filter.to_string();
    let again = Filter::parse(&shown).map(|filter| filter.to_string());
    assert_eq!(again.as_ref(), Ok(&shown));
    Some(filter)
}

fn seeds() -> Vec<Vec<u8>> {
    let keys = ["address/24/56+user", "path+method", "header:x-api-key", "forwarded:1"];
    let filters = [
        "",
        "status=4xx\tmethod=GET,POST",
        "path=/api/*\taddress=192.0.2.0/24",
        "time=10:00..11:00",
        "time=2015-05-17T10:00:00Z..\tkey!=192.0.2.7",
        "status!=200\tuser=frank",
    ];
    let lists = keys.iter().copied().chain(PARTS.iter().map(|part| part.name));
    let mut seeds = Vec::new();
    for (index, format) in FORMATS.iter().enumerate() {
        for (number, key) in lists.clone().enumerate() {
            let filter = filters[(number + index) % filters.len()];
            let text = format!("{key}\n{filter}\n{0}\n{0}\n", format.example);
            seeds.push([&[index as u8, number as u8, 0][..], text.as_bytes()].concat());
        }
    }
    seeds
}

fn words() -> BTreeSet<String> {
    PARTS.iter().map(|part| part.name.to_owned()).collect()
}
