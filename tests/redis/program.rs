//! `ratesim verify` and `ratesim list scripts` from outside, and that a wrong script is caught.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

use ratesim::redis::{Address, Comparison, Decision, Options, SCRIPTS, verify};
use ratesim::run::Silent;
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::Test;
use crate::support::{
    After, SCENARIO, Server, database, file, keys, prepared, prints, refused, send_signal,
};

pub fn tests() -> Vec<Test> {
    vec![
        crate::test!(Server, program::the_boundary_is_the_same),
        crate::test!(Server, program::json_has_all_numbers),
        crate::test!(Server, program::limits_together_and_clients_that_retry_are_the_same),
        crate::test!(Server, program::several_nodes_are_the_same),
        crate::test!(Server, program::no_more_attempts_than_asked_for),
        crate::test!(Server, program::a_wrong_script_is_caught_with_its_history),
        crate::test!(Program, program::a_difference_is_told_though_the_clean_up_fails),
        crate::test!(Server, program::an_interrupt_of_the_program_leaves_no_keys),
        crate::test!(Program, program::a_second_interrupt_says_what_may_be_left),
        crate::test!(Nothing, program::a_wrong_url_is_refused_without_its_password),
        crate::test!(Nothing, program::scripts_are_listed_and_printed),
    ]
}

