//! All cases of a scenario through all of their algorithms.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value as Json, json};

use super::contender::Contender;
use super::estimate::Estimate;
use super::progress::Progress;
use crate::algorithm;
use crate::error::{Error, Problems};
use crate::judge::Tally;
use crate::metrics::{CaseInfo, Comparison, Row};
use crate::params::{Choice, Setting};
use crate::report::decisions::DecisionWriter;
use crate::scenario::{Case, Counts, LimitSpec, Scenario};
use crate::traffic::{self, Input, Traffic};
use crate::world::{self, Decided, Decisions, Fate, KeyPlan, Observer, Plan, Stopped};

/// What a scenario showed.
pub struct Findings {
    /// The numbers.
    pub comparison: Comparison,
    /// By case, all settings with their defaults.
    pub resolved: Vec<Json>,
    /// By case, the files read.
    pub inputs: Vec<Vec<Input>>,
    /// By case, how large its runs might have become.
    pub estimates: Vec<Estimate>,
}

/// How to simulate.
#[derive(Default)]
pub struct Options<'a> {
    /// At most so many algorithms at a time; 0 counts as 1. Changes no result.
    pub threads: usize,
    /// Only algorithms of these names; empty means all.
    pub only: Vec<String>,
    /// Where every decision is written; algorithms then run one after another.
    pub decisions: Option<&'a mut dyn DecisionWriter>,
}

/// A case made ready: everything that can be wrong with it is known.
struct Ready {
    traffic: Traffic,
    contenders: Vec<Contender>,
    resolved: Json,
    estimate: Estimate,
}

/// Runs a scenario.
///
/// # Errors
/// Every problem of the scenario and its inputs, or [`Error::Interrupted`].
pub fn simulate(
    scenario: &Scenario,
    mut options: Options,
    progress: &dyn Progress,
) -> Result<Findings, Error> {
    let folder = scenario.path.parent().unwrap_or(Path::new(""));
    let mut ready = Vec::new();
    for case in &scenario.cases {
        ready.push(prepare(case, folder, &options.only)?);
    }
    let rows = scenario.cases.iter().zip(&ready).enumerate().map(|(index, (case, ready))| {
        run_case(index, case, ready, &mut options, progress)
    });
    let rows: Vec<Row> = rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let cases = scenario.cases.iter().zip(&ready).map(|(case, ready)| describe(case, ready));
    Ok(Findings {
        comparison: Comparison {
            scenario: scenario.name.clone(),
            about: scenario.about.clone(),
            cases: cases.collect(),
            rows,
        },
        resolved: ready.iter().map(|ready| ready.resolved.clone()).collect(),
        inputs: ready.iter().map(|ready| ready.traffic.inputs.clone()).collect(),
        estimates: ready.iter().map(|ready| ready.estimate).collect(),
    })
}

fn prepare(case: &Case, folder: &Path, only: &[String]) -> Result<Ready, Error> {
    let problems = Problems::new();
    let mut contenders = Contender::of(case, &problems);
    // Problems of the traffic and of the algorithms are reported together.
    let built = traffic::build(case, folder);
    let (traffic, sources) = match (problems.so_far(), built) {
        (Ok(()), built) => built?,
        (Err(Error::Input(mut all)), Err(Error::Input(more))) => {
            all.extend(more);
            return Err(Error::Input(all));
        }
        (Err(error), _) => return Err(error),
    };
    let estimate = Estimate::of(&case.limits, &traffic);
    estimate.check(case, &problems);
    problems.into_result()?;
    if !only.is_empty() {
        contenders.retain(|contender| only.contains(&contender.name));
    }
    let mut resolved = Map::new();
    if !case.name.is_empty() {
        resolved.insert("case".to_owned(), json!(case.name));
    }
    resolved.extend(case.resolved.clone());
    resolved.insert("start".to_owned(), traffic.window.start.json());
    resolved.insert("duration".to_owned(), traffic.window.span().json());
    resolved.insert("traffic".to_owned(), Json::Array(sources));
    let options = contenders.iter().map(|contender| contender.resolved.clone());
    resolved.insert("algorithm".to_owned(), options.collect());
    Ok(Ready { traffic, contenders, resolved: Json::Object(resolved), estimate })
}

