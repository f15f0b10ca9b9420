//! The summary as JSON, for `--json`: the cells of `summary.csv`, and of `comparison.csv` where there are
//! replicas, with numbers as numbers and null where a value is absent.

use serde_json::{Map, Value as Json, json};

use super::compared;
use crate::metrics::{Comparison, Value};

/// The rows of one scenario.
pub fn summary(comparison: &Comparison) -> Json {
    let metrics = comparison.metrics();
    let rows = comparison.rows.iter().flat_map(|row| {
        row.singles().map(|single| {
            let mut object = Map::new();
            object.insert("case".to_owned(), json!(comparison.cases[row.case].name));
            object.insert("algorithm".to_owned(), json!(row.algorithm));
            object.insert("replica".to_owned(), json!(single.replica));
            object.insert("seed".to_owned(), json!(single.seed));
            for &(position, metric) in &metrics {
                object.insert(metric.name.to_owned(), number(single.values[position]));
            }
            Json::Object(object)
        })
    });
    let mut document = json!({ "scenario": comparison.scenario, "rows": rows.collect::<Vec<_>>() });
    if comparison.replicas() > 1 {
        document["comparison"] = compared::rows(comparison);
    }
    document
}

/// Counts as integers; others as the floats nearest to what the CSV file says. What is not finite (`never`)
/// has no place in JSON and is null.
pub fn number(value: Option<Value>) -> Json {
    match value {
        None => Json::Null,
        Some(Value::Count(count)) => json!(count),
        Some(value) => json!(value.to_string().parse::<f64>().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{any, boundary};
    use super::*;
    use crate::judge::{Tally, Worst};
    use crate::rate::Limit;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_numbers_and_what_is_absent_is_null() {
        let mut comparison = boundary();
        comparison.rows.drain(..4);
        comparison.rows.truncate(1);
        insta::assert_snapshot!(format!("{:#}", summary(&comparison)));
    }

    #[test]
    fn a_limit_of_nothing_has_no_ratio() {
        let mut comparison = boundary();
        let tally: &mut Tally = &mut comparison.rows[0].tally;
        let promise = Limit::new(0, super::super::samples::MINUTE);
        tally.limits[0].worst = tally.limits[0].worst.map(|worst| Worst { promise, ..worst });
        let json = summary(&comparison);
        assert_eq!(json["rows"][0]["peak_ratio"], Json::Null);
        assert_eq!(json["rows"][0]["peak_window"], json!(200));
    }

    #[test]
    fn replicas_come_with_their_comparison() {
        let replicated = super::super::samples::replicated();
        let json = summary(&replicated);
        assert_eq!(json["rows"].as_array().map(Vec::len), Some(5 * 4));
        assert_eq!(json["comparison"], compared::rows(&replicated));
        assert_eq!(summary(&boundary()).get("comparison"), None);
    }

    proptest! {
        #[test]
        fn json_and_csv_say_the_same(comparison in any()) {
            let json = summary(&comparison);
            let csv = super::super::csv::summary(&comparison);
            let mut reader = csv::ReaderBuilder::new().from_reader(&*csv);
            let headers = reader.headers().unwrap().clone();
            for (index, record) in reader.records().enumerate() {
                for (header, cell) in headers.iter().zip(&record.unwrap()).skip(3) {
                    let shown = &json["rows"][index][header];
                    match shown.as_f64() {
                        None => prop_assert_eq!(cell, "", "{}", header),
                        Some(number) => prop_assert_eq!(cell.parse(), Ok(number), "{}", header),
                    }
                }
            }
        }
    }
}
