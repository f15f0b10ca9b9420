//! A scenario made ready to run: everything that can be wrong with it is known before anything runs.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::bulk;
use super::contender::Contender;
use super::estimate::Estimate;
use super::expectations;
use super::once::Once;
use super::progress::{Progress, Silent, Unit};
use crate::error::{Error, Problem, Problems, suggest};
use crate::params::Setting;
use crate::scenario::{Case, Scenario};
use crate::traffic::{self, Readers, Traffic};

/// A scenario that can run.
pub struct Prepared {
    /// The scenario.
    pub scenario: Scenario,
    /// Its cases, in the order of the scenario.
    pub(super) cases: Vec<PreparedCase>,
}

impl Prepared {
    /// The traffic of a case, by its position in the scenario.
    ///
    /// # Panics
    /// If there is no such case.
    pub fn traffic(&self, case: usize) -> &Traffic {
        &self.cases[case].traffic
    }

    /// The algorithms of a case, by its position in the scenario.
    ///
    /// # Panics
    /// If there is no such case.
    pub fn contenders(&self, case: usize) -> &[Contender] {
        &self.cases[case].contenders
    }

    /// All settings of a case with their defaults, by its position in the scenario.
    ///
    /// # Panics
    /// If there is no such case.
    pub fn resolved(&self, case: usize) -> &Json {
        &self.cases[case].resolved
    }

    /// Leaves the first case alone, as if there had been no others: it has no name then.
    pub fn keep_first_case(&mut self) {
        self.cases.truncate(1);
        self.scenario.cases.truncate(1);
        self.scenario.baseline = 0;
        for case in &mut self.scenario.cases {
            case.name.clear();
        }
        for case in &mut self.cases {
            unnamed(&mut case.resolved);
        }
    }

    /// Whether requests of a record are kept in memory.
    pub fn has_records(&self) -> bool {
        let mut sources = self.cases.iter().flat_map(|case| &case.traffic.sources);
        sources.any(|source| source.range().is_some())
    }

    /// Lets go of all but the scenario: it cannot be run again.
    pub fn let_go(&mut self) {
        self.cases.clear();
    }

    /// About so many decisions will be made at least, if every request is sent once, and at most.
    pub fn decisions(&self) -> (u64, u64) {
        let of = |count: fn(&Estimate) -> u64| {
            let of = |case: &PreparedCase| {
                count(&case.estimate).saturating_mul(case.contenders.len() as u64)
            };
            let of_a_replica = self.cases.iter().map(of).fold(0, u64::saturating_add);
            of_a_replica.saturating_mul(u64::from(self.scenario.replicas))
        };
        (of(|bounds| bounds.requests), of(|bounds| bounds.attempts.unwrap_or(bounds.requests)))
    }

    /// Whether clients react to answers in any case.
    pub fn is_closed_loop(&self) -> bool {
        self.scenario.cases.iter().any(Case::is_closed_loop)
    }

    /// Whether the bulk engine makes the runs of any case.
    pub fn is_bulk(&self) -> bool {
        let mut cases = self.scenario.cases.iter().zip(&self.cases);
        cases.any(|(case, ready)| bulk::takes(case, ready).is_some())
    }

    /// Whether several nodes decide, or share a store, in any case.
    pub fn has_fleet(&self) -> bool {
        self.scenario.cases.iter().any(|case| case.fleet.is_some())
    }
}

/// A case with its traffic and algorithms.
pub(super) struct PreparedCase {
    /// Of the first replica; cases that agree in all that makes it share it.
    pub(super) traffic: Arc<Traffic>,
    /// The tables of the traffic as resolved.
    sources: Vec<Json>,
    pub(super) contenders: Vec<Contender>,
    pub(super) resolved: Json,
    pub(super) estimate: Estimate,
}

/// Reads the inputs of a scenario and resolves every name in it; `only` names the algorithms to run,
/// none means all.
///
/// # Errors
/// Every problem of the scenario and its inputs.
pub fn prepare(scenario: Scenario, only: &[String]) -> Result<Prepared, Error> {
    let problems = Problems::new();
    let prepared = prepare_with(scenario, only, &problems, &Silent::default(), 1)?;
    problems.into_result()?;
    Ok(prepared)
}

