//! Small multiples: one panel an algorithm, all with the same axes, so that curves that coincide do
//! not hide one another.

use std::ops::Range;

use super::axis::{Elapsed, Numbers};
use super::canvas::{self, Align, Canvas, WIDTH};
use super::palette::{Colour, GRID, INK, MUTED};
use super::series::Series;
use super::text;
use crate::judge::Timeline;

/// Sizes of text.
pub const TITLE: f64 = 18.0;
/// Of subtitles and names.
pub const BODY: f64 = 13.0;
/// Of ticks and remarks.
pub const SMALL: f64 = 12.0;
/// The space left free around a chart.
pub const MARGIN: f64 = 16.0;

const GUTTER: f64 = 22.0;
const HEAD: f64 = 24.0;
const LINE: f64 = 16.0;
const SPACE_BELOW: f64 = 14.0;

/// Draws title and subtitles, and gives the height they take.
pub fn heading(canvas: &mut Canvas<'_>, title: &[String], subtitles: &[String]) -> f64 {
    let mut y = MARGIN;
    for line in title {
        y += TITLE * 1.25;
        canvas.text((MARGIN, y - 4.0), TITLE, Align::Start, INK, line);
    }
    for line in subtitles {
        y += BODY * 1.4;
        canvas.text((MARGIN, y), BODY, Align::Start, MUTED, line);
    }
    y
}

/// The lines of a heading: a title of at most two, subtitles of at most two each.
pub fn lines(title: &str, subtitles: &[&str]) -> (Vec<String>, Vec<String>) {
    let room = WIDTH - 2.0 * MARGIN;
    let words: Vec<&str> = title.split_whitespace().collect();
    let whole = |lines: &Vec<String>| lines.join(" ") == words.join(" ");
    // Two lines of about one length read better than a long one and a last word.
    let title = [0.55, 0.65, 0.75, 0.85]
        .into_iter()
        .filter(|_| text::width(title, TITLE) > room)
        .map(|share| text::wrap(title, TITLE, room * share, 2))
        .find(whole)
        .unwrap_or_else(|| text::wrap(title, TITLE, room, 2));
    let wrapped = subtitles.iter().filter(|line| !line.is_empty());
    (title, wrapped.flat_map(|line| text::wrap(line, BODY, room, 2)).collect())
}

/// The height that a heading of these lines takes.
pub fn heading_height((title, subtitles): &(Vec<String>, Vec<String>)) -> f64 {
    MARGIN + title.len() as f64 * TITLE * 1.25 + subtitles.len() as f64 * BODY * 1.4
}

/// The part of a run that is drawn, in bins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The bins drawn; not empty.
    pub bins: Range<usize>,
    /// The length of a bin in nanoseconds.
    pub width: u64,
    /// The length of the whole run in bins.
    pub of: usize,
}

impl View {
    /// The whole of a run, or what `happens` with some context where that is less than `share` of
    /// it. `None` of a run without bins.
    pub fn of(timeline: &Timeline, share: f64, happens: impl Fn(usize) -> bool) -> Option<View> {
        let of = timeline.bins.len();
        let width = timeline.width.nanos().max(1);
        let whole = View { bins: 0..of, width, of };
        if of == 0 {
            return None;
        }
        let first = (0..of).find(|&bin| happens(bin));
        let last = (0..of).rev().find(|&bin| happens(bin));
        let (Some(first), Some(last)) = (first, last) else { return Some(whole) };
        let busy = last + 1 - first;
        if busy as f64 >= share * of as f64 {
            return Some(whole);
        }
        let context = (busy / 6).max(6);
        let from = first.saturating_sub(context);
        let to = (last + 1 + context).min(of);
        if (to - from) as f64 >= 0.8 * of as f64 {
            return Some(whole);
        }
        Some(View { bins: from..to, width, of })
    }

    /// Its axis over so many pixels.
    pub fn axis(&self, pixels: f64) -> Elapsed {
        let at = |bin: usize| self.width.saturating_mul(bin as u64);
        Elapsed::fitting(at(self.bins.start), at(self.bins.end), pixels, SMALL)
    }

    /// The length of the whole run in nanoseconds.
    pub fn run(&self) -> u64 {
        self.width.saturating_mul(self.of as u64)
    }

