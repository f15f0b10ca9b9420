//! Small multiples: one panel an algorithm, so that curves that coincide do not hide one another, or
//! one a case; all with the same axes.

mod grid;
mod plot;
mod title;

use super::canvas::{self, Align, Canvas, WIDTH};
use super::palette::{Colour, GRID, INK, MUTED, PAPER};
use super::scale::{Scale, Spans};
use super::series::Series;
use super::text;
use super::view::View;

pub use grid::Grid;
pub use plot::Plot;
pub use title::{fits, heading, heading_height, lines};

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
    /// How many groups of bins a panel can show: one a pixel, fewer where there are many panels.
    pub fn groups(&self) -> usize {
        (2400 / self.heads.len().max(1)).clamp(100, 400)
    }

    /// Draws the figure; `paint` draws one panel, by its position, into its plots.
    pub fn draw(&self, paint: impl Fn(&mut Canvas<'_>, &[Plot], usize)) -> String {
        self.draw_on(&Grid::flowing(self.heads.len()), paint)
    }

    /// The same with the panels where `grid` has them.
    pub fn draw_on(
        &self,
        grid: &Grid<'_>,
        paint: impl Fn(&mut Canvas<'_>, &[Plot], usize),
    ) -> String {
        let heading_lines = lines(self.title, self.subtitles);
        let legend = self.legend_places();
        let legend_height = legend.last().map_or(0.0, |(_, y)| y + 23.0);
        let top = heading_height(&heading_lines) + legend_height + 10.0;
        let columns = grid.columns;
        let labels: Vec<Marks> = self.tracks.iter().map(|track| track.scale.ticks()).collect();
        let left = MARGIN + self.axis_width(&labels) + 4.0;
        let gaps = GUTTER * (columns - 1) as f64;
        let wide = (WIDTH - MARGIN - left - gaps) / columns as f64;
        let (marks, across) = self.across.marks(wide);
        let below = if self.has_room(wide) { 0 } else { self.lines_below(grid, wide) };
        let head = HEAD + LINE * below as f64;
        let high: f64 = self.tracks.iter().map(|track| track.height).sum();
        let high = high + (0..self.tracks.len()).map(|track| self.above(track)).sum::<f64>();
        let pitch = head + high + SPACE_BELOW;
        let height = (top + grid.height(pitch) + 44.0).ceil();
        canvas::draw(height, self.title, |canvas| {
            heading(canvas, &heading_lines.0, &heading_lines.1);
            for ((colours, words), (x, y)) in self.legend.iter().zip(&legend) {
                let baseline = top - 13.0 - (legend_height - 23.0 - y);
                swatch(canvas, (*x, baseline - 9.0), (x + 18.0, baseline), colours);
                canvas.text((x + 24.0, baseline), SMALL, Align::Start, MUTED, words);
            }
            grid.name_groups(canvas, top, pitch);
            for index in 0..self.heads.len() {
                let (row, column) = grid.places[index];
                let from = left + column as f64 * (wide + GUTTER);
                let under_head = top + grid.top(row, pitch) + head;
                let leftmost = grid.is_leftmost(index);
                let plots = self.plots((from, from + wide), under_head);
                for ((track, plot), labels) in self.tracks.iter().zip(&plots).zip(&labels) {
                    let (title, unit) = track.titles;
                    let baseline = plot.top - 8.0;
                    canvas.text((plot.left, baseline), SMALL, Align::Start, MUTED, title);
                    if leftmost {
                        let at = (plot.left - 6.0, baseline);
                        canvas.text(at, SMALL, Align::End, MUTED, unit);
                    }
                    for (tick, label) in labels {
                        let y = plot.y(*tick);
                        canvas.line(&[(plot.left, y), (plot.right, y)], GRID, 1.0);
                        if leftmost {
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
                self.name(canvas, grid, (from, from + wide), under_head - head, index);
                paint(canvas, &plots, index);
                for plot in &plots {
                    let ends = [(plot.left, plot.bottom), (plot.right, plot.bottom)];
                    canvas.line(&ends, MUTED, 1.0);
                }
                if let Some(plot) = plots.last() {
                    mark_across(canvas, plot, &marks, grid.is_lowest(index));
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
    fn name(
        &self,
        canvas: &mut Canvas<'_>,
        grid: &Grid<'_>,
        (left, right): (f64, f64),
        top: f64,
        index: usize,
    ) {
        let Head { name, colour, remark: (remark, ink) } = &self.heads[index];
        let y = top + LINE;
        let room = right - left;
        let indent = if colour.is_some() { SWATCH } else { 0.0 };
        if let Some(colour) = colour {
            canvas.rectangle((left, y - 9.5), (left + 10.0, y + 0.5), *colour, 1.0);
        }
        let name = text::fit(name, BODY, room - indent);
        canvas.text((left + indent, y), BODY, Align::Start, INK, &name);
        if self.has_room(room) {
            let remark = text::fit(remark, SMALL, room - SWATCH);
            return canvas.text((right, y), SMALL, Align::End, *ink, &remark);
        }
        let mut y = y;
        for line in below(remark, room, grid) {
            y += LINE;
            canvas.text((left + indent, y), SMALL, Align::Start, *ink, &line);
        }
    }

    /// How many lines the longest remark takes below its name.
    fn lines_below(&self, grid: &Grid<'_>, room: f64) -> usize {
        let lines = self.heads.iter().map(|head| below(&head.remark.0, room, grid).len());
        lines.max().unwrap_or(1)
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

/// A remark that stands below the name of a panel so wide, in lines.
fn below(remark: &str, room: f64, grid: &Grid<'_>) -> Vec<String> {
    match grid.wraps {
        true => text::wrap(remark, SMALL, room - SWATCH, 2),
        false => vec![text::fit(remark, SMALL, room - SWATCH)],
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
