//! What became of the attempts: one bar an algorithm, with the numbers beside it.

use super::axis::Numbers;
use super::canvas::{self, Align, WIDTH};
use super::palette::{GRID, INK, MUTED, OVER, OVER_TEXT, PENDING, REFUSED};
use super::panels::{self, BODY, MARGIN, SMALL};
use super::series::{self, Series};
use super::{Chart, Draw, text};
use crate::metrics::Comparison;

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "outcomes",
    title: "Outcomes",
    meaning: "What became of the attempts, by algorithm: accepted within the limit, accepted over \
              it, rejected, still queued at the end.",
    draw: Draw::Whole(draw),
};

const PITCH: f64 = 26.0;
const BAR: f64 = 16.0;
const CASE_HEAD: f64 = 26.0;
/// So many cases are drawn; the tables have them all.
const MOST_CASES: usize = 8;

/// The parts of a bar, from left to right.
fn parts(one: &Series<'_>) -> [u64; 4] {
    let tally = &one.row.tally;
    let over = tally.over_limit.min(tally.books.accepted);
    [tally.books.accepted - over, over, tally.books.rejected, tally.books.pending]
}

fn draw(comparison: &Comparison) -> Option<String> {
    let mut left_out = 0;
    let cases: Vec<(usize, Vec<Series<'_>>)> = (0..comparison.cases.len())
        .map(|case| {
            let (all, more) = series::of_case(comparison, case);
            left_out += more;
            (case, all)
        })
        .filter(|(_, all)| !all.is_empty())
        .take(MOST_CASES)
        .collect();
    let all: Vec<&Series<'_>> = cases.iter().flat_map(|(_, all)| all).collect();
    if all.is_empty() {
        return None;
    }
    let sum = |one: &&Series<'_>| parts(one).iter().map(|&part| part as f64).sum::<f64>();
    let most = all.iter().map(sum).fold(0.0, f64::max);
    let pending = all.iter().any(|one| parts(one)[3] > 0);
    let columns: Vec<(usize, [&str; 2], _)> = vec![
        (0, ["accepted", "within limit"], None),
        (1, ["accepted", "over limit"], Some(OVER)),
        (2, ["", "rejected"], Some(REFUSED)),
    ]
    .into_iter()
    .chain(pending.then_some((3, ["queued", "at the end"], Some(PENDING))))
    .collect();

    let title = title(comparison, &cases);
    let drawn = "attempts by what became of them";
    // Said once where it is the same for all cases.
    let mut limits = series::limits(comparison, cases[0].0);
    if cases.iter().any(|(case, _)| series::limits(comparison, *case) != limits) {
        limits.clear();
    }
    let more_cases = comparison.cases.len().saturating_sub(MOST_CASES);
    let cut = (more_cases > 0).then(|| format!("{more_cases} more cases are in the tables"));
    let remarks: Vec<String> =
        series::remark(comparison, left_out).into_iter().chain(cut).collect();
    let remark = remarks.join("; ");
    let subtitle = match limits.as_str() {
        "" => drawn.to_owned(),
        limits => format!("{drawn}; {limits}"),
    };
    let lines = panels::lines(&title, &[&subtitle, &remark]);
    let several = cases.len() > 1;
    let head = panels::heading_height(&lines) + 48.0;
    let bars = all.len() as f64 * PITCH;
    let heads = if several { cases.len() as f64 * CASE_HEAD } else { 0.0 };
    let height = (head + bars + heads + 40.0).ceil();

    let names = all.iter().map(|one| text::width(&one.row.algorithm, BODY)).fold(60.0, f64::max);
    let left = MARGIN + names.min(190.0) + 10.0;
    let column = 76.0;
    let right = WIDTH - MARGIN - column * columns.len() as f64 - 2.0;
    let numbers = Numbers::up_to(most, (right - left) / 80.0, true);
    let scale = (right - left) / if most > 0.0 { most } else { 1.0 };

    Some(canvas::draw(height, &title, |canvas| {
        panels::heading(canvas, &lines.0, &lines.1);
        for (index, (_, words, colour)) in columns.iter().enumerate() {
            let x = right + column * (index + 1) as f64;
            for (line, word) in words.iter().enumerate() {
                let y = head - 28.0 + 14.0 * line as f64;
                canvas.text((x, y), SMALL, Align::End, MUTED, word);
            }
            let (from, to) = ((x - 28.0, head - 9.0), (x, head - 5.0));
            match colour {
                Some(colour) => canvas.rectangle(from, to, *colour, 1.0),
                None => panels::swatch(canvas, from, to, &series::colours(&cases[0].1)),
            }
        }
        let ticks: Vec<f64> = numbers.ticks().filter(|tick| *tick <= most).collect();
        for tick in &ticks {
            let at = (left + tick * scale, height - 20.0);
            canvas.text(at, SMALL, Align::Middle, MUTED, &numbers.label(*tick));
        }
        canvas.text((MARGIN, height - 20.0), SMALL, Align::Start, MUTED, "attempts");
        let mut y = head;
        for (case, all) in &cases {
            if several {
                let mut words = comparison.cases[*case].name.clone();
                if limits.is_empty() {
                    words = format!("{words}: {}", series::limits(comparison, *case));
                }
                let words = text::fit(&words, BODY, WIDTH - 2.0 * MARGIN);
                canvas.text((MARGIN, y + 18.0), BODY, Align::Start, MUTED, &words);
                y += CASE_HEAD;
            }
            let floor = y + PITCH * all.len() as f64;
            for tick in &ticks {
                let x = left + tick * scale;
                canvas.line(&[(x, y), (x, floor)], GRID, 1.0);
            }
            for one in all {
                let baseline = y + PITCH / 2.0 + 4.5;
                let name = text::fit(&one.row.algorithm, BODY, left - MARGIN - 10.0);
                canvas.text((left - 10.0, baseline), BODY, Align::End, INK, &name);
                let numbers = parts(one);
                let colours = [one.colour, OVER, REFUSED, PENDING];
                let mut from = left;
                for (number, colour) in numbers.into_iter().zip(colours) {
                    if number == 0 {
                        continue;
                    }
                    // However few, they are seen.
                    let to = (from + number as f64 * scale).max(from + 1.5);
                    let top = y + (PITCH - BAR) / 2.0;
                    canvas.rectangle((from, top), (to, top + BAR), colour, 1.0);
                    from = to;
                }
                for (index, (part, ..)) in columns.iter().enumerate() {
                    let number = numbers[*part];
                    let x = right + column * (index + 1) as f64;
                    let colour = match (part, number) {
                        (_, 0) => MUTED,
                        (1, _) => OVER_TEXT,
                        _ => INK,
                    };
                    canvas.text((x, baseline), BODY, Align::End, colour, &text::count(number));
                }
                y += PITCH;
            }
        }
    }))
}

fn title(comparison: &Comparison, cases: &[(usize, Vec<Series<'_>>)]) -> String {
    let all = cases.iter().flat_map(|(case, all)| all.iter().map(move |one| (*case, one)));
    let over = all.clone().filter(|(_, one)| one.row.tally.over_limit > 0);
    let worst = over.reduce(|best, next| {
        let more = next.1.row.tally.over_limit > best.1.row.tally.over_limit;
        if more { next } else { best }
    });
    let Some((case, one)) = worst else {
        return format!("{}: no algorithm accepts anything over the limit", comparison.scenario);
    };
    let subject = match cases.len() {
        1 => series::subject(comparison, case),
        _ => comparison.scenario.clone(),
    };
    let place = match comparison.cases[case].name.as_str() {
        name if cases.len() > 1 && !name.is_empty() => format!(" ({name})"),
        _ => String::new(),
    };
    let attempts = text::plural(one.row.tally.books.attempts, "attempt", "attempts");
    format!(
        "{subject}: of {attempts}, {}{place} accepts {} over the limit",
        one.row.algorithm,
        text::count(one.row.tally.over_limit),
    )
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn the_boundary_splits_the_bar_of_the_fixed_window() {
        insta::assert_snapshot!(draw(&sample::boundary()).unwrap());
    }
}
