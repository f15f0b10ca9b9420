//! The sentences under a table: what a reader should take from it, at most five.

mod closed;
mod compared;
mod fleet;

use super::format::{above, count, length, span};
use super::words::{listed, printable, shorten};
use crate::judge::{Peak, Worst};
use crate::metrics::{Comparison, Row};
use crate::rate::Limit;
use crate::time::Span;

pub use compared::remark;

/// So many sentences at most.
const MOST: usize = 5;

/// The sentences, the most important first; none where nothing was run.
pub fn readings(comparison: &Comparison) -> Vec<String> {
    let first = over_limit(comparison).or_else(|| none_over_limit(comparison));
    let others = [
        compared::own_past(comparison),
        compared::same_past(comparison),
        fleet::effective_limit(comparison),
        fleet::unlimited(comparison),
        fleet::turned_down(comparison),
        fleet::stuck(comparison),
        closed::never_recovered(comparison),
        closed::cut_off(comparison),
        lockout(comparison),
        denied_for_ever(comparison),
        needless(comparison),
        waits(comparison),
    ];
    first.into_iter().chain(others.into_iter().flatten()).take(MOST).collect()
}

/// "fixed-window let 200 through in 1.99 s, twice the limit".
fn over_limit(comparison: &Comparison) -> Option<String> {
    let offenders = comparison.rows.iter().filter(|row| row.tally.over_limit > 0);
    let offenders = offenders.filter_map(|row| Offence::of(row).map(|offence| (row, offence)));
    let (worst, rows) = worst_by(offenders, |offence| offence.times())?;
    let Offence { key, promise, peak, limit } = &worst;
    let who = subject(comparison, &rows);
    let keys = &rows[0].tally.limits[*limit].keys;
    let whose = match keys.len() {
        1 => String::new(),
        _ => format!(" for {}", name(keys.name(*key))),
    };
    let how_long = match peak.to - peak.from {
        Span::ZERO => "at one instant".to_owned(),
        time => format!("in {}", span(time)),
    };
    let mut sentence = format!(
        "{who} let {} through{whose} {how_long}, {}",
        count(peak.cost),
        above(peak.cost, promise.requests)
    );
    if rows[0].tally.limits.len() > 1 && promise.requests > 0 {
        let limit = &rows[0].tally.limits[*limit].name;
        // A limit without a name of its own has its words for a name.
        sentence.push_str(&match promise.to_string() {
            words if words.starts_with(limit.as_str()) => format!(" of {words}"),
            words => format!(" of {}, {words}", name(limit)),
        });
    }
    Some(sentence)
}

/// A key's largest trailing window against its promise.
struct Offence {
    limit: usize,
    key: usize,
    promise: Limit,
    peak: Peak,
}

impl Offence {
    fn of(row: &Row) -> Option<Offence> {
        let (limit, &Worst { key, promise, peak }) = row.tally.worst()?;
        let peak = peak.filter(|peak| peak.cost > promise.requests)?;
        Some(Offence { limit, key, promise, peak })
    }

    fn times(&self) -> f64 {
        self.peak.ratio(&self.promise).unwrap_or(f64::INFINITY)
    }
}

fn none_over_limit(comparison: &Comparison) -> Option<String> {
    let row = comparison.rows.first()?;
    if comparison.rows.iter().any(|row| row.tally.over_limit > 0) {
        return None;
    }
    if comparison.rows.iter().all(|row| row.tally.books.attempts == 0) {
        return Some("nobody asked for anything".to_owned());
    }
    let mut spans = comparison.rows.iter().flat_map(|row| &row.tally.limits);
    let per = spans.next().map(|limit| limit.promise.per);
    let one_span = per.filter(|per| spans.all(|limit| limit.promise.per == *per));
    let window = match one_span {
        Some(per) => format!("any {}", length(per)),
        None => "any window".to_owned(),
    };
    Some(match comparison.rows.len() {
        1 => format!("{} let no more than the limit through in {window}", name(&row.algorithm)),
        _ => format!("no algorithm let more than the limit through in {window}"),
    })
}

