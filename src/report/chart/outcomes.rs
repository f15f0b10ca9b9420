//! What became of the attempts: one bar an algorithm, with the numbers beside it.

use super::axis::Numbers;
use super::canvas::{self, Align, Canvas, WIDTH};
use super::chosen::{Chosen, Told};
use super::palette::{Colour, GIVEN_UP, GRID, INK, MUTED, OVER, OVER_TEXT, PENDING, REFUSED};
use super::panels::{self, BODY, MARGIN, SMALL};
use super::series::{self, Series};
use super::{Chart, Draw, text};
use crate::judge::Tally;
use crate::metrics::Comparison;

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "outcomes",
    title: "Outcomes",
    meaning: "What became of the attempts, by algorithm: accepted within the limit, accepted over \
              it, rejected, given up by their clients in the queue, still queued or undecided at the end.",
    draw: Draw::Whole(draw),
};

const PITCH: f64 = 26.0;
const BAR: f64 = 16.0;
const CASE_HEAD: f64 = 26.0;
const COLUMN: f64 = 76.0;
/// So many cases are drawn, and no more bars than this; the tables have them all.
const MOST_CASES: usize = 12;
const MOST_BARS: usize = 192;

/// A part of a bar, which is also a column of numbers.
struct Part {
    words: [&'static str; 2],
    count: fn(&Tally) -> u64,
    /// `None` for the colour of the algorithm.
    colour: Option<Colour>,
    ink: Colour,
    /// Whether it is left out where nothing is of it.
    rare: bool,
}

/// From left to right.
const PARTS: [Part; 5] = [
    Part {
        words: ["accepted", "within limit"],
        count: |tally| tally.books.accepted.saturating_sub(tally.over_limit),
        colour: None,
        ink: INK,
        rare: false,
    },
    Part {
        words: ["accepted", "over limit"],
        count: |tally| tally.over_limit,
        colour: Some(OVER),
        ink: OVER_TEXT,
        rare: false,
    },
    Part {
        words: ["", "rejected"],
        count: |tally| tally.books.rejected,
        colour: Some(REFUSED),
        ink: INK,
        rare: false,
    },
    Part {
        words: ["given up", "in the queue"],
        count: |tally| tally.books.failed,
        colour: Some(GIVEN_UP),
        ink: INK,
        rare: true,
    },
    Part {
        words: ["queued", "at the end"],
        count: |tally| tally.books.pending,
        colour: Some(PENDING),
        ink: INK,
        rare: true,
    },
];

/// Where the bars and the columns stand.
struct Frame {
    /// The parts that occur.
    parts: Vec<&'static Part>,
    /// Where bars begin.
    left: f64,
    /// Where bars end and columns begin.
    right: f64,
    /// What is left free between a name and its bar, at least.
    gap: f64,
    /// Pixels of one attempt.
    scale: f64,
    ticks: Vec<f64>,
}

fn draw(comparison: &Comparison) -> Option<String> {
    let every = Chosen::every(comparison)?;
    let (title, told) = title(comparison, &every);
    let most_of_case = every.cases.iter().map(|(_, all)| all.len()).max()?;
    let most_cases = (MOST_BARS / most_of_case.max(1)).clamp(1, MOST_CASES);
    let drawn = every.cut(most_cases, series::MOST, &told);
    let (cases, remark) = (&drawn.cases, &drawn.remark);
    let first = cases.first()?;
    // Said once where it is the same for all cases.
    let common = Some(series::limits(comparison, first.0)).filter(|limits| {
        cases.iter().all(|(case, _)| series::limits(comparison, *case) == *limits)
    });
    // Behind the limits much may become of an attempt where clients react.
    let what = match comparison.is_closed_loop() {
        true => "attempts by what the limits made of them",
        false => "attempts by what became of them",
    };
    let what = match &common {
        Some(limits) => format!("{what}; {limits}"),
        None => what.to_owned(),
    };
    let lines = panels::lines(&title, &[&what, remark]);
    let named = comparison.cases.len() > 1;
    let all: Vec<&Series<'_>> = drawn.all().map(|(_, one)| one).collect();
    let head = panels::heading_height(&lines) + 48.0;
    let names = if named { cases.len() as f64 * CASE_HEAD } else { 0.0 };
    let height = (head + all.len() as f64 * PITCH + names + 40.0).ceil();
    let (frame, numbers) = Frame::around(&all, comparison.is_fleet());

    Some(canvas::draw(height, &title, |canvas| {
        panels::heading(canvas, &lines.0, &lines.1);
        frame.head(canvas, head, comparison.is_fleet(), &series::colours(&first.1));
        let floor = height - 20.0;
        canvas.text((MARGIN, floor), SMALL, Align::Start, MUTED, "attempts");
        for tick in &frame.ticks {
            let at = (frame.left + tick * frame.scale, floor);
            canvas.text(at, SMALL, Align::Middle, MUTED, &numbers.label(*tick));
        }
        let mut y = head;
        for (case, all) in cases {
            if named {
                let name = &comparison.cases[*case].name;
                let words = match common {
                    Some(_) => name.clone(),
                    None => format!("{name}: {}", series::limits(comparison, *case)),
                };
                let words = text::fit(&words, BODY, WIDTH - 2.0 * MARGIN);
                canvas.text((MARGIN, y + 18.0), BODY, Align::Start, MUTED, &words);
                y += CASE_HEAD;
            }
            frame.guide(canvas, y, y + PITCH * all.len() as f64);
            for one in all {
                frame.bar(canvas, one, y);
                y += PITCH;
            }
        }
    }))
}

impl Frame {
    /// The frame that all algorithms fit in, with its axis.
    fn around(all: &[&Series<'_>], is_fleet: bool) -> (Frame, Numbers) {
        let occurs =
            |part: &&Part| !part.rare || all.iter().any(|one| (part.count)(&one.row.tally) > 0);
        let parts: Vec<&Part> = PARTS.iter().filter(occurs).collect();
        let total = |one: &&Series<'_>| -> f64 {
            parts.iter().map(|part| (part.count)(&one.row.tally) as f64).sum()
        };
        let most = all.iter().map(total).fold(1.0, f64::max);
        let name = all.iter().map(|one| text::width(&one.row.algorithm, BODY));
        let left = MARGIN + name.fold(60.0, f64::max).min(190.0) + 10.0;
        let right = WIDTH - MARGIN - COLUMN * parts.len() as f64 - 2.0;
        let numbers = Numbers::up_to(most, (right - left) / 80.0, true);
        let ticks = numbers.ticks().filter(|tick| *tick <= most).collect();
        // A name that just fits is not cut for what sums are rounded by. Charts of other comparisons keep their bytes.
        let gap = if is_fleet { 9.9 } else { 10.0 };
        (Frame { parts, left, right, gap, scale: (right - left) / most, ticks }, numbers)
    }

