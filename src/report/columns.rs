//! The columns of the table on the terminal: which metric each shows, and how, the less room there is
//! the shorter.

use super::format::{bytes, count, ratio, short_count, span};
use super::grid::{Cell, Column};
use super::intervals::Style;
use crate::judge::Tally;
use crate::metrics::{Comparison, Row, Spreads, Statistic, Value, find};

/// A column of the table.
pub struct Spec {
    /// The upper header.
    pub group: &'static str,
    /// The header where there is room, and where there is not.
    pub heads: [&'static str; 2],
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
    /// `200 (2.0x)`: the peak and its ratio to the limit; the ratio alone where limits differ or room
    /// is short.
    Peak,
    /// `100 (856 B)`: entries and bytes, or bytes alone.
    State,
}

const fn spec(
    group: &'static str,
    heads: [&'static str; 2],
    metric: &'static str,
    show: Show,
) -> Spec {
    Spec { group, heads, metric, show }
}

/// The columns, the first to go last.
pub const COLUMNS: [Spec; 8] = [
    spec("accepted", ["all", "all"], "accepted", Show::Count),
    spec("accepted", ["over limit", "over"], "over_limit", Show::Count),
    spec("rejected", ["all", "all"], "rejected", Show::Count),
    spec("rejected", ["needless", "needless"], "needless_rejections", Show::CountIfRoom),
    spec("still", ["queued", "queued"], "pending", Show::CountIfAny),
    spec("peak", ["window", "window"], "peak_ratio", Show::Peak),
    spec("queue", ["wait p99", "p99"], "wait_p99_s", Show::SpanIfAny),
    spec("state", ["entries (size)", "kept"], "state_bytes_max", Show::State),
];

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

/// What a table shows the numbers of: of one replica those of its runs, of several their means.
pub struct Source<'a> {
    comparison: &'a Comparison,
    means: Option<Spreads<'a>>,
}

impl<'a> Source<'a> {
    /// The numbers of a comparison.
    pub fn of(comparison: &'a Comparison) -> Source<'a> {
        let means = (comparison.replicas() > 1).then(|| Spreads::of(comparison));
        Source { comparison, means }
    }

    /// A metric of the row at a position.
    pub fn value(&self, row: usize, metric: &str) -> Option<Value> {
        match &self.means {
            None => value(metric, &self.comparison.rows[row].tally),
            Some(means) => {
                let statistic = means.get(row, metric).and_then(|spread| spread.across)?;
                Value::number(statistic.mean.mean)
            }
        }
    }

    fn values<'b>(&'b self, metric: &'b str) -> impl Iterator<Item = Option<Value>> + 'b {
        (0..self.comparison.rows.len()).map(move |row| self.value(row, metric))
    }

    fn statistic(&self, row: usize, metric: &str) -> Option<Statistic> {
        self.means.as_ref()?.get(row, metric)?.across
    }
}

/// Whether a column has anything to show.
pub fn shown(spec: &Spec, source: &Source, room: Room) -> bool {
    let mut values = source.values(spec.metric);
    let mut any = || values.any(|value| value.is_some_and(|value| value.as_f64() > 0.0));
    match spec.show {
        Show::CountIfRoom => room < Room::NoNeedless || any(),
        Show::CountIfAny => room < Room::QueuedBelow && any(),
        Show::Count | Show::Peak | Show::State => true,
        Show::SpanIfAny => values.any(|value| value.is_some()),
    }
}

/// A column with its cells, as the room allows.
pub fn column(spec: &Spec, source: &Source, room: Room) -> Column {
    let rows = &source.comparison.rows;
    // Peaks of several limits are of different units; only their ratios compare.
    let several = rows.iter().any(|row| row.tally.limits.len() > 1);
    let ratio_alone = several || room >= Room::RatioAlone;
    let text = |index: usize| match source.means {
        None => text(spec, &rows[index].tally, room, ratio_alone),
        Some(_) => mean_text(spec, source, index, room),
    };
    let worst = worst(spec.metric, source).into_iter().enumerate();
    let cells = worst.map(|(index, worst)| Cell { text: text(index), worst });
    let head = spec.heads[usize::from(room > Room::Ample)];
    Column { group: spec.group, head, cells: cells.collect() }
}

/// The mean of several replicas; of peaks the ratio alone.
fn mean_text(spec: &Spec, source: &Source, row: usize, room: Room) -> String {
    let style = Style {
        gap: if room < Room::ShortRatio { " " } else { "" },
        count: if room >= Room::ShortCounts { short_count } else { count },
    };
    match (spec.show, source.statistic(row, spec.metric)) {
        (Show::Peak, Some(times)) => style.ratio(&times),
        (Show::Peak, None) => {
            let peak = source.statistic(row, "peak_window");
            peak.map_or("-".to_owned(), |peak| style.count(&peak))
        }
        (_, None) => "-".to_owned(),
        (Show::State, Some(size)) if room < Room::ShortState => style.bytes(&size),
        (Show::State, Some(size)) => bytes(size.mean.mean.round() as u64),
        (Show::SpanIfAny, Some(span)) => style.span(&span),
        (Show::Count | Show::CountIfRoom | Show::CountIfAny, Some(count)) => style.count(&count),
    }
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
    }
}

/// Which rows are the worst by a metric. Rows are compared within their case, or over all cases
/// where a case has but one row; none is the worst where all are equal.
fn worst(metric: &str, source: &Source) -> Vec<bool> {
    let rows = &source.comparison.rows;
    let cases = source.comparison.cases.len();
    let Some(worse) = find(metric).map(|metric| metric.worse) else {
        return vec![false; rows.len()];
    };
    let values: Vec<(&Row, Option<Value>)> = rows.iter().zip(source.values(metric)).collect();
    let values_of = |case: usize| {
        values.iter().filter(move |(row, _)| row.case == case).map(|(_, value)| *value)
    };
    let by_case = (0..cases).all(|case| values_of(case).count() != 1);
    let worst: Vec<Option<f64>> = match by_case {
        true => (0..cases).map(|case| worse.worst(values_of(case).flatten())).collect(),
        false => vec![worse.worst(values.iter().filter_map(|(_, value)| *value)); cases],
    };
    let is_worst = |(row, value): &(&Row, Option<Value>)| {
        worst[row.case].is_some() && value.map(Value::as_f64) == worst[row.case]
    };
    values.iter().map(is_worst).collect()
}
