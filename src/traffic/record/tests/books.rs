//! What holds of whatever is read: lines are used or left out, and requests keep their places.

use proptest::prelude::*;

use super::{Opened, TIME, access, open};
use crate::time::SECOND;
use crate::traffic::Arrival;
use crate::traffic::record::{access_log, csv};

/// Files made of pieces that reach deep into the parsers.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&'static [u8]> = vec![
        b"192.0.2.7 - - ",
        b"::1 - - ",
        b"[17/May/2015:10:05:03 +0000]",
        b"[17/May/2015:10:05:02 +0000]",
        b"[31/Feb/2015:10:05:03 +0000]",
        b" \"GET /a HTTP/1.1\"",
        b"\"",
        b"\\",
        b",",
        b"\n",
        b"\r\n",
        b"time,client\n",
        b"1762265258",
        b"1762265258239",
        b"0",
        b"2023-11-16 18:17:03.97",
        b"\xff",
        b"\0",
        b" ",
        b"\xef\xbb\xbf",
    ];
    let any = prop::collection::vec(any::<u8>(), 0..4);
    let piece = prop_oneof![8 => prop::sample::select(pieces).prop_map(<[u8]>::to_vec), 1 => any];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// What must hold of whatever was read.
fn check(opened: &Opened, file: &[u8]) -> Result<(), TestCaseError> {
    let merged: Vec<Arrival> = opened.source.merged().collect();
    let left_out: u64 = opened.input.skipped.iter().map(|skipped| skipped.lines).sum();
    prop_assert_eq!(opened.input.used, merged.len() as u64);
    prop_assert_eq!(opened.input.lines, opened.input.used + left_out);
    prop_assert_eq!(opened.input.bytes, file.len() as u64);
    prop_assert!(merged.is_sorted_by_key(|arrival| arrival.at));
    prop_assert!(merged.iter().all(|arrival| arrival.cost > 0));
    let mut regrouped: Vec<Arrival> = merged.clone();
    regrouped.sort_by_key(|arrival| arrival.client);
    let streams = (0..opened.source.streams()).flat_map(|index| opened.source.stream(index));
    prop_assert_eq!(streams.collect::<Vec<_>>(), regrouped);
    Ok(())
}

proptest! {
    #[test]
    fn whatever_is_in_a_log_its_books_balance(file in pieces()) {
        if let Ok(opened) = open(&access_log::KIND, "", &file) {
            check(&opened, &file)?;
            // Every line that is not blank is used or left out, and so are blank ones between.
            let text = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file);
            let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
            let last = lines.iter().rposition(|line| !line.iter().all(u8::is_ascii_whitespace));
            prop_assert_eq!(opened.input.lines, last.map_or(0, |last| last as u64 + 1));
        }
    }

    #[test]
    fn whatever_is_in_a_table_its_books_balance(file in pieces()) {
        let file = [b"time,client\n", &file[..]].concat();
        let settings = format!("{TIME}columns.client = \"client\"\ntime-unit = \"s\"");
        if let Ok(opened) = open(&csv::KIND, &settings, &file) {
            check(&opened, &file)?;
        }
    }

    #[test]
    fn a_spread_log_keeps_every_request_in_its_second_and_all_in_order(
        seconds in prop::collection::vec(0_u8..6, 1..40),
        spread in prop::sample::select(vec!["none", "even", "random"]),
    ) {
        let line = |(i, s): (usize, &u8)| format!("h{i} - - [17/May/2015:10:05:0{s} +0000]\n");
        let file: String = seconds.iter().enumerate().map(line).collect();
        let opened = access(&format!("spread = \"{spread}\""), &file).unwrap();
        let mut expected: Vec<(i64, u32)> = (0..).zip(&seconds).map(|(i, &s)| (i64::from(s), i)).collect();
        expected.sort_unstable();
        let midnight = 1_431_857_100;
        let found: Vec<(i64, u32)> = opened.source.merged()
            .map(|arrival| (arrival.at.0.div_euclid(SECOND as i64) - midnight, arrival.client))
            .collect();
        prop_assert_eq!(found, expected);
    }
}
