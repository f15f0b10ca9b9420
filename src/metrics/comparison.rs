//! What a command compares: the cases of a scenario, and what each algorithm made of them.

use super::{GROUPS, METRICS, Metric, Value};
use crate::judge::Tally;
use crate::time::{Instant, Span, Window};

/// Everything that a command compares: the rows of one scenario.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The scenario's name.
    pub scenario: String,
    /// What it shows.
    pub about: String,
    /// By case, in the order of the scenario.
    pub cases: Vec<CaseInfo>,
    /// The position of the case that the others are compared with.
    pub baseline: usize,
    /// One a case and algorithm, in this order.
    pub rows: Vec<Row>,
}

impl Comparison {
    /// How many runs there are of each case and algorithm.
    pub fn replicas(&self) -> usize {
        1 + self.rows.iter().map(|row| row.repeats.len()).max().unwrap_or(0)
    }

    /// Whether clients react to answers in any of its runs. What only such runs have is told only then.
    pub fn is_closed_loop(&self) -> bool {
        self.rows.iter().any(|row| row.tally.closed.is_some())
    }

    /// Whether several nodes decide, or share a store, in any of its runs. What only such runs have is told only
    /// then.
    pub fn is_fleet(&self) -> bool {
        self.rows.iter().any(|row| row.tally.fleet.is_some())
    }

    /// Whether the scenario names an algorithm with whose decisions those of another are compared. What only such
    /// comparisons have is told only then.
    pub fn names_a_reference(&self) -> bool {
        self.rows.iter().any(|row| row.reference.as_ref().is_some_and(|reference| reference.named))
    }

    /// The metrics by which its runs are told, each with its position in [`METRICS`].
    pub fn metrics(&self) -> Vec<(usize, &'static Metric)> {
        let told = [true, self.is_closed_loop(), self.is_fleet(), self.names_a_reference()];
        let told =
            GROUPS.iter().zip(told).flat_map(|(group, told)| group.iter().map(move |_| told));
        let all = METRICS.iter().enumerate().zip(told);
        all.filter(|(_, told)| *told).map(|(metric, _)| metric).collect()
    }
}

/// What a reader must know of a case.
#[derive(Debug, Clone)]
pub struct CaseInfo {
    /// Its name; empty where the scenario has no `[[case]]`.
    pub name: String,
    /// Its limits in words, in order: name and "100 per 60s for each client".
    pub limits: Vec<(String, String)>,
    /// Whether its clients wait for answers before they send more, in words; `None` where no clients of the
    /// scenario react to answers.
    pub sending: Option<String>,
    /// Its nodes and their store; `None` where one node keeps the limits itself.
    pub fleet: Option<FleetInfo>,
    /// From when to when it ran.
    pub window: Window,
    /// What else a reader must know: how an input was read, what was left out. One sentence each.
    pub notes: Vec<String>,
}

/// What a reader must know of the nodes of a case and of their store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetInfo {
    /// The nodes in words: "3 nodes in turn, each with its own state".
    pub nodes: String,
    /// In words what is not right about the clocks of the nodes and of the store; `None` if all is.
    pub clocks: Option<String>,
    /// The store in words: "1ms away, by script, on the nodes' time", or that nobody asks it; `None` if there is none.
    pub store: Option<String>,
    /// When something is wrong with it, in words; `None` if nothing ever is.
    pub outage: Option<String>,
    /// When nodes give up on it and what they then do, in words; `None` if it always answers in time.
    pub failure: Option<String>,
    /// From when to when something is wrong with it, in time order, none touching the next.
    pub outages: Vec<Window>,
    /// When a replica of it takes over, in time order.
    pub fail_overs: Vec<Instant>,
    /// How far the clocks of the nodes are apart at most.
    pub skew: Span,
}

/// One algorithm of a case: its first run with all that it found, and the numbers of its other runs, of
/// which thousands may have to be held at once.
#[derive(Debug, Clone)]
pub struct Row {
    /// The position of its case in [`Comparison::cases`].
    pub case: usize,
    /// The algorithm's name in the table.
    pub algorithm: String,
    /// The position of its kind in the registry of algorithms, which decides its colour.
    pub kind: usize,
    /// The seed of its first run.
    pub seed: u64,
    /// With what its decisions are compared; `None` where that is not done.
    pub reference: Option<Reference>,
    /// What its first run found.
    pub tally: Tally,
    /// Its other runs: replicas 1, 2 and so on.
    pub repeats: Vec<Repeat>,
}

