//! `decisions.csv`: every decision of a run, written as it is made.

use std::io::{self, Write};

use super::csv::{name_cell, writer};
use crate::algorithm::Wait;
use crate::metrics::Value;
use crate::time::{Offset, Span};
use crate::world::Fate;

/// The columns of the file.
pub const COLUMNS: [&str; 9] =
    ["case", "algorithm", "replica", "t_s", "client", "endpoint", "cost", "decision", "wait_s"];

/// Those that follow where clients react to answers.
pub const OF_REQUESTS: [&str; 2] = ["request", "attempt"];

/// Those that follow where several nodes decide, or a store is asked.
pub const OF_FLEETS: [&str; 4] = ["node", "by", "decided_s", "clock_s"];

/// What a file tells of decisions besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct More {
    /// Whether requests and their attempts are told.
    pub loops: bool,
    /// Whether nodes and their clocks are.
    pub fleets: bool,
}

/// One row of the file.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The case.
    pub case: &'a str,
    /// The algorithm's name in the table.
    pub algorithm: &'a str,
    /// Which replica, from 0.
    pub replica: u32,
    /// When it was made, since the start of the run.
    pub at: Span,
    /// Who asked.
    pub client: &'a str,
    /// For what.
    pub endpoint: &'a str,
    /// What it costs.
    pub cost: u32,
    /// What became of it: `admit` without a wait; `queue`, which passes after the wait; or `deny` with
    /// the wait that it was told, empty where that is never; or `turn-down`, refused because the store gave no
    /// answer.
    pub fate: Fate,
    /// The number of its request, from 0.
    pub request: u64,
    /// Which attempt of that request, from 1.
    pub attempt: u32,
    /// The node that it reached, from 1.
    pub node: u32,
    /// By what it was decided: `node`, `store`, `lease`, `fallback` or `nothing`.
    pub by: &'static str,
    /// When it was decided, since the start of the run.
    pub decided: Span,
    /// What the clock showed by which it was decided, since it would have shown the start of the run; `None` where
    /// none was looked at.
    pub clock: Option<Offset>,
}

/// The file in the making.
pub struct Decisions<W: Write> {
    writer: csv::Writer<W>,
    more: More,
}

impl<W: Write> Decisions<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn new(to: W, more: More) -> io::Result<Decisions<W>> {
        let mut writer = writer(to);
        let loops: &[&str] = if more.loops { &OF_REQUESTS } else { &[] };
        let fleets: &[&str] = if more.fleets { &OF_FLEETS } else { &[] };
        writer.write_record(COLUMNS.iter().chain(loops).chain(fleets))?;
        Ok(Decisions { writer, more })
    }

    /// Writes one row.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn row(&mut self, record: Record) -> io::Result<()> {
        let (decision, wait) = match record.fate {
            Fate::Accepted => ("admit", None),
            Fate::Queued(span) => ("queue", Some(span)),
            Fate::Rejected(Wait::After(span)) => ("deny", Some(span)),
            Fate::Rejected(Wait::Never) => ("deny", None),
            Fate::TurnedDown => ("turn-down", None),
        };
        let secs = |span| Value::Seconds(span).to_string();
        let writer = &mut self.writer;
        writer.write_field(name_cell(record.case).as_bytes())?;
        writer.write_field(name_cell(record.algorithm).as_bytes())?;
        writer.write_field(record.replica.to_string())?;
        writer.write_field(secs(record.at))?;
        writer.write_field(name_cell(record.client).as_bytes())?;
        writer.write_field(name_cell(record.endpoint).as_bytes())?;
        writer.write_field(record.cost.to_string())?;
        writer.write_field(decision)?;
        writer.write_field(wait.map(secs).unwrap_or_default())?;
        if self.more.loops {
            writer.write_field(record.request.to_string())?;
            writer.write_field(record.attempt.to_string())?;
        }
        if self.more.fleets {
            let signed = |clock: Offset| {
                let sign = if clock.nanos() < 0 { "-" } else { "" };
                format!("{sign}{}", secs(Span::from_nanos(clock.nanos().unsigned_abs())))
            };
            writer.write_field(record.node.to_string())?;
            writer.write_field(record.by)?;
            writer.write_field(secs(record.decided))?;
            writer.write_field(record.clock.map(signed).unwrap_or_default())?;
        }
        Ok(writer.write_record(None::<&[u8]>)?)
    }

    /// The writer behind it, with all rows written to it.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

/// About how many bytes so many decisions take, with names of so many bytes on average (those of the
/// case, the algorithm, the client and the endpoint together); to announce before a run.
pub fn estimate(decisions: u64, names: u64, more: More) -> u64 {
    // Replica, cost and decision take about 10, the two times up to 12 each, commas and line end 9;
    // request and attempt about 10 with theirs; a node, a word and two more times about 31.
    let numbers = 40 + if more.loops { 10 } else { 0 } + if more.fleets { 31 } else { 0 };
    decisions.saturating_mul(names.saturating_add(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND;

    #[test]
    fn each_decision_has_its_word_and_wait() {
        insta::assert_snapshot!(written(More::default()));
    }

    #[test]
    fn where_clients_react_each_has_its_request_and_attempt() {
        insta::assert_snapshot!(written(More { loops: true, fleets: false }));
    }

    #[test]
    fn where_nodes_decide_each_has_its_node_and_clock() {
        insta::assert_snapshot!(written(More { loops: false, fleets: true }));
    }

    fn written(more: More) -> String {
        let mut decisions = Decisions::new(Vec::new(), more).unwrap();
        let half = Span::from_nanos(SECOND / 2);
        let offset = |nanos| Some(Offset::saturating(nanos));
        for (fate, client, clock) in [
            (Fate::Accepted, "10.0.0.1", offset(0)),
            (Fate::Queued(half), "a, \"b\"\nc", offset(1_500_000_000)),
            (Fate::Rejected(Wait::After(Span::from_nanos(1))), "=1+1", offset(-250_000_000)),
            (Fate::Rejected(Wait::Never), "-", offset(7)),
            (Fate::TurnedDown, "z", None),
        ] {
            let (case, algorithm, endpoint) = ("jitter", "gcra", "");
            let (replica, at, cost, request, attempt) = (0, half, 3, 7, 2);
            let record = Record {
                case,
                algorithm,
                replica,
                at,
                client,
                endpoint,
                cost,
                fate,
                request,
                attempt,
                node: 2,
                by: if fate == Fate::TurnedDown { "nothing" } else { "store" },
                decided: Span::from_nanos(3 * SECOND / 4),
                clock,
            };
            decisions.row(record).unwrap();
        }
        String::from_utf8(decisions.finish().unwrap()).unwrap()
    }

    #[test]
    fn a_full_disk_is_reported() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let decisions = Decisions::new(Full, More { loops: true, fleets: true }).unwrap();
        let reported = decisions.finish().err().map(|error| error.kind());
        assert_eq!(reported, Some(io::ErrorKind::StorageFull));
    }
}
