//! Charts. [`CHARTS`] lists them; each is drawn once, as SVG, and [`png`] makes a picture of that very
//! SVG. Adding one is a file with its `CHART`, and a line in the registry.

mod amplification;
mod attempts;
mod axis;
mod canvas;
mod chosen;
mod comparison;
mod gallery;
mod keys_alive;
#[cfg(test)]
mod loop_sample;
mod loops;
mod names;
mod offered_accepted;
mod outage;
mod outcomes;
pub mod palette;
mod panels;
mod picture;
#[cfg(test)]
pub(super) mod sample;
mod scale;
mod series;
mod shade;
mod skew;
mod text;
mod time_to_success;
mod trailing_window;
mod view;
mod waits;

use std::collections::BTreeSet;

use crate::metrics::Comparison;

pub use gallery::pictures;
pub use picture::png;

pub(super) use canvas::escape;
pub(super) use series::{Series, left_out, of_case};
pub(super) use text::decimal;

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
pub const CHARTS: &[Chart] = &[
    attempts::CHART,
    amplification::CHART,
    time_to_success::CHART,
    outage::CHART,
    skew::CHART,
    keys_alive::CHART,
    trailing_window::CHART,
    outcomes::CHART,
    comparison::CHART,
    offered_accepted::CHART,
    waits::CHART,
];

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
    let cases: Vec<&str> = comparison.cases.iter().map(|case| case.name.as_str()).collect();
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
                    let stem = stem(chart.name, &cases, case);
                    figures.push(Figure { stem, chart, case: Some(case), svg });
                }
            }
        }
    }
    figures
}

/// The stems of all figures that there can be of cases of these names.
pub fn stems(cases: &[&str]) -> Vec<String> {
    let mut stems = Vec::new();
    for chart in CHARTS {
        match chart.draw {
            Draw::Whole(_) => stems.push(chart.name.to_owned()),
            Draw::EachCase(_) => {
                stems.extend((0..cases.len()).map(|case| stem(chart.name, cases, case)));
            }
        }
    }
    stems
}

/// The chart's name; where there are several cases followed by the case's as far as every file system
/// takes it, and by its number where names alone would not tell all cases apart.
fn stem(chart: &str, cases: &[&str], case: usize) -> String {
    if cases.len() == 1 {
        return chart.to_owned();
    }
    let names: Vec<String> = cases.iter().map(|name| plain(name)).collect();
    let different: BTreeSet<&String> = names.iter().filter(|name| !name.is_empty()).collect();
    let name = &names[case];
    match (different.len() == names.len(), name.as_str()) {
        (true, _) => format!("{chart}-{name}"),
        (false, "") => format!("{chart}-{}", case + 1),
        (false, _) => format!("{chart}-{name}-{}", case + 1),
    }
}

