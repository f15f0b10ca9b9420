//! The CSV files: `summary.csv`, `timeline.csv`, `limits.csv`, `keys.csv` and `clients.csv`. Of several
//! replicas, the last four have the first, 0, alone.
//!
//! RFC 4180 with `\n` at the ends of lines. Numbers are exact, or the shortest decimal that reads
//! back to the same float; a value that is absent is an empty cell. The columns after the leading
//! ones are those of the registries in [`crate::metrics`].
//!
//! Names come from scenarios and logs, so a stranger may have chosen them, and spreadsheets take a
//! cell that starts with `=`, `+`, `-` or `@` for a formula, quoted or not. Such a name, and one that
//! starts with a tab, a carriage return or an apostrophe, has one apostrophe put before it, as
//! spreadsheets do to mark a text. To read the name back, drop the first apostrophe. A lone `-`, which
//! logs write for "none", is no formula and stays as it is. Control characters other than tabs and ends of
//! lines, which many readers of CSV do not take, are replaced by U+FFFD. Names in `run.json` and in JSON
//! are never changed.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::judge::{SubjectTally, Subjects, Timeline};
use crate::metrics::{Comparison, LIMIT_METRICS, Metric, Row, SUBJECT_METRICS, Value};
use crate::time::Span;

/// At most so many keys, and so many clients, are listed for a row (and limit).
pub const MOST_SUBJECTS: usize = 100;

/// `summary.csv`: one row a case, algorithm and replica.
pub fn summary(comparison: &Comparison) -> Vec<u8> {
    let told = comparison.metrics();
    let metrics: Vec<Metric> = told.iter().map(|(_, metric)| **metric).collect();
    let mut sheet = Sheet::new(&["scenario", "case", "algorithm", "replica", "seed"], &metrics);
    for row in &comparison.rows {
        for single in row.singles() {
            sheet.text(&comparison.scenario);
            sheet.start(comparison, row, single.replica);
            sheet.number(single.seed);
            told.iter().for_each(|(position, _)| sheet.value(single.values[*position]));
            sheet.end();
        }
    }
    sheet.bytes()
}

/// `timeline.csv`: one row a case, algorithm, replica and bin; `t_s` is the start of the bin in
/// seconds since the start of the run. What becomes of requests follows in closed loops.
pub fn timeline(comparison: &Comparison) -> Vec<u8> {
    const NONE: &[Metric] = &[];
    const COLUMNS: &[&str] = &[
        "case",
        "algorithm",
        "replica",
        "t_s",
        "offered",
        "accepted",
        "rejected",
        "over_limit",
        "window_max",
        "keys",
        "entries",
        "bytes",
    ];
    const OF_REQUESTS: &[&str] = &["retries", "succeeded", "gave_up"];
    let closed = comparison.is_closed_loop();
    let columns = [COLUMNS, if closed { OF_REQUESTS } else { &[] }].concat();
    let mut sheet = Sheet::new(&columns, NONE);
    for row in &comparison.rows {
        let timeline = &row.tally.timeline;
        for (bin, index) in timeline.bins.iter().zip(0_u128..) {
            sheet.start(comparison, row, 0);
            sheet.value(since_start(timeline, index));
            for count in [
                bin.offered,
                bin.accepted,
                bin.rejected,
                bin.over_limit,
                bin.window_max,
                bin.keys,
                bin.entries,
                bin.bytes,
            ] {
                sheet.number(count);
            }
            if closed {
                let told = row.tally.closed.is_some();
                for count in [bin.retries, bin.succeeded, bin.gave_up] {
                    sheet.value(told.then_some(Value::Count(count)));
                }
            }
            sheet.end();
        }
    }
    sheet.bytes()
}

/// When a bin starts, since the start of the run.
pub(super) fn since_start(timeline: &Timeline, bin: u128) -> Option<Value> {
    let nanos = bin * u128::from(timeline.width.nanos());
    Span::try_from_nanos(nanos).map(Value::Seconds)
}

/// `limits.csv`: one row a case, algorithm, replica and limit.
pub fn limits(comparison: &Comparison) -> Vec<u8> {
    let mut sheet = Sheet::new(&["case", "algorithm", "replica", "limit"], LIMIT_METRICS);
    for row in &comparison.rows {
        for limit in &row.tally.limits {
            sheet.start(comparison, row, 0);
            sheet.text(&limit.name);
            sheet.metrics(LIMIT_METRICS, limit);
            sheet.end();
        }
    }
    sheet.bytes()
}

