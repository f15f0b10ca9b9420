//! What a server may do wrong, and what is left behind then: a clear error, no hang, no keys.

#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

use ratesim::error::Error;
use ratesim::redis::{Address, Comparison, Options, verify};
use ratesim::run::Silent;
use redis::cmd;

use crate::Test;
use crate::support::{
    After, LONG, Server, database, failure, forget_scripts, keys, nobody, obliging, prepared,
    pretend, session, verified,
};

pub fn tests() -> Vec<Test> {
    vec![
        crate::test!(Nothing, faults::nothing_listens),
        crate::test!(Nothing, faults::it_never_answers),
        crate::test!(Nothing, faults::it_falls_silent_half_way),
        crate::test!(Nothing, faults::it_is_no_redis),
        crate::test!(Nothing, faults::it_closes_the_connection_at_once),
        crate::test!(Nothing, faults::it_closes_the_connection_half_way),
        crate::test!(Nothing, faults::it_refuses_with_a_reason),
        crate::test!(Nothing, faults::it_refuses_scripts_with_a_reason),
        crate::test!(Nothing, faults::it_forgets_scripts_at_once),
        crate::test!(Nothing, faults::it_answers_something_else),
        crate::test!(Server, faults::an_interrupt_leaves_no_keys),
        crate::test!(Server, faults::there_is_no_such_database),
        crate::test!(Server, faults::keys_of_somebody_else_are_left_alone),
        crate::test!(Server, faults::keys_of_an_earlier_run_are_told_with_what_deletes_them),
        crate::test!(Program, faults::it_forgets_scripts_once),
        crate::test!(Program, faults::it_dies_half_way),
        crate::test!(Program, faults::it_freezes_half_way),
        crate::test!(Program, faults::what_fails_while_it_cleans_up_is_tried_again),
        crate::test!(Program, faults::it_does_not_take_the_connection),
        crate::test!(Program, faults::it_does_not_let_this_user_delete),
        crate::test!(Program, faults::it_asks_for_a_password),
        crate::test!(Program, faults::it_is_a_replica),
        crate::test!(Program, faults::its_memory_is_full),
        crate::test!(Program, faults::it_evicts_keys),
        crate::test!(Program, faults::it_belongs_to_a_cluster),
    ]
}

/// As long as a test waits for a server that will not answer.
const SHORT: Duration = Duration::from_secs(2);

#[track_caller]
fn says(shown: &str, said: &str) {
    assert!(shown.starts_with("error: cannot verify against 127.0.0.1:"), "{shown}");
    assert!(shown.contains(said), "{shown}");
}

pub fn nothing_listens() {
    says(&failure(&nobody(), LONG), "nothing listens there; start a server");
}

pub fn it_never_answers() {
    let url = pretend("", |_| Some(String::new()));
    says(&failure(&url, SHORT), "no answer within 2 s");
}

pub fn it_falls_silent_half_way() {
    let url = pretend("", |words| Some(obliging(words).unwrap_or("").to_owned()));
    says(&failure(&url, SHORT), "no answer within 2 s");
}

pub fn it_is_no_redis() {
    let url =
        pretend("", |_| Some("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".to_owned()));
    says(&failure(&url, LONG), "what answers there is no Redis");
    let url = pretend("220 mail.example ESMTP\r\n", |_| Some("500 what?\r\n".to_owned()));
    says(&failure(&url, LONG), "what answers there is no Redis");
}

pub fn it_closes_the_connection_at_once() {
    says(&failure(&pretend("", |_| None), LONG), "it closed the connection");
}

pub fn it_closes_the_connection_half_way() {
    let url = pretend("", |words| obliging(words).map(str::to_owned));
    says(&failure(&url, LONG), "it closed the connection");
}

