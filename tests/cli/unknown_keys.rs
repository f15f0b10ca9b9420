//! A misspelt key in every table that a scenario may have, each found at its place, with the key that
//! was meant.

use ratesim::algorithm::ALGORITHMS;
use ratesim::traffic::SOURCES;

use crate::support::Bench;

const LOG: &str = "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 5\n";
const CSV: &str = "at,who\n2026-01-01T12:00:00Z,a\n";

/// A small right table of a kind of traffic, without `[[traffic]]`.
fn source(kind: &str) -> &'static str {
    match kind {
        "burst" => "kind = \"burst\"\nrequests = 3\n",
        "steady" => "kind = \"steady\"\nrate = \"1/s\"\n",
        "poisson" => "kind = \"poisson\"\nrate = \"1/s\"\n",
        "on-off" => "kind = \"on-off\"\nrate = \"1/s\"\non = \"1s\"\noff = \"1s\"\n",
        "ramp" => "kind = \"ramp\"\nstart-rate = \"1/s\"\nend-rate = \"2/s\"\n",
        "wave" => "kind = \"wave\"\nrate = \"1/s\"\nperiod = \"5s\"\n",
        "log" => "kind = \"log\"\npath = \"a.log\"\n",
        "access-log" => "kind = \"access-log\"\npath = \"a.log\"\n",
        "csv" => "kind = \"csv\"\npath = \"a.csv\"\ncolumns.time = \"at\"\n",
        other => panic!("write a small table for {other}"),
    }
}

/// A scenario with one line in one of its tables; `traffic` and `algorithm` as given.
fn scenario(traffic: &str, algorithm: &str, table: &str, line: &str) -> String {
    let tables = [
        ("top", "name = \"it\"\nstart = \"2026-01-01T12:00:00Z\"\nduration = \"10s\"\n".to_owned()),
        ("limit", "[limit]\nrequests = 5\nper = \"1s\"\n".to_owned()),
        ("tiers", "[limit.tiers.pro]\nrequests = 9\n".to_owned()),
        ("traffic", format!("[[traffic]]\n{traffic}")),
        ("algorithm", format!("[[algorithm]]\nkind = \"{algorithm}\"\n")),
        ("clients", "[clients]\nprofile = \"grpc\"\n".to_owned()),
        ("budget", "[clients.budget]\ncapacity = 20\n".to_owned()),
        ("case", "[[case]]\nname = \"one\"\n".to_owned()),
        ("expect", "[[expect]]\nmetric = \"accepted\"\nat-least = 0\n".to_owned()),
    ];
    let with_line = |(name, text): (&str, String)| match name == table {
        true => format!("{text}{line}\n"),
        false => text,
    };
    tables.map(with_line).concat()
}

fn bench(text: &str) -> Bench {
    Bench::with("it.toml", text).file("a.log", LOG).file("a.csv", CSV)
}

/// A scenario with a line in one of its tables that has an unknown key: the message must be alone,
/// stand on the key, and suggest what was meant.
#[track_caller]
fn misspelt(traffic: &str, algorithm: &str, table: &str, wrong: &str, [key, meant]: [&str; 2]) {
    let text = scenario(traffic, algorithm, table, wrong);
    let message = bench(&text).refuses(&["run", "it.toml"]);
    let line = text.lines().position(|line| line == wrong).unwrap() + 1;
    let column = wrong.find(key).unwrap() + 1;
    assert!(message.contains(&format!("unknown key `{key}`\n")), "{message}");
    assert!(message.contains(&format!("--> it.toml:{line}:{column}\n")), "{message}");
    assert!(message.contains(&format!("did you mean `{meant}`?")), "{meant}: {message}");
    assert_eq!(message.matches("error: ").count(), 1, "{message}");
}

#[test]
fn the_tables_of_a_scenario() {
    let (burst, gcra) = (source("burst"), "gcra");
    misspelt(burst, gcra, "top", "abuot = \"x\"", ["abuot", "about"]);
    misspelt(burst, gcra, "limit", "burts = 5", ["burts", "burst"]);
    misspelt(burst, gcra, "tiers", "request = 5", ["request", "requests"]);
    misspelt(burst, gcra, "clients", "atempts = 3", ["atempts", "attempts"]);
    misspelt(burst, gcra, "budget", "per-fail = 1", ["per-fail", "per-failure"]);
    misspelt(burst, gcra, "case", "sets = {}", ["sets", "set"]);
    misspelt(burst, gcra, "expect", "at_mots = 5", ["at_mots", "at-most"]);
}

#[test]
fn every_kind_of_traffic() {
    for kind in SOURCES {
        let (wrong, names) = match kind.recorded {
            true => ("spreed = \"none\"", ["spreed", "spread"]),
            false => ("endpoit = \"/a\"", ["endpoit", "endpoint"]),
        };
        misspelt(source(kind.name), "gcra", "traffic", wrong, names);
    }
}

#[test]
fn tables_inside_traffic() {
    misspelt(source("csv"), "gcra", "traffic", "columns.clint = \"who\"", ["clint", "client"]);
    let cost = "cost = { maxi = 3, kind = \"uniform\", min = 1, max = 3 }";
    misspelt(source("burst"), "gcra", "traffic", cost, ["maxi", "max"]);
}

#[test]
fn every_kind_of_algorithm() {
    for kind in ALGORITHMS {
        let names = ["count-rejeted", "count-rejected"];
        misspelt(source("burst"), kind.name, "algorithm", "count-rejeted = true", names);
    }
}

#[test]
fn an_option_of_another_algorithm() {
    let text = scenario(source("burst"), "gcra", "algorithm", "anchor = \"epoch\"");
    let message = bench(&text).refuses(&["run", "it.toml"]);
    assert!(message.starts_with("error: unknown key `anchor`"), "{message}");
}

#[test]
fn the_scenarios_are_right_without_the_misspelt_key() {
    for kind in SOURCES {
        for algorithm in ALGORITHMS {
            let text = scenario(source(kind.name), algorithm.name, "", "");
            bench(&text).prints(&["check", "it.toml", "--quiet"]);
        }
    }
}
