//! What stands above a table: the scenario, the limits as they were read, how much was asked by whom
//! and when, the seeds, and what a reader must know of the inputs.

use super::format::{count, length};
use super::grid::{FAINT, bold, paint};
use super::words::{printable, width, wrap};
use crate::metrics::{Comparison, METRICS, Row, Value};

/// A fact with its label: `limit`, `100 per 60s for each client`.
pub type Fact = (&'static str, String);

/// The lines above the table, and for each case the facts that not all cases share.
pub fn heading(
    comparison: &Comparison,
    most: usize,
    styled: bool,
) -> (Vec<String>, Vec<Vec<Fact>>) {
    let mut cases: Vec<Vec<Fact>> =
        (0..comparison.cases.len()).map(|case| facts(comparison, case)).collect();
    let shared: Vec<Fact> = match cases.split_first() {
        None => Vec::new(),
        Some((first, rest)) => first
            .iter()
            .filter(|fact| rest.iter().all(|case| case.contains(fact)))
            .cloned()
            .collect(),
    };
    for case in &mut cases {
        case.retain(|fact| !shared.contains(fact));
    }
    let mut lines: Vec<String> = wrap(&printable(&comparison.scenario), most)
        .iter()
        .map(|line| bold(line, styled))
        .collect();
    if !comparison.about.trim().is_empty() {
        lines.extend(wrap(&printable(&comparison.about.replace(['\n', '\t'], " ")), most));
    }
    lines.push(String::new());
    lines.extend(fact_lines(&shared, 0, most, styled));
    (lines, cases)
}

/// Facts one below the other, their labels in a column of their own.
pub fn fact_lines(facts: &[Fact], indent: usize, most: usize, styled: bool) -> Vec<String> {
    const LABELS: usize = 9;
    let mut lines = Vec::new();
    let mut previous = "";
    for (label, text) in facts {
        let room = most.saturating_sub(indent + LABELS);
        let mut shown = if *label == previous { "" } else { *label };
        previous = label;
        for line in wrap(text, room) {
            let padding = " ".repeat(LABELS.saturating_sub(width(shown)));
            let label = paint(shown, FAINT, styled);
            lines.push(format!("{:indent$}{label}{padding}{line}", ""));
            shown = "";
        }
    }
    lines
}

fn facts(comparison: &Comparison, case: usize) -> Vec<Fact> {
    let info = &comparison.cases[case];
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| row.case == case).collect();
    let mut facts: Vec<Fact> = Vec::new();
    for (name, words) in &info.limits {
        // A limit without a name of its own has its words for a name.
        let text = match words.strip_prefix(name.as_str()) {
            Some(_) => words.clone(),
            None => format!("{name}: {words}"),
        };
        facts.push(("limit", printable(&text)));
    }
    let when = format!("in {} from {}", length(info.window.span()), info.window.start);
    let traffic = match rows.first() {
        Some(row) => {
            let requests = requests(row);
            let clients = row.tally.clients.len() as u64;
            format!("{requests} by {} {when}", several(clients, "client"))
        }
        None => format!("none {when}"),
    };
    facts.push(("traffic", traffic));
    facts.extend(info.sending.iter().map(|words| ("clients", words.clone())));
    if let Some(fleet) = &info.fleet {
        facts.push(("nodes", fleet.nodes.clone()));
        facts.extend(fleet.clocks.iter().map(|words| ("clocks", words.clone())));
        facts.extend(fleet.store.iter().map(|words| ("store", words.clone())));
        facts.extend(fleet.outage.iter().map(|words| ("outage", words.clone())));
        facts.extend(fleet.failure.iter().map(|words| ("failure", words.clone())));
    }
    let mut seeds: Vec<u64> = rows.iter().map(|row| row.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    if !seeds.is_empty() {
        let label = if seeds.len() == 1 { "seed" } else { "seeds" };
        facts.push((label, seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")));
    }
    facts.extend(info.notes.iter().map(|note| ("note", printable(note))));
    facts
}

/// `1 request`; where replicas differ `1,180 to 1,260 requests`.
fn requests(row: &Row) -> String {
    let first = row.tally.books.requests;
    let position = METRICS.iter().position(|metric| metric.name == "requests");
    let others = row.repeats.iter().filter_map(|repeat| match repeat.values[position?] {
        Some(Value::Count(requests)) => Some(requests),
        _ => None,
    });
    let (least, most) =
        others.fold((first, first), |(least, most), one| (least.min(one), most.max(one)));
    let range = if least < most { format!("{} to ", count(least)) } else { String::new() };
    range + &several(most, "request")
}

/// `1 client`, `2,000 clients`.
fn several(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", count(number))
}
