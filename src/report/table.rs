//! The table on the terminal: one row an algorithm, of several replicas with means, grouped by case, with what the scenario is above
//! it and what to take from it below.

use super::columns::{ROOMS, Room, Source, Spec, column, columns, shown};
use super::format::count;
use super::grid::{FAINT, Grid, MARK, WORST, bold, paint};
use super::heading::{Fact, fact_lines, heading};
use super::intervals;
use super::reading::{self, readings};
use super::words::{listed, printable, wrap};
use crate::metrics::{Comparison, Row};

/// A narrower terminal gets a table of this width.
pub const NARROWEST: usize = 40;

/// Names longer than this give way before a column does.
const LONG_NAME: usize = 18;
/// Names are not shortened below this.
const SHORT_NAME: usize = 8;

/// A text that nobody should miss, in the style of the worst values, if there are styles at all.
pub fn alarm(text: &str, styled: bool) -> String {
    paint(text, WORST, styled)
}

/// So many rows a note tells what is still queued of.
const MOST_QUEUED: usize = 4;

/// The whole text for a terminal of so many columns (at least [`NARROWEST`]), ending in a line end.
/// `styled` marks by bold and colour; else an asterisk marks the worst of a column.
pub fn table(comparison: &Comparison, most: usize, styled: bool) -> String {
    let most = most.max(NARROWEST);
    let (mut lines, by_case) = heading(comparison, most, styled);
    if let Some(algorithm) = row_a_case(comparison, &by_case) {
        let fact = ("limiter", printable(algorithm));
        lines.extend(fact_lines(&[fact], 0, most, styled));
    }
    lines.push(String::new());
    if comparison.rows.is_empty() {
        lines.push("nothing was run".to_owned());
    } else {
        let source = Source::of(comparison);
        let Fitted { grid, dropped, room } = fit(comparison, &source, &by_case, most, styled);
        lines.extend(grid.lines(styled));
        let marked = grid.columns.iter().flat_map(|c| &c.cells).any(|cell| cell.worst);
        let mut notes = Vec::new();
        let replicas = comparison.replicas();
        if replicas > 1 {
            let remark = wrap(&intervals::remark(replicas), most);
            lines.extend(remark.iter().map(|line| paint(line, FAINT, styled)));
        }
        if marked && !styled {
            notes.push(format!("{MARK} worst of its column"));
        }
        if !dropped.is_empty() {
            notes.push(format!("no room to show: {}", dropped.join(", ")));
        }
        if room >= Room::QueuedBelow {
            notes.extend(queued(comparison, &source));
        }
        notes.extend(reading::remark(comparison));
        let notes = wrap(&notes.join("; "), most);
        lines.extend(notes.iter().map(|line| paint(line, FAINT, styled)));
        if !lines.last().is_some_and(String::is_empty) {
            lines.push(String::new());
        }
        let sentences = readings(comparison);
        if replicas > 1 && !sentences.is_empty() {
            lines.push("of the first replica:".to_owned());
        }
        for sentence in sentences {
            let wrapped = wrap(&sentence, most - 2);
            let marks = ["- "].into_iter().chain(std::iter::repeat("  "));
            lines.extend(wrapped.iter().zip(marks).map(|(line, mark)| format!("{mark}{line}")));
        }
    }
    lines.join("\n") + "\n"
}

/// A table made to fit.
struct Fitted {
    grid: Grid,
    /// The names of the columns that had to go.
    dropped: Vec<String>,
    room: Room,
}

fn fit(
    comparison: &Comparison,
    source: &Source,
    by_case: &[Vec<Fact>],
    most: usize,
    styled: bool,
) -> Fitted {
    let mut grid = grid(comparison, by_case, most, styled);
    let all = columns(comparison);
    let mut specs: Vec<&Spec> = Vec::new();
    let mut room = Room::Ample;
    for tried in ROOMS {
        room = tried;
        specs = all.iter().filter(|spec| shown(spec, source, room)).collect();
        grid.columns = specs.iter().map(|spec| column(spec, source, room)).collect();
        if grid.width() <= most {
            break;
        }
    }
    let mut dropped: Vec<&Spec> = Vec::new();
    while grid.width() > most {
        let over = grid.width() - most;
        let names = grid.names_width();
        let last = grid.columns.len() == 1;
        let least = if last { SHORT_NAME } else { grid.distinct_from(LONG_NAME) };
        let goes = (0..specs.len()).max_by_key(|&index| source.rank(specs[index]));
        if names > least {
            grid.shorten_names(names.saturating_sub(over).max(least));
        } else if let Some(goes) = goes.filter(|_| !last) {
            grid.columns.remove(goes);
            dropped.push(specs.remove(goes));
        } else {
            break;
        }
    }
    let is_dropped = |spec: &&Spec| dropped.iter().any(|dropped| std::ptr::eq(*dropped, *spec));
    let dropped = all.iter().filter(is_dropped);
    let dropped = dropped.map(|spec| format!("{} {}", spec.group, spec.heads[0])).collect();
    Fitted { grid, dropped, room }
}

