//! Charts. [`CHARTS`] lists them; each is drawn once, as SVG, and [`png`] makes a picture of that very
//! SVG. Adding one is a file with its `CHART`, and a line in the registry.

mod axis;
mod canvas;
mod offered_accepted;
mod outcomes;
mod palette;
mod panels;
mod picture;
#[cfg(test)]
pub(super) mod sample;
mod series;
mod text;
mod trailing_window;
mod waits;

use crate::metrics::Comparison;

pub use picture::png;

pub(super) use canvas::escape;
pub(super) use series::{Series, of_case, remark};
pub(super) use text::{decimal, grouped};

/// An entry of the registry.
pub struct Chart {
    /// The stem of its files.
    pub name: &'static str,
    /// Its name in words.
    pub title: &'static str,
    /// What it shows, one sentence.
    pub meaning: &'static str,
    /// How it is drawn.
    pub draw: Draw,
}

/// How a chart is drawn; `None` where it has nothing to show.
pub enum Draw {
    /// One figure for the whole comparison.
    Whole(fn(&Comparison) -> Option<String>),
    /// One figure for each case, by its position.
    EachCase(fn(&Comparison, usize) -> Option<String>),
}

/// The registry, in the order of a report: what a reader should see first stands first.
pub const CHARTS: &[Chart] =
    &[trailing_window::CHART, outcomes::CHART, offered_accepted::CHART, waits::CHART];

/// A chart that was drawn.
pub struct Figure {
    /// The stem of its files: the chart's name, with the case's where there are several.
    pub stem: String,
    /// Its entry in the registry.
    pub chart: &'static Chart,
    /// The position of its case; `None` for all of them.
    pub case: Option<usize>,
    /// The drawing: a whole SVG file.
    pub svg: String,
}

/// Draws all charts that have something to show.
pub fn figures(comparison: &Comparison) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for chart in CHARTS {
        match chart.draw {
            Draw::Whole(draw) => {
                figures.extend(draw(comparison).map(|svg| Figure {
                    stem: chart.name.to_owned(),
                    chart,
                    case: None,
                    svg,
                }));
            }
            Draw::EachCase(draw) => {
                for case in 0..comparison.cases.len() {
                    let Some(svg) = draw(comparison, case) else { continue };
                    let stem = stem(chart.name, comparison, case);
                    figures.push(Figure { stem, chart, case: Some(case), svg });
                }
            }
        }
    }
    figures
}

/// The chart's name, followed by the case's as far as every file system takes it, followed by its
/// number where that would not tell two cases apart.
fn stem(chart: &str, comparison: &Comparison, case: usize) -> String {
    let plain = |name: &str| -> String {
        let letters = name.chars().map(|c| match c {
            c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
            _ => '-',
        });
        let taken: String = letters.take(40).collect();
        taken.trim_matches('-').to_owned()
    };
    if comparison.cases.len() == 1 {
        return chart.to_owned();
    }
    let name = plain(&comparison.cases[case].name);
    let same = comparison.cases.iter().filter(|other| plain(&other.name) == name).count();
    match (name.as_str(), same) {
        ("", _) => format!("{chart}-{}", case + 1),
        (_, 1) => format!("{chart}-{name}"),
        _ => format!("{chart}-{name}-{}", case + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes what the charts look like to a folder, to be looked at.
    #[test]
    fn look() {
        let out = std::path::Path::new("/tmp/look");
        std::fs::create_dir_all(out).unwrap();
        for comparison in [sample::boundary(), sample::busy()] {
            for figure in figures(&comparison) {
                let stem = format!("{}-{}", comparison.scenario, figure.stem);
                println!("{stem} {}", figure.svg.len());
                std::fs::write(
                    out.join(format!("{}.html", comparison.scenario)),
                    crate::report::html::page(&comparison, &figures(&comparison)),
                )
                .unwrap();
                std::fs::write(out.join(format!("{stem}.svg")), &figure.svg).unwrap();
                std::fs::write(out.join(format!("{stem}.png")), png(&figure.svg).unwrap()).unwrap();
            }
        }
    }
}
