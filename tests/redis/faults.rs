//! What a server may do wrong, and what is left behind then: a clear error, no hang, no keys.

use std::sync::Mutex;
use std::time::Duration;

use ratesim::error::Error;
use ratesim::run::Silent;
use redis::cmd;

use crate::Test;
use crate::support::{
    After, LONG, Server, database, failure, forget_scripts, keys, nobody, obliging, pretend,
    session, verified,
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
        crate::test!(Server, faults::it_forgets_scripts_once),
        crate::test!(Server, faults::an_interrupt_leaves_no_keys),
        crate::test!(Server, faults::there_is_no_such_database),
        crate::test!(Server, faults::keys_of_somebody_else_are_left_alone),
        crate::test!(Program, faults::it_dies_half_way),
        crate::test!(Program, faults::it_freezes_half_way),
        crate::test!(Program, faults::it_asks_for_a_password),
        crate::test!(Program, faults::it_is_a_replica),
        crate::test!(Program, faults::its_memory_is_full),
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
    let url = database(1);
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
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert!(*there.lock().unwrap() > 0);
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
    assert!(shown.contains("may be left there (nothing listens there"), "{shown}");
}

pub fn it_freezes_half_way() {
    let server = Server::start(&[]);
    let freezes = After::new(20, || {
        server.signal("-STOP");
        false
    });
    let shown = verified(&server.url(), SHORT, &freezes).unwrap_err().render(false);
    says(&shown, "no answer within 2 s");
    assert!(
        shown.contains("may be left there") && shown.contains("they expire within 24 h"),
        "{shown}"
    );
    server.signal("-CONT");
    // What is left expires.
    let mut session = session(&server.url());
    let left: Vec<String> = session.connection().ask(cmd("KEYS").arg("*")).unwrap();
    for key in left {
        assert!(key.starts_with("ratesim:"), "{key}");
        assert!(session.connection().ask::<i64>(cmd("PTTL").arg(key)).unwrap() > 0);
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

pub fn it_belongs_to_a_cluster() {
    let server = Server::start(&["--cluster-enabled", "yes"]);
    says(&failure(&server.url(), LONG), "it belongs to a cluster");
}
