//! Small multiples: one panel an algorithm, so that curves that coincide do not hide one another, or
//! one a case; all with the same axes.

use std::ops::Range;

use super::canvas::{self, Align, Canvas, WIDTH};
use super::palette::{Colour, GRID, INK, MUTED, PAPER};
use super::scale::{Scale, Spans};
use super::series::Series;
use super::text;
use super::view::View;

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
/// What the colour beside a name takes.
const SWATCH: f64 = 16.0;

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

/// The place of the curves of one plot, with its axes.
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
    ends: (f64, f64),
    scale: Scale,
}

impl Plot {
    /// Where a bin begins.
    pub fn x(&self, bin: usize) -> f64 {
        self.x_of(bin as f64)
    }

    /// A position on the horizontal axis: bins, or as [`Spans::ends`] counts.
    pub fn x_of(&self, position: f64) -> f64 {
        let along = (position - self.ends.0).max(0.0) / (self.ends.1 - self.ends.0);
        self.left + along * (self.right - self.left)
    }

    /// The height of a number, held within the plot.
    pub fn y(&self, number: f64) -> f64 {
        self.bottom - self.scale.share(number) * (self.bottom - self.top)
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

/// What stands above a panel.
#[derive(Debug, Clone)]
pub struct Head<'a> {
    /// Its name, at the left.
    pub name: &'a str,
    /// The colour of what is drawn in it, where that is one.
    pub colour: Option<Colour>,
    /// What is said of it, at the right or below.
    pub remark: (String, Colour),
}

/// The heads of panels of one algorithm each, with what is said of it.
pub fn of_algorithms<'a>(
    all: &[Series<'a>],
    remark: impl Fn(&Series<'a>) -> (String, Colour),
) -> Vec<Head<'a>> {
    let head = |one: &Series<'a>| Head {
        name: &one.row.algorithm,
        colour: Some(one.colour),
        remark: remark(one),
    };
    all.iter().map(head).collect()
}

/// The horizontal axis of all panels.
#[derive(Debug, Clone, Copy)]
pub enum Across<'a> {
    /// A run, or a part of it.
    Run(&'a View),
    /// Spans, by their logarithm, and what they are.
    Spans(Spans, &'a str),
}

/// The marks of a horizontal axis: how far along each stands and what it says.
type Marks = Vec<(f64, String)>;

impl Across<'_> {
    /// What the positions at its ends are.
    fn ends(&self) -> (f64, f64) {
        match self {
            Across::Run(view) => (view.bins.start as f64, view.bins.end as f64),
            Across::Spans(spans, _) => spans.ends(),
        }
    }

    /// Its marks over so many pixels, and its title.
    fn marks(&self, pixels: f64) -> (Marks, String) {
        match self {
            Across::Run(view) => {
                let axis = view.axis(pixels);
                let length = (axis.to - axis.from) as f64;
                let mark = |tick| ((tick - axis.from) as f64 / length, axis.label(tick));
                (axis.ticks().map(mark).collect(), axis.title(view.run()))
            }
            Across::Spans(spans, title) => (spans.ticks(pixels, SMALL), (*title).to_owned()),
        }
    }
}

/// One of the plots of a panel, which stand one below another.
#[derive(Debug, Clone)]
pub struct Track<'a> {
    /// What stands above it at the left, and above its vertical axis; empty for a plot that needs neither.
    pub titles: (&'a str, &'a str),
    /// Its vertical axis.
    pub scale: Scale,
    /// How high it is, in pixels.
    pub height: f64,
}

/// A figure of small multiples before it is drawn.
pub struct Panels<'a> {
    /// What is seen, in one sentence.
    pub title: &'a str,
    /// What is drawn, and the limit.
    pub subtitles: &'a [&'a str],
    /// One panel each.
    pub heads: &'a [Head<'a>],
    /// What colours mean that are not those of one panel.
    pub legend: &'a [(&'a [Colour], &'a str)],
    /// The horizontal axis.
    pub across: Across<'a>,
    /// The plots of each panel, from above.
    pub tracks: &'a [Track<'a>],
}

