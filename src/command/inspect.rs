//! `ratesim inspect`: what is in a log.

use std::ops::ControlFlow;

use jiff::tz::TimeZone;

use super::Output;
use super::logs::{Logs, as_flags, flags};
use crate::error::{Error, Problem};
use crate::inspect::{Census, Rules};
use crate::log::format::Fault;
use crate::log::limited::{TOO_MANY_REQUESTS, WITHIN};
use crate::log::read::{self, Report, Sink, Spot, Stop};
use crate::log::wanted::Wanted;
use crate::log::{Entry, Zone};
use crate::report::inspection::Inspection;
use crate::run::{Progress, Unit};
use crate::time::{Instant, Span};
use crate::traffic::{Arriving, InOrder, Order, idle_notes};

/// Arguments of `inspect`.
#[derive(Debug)]
pub struct Options {
    /// What is looked at.
    pub logs: Logs,
    /// How many keys are listed.
    pub top: usize,
    /// Print JSON instead of text.
    pub json: bool,
    /// Print nothing but that JSON.
    pub quiet: bool,
    /// How many threads may work. Changes no result.
    pub threads: usize,
}

/// Looks into logs.
///
/// # Errors
/// Nothing can be read of them, or nothing in them counts; when they are read strictly, the first line or
/// file that cannot be used.
pub fn inspect(
    options: &Options,
    output: &mut Output,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let logs = &options.logs;
    logs.check()?;
    let mut wanted = Wanted::default();
    let rules = Rules {
        key: logs.key.clone(),
        filters: logs.filters.clone(),
        zone: logs.zone.as_ref().map_or(TimeZone::UTC, |zone| Zone::clocks(zone).clone()),
        refused: vec![TOO_MANY_REQUESTS],
        within: WITHIN,
        handling: logs.limited.unwrap_or_default(),
    };
    let census = Census::new(rules, &mut wanted);
    let census = census.map_err(|wrong| Error::input(Problem::new(wrong)))?;
    let order = logs.order.unwrap_or_default();
    let mut counter =
        Counter { census, in_order: InOrder::new(order), latest: Instant(i64::MIN), order };
    let reading = logs.reading(wanted.fields().to_vec(), options.threads);
    let reports = read(logs, &reading, &mut counter, progress)?;
    if logs.arrival == Some(Arriving::End) && !reports.iter().any(takes_durations_off) {
        let problem = Problem::new("there are no durations to take off the stamps");
        let help = "say where the durations stand (`--duration-unit` in access logs, `--column duration=NAME` in \
                    others), or leave `--arrival` out";
        return Err(Error::input(problem.help(help)));
    }
    let Counter { census, in_order, .. } = counter;
    if census.is_empty() {
        return Err(Error::input(nothing_left(logs, &census)));
    }
    let Some(figures) = census.figures(options.top) else { return Ok(()) };
    let next = next(logs, figures.keys.threshold.requests);
    let key = logs.key.to_string();
    let done = match order {
        Order::File => "each counts as of the time of the one before",
        Order::Sort | Order::Error => "each counts at its time",
    };
    let mut more: Vec<String> = in_order.note().into_iter().collect();
    more.extend(idle_notes(&reading.layout, &reports).iter().map(|note| flags(note)));
    let inspection = Inspection { reports: &reports, figures: &figures, key, done, more, next };
    if options.json {
        return output.say(&format!("{:#}", inspection.json()));
    }
    if !options.quiet {
        output.say(&inspection.text(output.width, output.styled))?;
    }
    Ok(())
}

/// Whether the durations of a file were taken off its stamps.
fn takes_durations_off(report: &Report) -> bool {
    report.ends && report.has_durations
}

/// Gives entries to a census.
struct Counter {
    census: Census,
    in_order: InOrder,
    /// The latest of the times at which requests that count came.
    latest: Instant,
    order: Order,
}

impl Sink for Counter {
    fn entry(&mut self, entry: &Entry, spot: Spot) -> Result<bool, Fault> {
        if self.census.is_full() {
            let problem = Problem::new("there are more requests than can be counted at once");
            return Err(Fault::Stop(vec![problem.help("look at fewer files at a time")]));
        }
        let took = entry.took.filter(|_| spot.ends).unwrap_or(Span::ZERO);
        let stamp = self.in_order.stamp(entry.stamp.at);
        let came = *stamp.as_ref().unwrap_or(&entry.stamp.at) - took;
        let at = if self.order == Order::File { self.latest.max(came) } else { came };
        if !self.census.take(entry, at) {
            return Ok(false);
        }
        stamp?;
        self.in_order.push(entry.stamp.at, spot.file);
        self.latest = self.latest.max(at);
        Ok(true)
    }
}

/// Reads all files, telling progress by their bytes.
fn read(
    logs: &Logs,
    reading: &read::Options,
    counter: &mut Counter,
    progress: &dyn Progress,
) -> Result<Vec<Report>, Error> {
    let mut told = 0;
    let mut begun = false;
    let reports = read::read(&logs.files(), reading, counter, &mut |bytes, total| {
        if !std::mem::replace(&mut begun, true) {
            progress.begin(&format!("reading {}", logs.names()), total.unwrap_or(0), Unit::Bytes);
        }
        progress.advance(bytes.saturating_sub(told));
        told = bytes;
        if progress.stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.end();
    reports.map_err(|stop| match stop {
        Stop::Problems(problems) => as_flags(Error::Input(problems)),
        Stop::Interrupted => Error::Interrupted,
    })
}

/// The problem that no request is left.
fn nothing_left(logs: &Logs, census: &Census) -> Problem {
    let left_out = census.left_out();
    let all: u64 = left_out.iter().map(|(_, requests)| requests).sum();
    let each = left_out.iter().filter(|(_, requests)| *requests > 0);
    let each: Vec<String> =
        each.map(|(filter, requests)| format!("`{filter}` left out {requests}")).collect();
    let problem = Problem::new(format!("no request of {} is left to count", logs.names()));
    match all {
        0 => problem.help("`--limited` left all of them out"),
        _ => problem.help(each.join(", ")),
    }
}

/// The command that replays the same requests against a limit.
fn next(logs: &Logs, requests: u64) -> String {
    let mut words = vec!["ratesim".to_owned(), "replay".to_owned()];
    words.extend(logs.flags());
    words.push(format!("--limit {requests}/1m"));
    words.join(" ")
}
