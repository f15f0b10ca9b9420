//! A sheet to draw on: pixels with one decimal in, an SVG text out. Text stays text, colours come
//! with their counterparts on a dark page, and the same strokes give the same bytes.

use std::fmt::Debug;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::palette::{self, Colour};
use super::text;

/// The width of every chart in pixels.
pub const WIDTH: f64 = 720.0;

/// Units of the drawing in a pixel: plotters draws at whole units.
const UNITS: f64 = 10.0;

/// plotters takes a font's height for its size; this is the factor between the two.
const HEIGHT_OF_SIZE: f64 = 1.24;

/// Where a text stands to its point on the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A sheet being drawn on. Points are in pixels from the upper left corner.
pub struct Canvas<'a> {
    svg: SVGBackend<'a>,
    used: Vec<Colour>,
}

/// Draws a sheet of [`WIDTH`] by `height` pixels; `label` is what a screen reader says of it.
pub fn draw(height: f64, label: &str, paint: impl FnOnce(&mut Canvas<'_>)) -> String {
    let mut buffer = String::new();
    let used = {
        let svg = SVGBackend::with_string(&mut buffer, (units(WIDTH) as u32, units(height) as u32));
        let mut canvas = Canvas { svg, used: Vec::new() };
        canvas.rectangle((0.0, 0.0), (WIDTH, height), palette::PAPER, 1.0);
        paint(&mut canvas);
        written(canvas.svg.present());
        std::mem::take(&mut canvas.used)
    };
    finish(&buffer, height, label, &used)
}

impl Canvas<'_> {
    /// A text on one line, whatever it holds.
    pub fn text(&mut self, at: (f64, f64), size: f64, align: Align, colour: Colour, text: &str) {
        let text = text::clean(text);
        if text.trim().is_empty() {
            return;
        }
        let h_pos = match align {
            Align::Start => HPos::Left,
            Align::Middle => HPos::Center,
            Align::End => HPos::Right,
        };
        // Of its three ways to hang up a text, only `Top` is the same in every renderer: 0.76 of the
        // size above the baseline.
        let top = (at.0, at.1 - 0.76 * size);
        let ink = self.ink(colour, 1.0);
        let style = TextStyle::from(("sans-serif", size * UNITS * HEIGHT_OF_SIZE).into_font())
            .color(&ink)
            .pos(Pos::new(h_pos, VPos::Top));
        written(self.svg.draw_text(text.trim(), &style, point(top)));
    }

    /// A filled rectangle between two corners.
    pub fn rectangle(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour, opacity: f64) {
        let ink = self.ink(colour, opacity);
        written(self.svg.draw_rect(point(from), point(to), &ink, true));
    }

    /// A line along points, `thick` pixels wide.
    pub fn line(&mut self, points: &[(f64, f64)], colour: Colour, thick: f64) {
        let style = ShapeStyle {
            color: self.ink(colour, 1.0),
            filled: false,
            stroke_width: units(thick) as u32,
        };
        written(self.svg.draw_path(straightened(points), &style));
    }

    /// A filled surface within points.
    pub fn surface(&mut self, points: &[(f64, f64)], colour: Colour, opacity: f64) {
        let ink = self.ink(colour, opacity);
        written(self.svg.fill_polygon(straightened(points), &ink));
    }

    /// A filled disc.
    pub fn disc(&mut self, centre: (f64, f64), radius: f64, colour: Colour) {
        let ink = self.ink(colour, 1.0);
        written(self.svg.draw_circle(point(centre), units(radius) as u32, &ink, true));
    }

    fn ink(&mut self, colour: Colour, opacity: f64) -> RGBAColor {
        if !self.used.contains(&colour) {
            self.used.push(colour);
        }
        let (red, green, blue) = colour.rgb();
        RGBColor(red, green, blue).mix(opacity)
    }
}

fn units(pixels: f64) -> i32 {
    // Far outside the sheet is as good as anywhere; `as` turns what is not a number into 0.
    (pixels * UNITS).round().clamp(-1e6, 1e6) as i32
}

fn point((x, y): (f64, f64)) -> (i32, i32) {
    (units(x), units(y))
}

/// The points in units, without those that lie on the straight line between their neighbours.
fn straightened(points: &[(f64, f64)]) -> Vec<(i32, i32)> {
    let mut kept: Vec<(i32, i32)> = Vec::new();
    for &next in points {
        let next = point(next);
        if kept.last() == Some(&next) {
            continue;
        }
        if let [.., before, last] = kept[..]
            && lies_between(before, last, next)
        {
            kept.pop();
        }
        kept.push(next);
    }
    kept
}

fn lies_between(before: (i32, i32), middle: (i32, i32), after: (i32, i32)) -> bool {
    let step = |a: (i32, i32), b: (i32, i32)| (i64::from(b.0 - a.0), i64::from(b.1 - a.1));
    let (there, on) = (step(before, middle), step(middle, after));
    let (cross, dot) = (there.0 * on.1 - there.1 * on.0, there.0 * on.0 + there.1 * on.1);
    cross == 0 && dot >= 0
}

/// Puts the size in pixels, a label and the dark style into what plotters wrote, and takes out what
/// says nothing.
fn finish(drawn: &str, height: f64, label: &str, used: &[Colour]) -> String {
    let mut label_written = String::new();
    escape(&text::clean(label), &mut label_written);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{label_written}\">\n",
        units(WIDTH),
        units(height),
    );
    svg.push_str(&palette::dark_style(used));
    // Quotes within texts are escaped, so that this matches attributes alone.
    let drawn = drawn.replace(" opacity=\"1\"", "").replace(" stroke=\"none\"", "");
    let mut in_text = false;
    for line in drawn.lines().skip(1) {
        in_text = line.starts_with("<text") || in_text && line != "</text>";
        svg.push_str(&whole_size(line.trim_end()).unwrap_or_else(|| line.trim_end().to_owned()));
        if !in_text {
            svg.push('\n');
        }
    }
    svg
}

/// An opening tag of a text with its size as it was asked for: plotters' division leaves a rest.
fn whole_size(line: &str) -> Option<String> {
    let (before, rest) = line.strip_prefix("<text")?.split_once(" font-size=\"")?;
    let (size, after) = rest.split_once('"')?;
    let size = size.parse::<f64>().ok()?.round();
    Some(format!("<text{before} font-size=\"{size}\"{after}"))
}

/// Appends `text` as XML and HTML write it, within elements and within attributes.
pub fn escape(text: &str, to: &mut String) {
    for c in text.chars() {
        match c {
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '&' => to.push_str("&amp;"),
            '"' => to.push_str("&quot;"),
            '\'' => to.push_str("&#39;"),
            other => to.push(other),
        }
    }
}

fn written<T, E: Debug>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|cause| unreachable!("writing into a text cannot fail: {cause:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_straight_line_are_left_out_and_turns_are_kept() {
        let points = [(0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (2.0, 0.0), (2.0, 5.0), (2.0, 1.0)];
        assert_eq!(straightened(&points), [(0, 0), (20, 0), (20, 50), (20, 10)]);
    }

    #[test]
    fn a_sheet_is_small_and_says_what_is_said() {
        let svg = draw(40.0, "a \"b\" & <c>", |canvas| {
            canvas.text((10.0, 20.0), 13.0, Align::Start, palette::INK, "x < y\u{1}");
            canvas.line(&[(0.0, 30.0), (f64::NAN, 1e300)], palette::GRID, 1.5);
        });
        insta::assert_snapshot!(svg);
    }
}
