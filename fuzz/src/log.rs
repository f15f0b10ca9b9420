//! Files in every format of the registry, or in one that is to be told, as they are, packed, or packed and
//! then spoiled. What a file gives does not depend on how it is packed and on who reads it.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::ControlFlow;

use ratesim::log::format::{Column, FORMATS, Fault, Layout, Stamps};
use ratesim::log::read::{File, Options, Report, Sink, Spot, Stop, read};
use ratesim::log::{Entry, Field, TimeUnit, Unit, Zone};
use ratesim::time::Instant;

use crate::Target;
use crate::choices::Choices;
use crate::file;

/// The target.
pub const TARGET: Target = Target { name: "log", seeds, words: BTreeSet::new, run };

/// An expression for seeds of the format `regex`.
const PATTERN: &str = r"^(?<time>\S+ \S+) client=(?<address>\S+) took (?<duration>\d+)";

/// How the text of an input becomes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packed {
    /// The bytes are the file.
    Not,
    /// In two members.
    Gzip,
    /// In two frames.
    Zstd,
}

/// An entry as a sink is given it.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    line: u64,
    at: Instant,
    took: Option<u64>,
    ends: bool,
    values: Vec<Option<Vec<u8>>>,
}

struct Collected {
    wanted: usize,
    seen: Vec<Seen>,
}

impl Sink for Collected {
    fn entry(&mut self, entry: &Entry, spot: Spot) -> Result<bool, Fault> {
        let values =
            (0..=self.wanted).map(|position| entry.get(position).map(<[u8]>::to_vec)).collect();
        let took = entry.took.map(|took| took.nanos());
        self.seen.push(Seen { line: spot.line, at: entry.stamp.at, took, ends: spot.ends, values });
        Ok(true)
    }
}

/// What a file gives under some options.
fn outcome(bytes: &[u8], options: &Options) -> Result<(Vec<Seen>, Report), String> {
    let file = File { path: file::with(bytes), name: "log".to_owned(), place: None };
    let mut sink = Collected { wanted: options.layout.wanted.len(), seen: Vec::new() };
    match read(&[file], options, &mut sink, &mut |_, _| ControlFlow::Continue(())) {
        Ok(mut reports) => {
            let report = reports.remove(0);
            assert_eq!(report.used, sink.seen.len() as u64);
            assert_eq!(report.bytes, bytes.len() as u64);
            let skipped: u64 = report.skipped.iter().map(|skipped| skipped.lines).sum();
            assert_eq!(report.lines, report.used + report.passed + skipped);
            Ok((sink.seen, report))
        }
        Err(Stop::Problems(problems)) => {
            assert!(!problems.is_empty(), "a reason is given");
            Err(problems.into_iter().map(|problem| problem.message + "\n").collect())
        }
        Err(Stop::Interrupted) => panic!("nobody interrupted"),
    }
}

