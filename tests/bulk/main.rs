//! The bulk engine finds the same numbers as the event engine: over every shipped scenario that it takes, and over
//! generated traffic under generated limits and options.

mod generated;
mod shipped;
mod worked;

use std::path::Path;

use ratesim::judge::{Distribution, Tally};
use ratesim::metrics::Row;
use ratesim::run::{Engine, Options, Prepared, Silent, prepare, simulate};
use ratesim::scenario::{Changes, Scenario};

/// A scenario made ready.
fn ready(path: &Path, text: String) -> Result<Prepared, String> {
    changed(path, text, &[])
}

/// The same with changes: paths of settings with their values.
fn changed(path: &Path, text: String, set: &[(&str, &str)]) -> Result<Prepared, String> {
    let set = set.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    let changes = Changes { set, ..Changes::default() };
    let scenario = Scenario::parse(path, text, &changes);
    let prepared = scenario.and_then(|scenario| prepare(scenario, &[]));
    prepared.map_err(|error| error.render(false))
}

/// The findings of an engine.
fn rows(prepared: &Prepared, engine: Engine, threads: usize) -> Vec<Row> {
    let options = Options { threads, engine, ..Options::default() };
    simulate(prepared, options, &Silent::default()).unwrap().comparison.rows
}

/// Says where two findings differ.
fn assert_same(bulk: &[Row], events: &[Row], what: &str) {
    assert_eq!(bulk.len(), events.len(), "{what}");
    for (bulk, events) in bulk.iter().zip(events) {
        let what = format!("{what}: {} in case {}", bulk.algorithm, bulk.case);
        assert_eq!(bulk.algorithm, events.algorithm, "{what}");
        same(&bulk.tally, &events.tally, &what);
        assert_eq!(bulk.repeats, events.repeats, "{what}");
    }
}

fn same(bulk: &Tally, events: &Tally, what: &str) {
    assert_eq!(bulk.books, events.books, "{what}");
    assert_eq!(bulk.over_limit, events.over_limit, "{what}");
    assert_eq!(bulk.needless_rejections, events.needless_rejections, "{what}");
    assert_eq!(bulk.wrong, events.wrong, "{what}");
    for (one, other) in bulk.limits.iter().zip(&events.limits) {
        for ((name, key), (other_name, other_key)) in one.keys.named().zip(other.keys.named()) {
            assert_eq!((name, key), (other_name, other_key), "{what}");
        }
        assert_eq!(one, other, "{what}");
    }
    assert_eq!(bulk.limits.len(), events.limits.len(), "{what}");
    assert_eq!(bulk.clients, events.clients, "{what}");
    for (index, pair) in bulk.timeline.bins.iter().zip(&events.timeline.bins).enumerate() {
        assert_eq!(pair.0, pair.1, "{what}: bin {index}");
    }
    assert_eq!(bulk.timeline, events.timeline, "{what}");
    assert_eq!(described(&bulk.queue_waits), described(&events.queue_waits), "{what}");
    assert_eq!(described(&bulk.denial_waits), described(&events.denial_waits), "{what}");
    assert_eq!(bulk.denied_for_ever, events.denied_for_ever, "{what}");
    assert_eq!(bulk.kept, events.kept, "{what}");
}

/// All that is told of a distribution, in whatever order it was recorded.
fn described(spans: &Distribution) -> impl PartialEq + std::fmt::Debug + use<> {
    let quantiles: Vec<_> = (0..=100).map(|percent| spans.percentile(percent)).collect();
    (spans.count(), spans.mean_secs(), spans.min(), spans.max(), quantiles)
}