pub fn the_boundary_is_the_same() {
    let url = database(4);
    let shown = prints(0, &["verify", "scenarios/boundary.toml", "--redis", &url]);
    assert!(shown.ends_with("all 1,200 decisions are the same, waits included\n"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    for script in SCRIPTS {
        let row = shown.lines().find(|line| line.starts_with(script.name)).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        // Its 200 decisions, about one client.
        assert_eq!((cells[1], cells[3]), ("200", "1"), "{shown}");
    }
    assert_eq!(keys(&url), 0);
}

pub fn json_has_all_numbers() {
    let url = database(5);
    let arguments =
        ["verify", "scenarios/boundary.toml", "--redis", &url, "--json", "--only", "gcra"];
    let document: Json = serde_json::from_str(&prints(0, &arguments)).unwrap();
    assert_eq!(document["same"], true);
    assert_eq!(document["difference"], Json::Null);
    let compared = &document["compared"][0];
    assert_eq!((&compared["decisions"], &compared["keys"]), (&200.into(), &1.into()));
    assert_eq!((&compared["algorithm"], &compared["clock"]), (&"gcra".into(), &"1us".into()));
    assert!(compared["decisions_per_s"].as_f64().unwrap() > 0.0);
    // A string of some 30 digits and its name.
    assert!((50.0..500.0).contains(&compared["server_bytes_per_key"].as_f64().unwrap()));
    assert!(compared["model_bytes_per_key"].as_f64().unwrap() > 0.0);
}

/// Three limits at once, one of them with a tier, costs above one, and clients that come again.
const TOGETHER: &str = r#"name = "together"
duration = "60s"
algorithm = [
    { kind = "fixed-window" }, { kind = "sliding-window-log" }, { kind = "sliding-window-counter" },
    { kind = "token-bucket", tick = "10ms" }, { kind = "leaky-bucket" }, { kind = "gcra" },
]
clients = { retries = "exponential", base = "300ms", attempts = 4 }

[[limit]]
name = "mine"
requests = 7
per = "3s"
tiers.pro.requests = 20

[[limit]]
name = "ours"
requests = 50
per = "10s"
key = "everything"

[[limit]]
name = "calls"
requests = 30
per = "7s"
counts = "requests"
key = "everything"

[[traffic]]
kind = "poisson"
rate = "20/s"
clients = 8
cost = { kind = "uniform", min = 1, max = 4 }

[[traffic]]
kind = "poisson"
rate = "10/s"
clients = 3
tier = "pro"

[[case]]
name = "all"
[[case]]
name = "in order"
set.combine = "sequential"
[[case]]
name = "each"
set.combine = "independent"
"#;

pub fn limits_together_and_clients_that_retry_are_the_same() {
    let url = database(6);
    let (_folder, path) = file(TOGETHER);
    let shown = prints(0, &["verify", path.to_str().unwrap(), "--redis", &url]);
    assert!(shown.contains("decisions are the same, waits included"), "{shown}");
    assert_eq!(keys(&url), 0);
}

/// Nodes whose clocks are seconds apart and step back, with states of their own, shares, or a store that is so slow
/// that nodes give up on some of its answers.
const FLEET: &str = r#"name = "fleet"
duration = "60s"
clients = { retries = "fixed", delay = "400ms", attempts = 3 }

[[limit]]
requests = 7
per = "3s"

[[limit]]
requests = 50
per = "10s"
key = "everything"

[[traffic]]
kind = "poisson"
rate = "20/s"
clients = 8
cost = { kind = "uniform", min = 1, max = 3 }

[nodes]
count = 3
offsets = ["0s", "1500ms", "-4s"]
drifts-ppm = [0, 50000, -20000]

[[nodes.step]]
at = "30s"
by = "-2s"

[[case]]
name = "own"
set.nodes.placement = "local"
[[case]]
name = "shares"
set.nodes.placement = "split"
[[case]]
name = "shared"
set.nodes.placement = "shared"
set.store = { round-trip = { kind = "exponential", mean = "40ms" }, timeout = "60ms" }
[[case]]
name = "race"
set.nodes.placement = "shared"
set.store = { atomicity = "read-modify-write" }
"#;

pub fn several_nodes_are_the_same() {
    let url = database(11);
    let (_folder, path) = file(FLEET);
    let shown = prints(0, &["verify", path.to_str().unwrap(), "--redis", &url]);
    assert!(
        shown.contains(
            "- not compared, since with `store.atomicity` other than \"script\" no one script\n  decides: race\n"
        ),
        "{shown}"
    );
    assert!(shown.contains("decisions are the same, waits included"), "{shown}");
    // Of the first case: 8 clients and everything at 3 nodes.
    assert!(shown.lines().any(|line| line.split_whitespace().any(|cell| cell == "27")), "{shown}");
    assert_eq!(keys(&url), 0);
}

pub fn no_more_attempts_than_asked_for() {
    let url = database(8);
    let arguments = [
        "verify",
        "scenarios/boundary.toml",
        "--redis",
        &url,
        "--limit-attempts",
        "150",
        "--quiet",
    ];
    assert_eq!(prints(0, &arguments), "");
    let shown = prints(0, &arguments[..6]);
    assert!(shown.ends_with("all 900 decisions are the same, waits included\n"), "{shown}");
    assert_eq!(keys(&url), 0);
}

pub fn a_wrong_script_is_caught_with_its_history() {
    let url = database(9);
    let text = "name = \"t\"\nstart = \"12:00:00\"\nduration = \"9s\"\nlimit = \"3/1s\"\n\
                [[traffic]]\nkind = \"steady\"\nrate = \"1/s\"\n\
                [[traffic]]\nkind = \"burst\"\nat = \"3s\"\nrequests = 9\nclients = 3\n";
    let prepared = prepared(text);
    let comparison = Comparison::of(&prepared).unwrap();
    let right = |name: &str| SCRIPTS.iter().find(|script| script.name == name).unwrap().text;
    // Each is wrong in one place.
    for (name, is, becomes) in [
        ("fixed-window", "count + cost > limit", "count + cost >= limit"),
        ("sliding-window-log", "total - left + cost > limit", "total - left > limit"),
        ("sliding-window-counter", "ends - rest - now", "ends - rest - now + 1"),
        ("token-bucket", "deficit = deficit + cost * token", "deficit = deficit + token / 2"),
        ("leaky-bucket", "queues and ends - now", "queues and ends - at + 1"),
        ("gcra", "after(at, 0, burst)", "after(at, 0, burst - 1)"),
    ] {
        assert_eq!(right(name).matches(is).count(), 1, "{name}");
        let instead = vec![(name.to_owned(), right(name).replace(is, becomes))];
        let options = Options { instead, ..Options::default() };
        let address = Address::parse(&url).unwrap();
        let verified = verify(&comparison, &address, &options, &Silent::default()).unwrap();
        let difference = verified.difference.unwrap_or_else(|| panic!("{name} passes"));
        assert_eq!(verified.compared.last().unwrap().algorithm, name);
        assert_ne!(difference.server.on_clock(verified.compared[0].tick), difference.attempt.model);
        let before = &difference.before;
        assert!(before.iter().all(|attempt| attempt.keys == difference.attempt.keys), "{name}");
        assert!(before.iter().all(|attempt| attempt.number < difference.attempt.number));
        assert_eq!(keys(&url), 0, "{name}");
    }
    // The third of a window is refused: the two before it are told.
    let instead = right("fixed-window").replace("count + cost > limit", "count + cost >= limit");
    let options =
        Options { instead: vec![("fixed-window".to_owned(), instead)], ..Options::default() };
    let verified =
        verify(&comparison, &Address::parse(&url).unwrap(), &options, &Silent::default());
    let difference = verified.unwrap().difference.unwrap();
    assert_eq!(difference.server.decision, Decision::Denied);
    assert_eq!(difference.attempt.model.decision, Decision::Admitted);
    let same_second = difference.before.iter().rev().take(2);
    assert!(same_second.clone().all(|attempt| attempt.reading == difference.attempt.reading));
    assert_eq!(same_second.count(), 2);
}

pub fn a_difference_is_told_though_the_clean_up_fails() {
    let server = Mutex::new(Server::start(&[]));
    let url = server.lock().unwrap().url();
    let script = SCRIPTS.iter().find(|script| script.name == "token-bucket").unwrap();
    let wrong = script.text.replace("deficit = deficit + cost * token", "deficit = deficit");
    let instead = vec![("token-bucket".to_owned(), wrong)];
    let options = Options { instead, ..Options::default() };
    let dies = || server.lock().unwrap().kill();
    let mut progress = After::new(0, || false);
    progress.before_clean_up = Some(&dies);
    let (prepared, address) = (prepared(SCENARIO), Address::parse(&url).unwrap());
    let comparison = Comparison::of(&prepared).unwrap();
    let verified = verify(&comparison, &address, &options, &progress).unwrap();
    assert!(verified.difference.is_some());
    let left = verified.left.unwrap();
    assert!(left.starts_with("nothing listens there") && left.contains("redis-cli "), "{left}");
}

/// Verifies what takes long, as a program of its own, and comes back once it has written something.
fn long_run(url: &str) -> (Child, TempDir) {
    let (folder, path) = file(
        "name = \"long\"\nduration = \"100000s\"\nlimit = \"20/10s\"\n\
         traffic = { kind = \"poisson\", rate = \"500/s\", clients = 100 }\n",
    );
    let child = Command::new(env!("CARGO_BIN_EXE_ratesim"))
        .args(["verify", path.to_str().unwrap(), "--redis", url])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut waited = 0;
    while keys(url) == 0 {
        sleep(Duration::from_millis(50));
        waited += 1;
        assert!(waited < 600, "no key within half a minute");
    }
    (child, folder)
}

/// The messages of a program that must end as one that is interrupted.
#[track_caller]
fn interrupted(mut child: Child) -> String {
    let status = child.wait().unwrap();
    let mut messages = String::new();
    child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
    assert_eq!(status.code(), Some(130), "{messages}");
    messages
}

pub fn an_interrupt_of_the_program_leaves_no_keys() {
    let url = database(10);
    let (child, _folder) = long_run(&url);
    send_signal(child.id(), "-INT");
    let messages = interrupted(child);
    let lines: Vec<&str> = messages.lines().collect();
    let [first, second] = lines[..] else { panic!("{messages}") };
    assert_eq!(first, "interrupted; deleting what was written to the server");
    assert!(second.starts_with("error: interrupted; 1"), "{messages}");
    assert!(second.contains(" keys were deleted at 127.0.0.1:"), "{messages}");
    assert_eq!(keys(&url), 0);
}

pub fn a_second_interrupt_says_what_may_be_left() {
    let server = Server::start(&[]);
    let (child, _folder) = long_run(&server.url());
    server.signal("-STOP");
    // It is caught in a call now, and the second comes before that is given up.
    sleep(Duration::from_millis(300));
    send_signal(child.id(), "-INT");
    sleep(Duration::from_millis(300));
    send_signal(child.id(), "-INT");
    let messages = interrupted(child);
    assert!(messages.contains("interrupted before everything was cleaned up"), "{messages}");
    assert!(messages.contains("keys `ratesim:{...` may be left in the server"), "{messages}");
    assert!(!messages.contains("results"), "{messages}");
    // As the message says.
    server.signal("-CONT");
    let shown = refused(&["verify", "scenarios/boundary.toml", "--redis", &server.url()]);
    assert!(shown.contains("that an earlier `ratesim verify` left"), "{shown}");
}

pub fn a_wrong_url_is_refused_without_its_password() {
    let verify = |url: &str| refused(&["verify", "scenarios/boundary.toml", "--redis", url]);
    for url in
        ["rediss://:secret@localhost", "http://:secret@localhost", "redis://:secret@localhost/x"]
    {
        let shown = verify(url);
        assert!(shown.contains("`--redis`") && !shown.contains("secret"), "{shown}");
    }
    assert!(verify("rediss://localhost").contains("there is no TLS here"));
    let shown = verify("redis://:secret@localhost/?protocol=resp3");
    assert!(shown.contains("after `?` or `#` would not be obeyed"), "{shown}");
    assert!(!shown.contains("secret"), "{shown}");
    let timeout = refused(&[
        "verify",
        "scenarios/boundary.toml",
        "--redis",
        "redis://localhost",
        "--timeout",
        "5",
    ]);
    assert!(timeout.contains("`5` has no unit"), "{timeout}");
}

pub fn scripts_are_listed_and_printed() {
    let listed = prints(0, &["list", "scripts"]);
    for script in SCRIPTS {
        assert!(listed.lines().any(|line| line.starts_with(script.name)), "{listed}");
        let printed = prints(0, &["list", "scripts", script.name]);
        assert_eq!(printed.trim_end(), script.text.trim_end());
    }
    let document: Json = serde_json::from_str(&prints(0, &["list", "scripts", "--json"])).unwrap();
    assert_eq!(document[0]["text"], SCRIPTS[0].text);
    let shown = refused(&["list", "scripts", "gcar"]);
    assert!(
        shown.contains("unknown script `gcar`") && shown.contains("did you mean `gcra`?"),
        "{shown}"
    );
    let shown = refused(&["list", "algorithms", "gcra"]);
    assert!(shown.contains("ratesim list scripts NAME"), "{shown}");
}
