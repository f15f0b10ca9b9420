//! What stands above a chart: a title and subtitles, in lines.

use super::super::canvas::{Align, Canvas, WIDTH};
use super::super::palette::{INK, MUTED};
use super::super::text;
use super::{BODY, MARGIN, TITLE};

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
    // Two lines of about one length read better than a long one and a last word, and what is in brackets better in one
    // line than in two.
    let in_brackets = in_brackets(&words);
    let together: Vec<&str> = in_brackets.iter().map(String::as_str).collect();
    let broken = |words: &[&str]| {
        let shares = [0.55, 0.65, 0.75, 0.85].into_iter();
        let shares = shares.filter(|_| text::width(title, TITLE) > room).chain([1.0]);
        let wrap = |share| text::wrap_words(words.iter().copied(), TITLE, room * share, 2);
        shares.map(wrap).find(whole)
    };
    let title = broken(&together)
        .or_else(|| broken(&words))
        .unwrap_or_else(|| text::wrap(title, TITLE, room, 2));
    let wrapped = subtitles.iter().filter(|line| !line.is_empty());
    (title, wrapped.flat_map(|line| text::wrap(line, BODY, room, 2)).collect())
}

/// Whether a title can be shown whole.
pub fn fits(title: &str) -> bool {
    lines(title, &[]).0.join(" ").split_whitespace().eq(title.split_whitespace())
}

/// The words of a title, of which those from a bracket to the one that closes it are one.
fn in_brackets(words: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = 0;
    for word in words {
        match found.last_mut() {
            Some(last) if open > 0 => *last = format!("{last} {word}"),
            _ => found.push((*word).to_owned()),
        }
        let count = |bracket| word.matches(bracket).count();
        open = (open + count('(')).saturating_sub(count(')'));
    }
    found
}

/// The height that a heading of these lines takes.
pub fn heading_height((title, subtitles): &(Vec<String>, Vec<String>)) -> f64 {
    MARGIN + title.len() as f64 * TITLE * 1.25 + subtitles.len() as f64 * BODY * 1.4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(text: &str) -> Vec<String> {
        lines(text, &[]).0
    }

    #[test]
    fn a_title_does_not_break_within_brackets() {
        let told =
            "race: of 26,037 attempts, fixed-window (13 s, SET) accepts 25,715 over the limit";
        assert_eq!(
            title(told),
            ["race: of 26,037 attempts, fixed-window", "(13 s, SET) accepts 25,715 over the limit"]
        );
        // Where they do not fit in a line, or are never closed, it breaks wherever there is room.
        for odd in [
            format!("a scenario ({}) and more", "word ".repeat(16)),
            format!("a ({}", "word ".repeat(18)),
        ] {
            assert_eq!(title(&odd).join(" "), odd.split_whitespace().collect::<Vec<_>>().join(" "));
            assert_eq!(title(&odd).len(), 2);
        }
    }

    #[test]
    fn brackets_within_brackets_close_with_the_outer_ones() {
        let words = ["a", "(b", "(c", "d)", "e),", "f", "g)", "(h)"];
        assert_eq!(in_brackets(&words), ["a", "(b (c d) e),", "f", "g)", "(h)"]);
    }
}