fn run(data: &[u8]) {
    let mut choices = Choices(data);
    let formats: Vec<_> = FORMATS.iter().map(Some).chain([None]).collect();
    let format = choices.of(&formats);
    let packed = choices.of(&[Packed::Not, Packed::Gzip, Packed::Zstd]);
    let threaded = choices.of(&[false, false, false, false, false, false, false, true]);
    let all: Vec<Field> = Field::names().map(Field::of).collect();
    let some = ["header:x-api-key", "header:user-agent", "request.host", "ip", "path"];
    let named: Vec<Field> = all.iter().cloned().chain(some.map(Field::of)).collect();
    let wanted = choices.of(&[vec![], vec![Field::Address], all, named]);
    let column = |name: &str| Some(Column { name: name.to_owned(), place: None });
    let layout = Layout {
        wanted,
        time: choices.of(&[None, None, column("at"), column("a.b"), column("")]),
        duration: choices.of(&[None, None, column("took"), column("a.c")]),
        columns: match choices.of(&[None, None, column("who"), column("a.d")]) {
            Some(column) => vec![(Field::Address, column)],
            None => vec![],
        },
        named_only: choices.of(&[false, false, false, true]),
        time_unit: choices.of(&[
            TimeUnit::Auto,
            TimeUnit::Given(Unit::Seconds),
            TimeUnit::Given(Unit::Nanoseconds),
        ]),
        duration_unit: choices.of(&[None, Some(Unit::Seconds), Some(Unit::Microseconds)]),
        delimiter: choices.of(&[None, None, Some(b';'), Some(b' '), Some(0)]),
        pattern: match format {
            Some(format) if format.name == "regex" => column(choices.line()),
            _ => None,
        },
        place: None,
    };
    let zone = choices.of(&["", "", "Europe/Berlin", "-11:30"]);
    let options = Options {
        format,
        layout,
        zone: Zone::parse(zone).ok(),
        stamps: choices.of(&[None, Some(Stamps::Start), Some(Stamps::End)]),
        strict: choices.of(&[false, false, false, true]),
        by_time: false,
        threads: 1,
    };
    let text = choices.0;
    let plain = outcome(text, &options);
    if threaded {
        compare(&plain, &outcome(text, &Options { threads: 2, ..options.clone() }));
    }
    if packed == Packed::Not || is_packed(text) {
        return;
    }
    compare(&plain, &outcome(&pack(text, packed), &options));
}

/// The same was read, from whatever file.
fn compare(one: &Result<(Vec<Seen>, Report), String>, other: &Result<(Vec<Seen>, Report), String>) {
    match (one, other) {
        (Ok((seen, report)), Ok((other_seen, other))) => {
            assert_eq!(seen, other_seen);
            assert_eq!(report.format, other.format);
            assert_eq!(report.skipped, other.skipped);
            assert_eq!(report.zone_notes, other.zone_notes);
        }
        (Err(one), Err(other)) => assert_eq!(one, other),
        (one, other) => panic!("one is {one:?}, the other {other:?}"),
    }
}

/// Whether a text would be taken for a packed file, or for what is not read.
fn is_packed(text: &[u8]) -> bool {
    const MAGIC: [&[u8]; 9] = [
        b"\x1f\x8b",
        b"\x1f\x9d",
        b"BZh",
        b"\xfd7zXZ",
        b"PK\x03\x04",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\x28\xb5\x2f\xfd",
        b"",
    ];
    let skippable = matches!(text, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
    skippable || MAGIC.iter().any(|magic| !magic.is_empty() && text.starts_with(magic))
}

fn pack(text: &[u8], packed: Packed) -> Vec<u8> {
    let (first, second) = text.split_at(text.len() / 2);
    let both = match packed {
        Packed::Not => return text.to_vec(),
        Packed::Gzip => [gzip(first), gzip(second)],
        Packed::Zstd => [zstd(first), zstd(second)],
    };
    both.concat()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}

fn seeds() -> Vec<Vec<u8>> {
    // How many bytes choose.
    const HEAD: usize = 13;
    let mut seeds = Vec::new();
    for (index, format) in FORMATS.iter().enumerate() {
        let mut head = [0; HEAD];
        head[0] = index as u8;
        head[3] = 3;
        let pattern = if format.name == "regex" { format!("{PATTERN}\n") } else { String::new() };
        let example = format.example;
        let text = format!("{example}\n{example}\n");
        let seed = |head: &[u8], text: &[u8]| [head, pattern.as_bytes(), text].concat();
        seeds.push(seed(&head, text.as_bytes()));
        // Told by itself, and packed by whoever wrote it.
        head[0] = FORMATS.len() as u8;
        if format.name != "regex" {
            seeds.push([&head[..], text.as_bytes()].concat());
            seeds.push([&head[..], &gzip(text.as_bytes())].concat());
            seeds.push([&head[..], &zstd(text.as_bytes())].concat());
        }
    }
    seeds
}