impl Panels<'_> {
    fn columns(&self) -> usize {
        match self.heads.len() {
            0 | 1 => 1,
            _ => 2,
        }
    }

    /// How many groups of bins a panel can show: one a pixel, fewer where there are many panels.
    pub fn groups(&self) -> usize {
        (2400 / self.heads.len().max(1)).clamp(100, 400)
    }

    /// Draws the figure; `paint` draws one panel, by its position, into its plots.
    pub fn draw(&self, paint: impl Fn(&mut Canvas<'_>, &[Plot], usize)) -> String {
        let heading_lines = lines(self.title, self.subtitles);
        let legend = self.legend_places();
        let legend_height = legend.last().map_or(0.0, |(_, y)| y + 23.0);
        let top = heading_height(&heading_lines) + legend_height + 10.0;
        let columns = self.columns();
        let rows = self.heads.len().div_ceil(columns).max(1);
        let labels: Vec<Marks> = self.tracks.iter().map(|track| track.scale.ticks()).collect();
        let left = MARGIN + self.axis_width(&labels) + 4.0;
        let gaps = GUTTER * (columns - 1) as f64;
        let wide = (WIDTH - MARGIN - left - gaps) / columns as f64;
        let (marks, across) = self.across.marks(wide);
        let head = if self.has_room(wide) { HEAD } else { HEAD + LINE };
        let high: f64 = self.tracks.iter().map(|track| track.height).sum();
        let high = high + (0..self.tracks.len()).map(|track| self.above(track)).sum::<f64>();
        let pitch = head + high + SPACE_BELOW;
        let height = (top + rows as f64 * pitch + 44.0).ceil();
        canvas::draw(height, self.title, |canvas| {
            heading(canvas, &heading_lines.0, &heading_lines.1);
            for ((colours, words), (x, y)) in self.legend.iter().zip(&legend) {
                let baseline = top - 13.0 - (legend_height - 23.0 - y);
                swatch(canvas, (*x, baseline - 9.0), (x + 18.0, baseline), colours);
                canvas.text((x + 24.0, baseline), SMALL, Align::Start, MUTED, words);
            }
            for index in 0..self.heads.len() {
                let (row, column) = (index / columns, index % columns);
                let from = left + column as f64 * (wide + GUTTER);
                let under_head = top + row as f64 * pitch + head;
                let plots = self.plots((from, from + wide), under_head);
                for ((track, plot), labels) in self.tracks.iter().zip(&plots).zip(&labels) {
                    let (title, unit) = track.titles;
                    let baseline = plot.top - 8.0;
                    canvas.text((plot.left, baseline), SMALL, Align::Start, MUTED, title);
                    if column == 0 {
                        let at = (plot.left - 6.0, baseline);
                        canvas.text(at, SMALL, Align::End, MUTED, unit);
                    }
                    for (tick, label) in labels {
                        let y = plot.y(*tick);
                        canvas.line(&[(plot.left, y), (plot.right, y)], GRID, 1.0);
                        if column == 0 {
                            let at = (plot.left - 6.0, y + 4.0);
                            canvas.text(at, SMALL, Align::End, MUTED, label);
                        }
                    }
                    if let Across::Spans(..) = self.across {
                        for (along, _) in &marks {
                            let x = plot.left + along * wide;
                            canvas.line(&[(x, plot.top), (x, plot.bottom)], GRID, 1.0);
                        }
                    }
                }
                self.name(canvas, (from, from + wide), under_head - head, index);
                paint(canvas, &plots, index);
                for plot in &plots {
                    let ends = [(plot.left, plot.bottom), (plot.right, plot.bottom)];
                    canvas.line(&ends, MUTED, 1.0);
                }
                let lowest = index + columns >= self.heads.len();
                if let Some(plot) = plots.last() {
                    mark_across(canvas, plot, &marks, lowest);
                }
                if let Across::Spans(spans, _) = self.across
                    && let Some(gap) = spans.gap()
                {
                    plots.iter().for_each(|plot| interrupt(canvas, plot, gap));
                }
            }
            let at = (left, height - MARGIN + 2.0);
            canvas.text(at, SMALL, Align::Start, MUTED, &across);
        })
    }

    /// The plots of a panel between two edges, from below its head on.
    fn plots(&self, (left, right): (f64, f64), mut top: f64) -> Vec<Plot> {
        let place = |(index, track): (usize, &Track<'_>)| {
            top += self.above(index);
            let (from, to) = (top, top + track.height);
            top = to;
            let ends = self.across.ends();
            Plot { left, right, top: from, bottom: to, ends, scale: track.scale }
        };
        self.tracks.iter().enumerate().map(place).collect()
    }

    /// The height of what stands above a plot, which must be clear of the numbers of the plot before.
    fn above(&self, track: usize) -> f64 {
        match (self.tracks[track].titles, track) {
            (("", ""), _) => 0.0,
            (_, 0) => LINE + 3.0,
            _ => LINE + 11.0,
        }
    }

    /// The width of the widest of what stands at the left of vertical axes.
    fn axis_width(&self, labels: &[Marks]) -> f64 {
        let labels = labels.iter().flatten().map(|(_, label)| label.as_str());
        let units = self.tracks.iter().map(|track| track.titles.1);
        labels.chain(units).map(|words| text::width(words, SMALL)).fold(0.0, f64::max)
    }

    /// The name at the left, with its colour, and the remark at the right, or below it where some
    /// panel has no room for both.
    fn name(&self, canvas: &mut Canvas<'_>, (left, right): (f64, f64), top: f64, index: usize) {
        let Head { name, colour, remark: (remark, ink) } = &self.heads[index];
        let y = top + LINE;
        let room = right - left;
        let indent = if colour.is_some() { SWATCH } else { 0.0 };
        if let Some(colour) = colour {
            canvas.rectangle((left, y - 9.5), (left + 10.0, y + 0.5), *colour, 1.0);
        }
        let name = text::fit(name, BODY, room - indent);
        canvas.text((left + indent, y), BODY, Align::Start, INK, &name);
        let (at, align) = match self.has_room(room) {
            true => ((right, y), Align::End),
            false => ((left + indent, y + LINE), Align::Start),
        };
        canvas.text(at, SMALL, align, *ink, &text::fit(remark, SMALL, room - SWATCH));
    }

    /// Whether each name and its remark stand side by side in so many pixels.
    fn has_room(&self, room: f64) -> bool {
        self.heads.iter().all(|Head { name, remark: (remark, _), .. }| {
            SWATCH + text::width(name, BODY) + 10.0 + text::width(remark, SMALL) <= room
        })
    }

    /// Where the entries of the legend begin, line by line.
    fn legend_places(&self) -> Vec<(f64, f64)> {
        let (mut x, mut y) = (MARGIN, 0.0);
        let place = |(_, words): &(&[Colour], &str)| {
            let wide = 24.0 + text::width(words, SMALL);
            if x > MARGIN && x + wide > WIDTH - MARGIN {
                (x, y) = (MARGIN, y + 18.0);
            }
            let place = (x, y);
            x += wide + 18.0;
            place
        };
        self.legend.iter().map(place).collect()
    }
}

