//! Text that must fit a place: its width as a common sans-serif face would set it, what to do where
//! it is too long, and numbers as people write them.

use crate::report::format;

/// The width of a text in pixels, by the advances of the widest face in common use, so that
/// a narrower one leaves some room.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// A character's advance in units of the font's size.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '\'' => 0.3,
        ' ' | '.' | ',' => 0.32,
        'f' | 'r' | 't' | ':' | ';' | '|' | '!' | '-' | '/' | '(' | ')' => 0.4,
        'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' => 0.59,
        'w' => 0.82,
        'm' | 'M' | 'W' | '%' | '@' => 0.98,
        'a'..='z' | '0'..='9' => 0.64,
        c if (c as u32) < 0x1100 => 0.75,
        _ => 1.05,
    }
}

/// The text as XML may hold it, in one line.
pub fn clean(text: &str) -> String {
    let allowed = |c: char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if allowed(c) { c } else { ' ' }).collect()
}

/// The text, or as much of its beginning as fits, with dots after it.
pub fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut taken = width("...", size);
    for c in text.chars() {
        taken += advance(c) * size;
        if taken > room {
            break;
        }
        kept.push(c);
    }
    format!("{}...", kept.trim_end())
}

/// The text, or as much of its beginning and of its end as fits, with dots between them.
pub fn fit_middle(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let (mut from, mut to) = (0, chars.len());
    let mut taken = width("...", size);
    while from < to {
        // From both ends in turn.
        let begins = from <= chars.len() - to;
        taken += advance(if begins { chars[from] } else { chars[to - 1] }) * size;
        if taken > room {
            break;
        }
        (from, to) = if begins { (from + 1, to) } else { (from, to - 1) };
    }
    let [begin, end] = [&chars[..from], &chars[to..]].map(|part| part.iter().collect::<String>());
    format!("{}...{}", begin.trim_end(), end.trim_start())
}

/// The text broken at spaces into at most `most` lines (at least one); what is too long ends in dots after a word.
pub fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    wrap_words(text.split_whitespace(), size, room, most)
}

/// The same of words which may have spaces within them, where no line is broken.
pub fn wrap_words<'a>(
    words: impl Iterator<Item = &'a str>,
    size: f64,
    room: f64,
    most: usize,
) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in words {
        let last = lines.len() - 1;
        let longer = [lines[last].as_str(), word].join(" ");
        if lines[last].is_empty() {
            word.clone_into(&mut lines[last]);
        } else if width(&longer, size) <= room || lines.len() == most {
            lines[last] = longer;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.iter().map(|line| fit_words(line, size, room)).collect()
}

/// The text, or as many of its first words as fit, with dots after them; of a first word that does not, its beginning.
fn fit_words(text: &str, size: f64, room: f64) -> String {
    let cut = fit(text, size, room);
    let Some(kept) = cut.strip_suffix("...").filter(|_| cut != text) else { return cut };
    let words = match text[kept.len()..].starts_with(char::is_whitespace) {
        true => Some(kept),
        false => kept.rsplit_once(char::is_whitespace).map(|(words, _)| words),
    };
    format!("{}...", words.unwrap_or(kept).trim_end_matches([' ', ',']))
}

/// A count as people write it: `1,234,567`; from ten million on with three digits and a prefix.
pub fn count(count: u64) -> String {
    if count < 10_000_000 { format::count(count) } else { format::short_count(count) }
}

/// A number with at most so many decimals, without trailing zeros.
pub fn decimal(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// `1 request`, `2 requests`, where `many` is the plural.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators_and_large_ones_a_prefix() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (9_999_999, "9,999,999"),
            (10_000_000, "10.0M"),
            (12_345_678, "12.3M"),
            (999_999_999, "1.00G"),
            (1 << 32, "4.29G"),
            (u64::MAX, "18.4E"),
        ] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn what_is_too_long_ends_in_dots_and_fits() {
        let name = "sliding-window-counter with a very long name";
        let short = fit(name, 13.0, 120.0);
        assert!(short.ends_with("...") && width(&short, 13.0) <= 120.0, "{short}");
        assert_eq!(fit("gcra", 13.0, 120.0), "gcra");
    }

    #[test]
    fn what_is_cut_in_the_middle_keeps_both_ends_and_fits() {
        let name = "check-then-increment, round-trip 50ms";
        let short = fit_middle(name, 13.0, 120.0);
        assert!(width(&short, 13.0) <= 120.0, "{short}");
        assert!(short.starts_with("check") && short.ends_with("50ms"), "{short}");
        assert_eq!(fit_middle("gcra", 13.0, 120.0), "gcra");
        assert_eq!(fit_middle("gcra", 13.0, 0.0), "...");
    }

    #[test]
    fn text_is_broken_at_spaces_and_the_last_line_is_cut_there() {
        let lines = wrap("one two three four five six", 10.0, 60.0, 2);
        assert_eq!(lines, ["one two", "three..."]);
        assert_eq!(wrap("one two, threefour", 10.0, 60.0, 1), ["one two..."]);
        assert_eq!(wrap("one two", 10.0, width("one...", 10.0) + 0.1, 1), ["one..."]);
        assert_eq!(wrap("fourhundredandfive", 10.0, 60.0, 1), ["fourhundr..."]);
        assert_eq!(wrap("", 10.0, 60.0, 2), [""]);
    }

    #[test]
    fn control_characters_become_spaces() {
        assert_eq!(clean("a\u{0}b\nc\u{ffff}"), "a b c ");
    }
}
