//! Texts on a terminal: made harmless, measured, shortened, broken into lines and listed.

use unicode_width::UnicodeWidthStr;

/// A text of the user's or of a log's, on one line and without control characters, which could
/// steer a terminal.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}

/// The same for a text that may have several lines: tabs and ends of lines stay.
pub fn printable_lines(text: &str) -> String {
    let stays = |c: char| matches!(c, '\t' | '\n' | '\r') || !steers(c);
    text.chars().map(|c| if stays(c) { c } else { '\u{fffd}' }).collect()
}

/// Control characters, and those that turn the direction of a line around.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The columns that a text takes on a terminal.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// A text in at most so many columns: the middle of a longer one gives way to `…`, for names tend
/// to differ at their ends.
pub fn shorten(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(1);
    let head = head(text, room - room / 2);
    let starts = text.char_indices().rev().map(|(at, _)| at);
    let tail = starts.take_while(|&at| width(&text[at..]) <= room / 2).last();
    let mark = if most > 0 { "…" } else { "" };
    format!("{head}{mark}{}", &text[tail.unwrap_or(text.len())..])
}

/// The longest start of a text that fits into so many columns.
fn head(text: &str, room: usize) -> &str {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|&end| width(&text[..end]) <= room).last();
    &text[..end.unwrap_or(0)]
}

/// A text cut into lines of at most `most` columns between words; a longer word is cut inside.
pub fn wrap(text: &str, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        loop {
            let line = lines.last_mut().unwrap_or_else(|| unreachable!("there is always a line"));
            let gap = usize::from(!line.is_empty());
            if width(line) + gap + width(&word) <= most {
                line.push_str(if gap == 1 { " " } else { "" });
                line.push_str(&word);
                break;
            }
            if gap == 1 {
                lines.push(String::new());
                continue;
            }
            let first = word.chars().next().map_or(0, char::len_utf8);
            let cut = head(&word, most).len().max(first);
            line.push_str(&word[..cut]);
            word.drain(..cut);
            if word.is_empty() {
                break;
            }
            lines.push(String::new());
        }
    }
    lines
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_name_keeps_both_ends() {
        assert_eq!(shorten("sliding-window-counter", 22), "sliding-window-counter");
        assert_eq!(shorten("sliding-window-counter", 15), "sliding…counter");
        assert_eq!(shorten("桁桁桁桁", 5), "桁…桁");
        assert_eq!(shorten("ab", 1), "…");
    }

    #[test]
    fn what_steers_a_terminal_is_not_shown() {
        assert_eq!(printable_lines("a\0\t\r\nb\u{9b}\u{202e}"), "a\u{fffd}\t\r\nb\u{fffd}\u{fffd}");
        assert_eq!(printable("a\u{1b}[31mb\nc\u{202e}d"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d");
    }

    #[test]
    fn lines_break_between_words_and_inside_only_the_longest() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 3), [""]);
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_asked(text in "\\PC{0,40}", most in 2_usize..30) {
            prop_assert!(width(&shorten(&text, most)) <= most);
            for line in wrap(&text, most) {
                prop_assert!(width(&line) <= most, "{line:?}");
            }
        }
    }
}
