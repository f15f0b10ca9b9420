//! Recorded traffic from small files: times, orders and units that readers of logs got wrong, with
//! their right values.

use crate::support::{Bench, Sheet};

/// Runs the sliding window log over one file with every decision. `settings` follow `[[traffic]]`.
#[track_caller]
fn replayed(file: &str, content: impl AsRef<[u8]>, settings: &str) -> Bench {
    let text = format!(
        "name = \"it\"\nlimit = \"3/s\"\n[[traffic]]\npath = \"{file}\"\n{settings}\n\
         [[algorithm]]\nkind = \"sliding-window-log\"\n"
    );
    let bench = Bench::with("it.toml", text).file(file, content);
    bench.prints(&["run", "it.toml", "--no-charts", "--quiet", "--decisions"]);
    bench
}

/// Endpoint or client, and the time since the start, of each decision.
fn times(bench: &Bench, column: &str) -> Vec<String> {
    let sheet: Sheet = bench.sheet("output/it/decisions.csv");
    sheet.rows.iter().map(|row| format!("{} {}", row[column], row["t_s"])).collect()
}

fn start(bench: &Bench) -> String {
    bench.record("it")["cases"][0]["start"].as_str().unwrap().to_owned()
}

fn notes(bench: &Bench) -> String {
    bench.record("it")["cases"][0]["inputs"][0]["notes"].to_string()
}

#[test]
fn two_offsets_of_one_instant_are_one_instant() {
    let log = "192.0.2.1 - - [08/Aug/2016:16:49:16 +0800] \"GET /a HTTP/1.1\" 200 1\n\
               192.0.2.1 - - [08/Aug/2016:08:49:16 +0000] \"GET /b HTTP/1.1\" 200 1\n";
    let bench = replayed("a.log", log, "kind = \"access-log\"\nspread = \"none\"");
    assert_eq!(start(&bench), "2016-08-08T08:49:16Z");
    assert_eq!(times(&bench, "endpoint"), ["/a 0", "/b 0"]);
}

#[test]
fn a_file_out_of_order_is_sorted_and_said_to_be() {
    // The sum of the steps forward would be 4.26 s; the span is 1.5 s.
    let csv = "at,who\n0,a\n1400,b\n10,c\n1390,d\n20,e\n1500,f\n";
    let settings =
        "kind = \"csv\"\ntime-unit = \"ms\"\ncolumns = { time = \"at\", client = \"who\" }";
    let bench = replayed("a.csv", csv, settings);
    let expected = ["a 0", "c 0.01", "e 0.02", "d 1.39", "b 1.4", "f 1.5"];
    assert_eq!(times(&bench, "client"), expected);
    assert!(notes(&bench).contains("3 requests stand out of order, by 1390ms at most"));
    let case = &bench.record("it")["cases"][0];
    assert_eq!(case["end"], "1970-01-01T00:00:01.500000001Z");
}

#[test]
fn requests_of_one_instant_keep_their_order() {
    let csv = "at,who\n5,z\n3,b\n5,a\n3,y\n";
    let settings =
        "kind = \"csv\"\ntime-unit = \"ms\"\ncolumns = { time = \"at\", client = \"who\" }";
    let bench = replayed("a.csv", csv, settings);
    assert_eq!(times(&bench, "client"), ["b 0", "y 0", "z 0.002", "a 0.002"]);
}

#[test]
fn a_request_arrived_before_it_was_done() {
    // Stamped at its end, 15:30:45, after 10.005 s: it came at 15:30:34.995, before the fast one that
    // stands after it.
    let log = "192.0.2.1 - - [04/Oct/2022:15:30:45 +0000] \"GET /slow HTTP/1.1\" 200 1 \"-\" \"-\" 10.005\n\
               192.0.2.1 - - [04/Oct/2022:15:30:36 +0000] \"GET /fast HTTP/1.1\" 200 1 \"-\" \"-\" 0.010\n";
    let settings = "kind = \"access-log\"\nspread = \"none\"\nduration = \"s\"";
    let bench = replayed("nginx.log", log, settings);
    assert_eq!(start(&bench), "2022-10-04T15:30:34.995Z");
    assert_eq!(times(&bench, "endpoint"), ["/slow 0", "/fast 0.995"]);
    assert!(notes(&bench).contains("Arrivals are the stamps less the durations."));
    // Apache stamps arrivals.
    let bench = replayed("apache.log", log, &format!("{settings}\narrival = \"start\""));
    assert_eq!(start(&bench), "2022-10-04T15:30:36Z");
    assert_eq!(times(&bench, "endpoint"), ["/fast 0", "/slow 9"]);
}

#[test]
fn stamps_of_whole_seconds_are_no_bursts() {
    // 50 a second, smooth, for 10 s, stamped in whole seconds, against 50 a second with a burst of 10.
    // Taken literally, 10 of each second pass; spread over their seconds, all do.
    let line = |second: u32| {
        format!("192.0.2.1 - - [04/Oct/2022:04:34:{second:02} +0000] \"GET / HTTP/1.1\" 200 1\n")
    };
    let log: String = (0..10).flat_map(|second| (0..50).map(move |_| line(second))).collect();
    let text = r#"
name = "stamps"
[limit]
requests = 50
per = "1s"
burst = 10
[[traffic]]
kind = "access-log"
path = "smooth.log"
[[algorithm]]
kind = "token-bucket"
[[case]]
name = "literal"
set.traffic.0.spread = "none"
[[case]]
name = "even"
set.traffic.0.spread = "even"
[[case]]
name = "left out"
"#;
    let bench = Bench::with("it.toml", text).file("smooth.log", log);
    let printed = bench.prints(&["run", "it.toml", "--no-charts"]);
    let summary = bench.sheet("output/stamps/summary.csv");
    for (case, accepted) in [("literal", "100"), ("even", "500"), ("left out", "500")] {
        assert_eq!(summary.cell(&[("case", case)], "accepted"), accepted, "{case}");
        assert_eq!(summary.cell(&[("case", case)], "attempts"), "500", "{case}");
    }
    assert!(printed.contains("spread"), "the run says which was used: {printed}");
}

