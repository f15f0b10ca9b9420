//! Where a server is: a URL in, and out only what may be shown of it.

use std::fmt;

use redis::{ConnectionAddr, IntoConnectionInfo};

use crate::error::Problem;

/// Where a server is, and how to log in there. Shown without the password.
#[derive(Clone)]
pub struct Address {
    pub(super) at: ConnectionAddr,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: i64,
}

const GRAMMAR: &str = "write redis://HOST:PORT; with a password redis://:PASSWORD@HOST:PORT, with a user \
                       redis://USER:PASSWORD@HOST:PORT, with a database redis://HOST:PORT/1";

impl Address {
    /// Reads `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`, or `unix:PATH[?db=DATABASE]`.
    ///
    /// # Errors
    /// A problem with what would be right. It repeats nothing that may be a password.
    pub fn parse(url: &str) -> Result<Address, Problem> {
        let wrong = |what: &str| Err(Problem::new(format!("`--redis`: {what}")).help(GRAMMAR));
        if ["rediss:", "valkeys:"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(Problem::new("`--redis`: there is no TLS here").help(
                "use redis:// to a server on this machine or through a tunnel, such as `ssh -L`",
            ));
        }
        let Ok(info) = url.into_connection_info() else {
            return match url.contains('@') || url.contains("pass") {
                true => wrong("this is no URL of a Redis server"),
                false => wrong(&format!("`{url}` is no URL of a Redis server")),
            };
        };
        let settings = info.redis_settings();
        if settings.db() < 0 {
            return wrong(&format!("{} is no database", settings.db()));
        }
        Ok(Address {
            at: info.addr().clone(),
            username: settings.username().map(str::to_owned),
            password: settings.password().map(str::to_owned),
            database: settings.db(),
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            ConnectionAddr::Tcp(host, port) if host.contains(':') => {
                write!(formatter, "[{host}]:{port}")
            }
            ConnectionAddr::Tcp(host, port) => write!(formatter, "{host}:{port}"),
            other => write!(formatter, "{other}"),
        }?;
        match self.database {
            0 => Ok(()),
            database => write!(formatter, "/{database}"),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_a_url_has_no_password() {
        for (url, shown) in [
            ("redis://127.0.0.1", "127.0.0.1:6379"),
            ("redis://ann:secret@db.example:7000/3", "db.example:7000/3"),
            ("redis://:secret@[::1]:7000", "[::1]:7000"),
        ] {
            let address = Address::parse(url).unwrap();
            assert_eq!(address.to_string(), shown);
            assert!(!format!("{address:?}").contains("secret"));
        }
        let address = Address::parse("redis://ann:se%40cret@h/3").unwrap();
        assert_eq!(address.username.as_deref(), Some("ann"));
        assert_eq!(address.password.as_deref(), Some("se@cret"));
    }

    #[test]
    fn a_wrong_url_is_a_problem_that_repeats_no_password() {
        for (url, message) in [
            ("127.0.0.1:6379", "`127.0.0.1:6379` is no URL of a Redis server"),
            ("http://127.0.0.1", "`http://127.0.0.1` is no URL of a Redis server"),
            ("redis://:secret@host/one", "this is no URL of a Redis server"),
            ("redis://host/-1", "-1 is no database"),
            ("rediss://:secret@host", "there is no TLS here"),
            ("", "`` is no URL of a Redis server"),
        ] {
            let problem = Address::parse(url).unwrap_err();
            assert_eq!(problem.message, format!("`--redis`: {message}"), "{url}");
            assert!(problem.help.is_some_and(|help| !help.contains("secret")));
        }
    }
}
