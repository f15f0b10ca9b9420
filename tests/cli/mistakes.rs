//! Scenarios that are wrong: each mistake with its place, its cause, what would be right, exit code 2,
//! and nothing written.

use crate::support::{BOUNDARY, Bench};

/// A scenario of which the tests spoil one part each.
const RIGHT: &str = r#"name = "it"
start = "12:00:00"
duration = "3m"
seed = 1

[[limit]]
name = "minute"
requests = 100
per = "60s"

[[traffic]]
kind = "steady"
rate = "10/s"

[[algorithm]]
kind = "token-bucket"

[[algorithm]]
kind = "fixed-window"

[[case]]
name = "one"

[[case]]
name = "two"
set.limit.0.requests = 50
"#;

/// What `run` and `check` say of [`RIGHT`] with one part replaced, under the replacement as a title.
#[track_caller]
fn spoilt(parts: &[(&str, &str)]) -> String {
    let message = |(right, wrong): &(&str, &str)| {
        assert!(RIGHT.contains(right), "{right}");
        let bench = Bench::with("it.toml", RIGHT.replacen(right, wrong, 1));
        let message = bench.refuses(&["run", "it.toml"]);
        assert_eq!(bench.refuses(&["check", "it.toml"]), message, "{wrong}");
        let [right, wrong] = [right, wrong].map(|text| text.trim().replace('\n', " ⏎ "));
        format!("### `{right}` becomes `{wrong}`\n{message}")
    };
    parts.iter().map(message).collect::<Vec<_>>().join("\n")
}

/// Leaves out what the operating system says of a file that cannot be read: each has its own words.
fn whatever_the_cause() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"(cannot read [^:]*): .*", "$1: [cause]");
    settings
}

#[test]
fn the_scenario_that_is_spoilt_is_right() {
    let bench = Bench::with("it.toml", RIGHT);
    bench.prints(&["run", "it.toml", "--no-charts"]);
}

#[test]
fn limits() {
    const TABLE: &str = "[[limit]]\nname = \"minute\"\nrequests = 100\nper = \"60s\"\n";
    const PER: &str = "per = \"60s\"";
    const REQUESTS: &str = "requests = 100";
    insta::assert_snapshot!(spoilt(&[
        (TABLE, ""),
        (REQUESTS, ""),
        (PER, ""),
        (PER, "per = \"10/60\""),
        (PER, "per = 60"),
        (PER, "per = \"60\""),
        (PER, "per = \"-60s\""),
        (PER, "per = \"0s\""),
        (PER, "per = \"perr\""),
        (PER, "per = \"1 month\""),
        (PER, "per = \"1mo\""),
        (PER, "per = \"1M\""),
        (PER, "per = \"1s30m\""),
        (PER, "per = \"3651d\""),
        (PER, "per = \"300000w\""),
        (PER, "per = 12:00:00"),
        (REQUESTS, "requests = 4294967297"),
        (REQUESTS, "requests = -1"),
        (REQUESTS, "requests = 1.5"),
        (REQUESTS, "requests = \"100\""),
        (REQUESTS, "requests = 99999999999999999999999999999999999999999999"),
        (REQUESTS, "requests = 100\nburst = 4294967297"),
        (REQUESTS, "requests = 100\nkey = \"clients\""),
        (REQUESTS, "requests = 100\nkey = []"),
        (REQUESTS, "requests = 100\nkey = [\"client\", \"client\"]"),
        (REQUESTS, "requests = 100\nipv4-prefix = 33"),
        (REQUESTS, "requests = 100\ntiers.pro.per = \"0s\""),
        ("[[traffic]]", "[[limit]]\nname = \"minute\"\nrequests = 1\nper = \"1s\"\n[[traffic]]"),
        ("seed = 1", "combine = \"all\""),
    ]));
}

