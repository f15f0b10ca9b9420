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
/// The width of a column, and what it is wider than its head at least.
const COLUMN: f64 = 76.0;
const BESIDE: f64 = 12.0;
/// However few, they are seen.
const LEAST: f64 = 1.5;
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
    /// The parts that occur, each with the words above its column.
    parts: Vec<(&'static Part, [&'static str; 2])>,
    /// Where the column of each ends.
    columns: Vec<f64>,
    is_fleet: bool,
    /// Where bars begin.
    left: f64,
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
        frame.head(canvas, head, &series::colours(&first.1));
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
        let words = |part: &'static Part| match part.words {
            // In a queue, or between a node and the store.
            ["queued", when] if is_fleet => ["undecided", when],
            words => words,
        };
        let parts: Vec<(&Part, [&str; 2])> =
            PARTS.iter().filter(occurs).map(|part| (part, words(part))).collect();
        let total = |one: &&Series<'_>| -> f64 {
            parts.iter().map(|(part, _)| (part.count)(&one.row.tally) as f64).sum()
        };
        let most = all.iter().map(total).fold(1.0, f64::max);
        let name = all.iter().map(|one| text::width(&one.row.algorithm, BODY));
        let left = MARGIN + name.fold(60.0, f64::max).min(190.0) + 10.0;
        // The heads of the first ones are known to stand clear of one another.
        let wide = |(part, words): &(&Part, [&str; 2])| {
            let head = words.iter().map(|word| text::width(word, SMALL)).fold(0.0, f64::max);
            if part.rare { (head + BESIDE).max(COLUMN) } else { COLUMN }
        };
        let mut columns = vec![WIDTH - MARGIN - 2.0];
        for part in parts.iter().skip(1).rev() {
            columns.push(columns[columns.len() - 1] - wide(part));
        }
        columns.reverse();
        let right = columns[0] - COLUMN;
        let numbers = Numbers::up_to(most, (right - left) / 80.0, true);
        let ticks = numbers.ticks().filter(|tick| *tick <= most).collect();
        // A name that just fits is not cut for what sums are rounded by. Charts of other comparisons keep their bytes.
        let gap = if is_fleet { 9.9 } else { 10.0 };
        let scale = (right - left) / most;
        (Frame { parts, columns, is_fleet, left, gap, scale, ticks }, numbers)
    }

    /// The heads of the columns, which are the legend of the bars too.
    fn head(&self, canvas: &mut Canvas<'_>, y: f64, algorithms: &[Colour]) {
        for ((part, words), &x) in self.parts.iter().zip(&self.columns) {
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
        let slices = self.slices(one);
        for (((part, _), &column), (count, wide)) in
            self.parts.iter().zip(&self.columns).zip(slices)
        {
            let ink = if count == 0 { MUTED } else { part.ink };
            canvas.text((column, baseline), BODY, Align::End, ink, &text::count(count));
            if count > 0 {
                let to = from + wide;
                let colour = part.colour.unwrap_or(one.colour);
                canvas.rectangle((from, top), (to, top + BAR), colour, 1.0);
                from = to;
            }
        }
    }

    /// What each part of a bar counts, and how wide it is drawn. What small ones get to be seen is paid by those that
    /// have more, so that bars of equal totals are equally long.
    fn slices(&self, one: &Series<'_>) -> Vec<(u64, f64)> {
        let count = |(part, _): &(&Part, [&str; 2])| (part.count)(&one.row.tally);
        let slice = |count: u64| (count, count as f64 * self.scale);
        let mut slices: Vec<(u64, f64)> = self.parts.iter().map(count).map(slice).collect();
        let lacking =
            |(count, wide): &(u64, f64)| if *count > 0 { (LEAST - wide).max(0.0) } else { 0.0 };
        let spare = |(_, wide): &(u64, f64)| (wide - LEAST).max(0.0);
        let lacks: f64 = slices.iter().map(lacking).sum();
        let spared: f64 = slices.iter().map(spare).sum();
        // Charts of other comparisons keep their bytes.
        let paid = if self.is_fleet && spared > 0.0 { (lacks / spared).min(1.0) } else { 0.0 };
        for slice in &mut slices {
            slice.1 += lacking(slice) - paid * spare(slice);
        }
        slices
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

    #[test]
    fn heads_stand_clear_of_one_another() {
        let mut boundary = sample::boundary();
        boundary.rows[0].tally.books.failed = 7;
        boundary.rows[1].tally.books.pending = 9;
        let all = series::of_case(&boundary, 0).0;
        let frame = Frame::around(&all.iter().collect::<Vec<_>>(), false).0;
        let heads = frame.parts.iter().map(|(_, words)| text::width(words[1], SMALL));
        let heads: Vec<f64> = heads.collect();
        assert_eq!(frame.parts.len(), 5);
        // From "rejected" on; of those before it is known.
        let gaps = (3..5).map(|nth| frame.columns[nth] - frame.columns[nth - 1] - heads[nth]);
        assert!(gaps.into_iter().all(|gap| gap >= BESIDE), "{:?}", frame.columns);
    }

    #[test]
    fn bars_of_equal_totals_are_equally_long() {
        let mut boundary = sample::boundary();
        boundary.rows.truncate(3);
        for (row, (accepted, over, rejected, pending)) in
            boundary.rows.iter_mut().zip([(5000, 0, 5000, 0), (3, 2, 9996, 1), (9997, 1, 1, 2)])
        {
            let books = &mut row.tally.books;
            (books.accepted, books.rejected, books.pending) = (accepted, rejected, pending);
            row.tally.over_limit = over;
        }
        let all = series::of_case(&boundary, 0).0;
        let frame = Frame::around(&all.iter().collect::<Vec<_>>(), true).0;
        let whole = 10_000.0 * frame.scale;
        for one in &all {
            let slices = frame.slices(one);
            let long: f64 = slices.iter().map(|(_, wide)| wide).sum();
            assert!((long - whole).abs() < 1e-6, "{slices:?}");
            assert!(slices.iter().all(|(count, wide)| *count == 0 || *wide > LEAST - 1e-6));
        }
        // What is too short for all that it has is as long as it must be.
        boundary.rows[2].tally.books.accepted = 2;
        let all = series::of_case(&boundary, 0).0;
        assert!(frame.slices(&all[2]).iter().all(|(_, wide)| (wide - LEAST).abs() < 1e-9));
    }
}