fn mark_across(canvas: &mut Canvas<'_>, plot: &Plot, marks: &Marks, labelled: bool) {
    for (along, label) in marks {
        let x = plot.left + along * (plot.right - plot.left);
        canvas.line(&[(x, plot.bottom), (x, plot.bottom + 4.0)], MUTED, 1.0);
        if labelled {
            let half = text::width(label, SMALL) / 2.0;
            // Labels at the edges stay within their panel's half of the gutter.
            let reach = GUTTER / 2.0 - 3.0 - half;
            let x = x.max(plot.left - reach).min(plot.right + reach);
            canvas.text((x, plot.bottom + 17.0), SMALL, Align::Middle, MUTED, label);
        }
    }
}

/// Two strokes across the horizontal axis where it does not go on evenly.
fn interrupt(canvas: &mut Canvas<'_>, plot: &Plot, along: f64) {
    let (x, y) = (plot.left + along * (plot.right - plot.left), plot.bottom);
    canvas.rectangle((x - 2.5, y - 1.5), (x + 2.5, y + 1.5), PAPER, 1.0);
    for stroke in [x - 2.5, x + 2.5] {
        canvas.line(&[(stroke - 2.0, y + 5.0), (stroke + 2.0, y - 5.0)], MUTED, 1.0);
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
