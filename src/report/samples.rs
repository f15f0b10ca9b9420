//! Comparisons for the tests of the reports, with numbers as runs would give them.

use proptest::prelude::*;

use super::fleet_samples;
use crate::judge::{
    Books, Closed, Distribution, Judge, Kept, LimitTally, Peak, SubjectTally, Subjects, Tally,
    Timeline, Trial, Worst, Wrong,
};
use crate::metrics::{CaseInfo, Comparison, Reference, Repeat, Row, values};
use crate::rate::Limit;
use crate::time::Window;
use crate::time::{Instant, SECOND, Span};

pub const MINUTE: Span = Span::from_secs(60);

pub fn noon() -> Instant {
    Instant::parse("12:00:00").unwrap()
}

/// The numbers of a row, to be filled in where they are not zero.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    pub accepted: u64,
    pub rejected: u64,
    pub pending: u64,
    pub over_limit: u64,
    pub needless: u64,
    pub peak: u64,
    /// From the first to the last acceptance of the peak, in nanoseconds.
    pub peak_nanos: u64,
    pub entries: u64,
    pub bytes: u64,
    pub lockout: Span,
    pub waits: Vec<u64>,
}

/// A tally of one limit for two clients, of whom `alice` asked for all.
pub fn tally(promise: Limit, numbers: Numbers) -> Tally {
    let attempts = numbers.accepted + numbers.rejected + numbers.pending;
    let from = noon() + Span::from_secs(59);
    let peak = Peak { cost: numbers.peak, from, to: from + Span::from_nanos(numbers.peak_nanos) };
    let alice = SubjectTally {
        promise: Some(promise),
        attempts,
        accepted: numbers.accepted,
        rejected: numbers.rejected,
        over_limit: numbers.over_limit,
        peak: Some(peak.cost),
        longest_lockout: numbers.lockout,
    };
    let window = Window { start: noon(), end: noon() + Span::from_secs(180) };
    let mut timeline = Timeline::over(window);
    timeline.width = MINUTE;
    timeline.bins.truncate(3);
    timeline.bins[0].offered = attempts;
    timeline.bins[1].accepted = numbers.accepted;
    timeline.bins[1].window_max = numbers.peak;
    let mut queue_waits = Distribution::default();
    numbers.waits.iter().for_each(|&nanos| queue_waits.record(Span::from_nanos(nanos)));
    Tally {
        books: Books::of_open_loop(attempts, numbers.accepted, numbers.rejected, numbers.pending),
        over_limit: numbers.over_limit,
        needless_rejections: numbers.needless,
        wrong: None,
        limits: vec![LimitTally {
            name: promise.to_string(),
            promise,
            attempts,
            accepted: numbers.accepted,
            refused: numbers.rejected,
            over_limit: numbers.over_limit,
            needless_rejections: numbers.needless,
            worst: Some(Worst { key: 0, promise, peak: Some(peak) }),
            keys: [("alice", alice)].into_iter().collect(),
        }],
        clients: client("alice", alice),
        timeline,
        queue_waits,
        denial_waits: Distribution::default(),
        denied_for_ever: 0,
        closed: None,
        fleet: None,
        kept: Kept { keys_max: 1, entries_max: numbers.entries, bytes_max: numbers.bytes },
    }
}

/// A list of one client who met with what a key did.
fn client(name: &str, key: SubjectTally) -> Subjects {
    [(name, SubjectTally { promise: None, peak: None, ..key })].into_iter().collect()
}

pub fn row(algorithm: &str, tally: Tally) -> Row {
    let (algorithm, repeats) = (algorithm.to_owned(), Vec::new());
    Row { case: 0, algorithm, kind: 0, seed: 1, reference: None, tally, repeats }
}

pub fn case(name: &str, promise: Limit) -> CaseInfo {
    CaseInfo {
        name: name.to_owned(),
        limits: vec![(promise.to_string(), format!("{promise} for each client"))],
        sending: None,
        fleet: None,
        window: Window { start: noon(), end: noon() + Span::from_secs(180) },
        notes: Vec::new(),
    }
}