fn run_case(
    index: usize,
    case: &Case,
    ready: &Ready,
    options: &mut Options,
    progress: &dyn Progress,
) -> Result<Vec<Row>, Error> {
    let keys = KeyPlan::new(&case.limits, &ready.traffic);
    let plan = Plan {
        traffic: &ready.traffic,
        limits: &case.limits,
        keys: &keys,
        combine: case.combine,
    };
    let row = |contender: &Contender, tally: Tally| Row {
        case: index,
        algorithm: contender.name.clone(),
        kind: contender.kind,
        replica: 0,
        seed: case.seed.0,
        tally,
    };
    let total = ready.estimate.requests.saturating_mul(ready.contenders.len() as u64 + 1);
    progress.begin(&case.name, total);
    let reference = reference(&plan, progress)?;
    let one = |contender: &Contender, mut watch: Watch| {
        let limiters = contender.limiters(&case.limits);
        let queues = algorithm::ALGORITHMS[contender.kind].queues;
        world::run(&plan, limiters, queues, Some(&reference), &mut watch)
            .map(|(tally, _)| tally)
            .map_err(|Stopped| Error::Interrupted)
    };
    if let Some(writer) = options.decisions.as_deref_mut() {
        return ready
            .contenders
            .iter()
            .map(|contender| {
                writer.begin(&case.name, &contender.name, 0);
                let watch = Watch { progress, traffic: &ready.traffic, writer: Some(writer) };
                one(contender, watch).map(|tally| row(contender, tally))
            })
            .collect();
    }
    let next = AtomicUsize::new(0);
    let tallies: Vec<Mutex<Option<Result<Tally, Error>>>> =
        ready.contenders.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..options.threads.clamp(1, ready.contenders.len().max(1)) {
            scope.spawn(|| {
                while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed))
                    && let Some(contender) = ready.contenders.get(index)
                {
                    let watch = Watch { progress, traffic: &ready.traffic, writer: None };
                    let result = one(contender, watch);
                    if let Ok(mut slot) = tallies[index].lock() {
                        *slot = Some(result);
                    }
                }
            });
        }
    });
    let results = tallies.into_iter().map(|slot| slot.into_inner().ok().flatten());
    ready
        .contenders
        .iter()
        .zip(results)
        .map(|(contender, result)| {
            let tally = result.unwrap_or(Err(Error::Interrupted))?;
            Ok(row(contender, tally))
        })
        .collect()
}

/// The decisions of the sliding window log with its defaults over the same traffic, against which
/// the others are compared.
fn reference(plan: &Plan, progress: &dyn Progress) -> Result<Decisions, Error> {
    let kind = algorithm::ALGORITHMS.iter().position(|kind| kind.name == "sliding-window-log");
    let log = kind.and_then(|kind| Contender::plain(kind, plan.limits, &Problems::new()));
    let Some(log) = log else { return Err(Error::failed("compare", "there is no reference")) };
    let mut watch = Watch { progress, traffic: plan.traffic, writer: None };
    world::run(plan, log.limiters(plan.limits), false, None, &mut watch)
        .map(|(_, decisions)| decisions)
        .map_err(|Stopped| Error::Interrupted)
}

/// Passes progress and decisions on.
struct Watch<'a> {
    progress: &'a dyn Progress,
    traffic: &'a Traffic,
    writer: Option<&'a mut dyn DecisionWriter>,
}

impl Observer for Watch<'_> {
    fn decided(&mut self, decided: Decided) {
        if let Some(writer) = &mut self.writer {
            writer.row(self.traffic, &decided);
        }
    }

    fn progressed(&mut self, attempts: u64) -> bool {
        self.progress.advance(attempts);
        !self.progress.stop()
    }
}

fn describe(case: &Case, ready: &Ready) -> CaseInfo {
    let traffic = &ready.traffic;
    let mut notes: Vec<String> = Vec::new();
    for input in &traffic.inputs {
        notes.push(format!("{}: {} of {} lines used", input.path, input.used, input.lines));
        let skipped = input.skipped.iter().map(|skipped| {
            format!(
                "{}: {} lines not used, the first in line {}: {}",
                input.path, skipped.lines, skipped.first, skipped.reason
            )
        });
        notes.extend(skipped);
        notes.extend(input.notes.iter().map(|note| format!("{}: {note}", input.path)));
    }
    if traffic.outside > 0 {
        notes.push(format!("{} recorded requests lie outside the run", traffic.outside));
    }
    CaseInfo {
        name: case.name.clone(),
        limits: case.limits.iter().map(|spec| (spec.name.clone(), words(spec))).collect(),
        window: traffic.window,
        notes,
    }
}

/// A limit in words: "100 per 60s for each client".
fn words(spec: &LimitSpec) -> String {
    let key = match &spec.key {
        crate::scenario::Key::Everything => "for everything together".to_owned(),
        key => format!("for each {key}"),
    };
    let mut words = format!("{} {key}", spec.limit);
    if !spec.endpoints.is_empty() {
        words += &format!(" at {}", spec.endpoints.join(", "));
    }
    if spec.counts != Counts::Cost {
        words += &format!(", counting {}", spec.counts.name());
    }
    for tier in &spec.tiers {
        words += &format!("; {}: {}", tier.name, tier.limit);
    }
    words
}