/// The ASCII letters and digits of a name, lowercase, at most forty, with `-` for what is between.
fn plain(name: &str) -> String {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let mut plain = parts.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    plain.truncate(40);
    plain.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use resvg::usvg::roxmltree::Document;

    use super::*;
    use crate::judge::{Bin, Peak, Timeline, Worst};
    use crate::metrics::{Repeat, values};
    use crate::rate::Limit;
    use crate::report::fleet_samples;
    use crate::time::{Instant, Span};

    /// What a chart says, text by text.
    pub(super) fn texts(svg: &str) -> String {
        let document = Document::parse(svg).unwrap();
        let texts = document.descendants().filter(|node| node.has_tag_name("text"));
        texts.map(|node| node.text().unwrap().to_owned() + "\n").collect()
    }

    #[test]
    fn names_of_charts_are_unique_and_fit_a_file_name() {
        let names: BTreeSet<&str> = CHARTS.iter().map(|chart| chart.name).collect();
        assert_eq!(names.len(), CHARTS.len());
        let fits = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(names.iter().all(|name| name.chars().all(fits)));
        assert!(CHARTS.iter().all(|chart| chart.meaning.ends_with('.')));
    }

    #[test]
    fn the_charts_of_the_boundary_say_what_happened() {
        let told: String = figures(&sample::boundary())
            .iter()
            .map(|figure| format!("== {}\n{}", figure.stem, texts(&figure.svg)))
            .collect();
        insta::assert_snapshot!(told);
    }

    #[test]
    fn figures_of_several_cases_have_stems_of_their_own() {
        let mut comparison = sample::odd();
        comparison.cases[0].name = "Jitter / on".to_owned();
        comparison.cases[1].name = "jitter   on".to_owned();
        comparison.cases[2].name = "\u{4f60}".to_owned();
        let figures = figures(&comparison);
        let stems: Vec<&str> = figures.iter().map(|figure| figure.stem.as_str()).collect();
        insta::assert_snapshot!(stems.join("\n"));
        let different: BTreeSet<&&str> = stems.iter().collect();
        assert_eq!(different.len(), stems.len());
        let names: Vec<&str> = comparison.cases.iter().map(|case| case.name.as_str()).collect();
        let possible = super::stems(&names);
        assert!(stems.iter().all(|stem| possible.iter().any(|other| other == stem)));
    }

    #[test]
    fn a_picture_is_a_png_of_twice_the_size() {
        let svg = &figures(&sample::boundary())[0].svg;
        let bytes = png(svg).unwrap();
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        let document = Document::parse(svg).unwrap();
        let height: u32 = document.root_element().attribute("height").unwrap().parse().unwrap();
        assert_eq!((number(16), number(20)), (1440, 2 * height));
        assert!(png("no chart").is_err());
    }

    #[test]
    fn a_picture_has_its_text() {
        let svg = &figures(&sample::boundary())[0].svg;
        let bare: String =
            svg.lines().filter(|line| !line.starts_with("<text")).flat_map(|l| [l, "\n"]).collect();
        assert_ne!(png(svg).unwrap(), png(&bare).unwrap());
    }

    #[test]
    fn waits_are_drawn_only_where_something_queues() {
        let mut comparison = sample::boundary();
        let waits = |comparison: &Comparison| {
            figures(comparison).iter().any(|figure| figure.chart.name == "waits")
        };
        assert!(waits(&comparison));
        comparison.rows.retain(|row| row.algorithm != "leaky-bucket");
        assert!(!waits(&comparison));
    }

    #[test]
    fn the_most_that_is_drawn_stays_small() {
        let mut comparison = sample::boundary();
        let mut row = comparison.rows.swap_remove(0);
        let bins = (0..600).map(|n| Bin {
            offered: 10_000_000 + n * n % 977,
            accepted: 5_000_000 + n * n % 991,
            over_limit: n * n * 1000 % 983,
            window_max: n * 7919 % 199,
            ..Bin::default()
        });
        row.tally.timeline.bins = bins.collect();
        comparison.rows = (0..30)
            .map(|n| crate::metrics::Row {
                algorithm: format!("number {n}"),
                kind: n,
                ..row.clone()
            })
            .collect();
        let figures = figures(&comparison);
        let largest = figures.iter().map(|figure| figure.svg.len()).max().unwrap();
        assert!((50_000..200_000).contains(&largest), "{largest}");
        let told = ["6 more algorithms are in", "number 24, number 25, number 26 and 3 more"];
        let is_told = |svg: &str| told.iter().any(|words| svg.contains(words));
        assert!(figures.iter().all(|figure| is_told(&figure.svg)));
    }

    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), 0..300_u64, Just(u64::MAX / 4), any::<u64>()]
    }

    fn bins() -> impl Strategy<Value = Vec<Bin>> {
        let bin =
            (number(), number(), number(), number()).prop_map(|(offered, accepted, over, most)| {
                let (retries, succeeded) = (accepted / 2, over);
                let (unlimited, keys_in_store, stuck_keys) = (over, most, over);
                Bin {
                    offered,
                    accepted,
                    over_limit: over,
                    window_max: most,
                    retries,
                    succeeded,
                    unlimited,
                    keys_in_store,
                    stuck_keys,
                    ..Bin::default()
                }
            });
        prop_oneof![
            prop::collection::vec(bin, 0..=600),
            number().prop_map(|most| vec![Bin { window_max: most, ..Bin::default() }; 600]),
        ]
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![Just("<&>\"' ".repeat(30)), Just(String::new()), ".{0,60}"]
    }

    prop_compose! {
        fn row(cases: usize)(
            case in 0..cases,
            algorithm in name(),
            kind in 0..12_usize,
            repeats in 0..3_usize,
            bins in bins(),
            width in prop_oneof![Just(1), Just(500_000_000), 1..=Span::MAX.nanos()],
            requests in prop_oneof![Just(0), 0..300_u64, Just(1 << 32)],
            books in (number(), number(), number(), number()),
            wait in 0..=Span::MAX.nanos(),
            cost in number(),
            closed in prop::option::of((0..50_u64, 0..80_u64, 0..80_u64)),
            fleet in prop::option::of(fleet_samples::any()),
        ) -> crate::metrics::Row {
            let limit = Limit::new(requests, Span::from_nanos(width));
            let mut tally = sample::tally(&[], limit, sample::window(1));
            let width = Span::from_nanos(width);
            tally.timeline = Timeline { start: Instant(0), width, bins };
            (tally.books.attempts, tally.books.accepted, tally.over_limit, tally.books.pending) = books;
            tally.books.rejected = books.0;
            if cost % 2 == 0 {
                let peak = Peak { cost, from: Instant(0), to: Instant(0) };
                tally.limits[0].worst = Some(Worst { key: 0, promise: limit, peak: Some(peak) });
                tally.queue_waits.record(Span::from_nanos(wait));
            }
            if let Some((attempts, at, lasts)) = closed {
                let run = sample::window(60);
                let start = run.start + Span::from_secs(at);
                let trigger = crate::time::Window { start, end: start + Span::from_secs(lasts) };
                let took = [Span::ZERO, Span::from_nanos(wait), Span::from_nanos(cost >> 8)];
                let took = &took[..attempts as usize % 4];
                let trigger = (at > 0).then_some(trigger);
                tally.closed = Some(loop_sample::closed(run, trigger, attempts, took));
                (tally.books.requests, tally.books.succeeded) = (books.3, books.3 / 3 * 2);
            }
            fleet_samples::give(&mut tally, fleet);
            let repeat = Repeat { seed: 1, values: values(&tally), expected: Vec::new() };
            let repeats = vec![repeat; repeats];
            let reference = None;
            crate::metrics::Row { case, algorithm, kind, seed: 0, reference, tally, repeats }
        }
    }

    prop_compose! {
        fn comparison()(cases in 1..4_usize)(
            scenario in name(),
            about in name(),
            cases in prop::collection::vec((name(), prop::option::of(fleet_samples::any_info())), cases),
            rows in prop::collection::vec(row(cases), 0..30),
        ) -> Comparison {
            let cases = cases.into_iter().map(|(name, fleet)| crate::metrics::CaseInfo {
                limits: vec![(name.clone(), name.clone()); name.len() % 3],
                name,
                sending: None,
                fleet,
                window: sample::window(60),
                notes: Vec::new(),
            });
            Comparison { scenario, about, cases: cases.collect(), baseline: 0, rows }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_comparison_is_drawn_small_valid_and_always_the_same(comparison in comparison()) {
            let drawn = figures(&comparison);
            for (figure, again) in drawn.iter().zip(figures(&comparison)) {
                prop_assert!(figure.svg.len() < 200_000, "{} bytes", figure.svg.len());
                prop_assert!(Document::parse(&figure.svg).is_ok());
                prop_assert_eq!(&figure.svg, &again.svg);
            }
            let page = crate::report::html::page(&comparison, &drawn);
            prop_assert!(page.ends_with("</html>\n"));
        }
    }
}
