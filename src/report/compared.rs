//! `comparison.csv`: each metric over the replicas of a case and algorithm, with its mean, its 95 % interval
//! and the paired difference to the baseline; the same as JSON. Means and intervals have nine significant
//! digits.

use serde_json::{Map, Value as Json, json};

use super::csv::Sheet;
use super::json::number;
use crate::metrics::{Comparison, Mean, Metric, Spread, Spreads, Value, significant};

/// One cell.
enum Cell<'a> {
    Text(&'a str),
    Number(Option<Value>),
}

const COLUMNS: [&str; 18] = [
    "scenario",
    "case",
    "algorithm",
    "metric",
    "n",
    "never",
    "mean",
    "ci95_low",
    "ci95_high",
    "min",
    "max",
    "baseline",
    "diff_mean",
    "diff_ci95_low",
    "diff_ci95_high",
    "lower",
    "equal",
    "higher",
];

fn cells<'a>(comparison: &'a Comparison, spread: &Spread<'a>) -> [Cell<'a>; 18] {
    let Spread { row, metric, across, never, against } = *spread;
    let count = |count: usize| Some(Value::Count(count as u64));
    let baseline = against.map(|_| comparison.cases[comparison.baseline].name.as_str());
    let [mean, low, high] = mean(across.map(|across| across.mean));
    let [difference, from, to] = self::mean(against.and_then(|against| against.difference));
    [
        Cell::Text(&comparison.scenario),
        Cell::Text(&comparison.cases[row.case].name),
        Cell::Text(&row.algorithm),
        Cell::Text(metric.name),
        Cell::Number(count(across.map_or(0, |across| across.n))),
        Cell::Number(count(never)),
        mean,
        low,
        high,
        Cell::Number(across.map(|across| across.min)),
        Cell::Number(across.map(|across| across.max)),
        baseline.map_or(Cell::Number(None), Cell::Text),
        difference,
        from,
        to,
        Cell::Number(against.and_then(|against| count(against.lower))),
        Cell::Number(against.and_then(|against| count(against.equal))),
        Cell::Number(against.and_then(|against| count(against.higher))),
    ]
}

/// A mean and the ends of its interval.
fn mean<'a>(mean: Option<Mean>) -> [Cell<'a>; 3] {
    let (low, high) = mean.and_then(|mean| mean.interval()).unzip();
    [mean.map(|mean| mean.mean), low, high].map(|number| Cell::Number(number.and_then(significant)))
}

/// The file: one row a case, algorithm and metric.
pub fn sheet(comparison: &Comparison) -> Vec<u8> {
    const NONE: &[Metric] = &[];
    let mut sheet = Sheet::new(&COLUMNS, NONE);
    for spread in &Spreads::of(comparison).all {
        for cell in cells(comparison, spread) {
            match cell {
                Cell::Text(text) => sheet.text(text),
                Cell::Number(value) => sheet.value(value),
            }
        }
        sheet.end();
    }
    sheet.bytes()
}

/// Its rows as JSON, without the scenario.
pub fn rows(comparison: &Comparison) -> Json {
    let row = |spread: &Spread| {
        let cells = COLUMNS.iter().zip(cells(comparison, spread)).skip(1);
        let cells = cells.map(|(column, cell)| match cell {
            Cell::Text(text) => ((*column).to_owned(), json!(text)),
            Cell::Number(value) => ((*column).to_owned(), number(value)),
        });
        Json::Object(cells.collect::<Map<_, _>>())
    };
    Spreads::of(comparison).all.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{any, replicated, replicated_retries};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_file_as_a_whole() {
        insta::assert_snapshot!(String::from_utf8(sheet(&replicated())).unwrap());
    }

    #[test]
    fn of_a_closed_loop_it_has_what_only_those_have_and_counts_what_never_came() {
        let sheet = String::from_utf8(sheet(&replicated_retries())).unwrap();
        let about = |line: &&str| line.contains(",recovery_s,") || line.contains(",succeeded,");
        insta::assert_snapshot!(sheet.lines().filter(about).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn json_and_csv_say_the_same() {
        json_and_csv_say_the_same_of(&replicated());
        json_and_csv_say_the_same_of(&replicated_retries());
    }

    fn json_and_csv_say_the_same_of(comparison: &Comparison) {
        let (json, csv) = (rows(comparison), sheet(comparison));
        let mut reader = csv::Reader::from_reader(&*csv);
        for (index, record) in reader.records().enumerate() {
            for (column, cell) in COLUMNS.iter().zip(&record.unwrap()).skip(1) {
                match &json[index][column] {
                    Json::Null => assert_eq!(cell, "", "{column}"),
                    Json::String(text) => assert_eq!(cell, text, "{column}"),
                    number => assert_eq!(cell.parse().ok(), number.as_f64(), "{column}"),
                }
            }
        }
        let count = comparison.rows.len() * comparison.metrics().len();
        assert_eq!(json.as_array().unwrap().len(), count);
    }

    proptest! {
        #[test]
        fn every_number_of_a_comparison_is_finite_and_within_its_bounds(compared in any()) {
            let bytes = sheet(&compared);
            let mut reader = csv::Reader::from_reader(&*bytes);
            for record in reader.records() {
                let record = record.unwrap();
                let numbers: Vec<Option<f64>> =
                    record.iter().enumerate().filter(|(column, _)| ![0, 1, 2, 3, 11].contains(column))
                    .map(|(_, cell)| (!cell.is_empty()).then(|| cell.parse().unwrap())).collect();
                prop_assert!(numbers.iter().flatten().all(|number| number.is_finite()));
                let [n, _, mean, low, high, min, max, ..] = numbers[..] else { panic!("{record:?}") };
                prop_assert_eq!(n > Some(0.0), mean.is_some());
                prop_assert_eq!(n > Some(1.0), low.is_some());
                prop_assert!(low <= mean || low.is_none());
                prop_assert!(mean <= high || high.is_none());
                // The mean has nine digits, the least and the greatest have all.
                let slack = 1e-8 * max.unwrap_or(0.0);
                prop_assert!(min.zip(mean).is_none_or(|(min, mean)| min <= mean + slack));
                prop_assert!(mean.zip(max).is_none_or(|(mean, max)| mean <= max + slack));
            }
        }
    }
}
