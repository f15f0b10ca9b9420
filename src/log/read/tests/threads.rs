//! What a file gives does not depend on how many threads read it, wherever the text is cut for them, nor on whether
//! what is plain is given many at a time.

use super::super::block::READ;
use super::super::lines::LONGEST;
use super::*;
use crate::log::Zone;

/// Everything that reading gives.
fn everything(
    folder: &Path,
    names: &[&str],
    options: &Options,
    (threads, takes_plain): (usize, bool),
) -> String {
    let options = Options { threads, ..options.clone() };
    let kept = Kept { takes_plain, ..Kept::default() };
    match read_into(kept, folder, names, &options) {
        Ok((entries, reports)) => format!("{reports:?}\n{}", entries.join("\n")),
        Err(message) => message,
    }
}

fn same_with_any_threads(folder: &Path, names: &[&str], options: &Options) -> String {
    let one = everything(folder, names, options, (1, false));
    for way in [(2, false), (5, false), (1, true), (2, true)] {
        assert!(everything(folder, names, options, way) == one, "{names:?}, {way:?}");
    }
    one
}

/// A text of more than two blocks, with `odd` lines where the first two end and, but for a few bytes, before and after.
fn text(odd: &str, shift: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let mut second = 0;
    let mut fill = |text: &mut Vec<u8>, end: usize| {
        while text.len() < end {
            // Every seventh line is late.
            let late = if second % 7 == 6 { 30 } else { 0 };
            text.extend_from_slice(line(second % 3000 + 30 - late).as_bytes());
            second += 1;
        }
    };
    for block in 1..=2 {
        fill(&mut text, block * READ - 3 * line(0).len());
        text.resize(block * READ - shift, b'x');
        text.extend_from_slice(odd.as_bytes());
        text.extend_from_slice(line(17).as_bytes());
    }
    fill(&mut text, 2 * READ + 5000);
    text
}

#[test]
fn lines_that_cannot_be_used_are_the_same_wherever_a_text_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    for (odd, shift) in [
        ("\n", 0),
        ("\n", 1),
        ("\njunk\n", 3),
        ("\r\njunk\r\n", 1),
        ("\r\n\n\n \n", 2),
        ("\n\n\n", 4),
        ("\n10.0.0.1 - - [40/May/2015:10:05:03 +0000] x\n", 20),
    ] {
        let text = text(odd, shift);
        put("log", &text);
        put("packed", &gzip(&text));
        put("open", &[&text[..], b"192.0.2.9 - - [17/May/2015:11:00:00 +0000]"].concat());
        put("blank", &[&text[..], b"\n \n\n"].concat());
        for strict in [false, true] {
            let options = Options { strict, ..options() };
            let one = same_with_any_threads(folder.path(), &["log"], &options);
            assert!(one.contains("there is no time in brackets"), "{one}");
            same_with_any_threads(folder.path(), &["open", "packed", "log", "blank"], &options);
        }
        put("cut", &gzip(&text)[..text.len() / 40]);
        for strict in [false, true] {
            same_with_any_threads(folder.path(), &["cut"], &Options { strict, ..options() });
        }
    }
}

#[test]
fn lines_longer_than_may_be_are_cut_in_the_same_way() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let start = line(1);
    let start = start.trim_end();
    for length in [LONGEST - 1, LONGEST, LONGEST + 1, LONGEST + READ, 3 * LONGEST] {
        let long = format!("{start}{}", "x".repeat(length - start.len()));
        put("log", format!("{}{long}\n{}", line(0), line(2)).as_bytes());
        put("junk", format!("{}{}\n\n{}", line(0), "x".repeat(length), line(2)).as_bytes());
        put("last", format!("{}{long}", line(0)).as_bytes());
        same_with_any_threads(folder.path(), &["log", "junk", "last"], &options());
        let squid = Options { format: named("squid"), ..options() };
        same_with_any_threads(folder.path(), &["log"], &squid);
    }
}

#[test]
fn formats_that_learn_from_line_to_line_are_read_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let days = |day: u32| -> String {
        (0..9000)
            .map(|n| format!("2015-05-{day} 10:{:02}:03 192.0.2.{}\n", n % 60, n % 9))
            .collect()
    };
    let changed = "#Fields: date time s-ip c-ip\n2015-05-19 10:00:00 a b\n";
    put("w3c", &format!("#Fields: date time c-ip\n{}{changed}", days(17)));
    let rows: String = (0..20_000).map(|n| format!("{},\"a\n{n}\"\n", 1_431_857_103 + n)).collect();
    put("csv", &format!("time,address\n{rows}"));
    let objects: String = (0..9000)
        .map(|n| format!("{{\"time\":{},\"ip\":\"192.0.2.{}\"}}\n", 1_431_857_103 + n, n % 9))
        .collect();
    put("json", &format!("{objects}{{\"time\":1431857103000}}\n{objects}"));
    for (name, seen) in [
        ("w3c", "changes 1 time within the file"),
        ("csv", "0:40000 a\\x0a19999"),
        ("json", "line 9001 of `json`: the time `1431857103000` is not in seconds"),
    ] {
        let options = Options { format: named(name), ..options() };
        let one = same_with_any_threads(folder.path(), &[name], &options);
        assert!(one.contains(seen), "{}", &one[one.len().saturating_sub(200)..]);
    }
}

#[test]
fn hours_that_came_twice_are_told_apart_by_the_lines_before_whoever_has_read_them() {
    let folder = tempfile::tempdir().unwrap();
    let hours: String = [1, 2, 2, 3]
        .iter()
        .flat_map(|hour| (0..3600).map(move |second| (hour, second / 60, second % 60)))
        .map(|(hour, minute, second)| {
            format!("192.0.2.7:33317 [29/Oct/2023:{hour:02}:{minute:02}:{second:02}.000] in a/b 0/0/0/0/1 200 0\n")
        })
        .collect();
    std::fs::write(folder.path().join("log"), hours).unwrap();
    let options = Options { zone: Zone::parse("Europe/Berlin").ok(), ..options() };
    let one = same_with_any_threads(folder.path(), &["log"], &options);
    assert!(one.contains("3600 are taken as of its second time"), "{}", &one[..2000]);
}