/// As [`prepare`], with problems added to those that are there; the result can run only if there are
/// none at all. `progress` is told while records are read, by so many threads.
///
/// # Errors
/// What is not the user's mistake, [`Error::Interrupted`] among it.
pub fn prepare_with(
    scenario: Scenario,
    only: &[String],
    problems: &Problems,
    progress: &dyn Progress,
    threads: usize,
) -> Result<Prepared, Error> {
    let contenders: Vec<Vec<Contender>> =
        scenario.cases.iter().map(|case| Contender::of(case, problems)).collect();
    expectations::check_names(&scenario, &contenders, problems);
    for name in only {
        let known: Vec<&str> = contenders.iter().flatten().map(|c| c.name.as_str()).collect();
        if !known.contains(&name.as_str()) {
            let message = format!("`--only {name}`: no such algorithm in `{}`", scenario.name);
            problems.add(Problem::new(message).help(suggest(name, known)));
        }
    }
    let folder = scenario.path.parent().unwrap_or(Path::new(""));
    let mut once = Once::default();
    let mut cases: Vec<PreparedCase> = Vec::new();
    // A case whose traffic has problems is left out, and nothing is run then.
    let mut positions: Vec<usize> = Vec::new();
    for (position, (case, mut contenders)) in scenario.cases.iter().zip(contenders).enumerate() {
        let others = positions.iter().zip(&cases);
        let others = || others.clone().map(|(&other, ready)| (&scenario.cases[other], ready));
        let built = match others().find(|(other, _)| same_traffic(other, case)) {
            Some((_, other)) => Some((Arc::clone(&other.traffic), other.sources.clone())),
            None => {
                let same = others().filter(|(other, _)| same_record(other, case));
                let respread = |(_, other): (&Case, &PreparedCase)| {
                    traffic::respread(case, &other.traffic, &other.sources)
                };
                let shared = same.into_iter().find_map(respread);
                let later = &scenario.cases[position + 1..];
                let keep = later.iter().any(|later| same_record(later, case));
                if shared.is_none() && !once.begin(&case.traffic, folder, problems) {
                    continue;
                }
                let traffic = shared.unwrap_or_else(|| read(case, folder, keep, progress, threads));
                problems.keep(traffic)?.map(|(traffic, sources)| (Arc::new(traffic), sources))
            }
        };
        let Some((traffic, sources)) = built else { continue };
        positions.push(position);
        if case.duration.is_none() {
            case.check_within(traffic.window.span(), problems);
        }
        let estimate = Estimate::of(case, &traffic);
        estimate.check(case, problems);
        contenders.retain(|contender| only.is_empty() || only.contains(&contender.name));
        let resolved = resolve(case, &traffic, &sources, &contenders);
        cases.push(PreparedCase { traffic, sources, contenders, resolved, estimate });
    }
    Ok(Prepared { scenario, cases })
}

/// Whether two cases have the same traffic: all that it is made of is the same.
fn same_traffic(one: &Case, other: &Case) -> bool {
    let made_of = |case: &Case| (case.seed, case.start, case.duration);
    made_of(one) == made_of(other) && one.traffic == other.traffic
}

/// Whether two cases read the same records, whatever they then make of the requests of one second.
fn same_record(one: &Case, other: &Case) -> bool {
    traffic::same_record(&one.traffic, &other.traffic)
}

