//! All cases of a scenario through all of their algorithms.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value as Json;

use super::contender::Contender;
use super::describe;
use super::estimate::Estimate;
use super::prepare::{Prepared, PreparedCase};
use super::progress::{Progress, Unit, micros};
use crate::algorithm;
use crate::error::{Error, Problem, Problems};
use crate::judge::{Tally, Wrong};
use crate::metrics::{Comparison, Row};
use crate::scenario::Case;
use crate::time::{Instant, Span};
use crate::traffic::{Arrival, Input, Traffic};
use crate::world::{self, Decided, Decisions, KeyPlan, Observer, Plan, Stopped};

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

/// Where every single decision goes, run by run.
pub trait DecisionSink {
    /// The decisions of a run follow.
    fn begin(&mut self, case: &str, algorithm: &str, replica: u32);

    /// One decision.
    ///
    /// # Errors
    /// If it cannot be written; the run then ends.
    fn decided(&mut self, traffic: &Traffic, decided: &Decided) -> Result<(), Error>;
}

/// How to simulate.
#[derive(Default)]
pub struct Options<'a> {
    /// At most so many algorithms at a time; 0 counts as 1. Changes no result.
    pub threads: usize,
    /// Where every decision is written; algorithms then run one after another.
    pub decisions: Option<&'a mut dyn DecisionSink>,
}

/// Runs a scenario.
///
/// # Errors
/// [`Error::Interrupted`], or whatever the sink of the decisions reported.
pub fn simulate(
    prepared: &Prepared,
    mut options: Options,
    progress: &dyn Progress,
) -> Result<Findings, Error> {
    let scenario = &prepared.scenario;
    let mut rows = Vec::new();
    let mut cases = Vec::new();
    for (index, (case, ready)) in scenario.cases.iter().zip(&prepared.cases).enumerate() {
        let unit = Unit::of(case);
        let whole = unit.whole(ready.estimate.requests, ready.traffic.window.span());
        // An open loop has the reference besides.
        let runs = ready.contenders.len() as u64 + u64::from(unit == Unit::Attempts);
        let what = [scenario.name.as_str(), &case.name].join(" ");
        progress.begin(what.trim_end(), whole.saturating_mul(runs), unit);
        let found = run_case(index, case, ready, &mut options, progress);
        progress.end();
        rows.extend(found?);
        cases.push(describe::case(case, &ready.traffic));
    }
    Ok(Findings {
        comparison: Comparison {
            scenario: scenario.name.clone(),
            about: scenario.about.clone(),
            cases,
            rows,
        },
        resolved: prepared.cases.iter().map(|ready| ready.resolved.clone()).collect(),
        inputs: prepared.cases.iter().map(|ready| ready.traffic.inputs.clone()).collect(),
        estimates: prepared.cases.iter().map(|ready| ready.estimate).collect(),
    })
}

/// So many requests (96 MiB of them) are stored once; more are made up anew for every algorithm.
const STORED: u64 = 1 << 22;

