//! Whole files through whole sources, as a scenario opens them.

mod again;
mod books;
mod files;
mod times;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use super::{access_log, csv, log};
use crate::error::{Problems, Source as Text};
use crate::params::{Node, Params};
use crate::seed::Seed;
use crate::time::Instant;
use crate::time::Window;
use crate::traffic::{Arrival, Clients, Context, Input, Kind, Source};
use indexmap::IndexSet;

struct Opened {
    source: Box<dyn Source>,
    input: Input,
    clients: Arc<Clients>,
    endpoints: IndexSet<String>,
    resolved: String,
}

impl Opened {
    /// `time client endpoint cost` of each request, the time without its date.
    fn rows(&self) -> Vec<String> {
        let row = |arrival: Arrival| {
            let time = arrival.at.to_string();
            let client = &self.clients[arrival.client as usize].name;
            let endpoint = &self.endpoints[arrival.endpoint as usize];
            format!("{} {client} `{endpoint}` {}", &time[11..], arrival.cost)
        };
        self.source.merged().map(row).collect()
    }

    fn nanos(&self) -> Vec<i64> {
        self.source.merged().map(|arrival| arrival.at.0).collect()
    }

    fn notes(&self) -> String {
        self.input.notes.join("\n")
    }

    fn skipped(&self) -> Vec<String> {
        let shown = self.input.skipped.iter();
        shown.map(|s| format!("{} x {}, first {}", s.lines, s.reason, s.first)).collect()
    }
}

/// Opens the source that `settings` describe, with `file` as its file.
fn open(kind: &Kind, settings: &str, file: &[u8]) -> Result<Opened, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("record"), file).unwrap();
    open_in(kind, &format!("path = \"record\"\n{settings}"), folder.path())
}

fn open_in(kind: &Kind, settings: &str, folder: &Path) -> Result<Opened, String> {
    let problems = Problems::new();
    let text = Text { name: "s.toml".to_owned(), text: settings.to_owned() };
    let node = Node::parse(Arc::new(text), &problems);
    let (mut clients, mut endpoints, mut inputs) = Default::default();
    let mut params = Params::new(&node, &problems);
    let mut context = context(folder, &mut clients, &mut endpoints, &mut inputs);
    let source = (kind.open)(&mut params, &mut context);
    let resolved = serde_json::Value::Object(params.finish().resolved).to_string();
    problems.into_result().map_err(|error| {
        let shown = error.render(false);
        assert!(source.is_none(), "a source in spite of problems: {shown}");
        shown.replace(&folder.display().to_string(), "FOLDER")
    })?;
    let source = source.expect("neither source nor problem");
    Ok(Opened { source, input: inputs.remove(0), clients, endpoints, resolved })
}

fn context<'a>(
    folder: &'a Path,
    clients: &'a mut Arc<Clients>,
    endpoints: &'a mut IndexSet<String>,
    inputs: &'a mut Vec<Input>,
) -> Context<'a> {
    let window = Window { start: Instant(0), end: Instant(0) };
    Context {
        folder,
        seed: Seed(1),
        position: 0,
        window,
        clients,
        endpoints,
        inputs,
        watch: &|_, _| ControlFlow::Continue(()),
        threads: 1,
        keep_stamps: false,
        interrupted: false,
    }
}

fn access(settings: &str, file: &str) -> Result<Opened, String> {
    open(&access_log::KIND, settings, file.as_bytes())
}

fn table(settings: &str, file: &str) -> Result<Opened, String> {
    open(&csv::KIND, settings, file.as_bytes())
}

const TIME: &str = "columns.time = \"time\"\n";

#[test]
fn kinds_describe_themselves_without_a_file() {
    let kinds = [(&access_log::KIND, "query"), (&csv::KIND, "columns"), (&log::KIND, "format")];
    for (kind, known) in kinds {
        let fields = Params::describe(|params| {
            let (mut clients, mut endpoints, mut inputs) = Default::default();
            let mut context = context(Path::new(""), &mut clients, &mut endpoints, &mut inputs);
            assert!((kind.open)(params, &mut context).is_none());
        });
        for name in ["path", "spread", "arrival", "strict", known] {
            assert!(fields.iter().any(|field| field.name == name), "{name} of {}", kind.name);
        }
    }
}

