//! What can be wrong with a server, as sentences that say what would be right.

use std::fmt;
use std::time::Duration;

use redis::{ErrorKind, RedisError, ServerError};

use crate::report::words::printable;

/// Why a server did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    sentence: String,
    /// The code of an error that the server replied.
    pub(super) code: Option<String>,
    /// Whether nothing more can come over the connection.
    pub(super) lost: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence)
    }
}

impl Fault {
    /// Something that no server replied.
    pub(super) fn new(sentence: impl Into<String>) -> Fault {
        Fault { sentence: sentence.into(), code: None, lost: false }
    }

    /// What went wrong with a connection on which answers are waited for so long.
    pub(super) fn of(error: &RedisError, timeout: Duration) -> Fault {
        if let Ok(reply) = ServerError::try_from(error.clone()) {
            return Fault::replied(&reply);
        }
        let sentence = if error.is_timeout() {
            let seconds = timeout.as_secs_f64();
            format!(
                "no answer within {seconds} s; is it stopped or busy, or does something else than a Redis listen \
                 there? `--timeout` waits longer"
            )
        } else if error.is_connection_refusal() {
            "nothing listens there; start a server, or give the URL of one that runs".to_owned()
        } else if error.is_connection_dropped() {
            "it closed the connection; did it stop, or does it take no more clients?".to_owned()
        } else {
            match error.kind() {
                ErrorKind::Parse | ErrorKind::Client | ErrorKind::UnexpectedReturnType => {
                    "what answers there is no Redis; is it the right port?".to_owned()
                }
                _ => format!("it cannot be reached: {}", printable(&error.to_string())),
            }
        };
        Fault { sentence, code: None, lost: true }
    }

    /// An error that the server replied.
    pub(super) fn replied(error: &ServerError) -> Fault {
        let text = error.details().unwrap_or_default();
        let sentence = sentence(error.code(), text).map_or_else(
            || format!("it says: {} {}", error.code(), printable(text)),
            str::to_owned,
        );
        Fault { sentence, code: Some(error.code().to_owned()), lost: false }
    }
}

/// What an error means for who wants to verify something; `None` where the server's own words say it best.
fn sentence(code: &str, text: &str) -> Option<&'static str> {
    // Up to version 6 the error of a command in a script comes inside one of the script's own.
    let says = |what: &str| code == what || text.contains(&format!("-{what} "));
    Some(match code {
        "NOAUTH" => "it asks for a password; give it in the URL, as in redis://:PASSWORD@HOST:PORT",
        "WRONGPASS" => "it does not take the user and password of the URL",
        "DENIED" => {
            "it runs in protected mode, which takes clients of its own machine only; run ratesim there, or give \
             it a password"
        }
        "LOADING" => "it is still loading its data; try again when that is done",
        "MOVED" | "ASK" | "CROSSSLOT" | "CLUSTERDOWN" | "TRYAGAIN" => {
            "it belongs to a cluster; give the URL of a server that stands alone"
        }
        "MASTERDOWN" => {
            "it is a replica that has lost its primary; give the URL of one that takes writes"
        }
        "BUSY" => "it is busy with a script of somebody else",
        _ if says("READONLY") => {
            "it is a replica that takes no writes; give the URL of its primary"
        }
        _ if says("OOM") => {
            "its memory is full (see its `maxmemory`); make room, or use another server"
        }
        _ if says("MISCONF") => {
            "it takes no writes because it cannot save its data; see its log, or use another server"
        }
        _ if text.contains("invalid password") => "it does not take the password of the URL",
        _ if text.contains("without any password configured")
            || text.contains("no password is set") =>
        {
            "it has no password; leave that out of the URL"
        }
        _ if text.contains("DB index") => {
            "it has no database of that number; give another at the end of the URL, or none"
        }
        _ if text.contains("max number of clients") => "it takes no more clients; close some",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use redis::{Value, parse_redis_value};

    fn shown(reply: &str) -> String {
        match parse_redis_value(format!("-{reply}\r\n").as_bytes()) {
            Ok(Value::ServerError(error)) => Fault::replied(&error).to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_server_replies_is_said_with_what_would_be_right() {
        for (reply, said) in [
            ("NOAUTH Authentication required.", "asks for a password"),
            (
                "WRONGPASS invalid username-password pair or user is disabled.",
                "does not take the user",
            ),
            ("ERR invalid password", "does not take the password"),
            (
                "ERR AUTH <password> called without any password configured for the default user. Are you \
                 sure your configuration is correct?",
                "leave that out of the URL",
            ),
            ("LOADING Redis is loading the dataset in memory", "still loading"),
            (
                "READONLY You can't write against a read only replica.",
                "give the URL of its primary",
            ),
            (
                "ERR Error running script (call to f_1): @user_script:1: -READONLY You can't write",
                "give the URL of its primary",
            ),
            ("OOM command not allowed when used memory > 'maxmemory'.", "memory is full"),
            ("MISCONF Redis is configured to save RDB snapshots", "cannot save its data"),
            ("DENIED Redis is running in protected mode because", "protected mode"),
            ("MOVED 866 127.0.0.1:7001", "belongs to a cluster"),
            ("CROSSSLOT Keys in request don't hash to the same slot", "belongs to a cluster"),
            ("ERR DB index is out of range", "no database of that number"),
            ("ERR max number of clients reached", "no more clients"),
            (
                "NOPERM this user has no permissions to run the 'dbsize' command",
                "it says: NOPERM this user",
            ),
        ] {
            let shown = shown(reply);
            assert!(shown.contains(said), "{reply}: {shown}");
        }
        assert!(!shown("ERR \u{1b}[31mred").contains('\u{1b}'));
    }
}