pub fn it_refuses_with_a_reason() {
    let url = pretend("", |_| Some("-NOAUTH Authentication required.\r\n".to_owned()));
    says(&failure(&url, LONG), "it asks for a password; give it in the URL");
    let url = pretend("", |words| {
        Some(match words[0].as_str() {
            "AUTH" => {
                "-WRONGPASS invalid username-password pair or user is disabled.\r\n".to_owned()
            }
            _ => "-NOAUTH Authentication required.\r\n".to_owned(),
        })
    });
    says(&failure(&url, LONG), "it does not take the user and password of the URL");
    let url =
        pretend("-DENIED Redis is running in protected mode because\r\n", |_| Some(String::new()));
    says(&failure(&url, LONG), "it runs in protected mode");
    let url = pretend("", |words| match words[0].as_str() {
        "DBSIZE" => Some("-LOADING Redis is loading the dataset in memory\r\n".to_owned()),
        _ => obliging(words).map(str::to_owned),
    });
    says(&failure(&url, LONG), "it is still loading its data");
}

pub fn it_refuses_scripts_with_a_reason() {
    let url = pretend("", |words| {
        Some(obliging(words).unwrap_or("-MOVED 866 127.0.0.1:7001\r\n").to_owned())
    });
    says(&failure(&url, LONG), "it belongs to a cluster");
    let url = pretend("", |words| {
        let oom = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
        Some(obliging(words).unwrap_or(oom).to_owned())
    });
    says(&failure(&url, LONG), "its memory is full");
}

pub fn it_forgets_scripts_at_once() {
    let url = pretend("", |words| {
        Some(obliging(words).unwrap_or("-NOSCRIPT No matching script.\r\n").to_owned())
    });
    says(&failure(&url, LONG), "it forgets scripts as soon as they are loaded");
}

pub fn it_answers_something_else() {
    let url = pretend("", |words| Some(obliging(words).unwrap_or("+OK\r\n").to_owned()));
    says(&failure(&url, LONG), "its script answers with something else than numbers");
}

pub fn it_forgets_scripts_once() {
    // Scripts are those of a whole server, and other tests need theirs.
    let server = Server::start(&[]);
    let url = server.url();
    let forgets = After::new(20, || {
        forget_scripts(&url);
        false
    });
    let verified = verified(&url, LONG, &forgets).unwrap();
    assert!(verified.difference.is_none());
    assert_eq!(verified.compared[0].keys, 40);
    assert_eq!(keys(&url), 0);
}

pub fn an_interrupt_leaves_no_keys() {
    let url = database(2);
    let there = Mutex::new(0);
    let interrupt = After::new(20, || {
        *there.lock().unwrap() = keys(&url);
        true
    });
    let error = verified(&url, LONG, &interrupt).unwrap_err();
    assert!(matches!(error, Error::InterruptedThen(_)), "{error}");
    let there = *there.lock().unwrap();
    assert!(there > 0);
    let shown = error.render(false);
    let said = format!("error: interrupted; {there} keys were deleted at 127.0.0.1:");
    assert!(shown.starts_with(&said) && shown.ends_with(", and none is left"), "{shown}");
    assert_eq!(keys(&url), 0);
}

pub fn there_is_no_such_database() {
    says(&failure(&database(1_000_000), LONG), "it has no database of that number");
}

pub fn keys_of_somebody_else_are_left_alone() {
    let url = database(3);
    let mut other = session(&url);
    other.connection().ask::<()>(cmd("SET").arg("ratesim:mine").arg(1).arg("EX").arg(600)).unwrap();
    let error = verified(&url, LONG, &Silent::default()).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    let shown = error.render(false);
    assert!(
        shown.contains("holds 1 key of somebody else") && shown.contains("--allow-other-keys"),
        "{shown}"
    );
    assert_eq!(keys(&url), 1);
    other.connection().ask::<()>(cmd("DEL").arg("ratesim:mine")).unwrap();
}

/// What is said of a database that must be refused.
#[track_caller]
fn occupied(url: &str) -> String {
    let error = verified(url, LONG, &Silent::default()).unwrap_err();
    assert_eq!(error.exit_code(), 2, "{error}");
    error.render(false)
}

/// Runs the command that a message has in a line of its own.
#[track_caller]
fn do_as_told(shown: &str) {
    let command = shown.lines().map(str::trim).find(|line| line.starts_with("redis-cli "));
    let command = command.unwrap_or_else(|| panic!("{shown}"));
    let status = Command::new("sh").args(["-c", command]).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command}");
}

