//! How long algorithms that queue keep what they accept waiting.

use super::axis::Elapsed;
use super::canvas::{self, Align, WIDTH};
use super::palette::{GRID, INK, MUTED, PAPER};
use super::panels::{self, BODY, MARGIN, SMALL};
use super::series::{self, Series};
use super::{Chart, Draw, text};
use crate::metrics::Comparison;
use crate::report::format::span;
use crate::time::Span;

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "waits",
    title: "Waits in the queue",
    meaning: "How long accepted attempts waited in the queue of an algorithm that has one: \
              p50, p90, p99 and the longest.",
    draw: Draw::Whole(draw),
};

const PITCH: f64 = 19.0;
const BAR: f64 = 11.0;
const HEAD: f64 = 26.0;
/// So many algorithms are drawn; the tables have them all.
const MOST: usize = 12;

/// The marks of a distribution, with what each is called.
fn marks(one: &Series<'_>) -> [(&'static str, Span); 4] {
    let waits = &one.row.tally.queue_waits;
    let quantile = |percent| waits.percentile(percent).unwrap_or_default();
    [
        ("p50", quantile(50)),
        ("p90", quantile(90)),
        ("p99", quantile(99)),
        ("max", waits.max().unwrap_or_default()),
    ]
}

fn draw(comparison: &Comparison) -> Option<String> {
    let mut left_out = 0;
    let mut found: Vec<(usize, Series<'_>)> = Vec::new();
    for case in 0..comparison.cases.len() {
        let (all, more) = series::of_case(comparison, case);
        left_out += more;
        for one in all.into_iter().filter(|one| one.row.tally.queue_waits.count() > 0) {
            if found.len() < MOST { found.push((case, one)) } else { left_out += 1 }
        }
    }
    let groups: Vec<_> = found.iter().map(|(case, one)| (*case, one, marks(one))).collect();
    let longest = groups.iter().map(|(.., marks)| marks[3].1).max()?;
    let (slowest_case, slowest, _) = groups.iter().find(|(.., marks)| marks[3].1 == longest)?;
    let subject = match comparison.cases.len() {
        1 => series::subject(comparison, *slowest_case),
        _ => comparison.scenario.clone(),
    };
    let title = format!(
        "{subject}: {} makes requests wait up to {}",
        slowest.row.algorithm,
        span(longest),
    );
    let limits = match comparison.cases.len() {
        1 => series::limits(comparison, 0),
        _ => String::new(),
    };
    let remark = series::remark(comparison, left_out).unwrap_or_default();
    let drawn = match comparison.is_fleet() {
        false => "time from arrival to acceptance, those that did not wait included",
        true => "time in the queue, calls of the store not included; those that did not wait are",
    };
    let lines = panels::lines(&title, &[drawn, &limits, &remark]);
    let head = panels::heading_height(&lines) + 6.0;
    let group = HEAD + 4.0 * PITCH;
    let height = (head + groups.len() as f64 * group + 52.0).ceil();
    let (left, right) = (MARGIN + 40.0, WIDTH - MARGIN - 76.0);
    let time = Elapsed::waits(longest.nanos(), right - left, SMALL);
    let x = |nanos: u64| left + nanos as f64 / time.to as f64 * (right - left);

    Some(canvas::draw(height, &title, |canvas| {
        panels::heading(canvas, &lines.0, &lines.1);
        let floor = height - 46.0;
        for tick in time.ticks() {
            canvas.line(&[(x(tick), head + HEAD), (x(tick), floor)], GRID, 1.0);
            let at = (x(tick), floor + 15.0);
            canvas.text(at, SMALL, Align::Middle, MUTED, &time.label(tick));
        }
        let words = format!("time waited ({})", time.unit_name());
        canvas.text((left, height - MARGIN + 2.0), SMALL, Align::Start, MUTED, &words);
        for (index, (case, one, marks)) in groups.iter().enumerate() {
            let top = head + index as f64 * group;
            let case = comparison.cases[*case].name.as_str();
            let name = match case {
                "" => one.row.algorithm.clone(),
                case => format!("{} ({case})", one.row.algorithm),
            };
            let waits = &one.row.tally.queue_waits;
            let name = format!("{name}: {} accepted", text::count(waits.count()));
            let name = text::fit(&name, BODY, WIDTH - left - MARGIN);
            canvas.text((left, top + 18.0), BODY, Align::Start, INK, &name);
            for (line, (mark, wait)) in marks.iter().enumerate() {
                let y = top + HEAD + line as f64 * PITCH;
                let baseline = y + PITCH / 2.0 + 4.0;
                canvas.text((left - 8.0, baseline), SMALL, Align::End, MUTED, mark);
                let bar = y + (PITCH - BAR) / 2.0;
                let end = x(wait.nanos()).max(left + 1.5);
                canvas.rectangle((left, bar), (end, bar + BAR), one.colour, 1.0);
                let words = span(*wait);
                let after = end + 10.0 + text::width(&words, SMALL);
                canvas.rectangle((end + 2.0, y), (after, y + PITCH), PAPER, 1.0);
                canvas.text((end + 6.0, baseline), SMALL, Align::Start, INK, &words);
            }
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn the_boundary_makes_the_queue_wait() {
        insta::assert_snapshot!(draw(&sample::boundary()).unwrap());
    }
}