    /// The bins in at most `most` groups of equal length (but the last), in order.
    pub fn groups(&self, most: usize) -> impl Iterator<Item = Range<usize>> {
        let size = self.bins.len().div_ceil(most.max(1)).max(1);
        let end = self.bins.end;
        self.bins.clone().step_by(size).map(move |from| from..(from + size).min(end))
    }

    /// How many bins a group of [`View::groups`] has.
    pub fn group_size(&self, most: usize) -> usize {
        self.bins.len().div_ceil(most.max(1)).max(1)
    }
}

/// The place of one panel's curves, with its axes.
#[derive(Debug, Clone)]
pub struct Plot {
    /// Left edge in pixels.
    pub left: f64,
    /// Right edge.
    pub right: f64,
    /// Upper edge.
    pub top: f64,
    /// Lower edge, where the numbers begin.
    pub bottom: f64,
    bins: Range<usize>,
    most: f64,
}

impl Plot {
    /// Where a bin begins.
    pub fn x(&self, bin: usize) -> f64 {
        let along = bin.saturating_sub(self.bins.start) as f64 / self.bins.len() as f64;
        self.left + along * (self.right - self.left)
    }

    /// The height of a number, held within the panel.
    pub fn y(&self, number: f64) -> f64 {
        let share = (number / self.most).clamp(0.0, 1.0);
        self.bottom - share * (self.bottom - self.top)
    }

    /// The outline of steps: each group of bins at its number.
    pub fn steps(&self, steps: &[(Range<usize>, f64)]) -> Vec<(f64, f64)> {
        steps
            .iter()
            .flat_map(|(bins, number)| {
                let y = self.y(*number);
                [(self.x(bins.start), y), (self.x(bins.end), y)]
            })
            .collect()
    }

    /// The surface between steps and a floor.
    pub fn surface(&self, steps: &[(Range<usize>, f64)], floor: f64) -> Vec<(f64, f64)> {
        let mut outline = self.steps(steps);
        if let (Some(&(first, _)), Some(&(last, _))) = (outline.first(), outline.last()) {
            outline.push((last, self.y(floor)));
            outline.push((first, self.y(floor)));
        }
        outline
    }
}

/// A figure of small multiples before it is drawn.
pub struct Panels<'a> {
    /// What is seen, in one sentence.
    pub title: &'a str,
    /// What is drawn, and the limit.
    pub subtitles: &'a [&'a str],
    /// One panel each.
    pub series: &'a [Series<'a>],
    /// What is said of each beside its name, and in which colour.
    pub remarks: &'a [(String, Colour)],
    /// What colours mean that are not those of one algorithm.
    pub legend: &'a [(&'a [Colour], &'a str)],
    /// The part of the run.
    pub view: &'a View,
    /// The axis of numbers.
    pub numbers: Numbers,
    /// How high the curves of a panel are, in pixels.
    pub height: f64,
}

