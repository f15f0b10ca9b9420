//! Tells the format of a file by its first lines.

use crate::error::Problem;
use crate::log::format::{FORMATS, Format, Layout, named};
use crate::log::readable;

/// So many lines are looked at.
const MOST: usize = 100;

/// The format of a text that starts with `head`, by what most of its first lines fit; how many do not is in a
/// note. An expression is meant if it is given.
///
/// # Errors
/// No format fits most of the lines.
pub fn detect(
    name: &str,
    head: &[u8],
    layout: &Layout,
) -> Result<(&'static Format, Option<String>), Problem> {
    if let (Some(_), Some(format)) = (&layout.pattern, named("regex")) {
        return Ok((format, None));
    }
    let lines = first_lines(head);
    let scores = FORMATS.iter().map(|format| ((format.fits)(&lines, layout), format));
    // Of equal ones the first.
    let (fitting, format) =
        scores.rev().max_by_key(|(fitting, _)| *fitting).unwrap_or((0, &FORMATS[0]));
    // Of the last line only a part may be there, which then counts as nothing.
    let half = usize::from(!head.ends_with(b"\n") && lines.len() > 1);
    if fitting * 2 > lines.len() - half {
        let note = (fitting < lines.len()).then(|| {
            let (name, all) = (format.name, lines.len());
            format!("{fitting} of the first {all} lines look like `{name}`, and so all were read as that.")
        });
        return Ok((format, note));
    }
    let seen = match (fitting, lines.first()) {
        (0, Some(line)) => format!("its first line is `{}`", shortened(line)),
        (0, None) => "it has no lines".to_owned(),
        (fitting, _) => {
            let (name, all) = (format.name, lines.len());
            format!(
                "{fitting} of its first {all} lines look like `{name}`, and no more like any other"
            )
        }
    };
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let help = format!("say it, as `format = \"combined\"`; known are: {}", known.join(", "));
    Err(Problem::new(format!("cannot tell the format of `{name}`: {seen}")).help(help))
}

/// The first lines that are not blank.
fn first_lines(head: &[u8]) -> Vec<&[u8]> {
    let lines = head.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.filter(|line| !line.trim_ascii().is_empty()).take(MOST).collect()
}

/// A line that can be shown: control characters escaped, and cut to a length that fits beside others.
pub fn shortened(line: &[u8]) -> String {
    const LONGEST: usize = 120;
    let text = readable(&line[..line.len().min(4 * LONGEST)]);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(text: &str) -> Result<String, String> {
        match detect("log", text.as_bytes(), &Layout::default()) {
            Ok((format, note)) => {
                Ok(format!("{}{}", format.name, note.map_or(String::new(), |n| format!(": {n}"))))
            }
            Err(problem) => {
                Err(format!("{}; {}", problem.message, problem.help.unwrap_or_default()))
            }
        }
    }

    #[test]
    fn every_format_is_told_by_its_example() {
        for format in FORMATS.iter().filter(|format| format.name != "regex") {
            assert_eq!(detected(format.example), Ok(format.name.to_owned()), "{}", format.example);
        }
    }

    #[test]
    fn most_lines_decide_and_what_was_seen_is_said() {
        let line = "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"\" 400 0\n";
        assert_eq!(detected(&format!("{line}\n{line}")), Ok("combined".to_owned()));
        let mixed = detected(&format!("junk\n{line}{line}")).unwrap();
        assert_eq!(
            mixed,
            "combined: 2 of the first 3 lines look like `combined`, and so all were read as that."
        );
        let seen = |text: &str| {
            let message = detected(text).unwrap_err();
            message.split_once("; ").unwrap().0.to_owned()
        };
        assert_eq!(
            seen(&format!("junk\nmore\n{line}")),
            "cannot tell the format of `log`: 1 of its first 3 lines look like `combined`, and no more \
             like any other"
        );
        let long = format!("\u{1b}[2J{}", "x".repeat(200));
        let expected = format!(
            "cannot tell the format of `log`: its first line is `\\x1b[2J{}…`",
            "x".repeat(113)
        );
        assert_eq!(seen(&long), expected);
    }

    #[test]
    fn the_last_of_the_bytes_at_hand_may_be_half_a_line() {
        assert_eq!(first_lines(b"a\r\n\nb\nc"), [b"a", b"b", b"c"]);
        let line = "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"\" 400 0\n";
        let cut = detected(&format!("{line}192.0.2.7 - - [17/M")).unwrap();
        assert_eq!(
            cut,
            "combined: 1 of the first 2 lines look like `combined`, and so all were read as that."
        );
        assert!(detected(&format!("{line}192.0.2.7 - - [17/M\n")).is_err());
    }
}