/// Two algorithms with pasts of their own, and two of which one is compared with the other over the same past.
pub fn compared() -> Comparison {
    let mut comparison = boundary();
    comparison.rows.truncate(4);
    let rows = [
        ("log, all counted", 1, false, false, [0, 31]),
        ("sliding-window-log", 1, false, false, [0, 0]),
        ("counter, all counted", 2, true, true, [1, 0]),
        ("sliding-window-counter", 2, false, false, [9, 5]),
    ];
    for (row, (name, kind, named, same_past, [allowed, limited])) in
        comparison.rows.iter_mut().zip(rows)
    {
        name.clone_into(&mut row.algorithm);
        row.kind = kind;
        row.tally.wrong = Some(Wrong { allowed, limited });
        let name = if named { "log, all counted" } else { "sliding-window-log" }.to_owned();
        row.reference = Some(Reference { name, named, same_past });
    }
    comparison
}

/// A full quota on each side of a minute edge, through all six.
pub fn boundary() -> Comparison {
    let limit = Limit::new(100, MINUTE);
    let of = |accepted, over_limit, peak_nanos, entries, bytes| Numbers {
        accepted,
        rejected: 200 - accepted,
        over_limit,
        peak: accepted,
        peak_nanos,
        entries,
        bytes,
        ..Numbers::default()
    };
    let queued = Numbers {
        needless: 41,
        peak: 100,
        waits: (1..=159).map(|n| n * SECOND * 6 / 10).take(99).collect(),
        ..of(159, 0, 59_400_000_000, 1, 16)
    };
    let rows = vec![
        row("fixed-window", tally(limit, of(200, 100, 1_990_000_000, 1, 24))),
        row("sliding-window-log", tally(limit, of(100, 0, 0, 100, 856))),
        row("sliding-window-counter", tally(limit, of(101, 1, 1_990_000_000, 2, 32))),
        row("token-bucket", tally(limit, of(103, 3, 1_990_000_000, 2, 24))),
        row("leaky-bucket", tally(limit, queued)),
        row("gcra", tally(limit, of(103, 3, 1_990_000_000, 1, 16))),
    ];
    Comparison {
        scenario: "boundary".to_owned(),
        about: "A full quota on each side of a minute edge: what a window that starts anew \
                forgets, and what the others remember."
            .to_owned(),
        cases: vec![case("", limit)],
        baseline: 0,
        rows,
    }
}

/// The same with and without jitter, at other limits, with two clients and a note.
pub fn cases() -> Comparison {
    let mut comparison = boundary();
    comparison.rows.truncate(3);
    let strict = Limit::new(10, MINUTE);
    comparison.cases = vec![case("plain", Limit::new(100, MINUTE)), case("strict", strict)];
    for case in &mut comparison.cases {
        case.notes.push(
            "access.log: times are whole seconds, requests of one second were left at its start"
                .to_owned(),
        );
    }
    let other = Numbers {
        accepted: 9,
        rejected: 191,
        needless: 4,
        peak: 9,
        entries: 2,
        bytes: 1_640,
        lockout: Span::from_secs(130),
        ..Numbers::default()
    };
    let mut other = row("token-bucket", tally(strict, other));
    other.case = 1;
    other.seed = 7;
    comparison.rows.push(other.clone());
    other.algorithm = "gcra".to_owned();
    comparison.rows.push(other);
    comparison
}

/// The same in four replicas that differ a little in what they accept.
pub fn replicated() -> Comparison {
    let mut comparison = cases();
    for (index, row) in comparison.rows.iter_mut().enumerate() {
        row.repeats = (1..4).map(|replica| repeat(row, replica * index as u64)).collect();
    }
    comparison
}

/// A further run in which so many fewer were accepted.
fn repeat(row: &Row, fewer: u64) -> Repeat {
    let mut tally = row.tally.clone();
    tally.books.accepted = tally.books.accepted.saturating_sub(fewer);
    tally.over_limit = tally.over_limit.saturating_sub(fewer);
    let fleet = tally.fleet.take();
    fleet_samples::give(&mut tally, fleet);
    // What recovered in the first run may not do so in another.
    if let Some(found) = &mut tally.closed
        && fewer % 3000 == 2000
    {
        *found = closed(&(60..180).flat_map(|secs| [secs; 2]).collect::<Vec<_>>());
    }
    Repeat { seed: 7 + fewer, values: values(&tally), expected: Vec::new() }
}

