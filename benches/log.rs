//! How fast a log becomes decisions, beside what everybody has to count its lines and its addresses.
//!
//! `cargo bench --bench log` makes a combined log in a temporary folder: a busy site's, 60 requests a second, of
//! 250,000 addresses with unequal shares. In every round, one thing after another: `wc -l` counts its lines; `mawk` (or
//! `awk`) counts its addresses; the log is read to columns in memory; and `ratesim replay` runs all six algorithms over
//! it, charts and digest included, with one thread and with two. It prints medians, by the clock and by the processor,
//! and how they compare with counting addresses. Machines are noisy; the ratios of one run are what can be compared.
//!
//! `RATESIM_BENCH_BYTES` changes the length of the log, which is 1 GB.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ratesim::scenario::{Changes, Scenario};
use ratesim::traffic::{Readers, build_with};

const ROUNDS: usize = 5;
const BYTES: u64 = 1_000_000_000;
const ADDRESSES: f64 = 250_000.0;

/// What follows the time of a line: real requests are of very different lengths.
const TAILS: [&str; 6] = [
    r#""GET /favicon.ico HTTP/1.1" 200 3638 "-" "-""#,
    r#""GET /blog/tags/puppet?flav=rss20 HTTP/1.1" 200 14872 "-" "UniversalFeedParser/4.2-pre-314-svn +http://feedparser.org/""#,
    r#""GET /presentations/logging-at-scale/images/ahhh___rage_face.png HTTP/1.1" 200 24090 "http://example.com/presentations/logging-at-scale/" "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.77 Safari/537.36""#,
    r#""GET /style2.css HTTP/1.1" 304 - "http://example.com/projects/xdotool/" "Mozilla/5.0 (X11; Linux x86_64; rv:27.0) Gecko/20100101 Firefox/27.0""#,
    r#""GET /images/web/2009/banner.png HTTP/1.1" 200 52315 "http://www.example.org/search?q=rate+limits&client=firefox-a&channel=fflb" "Mozilla/5.0 (Windows NT 6.1; WOW64; rv:27.0) Gecko/20100101 Firefox/27.0""#,
    r#""POST /api/v2/orders/1f0b9c1e-8f0a-4a3e-9b1d-0123456789ab/items?expand=price,stock HTTP/1.1" 429 0 "https://shop.example.com/basket?step=2" "okhttp/4.12.0 (Android 14; Pixel 8; build AP2A.240805.005) shop/5.17.2""#,
];

/// Numbers that look random and are the same in every run (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Writes a log of so many bytes, and says how many lines it has.
fn write_log(path: &Path, bytes: u64) -> io::Result<u64> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut written, mut lines) = (0, 0_u64);
    let mut line = Vec::new();
    while written < bytes {
        // The share of the n-th address is about 1 / n; which one it is looks random.
        let rank = libm::pow(ADDRESSES, numbers.part()) as u64;
        let [_, a, b, c, d, ..] = rank.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        let tail = TAILS[numbers.next() as usize % TAILS.len()];
        let second = lines / 60;
        let (day, hour) = (1 + second / 86_400, second / 3600 % 24);
        let (minute, second) = (second / 60 % 60, second % 60);
        line.clear();
        writeln!(
            line,
            "{a}.{b}.{c}.{d} - - [{day:02}/May/2015:{hour:02}:{minute:02}:{second:02} +0000] {tail}"
        )?;
        file.write_all(&line)?;
        written += line.len() as u64;
        lines += 1;
    }
    file.flush()?;
    Ok(lines)
}

/// How long something took by the clock, and how long processors worked for it where the system tells.
#[derive(Clone, Copy)]
struct Took {
    clock: Duration,
    processors: Option<Duration>,
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn timed(work: impl FnOnce()) -> Took {
    let (begun, before) = (Instant::now(), processors());
    work();
    let clock = begun.elapsed();
    Took { clock, processors: processors().zip(before).map(|(after, before)| after - before) }
}

/// How long processors worked for this process and the children that have ended, as Linux tells it in hundredths of
/// a second.
fn processors() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may have spaces; what follows starts with the third field.
    let fields: Vec<&str> = told.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11..15)?.iter().map(|ticks| ticks.parse::<u64>().ok());
    Some(Duration::from_millis(10 * ticks.sum::<Option<u64>>()?))
}

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().expect("the program starts");
    assert!(status.success(), "{command:?}");
}