#[test]
fn a_log_with_everything_in_it() {
    let file = "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET /a?b HTTP/1.1\" 200 5 \"-\" \"-\"\r\n\
        \n\
        ::ffff:192.0.2.7 - - [17/May/2015:18:05:04 +0800] \"\" 400 0\r\n\
        2001:db8:0::1 - - [17/May/2015:10:05:04 +0000] \"\\x16\\x03\" 400 0\n\
        not a line\n\
        2001:db8::1 - - [31/Feb/2015:10:05:04 +0000] \"GET / HTTP/1.1\" 200 5\n\
        host.example - - [17/May/2015:10:05:03 +0000] \"POST /b HTTP/1.1\" 20\n\
        nor this\n\n\n";
    let opened = access("", file).unwrap();
    let rows = opened.rows().join("\n");
    let shown = format!(
        "{rows}\n\n{}\n\n{}\n\n{} lines, {} used\n{}",
        opened.skipped().join("\n"),
        opened.notes(),
        opened.input.lines,
        opened.input.used,
        opened.resolved
    );
    insta::assert_snapshot!(shown);
}

#[test]
fn marks_line_breaks_and_quoted_headings_do_no_harm() {
    let rows = ["18:17:03.5Z x `` 1", "18:17:04Z y `` 1"];
    let (a, b) = ("2023-11-16 18:17:03.5", "2023-11-16 18:17:04");
    let settings = format!("{TIME}columns.client = \"key\"");
    for file in [
        format!("time,key\n{a},x\n{b},y\n"),
        format!("\u{feff}time,key\n{a},x\n{b},y\n"),
        format!("\u{feff}\"time\",\"key\"\r\n{a},x\r\n\"{b}\",\"y\"\r\n"),
        format!("time,key\n{a},x\n{b},y"),
        format!("key , time\nx , {a}\ny, {b}\r\n\r\n\n"),
    ] {
        let opened = table(&settings, &file).unwrap();
        assert_eq!(opened.rows(), rows, "{file:?}");
        assert_eq!((opened.input.lines, opened.input.used), (2, 2));
        assert_eq!(opened.input.bytes, file.len() as u64);
    }
    // A mark anywhere else is part of the text.
    let opened = table(&settings, &format!("time,key\n{a},\u{feff}x\n")).unwrap();
    assert_eq!(opened.clients[0].name, "\u{feff}x");
}

#[test]
fn what_can_not_be_told_is_a_problem_at_its_place() {
    let relative = table(TIME, "time\n0\n103\n159\n").err().unwrap();
    let mixed = table(TIME, "time\n1762265258\n1762265258239\n").err().unwrap();
    let columns = "[columns]\ntime = \"TIME\"\nclient = \"key\"\ncost = [\"In\", \"in\"]\n";
    let missing = table(columns, "time,key,key,in\n").err().unwrap();
    let tail = "delimiter = \"::\"\nspread = \"evn\"\n[columns]\ntime = \"t\"\nclint = \"c\"\n";
    let settings = table(tail, "t\n1\n").err().unwrap();
    insta::assert_snapshot!([relative, mixed, missing, settings].join("\n\n=====\n\n"));
}

