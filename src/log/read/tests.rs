//! Whole files through the reader: what is used of them, what is not, and what is said about it.

use std::io::Write;
use std::path::Path;

use super::*;
use crate::log::entry::Field;
use crate::log::format::named;
use crate::log::readable;
use proptest::prelude::*;

mod threads;

/// Keeps the time, file, line and address of each entry.
#[derive(Default)]
struct Kept {
    entries: Vec<String>,
    takes_plain: bool,
}

impl Sink for Kept {
    fn entry(&mut self, entry: &Entry, spot: Spot) -> Result<bool, Fault> {
        let address = entry.get(0).map_or("none".to_owned(), readable);
        self.entries.push(format!("{} {}:{} {address}", entry.stamp.at, spot.file, spot.line));
        Ok(true)
    }

    fn takes_plain(&self) -> bool {
        self.takes_plain
    }

    fn plain(&mut self, plain: &[Plain], spot: Spot) -> Result<(), (usize, Fault)> {
        for (line, request) in (spot.line..).zip(plain) {
            let address = std::net::Ipv4Addr::from(request.address);
            self.entries.push(format!("{} {}:{line} {address}", request.at(), spot.file));
        }
        Ok(())
    }
}

fn options() -> Options {
    let layout = Layout { wanted: vec![Field::Address], ..Layout::default() };
    Options { layout, threads: 1, ..Options::default() }
}

/// Reads files of a folder; the messages of what is wrong with them, with their help.
fn read_from(
    folder: &Path,
    names: &[&str],
    options: &Options,
) -> Result<(Vec<String>, Vec<Report>), String> {
    read_into(Kept::default(), folder, names, options)
}

fn read_into(
    mut kept: Kept,
    folder: &Path,
    names: &[&str],
    options: &Options,
) -> Result<(Vec<String>, Vec<Report>), String> {
    let files: Vec<File> = names
        .iter()
        .map(|name| File { path: folder.join(name), name: (*name).to_owned(), place: None })
        .collect();
    match read(&files, options, &mut kept, &mut |_, _| ControlFlow::Continue(())) {
        Ok(reports) => Ok((kept.entries, reports)),
        Err(Stop::Interrupted) => panic!("nobody said so"),
        Err(Stop::Problems(problems)) => {
            let shown = problems.iter().map(|problem| match &problem.help {
                Some(help) => format!("{}\n  {help}", problem.message),
                None => problem.message.clone(),
            });
            let folder = folder.display().to_string();
            Err(shown.collect::<Vec<_>>().join("\n").replace(&folder, "FOLDER"))
        }
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn line(second: u32) -> String {
    let (minute, second) = (second / 60, second % 60);
    format!(
        "192.0.2.7 - - [17/May/2015:10:{minute:02}:{second:02} +0000] \"GET / HTTP/1.1\" 200 5\n"
    )
}

#[test]
fn files_are_unpacked_by_what_is_in_them_and_lose_one_mark() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let text = format!("\u{feff}{}{}", line(1), line(2));
    put("plain", text.as_bytes());
    put("log.1", &gzip(text.as_bytes()));
    let members = [gzip(line(1).as_bytes()), gzip(line(2).as_bytes())].concat();
    put("members", &members);
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    put("log.gz", &ruzstd::encoding::compress_to_vec(text.as_bytes(), level));
    for (name, compression) in [
        ("plain", None),
        ("log.1", Some("gzip")),
        ("members", Some("gzip")),
        ("log.gz", Some("zstd")),
    ] {
        for threads in [1, 2] {
            let options = Options { threads, ..options() };
            let (entries, reports) = read_from(folder.path(), &[name], &options).unwrap();
            let expected =
                ["2015-05-17T10:00:01Z 0:1 192.0.2.7", "2015-05-17T10:00:02Z 0:2 192.0.2.7"];
            assert_eq!(entries, expected, "{name}");
            let report = &reports[0];
            assert_eq!((report.compression, report.format), (compression, Some("combined")));
            let length = folder.path().join(name).metadata().unwrap().len();
            assert_eq!((report.bytes, report.lines, report.used), (length, 2, 2));
        }
    }
}

#[test]
fn a_file_cut_short_gives_its_lines_so_far_unless_it_is_strict() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..3000).map(line).collect();
    let packed = gzip(text.as_bytes());
    std::fs::write(folder.path().join("cut"), &packed[..packed.len() / 2]).unwrap();
    let (entries, reports) = read_from(folder.path(), &["cut"], &options()).unwrap();
    assert!(entries.len() > 100 && entries.len() < 3000, "{}", entries.len());
    assert_eq!(reports[0].notes[0], "As gzip, it is cut short: what stands before that is used.");
    assert_eq!(reports[0].bytes, packed.len() as u64 / 2);
    let strict = Options { strict: true, ..options() };
    assert_eq!(read_from(folder.path(), &["cut"], &strict).unwrap_err(), "`cut`: it is cut short");
    std::fs::write(folder.path().join("five"), &packed[..5]).unwrap();
    let five = read_from(folder.path(), &["five"], &options()).unwrap_err();
    assert_eq!(five, "nothing of `five` can be unpacked; as gzip, it is cut short");
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_a_mistake_if_it_is_strict() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let text: String = (0..3000).map(line).collect::<String>().repeat(5);
    for strict in [false, true] {
        std::fs::write(&path, &text).unwrap();
        let file = File { path: path.clone(), name: "log".to_owned(), place: None };
        let options = Options { strict, ..options() };
        let mut shrink = |_, _| {
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_len(300_000).unwrap();
            ControlFlow::Continue(())
        };
        match read(&[file], &options, &mut Kept::default(), &mut shrink) {
            Ok(reports) => {
                assert!(!strict && reports[0].bytes < text.len() as u64, "{}", reports[0].bytes);
                assert!(reports[0].notes[0].starts_with("The file shrank while it was read: "));
            }
            Err(Stop::Problems(problems)) => {
                assert!(strict, "{problems:?}");
                assert!(
                    problems[0].message.starts_with("`log` shrank while it was read: "),
                    "{problems:?}"
                );
            }
            Err(Stop::Interrupted) => panic!("nobody said so"),
        }
    }
}