/// "gcra shut alice out for 2m10s, fixed-window for 54m": the longest of the case where it is worst,
/// and the next longest.
fn lockout(comparison: &Comparison) -> Option<String> {
    let shut_out = |row: &Row| {
        let clients = &row.tally.clients;
        let all = clients.iter().enumerate().rev();
        let (most, client) = all.max_by_key(|(_, client)| client.longest_lockout)?;
        let lasted = client.longest_lockout;
        let mut limits = row.tally.limits.iter().map(|limit| limit.promise);
        let told = limits.any(|limit| limit.requests > 0 && is_long(lasted, limit.per));
        told.then(|| (name(clients.name(most)), lasted))
    };
    let mut found: Vec<(&Row, String, Span)> = Vec::new();
    for row in &comparison.rows {
        found.extend(shut_out(row).map(|(client, lasted)| (row, client, lasted)));
    }
    found.sort_by_key(|(.., lasted)| std::cmp::Reverse(*lasted));
    let worst_case = found.first()?.0.case;
    // Those that read the same are told together.
    let mut told: Vec<(Vec<&Row>, String, String)> = Vec::new();
    for (row, client, lasted) in found.into_iter().filter(|(row, ..)| row.case == worst_case) {
        let lasted = span(lasted);
        match told.iter_mut().find(|(_, whom, long)| *whom == client && *long == lasted) {
            Some((rows, ..)) => rows.push(row),
            None => told.push((vec![row], client, lasted)),
        }
    }
    let ((rows, client, lasted), others) = told.split_first()?;
    let mut sentence = format!("{} shut {client} out for {lasted}", subject(comparison, rows));
    if let Some((rows, whom, lasted)) = others.first() {
        let whom = if whom == client { String::new() } else { format!(" {whom}") };
        sentence.push_str(&format!(", {}{whom} for {lasted}", names(comparison, rows)));
    }
    Some(sentence)
}

/// Whether a lockout is news under a limit per such a span: from half of it on where that is long
/// enough to be noticed, and always where it is longer, which no client that waits as told would meet.
fn is_long(lockout: Span, per: Span) -> bool {
    const NOTICED: Span = Span::from_secs(10);
    lockout > per || (lockout >= NOTICED && lockout.nanos() >= per.nanos() / 2)
}

/// "gcra denied 16 for ever: each asked for more than can pass at once".
fn denied_for_ever(comparison: &Comparison) -> Option<String> {
    let denied = comparison.rows.iter().filter_map(|row| {
        let denied = row.tally.denied_for_ever;
        (denied > 0).then_some((row, denied))
    });
    let (denied, rows) = worst_by(denied, |denied| *denied as f64)?;
    let each = if denied == 1 { "it" } else { "each" };
    let who = subject(comparison, &rows);
    Some(format!("{who} denied {} for ever: {each} asked for more than can pass", count(denied)))
}

/// "leaky-bucket rejected 90 although the limit had room for each": told from one attempt in a
/// hundred.
fn needless(comparison: &Comparison) -> Option<String> {
    let told = comparison.rows.iter().filter_map(|row| {
        let needless = row.tally.needless_rejections;
        (needless > 0 && needless >= row.tally.books.attempts / 100).then_some((row, needless))
    });
    let (needless, rows) = worst_by(told, |needless| *needless as f64)?;
    let who = subject(comparison, &rows);
    Some(match needless {
        1 => format!("{who} rejected 1 although the limit had room for it"),
        _ => format!("{who} rejected {} although the limit had room for each", count(needless)),
    })
}

/// "leaky-bucket kept one waiting for 59.4 s".
fn waits(comparison: &Comparison) -> Option<String> {
    let waits = comparison.rows.iter().filter_map(|row| {
        let longest = row.tally.queue_waits.max().filter(|&longest| longest > Span::ZERO)?;
        Some((row, longest))
    });
    let (longest, rows) = worst_by(waits, |longest| longest.nanos() as f64)?;
    Some(format!("{} kept one waiting for {}", subject(comparison, &rows), span(longest)))
}

/// The first of the worst, and all rows of its case that are as bad.
fn worst_by<'a, T, B: PartialOrd>(
    found: impl Iterator<Item = (&'a Row, T)>,
    badness: impl Fn(&T) -> B,
) -> Option<(T, Vec<&'a Row>)> {
    let mut worst: Option<(T, Vec<&Row>)> = None;
    for (row, finding) in found {
        match &mut worst {
            Some((most, rows)) if badness(&finding) == badness(most) => {
                if rows[0].case == row.case {
                    rows.push(row);
                }
            }
            Some((most, _)) if badness(&finding) < badness(most) => {}
            _ => worst = Some((finding, vec![row])),
        }
    }
    worst
}

/// Who did it: "fixed-window", "token-bucket and gcra", and in which case.
fn subject(comparison: &Comparison, rows: &[&Row]) -> String {
    let who = names(comparison, rows);
    match comparison.cases.len() {
        1 => who,
        _ => format!("{}: {who}", name(&comparison.cases[rows[0].case].name)),
    }
}

/// The algorithms of rows.
fn names(comparison: &Comparison, rows: &[&Row]) -> String {
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        let name = name(&row.algorithm);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() > 3 && names.len() == algorithms(comparison) {
        "every algorithm".to_owned()
    } else {
        listed(&names)
    }
}