impl Panels<'_> {
    fn columns(&self) -> usize {
        match self.series.len() {
            0 | 1 => 1,
            _ => 2,
        }
    }

    /// How many groups of bins a panel can show: one a pixel, fewer where there are many panels.
    pub fn groups(&self) -> usize {
        (2400 / self.series.len().max(1)).clamp(100, 400)
    }

    /// Draws the figure; `paint` draws one series into its panel and says what stands at the right
    /// of its name.
    pub fn draw(&self, paint: impl Fn(&mut Canvas<'_>, &Plot, &Series<'_>)) -> String {
        let heading_lines = lines(self.title, self.subtitles);
        let legend = if self.legend.is_empty() { 0.0 } else { 23.0 };
        let top = heading_height(&heading_lines) + legend + 10.0;
        let columns = self.columns();
        let rows = self.series.len().div_ceil(columns).max(1);
        let labels: Vec<(f64, String)> =
            self.numbers.ticks().map(|tick| (tick, self.numbers.label(tick))).collect();
        let widest = labels.iter().map(|(_, label)| text::width(label, SMALL)).fold(0.0, f64::max);
        let left = MARGIN + widest + 4.0;
        let gaps = GUTTER * (columns - 1) as f64;
        let wide = (WIDTH - MARGIN - left - gaps) / columns as f64;
        let axis = self.view.axis(wide);
        let head = if self.has_room(wide) { HEAD } else { HEAD + LINE };
        let pitch = head + self.height + SPACE_BELOW;
        let height = (top + rows as f64 * pitch + 44.0).ceil();
        canvas::draw(height, self.title, |canvas| {
            heading(canvas, &heading_lines.0, &heading_lines.1);
            self.explain(canvas, top - 13.0);
            for (index, series) in self.series.iter().enumerate() {
                let (row, column) = (index / columns, index % columns);
                let plot = Plot {
                    left: left + column as f64 * (wide + GUTTER),
                    right: left + column as f64 * (wide + GUTTER) + wide,
                    top: top + row as f64 * pitch + head,
                    bottom: top + row as f64 * pitch + head + self.height,
                    bins: self.view.bins.clone(),
                    most: self.numbers.top,
                };
                for (tick, label) in &labels {
                    let y = plot.y(*tick);
                    canvas.line(&[(plot.left, y), (plot.right, y)], GRID, 1.0);
                    if column == 0 {
                        let at = (plot.left - 6.0, y + 4.0);
                        canvas.text(at, SMALL, Align::End, MUTED, label);
                    }
                }
                self.name(canvas, (plot.left, plot.right), plot.top - head, index);
                paint(canvas, &plot, series);
                canvas.line(&[(plot.left, plot.bottom), (plot.right, plot.bottom)], MUTED, 1.0);
                let lowest = index + columns >= self.series.len();
                self.mark_times(canvas, &plot, &axis, lowest);
            }
            let title = axis.title(self.view.run());
            let at = (left, height - MARGIN + 2.0);
            canvas.text(at, SMALL, Align::Start, MUTED, &title);
        })
    }

    /// The name at the left, with its colour, and the remark at the right, or below it where some
    /// panel has no room for both.
    fn name(&self, canvas: &mut Canvas<'_>, (left, right): (f64, f64), top: f64, index: usize) {
        let series = &self.series[index];
        let y = top + LINE;
        let room = right - left;
        canvas.rectangle((left, y - 9.5), (left + 10.0, y + 0.5), series.colour, 1.0);
        let name = text::fit(&series.row.algorithm, BODY, room - 16.0);
        canvas.text((left + 16.0, y), BODY, Align::Start, INK, &name);
        let Some((remark, colour)) = self.remarks.get(index) else { return };
        let (at, align) = match self.has_room(room) {
            true => ((right, y), Align::End),
            false => ((left + 16.0, y + LINE), Align::Start),
        };
        canvas.text(at, SMALL, align, *colour, &text::fit(remark, SMALL, room - 16.0));
    }

    /// Whether each name and its remark stand side by side in so many pixels.
    fn has_room(&self, room: f64) -> bool {
        self.series.iter().zip(self.remarks).all(|(one, (remark, _))| {
            let name = text::width(&one.row.algorithm, BODY);
            16.0 + name + 10.0 + text::width(remark, SMALL) <= room
        })
    }

    fn explain(&self, canvas: &mut Canvas<'_>, baseline: f64) {
        let mut x = MARGIN;
        for (colours, words) in self.legend {
            swatch(canvas, (x, baseline - 9.0), (x + 18.0, baseline), colours);
            canvas.text((x + 24.0, baseline), SMALL, Align::Start, MUTED, words);
            x += 24.0 + text::width(words, SMALL) + 18.0;
        }
    }

    fn mark_times(&self, canvas: &mut Canvas<'_>, plot: &Plot, axis: &Elapsed, labelled: bool) {
        let length = (axis.to - axis.from) as f64;
        for tick in axis.ticks() {
            let along = (tick - axis.from) as f64 / length;
            let x = plot.left + along * (plot.right - plot.left);
            canvas.line(&[(x, plot.bottom), (x, plot.bottom + 4.0)], MUTED, 1.0);
            if labelled {
                let label = axis.label(tick);
                let half = text::width(&label, SMALL) / 2.0;
                // Labels at the edges stay within their panel's half of the gutter.
                let reach = GUTTER / 2.0 - 3.0 - half;
                let x = x.max(plot.left - reach).min(plot.right + reach);
                canvas.text((x, plot.bottom + 17.0), SMALL, Align::Middle, MUTED, &label);
            }
        }
    }
}

/// A rectangle in one colour or several side by side, for a legend.
pub fn swatch(canvas: &mut Canvas<'_>, from: (f64, f64), to: (f64, f64), colours: &[Colour]) {
    let wide = (to.0 - from.0) / colours.len().max(1) as f64;
    for (index, colour) in colours.iter().enumerate() {
        let left = from.0 + wide * index as f64;
        canvas.rectangle((left, from.1), (left + wide, to.1), *colour, 1.0);
    }
}