/// The quickest of these that is installed.
fn awk() -> &'static str {
    let works = |name: &&&str| {
        Command::new(name).arg("BEGIN { exit 0 }").status().is_ok_and(|status| status.success())
    };
    ["mawk", "awk"].iter().find(works).expect("there is an awk")
}

fn replay(folder: &Path, threads: &str) {
    let out = folder.join("output");
    run(Command::new(env!("CARGO_BIN_EXE_ratesim"))
        .args([
            "replay",
            "access.log",
            "--limit",
            "100/1m",
            "--quiet",
            "--threads",
            threads,
            "--out",
        ])
        .arg(out)
        .current_dir(folder));
}

/// Reads the log, on this thread, and says how many requests it has.
fn columns(folder: &Path) -> u64 {
    let text = "name = \"bench\"\nlimit = \"100/1m\"\n[[traffic]]\nkind = \"log\"\npath = \"access.log\"\n";
    let scenario = Scenario::parse(Path::new("bench.toml"), text.to_owned(), &Changes::default())
        .expect("the scenario is right");
    let readers = Readers { threads: 1, ..Readers::default() };
    let built = build_with(&scenario.cases[0], folder, readers).expect("the log is right");
    built.0.bound()
}

#[expect(clippy::disallowed_methods, reason = "how long a bench takes is for its user to say")]
fn bytes() -> u64 {
    let wanted = std::env::var("RATESIM_BENCH_BYTES");
    wanted.ok().and_then(|text| text.parse().ok()).unwrap_or(BYTES)
}

#[expect(clippy::print_stdout, reason = "a bench prints what it measured")]
fn main() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let log = folder.join("access.log");
    let lines = write_log(&log, bytes()).expect("there is room for a log");
    let length = log.metadata().expect("it is there").len();
    let awk = awk();
    const NAMES: [&str; 5] = ["wc -l", "addresses", "columns", "replay, 1 thread", "replay, 2"];
    let mut rounds: [Vec<Took>; NAMES.len()] = Default::default();
    for _ in 0..ROUNDS {
        let count = "{ c[$1]++ } END { n = 0; for (a in c) n++; print n }";
        let took = [
            timed(|| run(Command::new("wc").arg("-l").arg(&log))),
            timed(|| run(Command::new(awk).arg(count).arg(&log))),
            timed(|| assert_eq!(columns(folder), lines)),
            timed(|| replay(folder, "1")),
            timed(|| replay(folder, "2")),
        ];
        rounds.iter_mut().zip(took).for_each(|(all, took)| all.push(took));
    }
    let median = |all: &[Took], of: fn(&Took) -> Option<Duration>| {
        let mut all: Vec<Duration> = all.iter().filter_map(of).collect();
        all.sort();
        all.get(all.len() / 2).copied()
    };
    println!("{length} bytes, {lines} lines, medians of {ROUNDS} rounds; addresses by {awk}");
    println!(
        "{:<18} {:>8} {:>8} {:>12} {:>12} {:>12}",
        "", "clock s", "cpu s", "MB/s", "x addresses", "by the cpu"
    );
    let by_clock = |took: &Took| Some(took.clock);
    let by_processor = |took: &Took| took.processors;
    let base = [median(&rounds[1], by_clock), median(&rounds[1], by_processor)];
    for (name, all) in NAMES.iter().zip(&rounds) {
        let found = [median(all, by_clock), median(all, by_processor)];
        let [clock, processor] = found.map(|time| time.map_or(f64::NAN, |time| time.as_secs_f64()));
        let [base, base_processor] =
            base.map(|time| time.map_or(f64::NAN, |time| time.as_secs_f64()));
        println!(
            "{name:<18} {clock:>8.2} {processor:>8.2} {:>12.0} {:>12.2} {:>12.2}",
            length as f64 / clock / 1e6,
            clock / base,
            processor / base_processor,
        );
    }
}