fn algorithms(comparison: &Comparison) -> usize {
    let mut names: Vec<&str> = comparison.rows.iter().map(|row| &*row.algorithm).collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

fn name(name: &str) -> String {
    shorten(&printable(name), 40)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{MINUTE, Numbers, boundary, cases, row, tally};
    use super::*;
    use crate::time::SECOND;

    fn of(rows: Vec<Row>) -> Vec<String> {
        readings(&Comparison { rows, ..boundary() })
    }

    fn burst(peak: u64, nanos: u64) -> Numbers {
        let over_limit = peak.saturating_sub(100);
        Numbers { accepted: peak, over_limit, peak, peak_nanos: nanos, ..Numbers::default() }
    }

    #[test]
    fn where_nobody_went_over_that_is_said_of_the_limits_span() {
        let limit = Limit::new(100, MINUTE);
        let within = || row("gcra", tally(limit, burst(100, SECOND)));
        assert_eq!(of(vec![within()]), ["gcra let no more than the limit through in any 60s"]);
        assert_eq!(
            of(vec![within(), within()]),
            ["no algorithm let more than the limit through in any 60s"]
        );
        let mut two = within();
        two.tally
            .limits
            .push(tally(Limit::new(9, Span::from_secs(1)), burst(9, 0)).limits.remove(0));
        assert_eq!(of(vec![two]), ["gcra let no more than the limit through in any window"]);
        assert_eq!(
            of(vec![row("gcra", tally(limit, Numbers::default()))]),
            ["nobody asked for anything"]
        );
        assert!(of(Vec::new()).is_empty());
    }

    #[test]
    fn equals_are_named_together() {
        let limit = Limit::new(100, MINUTE);
        let over = |name: &str| row(name, tally(limit, burst(130, 59 * SECOND)));
        let mut rows = vec![over("a"), over("b"), over("c"), over("d")];
        let expected = "let 130 through in 59 s, 1.3 times the limit";
        assert_eq!(of(rows.clone()), [format!("every algorithm {expected}")]);
        rows[3] = row("d", tally(limit, burst(120, 0)));
        assert_eq!(of(rows), [format!("a, b and c {expected}")]);
    }

    #[test]
    fn the_key_and_the_limit_are_named_where_there_are_several() {
        let limit = Limit::new(100, MINUTE);
        let mut two = tally(limit, burst(200, 0));
        let hourly = tally(Limit::new(1000, Span::from_secs(3600)), burst(200, 0));
        two.limits.push(hourly.limits[0].clone());
        let keys = &mut two.limits[0].keys;
        keys.extend([("bob", keys.get(0))]);
        assert_eq!(
            of(vec![row("gcra", two)]),
            ["gcra let 200 through for alice at one instant, twice the limit of 100 per 60s"]
        );
    }

    #[test]
    fn the_most_important_stands_first() {
        let mut all = cases();
        all.rows[0].tally.queue_waits.record(MINUTE);
        all.rows[1].tally.denied_for_ever = 16;
        let starts = [
            "plain: fixed-window let",
            "strict: token-bucket and gcra shut alice out for 2m10s",
            "plain: sliding-window-log denied 16 for ever: each asked",
            "strict: token-bucket and gcra rejected 4",
            "plain: fixed-window kept one waiting",
        ];
        let sentences = readings(&all);
        assert_eq!(sentences.len(), starts.len());
        for (sentence, start) in sentences.iter().zip(starts) {
            assert!(sentence.starts_with(start), "{sentence}");
        }
    }

    #[test]
    fn lockouts_of_half_the_limits_span_are_told_the_two_longest() {
        let hourly = Limit::new(100, Span::from_secs(3600));
        let shut = |name: &str, nanos: u64| {
            let lockout = Span::from_nanos(nanos);
            row(
                name,
                tally(hourly, Numbers { accepted: 9, peak: 9, lockout, ..Numbers::default() }),
            )
        };
        let rows = vec![
            shut("fixed-window", 3270 * SECOND),
            shut("sliding-window-counter", 3270 * SECOND + 1),
            shut("sliding-window-log", 3570 * SECOND),
            shut("gcra", 1799 * SECOND),
        ];
        assert_eq!(
            of(rows.clone())[1..],
            ["sliding-window-log shut alice out for 59m30s, \
             sliding-window-counter and fixed-window for 54m30s"]
        );
        assert_eq!(of(rows[3..].to_vec()).len(), 1);
        assert!(!is_long(Span::from_secs(1), Span::from_secs(1)));
        assert!(is_long(Span::from_secs(2), Span::from_secs(1)));
    }

    #[test]
    fn few_needless_rejections_are_no_news() {
        let limit = Limit::new(100, MINUTE);
        let with = |needless| {
            let numbers = Numbers { accepted: 100, rejected: 900, needless, ..Numbers::default() };
            of(vec![row("gcra", tally(limit, numbers))]).len()
        };
        assert_eq!((with(9), with(10)), (1, 2));
    }
}
