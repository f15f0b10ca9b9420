//! The columns of the table on the terminal: which metric each shows, and how, the less room there is
//! the shorter.

use super::format::{bytes, count, ratio, short_count, span};
use super::grid::{Cell, Column};
use crate::judge::Tally;
use crate::metrics::{Comparison, Row, Value, find};

/// A column of the table.
pub struct Spec {
    /// The upper header.
    pub group: &'static str,
    /// The header where there is room, and where there is not.
    pub heads: [&'static str; 2],
    /// Where there is no room for all columns, the one with the highest rank goes first.
    pub rank: u8,
    /// The metric that is shown and by which the worst is found.
    metric: &'static str,
    show: Show,
}

/// How the value of a column is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Show {
    /// As a number.
    Count,
    /// As a number; where room is short the whole column only if there is one other than 0.
    CountIfRoom,
    /// As a number, and the whole column only if there is one other than 0; where room is short in
    /// a note below the table.
    CountIfAny,
    /// As a span, and the whole column only if there is one.
    SpanIfAny,
    /// As a ratio, and the whole column only if there is one.
    RatioIfAny,
    /// `200 (2.0x)`: the peak and its ratio to the limit; the ratio alone where limits differ or room
    /// is short.
    Peak,
    /// `100 (856 B)`: entries and bytes, or bytes alone.
    State,
}

const fn spec(
    rank: u8,
    group: &'static str,
    heads: [&'static str; 2],
    metric: &'static str,
    show: Show,
) -> Spec {
    Spec { group, heads, rank, metric, show }
}

/// The columns of open loops.
const OPEN: &[Spec] = &[
    spec(0, "accepted", ["all", "all"], "accepted", Show::Count),
    spec(1, "accepted", ["over limit", "over"], "over_limit", Show::Count),
    spec(2, "rejected", ["all", "all"], "rejected", Show::Count),
    spec(3, "rejected", ["needless", "needless"], "needless_rejections", Show::CountIfRoom),
    spec(4, "still", ["queued", "queued"], "pending", Show::CountIfAny),
    spec(5, "peak", ["window", "window"], "peak_ratio", Show::Peak),
    spec(6, "queue", ["wait p99", "p99"], "wait_p99_s", Show::SpanIfAny),
    spec(7, "state", ["entries (size)", "kept"], "state_bytes_max", Show::State),
];

/// The columns of closed loops: what requests came to before what the limits did. How many requests there
/// were stands above the table too.
const CLOSED: &[Spec] = &[
    spec(8, "requests", ["all", "all"], "requests", Show::Count),
    spec(1, "requests", ["gave up", "gave up"], "gave_up", Show::Count),
    spec(2, "attempts", ["all", "all"], "attempts", Show::Count),
    spec(0, "attempts", ["per request", "each"], "amplification", Show::RatioIfAny),
    spec(9, "attempts", ["accepted", "passed"], "accepted", Show::Count),
    spec(7, "attempts", ["rejected", "denied"], "rejected", Show::Count),
    spec(12, "attempts", ["needless", "needless"], "needless_rejections", Show::CountIfRoom),
    spec(3, "attempts", ["over limit", "over"], "over_limit", Show::Count),
    spec(4, "success", ["after p99", "p99"], "time_to_success_p99_s", Show::SpanIfAny),
    spec(6, "herd", ["peak", "peak"], "herd_peak_ratio", Show::RatioIfAny),
    spec(5, "recovery", ["took", "took"], "recovery_s", Show::SpanIfAny),
    spec(10, "still", ["queued", "queued"], "pending", Show::CountIfAny),
    spec(11, "peak", ["window", "window"], "peak_ratio", Show::Peak),
    spec(13, "queue", ["wait p99", "p99"], "wait_p99_s", Show::SpanIfAny),
    spec(14, "state", ["entries (size)", "kept"], "state_bytes_max", Show::State),
];

/// The columns that suit a comparison, in the order in which they stand.
pub fn columns(comparison: &Comparison) -> &'static [Spec] {
    if comparison.is_closed_loop() { CLOSED } else { OPEN }
}

/// How much room there is; tried in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Room {
    /// Long headers and whole cells.
    Ample,
    /// Short headers.
    ShortHeads,
    /// And of the state its bytes alone.
    ShortState,
    /// And ratios without brackets.
    ShortRatio,
    /// And in a note what is still queued.
    QueuedBelow,
    /// And no needless rejections where there are none.
    NoNeedless,
    /// And of peaks their ratios alone.
    RatioAlone,
    /// And a million or more with three digits.
    ShortCounts,
}