#[test]
fn files_that_are_no_records_are_problems_at_their_place() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let files: [(&str, &[u8]); 9] = [
        ("missing", b""),
        ("folder", b""),
        ("empty", b""),
        ("mark", b"\xef\xbb\xbf"),
        ("blank", b"\n \n"),
        ("log.gz", b"\x1f\x8b\x08\x00"),
        ("utf16", b"\xff\xfe1\0"),
        ("binary", b"\x7fELF\x02\x01\x01\0\0\0\n\0\0"),
        ("prose", b"one\ntwo\n[31/Feb/2015:10:05:04 +0000]\n\nfour\n"),
    ];
    let mut shown = Vec::new();
    for (name, bytes) in files {
        if !["missing", "folder"].contains(&name) {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let settings = format!("path = \"{name}\"");
        shown.push(open_in(&access_log::KIND, &settings, folder.path()).err().unwrap());
    }
    for name in ["binary", "blank"] {
        let settings = format!("path = \"{name}\"\n{TIME}");
        shown.push(open_in(&csv::KIND, &settings, folder.path()).err().unwrap());
    }
    shown.push(table(TIME, "time\n").err().unwrap());
    let strict = "192.0.2.7 [17/May/2015:10:05:03 +0000]\n\n";
    assert!(access("strict = true", strict).is_ok(), "blank lines at the end are no lines");
    shown.push(access("strict = true", &format!("{strict}oops\n")).err().unwrap());
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn rows_that_can_not_be_used_are_counted_by_reason() {
    let file = "time,cost,more\n\
        2023-11-16 18:17:03.1,5,10\n\
        2023-11-16 18:17:03.2,5\n\
        yesterday,5,10\n\
        2023-11-16 18:17:03.3,0,0\n\
        2023-11-16 18:17:03.4,-5,10\n\
        2023-11-16 18:17:03.5,,10\n\
        2023-11-16 18:17:03.6,4294967295,1\n\
        2023-11-16 18:17:03.7,\"never closed,1\n\
        2023-11-16 18:17:03.8,7.0,0\n\
        2023-11-16 18:17:03.9,1,2,3\n\
        \"two\nlines\",1,\"1\"\n\
        2023-11-16 18:17:04.0,1,1,\"\n\
        2023-11-16 18:17:04.1,1,1\n\
        2023-02-31 00:00:00,1,1\n";
    let opened = table(&format!("{TIME}columns.cost = [\"cost\", \"more\"]"), file).unwrap();
    let rows = ["18:17:03.1Z all `` 15", "18:17:03.8Z all `` 7", "18:17:04.1Z all `` 2"];
    assert_eq!(opened.rows(), rows);
    assert_eq!(
        opened.skipped(),
        [
            "2 x it has not as many fields as the heading, first 3",
            "2 x the time is in no known form, first 4",
            "2 x a quote is never closed, first 9",
            "1 x it costs 0, and a cost is 1 at least, first 5",
            "1 x `cost` is not a whole number, first 6",
            "1 x it has no `cost`, which says what it costs, first 7",
            "1 x it costs more than 4294967295, first 8",
            // Line 12 is a record of two lines.
            "1 x there is no such date or time of day, first 16",
        ]
    );
    assert_eq!((opened.input.lines, opened.input.used), (14, 3));
}

#[test]
fn a_client_is_all_that_is_known_of_it() {
    let file = "t,who,key,ip,org,plan,path\n\
        1,ann,k1,192.0.2.1,acme,gold,/a\n\
        2,ann,k1,192.0.2.1,acme,free,/b\n\
        3,,k2,nowhere,,,\n\
        4,,,[2001:db8::1],,,/a\n\
        5,,,,,,\n\
        6,ann,k1,192.0.2.1,acme,gold,/a\n";
    let settings = "time-unit = \"s\"\n[columns]\ntime = \"t\"\nclient = \"who\"\napi-key = \"key\"\n\
        address = \"ip\"\ntenant = \"org\"\ntier = \"plan\"\nendpoint = \"path\"\n";
    let opened = table(settings, file).unwrap();
    let clients: Vec<u32> = opened.source.merged().map(|arrival| arrival.client).collect();
    assert_eq!(clients, [0, 1, 2, 3, 4, 0]);
    let names: Vec<&str> = opened.clients.iter().map(|client| client.name.as_str()).collect();
    assert_eq!(names, ["ann", "ann", "k2", "2001:db8::1", "-"]);
    assert_eq!(opened.clients[1].tier(), Some("free"));
    assert_eq!(opened.clients[2].address, None);
    assert_eq!(opened.clients[3].address, Some("2001:db8::1".parse().unwrap()));
    assert!(opened.notes().contains("1 client is known by a name that is no IP address"));
    assert_eq!(opened.endpoints.iter().collect::<Vec<_>>(), ["/a", "/b", ""]);
}

#[test]
fn lines_longer_than_a_block_are_requests_in_a_log_and_left_out_of_a_table() {
    let long = "x".repeat(3 << 20);
    let line = "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 5";
    let opened = access("", &format!("{line} \"{long}\"\n{line}\n")).unwrap();
    assert_eq!((opened.input.lines, opened.input.used), (2, 2));
    let opened = table(TIME, &format!("time,x\n0,{long}\n0,y\n")).unwrap();
    assert_eq!(opened.skipped(), ["1 x it is longer than 1 MiB, first 2"]);
    assert_eq!(opened.input.used, 1);
}

#[test]
fn names_that_are_not_text_are_shown_escaped_and_stay_apart() {
    let file = b"\x1b[2J - - [17/May/2015:10:05:03 +0000] \"GET /\xff HTTP/1.1\"\n\
        \xfe - - [17/May/2015:10:05:03 +0000] \"GET /\xc3\xa9 HTTP/1.1\"\n";
    let opened = open(&access_log::KIND, "spread = \"none\"", file).unwrap();
    assert_eq!(opened.rows(), ["10:05:03Z \\x1b[2J `/\\xff` 1", "10:05:03Z \\xfe `/é` 1"]);
}