/// The algorithm of a closed loop or a fleet whose cases have a row each and nothing else to tell them apart by:
/// there the rows are the cases.
fn row_a_case<'a>(comparison: &'a Comparison, by_case: &[Vec<Fact>]) -> Option<&'a str> {
    let Comparison { cases, rows, .. } = comparison;
    let first = rows.first()?;
    let each = rows.len() == cases.len() && rows.iter().map(|row| row.case).eq(0..cases.len());
    let alike = rows.iter().all(|row| row.algorithm == first.algorithm)
        && by_case.iter().all(|facts| facts.is_empty());
    let reacts = comparison.is_closed_loop() || comparison.is_fleet();
    let told = reacts && cases.len() > 1 && each && alike;
    told.then_some(&first.algorithm)
}

/// What is still queued, or on its way to the store or back, for a note: "still queued: leaky-bucket 1,207".
fn queued(comparison: &Comparison, source: &Source) -> Option<String> {
    let pending = |row: usize| source.standing(row, "pending").map_or(0.0, |one| one.mean);
    let rows = comparison.rows.iter().enumerate().filter(|(index, _)| pending(*index) > 0.0);
    let one = |(index, row): (usize, &Row)| {
        let name = printable(&row.algorithm);
        let case = printable(&comparison.cases[row.case].name);
        let case = if comparison.cases.len() > 1 { format!("{case}: ") } else { String::new() };
        format!("{case}{name} {}", count(pending(index).round().max(1.0) as u64))
    };
    let mut told: Vec<String> = rows.clone().take(MOST_QUEUED).map(one).collect();
    match rows.count().saturating_sub(MOST_QUEUED) {
        0 => {}
        more => told.push(format!("{more} more")),
    }
    let what = if comparison.is_fleet() { "undecided at the end" } else { "still queued" };
    (!told.is_empty()).then(|| format!("{what}: {}", listed(&told)))
}

/// The names and headings of the table, without columns.
fn grid(comparison: &Comparison, by_case: &[Vec<Fact>], most: usize, styled: bool) -> Grid {
    if row_a_case(comparison, by_case).is_some() {
        let names = comparison.cases.iter().map(|case| printable(&case.name)).collect();
        return Grid { head: "case", names, columns: Vec::new(), headings: Vec::new() };
    }
    let several = comparison.cases.len() > 1;
    let indent = if several { "  " } else { "" };
    let name = |row: &Row| format!("{indent}{}", printable(&row.algorithm));
    let mut headings = Vec::new();
    for (index, row) in comparison.rows.iter().enumerate() {
        let first = index == 0 || comparison.rows[index - 1].case != row.case;
        if several && first {
            let name = printable(&comparison.cases[row.case].name);
            let mut lines = if index == 0 { Vec::new() } else { vec![String::new()] };
            lines.extend(wrap(&name, most).iter().map(|line| bold(line, styled)));
            lines.extend(fact_lines(&by_case[row.case], indent.len(), most, styled));
            headings.push((index, lines));
        }
    }
    let names = comparison.rows.iter().map(name).collect();
    Grid { head: "algorithm", names, columns: Vec::new(), headings }
}

#[cfg(test)]
mod tests {
    use super::super::fleet_samples;
    use super::super::samples::{
        self, MINUTE, Numbers, any, boundary, cases, hostile, retries, row, tally,
    };
    use super::super::words::width;
    use super::*;
    use crate::rate::Limit;
    use proptest::prelude::*;

    fn plain(comparison: &Comparison, most: usize) -> String {
        table(comparison, most, false)
    }

    #[test]
    fn boundary_in_80_columns() {
        insta::assert_snapshot!(plain(&boundary(), 80));
    }

    #[test]
    fn boundary_in_60_columns() {
        insta::assert_snapshot!(plain(&boundary(), 60));
    }

    #[test]
    fn boundary_where_there_is_room() {
        insta::assert_snapshot!(plain(&boundary(), 120));
    }

    #[test]
    fn boundary_in_colour() {
        let styled = table(&boundary(), 80, true);
        insta::assert_snapshot!(styled.replace('\u{1b}', "<ESC>"));
    }

    #[test]
    fn cases_stand_below_one_another() {
        insta::assert_snapshot!(plain(&cases(), 80));
    }

    #[test]
    fn replicas_are_told_by_their_means_in_80_columns() {
        insta::assert_snapshot!(plain(&samples::replicated(), 80));
    }