/// `keys.csv`: of each case, algorithm, replica and limit the [`MOST_SUBJECTS`] keys most affected,
/// the worst first.
pub fn keys(comparison: &Comparison) -> Vec<u8> {
    let mut sheet = Sheet::new(&["case", "algorithm", "replica", "limit", "key"], SUBJECT_METRICS);
    for row in &comparison.rows {
        for limit in &row.tally.limits {
            for (name, key) in most_affected(&limit.keys) {
                sheet.start(comparison, row, 0);
                sheet.text(&limit.name);
                sheet.text(name);
                sheet.metrics(SUBJECT_METRICS, &key);
                sheet.end();
            }
        }
    }
    sheet.bytes()
}

/// `clients.csv`: of each case, algorithm and replica the [`MOST_SUBJECTS`] clients most affected,
/// the worst first.
pub fn clients(comparison: &Comparison) -> Vec<u8> {
    let mut sheet = Sheet::new(&["case", "algorithm", "replica", "client"], SUBJECT_METRICS);
    for row in &comparison.rows {
        for (name, client) in most_affected(&row.tally.clients) {
            sheet.start(comparison, row, 0);
            sheet.text(name);
            sheet.metrics(SUBJECT_METRICS, &client);
            sheet.end();
        }
    }
    sheet.bytes()
}

/// By attempts over the limit, then by rejections, then in the order in which they were first seen.
fn most_affected(subjects: &Subjects) -> impl Iterator<Item = (&str, SubjectTally)> {
    let ranked = subjects.hits().enumerate().map(|(position, hits)| (Reverse(hits), position));
    // Of hundreds of thousands nearly all met with nothing: few of them are ever among the first.
    let mut first = BinaryHeap::with_capacity(MOST_SUBJECTS + 1);
    for rank in ranked {
        if first.len() < MOST_SUBJECTS {
            first.push(rank);
        } else if first.peek().is_some_and(|last| rank < *last) {
            first.pop();
            first.push(rank);
        }
    }
    let order = first.into_sorted_vec().into_iter();
    order.map(|(_, position)| (subjects.name(position), subjects.get(position)))
}

/// A name as a cell that every reader takes and no spreadsheet takes for a formula; see the top of this
/// file.
pub fn name_cell(name: &str) -> Cow<'_, str> {
    let unfit = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    let formula = name != "-" && name.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']);
    if !formula && !name.contains(unfit) {
        return Cow::Borrowed(name);
    }
    let apostrophe = if formula { "'" } else { "" };
    Cow::Owned(format!("{apostrophe}{}", name.replace(unfit, "\u{fffd}")))
}

/// A writer of records that end with `\n`.
pub(super) fn writer<W: std::io::Write>(to: W) -> csv::Writer<W> {
    csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(to)
}

/// A CSV file in the making, cell by cell.
pub(super) struct Sheet {
    record: csv::ByteRecord,
    writer: csv::Writer<Vec<u8>>,
}

impl Sheet {
    pub fn new<T>(leading: &[&str], metrics: &[Metric<T>]) -> Sheet {
        let mut sheet = Sheet { record: csv::ByteRecord::new(), writer: writer(Vec::new()) };
        leading.iter().for_each(|name| sheet.text(name));
        metrics.iter().for_each(|metric| sheet.text(metric.name));
        sheet.end();
        sheet
    }

    /// The case and algorithm of a row, and which of its runs it is.
    pub fn start(&mut self, comparison: &Comparison, row: &Row, replica: usize) {
        self.text(&comparison.cases[row.case].name);
        self.text(&row.algorithm);
        self.number(replica as u64);
    }

    pub fn text(&mut self, text: &str) {
        self.record.push_field(name_cell(text).as_bytes());
    }

    pub fn number(&mut self, count: u64) {
        self.value(Some(Value::Count(count)));
    }

    pub fn value(&mut self, value: Option<Value>) {
        let cell = value.filter(|value| value.as_f64().is_finite()).map(|value| value.to_string());
        self.record.push_field(cell.unwrap_or_default().as_bytes());
    }

    fn metrics<T>(&mut self, metrics: &[Metric<T>], of: &T) {
        metrics.iter().for_each(|metric| self.value((metric.value)(of)));
    }

    pub fn end(&mut self) {
        // A vector takes every write, and all records of a sheet have the same cells.
        if let Err(cause) = self.writer.write_byte_record(&self.record) {
            unreachable!("a record in memory: {cause}");
        }
        self.record.clear();
    }

