//! Several files as one record, formats told by themselves, order, zones.

use super::{Opened, log, open, open_in};
use crate::time::SECOND;

fn line(host: &str, second: u32) -> String {
    format!("{host} - - [17/May/2015:10:05:{second:02} +0000] \"GET / HTTP/1.1\" 200 5\n")
}

/// Opens some files, given with their names, as one record.
fn together(settings: &str, files: &[(&str, &[u8])]) -> Result<Opened, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    open_in(&log::KIND, &format!("path = {names:?}\n{settings}"), folder.path())
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_rotated_set_is_one_record_in_the_order_of_time() {
    let files = [
        ("access.log", (line("e", 5) + &line("f", 6)).into_bytes()),
        ("access.log.1", (line("c", 3) + &line("d", 5)).into_bytes()),
        ("access.log.2.gz", gzip(&(line("a", 1) + &line("b", 2)))),
    ];
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, &text[..])).collect();
    let opened = together("spread = \"none\"", &files).unwrap();
    // Of one instant, in the order of the first times of the files.
    let expected = |clients: [&str; 6], seconds: [u32; 6]| {
        let rows = clients.iter().zip(seconds);
        rows.map(|(client, second)| format!("10:05:0{second}Z {client} `` 1")).collect::<Vec<_>>()
    };
    let in_order = expected(["a", "b", "c", "d", "e", "f"], [1, 2, 3, 5, 5, 6]);
    assert_eq!(opened.rows(), in_order);
    let turned: Vec<(&str, &[u8])> = files.iter().rev().copied().collect();
    assert_eq!(together("spread = \"none\"", &turned).unwrap().rows(), in_order);
    // Files that keep their order are read as they are named, and what that does is told.
    let kept = together("spread = \"none\"\norder = \"file\"", &files).unwrap();
    assert_eq!(kept.rows(), expected(["e", "f", "c", "d", "a", "b"], [5, 6, 6, 6, 6, 6]));
    let told = "4 requests are earlier than the last of a file named before, by 5s at most";
    assert!(kept.input.notes.iter().any(|note| note.starts_with(told)), "{:?}", kept.input.notes);
    assert_eq!(opened.input.compression, None);
    assert_eq!(opened.input.notes.len(), 3, "{:?}", opened.input.notes);
}