/// Builds the traffic of a case, telling how much of its records was read.
fn read(
    case: &Case,
    folder: &Path,
    keep_stamps: bool,
    progress: &dyn Progress,
    threads: usize,
) -> Result<(Traffic, Vec<Json>), Error> {
    let told = Cell::new(None);
    let watch = |read: u64, total: Option<u64>| {
        let before = told.replace(Some(read));
        if before.is_none_or(|before| before > read) {
            progress.begin("reading", total.unwrap_or(0), Unit::Bytes);
        }
        progress.advance(read.saturating_sub(before.unwrap_or(0)));
        if progress.stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let built = traffic::build_with(case, folder, Readers { watch: &watch, threads, keep_stamps });
    if told.get().is_some() {
        progress.end();
    }
    built
}

/// All settings of a case with their defaults.
fn resolve(case: &Case, traffic: &Traffic, sources: &[Json], contenders: &[Contender]) -> Json {
    let mut resolved = Map::new();
    if !case.name.is_empty() {
        resolved.insert("case".to_owned(), json!(case.name));
    }
    resolved.extend(case.resolved.clone());
    resolved.insert("start".to_owned(), traffic.window.start.json());
    resolved.insert("duration".to_owned(), traffic.window.span().json());
    resolved.insert("traffic".to_owned(), Json::Array(sources.to_vec()));
    let options = contenders.iter().map(|contender| contender.resolved.clone());
    resolved.insert("algorithm".to_owned(), options.collect());
    Json::Object(resolved)
}

/// Takes the name of its case from what was resolved.
pub(super) fn unnamed(resolved: &mut Json) {
    if let Some(resolved) = resolved.as_object_mut() {
        resolved.shift_remove("case");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Changes;

    const TRAFFIC: &str = "[[traffic]]\nkind = \"burst\"\nrequests = 3\n";

    fn prepared(text: &str, only: &[&str]) -> Result<Prepared, String> {
        let text = format!("name = \"t\"\nlimit = \"1/1s\"\n{text}");
        let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default());
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        let prepared = scenario.and_then(|scenario| prepare(scenario, &only));
        prepared.map_err(|error| error.render(false))
    }

    #[test]
    fn what_was_left_out_is_resolved_with_its_default() {
        let prepared = prepared(&format!("duration = \"2s\"\n{TRAFFIC}"), &["gcra"]).unwrap();
        let resolved = &prepared.cases[0].resolved;
        assert_eq!(resolved["start"], "2026-01-01T00:00:00Z");
        assert_eq!(resolved["duration"], "2s");
        assert_eq!(resolved["traffic"][0]["at"], "0s");
        assert_eq!(resolved["algorithm"][0]["backwards"], "freeze");
        assert_eq!(resolved["algorithm"].as_array().unwrap().len(), 1);
        assert_eq!(prepared.decisions(), (3, 3));
    }

    #[test]
    fn problems_of_traffic_and_algorithms_are_reported_together() {
        let text = "duration = \"2s\"\n[[traffic]]\nkind = \"brust\"\n\
                    [[algorithm]]\nkind = \"gcar\"\n[[expect]]\nmetric = \"acepted\"\nis = 1\n";
        let shown = prepared(text, &["nobody"]).err().unwrap();
        let order = ["`--only nobody`: no such algorithm", "`brust`", "`gcar`", "`acepted`"];
        let places: Vec<_> = order.iter().map(|what| shown.find(what).expect(what)).collect();
        assert!(places.is_sorted(), "{shown}");
    }

    #[test]
    fn a_run_needs_an_end_and_keeps_within_the_years_that_are_exact() {
        for (text, message) in [
            (TRAFFIC.to_owned(), "`duration` is missing"),
            (format!("duration = \"0s\"\n{TRAFFIC}"), "a run of no time at all"),
            (
                format!("duration = \"9000d\"\nstart = \"2190-01-01T00:00:00Z\"\n{TRAFFIC}"),
                "the run would end after the year 2200\n --> t.toml:3:12",
            ),
            (
                format!("duration = \"100000d\"\n{TRAFFIC}"),
                "the run would end after the year 2200\n --> t.toml:3:12",
            ),
            (
                format!("duration = \"1s\"\nstart = \"1699-12-31T23:59:59Z\"\n{TRAFFIC}"),
                "leaves the years 1700 to 2200",
            ),
            (
                format!("duration = \"92000d\"\nstart = \"1900-01-01T00:00:00Z\"\n{TRAFFIC}"),
                "longer than 250 years\n --> t.toml:3:12",
            ),
        ] {
            let shown = prepared(&text, &[]).err().unwrap();
            assert!(shown.contains(message), "{text}:\n{shown}");
        }
        let last = format!("duration = \"1s\"\nstart = \"2199-12-31T23:59:59Z\"\n{TRAFFIC}");
        assert!(prepared(&last, &[]).is_ok());
    }
}
