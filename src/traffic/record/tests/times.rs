//! Times of whole records: offsets, order, durations, whole seconds, units.

use super::{TIME, access, table};
use crate::time::{Instant, SECOND};

#[test]
fn different_offsets_of_one_instant_are_one_instant() {
    let line = |time| format!("192.0.2.7 - - [{time}] \"GET / HTTP/1.1\" 200 5\n");
    let file = line("08/Aug/2016:16:49:16 +0800") + &line("08/Aug/2016:08:49:16 +0000");
    let opened = access("spread = \"none\"", &file).unwrap();
    assert_eq!(opened.rows(), ["08:49:16Z 192.0.2.7 `/` 1", "08:49:16Z 192.0.2.7 `/` 1"]);
}

#[test]
fn leap_seconds_and_missing_offsets_are_noted() {
    let file = "h - - [31/Dec/2016:23:59:60 +0000]\nh - - [01/Jan/2017:00:00:00]\n";
    let opened = access("spread = \"none\"", file).unwrap();
    assert_eq!(opened.rows(), ["00:00:00Z h `` 1", "00:00:00Z h `` 1"]);
    let notes = opened.notes();
    assert!(notes.contains("1 stamp without an offset is taken as UTC."), "{notes}");
    assert!(notes.contains("1 leap second (:60) is taken as the second after."), "{notes}");
}

#[test]
fn a_record_out_of_order_is_sorted_and_ties_keep_their_order() {
    let file = "time,client\n0,a\n1400,b\n10,c\n1390,d\n20,e\n1500,f\n10,g\n";
    let opened =
        table(&format!("{TIME}columns.client = \"client\"\ntime-unit = \"ms\""), file).unwrap();
    let clients: Vec<&str> =
        opened.source.merged().map(|a| opened.clients[a.client as usize].name.as_str()).collect();
    assert_eq!(clients, ["a", "c", "g", "e", "d", "b", "f"]);
    assert_eq!(opened.source.range(), Some((Instant(0), Instant(1_500_000_000))));
    assert!(
        opened.notes().contains("4 requests stand out of order, by 1490ms at most"),
        "{}",
        opened.notes()
    );
}

#[test]
fn a_stamp_at_the_end_less_the_duration_is_the_arrival() {
    let line = "192.0.2.7 - - [21/Jun/2021:15:30:45 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"-\"";
    let file = format!("{line} 10.005\n{line} -\n");
    let arrivals = |settings: &str| {
        let opened = access(settings, &file).unwrap();
        let times: Vec<String> = opened.rows().iter().map(|row| row[..12].to_owned()).collect();
        (times, opened.notes())
    };
    let (times, notes) = arrivals("duration = \"s\"");
    assert_eq!(times, ["15:30:34.995", "15:30:45.5Z "]);
    assert!(
        notes.contains("less the durations; 1 request has none, and arrived when stamped."),
        "{notes}"
    );
    let (times, notes) = arrivals("duration = \"s\"\narrival = \"start\"");
    assert_eq!(times, ["15:30:45Z 19", "15:30:45.5Z "]);
    assert!(!notes.contains("less the durations"), "{notes}");
    let file = "time,took\n2021-06-21T15:30:45Z,10005\n";
    let opened =
        table(&format!("{TIME}columns.duration = \"took\"\nduration-unit = \"ms\""), file).unwrap();
    assert_eq!(opened.rows(), ["15:30:34.995Z all `` 1"]);
    assert!(access("arrival = \"end\"", line).err().unwrap().contains("there are no durations"));
}

#[test]
fn durations_taken_off_change_the_order() {
    // The second is done first but arrived last: 3 - 0.5 = 2.5 and 4 - 3 = 1.
    let file = "time,took,client\n3,0.5,late\n4,3,early\n";
    let settings = format!(
        "{TIME}columns.duration = \"took\"\ncolumns.client = \"client\"\ntime-unit = \"s\""
    );
    let opened = table(&settings, file).unwrap();
    assert_eq!(opened.rows(), ["00:00:01Z early `` 1", "00:00:02.5Z late `` 1"]);
}

/// 50 requests a second for 10 s, stamped in whole seconds.
fn smooth() -> String {
    let times = (0..500).map(|i| format!("17/May/2015:10:05:{:02} +0000", i / 50));
    times.map(|time| format!("192.0.2.7 - - [{time}] \"GET / HTTP/1.1\" 200 5\n")).collect()
}

#[test]
fn whole_seconds_are_spread_evenly_unless_said_otherwise() {
    let gaps = |settings: &str| {
        let opened = access(settings, &smooth()).unwrap();
        let mut gaps: Vec<i64> = opened.nanos().windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        gaps.dedup();
        (gaps, opened)
    };
    let (even, opened) = gaps("");
    assert_eq!(even, [20_000_000], "50 a second are 20 ms apart, across seconds too");
    assert!(
        opened.notes().contains("were spread evenly over it (`spread = \"even\"`); another"),
        "{}",
        opened.notes()
    );
    assert!(opened.resolved.contains(r#""spread":"even""#), "{}", opened.resolved);
    let (none, opened) = gaps("spread = \"none\"");
    assert_eq!(none, [0, SECOND as i64]);
    assert!(opened.notes().contains("all fall at its start (`spread = \"none\"`)"));
    let (random, opened) = gaps("spread = \"random\"");
    assert!(random.len() > 400, "random gaps differ");
    assert!(opened.nanos().is_sorted());
    assert_eq!(opened.nanos(), gaps("spread = \"random\"").1.nanos(), "the seed decides");
}

#[test]
fn stamps_finer_than_a_second_are_never_spread() {
    let file = "time\n2023-11-16 18:17:03\n2023-11-16 18:17:03\n2023-11-16 18:17:03.9799600\n";
    let expected = ["18:17:03Z all `` 1", "18:17:03Z all `` 1", "18:17:03.97996Z all `` 1"];
    let opened = table(TIME, file).unwrap();
    assert_eq!(opened.rows(), expected);
    assert_eq!(opened.notes(), "3 stamps without an offset are taken as UTC.");
    assert!(opened.resolved.contains(r#""spread":"none""#));
    let opened = table(&format!("{TIME}spread = \"even\""), file).unwrap();
    assert_eq!(opened.rows(), expected);
    assert!(opened.notes().contains("`spread = \"even\"` has no effect"));
}

#[test]
fn the_unit_of_numbers_is_told_by_their_digits_or_given() {
    let nanos = |unit: &str, value: &str| {
        let opened = table(&format!("{TIME}{unit}"), &format!("time\n{value}\n")).unwrap();
        opened.nanos()[0]
    };
    assert_eq!(nanos("", "1762265258"), 1_762_265_258_000_000_000);
    assert_eq!(nanos("", "1762265258239"), 1_762_265_258_239_000_000);
    assert_eq!(nanos("", "1762265258239001"), 1_762_265_258_239_001_000);
    assert_eq!(nanos("", "1762265258239001002"), 1_762_265_258_239_001_002);
    assert_eq!(nanos("", "1762265258.239"), 1_762_265_258_239_000_000);
    assert_eq!(nanos("", "0"), 0);
    assert_eq!(nanos("time-unit = \"ms\"", "103"), 103_000_000);
    assert_eq!(nanos("time-unit = \"us\"", "-1"), -1_000);
    let opened = table(TIME, "time\n0\n1762265258239\n").unwrap();
    assert_eq!(opened.nanos(), [0, 1_762_265_258_239_000_000]);
    assert!(
        opened.notes().contains("Times are milliseconds, by their digits"),
        "{}",
        opened.notes()
    );
}
