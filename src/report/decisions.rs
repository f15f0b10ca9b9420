//! `decisions.csv`: every decision of a run, written as it is made.

use std::io::{self, Write};

use super::csv::{name_cell, writer};
use crate::algorithm::Wait;
use crate::metrics::Value;
use crate::time::Span;
use crate::world::Fate;

/// The columns of the file.
pub const COLUMNS: [&str; 9] =
    ["case", "algorithm", "replica", "t_s", "client", "endpoint", "cost", "decision", "wait_s"];

/// Those that follow where clients react to answers.
pub const OF_REQUESTS: [&str; 2] = ["request", "attempt"];

/// One row of the file.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The case.
    pub case: &'a str,
    /// The algorithm's name in the table.
    pub algorithm: &'a str,
    /// Which replica, from 0.
    pub replica: u32,
    /// When it was decided, since the start of the run.
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
}

/// The file in the making.
pub struct Decisions<W: Write> {
    writer: csv::Writer<W>,
    /// Whether requests and their attempts are told.
    loops: bool,
}

impl<W: Write> Decisions<W> {
    /// Writes the header; `loops` tells whether clients react to answers in any case.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn new(to: W, loops: bool) -> io::Result<Decisions<W>> {
        let mut writer = writer(to);
        let more: &[&str] = if loops { &OF_REQUESTS } else { &[] };
        writer.write_record(COLUMNS.iter().chain(more))?;
        Ok(Decisions { writer, loops })
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
        if self.loops {
            writer.write_field(record.request.to_string())?;
            writer.write_field(record.attempt.to_string())?;
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
pub fn estimate(decisions: u64, names: u64, loops: bool) -> u64 {
    // Replica, cost and decision take about 10, the two times up to 12 each, commas and line end 9;
    // request and attempt about 10 with theirs.
    let numbers = if loops { 50 } else { 40 };
    decisions.saturating_mul(names.saturating_add(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND;

    #[test]
    fn each_decision_has_its_word_and_wait() {
        insta::assert_snapshot!(written(false));
    }

    #[test]
    fn where_clients_react_each_has_its_request_and_attempt() {
        insta::assert_snapshot!(written(true));
    }

    fn written(loops: bool) -> String {
        let mut decisions = Decisions::new(Vec::new(), loops).unwrap();
        let half = Span::from_nanos(SECOND / 2);
        for (fate, client) in [
            (Fate::Accepted, "10.0.0.1"),
            (Fate::Queued(half), "a, \"b\"\nc"),
            (Fate::Rejected(Wait::After(Span::from_nanos(1))), "=1+1"),
            (Fate::Rejected(Wait::Never), "-"),
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
        let decisions = Decisions::new(Full, true).unwrap();
        let reported = decisions.finish().err().map(|error| error.kind());
        assert_eq!(reported, Some(io::ErrorKind::StorageFull));
    }
}