    pub fn bytes(self) -> Vec<u8> {
        self.writer.into_inner().unwrap_or_else(|cause| unreachable!("in memory: {cause}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{any, boundary, cases, hostile, replicated, retries};
    use super::*;
    use proptest::prelude::*;

    type Writer = fn(&Comparison) -> Vec<u8>;
    const ALL: [Writer; 5] = [summary, timeline, limits, keys, clients];

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_summary_starts_with_the_agreed_columns() {
        let agreed = "scenario,case,algorithm,replica,seed,requests,attempts,accepted,rejected,\
                      over_limit,needless_rejections,peak_window,peak_ratio,";
        assert!(text(summary(&boundary())).starts_with(agreed));
    }

    #[test]
    fn the_timeline_starts_with_the_agreed_columns() {
        let agreed = "case,algorithm,replica,t_s,offered,accepted,rejected,over_limit,window_max,";
        assert!(text(timeline(&boundary())).starts_with(agreed));
    }

    #[test]
    fn each_file_as_a_whole() {
        for (name, write) in
            ["summary", "timeline", "limits", "keys", "clients"].into_iter().zip(ALL)
        {
            insta::assert_snapshot!(name, text(write(&cases())));
        }
    }

    #[test]
    fn of_several_replicas_only_the_first_is_told_in_detail() {
        let replicated = replicated();
        let first = cases();
        for write in [timeline, limits, keys, clients] {
            assert_eq!(text(write(&replicated)), text(write(&first)));
        }
        let lines = text(summary(&replicated)).lines().count();
        assert_eq!(lines, 1 + 4 * replicated.rows.len());
    }

    #[test]
    fn what_becomes_of_requests_is_told_where_clients_react() {
        let mut mixed = retries();
        mixed.rows[0].tally.closed = None;
        mixed.rows.truncate(3);
        let start_of = |text: String| -> String {
            text.lines().take(5).map(|line| format!("{line}\n")).collect()
        };
        insta::assert_snapshot!(
            start_of(text(summary(&mixed))) + &start_of(text(timeline(&mixed)))
        );
    }

    #[test]
    fn hostile_names_are_quoted_and_no_formulas() {
        let files = [keys, clients, summary].map(|write| text(write(&hostile())));
        insta::assert_snapshot!(files.join("\n"));
    }

    #[test]
    fn a_formula_is_made_a_text_and_a_placeholder_stays() {
        for (name, cell) in [
            ("=1+1", "'=1+1"),
            ("+49 30", "'+49 30"),
            ("-2", "'-2"),
            ("@alice", "'@alice"),
            ("\t=1", "'\t=1"),
            ("'quoted", "''quoted"),
            ("-", "-"),
            ("", ""),
            ("10.0.0.1", "10.0.0.1"),
            ("a=1", "a=1"),
            ("=\0a\u{9b}\nb\u{7f}", "'=\u{fffd}a\u{fffd}\nb\u{fffd}"),
            ("a\0\tb", "a\u{fffd}\tb"),
        ] {
            assert_eq!(name_cell(name), cell);
        }
    }

    #[test]
    fn the_hundred_most_affected_keys_are_listed_the_worst_first() {
        let mut comparison = boundary();
        comparison.rows.truncate(1);
        let limit = &mut comparison.rows[0].tally.limits[0];
        let alice = limit.keys.get(0);
        let affected = |index: u64| {
            let (over_limit, rejected) = (index / 100, index % 10);
            (format!("k{index}"), SubjectTally { over_limit, rejected, ..alice })
        };
        limit.keys = (0..150).map(affected).collect();
        let text = text(keys(&comparison));
        let names: Vec<&str> = text.lines().skip(1).filter_map(|l| l.split(',').nth(4)).collect();
        assert_eq!(names.len(), MOST_SUBJECTS);
        assert_eq!(names[..6], ["k109", "k119", "k129", "k139", "k149", "k108"]);
        assert_eq!(names[50..52], ["k9", "k19"]);
    }

    proptest! {
        #[test]
        fn every_record_is_as_long_as_the_header_and_every_number_is_finite(comparison in any()) {
            for write in ALL {
                let bytes = write(&comparison);
                let mut reader = csv::ReaderBuilder::new().from_reader(&*bytes);
                let headers = reader.headers().unwrap().clone();
                for record in reader.records() {
                    let record = record.unwrap();
                    for (header, cell) in headers.iter().zip(&record) {
                        let named = ["scenario", "case", "algorithm", "limit", "key", "client"];
                        if !named.contains(&header) && !cell.is_empty() {
                            let digits = cell.bytes().all(|b| b.is_ascii_digit() || b == b'.');
                            prop_assert!(digits, "{header}: {cell}");
                        }
                    }
                }
            }
        }

        #[test]
        fn names_are_read_back(name in "[=+@'a-]{0,4}") {
            let cell = name_cell(&name);
            let read = if cell == "-" { "-" } else { cell.strip_prefix('\'').unwrap_or(&cell) };
            prop_assert_eq!(read, name.as_str());
        }
    }
}