#[test]
fn a_byte_order_mark_quotes_and_a_missing_last_line_end_are_no_matter() {
    let csv = "\u{feff}\"time\",key\r\n2022-10-04T04:34:49Z,k1\r\n2022-10-04T04:34:50Z,k2";
    let settings = "kind = \"csv\"\ncolumns = { time = \"time\", client = \"key\" }";
    let bench = replayed("a.csv", csv, settings);
    assert_eq!(times(&bench, "client"), ["k1 0", "k2 1"]);
}

#[test]
fn the_unit_of_a_time_is_told_by_its_digits_and_said() {
    for (time, unit, shown) in [
        ("1762265258", "seconds", "2025-11-04T14:07:38Z"),
        ("1762265258239", "milliseconds", "2025-11-04T14:07:38.239Z"),
        ("1762265258239123", "microseconds", "2025-11-04T14:07:38.239123Z"),
        ("1762265258239123456", "nanoseconds", "2025-11-04T14:07:38.239123456Z"),
    ] {
        let settings = "kind = \"csv\"\ncolumns.time = \"t\"";
        let bench = replayed("a.csv", format!("t\n{time}\n"), settings);
        assert_eq!(start(&bench), shown);
        assert!(notes(&bench).contains(&format!("Times are {unit}, by their digits")), "{unit}");
        // Zero is a time like any other.
        let bench = replayed("a.csv", format!("t\n0\n{time}\n"), settings);
        assert_eq!(start(&bench), "1970-01-01T00:00:00Z");
        assert_eq!(bench.record("it")["cases"][0]["inputs"][0]["used"], 2);
    }
}

#[test]
fn a_unit_that_cannot_be_told_is_asked_for() {
    let text = "name = \"it\"\nlimit = \"3/s\"\n[[traffic]]\nkind = \"csv\"\npath = \"a.csv\"\n\
                columns.time = \"t\"\n";
    let refused =
        |csv: &str| Bench::with("it.toml", text).file("a.csv", csv).refuses(&["run", "it.toml"]);
    let messages = [refused("t\n0\n103\n159\n"), refused("t\n1762265258\n1762265258239\n")];
    insta::assert_snapshot!(messages.join("\n"));
    let settings = "kind = \"csv\"\ncolumns.time = \"t\"\ntime-unit = \"ms\"";
    let bench = replayed("a.csv", "t\n0\n103\n159\n", settings);
    assert_eq!(times(&bench, "client"), ["all 0", "all 0.103", "all 0.159"]);
}

#[test]
fn lines_without_a_request_are_counted_with_their_reason_and_first_line() {
    let log = "192.0.2.1 - - [04/Oct/2022:04:34:49 +0200] \"\" 400 0 \"-\" \"-\"\n\
               no line of a log\n\
               192.0.2.1 - - [04/Oct/2022:04:34:50 +0200] \"\\x03\\x00\\x00/*\\xE0\" 400 150 \"-\" \"-\"\n\
               192.0.2.2 - - [31/Feb/2022:04:34:50 +0200] \"GET / HTTP/1.1\" 200 1\n";
    let bench = replayed("a.log", log, "kind = \"access-log\"");
    let input = &bench.record("it")["cases"][0]["inputs"][0];
    assert_eq!((&input["lines"], &input["used"]), (&4.into(), &2.into()));
    let skipped = input["skipped"].as_array().unwrap();
    let lines = skipped.iter().map(|one| one["first"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(lines, [2, 4], "{input}");
    let text = "name = \"it\"\nlimit = \"3/s\"\n[[traffic]]\nkind = \"access-log\"\npath = \"a.log\"\n\
                strict = true\n";
    let message = Bench::with("it.toml", text).file("a.log", log).refuses(&["run", "it.toml"]);
    assert!(message.contains("line 2 of `a.log`"), "{message}");
}

#[test]
fn a_rotated_and_packed_set_is_one_log_and_what_was_read_is_told() {
    let line = |host: &str, second: u32| {
        format!("{host} - - [04/Oct/2022:04:34:{second:02} +0200] \"GET / HTTP/1.1\" 200 1\n")
    };
    let mut packed = Vec::new();
    for text in [line("192.0.2.1", 1), line("192.0.2.2", 2)] {
        let mut encoder = flate2::write::GzEncoder::new(packed, flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        packed = encoder.finish().unwrap();
    }
    let text = "name = \"it\"\nlimit = \"3/s\"\n[[traffic]]\nkind = \"log\"\n\
                path = [\"a.log\", \"a.log.1\", \"a.log.2\"]\n\
                [[algorithm]]\nkind = \"sliding-window-log\"\n";
    let bench = Bench::with("it.toml", text)
        .file("a.log", line("192.0.2.3", 3) + "\u{1b}junk\n" + &line("192.0.2.4", 4))
        .file("a.log.1", packed)
        .file("a.log.2", "");
    bench.prints(&["run", "it.toml", "--no-charts", "--quiet", "--decisions"]);
    assert_eq!(
        times(&bench, "client"),
        ["192.0.2.1 0", "192.0.2.2 1", "192.0.2.3 2", "192.0.2.4 3"]
    );
    let inputs = &bench.record("it")["cases"][0]["inputs"];
    insta::assert_snapshot!(format!("{inputs:#}"));
}