fn run_case(
    index: usize,
    case: &Case,
    ready: &PreparedCase,
    options: &mut Options,
    progress: &dyn Progress,
) -> Result<Vec<Row>, Error> {
    let keys = KeyPlan::new(&case.limits, &ready.traffic);
    let few = ready.estimate.requests <= STORED;
    let stored: Option<Vec<Arrival>> = few.then(|| ready.traffic.merged().collect());
    let plan = Plan::of(case, &ready.traffic, stored.as_deref(), &keys);
    let row = |contender: &Contender, tally: Tally| Row {
        case: index,
        algorithm: contender.name.clone(),
        kind: contender.kind,
        replica: 0,
        seed: case.seed.0,
        tally,
    };
    let reference = match plan.is_closed_loop() {
        true => None,
        false => Some(Reference::over(case, &plan, progress)?),
    };
    let one = |contender: &Contender, watch: &mut Watch| {
        if let Some(reference) = &reference
            && watch.sink.is_none()
            && contender.decides_as(&reference.log)
        {
            return Ok(reference.tally());
        }
        let limiters = contender.limiters(&case.limits);
        let queues = algorithm::ALGORITHMS[contender.kind].queues;
        let decisions = reference.as_ref().map(|reference| &reference.decisions);
        let result = world::run(&plan, limiters, queues, decisions, watch);
        watch.outcome(result).map(|(tally, _)| tally)
    };
    if let Some(sink) = options.decisions.as_deref_mut() {
        let mut rows = Vec::new();
        for contender in &ready.contenders {
            sink.begin(&case.name, &contender.name, 0);
            let mut watch = Watch::new(case, progress, &ready.traffic, Some(sink));
            rows.push(row(contender, one(contender, &mut watch)?));
        }
        return Ok(rows);
    }
    // As many at a time as fit into the memory that one alone may take.
    let memory = case.max_memory_mib.saturating_mul(1 << 20);
    let fit = memory / ready.estimate.memory_bytes.max(1);
    let threads = options.threads.min(usize::try_from(fit).unwrap_or(usize::MAX));
    let next = AtomicUsize::new(0);
    let tallies: Vec<Mutex<Option<Result<Tally, Error>>>> =
        ready.contenders.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, ready.contenders.len().max(1)) {
            scope.spawn(|| {
                while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed))
                    && let Some(contender) = ready.contenders.get(index)
                {
                    let mut watch = Watch::new(case, progress, &ready.traffic, None);
                    let result = one(contender, &mut watch);
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

/// The sliding window log with its defaults over the same traffic, against whose decisions the
/// others are compared.
struct Reference {
    log: Contender,
    tally: Tally,
    decisions: Decisions,
}

impl Reference {
    fn over(case: &Case, plan: &Plan, progress: &dyn Progress) -> Result<Reference, Error> {
        let kind = algorithm::position("sliding-window-log");
        let log = kind.and_then(|kind| Contender::plain(kind, plan.limits, &Problems::new()));
        let Some(log) = log else { return Err(Error::failed("compare", "there is no reference")) };
        let mut watch = Watch::new(case, progress, plan.traffic, None);
        let result = world::run(plan, log.limiters(plan.limits), false, None, &mut watch);
        let (tally, decisions) = watch.outcome(result)?;
        Ok(Reference { log, tally, decisions })
    }

    /// What a contender finds that decides as the reference does.
    fn tally(&self) -> Tally {
        Tally { wrong: Some(Wrong::default()), ..self.tally.clone() }
    }
}

/// Passes progress and decisions on.
struct Watch<'a> {
    case: &'a Case,
    progress: &'a dyn Progress,
    traffic: &'a Traffic,
    sink: Option<&'a mut dyn DecisionSink>,
    failure: Option<Error>,
    unit: Unit,
    /// Simulated time told so far, in microseconds.
    told: u64,
}

impl<'a> Watch<'a> {
    fn new(
        case: &'a Case,
        progress: &'a dyn Progress,
        traffic: &'a Traffic,
        sink: Option<&'a mut dyn DecisionSink>,
    ) -> Watch<'a> {
        Watch { case, progress, traffic, sink, failure: None, unit: Unit::of(case), told: 0 }
    }

    /// What a run came to, and why it stopped if it did.
    fn outcome<T>(&mut self, result: Result<T, Stopped>) -> Result<T, Error> {
        match (result, self.failure.take()) {
            (_, Some(failure)) => Err(failure),
            (Err(Stopped::ByObserver), None) => Err(Error::Interrupted),
            (Err(Stopped::TooManyAttempts { at }), None) => {
                Err(too_many_attempts(self.case, self.traffic, at))
            }
            (Ok(value), None) => Ok(value),
        }
    }
}

/// A run that was cut off because clients never stopped retrying.
fn too_many_attempts(case: &Case, traffic: &Traffic, at: Instant) -> Error {
    let Case { max_attempts, place, .. } = case;
    let reached = at - traffic.window.start;
    let message = format!(
        "the run was cut off {reached} after its start: clients had made more than \
         `max-attempts` = {max_attempts} attempts"
    );
    let help = "give clients a cap on `attempts`, a longer delay or a budget, shorten `duration`, or raise \
                `max-attempts`";
    Error::input(Problem::at(place, message).help(help))
}