pub fn keys_of_an_earlier_run_are_told_with_what_deletes_them() {
    let url = database(12);
    let mut other = session(&url);
    let mut set = |key: &str| {
        other.connection().ask::<()>(cmd("SET").arg(key).arg(1).arg("EX").arg(600)).unwrap();
    };
    let earlier = [session(&url), session(&url)];
    for key in 0..1_500 {
        set(&earlier[0].key(0, None, 0, key));
    }
    let shown = occupied(&url);
    let said = "holds 1,500 keys that an earlier `ratesim verify` left\n";
    assert!(shown.contains(said) && shown.contains("--allow-other-keys"), "{shown}");
    do_as_told(&shown);
    assert_eq!(keys(&url), 0);
    // Those of two runs, beside others that look much like them.
    for session in &earlier {
        set(&session.key(0, None, 0, 0));
    }
    let others = ["ratesim:{mine}", "ratesim:{0123456789abcdeg:0}:all:0:0", "mine"];
    others.iter().for_each(|key| set(key));
    let shown = occupied(&url);
    let said = "holds 3 keys of somebody else and 2 keys that an earlier `ratesim verify` left\n";
    assert!(shown.contains(said), "{shown}");
    do_as_told(&shown);
    assert_eq!(keys(&url), 3);
    other.connection().ask::<()>(cmd("DEL").arg(&others)).unwrap();
}

pub fn what_fails_while_it_cleans_up_is_tried_again() {
    let server = Server::start(&[]);
    let url = server.url();
    let there = Mutex::new(0);
    let mut progress = After::new(20, || {
        *there.lock().unwrap() = keys(&url);
        true
    });
    let cut_off = || {
        let mut kill = cmd("CLIENT");
        kill.arg("KILL").arg("TYPE").arg("normal");
        assert_eq!(session(&url).connection().ask::<u64>(&kill).unwrap(), 1);
    };
    progress.before_clean_up = Some(&cut_off);
    let shown = verified(&url, LONG, &progress).unwrap_err().render(false);
    let there = *there.lock().unwrap();
    assert!(there > 0);
    assert!(shown.contains(&format!("interrupted; {there} keys were deleted at")), "{shown}");
    let told = progress.told.into_inner().unwrap();
    assert_eq!(told, ["interrupted; deleting what was written to the server"]);
    assert_eq!(keys(&url), 0);
}

pub fn it_dies_half_way() {
    let server = Mutex::new(Server::start(&[]));
    let url = server.lock().unwrap().url();
    let dies = After::new(20, || {
        server.lock().unwrap().kill();
        false
    });
    let error = verified(&url, LONG, &dies).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    let shown = error.render(false);
    says(&shown, "it closed the connection");
    // Its memory went with it; why nothing could be deleted is said all the same.
    assert!(
        shown.contains("; then its keys could not be deleted: nothing listens there"),
        "{shown}"
    );
    assert!(shown.contains("; keys ratesim:{"), "{shown}");
}

pub fn it_freezes_half_way() {
    let server = Server::start(&[]);
    let freezes = After::new(20, || {
        server.signal("-STOP");
        false
    });
    let shown = verified(&server.url(), SHORT, &freezes).unwrap_err().render(false);
    says(&shown, "no answer within 2 s");
    assert_eq!(shown.matches("no answer within 2 s").count(), 1, "{shown}");
    assert!(shown.contains("may be left there, which expire within 24 h"), "{shown}");
    let told = shown.split_once("this deletes them: ");
    let (_, command) = told.unwrap_or_else(|| panic!("{shown}"));
    server.signal("-CONT");
    // What is left expires.
    let mut session = session(&server.url());
    let left: Vec<String> = session.connection().ask(cmd("KEYS").arg("*")).unwrap();
    for key in left {
        assert!(key.starts_with("ratesim:"), "{key}");
        assert!(session.connection().ask::<i64>(cmd("PTTL").arg(key)).unwrap() > 0);
    }
    do_as_told(command);
    assert_eq!(keys(&server.url()), 0);
}

