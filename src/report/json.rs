//! The summary as JSON, for `--json`: the cells of `summary.csv` with numbers as numbers and null
//! where a value is absent.

use serde_json::{Map, Value as Json, json};

use crate::metrics::{Comparison, METRICS, Value};

/// The rows of one scenario.
pub fn summary(comparison: &Comparison) -> Json {
    let rows = comparison.rows.iter().map(|row| {
        let mut object = Map::new();
        object.insert("case".to_owned(), json!(comparison.cases[row.case].name));
        object.insert("algorithm".to_owned(), json!(row.algorithm));
        object.insert("replica".to_owned(), json!(row.replica));
        object.insert("seed".to_owned(), json!(row.seed));
        for metric in METRICS {
            object.insert(metric.name.to_owned(), number((metric.value)(&row.tally)));
        }
        Json::Object(object)
    });
    json!({ "scenario": comparison.scenario, "rows": rows.collect::<Vec<_>>() })
}

/// Counts as integers, spans as seconds; what is not finite has no place in JSON and is null.
pub fn number(value: Option<Value>) -> Json {
    match value {
        None => Json::Null,
        Some(Value::Count(count)) => json!(count),
        Some(value) => json!(value.as_f64()),
    }
}
