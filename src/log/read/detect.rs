//! Tells the format of a file by its first lines.

use crate::error::{Problem, suggest};
use crate::log::format::row::Row;
use crate::log::format::{FORMATS, Format, Layout, named};
use crate::log::readable;

/// So many lines are looked at.
const MOST: usize = 100;

/// The format of objects of any kind.
const GENERAL: &str = "json";

/// The format of a text that starts with `head`, and is all of it if `whole`, by what most of its first lines fit; how
/// many do not is in a note. An expression is meant if it is given.
///
/// # Errors
/// No format fits most of the lines.
pub fn detect(
    name: &str,
    head: &[u8],
    whole: bool,
    layout: &Layout,
) -> Result<(&'static Format, Option<String>), Problem> {
    if let (Some(_), Some(format)) = (&layout.pattern, named("regex")) {
        return Ok((format, None));
    }
    let lines = first_lines(head);
    let Likeliest { format, fitting, counted } = likeliest(&lines, layout);
    // Of the last line only a part may be there, which then counts as nothing.
    let half = usize::from(!head.ends_with(b"\n") && lines.len() > 1);
    if counted * 2 > lines.len() - half {
        let note = (fitting < lines.len()).then(|| {
            let (name, all) = (format.name, lines.len());
            format!("{fitting} of the first {all} lines look like `{name}`, and so all were read as that.")
        });
        return Ok((format, note));
    }
    let seen = match (fitting, lines.first()) {
        (0, Some(line)) => format!("its first line is `{}`", shortened(line)),
        (0, None) if whole => "it has no lines".to_owned(),
        (0, None) => format!("its first {} KiB are blank lines", head.len() >> 10),
        (fitting, _) => {
            let (name, all) = (format.name, lines.len());
            format!(
                "{fitting} of its first {all} lines look like `{name}`, and no more like any other"
            )
        }
    };
    let column = layout.time.as_ref().filter(|_| fitting == 0);
    if let Some((column, names)) =
        column.and_then(|column| Some((column, heading(&lines, layout)?)))
    {
        let name = &column.name;
        let help = suggest(name, names.iter().map(String::as_str));
        let problem = Problem::new(format!("there is no column `{name}`")).help(help);
        return Err(Problem { place: column.place.clone(), ..problem });
    }
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let help = format!("say it, as `format = \"combined\"`; known are: {}", known.join(", "));
    Err(Problem::new(format!("cannot tell the format of `{name}`: {seen}")).help(help))
}

/// The format that most lines look like, and how many. Of several the first; but lines with the names of a server are
/// objects like any other too, and a server writes more than requests among them: it is the server's format unless
/// fewer than half of the objects have its names.
fn likeliest(lines: &[&[u8]], layout: &Layout) -> Likeliest {
    let scores: Vec<(usize, &Format)> =
        FORMATS.iter().map(|format| ((format.fits)(lines, layout), format)).collect();
    let most = |scores: &[(usize, &'static Format)]| {
        scores.iter().rev().max_by_key(|(fitting, _)| *fitting).copied().unwrap_or((0, &FORMATS[0]))
    };
    let (counted, format) = most(&scores);
    let general = Likeliest { format, fitting: counted, counted };
    if format.name != GENERAL {
        return general;
    }
    let of_server = |format: &Format| format.example.starts_with('{') && format.name != GENERAL;
    let servers: Vec<_> = scores.into_iter().filter(|(_, format)| of_server(format)).collect();
    let (fitting, format) = most(&servers);
    if fitting * 2 >= counted { Likeliest { format, fitting, counted } } else { general }
}

/// What a text seems to be.
struct Likeliest {
    format: &'static Format,
    /// How many lines look like it.
    fitting: usize,
    /// How many look like it or what it is a special case of.
    counted: usize,
}

/// The names in the heading of a table, if the lines may be one.
fn heading(lines: &[&[u8]], layout: &Layout) -> Option<Vec<String>> {
    let [first, rest @ ..] = lines else { return None };
    let usual = [b',', b'\t', b';'];
    let delimiters = layout.delimiter.map_or(usual.to_vec(), |delimiter| vec![delimiter]);
    let delimiter = delimiters.into_iter().find(|delimiter| {
        let with = rest.iter().filter(|line| line.contains(delimiter)).count();
        first.contains(delimiter) && with * 2 >= rest.len()
    })?;
    let mut row = Row::default();
    row.split(first, delimiter).ok().filter(|()| !first.starts_with(b"{"))?;
    Some((0..row.len()).map(|index| readable(row.field(index, first))).collect())
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
    use crate::log::format::Column;

    fn detected(text: &str) -> Result<String, String> {
        match detect("log", text.as_bytes(), true, &Layout::default()) {
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
    fn what_a_server_says_beside_its_requests_leaves_its_format() {
        let line = format!("{}\n", named("caddy").unwrap().example);
        let other =
            "{\"level\":\"info\",\"ts\":1431857104.5,\"logger\":\"tls\",\"msg\":\"cleaning\"}\n";
        for (requests, others, format) in [
            (99, 1, "caddy: 99 of the first 100 lines look"),
            (2, 2, "caddy: 2 of the first 4 lines look"),
            (1, 2, "json"),
            (0, 2, "json"),
        ] {
            let found = detected(&(line.repeat(requests) + &other.repeat(others))).unwrap();
            assert!(found.starts_with(format), "{requests} {others}: {found}");
        }
        let with_text = line.repeat(2) + &other.repeat(2) + "started\nready\n";
        assert!(detected(&with_text).unwrap().starts_with("caddy: 2 of the first 6 lines"));
    }

    #[test]
    fn a_column_that_is_not_there_is_named_with_those_that_are() {
        let at = Column { name: "wen".to_owned(), place: None };
        let layout = Layout { time: Some(at), ..Layout::default() };
        let problem = detect("log", b"when,\"who\"\n1,a\n2,b\n", true, &layout).unwrap_err();
        assert_eq!(problem.message, "there is no column `wen`");
        assert_eq!(problem.help.unwrap(), "did you mean `when`? known are: when, who");
    }

    #[test]
    fn blank_lines_alone_tell_no_format() {
        let blank = detect("log", &[b'\n'; 4096], false, &Layout::default()).unwrap_err();
        assert_eq!(
            blank.message,
            "cannot tell the format of `log`: its first 4 KiB are blank lines"
        );
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