/// All of them, in the order in which they are tried.
pub const ROOMS: [Room; 8] = [
    Room::Ample,
    Room::ShortHeads,
    Room::ShortState,
    Room::ShortRatio,
    Room::QueuedBelow,
    Room::NoNeedless,
    Room::RatioAlone,
    Room::ShortCounts,
];

/// Whether a column has anything to show.
pub fn shown(spec: &Spec, rows: &[Row], room: Room) -> bool {
    let mut values = rows.iter().map(|row| value(spec.metric, &row.tally));
    let mut any = || values.any(|value| value.is_some_and(|value| value.as_f64() > 0.0));
    match spec.show {
        Show::CountIfRoom => room < Room::NoNeedless || any(),
        Show::CountIfAny => room < Room::QueuedBelow && any(),
        Show::Count | Show::Peak | Show::State => true,
        Show::SpanIfAny | Show::RatioIfAny => values.any(|value| value.is_some()),
    }
}

/// A column with its cells, as the room allows.
pub fn column(spec: &Spec, comparison: &Comparison, room: Room) -> Column {
    let rows = &comparison.rows;
    let worst = worst(spec.metric, rows, comparison.cases.len());
    // Peaks of several limits are of different units; only their ratios compare.
    let several = rows.iter().any(|row| row.tally.limits.len() > 1);
    let ratio_alone = several || room >= Room::RatioAlone;
    let cells = rows
        .iter()
        .zip(worst)
        .map(|(row, worst)| Cell { text: text(spec, &row.tally, room, ratio_alone), worst });
    let head = spec.heads[usize::from(room > Room::Ample)];
    Column { group: spec.group, head, cells: cells.collect() }
}

fn text(spec: &Spec, tally: &Tally, room: Room, ratio_alone: bool) -> String {
    let count = if room >= Room::ShortCounts { short_count } else { count };
    let shown = |name| shown_value(value(name, tally), count);
    match (spec.show, value(spec.metric, tally)) {
        (Show::Peak, Some(times)) if ratio_alone => ratio(times.as_f64()),
        (Show::Peak, Some(times)) => {
            let (peak, times) = (shown("peak_window"), ratio(times.as_f64()));
            if room < Room::ShortRatio {
                format!("{peak} ({times})")
            } else {
                format!("{peak} {times}")
            }
        }
        (Show::Peak, None) => shown("peak_window"),
        (Show::State, Some(Value::Count(size))) if room < Room::ShortState => {
            format!("{} ({})", shown("state_entries_max"), bytes(size))
        }
        (Show::State, Some(Value::Count(size))) => bytes(size),
        (Show::RatioIfAny, Some(times)) => ratio(times.as_f64()),
        (_, value) => shown_value(value, count),
    }
}

fn value(metric: &str, tally: &Tally) -> Option<Value> {
    find(metric).and_then(|metric| (metric.value)(tally))
}

fn shown_value(value: Option<Value>, count: fn(u64) -> String) -> String {
    match value {
        None => "-".to_owned(),
        Some(Value::Count(number)) => count(number),
        Some(Value::Seconds(time)) => span(time),
        Some(Value::Number(number)) => format!("{number:.3}"),
        Some(never @ Value::Never) => never.to_string(),
    }
}

/// Which rows are the worst by a metric. Rows are compared within their case, or over all cases
/// where a case has but one row; none is the worst where all are equal.
fn worst(metric: &str, rows: &[Row], cases: usize) -> Vec<bool> {
    let Some(metric) = find(metric) else { return vec![false; rows.len()] };
    let value = |row: &Row| (metric.value)(&row.tally);
    let rows_of = |case: usize| rows.iter().filter(move |row| row.case == case);
    let by_case = (0..cases).all(|case| rows_of(case).count() != 1);
    let worst: Vec<Option<f64>> = match by_case {
        true => {
            (0..cases).map(|case| metric.worse.worst(rows_of(case).filter_map(value))).collect()
        }
        false => vec![metric.worse.worst(rows.iter().filter_map(value)); cases],
    };
    let is_worst =
        |row: &Row| worst[row.case].is_some() && value(row).map(Value::as_f64) == worst[row.case];
    rows.iter().map(is_worst).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_shows_a_metric_and_goes_at_a_turn_of_its_own() {
        for columns in [OPEN, CLOSED] {
            assert!(columns.iter().all(|spec| find(spec.metric).is_some()));
            let mut ranks: Vec<u8> = columns.iter().map(|spec| spec.rank).collect();
            ranks.sort_unstable();
            assert!(ranks.into_iter().eq(0..columns.len() as u8));
        }
    }
}
