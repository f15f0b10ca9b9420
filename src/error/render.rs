//! How a problem looks on a terminal.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::Problem;

/// A problem with the lines at fault.
pub(super) fn render_problem(problem: &Problem, renderer: &Renderer) -> String {
    let title = Level::ERROR.primary_title(&problem.message);
    let Some(place) = &problem.place else {
        // Below a title alone, the renderer would draw the margin of a text that is not there.
        let title = renderer.render(&[Group::with_title(title)]);
        let help = problem.help.iter().map(|help| format!("\n  = help: {help}"));
        return title + &help.collect::<String>();
    };
    let help = problem.help.iter().map(|help| Level::HELP.message(help));
    let text = place.source.text.as_str();
    let start = floor_boundary(text, place.span.start);
    let end = floor_boundary(text, place.span.end).max(start);
    let snippet = Snippet::source(text)
        .path(&place.source.name)
        .annotation(AnnotationKind::Primary.span(start..end));
    renderer.render(&[title.element(snippet).elements(help)])
}

/// More problems than this are only counted: whoever mends these sees the next.
pub(super) const MOST_SHOWN: usize = 20;

/// A number with commas between groups of three digits.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

pub(super) fn floor_boundary(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}