/// Names and numbers that are hard on columns.
pub fn hostile() -> Comparison {
    let limit = Limit::new(1 << 32, MINUTE);
    let numbers = Numbers {
        accepted: 24_000_123,
        rejected: 1_234_567_890,
        pending: 12,
        over_limit: 987_654,
        needless: 22_222_222,
        peak: 5_000_000_000,
        peak_nanos: 1,
        entries: 10_000_000,
        bytes: 160_000_000,
        lockout: Span::from_secs(4_000_000),
        waits: vec![Span::MAX.nanos()],
    };
    let mut comparison = boundary();
    comparison.cases = vec![case("", limit)];
    comparison.about = String::new();
    comparison.rows = vec![
        row("token-bucket with a burst of 50 and interval refill", tally(limit, numbers)),
        row("=cmd|' /C calc'!A0, \"quoted\"\n\u{1b}[31mred", tally(limit, Numbers::default())),
    ];
    comparison.rows[1].tally.wrong = Some(Wrong { allowed: 1, limited: 2 });
    let clients = &mut comparison.rows[0].tally.clients;
    *clients = client("@client\u{202e}", clients.get(0));
    comparison
}

/// What a closed loop found in three minutes that a trigger from 30 s to 60 s disturbs: one attempt at the
/// start, and retries at these seconds.
fn closed(retries: &[u64]) -> Closed {
    let at = |secs: u64| noon() + Span::from_secs(secs);
    let run = Window { start: noon(), end: at(180) };
    let trigger = Window { start: at(30), end: at(60) };
    let mut judge = Judge::new(run, &[], 1).with_requests(Some(trigger));
    let retry = Trial::Retry { obeys: true };
    let first = [(0, Trial::First)].into_iter();
    for (secs, trial) in first.chain(retries.iter().map(|&secs| (secs, retry))) {
        judge.offered(at(secs), 0, &[]);
        judge.tried(at(secs), trial);
    }
    let pending = 1 + retries.len() as u64;
    let tally = judge.finish(pending, 0, |_, _| String::new(), |_| String::new());
    tally.closed.unwrap_or_else(|| unreachable!("requests were told"))
}

/// Makes a tally that of a closed loop with so many requests, of which so many were given up; those that
/// succeeded took so many seconds.
fn close(tally: &mut Tally, requests: u64, gave_up: u64, took: u64, retries: &[u64]) {
    let succeeded = requests - gave_up;
    let mut closed = closed(retries);
    (0..succeeded.min(100)).for_each(|_| closed.time_to_success.record(Span::from_secs(took)));
    tally.books = Books { requests, succeeded, gave_up, unfinished: 0, ..tally.books };
    tally.timeline.bins[0].retries = tally.books.attempts.saturating_sub(requests);
    tally.timeline.bins[1].succeeded = succeeded;
    tally.timeline.bins[2].gave_up = gave_up;
    tally.closed = Some(closed);
}

/// A closed loop: what clients do after a rejection, in four cases.
pub fn retries() -> Comparison {
    let limit = Limit::new(100, MINUTE);
    let cases = ["no retries", "at once", "fixed delay of a second", "backoff with jitter"];
    let of = |accepted: u64, rejected: u64, needless| Numbers {
        accepted,
        rejected,
        needless,
        peak: 100,
        bytes: 24,
        entries: 2,
        ..Numbers::default()
    };
    let mut rows = vec![
        row("token-bucket", tally(limit, of(9_300, 2_700, 0))),
        row("token-bucket", tally(limit, of(9_412, 1_204_331, 12))),
        row("token-bucket", tally(limit, of(11_870, 63_504, 3))),
        row("token-bucket", tally(limit, of(11_986, 4_117, 0))),
    ];
    let herd: Vec<u64> = (0..40).map(|n| if n < 30 { 61 } else { 60 + n }).collect();
    let spread: Vec<u64> = (60..120).collect();
    let storm: Vec<u64> = (60..180).flat_map(|secs| [secs; 9]).collect();
    let found = [(2_700, 0, &[][..]), (2_588, 41, &storm), (130, 118, &herd), (14, 12, &spread)];
    for (index, (row, (gave_up, took, retries))) in rows.iter_mut().zip(found).enumerate() {
        row.case = index;
        close(&mut row.tally, 12_000, gave_up, took, retries);
    }
    Comparison {
        scenario: "retries".to_owned(),
        about: "What clients do after a rejection.".to_owned(),
        cases: cases.iter().map(|name| case(name, limit)).collect(),
        baseline: 0,
        rows,
    }
}

