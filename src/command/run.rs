//! `ratesim run`: simulate scenarios, print their tables, write their folders of results.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::{Output, load};
use crate::error::{Error, Problems};
use crate::metrics::Comparison;
use crate::report::chart;
use crate::report::decisions::{self, Decisions, More, Record};
use crate::report::folder::{Draft, Folder};
use crate::report::record::{CaseRun, RunInfo};
use crate::report::{self, compared, csv, format, html, record, store, table};
use crate::run::{self, DecisionSink, Findings, Prepared, Progress, Unit};
use crate::scenario::Changes;
use crate::time::{Offset, Reading};
use crate::traffic::Traffic;
use crate::world::Decided;

/// Arguments of `run`.
#[derive(Debug, Default)]
pub struct Options {
    /// Scenario files.
    pub scenarios: Vec<PathBuf>,
    /// What the command line changes in them.
    pub changes: Changes,
    /// Only algorithms of these names; none means all.
    pub only: Vec<String>,
    /// The folder in which each scenario's folder is written.
    pub out: PathBuf,
    /// Whether to write every decision.
    pub decisions: bool,
    /// Whether to draw charts and write the report page.
    pub charts: bool,
    /// Print JSON instead of a table.
    pub json: bool,
    /// Print nothing.
    pub quiet: bool,
    /// See [`run::Options`].
    pub threads: usize,
}

/// Runs scenarios one after another, after all of them were found to be right.
///
/// # Errors
/// Every problem of the scenarios and of their folders, before any is run; then whatever cannot be written.
pub fn run(options: &Options, output: &mut Output, progress: &dyn Progress) -> Result<(), Error> {
    let Options { scenarios, changes, only, threads, .. } = options;
    let all = load::prepare(scenarios, changes, only, progress, *threads)?;
    check_folders(&all, options)?;
    let mut documents = Vec::new();
    let mut kept = Vec::new();
    for mut prepared in all {
        // Who has asked once asks again, so from here on an interrupt waits until all is cleaned up.
        if progress.stop() {
            return Err(Error::Interrupted.after(&kept));
        }
        let findings = carry_out(&mut prepared, options, progress, |_| {})
            .map_err(|error| error.after(&kept))?;
        kept.push(format!("{}/", options.out.join(&prepared.scenario.name).display()));
        if options.json {
            // The table would have these.
            let undone =
                prepared.scenario.cases.iter().flat_map(|case| {
                    case.notes.iter().map(|note| format!("{}: {note}", case.name))
                });
            undone.for_each(|note| progress.announce(&note));
            documents.push(report::json::summary(&findings.comparison));
        } else if !options.quiet {
            output.say(&table::table(&findings.comparison, output.width, output.styled))?;
            output.say(&closing(&prepared, &findings, options, output.styled))?;
        }
    }
    match documents.len() {
        0 => Ok(()),
        1 => output.say(&format!("{:#}", documents[0])),
        _ => output.say(&format!("{:#}", Json::Array(documents))),
    }
}

/// Simulates a scenario and writes its folder of results, with the findings as `settle` leaves them. Of what was made
/// ready the scenario alone is left.
///
/// # Errors
/// [`Error::Interrupted`], or whatever cannot be written.
pub(super) fn carry_out(
    prepared: &mut Prepared,
    options: &Options,
    progress: &dyn Progress,
    settle: impl FnOnce(&mut Findings),
) -> Result<Findings, Error> {
    let mut folder = Folder::create(&options.out, &prepared.scenario.name)?;
    let mut findings = simulate(prepared, options, &mut folder, progress)?;
    let at_once = prepared.has_records() || keys(&findings.comparison) < MANY_KEYS;
    // What was found has names of its own; charts need the room.
    prepared.let_go();
    settle(&mut findings);
    write(prepared, &findings, options, at_once, folder, progress)?;
    Ok(findings)
}