#[test]
fn every_format_is_told_by_itself_and_may_be_overridden() {
    let time = "10:05:03Z";
    for (file, expected) in [
        (line("192.0.2.7", 3), "combined"),
        ("{\"time\":\"2015-05-17T10:05:03Z\",\"ip\":\"192.0.2.7\"}\n".to_owned(), "json"),
        ("ts,ip\n1431857103,192.0.2.7\n".to_owned(), "csv"),
        ("#Fields: date time c-ip\n2015-05-17 10:05:03 192.0.2.7\n".to_owned(), "w3c"),
        ("1431857103.000 0 192.0.2.7 TCP_MISS/200 5 GET /\n".to_owned(), "squid"),
    ] {
        let opened = open(&log::KIND, "", file.as_bytes()).unwrap();
        assert_eq!(opened.rows(), [format!("{time} 192.0.2.7 `` 1")], "{expected}");
        assert_eq!(opened.input.format.as_deref(), Some(expected));
        let named = open(&log::KIND, &format!("format = \"{expected}\""), file.as_bytes()).unwrap();
        assert_eq!((named.rows(), named.input.notes), (opened.rows(), opened.input.notes));
    }
    let file = b"at 2015-05-17T10:05:03Z by 192.0.2.7 for 7\n";
    let pattern =
        "pattern = 'at (?<time>\\S+) by (?<address>\\S+) for (?<units>\\d+)'\ncost = \"units\"";
    let opened = open(&log::KIND, pattern, file).unwrap();
    assert_eq!(
        (opened.rows(), opened.input.format.as_deref()),
        (vec![format!("{time} 192.0.2.7 `` 7")], Some("regex"))
    );
    let shown = [
        open(&log::KIND, "", file).err().unwrap(),
        open(&log::KIND, "format = \"combind\"", file).err().unwrap(),
        open(&log::KIND, "format = \"regex\"", file).err().unwrap(),
        open(&log::KIND, "pattern = \"(?<at>.)\"", file).err().unwrap(),
        open(&log::KIND, "[columns]\nwhen = \"ts\"", b"ts\n1431857103\n").err().unwrap(),
        open(&log::KIND, "columns.time = \"at\"", b"ts\n1431857103\n").err().unwrap(),
        open(&log::KIND, "tz = \"Berlin\"\norder = \"none\"", file).err().unwrap(),
    ];
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn requests_out_of_order_are_sorted_kept_or_a_mistake() {
    // 12:48:50, then 12:39:12: a clock that was set back by 578 s.
    let at = |time: &str| format!("h{time} - - [08/Aug/2016:{time} +0000] \"\" 400 0\n");
    let file = at("12:48:50") + &at("12:39:12") + &at("12:48:51");
    let times = |settings: &str| {
        let opened = open(&log::KIND, settings, file.as_bytes())?;
        let times: Vec<String> = opened.rows().iter().map(|row| row[..9].to_owned()).collect();
        Ok::<_, String>((times.join(" "), opened.input.notes[1].clone()))
    };
    let (sorted, note) = times("spread = \"none\"").unwrap();
    assert_eq!(sorted, "12:39:12Z 12:48:50Z 12:48:51Z");
    assert!(
        note.starts_with("1 request stands out of order, by 578s at most; requests were sorted"),
        "{note}"
    );
    let (kept, note) = times("order = \"file\"\nspread = \"none\"").unwrap();
    assert_eq!(kept, "12:48:50Z 12:48:50Z 12:48:51Z");
    assert!(
        note.ends_with("they keep their place and count as of the time of the one before."),
        "{note}"
    );
    let mistake = times("order = \"error\"").unwrap_err();
    assert!(
        mistake.contains("line 2 of `record`: the time 2016-08-08T12:39:12Z is earlier"),
        "{mistake}"
    );
}

#[test]
fn durations_of_fine_stamps_are_taken_off_at_once_and_of_seconds_after_spreading() {
    let row = |time: &str, ms: u32, ip: &str| format!("{time},{ms},{ip}\n");
    // 2.5 s - 2 s, and 3 s - 1 s.
    let file = format!(
        "ts,duration_ms,ip\n{}{}",
        row("1431857102.5", 2000, "a"),
        row("1431857103", 1000, "b")
    );
    let opened = open(&log::KIND, "", file.as_bytes()).unwrap();
    assert_eq!(opened.rows(), ["10:05:00.5Z a `` 1", "10:05:02Z b `` 1"]);
    // Two of one second at .0 and .5; the second took a second more: 2.5 - 3.5 = 9:59:59 + …
    let file = format!(
        "ts,duration_ms,ip\n{}{}",
        row("1431857103", 500, "a"),
        row("1431857103", 1500, "b")
    );
    let opened = open(&log::KIND, "", file.as_bytes()).unwrap();
    assert_eq!(opened.rows(), ["10:05:02Z b `` 1", "10:05:02.5Z a `` 1"]);
    assert!(opened.resolved.contains(r#""arrival":"end""#), "{}", opened.resolved);
    let start = open(&log::KIND, "arrival = \"start\"", file.as_bytes()).unwrap();
    assert_eq!(start.rows(), ["10:05:03Z a `` 1", "10:05:03.5Z b `` 1"]);
}

#[test]
fn times_without_a_zone_are_of_the_one_that_is_given() {
    let file = b"ts,ip\n2015-05-17 12:05:03,a\n2015-05-17T10:05:04Z,b\n";
    let opened = open(&log::KIND, "tz = \"Europe/Berlin\"\nspread = \"none\"", file).unwrap();
    assert_eq!(opened.rows(), ["10:05:03Z a `` 1", "10:05:04Z b `` 1"]);
    assert!(
        opened.notes().contains("1 stamp without an offset is times of Europe/Berlin."),
        "{}",
        opened.notes()
    );
}

#[test]
fn a_day_of_a_busy_log_is_sorted_whatever_the_order_of_its_files() {
    // 3 files, interleaved by second; the last comes first.
    let file = |first: u32| -> Vec<u8> {
        (0..3000)
            .map(|at| line(&format!("h{}", at % 7), (first + 3 * at) % 60))
            .collect::<String>()
            .into_bytes()
    };
    let files = [("c", file(2)), ("a", file(0)), ("b", file(1))];
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, &text[..])).collect();
    let opened = together("", &files).unwrap();
    let times = opened.nanos();
    assert!(times.is_sorted() && times.len() == 9000);
    assert_eq!(
        (times[0] / SECOND as i64, times[8999] / SECOND as i64),
        (1_431_857_100, 1_431_857_159)
    );
}