#[test]
fn of_several_files_those_that_cannot_be_used_are_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    put("good", line(1).as_bytes());
    put("junk", b"one\ntwo\n");
    put("empty", b"");
    put("zip", b"PK\x03\x04");
    put("binary", b"\x7fELF\x02\x01\x01\0\0\0\n\0\0");
    let names = ["junk", "good", "empty", "folder", "zip", "binary", "missing"];
    let (entries, reports) = read_from(folder.path(), &names, &options()).unwrap();
    assert_eq!(entries, ["2015-05-17T10:00:01Z 1:1 192.0.2.7"]);
    let shown: Vec<String> = reports
        .iter()
        .map(|report| format!("{}: {}", report.name, report.unusable.as_deref().unwrap_or("used")))
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
    let strict = Options { strict: true, ..options() };
    let first = read_from(folder.path(), &names[1..], &strict).unwrap_err();
    assert_eq!(first, "`empty` is empty\n  a log has at least one request");
    let none = read_from(folder.path(), &["empty", "missing"], &options()).unwrap_err();
    assert!(
        none.contains("`empty` is empty") && none.contains("looked for FOLDER/missing"),
        "{none}"
    );
}

#[test]
fn a_file_named_twice_is_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log"), line(1)).unwrap();
    let message = |names: &[&str]| {
        let shown = read_from(folder.path(), names, &options()).unwrap_err();
        shown.lines().next().unwrap().to_owned()
    };
    assert_eq!(message(&["log", "log"]), "`log` is named twice");
    assert_eq!(message(&["log", "./log"]), "`log` and `./log` are the same file");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("log", folder.path().join("link")).unwrap();
        assert_eq!(message(&["link", "log"]), "`link` and `log` are the same file");
    }
}

