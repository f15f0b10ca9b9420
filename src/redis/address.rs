//! Where a server is: a URL in, and out only what may be shown of it.

use std::fmt;

use redis::{ConnectionAddr, IntoConnectionInfo, parse_redis_url};

use crate::error::Problem;
use crate::report::words::printable;

/// Where a server is, and how to log in there. Shown without the password.
#[derive(Clone)]
pub struct Address {
    pub(super) at: ConnectionAddr,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: i64,
}

const GRAMMAR: &str = "write redis://HOST:PORT; with a password redis://:PASSWORD@HOST:PORT, with a user \
                       redis://USER:PASSWORD@HOST:PORT, with a database redis://HOST:PORT/1; for a socket in the \
                       file system unix:PATH, with any of ?db=1&user=USER&pass=PASSWORD";

impl Address {
    /// Reads `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`, or
    /// `unix:PATH[?db=DATABASE&user=USER&pass=PASSWORD]`.
    ///
    /// # Errors
    /// A problem with what would be right, also for what would be read and not obeyed. It repeats nothing that may
    /// be a password.
    pub fn parse(url: &str) -> Result<Address, Problem> {
        let wrong = |what: &str| Err(Problem::new(format!("`--redis`: {what}")).help(GRAMMAR));
        if ["rediss:", "valkeys:"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(Problem::new("`--redis`: there is no TLS here").help(
                "use redis:// to a server on this machine or through a tunnel, such as `ssh -L`",
            ));
        }
        let parsed = parse_redis_url(url).zip(url.into_connection_info().ok());
        let Some((parsed, info)) = parsed else {
            return match url.contains('@') || url.contains("pass") {
                true => wrong("this is no URL of a Redis server"),
                false => wrong(&format!("`{url}` is no URL of a Redis server")),
            };
        };
        let queries: &[&str] = match info.addr() {
            ConnectionAddr::Unix(_) => &["db", "user", "pass"],
            _ => &[],
        };
        let mut names: Vec<_> = parsed.query_pairs().map(|(name, _)| name).collect();
        let given = names.len();
        names.sort();
        names.dedup();
        let obeyed = names.iter().all(|name| queries.contains(&&**name));
        if parsed.fragment().is_some() || !obeyed || names.len() < given {
            return wrong("what this URL has after `?` or `#` would not be obeyed");
        }
        let settings = info.redis_settings();
        if settings.username().is_some() && settings.password().is_none() {
            return wrong("a user without a password cannot log in");
        }
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

impl Address {
    /// How `redis-cli` is called for it, without the password.
    pub(super) fn command_line(&self) -> String {
        let mut command = match &self.at {
            ConnectionAddr::Tcp(host, port) => format!("redis-cli -h {} -p {port}", quoted(host)),
            ConnectionAddr::Unix(path) => {
                format!("redis-cli -s {}", quoted(&path.display().to_string()))
            }
            other => format!("redis-cli -u {}", quoted(&other.to_string())),
        };
        if self.database != 0 {
            command += &format!(" -n {}", self.database);
        }
        if let Some(user) = &self.username {
            command += &format!(" --user {}", quoted(user));
        }
        command
    }
}

/// A word as a shell takes it, on one line.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-:/".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", printable(word).replace('\'', r"'\''")),
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

    const NOT_OBEYED: &str = "what this URL has after `?` or `#` would not be obeyed";

    #[test]
    fn a_socket_has_its_settings_in_the_query() {
        let address = Address::parse("unix:/run/redis.sock?db=2&user=ann&pass=secret").unwrap();
        assert_eq!(address.to_string(), "/run/redis.sock/2");
        assert_eq!(address.username.as_deref(), Some("ann"));
        assert_eq!(address.password.as_deref(), Some("secret"));
        assert_eq!(address.database, 2);
    }

    #[test]
    fn a_command_line_reaches_the_same_database_and_has_no_password() {
        for (url, command) in [
            ("redis://127.0.0.1", "redis-cli -h 127.0.0.1 -p 6379"),
            ("redis://:secret@[::1]:7000/3", "redis-cli -h ::1 -p 7000 -n 3"),
            ("redis://an%20n:secret@db:7000", "redis-cli -h db -p 7000 --user 'an n'"),
            ("redis://a'n:secret@db:7000", r"redis-cli -h db -p 7000 --user 'a'\''n'"),
            ("unix:/run/redis.sock?db=1", "redis-cli -s /run/redis.sock -n 1"),
        ] {
            assert_eq!(Address::parse(url).unwrap().command_line(), command);
        }
    }

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
            ("redis://host/?protocol=resp3", NOT_OBEYED),
            ("redis://host?db=1", NOT_OBEYED),
            ("redis://host/1#insecure", NOT_OBEYED),
            ("unix:/run/redis?pass=secret&protocol=2", NOT_OBEYED),
            ("unix:/run/redis?db=1&db=2", NOT_OBEYED),
            ("redis://secret@host", "a user without a password cannot log in"),
        ] {
            let problem = Address::parse(url).unwrap_err();
            assert_eq!(problem.message, format!("`--redis`: {message}"), "{url}");
            assert!(problem.help.is_some_and(|help| !help.contains("secret")));
        }
    }
}
