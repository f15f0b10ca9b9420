//! Lines of JSON as several servers write them, each by its format.

use super::*;
use crate::log::entry::Field;
use crate::log::format::{Column, named};
use proptest::prelude::*;

fn layout() -> Layout {
    let mut wanted: Vec<Field> = Field::names().map(Field::of).collect();
    wanted.push(Field::of("header:x-api-key"));
    Layout { wanted, ..Layout::default() }
}

/// The time, the span taken, and what the fields are.
fn parsed(format: &str, line: &str, layout: &Layout) -> Result<String, Fault> {
    let mut parser = (named(format).unwrap().open)(layout).unwrap();
    let Parsed::Entry(entry) = parser.parse(line.as_bytes())? else { panic!("no heading") };
    let took = entry.took.map_or("none".to_owned(), |took| took.to_string());
    let values = layout.wanted.iter().enumerate().filter_map(|(position, field)| {
        let value = entry.get(position)?.escape_ascii().to_string();
        Some(format!("{} = {value}", field.name()))
    });
    let lines = [format!("{} took {took}", entry.stamp.at)].into_iter().chain(values);
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn every_server_has_its_names_for_the_parts_of_a_request() {
    let shown = ["json", "nginx-json", "caddy", "traefik", "envoy"].map(|name| {
        let format = named(name).unwrap();
        format!("{name}\n{}", parsed(name, format.example, &layout()).unwrap())
    });
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn a_traefik_line_without_its_start_came_its_duration_before_it_was_written() {
    // 10:05:03 less 1.5 s.
    let line = r#"{"Duration":1500000000,"RequestMethod":"GET","time":"2015-05-17T10:05:03Z"}"#;
    let found = parsed("traefik", line, &Layout::default()).unwrap();
    assert_eq!(found, "2015-05-17T10:05:01.5Z took 1.5s");
}

#[test]
fn what_a_server_says_beside_its_requests_is_none() {
    for (format, line) in [
        ("caddy", r#"{"level":"info","ts":1431857103.5,"logger":"tls","msg":"cleaning"}"#),
        ("traefik", r#"{"level":"info","time":"2015-05-17T10:05:03Z","message":"started"}"#),
    ] {
        let reason = "it is no request, but something else that the server had to say";
        assert_eq!(parsed(format, line, &layout()), Err(reason.into()), "{format}");
    }
    // What a request has may have been cut off.
    let cut = r#"{"level":"info","ts":1431857103.5,"request":{"rem"#;
    let found = parsed("caddy", cut, &Layout::default()).unwrap();
    assert_eq!(found, "2015-05-17T10:05:03.5Z took none");
}

#[test]
fn the_names_of_the_user_come_before_those_of_the_format() {
    let column = |name: &str| Column { name: name.to_owned(), place: None };
    let mapped = Layout {
        wanted: vec![Field::Address, Field::of("tenant.id")],
        time: Some(column("at")),
        duration: Some(column("took")),
        duration_unit: Some(Unit::Microseconds),
        columns: vec![(Field::Address, column("who.ip"))],
        ..Layout::default()
    };
    let line =
        r#"{"time":1,"at":1431857103,"who":{"ip":"192.0.2.7"},"tenant":{"id":7},"took":1500}"#;
    let found = parsed("json", line, &mapped).unwrap();
    assert_eq!(found, "2015-05-17T10:05:03Z took 1.5ms\naddress = 192.0.2.7\ntenant.id = 7");
}

#[test]
fn a_line_needs_a_time_and_nothing_else() {
    let found = |line: &str| parsed("json", line, &Layout::default());
    let time = Ok("2015-05-17T10:05:03Z took none".to_owned());
    assert_eq!(found(r#"{"time":"2015-05-17T10:05:03Z"}"#), time);
    assert_eq!(found(r#" {"time":"2015-05-17T10:05:03Z","cut":"sh"#), time);
    assert_eq!(found(r#"{"at_all":1}"#), Err("it has no time".into()));
    assert_eq!(found(r#"{"a":[1,"#), Err("it is cut short, or not JSON, before its time".into()));
    assert_eq!(found("plain"), Err("it is no object of JSON".into()));
    let Err(Fault::Stop(problems)) = found(r#"{"time":103}"#) else { panic!("103 of what?") };
    assert_eq!(problems[0].message, "the unit of the time `103` cannot be told");
}

proptest! {
    #[test]
    fn no_line_makes_it_panic(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", "\"", "\\", ":", ",", "\"time\"", "\"ts\":1.5", "1431857103", "null", "\"request\":{",
        ]), 0..30),
    ) {
        for format in ["json", "nginx-json", "caddy", "traefik", "envoy"] {
            let _ = parsed(format, &pieces.concat(), &layout());
        }
    }
}
