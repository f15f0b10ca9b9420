//! The columns of the table on the terminal: which metric each shows, and how, the less room there is
//! the shorter.

use super::format::{bytes, count, factor, ratio, share, short_count, small_share, span};
use super::grid::{Cell, Column};
use super::intervals::{Style, with_never};
use crate::judge::Tally;
use crate::metrics::{Comparison, Row, Spread, Spreads, Standing, Statistic, Value, find};

/// A column of the table.
pub struct Spec {
    /// The upper header.
    pub group: &'static str,
    /// The header where there is room, and where there is not.
    pub heads: [&'static str; 2],
    /// Where there is no room for all columns, the one with the highest rank goes first: of one run, and
    /// of means, which with their intervals are wider.
    ranks: [u8; 2],
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
    /// As a number, and the whole column only if there is one other than 0.
    CountIfAny,
    /// As that; where room is short in a note below the table.
    CountOrBelow,
    /// As a span, and the whole column only if there is one.
    SpanIfAny,
    /// As a span, and the whole column only if there is one other than 0.
    SpanIfLong,
    /// As how many times as much, and the whole column only if there is one.
    FactorIfAny,
    /// As a share in percent, and the whole column only if there is one.
    ShareIfAny,
    /// As a share in percent that may be small, and the whole column only where a scenario names what is compared.
    ShareIfNamed,
    /// `200 (2.0x)`: the peak and its ratio to the limit; the ratio alone where limits differ or room
    /// is short.
    Peak,
    /// `100 (856 B)`: entries and bytes, or bytes alone.
    State,
}

const fn spec(
    ranks: [u8; 2],
    group: &'static str,
    heads: [&'static str; 2],
    metric: &'static str,
    show: Show,
) -> Spec {
    Spec { group, heads, ranks, metric, show }
}

/// The columns of open loops.
const OPEN: &[Spec] = &[
    spec([0, 0], "accepted", ["all", "all"], "accepted", Show::Count),
    spec([2, 2], "accepted", ["over limit", "over"], "over_limit", Show::Count),
    spec([3, 3], "rejected", ["all", "all"], "rejected", Show::Count),
    spec([4, 4], "rejected", ["needless", "needless"], "needless_rejections", Show::CountIfRoom),
    spec([1, 1], "decided", ["otherwise", "other"], "wrong_share", Show::ShareIfNamed),
    spec([5, 5], "still", ["queued", "queued"], "pending", Show::CountOrBelow),
    spec([6, 6], "peak", ["window", "window"], "peak_ratio", Show::Peak),
    spec([7, 7], "queue", ["wait p99", "p99"], "wait_p99_s", Show::SpanIfAny),
    spec([8, 8], "state", ["entries (size)", "kept"], "state_bytes_max", Show::State),
];

/// The columns of closed loops: what requests came to before what the limits did. How many requests there
/// were stands above the table too.
const CLOSED: &[Spec] = &[
    spec([10, 10], "requests", ["all", "all"], "requests", Show::Count),
    spec([3, 8], "requests", ["gave up", "gave up"], "gave_up", Show::Count),
    spec([2, 7], "attempts", ["all", "all"], "attempts", Show::Count),
    spec([0, 0], "attempts", ["per request", "each"], "amplification", Show::FactorIfAny),
    spec([11, 11], "attempts", ["accepted", "passed"], "accepted", Show::Count),
    spec([9, 9], "attempts", ["rejected", "denied"], "rejected", Show::Count),
    spec([14, 14], "attempts", ["needless", "needless"], "needless_rejections", Show::CountIfRoom),
    spec([6, 6], "attempts", ["over limit", "over"], "over_limit", Show::Count),
    spec([4, 5], "promises", ["broken", "broken"], "broken_promises", Show::CountIfAny),
    spec([1, 1], "success", ["of all", "of all"], "success_share", Show::ShareIfAny),
    spec([5, 2], "success", ["after p99", "p99"], "time_to_success_p99_s", Show::SpanIfAny),
    spec([8, 4], "herd", ["peak", "peak"], "herd_peak_ratio", Show::FactorIfAny),
    spec([7, 3], "recovery", ["took", "took"], "recovery_s", Show::SpanIfAny),
    spec([12, 12], "still", ["queued", "queued"], "pending", Show::CountOrBelow),
    spec([13, 13], "peak", ["window", "window"], "peak_ratio", Show::Peak),
    spec([15, 15], "queue", ["wait p99", "p99"], "wait_p99_s", Show::SpanIfAny),
    spec([16, 16], "state", ["entries (size)", "kept"], "state_bytes_max", Show::State),
];

/// The columns of fleets: what nodes and a store make of a promise, above all in outages, before what the limits do.
const FLEET: &[Spec] = &[
    spec([0, 0], "accepted", ["all", "all"], "accepted", Show::Count),
    spec([2, 2], "accepted", ["over limit", "over"], "over_limit", Show::Count),
    spec([6, 6], "accepted", ["undecided", "blind"], "unlimited_accepts", Show::CountIfAny),
    spec([1, 1], "effective", ["limit", "limit"], "effective_limit_ratio", Show::FactorIfAny),
    spec([4, 4], "in outages", ["accepted", "passed"], "accepted_in_outages", Show::CountIfAny),
    spec([5, 5], "in outages", ["over limit", "over"], "over_limit_in_outages", Show::CountIfAny),
    spec([14, 14], "in outages", ["rejected", "denied"], "rejected_in_outages", Show::CountIfAny),
    spec([10, 10], "rejected", ["all", "all"], "rejected", Show::Count),
    spec([7, 7], "rejected", ["by store", "store"], "store_rejections", Show::CountIfAny),
    spec([16, 16], "rejected", ["needless", "needless"], "needless_rejections", Show::CountIfRoom),
    spec([11, 11], "fallback", ["decided", "decided"], "fallback_decisions", Show::CountIfAny),
    spec([8, 8], "store", ["wait p99", "p99"], "store_wait_p99_s", Show::SpanIfLong),
    spec([17, 17], "store", ["calls", "calls"], "store_calls", Show::CountIfAny),
    spec([13, 13], "store", ["failures", "failed"], "store_failures", Show::CountIfAny),
    spec([12, 12], "breaker", ["stopped", "stopped"], "short_circuited", Show::CountIfAny),
    spec([15, 15], "keys", ["most", "most"], "store_keys_max", Show::CountIfAny),
    spec([9, 9], "keys", ["stuck", "stuck"], "stuck_keys_end", Show::CountIfAny),
    spec([18, 18], "keys", ["evicted", "evicted"], "evicted_keys", Show::CountIfAny),
    spec([22, 22], "decided", ["otherwise", "other"], "wrong_share", Show::ShareIfNamed),
    spec([19, 19], "still", ["queued", "queued"], "pending", Show::CountOrBelow),
    spec([3, 3], "peak", ["window", "window"], "peak_ratio", Show::Peak),
    spec([20, 20], "queue", ["wait p99", "p99"], "wait_p99_s", Show::SpanIfAny),
    spec([21, 21], "state", ["entries (size)", "kept"], "state_bytes_max", Show::State),
];

/// The columns of closed loops through fleets.
const CLOSED_FLEET: &[Spec] = &[
    spec([29, 29], "requests", ["all", "all"], "requests", Show::Count),
    spec([11, 11], "requests", ["gave up", "gave up"], "gave_up", Show::Count),
    spec([20, 20], "attempts", ["all", "all"], "attempts", Show::Count),
    spec([0, 0], "attempts", ["per request", "each"], "amplification", Show::FactorIfAny),
    spec([16, 16], "attempts", ["accepted", "passed"], "accepted", Show::Count),
    spec([17, 17], "attempts", ["rejected", "denied"], "rejected", Show::Count),
    spec([26, 26], "attempts", ["needless", "needless"], "needless_rejections", Show::CountIfRoom),
    spec([12, 12], "attempts", ["over limit", "over"], "over_limit", Show::Count),
    spec([5, 5], "attempts", ["undecided", "blind"], "unlimited_accepts", Show::CountIfAny),
    spec([1, 1], "effective", ["limit", "limit"], "effective_limit_ratio", Show::FactorIfAny),
    spec([2, 2], "success", ["of all", "of all"], "success_share", Show::ShareIfAny),
    spec([6, 6], "success", ["after p99", "p99"], "time_to_success_p99_s", Show::SpanIfAny),
    spec([3, 3], "in outages", ["accepted", "passed"], "accepted_in_outages", Show::CountIfAny),
    spec([4, 4], "in outages", ["over limit", "over"], "over_limit_in_outages", Show::CountIfAny),
    spec([19, 19], "in outages", ["rejected", "denied"], "rejected_in_outages", Show::CountIfAny),
    spec([7, 7], "rejected", ["by store", "store"], "store_rejections", Show::CountIfAny),
    spec([13, 13], "fallback", ["decided", "decided"], "fallback_decisions", Show::CountIfAny),
    spec([8, 8], "store", ["wait p99", "p99"], "store_wait_p99_s", Show::SpanIfLong),
    spec([21, 21], "store", ["calls", "calls"], "store_calls", Show::CountIfAny),
    spec([15, 15], "store", ["failures", "failed"], "store_failures", Show::CountIfAny),
    spec([18, 18], "breaker", ["stopped", "stopped"], "short_circuited", Show::CountIfAny),
    spec([22, 22], "keys", ["most", "most"], "store_keys_max", Show::CountIfAny),
    spec([10, 10], "keys", ["stuck", "stuck"], "stuck_keys_end", Show::CountIfAny),
    spec([23, 23], "keys", ["evicted", "evicted"], "evicted_keys", Show::CountIfAny),
    spec([14, 14], "herd", ["peak", "peak"], "herd_peak_ratio", Show::FactorIfAny),
    spec([9, 9], "recovery", ["took", "took"], "recovery_s", Show::SpanIfAny),
    spec([24, 24], "promises", ["broken", "broken"], "broken_promises", Show::CountIfAny),
    spec([31, 31], "decided", ["otherwise", "other"], "wrong_share", Show::ShareIfNamed),
    spec([25, 25], "still", ["queued", "queued"], "pending", Show::CountOrBelow),
    spec([27, 27], "peak", ["window", "window"], "peak_ratio", Show::Peak),
    spec([28, 28], "queue", ["wait p99", "p99"], "wait_p99_s", Show::SpanIfAny),
    spec([30, 30], "state", ["entries (size)", "kept"], "state_bytes_max", Show::State),
];

/// The columns that suit a comparison, in the order in which they stand.
pub fn columns(comparison: &Comparison) -> &'static [Spec] {
    match (comparison.is_closed_loop(), comparison.is_fleet()) {
        (false, false) => OPEN,
        (true, false) => CLOSED,
        (false, true) => FLEET,
        (true, true) => CLOSED_FLEET,
    }
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

    /// The order in which columns go, the highest first.
    pub fn rank(&self, spec: &Spec) -> u8 {
        spec.ranks[usize::from(self.means.is_some())]
    }

    /// A metric of the row at a position.
    pub fn standing(&self, row: usize, metric: &str) -> Option<Standing> {
        match &self.means {
            None => value(metric, &self.comparison.rows[row].tally).map(Standing::from),
            Some(means) => means.get(row, metric)?.standing(),
        }
    }

    fn standings<'b>(&'b self, metric: &'b str) -> impl Iterator<Item = Option<Standing>> + 'b {
        (0..self.comparison.rows.len()).map(move |row| self.standing(row, metric))
    }

    fn spread(&self, row: usize, metric: &str) -> Option<&Spread<'a>> {
        self.means.as_ref()?.get(row, metric)
    }
}