#[test]
fn one_bad_line_in_many_is_counted_with_its_reason_number_and_text() {
    let folder = tempfile::tempdir().unwrap();
    let mut text: String = (0..2000).map(line).collect();
    text.insert_str(line(0).len() * 1234, "\u{7}garbage\n");
    std::fs::write(folder.path().join("log"), &text).unwrap();
    let (entries, reports) = read_from(folder.path(), &["log"], &options()).unwrap();
    let skipped = Skipped {
        reason: "there is no time in brackets".to_owned(),
        lines: 1,
        first: 1235,
        example: "\\x07garbage".to_owned(),
    };
    assert_eq!((entries.len(), &reports[0].skipped), (2000, &vec![skipped]));
    let strict = Options { strict: true, ..options() };
    let message = read_from(folder.path(), &["log"], &strict).unwrap_err();
    assert!(message.starts_with("line 1235 of `log`: there is no time in brackets\n"), "{message}");
}

#[test]
fn a_last_line_that_is_cut_off_counts_if_it_has_its_time() {
    let folder = tempfile::tempdir().unwrap();
    for (cut, used) in [(line(2).len() - 1, 2), (42, 2), (41, 1)] {
        let text = format!("{}{}", line(1), &line(2)[..cut]);
        std::fs::write(folder.path().join("log"), text).unwrap();
        let (entries, reports) = read_from(folder.path(), &["log"], &options()).unwrap();
        assert_eq!((entries.len(), reports[0].lines), (used, 2), "{cut}");
    }
}

#[test]
fn whoever_watches_is_told_of_all_bytes_and_may_stop() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..9000).map(|second| line(second % 3600)).collect();
    let files = ["a", "b"].map(|name| {
        let path = folder.path().join(name);
        std::fs::write(&path, &text).unwrap();
        File { path, name: name.to_owned(), place: None }
    });
    let total = 2 * text.len() as u64;
    let mut told = Vec::new();
    let mut watch = |bytes, all| {
        told.push(bytes);
        assert_eq!(all, Some(total));
        ControlFlow::Continue(())
    };
    read(&files, &options(), &mut Kept::default(), &mut watch).unwrap();
    assert!(told.is_sorted() && told.len() > 4 && *told.last().unwrap() == total, "{told:?}");
    let mut kept = Kept::default();
    let mut stop =
        |bytes, _| if bytes > 300_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let stopped = read(&files, &Options { threads: 2, ..options() }, &mut kept, &mut stop);
    assert!(matches!(stopped, Err(Stop::Interrupted)));
    assert!(!kept.entries.is_empty() && kept.entries.len() < 9000);
}

proptest! {
    #[test]
    fn whatever_is_in_a_file_its_books_balance_and_no_way_of_reading_changes_anything(
        pieces in prop::collection::vec(prop::sample::select(vec![
            &b"192.0.2.7 - - "[..], b"[17/May/2015:10:05:03 +0000]", b"\"GET / HTTP/1.1\" 200 5", b"\n", b"\r\n",
            b"{\"time\":\"2015-05-17T10:05:03Z\"}\n", b"time,ip\n", b"1431857103,a\n", b"#Fields: date time\n",
            b"2015-05-17 10:05:03\n", b"\0", b"\xff", b"\"", b"\xef\xbb\xbf", b"1431857103.5 1 a b/200 1\n",
        ]), 0..30),
        format in prop::sample::select(vec!["auto", "combined", "json", "csv", "w3c", "squid", "elb", "haproxy"]),
        packed in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let text = pieces.concat();
        std::fs::write(folder.path().join("log"), if packed { gzip(&text) } else { text }).unwrap();
        let read = |threads, takes_plain| {
            let kept = Kept { takes_plain, ..Kept::default() };
            let options = Options { threads, format: named(format), ..options() };
            read_into(kept, folder.path(), &["log"], &options).map(|(entries, reports)| {
                (entries, format!("{reports:?}"), reports[0].lines, reports[0].used, reports[0].skipped.clone())
            })
        };
        let one = read(1, false);
        if let Ok((entries, _, lines, used, skipped)) = &one {
            prop_assert_eq!(*used, entries.len() as u64);
            prop_assert_eq!(*lines, used + skipped.iter().map(|skipped| skipped.lines).sum::<u64>());
        }
        for (threads, takes_plain) in [(2, false), (1, true), (2, true)] {
            prop_assert_eq!(&one, &read(threads, takes_plain));
        }
    }
}