/// Reports whatever is in the way of the files that the scenarios may write.
///
/// # Errors
/// As said.
pub(super) fn check_folders(all: &[Prepared], options: &Options) -> Result<(), Error> {
    let problems = Problems::new();
    for Prepared { scenario, .. } in all {
        let fleet = scenario.cases.iter().any(|case| case.fleet.is_some());
        let sheets = sheets(scenario.replicas as usize, fleet);
        let mut names: Vec<String> = sheets.map(|(name, _)| name.to_owned()).collect();
        names.extend(options.decisions.then(|| "decisions.csv".to_owned()));
        if options.charts {
            let cases: Vec<&str> = scenario.cases.iter().map(|case| case.name.as_str()).collect();
            let stems = chart::stems(&cases).into_iter();
            names.extend(stems.flat_map(|stem| ["svg", "png"].map(|end| drawing(&stem, end))));
            names.push("report.html".to_owned());
        }
        problems.keep(Folder::check(&options.out, &scenario.name, &names))?;
    }
    problems.into_result()
}

/// Makes the bytes of a CSV file.
type Sheet = fn(&Comparison) -> Vec<u8>;

/// The CSV files of a run with so many replicas; whether it is one of a fleet.
fn sheets(replicas: usize, fleet: bool) -> impl Iterator<Item = (&'static str, Sheet)> {
    let comparison: Option<(&str, Sheet)> =
        (replicas > 1).then_some(("comparison.csv", compared::sheet));
    let store: Option<(&str, Sheet)> = fleet.then_some(("store.csv", store::sheet));
    SHEETS.into_iter().chain(comparison).chain(store)
}

/// The CSV files of every run.
const SHEETS: [(&str, Sheet); 5] = [
    ("summary.csv", csv::summary),
    ("timeline.csv", csv::timeline),
    ("limits.csv", csv::limits),
    ("keys.csv", csv::keys),
    ("clients.csv", csv::clients),
];

/// The file of a chart.
fn drawing(stem: &str, ending: &str) -> String {
    format!("charts/{stem}.{ending}")
}

fn simulate(
    prepared: &Prepared,
    options: &Options,
    folder: &mut Folder,
    progress: &dyn Progress,
) -> Result<Findings, Error> {
    let mut simulation = run::Options { threads: options.threads, ..run::Options::default() };
    if !options.decisions {
        return run::simulate(prepared, simulation, progress);
    }
    let more = More { loops: prepared.is_closed_loop(), fleets: prepared.has_fleet() };
    let (least, most) = prepared.decisions();
    let [least, most] =
        [least, most].map(|count| format::bytes(decisions::estimate(count, NAMES, more)));
    progress.announce(&match more.loops {
        false => format!("decisions.csv will take up to about {most}"),
        true => format!(
            "decisions.csv will take about {least} if every request is sent once, and up to {most} as \
             clients retry"
        ),
    });
    let mut sink = Sink::new(folder, more)?;
    simulation.decisions = Some(&mut sink);
    let findings = run::simulate(prepared, simulation, progress)?;
    let draft = sink.finish()?;
    folder.finish(draft)?;
    Ok(findings)
}

/// Bytes of the names in a row of `decisions.csv`, roughly, to announce its size.
const NAMES: u64 = 40;

/// A picture takes some 20 MB while it is made: where what was found of so many keys takes about as much, one is
/// made at a time, unless a record was there before, which took more.
const MANY_KEYS: usize = 1_000_000;

/// How many keys the rows of a comparison tell of, a key once for each.
fn keys(comparison: &Comparison) -> usize {
    let limits = comparison.rows.iter().flat_map(|row| &row.tally.limits);
    limits.map(|limit| limit.keys.len()).sum()
}

/// Writes everything that a run leaves behind, whole or not at all; pictures are made `at_once` or one at a time.
fn write(
    prepared: &Prepared,
    findings: &Findings,
    options: &Options,
    at_once: bool,
    mut folder: Folder,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let comparison = &findings.comparison;
    let write_sheets = |folder: &mut Folder| {
        let mut sheets = sheets(comparison.replicas(), comparison.is_fleet());
        sheets.try_for_each(|(name, sheet)| folder.write(name, &sheet(comparison)))
    };
    if options.charts {
        let figures = chart::figures(comparison);
        let what = format!("drawing {}", comparison.scenario);
        progress.begin(&what, figures.len() as u64, Unit::Charts);
        let before = |folder: &mut Folder| {
            write_sheets(folder)?;
            folder.write("report.html", html::page(comparison, &figures).as_bytes())
        };
        let done = |folder: &mut Folder, figure: &chart::Figure, picture: Vec<u8>| {
            if progress.stop() {
                return Err(Error::Interrupted);
            }
            folder.write(&drawing(&figure.stem, "svg"), figure.svg.as_bytes())?;
            folder.write(&drawing(&figure.stem, "png"), &picture)?;
            progress.advance(1);
            Ok(())
        };
        let threads = if at_once { options.threads } else { 1 };
        let drawn = chart::pictures(&figures, threads, &mut folder, before, done);
        progress.end();
        drawn?;
    } else {
        write_sheets(&mut folder)?;
    }
    if progress.stop() {
        return Err(Error::Interrupted);
    }
    progress.hold(true);
    let done = folder.commit(record::record(comparison, &info(prepared, findings)));
    progress.hold(false);
    done
}

