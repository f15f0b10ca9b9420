//! What a `[backend]` table may not say.

use super::*;

const BASE: &str = "slots = 8\nservice-time = \"20ms\"\n";

#[test]
fn what_cannot_be_meant_is_a_problem_at_its_place() {
    let brown_out = |text: &str| format!("{BASE}[[brown-out]]\n{text}\n");
    let lasting = |text: &str| brown_out(&format!("at = \"1s\"\nfor = \"1s\"\n{text}"));
    for (text, message, place) in [
        (String::new(), "`slots` is missing", "t.toml:1:1"),
        (String::new(), "`service-time` is missing", "t.toml:1:1"),
        ("slots = 0\nservice-time = \"1s\"".to_owned(), "0 is out of range", "t.toml:1:9"),
        ("slots = 1\nservice-time = \"0s\"".to_owned(), "takes no time at all", "t.toml:2:16"),
        (format!("{BASE}queue = 4294967297"), "4294967297 is out of range", "t.toml:3:9"),
        (format!("{BASE}abandoned = \"drop\""), "`drop` is not known", "t.toml:3:13"),
        (brown_out("for = \"1s\"\nslots = 0"), "`at` is missing", "t.toml:3:1"),
        (brown_out("at = \"1s\"\nslots = 0"), "`for` is missing", "t.toml:3:1"),
        (brown_out("at = \"1s\"\nfor = \"0s\"\nslots = 0"), "of no time at all", "t.toml:5:7"),
        (lasting(""), "a brown-out that changes nothing", "t.toml:3:1"),
        (lasting("slots = 8\nslow-down = 1\nloses = false"), "changes nothing", "t.toml:3:1"),
        (lasting("slots = 9"), "9 slots are more than the 8 that", "t.toml:6:9"),
        (lasting("slow-down = 0"), "0 is out of range", "t.toml:6:13"),
        (lasting("loses = 1"), "expected true or false", "t.toml:6:9"),
        (lasting("slots = 1\nslow = 2"), "unknown key `slow`", "t.toml:7:1"),
    ] {
        let shown = read(&text).unwrap_err();
        assert!(shown.contains(message) && shown.contains(place), "{text}:\n{shown}");
        let expected = if text.is_empty() { 2 } else { 1 };
        assert_eq!(shown.matches("error").count(), expected, "{text}:\n{shown}");
    }
}

#[test]
fn brown_outs_that_overlap_are_named_both_in_whatever_order_they_are_written() {
    let text = format!(
        "{BASE}[[brown-out]]\nat = \"5s\"\nfor = \"1s\"\nslots = 0\n\
         [[brown-out]]\nat = \"1s\"\nfor = \"10s\"\nslots = 1\n\
         [[brown-out]]\nat = \"10s\"\nfor = \"1s\"\nslots = 2\n"
    );
    let shown = read(&text).unwrap_err();
    assert_eq!(shown.matches("begins before the brown-out of t.toml:8:6 is over").count(), 2);
    assert!(shown.contains("t.toml:4:6") && shown.contains("t.toml:12:6"), "{shown}");
    assert!(shown.contains("that lasts from 1s to 11s"), "{shown}");
}

#[test]
fn a_brown_out_begins_within_the_run() {
    let text = format!("{BASE}[[brown-out]]\nat = \"60s\"\nfor = \"1h\"\nslots = 0\n");
    let spec = read(&text).unwrap();
    let problems = |secs| {
        let problems = Problems::new();
        spec.check_within(Span::from_secs(secs), &problems);
        problems.into_result().map_err(|error| error.render(false))
    };
    assert_eq!(problems(61), Ok(()));
    let shown = problems(60).unwrap_err();
    assert!(
        shown.contains("begins when the run is over") && shown.contains("t.toml:4:6"),
        "{shown}"
    );
}

#[test]
fn what_was_left_out_is_resolved() {
    let text = format!("{BASE}[[brown-out]]\nat = \"60s\"\nfor = \"1h\"\nloses = true\n");
    let problems = Problems::new();
    let source = Source { name: "t.toml".to_owned(), text };
    let node = Node::parse(Arc::new(source), &problems);
    let mut params = Params::new(&node, &problems);
    BackendSpec::read(&mut params);
    let resolved = serde_json::Value::Object(params.finish().resolved).to_string();
    insta::assert_snapshot!(resolved);
}
