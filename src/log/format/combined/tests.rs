//! Lines in the combined format, from files of real servers as far as their shapes go.

use super::*;
use crate::log::stamp::{NO_SUCH_TIME, NOT_A_TIME};
use proptest::prelude::*;

const ALL: [Field; 9] = [
    Field::Address,
    Field::User,
    Field::Method,
    Field::Target,
    Field::Status,
    Field::Forwarded,
    Field::Host,
    Field::Referer,
    Field::Agent,
];

/// The time, the values of some fields, and the span taken.
fn parsed(line: &[u8], wanted: &[Field], unit: Option<Unit>) -> Result<String, Fault> {
    let layout = Layout { wanted: wanted.to_vec(), duration_unit: unit, ..Layout::default() };
    let mut parser = open(&layout).unwrap();
    let Parsed::Entry(entry) = parser.parse(line)? else { panic!("a log has no heading") };
    let mut shown = entry.stamp.at.to_string();
    for position in 0..wanted.len() {
        let value = entry.get(position).map_or("none".to_owned(), |v| v.escape_ascii().to_string());
        shown += &format!(" `{value}`");
    }
    Ok(shown + &entry.took.map_or(String::new(), |took| format!(" {took}")))
}

#[test]
fn every_line_with_an_address_and_a_time_is_a_request() {
    let time = "[04/Oct/2022:04:34:49 +0200]";
    for (tail, target) in [
        (r#" "GET /a/b?c=d HTTP/1.1" 200 12 "-" "agent""#, "/a/b?c=d"),
        (r#" "GET /a b HTTP/1.1" 200 12"#, "/a b"),
        (r#" "GET /a" 200 12"#, "/a"),
        (r#" "GET /q\"uoted HTTP/1.1" 200 12"#, r#"/q\\\"uoted"#),
        (r#" "OPTIONS * HTTP/1.1" 200 -"#, "*"),
        (r#" "GET /a HTTP/1.1" 200 12 "-" "Alba 10\" Build/LMY47V""#, "/a"),
        (r#" "GET /a HTTP/1.1" 200 12 "-" "raw "user" agent"#, "/a"),
        (r#" "GET /a HTTP/1.1" 200 1"#, "/a"),
        (r#" "GET /cut/short"#, "none"),
        (r#" "GET /cut HT"#, "/cut"),
        (r#" "" 400 0 "-" "-""#, "none"),
        (r#" "-" 408 -"#, "none"),
        (r#" "\x03\x00\x00/*\xE0\x00" 400 150 "-" "-""#, "none"),
        (r#" "\x16\x03\x01\x02 /a HTTP/1.1" 400 150"#, "none"),
        (r#" "quit" 400 150"#, "none"),
        (r#" "ends in a backslash\"#, "in"),
        ("", "none"),
    ] {
        let line = format!("192.0.2.7 - - {time}{tail}");
        let found = parsed(line.as_bytes(), &[Field::Address, Field::Target], None);
        let expected = format!("2022-10-04T02:34:49Z `192.0.2.7` `{target}`");
        assert_eq!(found, Ok(expected), "{line}");
    }
    let raw =
        [&b"\x00\x00192.0.2.7 - - "[..], time.as_bytes(), b" \"\x16\x03\xff\x00\" 400"].concat();
    let address = Ok("2022-10-04T02:34:49Z `192.0.2.7`".to_owned());
    assert_eq!(parsed(&raw, &[Field::Address], None), address);
    let short = format!("192.0.2.7 {time}");
    assert_eq!(parsed(short.as_bytes(), &[Field::Address], None), address);
}

#[test]
fn all_fields_of_a_line_are_found() {
    let line = r#"www.example.com:443 1.2.3.4, 5.6.7.8 - ann [17/May/2015:10:05:03 +0000] "POST /a?b HTTP/2.0" 429 17 "http://a/" "curl/8.5" 0.012"#;
    let found = parsed(line.as_bytes(), &ALL, Some(Unit::Seconds)).unwrap();
    assert_eq!(
        found,
        "2015-05-17T10:05:03Z `1.2.3.4` `ann` `POST` `/a?b` `429` `1.2.3.4, 5.6.7.8` \
         `www.example.com` `http://a/` `curl/8.5` 12ms"
    );
    // The `main` format of nginx has the list of proxies last.
    let line =
        r#"10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5 "-" "-" "1.2.3.4""#;
    let found = parsed(line.as_bytes(), &[Field::Forwarded, Field::of("extra:1")], None).unwrap();
    assert_eq!(found, "2015-05-17T10:05:03Z `1.2.3.4` `1.2.3.4`");
}

#[test]
fn the_address_is_found_whatever_else_is_wanted() {
    for (front, address) in [
        ("192.0.2.7 - -", "192.0.2.7"),
        ("1.2.3.4, 5.6.7.8 - -", "1.2.3.4"),
        ("example.com:80 192.0.2.7 - -", "192.0.2.7"),
        ("2001:db8::1 - -", "2001:db8::1"),
        ("crawl-7.example.com - -", "crawl-7.example.com"),
        ("- - -", "none"),
    ] {
        let line = format!("{front} [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 5");
        let alone = parsed(line.as_bytes(), &[Field::Address], None).unwrap();
        assert_eq!(alone, format!("2015-05-17T10:05:03Z `{address}`"));
        let more = parsed(line.as_bytes(), &[Field::Address, Field::Status], None).unwrap();
        assert_eq!(more, format!("{alone} `200`"));
    }
}

#[test]
fn the_last_field_is_the_duration_if_it_is_none_of_the_format() {
    let seconds = |tail: &str, unit| {
        let line = format!("192.0.2.7 - - [17/May/2015:10:05:03 +0000] {tail}");
        let found = parsed(line.as_bytes(), &[], Some(unit)).unwrap();
        found.strip_prefix("2015-05-17T10:05:03Z").unwrap().trim().to_owned()
    };
    let own = "\"GET / HTTP/1.1\" 200 512";
    for (tail, unit, took) in [
        (" \"-\" \"a\" 10.005", Unit::Seconds, "10005ms"),
        (" \"-\" \"a\" \"0.250\"", Unit::Seconds, "250ms"),
        (" \"-\" \"a\" 1500", Unit::Microseconds, "1.5ms"),
        (" \"-\" \"a\" -", Unit::Seconds, ""),
        (" \"-\" \"a\" -3", Unit::Seconds, ""),
        (" \"-\" \"a\"", Unit::Seconds, ""),
        ("", Unit::Seconds, ""),
        (" 3", Unit::Seconds, "3s"),
        (" - 3", Unit::Seconds, "3s"),
        (" \"-\" \"7\"", Unit::Seconds, ""),
        (" \"-\" \"raw \"user\" agent\" 3", Unit::Seconds, "3s"),
    ] {
        assert_eq!(seconds(&format!("{own}{tail}"), unit), took, "{tail}");
    }
    for tail in ["\"GET / HTTP/1.1\" 200", "\"GET /3", ""] {
        assert_eq!(seconds(tail, Unit::Seconds), "", "{tail}");
    }
}

#[test]
fn a_line_without_address_or_time_is_left_out_for_a_reason() {
    for (line, reason) in [
        (" - - [17/May/2015:10:05:03 +0000]", "there is no address at the start"),
        ("192.0.2.7 - - \"GET / HTTP/1.1\" 200 5", "there is no time in brackets"),
        ("192.0.2.7 - - [17/May/2015:10:05", NOT_A_TIME),
        ("192.0.2.7 - - [31/Feb/2015:10:05:03 +0000] \"\"", NO_SUCH_TIME),
        ("garbage", "there is no time in brackets"),
    ] {
        let found = parsed(line.as_bytes(), &[Field::Address], None);
        assert_eq!(found, Err(reason.into()), "{line}");
    }
}

#[test]
fn lines_of_the_format_are_told_from_others() {
    let fitting = |text: &str| fits(&text.lines().map(str::as_bytes).collect::<Vec<_>>());
    assert_eq!(fitting(FORMAT.example), 1);
    assert_eq!(fitting("h - - [17/May/2015:10:05:03] \"\"\nnothing\n"), 1);
    assert_eq!(fitting("{\"a\": \"x [17/May/2015:10:05:03 +0000]\"}\n"), 0);
}

proptest! {
    #[test]
    fn no_line_makes_it_panic(pieces in prop::collection::vec(prop::sample::select(vec![
        &b"192.0.2.7"[..], b" - - ", b"[", b"17/May/2015:10:05:03 +0000", b"]", b" \"", b"GET /a",
        b"\\", b"\"", b" 200 12", b",", b"\0", b"\xff", b"[17/May/2015:10:05:03 +0000] ", b"0.5",
    ]), 0..14)) {
        let line = pieces.concat();
        let _ = parsed(&line, &ALL, Some(Unit::Seconds));
        let _ = parsed(&line, &[Field::Address], None);
    }
}