#[test]
fn limits_in_one_text() {
    for (limit, reason) in [
        ("100/60", "`60` has no unit"),
        ("100", "`100` has no `/`"),
        ("100/0s", "a rate per no time at all"),
        ("100/perr", "`perr` is not a unit of time"),
        ("100/1 month", "` month` is not a unit of time"),
        ("100/-60s", "a span cannot be negative"),
        ("4294967297/s", "more than 2^32 per span"),
        ("/s", "is not a whole number"),
        ("100/4000d", "more than ten years"),
    ] {
        let text = format!("name = \"it\"\nduration = \"1s\"\nlimit = \"{limit}\"\n[[traffic]]\n")
            + "kind = \"burst\"\nrequests = 1\n";
        let message = Bench::with("it.toml", text).refuses(&["run", "it.toml"]);
        assert!(message.contains(reason), "{limit}: {message}");
        assert!(message.contains(" --> it.toml:3:9\n"), "{limit}: {message}");
        assert!(message.contains("help: "), "{limit}: {message}");
        assert_eq!(message.matches("error: ").count(), 1, "{limit}: {message}");
    }
}

#[test]
fn the_run_itself() {
    const START: &str = "start = \"12:00:00\"";
    const DURATION: &str = "duration = \"3m\"";
    insta::assert_snapshot!(spoilt(&[
        ("name = \"it\"", ""),
        ("name = \"it\"", "name = 3"),
        (DURATION, ""),
        (DURATION, "duration = \"0s\""),
        (DURATION, "duration = \"-3m\""),
        (DURATION, "duration = 180"),
        (DURATION, "duration = \"200000d\""),
        (START, "start = \"noon\""),
        (START, "start = \"25:00:00\""),
        (START, "start = \"2200-01-02T00:00:00Z\""),
        (START, "start = \"1699-12-31T00:00:00Z\""),
        (START, "start = \"2300-01-01T00:00:00Z\""),
        ("seed = 1", "seed = -1"),
        ("seed = 1", "seed = 18446744073709551616"),
        ("seed = 1", "max-requests = 100"),
        ("seed = 1", "max-memory-mib = 0"),
    ]));
}

#[test]
fn traffic() {
    const TABLE: &str = "[[traffic]]\nkind = \"steady\"\nrate = \"10/s\"\n";
    const RATE: &str = "rate = \"10/s\"";
    let messages = spoilt(&[
        (TABLE, ""),
        ("kind = \"steady\"", ""),
        ("kind = \"steady\"", "kind = \"stedy\""),
        ("kind = \"steady\"", "kind = \"quux\""),
        (RATE, ""),
        (RATE, "rate = \"10/60\""),
        (RATE, "rate = 10"),
        (RATE, "rate = \"10 per s\""),
        (RATE, "rate = \"10/s\"\nclients = 0"),
        (RATE, "rate = \"10/s\"\ncost = 0"),
        (RATE, "rate = \"10/s\"\ncost = { kind = \"uniform\", min = 5, max = 2 }"),
        (RATE, "rate = \"10/s\"\ncost = { kind = \"normal\" }"),
        (RATE, "rate = \"10/s\"\nexponent = 2"),
        (RATE, "rate = \"10/s\"\naddress = \"not an address\""),
        ("kind = \"steady\"", "kind = \"burst\"\nrequests = 5\nat = \"-1s\""),
        ("kind = \"steady\"", "kind = \"on-off\"\non = \"0s\"\noff = \"1s\""),
        ("kind = \"steady\"", "kind = \"wave\"\namplitude = 1.5"),
        ("kind = \"steady\"", "kind = \"ramp\"\nstart-rate = \"1/s\""),
        (TABLE, "[traffic]\nkind = \"csv\"\npath = \"absent.csv\"\ncolumns.time = \"at\"\n"),
        (TABLE, "[traffic]\nkind = \"access-log\"\npath = \"absent.log\"\n"),
        (TABLE, "[traffic]\nkind = \"csv\"\npath = \"it.toml\"\n"),
        (TABLE, "[traffic]\nkind = \"access-log\"\npath = \".\"\n"),
    ]);
    whatever_the_cause().bind(|| insta::assert_snapshot!(messages));
}