impl Observer for Watch<'_> {
    fn decided(&mut self, decided: Decided) {
        if let (Some(sink), None) = (&mut self.sink, &self.failure) {
            self.failure = sink.decided(self.traffic, &decided).err();
        }
    }

    fn progressed(&mut self, reached: Span, attempts: u64) -> bool {
        let new = match self.unit {
            Unit::Attempts => attempts,
            Unit::SimulatedTime => {
                let reached = micros(reached);
                reached - std::mem::replace(&mut self.told, reached)
            }
        };
        self.progress.advance(new);
        self.failure.is_none() && !self.progress.stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Silent, prepare};
    use crate::scenario::{Changes, Scenario};
    use std::path::Path;

    #[test]
    fn without_any_traffic_no_decision_differs_from_the_reference() {
        let text = "name = \"t\"\nduration = \"1m\"\nlimit = \"20/10s\"\n\
                    [[traffic]]\nkind = \"steady\"\nrate = \"0/s\"\n";
        let changes = Changes::default();
        let scenario = Scenario::parse(Path::new("t.toml"), text.to_owned(), &changes).unwrap();
        let prepared = prepare(scenario, &[]).unwrap();
        let rows = rows(&prepared, 1);
        assert!(!rows.is_empty());
        for (_, algorithm, tally) in rows {
            assert_eq!(tally.wrong, Some(Wrong::default()), "{algorithm}");
        }
    }

    const BASE: &str = "name = \"t\"\nstart = \"12:00:00\"\nduration = \"1m\"\nlimit = \"20/10s\"\n\
                        [[traffic]]\nkind = \"poisson\"\nrate = \"20/s\"\nclients = 5\n";

    fn prepared(text: &str) -> Prepared {
        let text = format!("{BASE}{text}");
        let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default()).unwrap();
        prepare(scenario, &[]).unwrap()
    }

    fn rows(prepared: &Prepared, threads: usize) -> Vec<(usize, String, Tally)> {
        let options = Options { threads, decisions: None };
        let findings = simulate(prepared, options, &Silent::default()).unwrap();
        findings
            .comparison
            .rows
            .into_iter()
            .map(|row| (row.case, row.algorithm, row.tally))
            .collect()
    }

    #[test]
    fn threads_and_the_order_of_the_algorithms_change_no_number() {
        let all = rows(&prepared(""), 1);
        assert_eq!(all.len(), algorithm::ALGORITHMS.len());
        assert!(rows(&prepared(""), 4) == all);
        let mut reversed = String::new();
        for (_, name, _) in all.iter().rev() {
            reversed += &format!("[[algorithm]]\nkind = \"{name}\"\n");
        }
        assert!(rows(&prepared(&reversed), 3) == all);
    }

    #[test]
    fn the_log_never_differs_from_the_reference() {
        let cases =
            "[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\nset.combine = \"independent\"\n";
        let rows = rows(&prepared(cases), 2);
        let logs = rows.iter().filter(|(_, name, _)| name == "sliding-window-log");
        let wrong: Vec<_> = logs.map(|(case, _, tally)| (*case, tally.wrong.unwrap())).collect();
        let none = crate::judge::Wrong::default();
        assert_eq!(wrong, [(0, none), (1, none)]);
    }

    /// Counts decisions by run, and fails after so many.
    struct Counting {
        runs: Vec<(String, usize)>,
        room: usize,
    }

    impl DecisionSink for Counting {
        fn begin(&mut self, case: &str, algorithm: &str, replica: u32) {
            self.runs.push((format!("{case} {algorithm} {replica}"), 0));
        }

        fn decided(&mut self, _: &Traffic, _: &Decided) -> Result<(), Error> {
            if self.room == 0 {
                return Err(Error::failed("write it", "the disk is full"));
            }
            self.room -= 1;
            if let Some((_, decided)) = self.runs.last_mut() {
                *decided += 1;
            }
            Ok(())
        }
    }

    #[test]
    fn every_decision_of_every_run_reaches_the_sink() {
        let prepared = prepared("[[case]]\nname = \"a\"\n");
        let mut sink = Counting { runs: Vec::new(), room: usize::MAX };
        let options = Options { threads: 1, decisions: Some(&mut sink) };
        let findings = simulate(&prepared, options, &Silent::default()).unwrap();
        let attempts: Vec<_> = findings
            .comparison
            .rows
            .iter()
            .map(|row| (format!("a {} 0", row.algorithm), row.tally.books.attempts as usize))
            .collect();
        assert_eq!(sink.runs, attempts);
    }

    #[test]
    fn a_sink_that_fails_and_a_user_who_has_enough_end_the_run() {
        let prepared = prepared("");
        let mut sink = Counting { runs: Vec::new(), room: 3 };
        let options = Options { threads: 1, decisions: Some(&mut sink) };
        let failed = simulate(&prepared, options, &Silent::default()).err().unwrap();
        assert!(failed.to_string().contains("cannot write it: the disk is full"), "{failed}");
        let silent = Silent::default();
        silent.stopped.store(true, Ordering::Relaxed);
        // A run is asked whether to go on only now and then: this one is long enough.
        let long = "[[traffic]]\nkind = \"burst\"\nrequests = 20000\n";
        let prepared = self::prepared(long);
        let stopped = simulate(&prepared, Options::default(), &silent).err().unwrap();
        assert!(matches!(stopped, Error::Interrupted), "{stopped}");
    }
}