fn info(prepared: &Prepared, findings: &Findings) -> RunInfo {
    let cases = findings.resolved.iter().zip(&findings.inputs).zip(&findings.estimates);
    let cases = cases.map(|((settings, inputs), estimate)| CaseRun {
        settings: settings.clone(),
        inputs: inputs.clone(),
        bounds: json!(estimate),
    });
    RunInfo { file: Some(prepared.scenario.path.display().to_string()), cases: cases.collect() }
}

/// What stands under the table: whether the expectations hold, and where the files are.
pub(super) fn closing(
    prepared: &Prepared,
    findings: &Findings,
    options: &Options,
    styled: bool,
) -> String {
    let judgements = run::judge(&prepared.scenario, &findings.comparison);
    let kept = judgements.iter().filter(|judgement| judgement.holds).count();
    let folder = options.out.join(&prepared.scenario.name);
    let written = format!("wrote {}/", folder.display());
    let all = judgements.len();
    let said = match (all, all - kept) {
        (0, _) => return written,
        (1, 0) => "the expectation holds".to_owned(),
        (_, 0) => format!("all {all} expectations hold"),
        (1, _) => table::alarm("the expectation fails (see ratesim check)", styled),
        (_, fail) => {
            let fails = if fail == 1 { "fails" } else { "fail" };
            let text = format!("{fail} of {all} expectations {fails} (see ratesim check)");
            table::alarm(&text, styled)
        }
    };
    format!("{said}; {written}")
}

/// Writes decisions as they are made.
struct Sink {
    rows: Decisions<Draft>,
    case: String,
    algorithm: String,
    replica: u32,
    shown: PathBuf,
}

impl Sink {
    fn new(folder: &Folder, more: More) -> Result<Sink, Error> {
        let shown = folder.target().join("decisions.csv");
        let draft = folder.draft("decisions.csv")?;
        let rows = Decisions::new(draft, more).map_err(|cause| failed(&shown, cause))?;
        Ok(Sink { rows, case: String::new(), algorithm: String::new(), replica: 0, shown })
    }

    fn finish(self) -> Result<Draft, Error> {
        self.rows.finish().map_err(|cause| failed(&self.shown, cause))
    }
}

fn failed(path: &std::path::Path, cause: std::io::Error) -> Error {
    Error::failed(format!("write `{}`", path.display()), cause)
}

impl DecisionSink for Sink {
    fn begin(&mut self, case: &str, algorithm: &str, replica: u32) {
        self.case = case.to_owned();
        self.algorithm = algorithm.to_owned();
        self.replica = replica;
    }

    fn decided(&mut self, traffic: &Traffic, decided: &Decided) -> Result<(), Error> {
        let Decided { arrival, request, attempt, fate, at, node, by } = *decided;
        let start = traffic.window.start;
        let since =
            |reading: Reading| Offset::saturating(i128::from(reading.0) - i128::from(start.0));
        let record = Record {
            case: &self.case,
            algorithm: &self.algorithm,
            replica: self.replica,
            at: arrival.at - start,
            client: &traffic.clients[arrival.client as usize].name,
            endpoint: &traffic.endpoints[arrival.endpoint as usize],
            cost: arrival.cost,
            fate,
            request,
            attempt,
            node: node + 1,
            decided: at - start,
            by: by.name(),
            clock: by.clock().map(since),
        };
        self.rows.row(record).map_err(|cause| failed(&self.shown, cause))
    }
}