    /// Where a column ends.
    fn column(&self, index: usize) -> f64 {
        self.right + COLUMN * (index + 1) as f64
    }

    /// The heads of the columns, which are the legend of the bars too.
    fn head(&self, canvas: &mut Canvas<'_>, y: f64, is_fleet: bool, algorithms: &[Colour]) {
        for (index, part) in self.parts.iter().enumerate() {
            let x = self.column(index);
            let words = match part.words {
                // In a queue, or between a node and the store.
                ["queued", when] if is_fleet => ["undecided", when],
                words => words,
            };
            for (line, word) in words.iter().enumerate() {
                let baseline = y - 28.0 + 14.0 * line as f64;
                canvas.text((x, baseline), SMALL, Align::End, MUTED, word);
            }
            let colours = part.colour.as_ref().map_or(algorithms, std::slice::from_ref);
            panels::swatch(canvas, (x - 28.0, y - 9.0), (x, y - 5.0), colours);
        }
    }

    fn guide(&self, canvas: &mut Canvas<'_>, top: f64, bottom: f64) {
        for tick in &self.ticks {
            let x = self.left + tick * self.scale;
            canvas.line(&[(x, top), (x, bottom)], GRID, 1.0);
        }
    }

    /// One algorithm: its name, its bar, its numbers.
    fn bar(&self, canvas: &mut Canvas<'_>, one: &Series<'_>, y: f64) {
        let baseline = y + PITCH / 2.0 + 4.5;
        let top = y + (PITCH - BAR) / 2.0;
        let name = text::fit(&one.row.algorithm, BODY, self.left - MARGIN - self.gap);
        canvas.text((self.left - 10.0, baseline), BODY, Align::End, INK, &name);
        let mut from = self.left;
        for (index, part) in self.parts.iter().enumerate() {
            let count = (part.count)(&one.row.tally);
            let ink = if count == 0 { MUTED } else { part.ink };
            let at = (self.column(index), baseline);
            canvas.text(at, BODY, Align::End, ink, &text::count(count));
            if count > 0 {
                // However few, they are seen.
                let to = (from + count as f64 * self.scale).max(from + 1.5);
                let colour = part.colour.unwrap_or(one.colour);
                canvas.rectangle((from, top), (to, top + BAR), colour, 1.0);
                from = to;
            }
        }
    }
}

/// The run with the most over the limit, which is what it tells of.
fn title<'a>(comparison: &Comparison, every: &Chosen<'a>) -> (String, Told<'a>) {
    let cases = &every.cases;
    let over = every.all().filter(|(_, one)| one.row.tally.over_limit > 0);
    let worst = over.reduce(|best, next| {
        let more = next.1.row.tally.over_limit > best.1.row.tally.over_limit;
        if more { next } else { best }
    });
    let Some((case, one)) = worst else {
        let title =
            format!("{}: no algorithm accepts anything over the limit", comparison.scenario);
        return (title, Told::new());
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
    let title = format!(
        "{subject}: of {attempts}, {}{place} accepts {} over the limit",
        one.row.algorithm,
        text::count(one.row.tally.over_limit),
    );
    (title, vec![(case, one.row.algorithm.as_str())])
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn the_boundary_splits_the_bar_of_the_fixed_window() {
        insta::assert_snapshot!(draw(&sample::boundary()).unwrap());
    }

    #[test]
    fn the_case_of_which_the_title_tells_is_drawn_however_many_there_are() {
        let mut many = sample::boundary();
        let (info, rows) = (many.cases[0].clone(), many.rows.clone());
        many.cases = (0..20)
            .map(|n| crate::metrics::CaseInfo { name: format!("case {n}"), ..info.clone() })
            .collect();
        many.rows = (0..20).map(|case| crate::metrics::Row { case, ..rows[1].clone() }).collect();
        many.rows[17].tally.over_limit = 5;
        let said = super::super::tests::texts(&draw(&many).unwrap());
        let title = "(case 17) accepts 5 over the limit";
        assert!(said.replace('\n', " ").contains(title), "{said}");
        let has = |name: &str| said.lines().any(|line| line == name);
        assert!(has("case 10") && has("case 17") && !has("case 11"), "{said}");
        let rest = "only in the tables: cases \"case 11\", \"case 12\", \"case 13\" and 5 more";
        assert!(said.contains(rest), "{said}");
    }

    #[test]
    fn what_is_given_up_in_a_queue_or_still_there_has_a_column_where_it_occurs() {
        let mut boundary = sample::boundary();
        let has = |comparison: &Comparison| {
            let drawn = draw(comparison).unwrap();
            ["given up", "queued"].map(|words| drawn.contains(words))
        };
        assert_eq!(has(&boundary), [false, false]);
        boundary.rows[0].tally.books.failed = 7;
        assert_eq!(has(&boundary), [true, false]);
        boundary.rows[1].tally.books.pending = 9;
        assert_eq!(has(&boundary), [true, true]);
    }
}
