//! How many attempts clients make of a request: one is what the work itself takes, all above is what
//! retries add.

use super::axis::Numbers;
use super::canvas::{self, Align, Canvas, WIDTH};
use super::chosen::Chosen;
use super::loops;
use super::palette::{GRID, INK, MUTED, PAPER, REFUSED};
use super::panels::{self, BODY, MARGIN, SMALL};
use super::scale::{Decades, Scale};
use super::series::Series;
use super::{Chart, Draw, text};
use crate::metrics::Comparison;
use crate::report::format;

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "amplification",
    title: "Attempts a request",
    meaning: "Where clients retry: how many attempts each request comes to, by case and algorithm; \
              1 is the first attempt alone.",
    draw: Draw::Whole(draw),
};

const PITCH: f64 = 20.0;
const BAR: f64 = 12.0;
const HEAD: f64 = 26.0;
const GUTTER: f64 = 26.0;
const SPACE_BELOW: f64 = 8.0;
/// Room for the number beside the longest bar.
const NUMBER: f64 = 62.0;
/// Above so many times the first attempt the scale is logarithmic.
const STORM: f64 = 10.0;

/// Bars with a common head.
struct Block<'a> {
    /// Empty where it needs none.
    head: &'a str,
    bars: Vec<(String, Series<'a>)>,
}

/// Where the bars of a block stand.
#[derive(Clone, Copy)]
struct Frame {
    /// The room for names; 0 where they stand at the left already.
    names: f64,
    /// Where bars begin.
    left: f64,
    /// Where the longest may end.
    right: f64,
    top: f64,
    bottom: f64,
    scale: Scale,
}

/// Attempts a request; `None` without requests.
fn amplification(one: &Series<'_>) -> Option<f64> {
    let books = &one.row.tally.books;
    (books.requests > 0).then(|| books.attempts as f64 / books.requests as f64)
}

fn draw(comparison: &Comparison) -> Option<String> {
    let drawn = loops::of(comparison)?;
    let most = drawn.all().filter_map(|(_, one)| amplification(one)).reduce(f64::max)?;
    let blocks = blocks(&drawn);
    let columns = if blocks.len() > 1 { 2 } else { 1 };
    // Where all blocks have the same names, those at the left are enough.
    let alike = blocks.iter().all(|block| block.names().eq(blocks[0].names()));
    let widest = blocks.iter().flat_map(Block::names).map(|name| text::width(name, BODY));
    let indent = widest.fold(40.0, f64::max).min(200.0) + 10.0;
    let indents = if alike { 1 } else { columns };
    let free = WIDTH - 2.0 * MARGIN - indents as f64 * indent - (columns - 1) as f64 * GUTTER;
    let wide = free / columns as f64;
    let (scale, axis) = match most > STORM {
        true => (Scale::Decades(Decades::holding(1.0, most)), "attempts a request (log)"),
        false => {
            let numbers = Numbers::up_to(most.max(1.0), (wide - NUMBER) / 60.0, false);
            (Scale::Even(numbers), "attempts a request")
        }
    };
    let title = title(&drawn, most);
    let subtitle = match scale {
        Scale::Decades(_) => {
            "grey the first attempt of a request, coloured what retries add, on a logarithmic scale"
        }
        _ => "grey the first attempt of a request, coloured what retries add",
    };
    let lines = panels::lines(&title, &[subtitle, &drawn.remark]);
    // Rows of blocks, each as high as the highest of its blocks.
    let mut tops = vec![panels::heading_height(&lines) + 10.0];
    for row in blocks.chunks(columns) {
        let high = row.iter().map(Block::height).fold(0.0, f64::max);
        tops.push(tops[tops.len() - 1] + high + SPACE_BELOW);
    }
    let height = (tops[tops.len() - 1] + 40.0).ceil();

    Some(canvas::draw(height, &title, |canvas| {
        panels::heading(canvas, &lines.0, &lines.1);
        for (index, block) in blocks.iter().enumerate() {
            let (row, column) = (index / columns, index % columns);
            let before = if alike { 1 } else { column + 1 } as f64 * indent;
            let left = MARGIN + before + column as f64 * (wide + GUTTER);
            let top = tops[row] + block.head_height();
            let frame = Frame {
                names: if alike && column > 0 { 0.0 } else { indent - 10.0 },
                left,
                right: left + wide - NUMBER,
                top,
                bottom: top + block.bars.len() as f64 * PITCH,
                scale,
            };
            let name = text::fit(block.head, BODY, wide);
            canvas.text((left, tops[row] + 16.0), BODY, Align::Start, MUTED, &name);
            frame.draw(canvas, block, index + columns >= blocks.len());
        }
        let at = (MARGIN + indent, height - MARGIN + 2.0);
        canvas.text(at, SMALL, Align::Start, MUTED, axis);
    }))
}

