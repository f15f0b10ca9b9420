//! The numbers that a run is told by. [`METRICS`] carries name, unit, meaning and formula of each;
//! the table, the headers of the CSV files, `expect` and the docs read it. [`SUBJECT_METRICS`] does the
//! same for one key or client, [`LIMIT_METRICS`] for one limit.

mod closed;
mod compared;
mod comparison;
mod fairness;
mod fleet;
mod parts;
mod run;
mod spread;
mod standing;
mod statistics;
mod value;

use crate::judge::{Tally, Worst};
use crate::rate::Limit;

pub use comparison::{CaseInfo, Comparison, FleetInfo, Reference, Repeat, Row, Single, values};
pub use parts::{LIMIT_METRICS, SUBJECT_METRICS};
pub use spread::{Against, Spread, Spreads};
pub use standing::Standing;
pub use statistics::{Mean, Statistic, significant};
pub use value::Value;

/// The metrics of any run, those of closed loops, those of fleets, and those of comparisons with an algorithm that
/// is named.
const GROUPS: [&[Metric]; 4] = [run::METRICS, closed::METRICS, fleet::METRICS, compared::METRICS];

/// The registry of the metrics of a run, in the order of the columns of `summary.csv`: those of any run,
/// then those of closed loops, then those of fleets, then those of comparisons with an algorithm that is named.
pub const METRICS: &[Metric] = &{
    const COUNT: usize = GROUPS[0].len() + GROUPS[1].len() + GROUPS[2].len() + GROUPS[3].len();
    let mut all = [GROUPS[0][0]; COUNT];
    let (mut index, mut group, mut of_group) = (0, 0, 0);
    while index < COUNT {
        if of_group == GROUPS[group].len() {
            (group, of_group) = (group + 1, 0);
        }
        all[index] = GROUPS[group][of_group];
        (index, of_group) = (index + 1, of_group + 1);
    }
    all
};

/// A metric of what a `T` holds; of a run, unless said otherwise.
pub struct Metric<T: 'static = Tally> {
    /// Its name, the unit last.
    pub name: &'static str,
    /// Its unit in words: `requests`, `attempts`, `cost`, `ratio`, `s`, `per s`, `keys`,
    /// `entries`, `bytes`, `calls` or `times`.
    pub unit: &'static str,
    /// What it means, one sentence.
    pub meaning: &'static str,
    /// Which end is the bad one.
    pub worse: Worse,
    /// Its value; `None` where there is none (an empty cell).
    pub value: fn(&T) -> Option<Value>,
}

impl<T> Clone for Metric<T> {
    fn clone(&self) -> Metric<T> {
        *self
    }
}

impl<T> Copy for Metric<T> {}

/// Which end of a metric is the bad one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worse {
    /// More is worse.
    More,
    /// More is worse, from 1 on.
    MoreThanOne,
    /// Less is worse.
    Less,
    /// Neither.
    Neither,
}

impl Worse {
    /// The worst of several; `None` where all are the same or neither end is bad.
    pub fn worst(self, all: impl IntoIterator<Item = Standing>) -> Option<Standing> {
        let (mut least, mut most) = (None, None);
        for one in all {
            least = least.filter(|&least| least <= one).or(Some(one));
            most = most.filter(|&most| most >= one).or(Some(one));
        }
        match self {
            _ if most <= least => None,
            Worse::More => most,
            Worse::MoreThanOne => most.filter(|most| most.never > 0 || most.mean > 1.0),
            Worse::Less => least,
            Worse::Neither => None,
        }
    }
}

/// Finds a metric of a run by its name.
pub fn find(name: &str) -> Option<&'static Metric> {
    find_in(METRICS, name)
}

