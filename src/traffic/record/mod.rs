//! Recorded sources: requests read from logs.
//!
//! What a kind of source asks of an entry is a [`Reading`]; everything else is shared, most of it with
//! whatever else reads logs ([`crate::log`]).
//!
//! What is done to a record, in this order: its files are read one after the other; the requests are
//! sorted by their stamps, stably; if all stamps are whole seconds, `spread` moves them inside their
//! seconds; if stamps are the ends of requests, durations are taken off and the requests sorted again.
//! A request takes 8 bytes for its time and 4 for its client, and 4 each for endpoint and cost if there are
//! several. At the end they are grouped by client, which takes 2 more at most for the while.

pub mod access_log;
mod column;
mod columns;
mod costs;
pub mod csv;
mod drawn;
mod durations;
mod grouped;
mod intake;
pub mod log;
mod notes;
mod order;
mod regroup;
mod request;
mod sorting;
mod spread;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use serde_json::json;

use crate::error::Problem;
use crate::log::Zone;
use crate::log::format::{Format, Layout, Stamps};
use crate::log::read::{File, Options, Stop, read};
use crate::params::{Choice, Params};
use crate::traffic::{Context, Source};
pub use column::Column;
pub use columns::Recorded;
use intake::Intake;
use notes::Notes;
pub use notes::{durations_note, idle_notes, spread_note};
pub use order::{InOrder, Order};
use request::Reading;
pub use spread::Spread;

/// What a stamp says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arriving {
    /// When the request came.
    Start,
    /// When it was done.
    End,
}

impl Choice for Arriving {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("start", Arriving::Start, "stamps say when requests arrived, as those of Apache do"),
        (
            "end",
            Arriving::End,
            "stamps say when requests were done, as those of nginx do: their durations are taken off",
        ),
    ];
}

/// What the settings of a kind come to.
struct Settings {
    /// `None` if it is told from the first lines.
    format: Option<&'static Format>,
    layout: Layout,
    zone: Option<Zone>,
    order: Order,
    reading: Box<dyn Reading>,
}

impl Settings {
    /// Those of a kind that leaves the rest as it is by default.
    fn new(layout: Layout, reading: Box<dyn Reading>) -> Settings {
        Settings { format: None, layout, zone: None, order: Order::Sort, reading }
    }
}

/// Reads the setting `path` of a kind that has one file.
fn one_path(params: &mut Params) -> Option<Vec<String>> {
    let meaning = "The file; its path starts from the folder of the scenario.";
    params.required::<String>("path", meaning).map(|path| vec![path])
}

/// Reads the setting `path` of a kind that has any number of files.
fn any_paths(params: &mut Params) -> Option<Vec<String>> {
    let paths: Vec<String> = params.required(
        "path",
        "The file, or a list of files, whose requests are merged by time; paths start from the \
         folder of the scenario, and `-` is the standard input.",
    )?;
    let message = "there is no file";
    params.require("path", !paths.is_empty(), message, "name one").then_some(paths)
}

/// Reads the setting `delimiter`: `None` after a problem was reported, `Some(None)` where it is left to the
/// format.
fn delimiter(params: &mut Params, default: Option<&str>) -> Option<Option<u8>> {
    let meaning = "What stands between fields.";
    let text: Option<String> = match default {
        Some(default) => Some(params.or("delimiter", default.to_owned(), meaning)),
        None => params.optional("delimiter", "What stands between the fields of a table."),
    };
    let Some(text) = text else { return Some(None) };
    let good = matches!(text.as_bytes(), &[byte] if byte.is_ascii() && !b"\"\r\n".contains(&byte));
    let message = "a delimiter is one character of ASCII, and neither a quote nor a line break";
    let good = params.require("delimiter", good, message, "write \",\", \";\" or \"\\t\"");
    good.then(|| text.as_bytes().first().copied())
}

/// Opens a source of one kind: reads all settings, then the files.
fn open(
    params: &mut Params,
    context: &mut Context,
    paths: fn(&mut Params) -> Option<Vec<String>>,
    settings: fn(&mut Params) -> Option<Settings>,
) -> Option<Box<dyn Source>> {
    let before = params.problems().added();
    let paths = paths(params);
    let settings = settings(params);
    let spread: Option<Spread> = params.optional(
        "spread",
        "Where in its second a request falls, if the stamps of the file are whole seconds. By \
         default `even`; files with finer stamps are taken as they are.",
    );
    let arrival: Option<Arriving> = params.optional(
        "arrival",
        "What a stamp says. By default `end` if durations are given, else `start`.",
    );
    let strict = params.or(
        "strict",
        false,
        "Whether the first line that cannot be used is a mistake; else such lines are counted.",
    );
    let (paths, mut settings) = (paths?, settings?);
    if params.problems().added() > before {
        // What is wrong with the settings is told before anything is read.
        return None;
    }
    let options = Options {
        format: settings.format,
        layout: settings.layout,
        zone: settings.zone,
        stamps: arrival.map(|arrival| match arrival {
            Arriving::Start => Stamps::Start,
            Arriving::End => Stamps::End,
        }),
        strict,
        by_time: settings.order == Order::Sort,
        threads: context.threads,
    };
    let place = params.place_of("path");
    let folder = context.folder;
    let files: Vec<File> = paths
        .into_iter()
        .map(|name| {
            let path = if name == "-" { PathBuf::from("-") } else { folder.join(&name) };
            File { path, name, place: Some(place.clone()) }
        })
        .collect();
    let watch = context.watch;
    let mut intake = Intake::new(context, &mut *settings.reading, settings.order, place);
    let mut told = |bytes, total| watch(bytes, total);
    let reports = match read(&files, &options, &mut intake, &mut told) {
        Ok(reports) => reports,
        Err(Stop::Interrupted) => {
            context.interrupted = true;
            return None;
        }
        Err(Stop::Problems(problems)) => {
            problems.into_iter().for_each(|problem| params.problems().add(problem));
            return None;
        }
    };
    let between = intake.note();
    let (source, seconds, without_address) = intake.finish(spread);
    if let Some(message) = settings.reading.mistake() {
        let problem = Problem::at(&params.place_of("path"), message);
        params.problems().add(problem.help("name a field that requests have"));
        return None;
    }
    let mut more = settings.reading.notes();
    more.extend(between);
    // The kind `csv` says itself what its fields are.
    if !options.layout.named_only {
        more.extend(idle_notes(&options.layout, &reports));
    }
    if reports.iter().all(|report| report.used == 0) {
        let problem = Problem::at(&params.place_of("path"), "no request is left to count");
        params.problems().add(problem.help(more.join(" ")));
        return None;
    }
    let timed = reports.iter().any(|report| report.ends && report.has_durations);
    let consistent = params.require(
        "arrival",
        arrival != Some(Arriving::End) || timed,
        "there are no durations to take off the stamps",
        "say where the durations stand, or leave `arrival` out",
    );
    let arriving = if timed { Arriving::End } else { Arriving::Start };
    params.resolve("arrival", json!(arriving.name()));
    params.resolve("spread", json!(seconds.unwrap_or(Spread::None).name()));
    let mut notes = Notes { order: settings.order, seconds, wanted: spread, without_address, more };
    for report in reports {
        let input = notes.input(report);
        context.inputs.push(input);
    }
    consistent.then_some(source)
}