#[test]
fn algorithms() {
    const KIND: &str = "kind = \"token-bucket\"";
    insta::assert_snapshot!(spoilt(&[
        (KIND, ""),
        (KIND, "kind = \"token-bukket\""),
        (KIND, "kind = \"quux\""),
        (KIND, "kind = 3"),
        (KIND, "kind = \"fixed-window\""),
        (KIND, "kind = \"token-bucket\"\nname = \"fixed-window\""),
        (KIND, "kind = \"token-bucket\"\ntick = \"0s\""),
        (KIND, "kind = \"token-bucket\"\ninitial = 101"),
        (KIND, "kind = \"token-bucket\"\nrefill = \"sometimes\""),
        (KIND, "kind = \"token-bucket\"\nbackwards = \"strict\""),
        (KIND, "kind = \"token-bucket\"\ncount-rejected = \"yes\""),
        (KIND, "kind = \"fixed-window\"\nname = \"x\"\nanchor = \"midnight\""),
        (KIND, "kind = \"sliding-window-log\"\nedge = \"open\""),
        (KIND, "kind = \"sliding-window-counter\"\nround = \"ceil\""),
        (KIND, "kind = \"leaky-bucket\"\nfirst = \"never\""),
    ]));
}

#[test]
fn cases() {
    const SET: &str = "set.limit.0.requests = 50";
    insta::assert_snapshot!(spoilt(&[
        ("name = \"two\"", "name = \"one\""),
        ("name = \"two\"\n", ""),
        (SET, "set.limit.0.request = 50"),
        (SET, "set.limit.0.requests = \"fifty\""),
        (SET, "set.limit.1.requests = 50"),
        (SET, "set.traffic.0.rate = \"10/60\""),
        (SET, "set.algorithm.0.kind = \"token-bukket\""),
        (SET, "set.algorithm.0.name = \"fixed-window\""),
        (SET, "set.name = \"other\""),
        (SET, "set.expect = 3"),
        (SET, "set.duration = \"0s\""),
        (SET, "set.duration.x = 3"),
        (SET, "set = 3"),
    ]));
}

#[test]
fn files_that_are_no_scenarios() {
    let bench = Bench::with("empty.toml", "")
        .file("blank.toml", "\n  \n# only a comment\n")
        .file("binary.toml", [0x7f, b'E', b'L', b'F', 0xff, 0xfe, 0x00, 0x01])
        .file("zeros.toml", [0_u8; 64])
        .file("folder.toml/inside.txt", "")
        .file("readme.toml", "This is no TOML at all.\n");
    let files = ["empty", "blank", "binary", "zeros", "folder", "readme", "absent"];
    let messages = files.map(|name| {
        let file = format!("{name}.toml");
        format!("### {file}\n{}", bench.refuses(&["run", &file]))
    });
    whatever_the_cause().bind(|| insta::assert_snapshot!(messages.join("\n")));
}

#[test]
fn every_error_of_syntax_is_reported() {
    let text = "name = \"it\nduration = 3m\n[limit\nrequests = = 5\nper = \"60s\"\n";
    let message = Bench::with("it.toml", text).refuses(&["run", "it.toml"]);
    insta::assert_snapshot!(message);
    assert!(message.matches("error: not TOML").count() >= 3, "{message}");
}

#[test]
fn all_problems_of_a_file_are_reported_together_in_order() {
    let text = r#"name = "It"
durration = "3m"

[limit]
requests = -5
per = "10/60"

[[traffic]]
kind = "stedy"

[[traffic]]
kind = "burst"
requests = 3
at = "-1s"

[[algorithm]]
kind = "token-bukket"

[[expect]]
metric = "accepted"
"#;
    let message = Bench::with("it.toml", text).refuses(&["run", "it.toml"]);
    insta::assert_snapshot!(message);
    let places = message.lines().filter_map(|line| line.trim().strip_prefix("--> it.toml:"));
    let lines: Vec<u32> =
        places.map(|place| place.split(':').next().unwrap().parse().unwrap()).collect();
    assert!(lines.is_sorted(), "{lines:?}");
}

#[test]
fn problems_that_only_a_later_step_finds_are_reported_together_too() {
    let text = BOUNDARY
        .replace("kind = \"burst\"\nat = \"60s\"", "kind = \"burts\"\nat = \"60s\"")
        .replace("algorithm = \"fixed-window\"", "algorithm = \"fixed\"")
        .replace("over_limit", "over-limit")
        + "\n[[algorithm]]\nkind = \"gcar\"\n";
    let message = Bench::with("it.toml", text).refuses(&["run", "it.toml"]);
    for part in ["`burts`", "`fixed`", "`over-limit`", "`gcar`"] {
        assert!(message.contains(part), "{part}: {message}");
    }
}