/// Finds a metric by its name in any of the registries.
pub fn find_in<T>(metrics: &'static [Metric<T>], name: &str) -> Option<&'static Metric<T>> {
    metrics.iter().find(|metric| metric.name == name)
}

/// The peak of the worst key in units of its promise.
fn worst_ratio(worst: &Worst) -> Option<Value> {
    peak_ratio(worst.cost(), worst.promise)
}

/// The cost of a key's peak in units of its promise, which is 0 where nothing was accepted; `None` for a
/// promise of nothing.
fn peak_ratio(cost: u64, promise: Limit) -> Option<Value> {
    Value::number(cost as f64 / promise.requests as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Footprint, Wait};
    use crate::judge::{Judge, Touch};
    use crate::time::{Instant, Span, Window};

    const UNITS: [&str; 11] = [
        "requests", "attempts", "cost", "ratio", "s", "per s", "keys", "entries", "bytes", "calls",
        "times",
    ];

    fn check_registry<T>(metrics: &'static [Metric<T>]) {
        for (index, metric) in metrics.iter().enumerate() {
            let Metric { name, unit, meaning, .. } = metric;
            assert!(
                metrics[..index].iter().all(|other| other.name != *name),
                "{name} is there twice"
            );
            let snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(name.chars().all(snake), "{name}");
            assert!(UNITS.contains(unit), "{name}: {unit}");
            let (rate, timed) = (name.ends_with("_per_s"), name.ends_with("_s"));
            assert_eq!(*unit == "per s", rate, "{name}: the unit stands last");
            assert_eq!(*unit == "s", timed && !rate, "{name}: the unit stands last");
            assert!(meaning.ends_with('.') && !meaning.contains("  "), "{name}: {meaning}");
            assert!(find_in(metrics, name).is_some_and(|found| std::ptr::eq(found, metric)));
        }
    }

    #[test]
    fn every_metric_is_well_named_and_explained() {
        check_registry(METRICS);
        check_registry(SUBJECT_METRICS);
        check_registry(LIMIT_METRICS);
        assert!(find("no_such_metric").is_none());
    }

    #[test]
    fn the_worst_is_told_only_where_values_differ() {
        let [one, more, never] =
            [Value::Count(1), Value::Number(2.5), Value::Never].map(Standing::from);
        assert_eq!(Worse::More.worst([one, more]), Some(more));
        assert_eq!(Worse::Less.worst([one, more]), Some(one));
        assert_eq!(Worse::Neither.worst([one, more]), None);
        assert_eq!(Worse::More.worst([more, more]), None);
        assert_eq!(Worse::More.worst([]), None);
        let of = |mean| Standing { never: 0, mean };
        assert_eq!(Worse::MoreThanOne.worst([of(0.5), of(1.0)]), None);
        assert_eq!(Worse::MoreThanOne.worst([of(0.5), of(1.5)]), Some(of(1.5)));
        assert_eq!(Worse::More.worst([one, never, more]), Some(never));
        assert_eq!(Worse::More.worst([never, never]), None);
        // What never came in three replicas is worse than what did not in two, however long it took.
        let [two, three] = [(2, 9.0), (3, 0.5)].map(|(never, mean)| Standing { never, mean });
        assert_eq!(Worse::More.worst([two, three]), Some(three));
    }

    #[test]
    fn the_leading_columns_are_those_that_readers_rely_on() {
        let names: Vec<&str> = METRICS.iter().take(8).map(|metric| metric.name).collect();
        assert_eq!(
            names.join(","),
            "requests,attempts,accepted,rejected,over_limit,needless_rejections,peak_window,peak_ratio"
        );
    }

    /// What each of these attempts of client 0, 1, ... at 0 s, 1 s, ... comes to under a limit for
    /// each client: accepted after a wait in the queue, or rejected.
    pub(super) fn tally(limit: Limit, attempts: &[Result<Option<Span>, Wait>]) -> Tally {
        let window = Window { start: Instant(0), end: Instant(0) + Span::from_secs(60) };
        let mut judge = Judge::new(window, &[("each".to_owned(), limit)], attempts.len());
        for (key, outcome) in attempts.iter().enumerate() {
            let at = Instant(0) + Span::from_secs(key as u64);
            let touches = [Touch { limit: 0, key, cost: 3 }];
            judge.meet(0, limit);
            judge.offered(at, key as u32, &touches);
            match *outcome {
                Ok(waited) => judge.accepted(at, key as u32, &touches, waited),
                Err(wait) => judge.rejected(at, key as u32, &touches, 1, wait),
            }
            judge.kept(0, key, at, Footprint { entries: 2, bytes: 16 }, None);
        }
        judge.finish(0, 0, |_, key| format!("key {key}"), |client| format!("client {client}"))
    }

    /// "name value" for each metric that has a value.
    pub(super) fn shown<T>(metrics: &'static [Metric<T>], of: &T) -> Vec<String> {
        let values = metrics.iter().filter_map(|m| Some((m.name, (m.value)(of)?)));
        let shown = values.map(|(name, value)| {
            let finite = value.as_f64().is_finite() || value == Value::Never;
            assert!(finite, "{name}: {value:?}");
            format!("{name} {value}")
        });
        shown.collect()
    }

    #[test]
    fn no_metric_of_any_run_is_ever_anything_but_a_finite_number() {
        let (two, none) = (Limit::new(2, Span::from_secs(1)), Limit::new(0, Span::from_secs(1)));
        let accepted = Ok(Some(Span::MAX));
        let runs: [&[_]; 5] = [
            &[],
            &[accepted],
            &[Err(Wait::Never)],
            &[Err(Wait::After(Span::MAX)); 3],
            &[accepted, Err(Wait::Never), Ok(None), Err(Wait::After(Span::ZERO))],
        ];
        for (limit, attempts) in runs.iter().flat_map(|&run| [(two, run), (none, run)]) {
            let tally = tally(limit, attempts);
            shown(METRICS, &tally);
            tally.limits.iter().for_each(|limit| drop(shown(LIMIT_METRICS, limit)));
            let keys = tally.limits.iter().flat_map(|limit| limit.keys.iter());
            let subjects = keys.chain(tally.clients.iter());
            subjects.for_each(|subject| drop(shown(SUBJECT_METRICS, &subject)));
        }
    }

    #[test]
    fn a_run_without_attempts_has_counts_of_zero_and_nothing_else() {
        let nothing = tally(Limit::new(2, Span::from_secs(1)), &[]);
        let zeroes = "requests attempts accepted rejected over_limit needless_rejections peak_window \
                      pending denied_for_ever longest_lockout_s keys_max state_entries_max \
                      state_bytes_max failed succeeded gave_up unfinished";
        let zeroes: Vec<_> = zeroes.split_whitespace().map(|name| format!("{name} 0")).collect();
        assert_eq!(shown(METRICS, &nothing), zeroes);
    }

    #[test]
    fn a_run_is_told_by_its_metrics() {
        // Of cost 3 under a limit of 2, whose highest window is therefore 3 / 2: one accepted after
        // 1.25 s in the queue, one at once, one told to wait 2.5 s, one told never.
        let attempts = [
            Ok(Some(Span::from_nanos(1_250_000_000))),
            Ok(Some(Span::ZERO)),
            Err(Wait::After(Span::from_nanos(2_500_000_000))),
            Err(Wait::Never),
        ];
        let tally = tally(Limit::new(2, Span::from_secs(1)), &attempts);
        let expected = "requests 4, attempts 4, accepted 2, rejected 2, over_limit 2, \
            needless_rejections 0, peak_window 3, peak_ratio 1.5, pending 0, \
            wait_mean_s 0.625, wait_p50_s 0, wait_p90_s 1.25, wait_p99_s 1.25, wait_max_s 1.25, \
            retry_after_min_s 2.5, retry_after_mean_s 2.5, retry_after_max_s 2.5, \
            retry_after_header_max_s 3, denied_for_ever 1, longest_lockout_s 0, \
            fairness 0.5, client_fairness 0.5, client_accepted_share_min 0, \
            keys_max 4, state_entries_max 8, state_bytes_max 64, \
            failed 0, succeeded 2, gave_up 2, unfinished 0, amplification 1";
        assert_eq!(shown(METRICS, &tally).join(", "), expected);
        assert_eq!(
            shown(SUBJECT_METRICS, &tally.limits[0].keys.get(0)).join(", "),
            "attempts 1, accepted 1, rejected 0, over_limit 1, peak_window 3, peak_ratio 1.5, \
             longest_lockout_s 0, accepted_share 1"
        );
        assert_eq!(
            shown(SUBJECT_METRICS, &tally.clients.get(3)).join(", "),
            "attempts 1, accepted 0, rejected 1, over_limit 0, longest_lockout_s 0, accepted_share 0"
        );
        assert_eq!(
            shown(LIMIT_METRICS, &tally.limits[0]).join(", "),
            "attempts 4, accepted 2, refused 2, over_limit 2, needless_rejections 0, peak_window 3, \
             peak_ratio 1.5, keys 4"
        );
    }

    #[test]
    fn under_a_limit_of_zero_there_is_a_peak_but_no_ratio() {
        let tally = tally(Limit::new(0, Span::from_secs(1)), &[Ok(None)]);
        let value = |name| find(name).and_then(|metric| (metric.value)(&tally));
        assert_eq!(value("peak_window"), Some(Value::Count(3)));
        assert_eq!(value("peak_ratio"), None);
    }
}