#[cfg(unix)]
pub fn it_does_not_take_the_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let server = Server::start(&["--tcp-backlog", "1", "--unixsocket", path.to_str().unwrap()]);
    let url = format!("unix:{}", path.display());
    assert!(verified(&url, LONG, &Silent::default()).unwrap().difference.is_none());
    server.signal("-STOP");
    // Those that it would have to take first: more than its queue holds.
    for _ in 0..8 {
        let path = path.clone();
        std::thread::spawn(move || UnixStream::connect(path));
    }
    sleep(Duration::from_millis(500));
    let shown = failure(&url, SHORT);
    assert!(shown.contains("no answer within 2 s"), "{shown}");
}

#[cfg(not(unix))]
pub fn it_does_not_take_the_connection() {}

pub fn it_does_not_let_this_user_delete() {
    let server = Server::start(&[]);
    let url = format!("redis://ann:secret@127.0.0.1:{}", server.port);
    let rules = |rules: &str| {
        let mut command = cmd("ACL");
        command.arg("SETUSER").arg("ann").arg("reset").arg("on").arg(">secret");
        rules.split(' ').for_each(|rule| {
            command.arg(rule);
        });
        session(&server.url()).connection().ask::<()>(&command).unwrap();
    };
    for (may, lacks) in [
        ("~* +@all -scan", "'scan'"),
        ("~* +@all -unlink -del", "'del'"),
        ("~app:* +@all", "one of the keys"),
    ] {
        rules(may);
        let shown = failure(&url, LONG);
        says(&shown, "nothing was written, because it could not be deleted again: it says: NOPERM");
        assert!(
            shown.contains(lacks) && shown.contains("verify needs SCAN, and UNLINK"),
            "{shown}"
        );
        let stats: String =
            session(&server.url()).connection().ask(cmd("INFO").arg("commandstats")).unwrap();
        assert!(!stats.contains("cmdstat_evalsha"), "{stats}");
    }
    for may in ["~ratesim:* +@all -del", "~ratesim:* +@all -unlink"] {
        rules(may);
        assert!(verified(&url, LONG, &Silent::default()).unwrap().difference.is_none(), "{may}");
        assert_eq!(keys(&server.url()), 0, "{may}");
    }
}

pub fn it_asks_for_a_password() {
    let server = Server::start(&["--requirepass", "open sesame"]);
    says(&failure(&server.url(), LONG), "it asks for a password");
    let wrong = format!("redis://:secret@127.0.0.1:{}", server.port);
    says(&failure(&wrong, LONG), "it does not take the user and password");
    let right = format!("redis://:open%20sesame@127.0.0.1:{}", server.port);
    assert!(verified(&right, LONG, &Silent::default()).unwrap().difference.is_none());
}

pub fn it_is_a_replica() {
    // Of nobody: it serves what it has.
    let server = Server::start(&["--replicaof", "127.0.0.1 1"]);
    says(&failure(&server.url(), LONG), "it is a replica that takes no writes");
}

pub fn its_memory_is_full() {
    let server = Server::start(&["--maxmemory", "100kb"]);
    says(&failure(&server.url(), LONG), "its memory is full");
}

pub fn it_evicts_keys() {
    let server = Server::start(&["--maxmemory", "2500kb", "--maxmemory-policy", "allkeys-lru"]);
    // Each client comes twice, and has gone by then: there is no room for all.
    let text = "name = \"it\"\nduration = \"60s\"\nlimit = \"1/60s\"\n[[algorithm]]\nkind = \"fixed-window\"\n\
                [[traffic]]\nkind = \"steady\"\nrate = \"1000/s\"\nclients = 30000\n";
    let prepared = prepared(text);
    let comparison = Comparison::of(&prepared).unwrap();
    let options = Options { timeout: LONG, ..Options::default() };
    let address = Address::parse(&server.url()).unwrap();
    let error = verify(&comparison, &address, &options, &Silent::default()).unwrap_err();
    assert_eq!(error.exit_code(), 3, "{error}");
    says(&error.render(false), "meanwhile, as its memory was full");
    assert_eq!(keys(&server.url()), 0);
}

pub fn it_belongs_to_a_cluster() {
    let server = Server::start(&["--cluster-enabled", "yes"]);
    says(&failure(&server.url(), LONG), "it belongs to a cluster");
}
