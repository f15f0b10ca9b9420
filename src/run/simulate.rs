//! All cases of a scenario through all of their algorithms.

use serde_json::Value as Json;

use super::bulk;
use super::contender::Contender;
use super::describe;
use super::estimate::Estimate;
use super::expectations;
use super::pool::{self, Work};
use super::prepare::{Prepared, PreparedCase, unnamed};
use super::progress::{Progress, Unit};
use super::reference::Reference;
use super::stage::Stage;
use super::watch::Watch;
use crate::error::Error;
use crate::judge::Tally;
use crate::metrics::{Comparison, Repeat, Row, values};
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::traffic::{Input, Traffic};
use crate::world::Decided;

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

impl Findings {
    /// Leaves the first case alone, as if there had been no others: it has no name then.
    pub fn keep_first_case(&mut self) {
        let Comparison { cases, rows, baseline, .. } = &mut self.comparison;
        cases.truncate(1);
        rows.retain(|row| row.case == 0);
        *baseline = 0;
        for case in cases {
            case.name.clear();
        }
        self.resolved.truncate(1);
        self.resolved.iter_mut().for_each(unnamed);
        self.inputs.truncate(1);
        self.estimates.truncate(1);
    }
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
    /// At most so many runs at a time; 0 counts as 1. Changes no result.
    pub threads: usize,
    /// Where every decision is written; runs are then made one after another, replica by replica.
    pub decisions: Option<&'a mut dyn DecisionSink>,
    /// Which engine makes the runs.
    pub engine: Engine,
}

/// What makes runs. Both find the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// The bulk engine for what it takes, unless single decisions are asked for; else the event engine.
    #[default]
    Fastest,
    /// The event engine for all.
    Events,
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
    let mut rows: Vec<Row> = Vec::new();
    let mut cases = Vec::new();
    for (index, (case, ready)) in scenario.cases.iter().zip(&prepared.cases).enumerate() {
        let span = ready.traffic.window.span();
        let (unit, whole) = Unit::of(case, ready.estimate.requests, span);
        // An open loop has the reference besides.
        let runs = ready.contenders.len() as u64 + u64::from(unit == Unit::Attempts);
        let runs = runs * u64::from(scenario.replicas);
        let mut what = [scenario.name.as_str(), &case.name].join(" ").trim_end().to_owned();
        if scenario.replicas > 1 {
            what += &format!(", {} replicas", scenario.replicas);
        }
        progress.begin(&what, whole.saturating_mul(runs), unit);
        let found = run_case(index, scenario, ready, &mut options, progress);
        progress.end();
        rows.extend(found?);
        cases.push(describe::case(case, &ready.traffic, prepared.is_closed_loop()));
    }
    Ok(Findings {
        comparison: Comparison {
            scenario: scenario.name.clone(),
            about: scenario.about.clone(),
            cases,
            baseline: scenario.baseline,
            rows,
        },
        resolved: prepared.cases.iter().map(|ready| ready.resolved.clone()).collect(),
        inputs: prepared.cases.iter().map(|ready| ready.traffic.inputs.clone()).collect(),
        estimates: prepared.cases.iter().map(|ready| ready.estimate).collect(),
    })
}

/// So many requests (96 MiB of them) are stored once; more are made up anew for every algorithm.
pub(super) const STORED: u64 = 1 << 22;