/// The same in four replicas: after a fixed delay the last of them never recovers, at once none does.
pub fn replicated_retries() -> Comparison {
    let mut comparison = retries();
    for row in &mut comparison.rows {
        row.repeats = (1..4).map(|replica| repeat(row, 10 * replica)).collect();
    }
    let mut tally = comparison.rows[2].tally.clone();
    tally.closed = Some(closed(&(60..180).flat_map(|secs| [secs; 2]).collect::<Vec<_>>()));
    comparison.rows[2].repeats[2].values = values(&tally);
    comparison
}

fn numbers() -> impl Strategy<Value = Numbers> {
    let large = || prop_oneof![0_u64..3, 0_u64..2_000_000, 0..u64::from(u32::MAX) * 1000];
    let counts = (large(), large(), 0_u64..3, large(), large());
    let rest = (large(), large(), large(), large(), large());
    (counts, rest, prop::collection::vec(0..Span::MAX.nanos(), 0..3)).prop_map(
        |((accepted, rejected, pending, over_limit, needless), rest, waits)| {
            let (peak, peak_nanos, entries, bytes, lockout) = rest;
            let lockout = Span::from_nanos(lockout);
            Numbers {
                accepted,
                rejected,
                pending,
                over_limit,
                needless,
                peak,
                peak_nanos,
                entries,
                bytes,
                lockout,
                waits,
            }
        },
    )
}

/// Any comparison of up to five rows in up to two cases.
pub fn any() -> impl Strategy<Value = Comparison> {
    let name = || prop_oneof!["[a-z-]{1,30}", "\\PC{0,60}", ".{0,9}"];
    let requests =
        (0..3_000_000_u64, 0..4_000_000_000_u64, prop::collection::vec(0..180_u64, 0..9));
    let closed = prop::option::of(requests);
    let fleet = prop::option::of(fleet_samples::any());
    let one = (0_usize..2, name(), 0_u64..200, numbers(), 0_u64..3, closed, fleet);
    let rows = prop::collection::vec(one, 0..6);
    let infos = prop::array::uniform2(prop::option::of(fleet_samples::any_info()));
    let whole = (name(), "\\PC{0,200}", [name(), name()], infos, rows);
    whole.prop_map(|(scenario, about, cases, infos, rows)| {
        let mut rows: Vec<Row> = rows
            .into_iter()
            .map(|(case, algorithm, requests, numbers, repeats, closed, fleet)| {
                let mut tally = tally(Limit::new(requests, MINUTE), numbers);
                if let Some((requests, took, mut retries)) = closed {
                    retries.sort_unstable();
                    close(&mut tally, requests, requests / 3, took, &retries);
                }
                fleet_samples::give(&mut tally, fleet);
                let row = Row { case, ..row(&algorithm, tally) };
                let repeats = (0..repeats).map(|replica| repeat(&row, replica * 1000)).collect();
                Row { repeats, ..row }
            })
            .collect();
        rows.sort_by_key(|row| row.case);
        let cases = cases.iter().zip(infos);
        let cases =
            cases.map(|(name, fleet)| CaseInfo { fleet, ..case(name, Limit::new(7, MINUTE)) });
        let cases = cases.collect();
        Comparison { scenario, about, cases, baseline: 0, rows }
    })
}