/// A case with its algorithms each; one for all cases where each has one algorithm.
fn blocks<'a>(drawn: &Chosen<'a>) -> Vec<Block<'a>> {
    if drawn.cases.iter().all(|(_, all)| all.len() == 1) {
        let bars = drawn.all().map(|(case, one)| (drawn.who(case, one), *one));
        return vec![Block { head: "", bars: bars.collect() }];
    }
    let block = |(case, all): &(usize, Vec<Series<'a>>)| Block {
        head: drawn.name(*case, all),
        bars: all.iter().map(|one| (one.row.algorithm.clone(), *one)).collect(),
    };
    drawn.cases.iter().map(block).collect()
}

impl Block<'_> {
    fn names(&self) -> impl Iterator<Item = &String> {
        self.bars.iter().map(|(name, _)| name)
    }

    fn head_height(&self) -> f64 {
        if self.head.is_empty() { 0.0 } else { HEAD }
    }

    fn height(&self) -> f64 {
        self.head_height() + self.bars.len() as f64 * PITCH
    }
}

impl Frame {
    fn x(&self, times: f64) -> f64 {
        self.left + self.scale.share(times) * (self.right - self.left)
    }

    /// A block's bars, with the numbers of the axis where nothing stands below it.
    fn draw(&self, canvas: &mut Canvas<'_>, block: &Block<'_>, lowest: bool) {
        let mut free = f64::NEG_INFINITY;
        for (tick, label) in self.scale.ticks() {
            let x = self.x(tick);
            canvas.line(&[(x, self.top), (x, self.bottom + 4.0)], GRID, 1.0);
            let half = text::width(&label, SMALL) / 2.0;
            if lowest && x - half > free {
                let at = (x, self.bottom + 17.0);
                canvas.text(at, SMALL, Align::Middle, MUTED, &label);
                free = x + half + 6.0;
            }
        }
        for (line, (name, one)) in block.bars.iter().enumerate() {
            self.bar(canvas, name, one, self.top + line as f64 * PITCH);
        }
        let x = self.x(1.0);
        canvas.line(&[(x, self.top - 2.0), (x, self.bottom + 4.0)], INK, 1.2);
    }

    fn bar(&self, canvas: &mut Canvas<'_>, name: &str, one: &Series<'_>, y: f64) {
        let (baseline, top) = (y + PITCH / 2.0 + 4.5, y + (PITCH - BAR) / 2.0);
        if self.names > 0.0 {
            let name = text::fit(name, BODY, self.names);
            canvas.text((self.left - 10.0, baseline), BODY, Align::End, INK, &name);
        }
        let Some(times) = amplification(one) else {
            let at = (self.x(0.0) + 6.0, baseline);
            canvas.text(at, SMALL, Align::Start, MUTED, "no requests");
            return;
        };
        let (start, first) = (self.x(0.0), self.x(times.min(1.0)));
        canvas.rectangle((start, top), (first, top + BAR), REFUSED, 1.0);
        let mut end = first;
        if times > 1.0 {
            // However few, they are seen beside the line at 1.
            end = self.x(times).max(first + 2.0);
            canvas.rectangle((first, top), (end, top + BAR), one.colour, 1.0);
        }
        let words = format::factor(times);
        let after = end + 8.0 + text::width(&words, BODY);
        canvas.rectangle((end + 2.0, top), (after, top + BAR), PAPER, 1.0);
        canvas.text((end + 6.0, baseline), BODY, Align::Start, INK, &words);
    }
}

fn title(drawn: &Chosen<'_>, most: f64) -> String {
    let subject = drawn.subject();
    match drawn.all().find(|(_, one)| amplification(one) == Some(most)) {
        Some((case, one)) if most > 1.0 => format!(
            "{subject}: {} attempts a request with {}",
            format::factor(most).trim_end_matches('x'),
            drawn.who(case, one),
        ),
        _ => format!("{subject}: no request takes more than one attempt"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::loop_sample;
    use super::*;

    #[test]
    fn a_storm_is_drawn_on_a_logarithmic_scale() {
        insta::assert_snapshot!(draw(&loop_sample::storm()).unwrap());
    }

    #[test]
    fn a_few_retries_are_drawn_on_an_even_scale() {
        let mut storm = loop_sample::storm();
        storm.rows.retain(|row| [0, 3].contains(&row.case) && row.kind == 0);
        insta::assert_snapshot!(draw(&storm).unwrap());
    }

    #[test]
    fn where_algorithms_differ_by_case_each_block_names_its_own() {
        let named =
            |comparison: &Comparison| draw(comparison).unwrap().matches(">fixed-window<").count();
        let mut storm = loop_sample::storm();
        assert_eq!(named(&storm), 2, "those at the left");
        storm.rows[1].algorithm = "token-bucket".to_owned();
        assert_eq!(named(&storm), 4);
    }
}