/// With what the decisions of an algorithm are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The name of the algorithm with which they are.
    pub name: String,
    /// Whether the scenario names it (`compared-with`).
    pub named: bool,
    /// Whether both have the same past, since both count what they refuse. Else each has its own: once one lets
    /// through what the other refused, what they remember differs.
    pub same_past: bool,
}

/// One more run of an algorithm under another seed, by its numbers alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeat {
    /// Its seed.
    pub seed: u64,
    /// The value of each metric of [`METRICS`].
    pub values: Vec<Option<Value>>,
    /// By expectation of the scenario, what it is about; `None` too where it is not about this run.
    pub expected: Vec<Option<Value>>,
}

/// One run, for what shows a line for each.
#[derive(Debug, Clone, PartialEq)]
pub struct Single {
    /// Which replica, from 0.
    pub replica: usize,
    /// Its seed.
    pub seed: u64,
    /// The value of each metric of [`METRICS`].
    pub values: Vec<Option<Value>>,
}

impl Row {
    /// All of its runs in order.
    pub fn singles(&self) -> impl Iterator<Item = Single> + '_ {
        let first = Single { replica: 0, seed: self.seed, values: values(&self.tally) };
        let others = self.repeats.iter().zip(1..).map(|(repeat, replica)| Single {
            replica,
            seed: repeat.seed,
            values: repeat.values.clone(),
        });
        std::iter::once(first).chain(others)
    }
}

/// The value of each metric of [`METRICS`].
pub fn values(tally: &Tally) -> Vec<Option<Value>> {
    METRICS.iter().map(|metric| (metric.value)(tally)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Judge;
    use crate::time::Instant;

    #[test]
    fn what_only_some_runs_have_is_told_only_of_them() {
        let tally = |closed: bool, fleet: bool| {
            let window = Window { start: Instant(0), end: Instant(1) };
            let mut judge = Judge::new(window, &[], 0);
            if closed {
                judge = judge.with_requests(None);
            }
            if fleet {
                judge = judge.with_fleet(Vec::new());
            }
            judge.finish(0, 0, |_, _| unreachable!("no key"), |_| unreachable!("no client"))
        };
        // The first and the last of the metrics told, and how many they are, of an open loop of one node beside
        // another run.
        let told = |closed, fleet, named: Option<bool>| {
            let (algorithm, repeats) = Default::default();
            let (tally_of_first, reference) = (tally(false, false), None);
            let (case, kind, seed) = (0, 0, 1);
            let row =
                Row { case, algorithm, kind, seed, reference, tally: tally_of_first, repeats };
            let name = "log".to_owned();
            let reference = named.map(|named| Reference { name, named, same_past: false });
            let rows = vec![row.clone(), Row { tally: tally(closed, fleet), reference, ..row }];
            let (scenario, about, cases) = Default::default();
            let comparison = Comparison { scenario, about, cases, baseline: 0, rows };
            assert_eq!((comparison.is_closed_loop(), comparison.is_fleet()), (closed, fleet));
            let metrics = comparison.metrics();
            assert!(metrics.iter().all(|&(index, metric)| METRICS[index].name == metric.name));
            [metrics[0], metrics[metrics.len() - 1]].map(|(index, metric)| (index, metric.name))
        };
        let [any, closed, fleet, compared] = GROUPS.map(|group| group.len());
        let first = (0, "requests");
        for named in [None, Some(false)] {
            assert_eq!(told(false, false, named), [first, (any - 1, "state_bytes_max")]);
        }
        assert_eq!(told(true, false, None), [first, (any + closed - 1, "success_share")]);
        let last = (any + closed + fleet - 1, "short_circuited");
        let fleets = [told(false, true, None), told(true, true, None)];
        assert_eq!(fleets, [[first, last]; 2]);
        let last = (any + closed + fleet + compared - 1, "wrong_share");
        assert_eq!(told(false, false, Some(true)), [first, last]);
    }
}