/// All runs of a case.
fn run_case(
    index: usize,
    scenario: &Scenario,
    ready: &PreparedCase,
    options: &mut Options,
    progress: &dyn Progress,
) -> Result<Vec<Row>, Error> {
    let case = &scenario.cases[index];
    let contenders = &ready.contenders;
    let kept = |replica: u32, seed: Seed, contender: &Contender, tally: Tally| match replica {
        0 => Found::First(Box::new(tally)),
        _ => Found::Other(Repeat {
            seed: seed.0,
            values: values(&tally),
            expected: expectations::found(scenario, &case.name, &contender.name, &tally),
        }),
    };
    let found = |stage: &Stage, contender: &Contender, watch: &mut Watch| {
        let tally = stage.run(contender, watch)?;
        Ok(kept(stage.replica, stage.seed, contender, tally))
    };
    let bulk = options.engine == Engine::Fastest && options.decisions.is_none();
    let in_bulk = if bulk { bulk::takes(case, ready) } else { None };
    let results: Vec<Vec<Found>> = if let Some(keys) = in_bulk {
        let mut results = Vec::new();
        for replica in 0..scenario.replicas {
            let tallies = bulk::run(replica, case, ready, &keys, options.threads, progress)?;
            let found = tallies.into_iter().zip(contenders);
            let seed = case.seed.replica(replica);
            results.push(
                found.map(|(tally, contender)| kept(replica, seed, contender, tally)).collect(),
            );
        }
        results
    } else if let Some(sink) = options.decisions.as_deref_mut() {
        let mut results = Vec::new();
        for replica in 0..scenario.replicas {
            let stage = Stage::open(replica, case, ready, progress)?;
            let mut of_replica = Vec::new();
            for contender in contenders {
                sink.begin(&case.name, &contender.name, replica);
                let mut watch = Watch::new(case, progress, &stage.traffic, Some(&mut *sink));
                of_replica.push(found(&stage, contender, &mut watch)?);
            }
            results.push(of_replica);
        }
        results
    } else {
        let work = Work { stages: scenario.replicas as usize, parts: contenders.len() };
        let open = |replica: usize| Stage::open(replica as u32, case, ready, progress);
        let part = |stage: &Stage, part: usize| {
            let mut watch = Watch::new(case, progress, &stage.traffic, None);
            found(stage, &contenders[part], &mut watch)
        };
        let stored = Some(ready.estimate.requests).filter(|&requests| requests <= STORED);
        let shared = match scenario.replicas {
            1 => 0,
            _ => Estimate::shared_bytes(&ready.traffic, stored.unwrap_or(0)),
        };
        let threads = options.threads.min(ready.estimate.fitting(case, shared));
        pool::run(work, threads, open, part)?
    };
    let mut rows: Vec<Row> = Vec::new();
    for (position, found) in results.into_iter().flat_map(|found| found.into_iter().enumerate()) {
        match found {
            Found::First(tally) => rows.push(Row {
                case: index,
                algorithm: contenders[position].name.clone(),
                kind: contenders[position].kind,
                seed: case.seed.0,
                reference: Reference::told(&contenders[position], case)?,
                tally: *tally,
                repeats: Vec::new(),
            }),
            Found::Other(repeat) => rows[position].repeats.push(repeat),
        }
    }
    Ok(rows)
}

/// What is kept of a run.
enum Found {
    First(Box<Tally>),
    Other(Repeat),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm;
    use crate::judge::Wrong;
    use crate::run::{Silent, prepare};
    use crate::scenario::Changes;
    use std::path::Path;
    use std::sync::atomic::Ordering;

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
        let options = Options { threads, ..Options::default() };
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

    #[test]
    fn replicas_are_runs_of_their_own_under_the_seeds_derived() {
        let cases = "[[case]]\nname = \"a\"\n\
                     [[case]]\nname = \"b\"\nset = { seed = 5, limit = \"9/10s\" }\n";
        let ready = |text: String| {
            let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default());
            prepare(scenario.unwrap(), &[]).unwrap()
        };
        let replicated = ready(format!("replicas = 3\n{BASE}{cases}"));
        let of = |prepared: &Prepared, threads| {
            let options = Options { threads, ..Options::default() };
            simulate(prepared, options, &Silent::default()).unwrap().comparison.rows
        };
        let rows = of(&replicated, 1);
        for threads in [2, 7] {
            for (one, other) in rows.iter().zip(of(&replicated, threads)) {
                assert!(one.tally == other.tally && one.repeats == other.repeats);
            }
        }
        for (case, seed, limit) in [(0, 1, "20/10s"), (1, 5, "9/10s")] {
            for replica in 0..3 {
                let seed = crate::seed::Seed(seed).replica(replica).0;
                let text = format!("seed = {seed}\n{BASE}").replace("20/10s", limit);
                let alone = of(&ready(text), 1);
                let of_case: Vec<&Row> = rows.iter().filter(|row| row.case == case).collect();
                assert_eq!(of_case.len(), alone.len());
                for (row, alone) in of_case.into_iter().zip(alone) {
                    let single = row.singles().nth(replica as usize).unwrap();
                    assert_eq!((single.seed, single.values), (seed, values(&alone.tally)));
                }
            }
        }
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
        let options = Options { threads: 1, decisions: Some(&mut sink), ..Options::default() };
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
        let options = Options { threads: 1, decisions: Some(&mut sink), ..Options::default() };
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