    #[test]
    fn of_a_closed_loop_what_requests_came_to_stands_first_and_stays_longest() {
        let widths = [130, 80, 60].map(|most| plain(&retries(), most));
        insta::assert_snapshot!(widths.join("\n"));
    }

    #[test]
    fn cases_of_a_closed_loop_under_several_algorithms_stand_below_one_another() {
        let mut retries = retries();
        retries.rows[0].algorithm = "gcra".to_owned();
        insta::assert_snapshot!(plain(&retries, 80));
    }

    #[test]
    fn means_of_a_closed_loop_say_in_how_many_replicas_it_never_came() {
        let widths = [150, 120, 80].map(|most| plain(&samples::replicated_retries(), most));
        insta::assert_snapshot!(widths.join("\n"));
    }

    #[test]
    fn fleets_are_told_by_what_their_nodes_and_stores_make_of_a_promise() {
        let all = [fleet_samples::outage(), fleet_samples::expiry(), fleet_samples::skew()];
        let told = all.iter().flat_map(|fleet| [130, 80].map(|most| plain(fleet, most)));
        insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn one_row_has_no_worst() {
        let mut one = boundary();
        one.rows.truncate(1);
        insta::assert_snapshot!(plain(&one, 80));
    }

    #[test]
    fn no_row_at_all() {
        let mut none = boundary();
        none.rows.clear();
        insta::assert_snapshot!(plain(&none, 80));
    }

    #[test]
    fn a_limit_of_nothing_has_no_ratio() {
        let limit = Limit::new(0, MINUTE);
        let mut blocked = boundary();
        blocked.cases = vec![samples::case("", limit)];
        let numbers = Numbers { rejected: 200, ..Numbers::default() };
        let burst =
            Numbers { accepted: 5, rejected: 195, over_limit: 5, peak: 5, ..numbers.clone() };
        blocked.rows =
            vec![row("fixed-window", tally(limit, numbers)), row("gcra", tally(limit, burst))];
        insta::assert_snapshot!(plain(&blocked, 80));
    }

    #[test]
    fn long_names_give_way_and_then_columns_do() {
        let wide = plain(&hostile(), 100);
        let narrow = plain(&hostile(), 40);
        insta::assert_snapshot!(format!("{wide}\n{narrow}"));
    }

    #[test]
    fn six_algorithms_with_millions_keep_state_and_queue_in_80_columns() {
        let limit = Limit::new(1_000_000, MINUTE);
        let mut large = boundary();
        for row in &mut large.rows {
            let numbers = Numbers {
                accepted: 1_234_567,
                rejected: 2_345_678,
                pending: 7_654_321,
                over_limit: 1_000_001,
                needless: 1_111_111,
                peak: 1_200_000,
                bytes: 16_144,
                waits: vec![59_983_000_000],
                ..Numbers::default()
            };
            row.tally = tally(limit, numbers);
        }
        insta::assert_snapshot!(plain(&large, 80));
    }

    #[test]
    fn peaks_of_several_limits_are_told_by_their_ratios_alone() {
        let mut two = boundary();
        two.rows.truncate(2);
        for row in &mut two.rows {
            row.tally.limits.push(row.tally.limits[0].clone());
        }
        let text = plain(&two, 120);
        assert!(text.contains(" 2.0x*") && !text.contains("(2.0x)"), "{text}");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(comparison in any(), most in 40_usize..140) {
            for line in plain(&comparison, most).lines() {
                prop_assert!(width(line) <= most, "{} > {most}: {line:?}", width(line));
            }
        }

        #[test]
        fn colour_changes_no_column(comparison in any(), most in 40_usize..140) {
            let marked = plain(&comparison, most).replace("* worst of its column", "").replace('*', "");
            let styled = anstream::adapter::strip_str(&table(&comparison, most, true)).to_string();
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let without = |text: &str| words(&text.replace(['*', ';'], ""));
            prop_assert_eq!(without(&marked), without(&styled));
        }

        #[test]
        fn nothing_reads_nan_or_inf(comparison in any()) {
            let mut comparison = comparison;
            for row in &mut comparison.rows {
                row.algorithm = "gcra".to_owned();
            }
            comparison.scenario = String::new();
            comparison.about = String::new();
            for case in &mut comparison.cases {
                case.name = String::new();
                if let Some(fleet) = &mut case.fleet {
                    (fleet.nodes, fleet.clocks, fleet.store) = Default::default();
                    (fleet.outage, fleet.failure) = Default::default();
                }
            }
            let text = plain(&comparison, 140).to_lowercase();
            prop_assert!(!text.contains("nan") && !text.contains("inf"), "{text}");
        }
    }
}