/// Whether a column has anything to show.
pub fn shown(spec: &Spec, source: &Source, room: Room) -> bool {
    let mut standings = source.standings(spec.metric);
    let mut any =
        || standings.any(|one| one.is_some_and(|Standing { never, mean }| never > 0 || mean > 0.0));
    match spec.show {
        Show::CountIfRoom => room < Room::NoNeedless || any(),
        Show::CountIfAny | Show::SpanIfLong => any(),
        Show::CountOrBelow => room < Room::QueuedBelow && any(),
        Show::Count | Show::Peak | Show::State => true,
        Show::ShareIfNamed => source.comparison.names_a_reference(),
        Show::SpanIfAny | Show::FactorIfAny | Show::ShareIfAny => {
            standings.any(|one| one.is_some())
        }
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
    let told = |metric, shown: &dyn Fn(&Statistic) -> String| {
        with_never(source.spread(row, metric)?, room < Room::ShortRatio, shown)
    };
    let text = told(spec.metric, &|across| match spec.show {
        Show::Peak => style.ratio(across),
        Show::FactorIfAny => style.factor(across),
        Show::ShareIfAny => style.share(across),
        Show::ShareIfNamed => style.small_share(across),
        Show::State if room < Room::ShortState => style.bytes(across),
        Show::State => bytes(across.mean.mean.round() as u64),
        Show::SpanIfAny | Show::SpanIfLong => style.span(across),
        Show::Count | Show::CountIfRoom | Show::CountIfAny | Show::CountOrBelow => {
            style.count(across)
        }
    });
    let instead = || match spec.show {
        Show::Peak => told("peak_window", &|peak| style.count(peak)),
        _ => None,
    };
    text.or_else(instead).unwrap_or_else(|| "-".to_owned())
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
        (Show::FactorIfAny, Some(times)) => factor(times.as_f64()),
        (Show::ShareIfAny, Some(part)) => share(part.as_f64()),
        (Show::ShareIfNamed, Some(part)) => small_share(part.as_f64()),
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
fn worst(metric: &str, source: &Source) -> Vec<bool> {
    let rows = &source.comparison.rows;
    let cases = source.comparison.cases.len();
    let Some(worse) = find(metric).map(|metric| metric.worse) else {
        return vec![false; rows.len()];
    };
    let all: Vec<(&Row, Option<Standing>)> = rows.iter().zip(source.standings(metric)).collect();
    let of_case =
        |case: usize| all.iter().filter(move |(row, _)| row.case == case).map(|(_, one)| *one);
    let by_case = (0..cases).all(|case| of_case(case).count() != 1);
    let worst: Vec<Option<Standing>> = match by_case {
        true => (0..cases).map(|case| worse.worst(of_case(case).flatten())).collect(),
        false => vec![worse.worst(all.iter().filter_map(|(_, one)| *one)); cases],
    };
    let is_worst = |(row, one): &(&Row, Option<Standing>)| {
        worst[row.case].is_some() && *one == worst[row.case]
    };
    all.iter().map(is_worst).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_loops_through_fleets_have_all_that_either_has() {
        for spec in CLOSED.iter().chain(FLEET) {
            let has = CLOSED_FLEET.iter().any(|other| other.metric == spec.metric);
            assert!(has, "{}", spec.metric);
        }
    }

    #[test]
    fn every_column_shows_a_metric_and_goes_at_a_turn_of_its_own() {
        for columns in [OPEN, CLOSED, FLEET, CLOSED_FLEET] {
            assert!(columns.iter().all(|spec| find(spec.metric).is_some()));
            for of in [0, 1] {
                let mut ranks: Vec<u8> = columns.iter().map(|spec| spec.ranks[of]).collect();
                ranks.sort_unstable();
                assert!(ranks.into_iter().eq(0..columns.len() as u8));
            }
        }
    }
}
