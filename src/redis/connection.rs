//! A connection on which every answer is waited for only so long.

use std::time::Duration;

use redis::{Client, Cmd, FromRedisValue, IntoConnectionInfo, RedisConnectionInfo, Value, cmd};

use super::address::Address;
use super::fault::Fault;

/// A connection to a server.
pub struct Connection {
    inner: redis::Connection,
    timeout: Duration,
    /// What the server calls this connection, where it tells.
    pub(super) id: Option<i64>,
    /// What runs there: "Redis 7.0.15".
    pub(super) version: String,
}

impl Connection {
    /// Connects and logs in; each step is waited for at most `timeout`.
    ///
    /// # Errors
    /// Whatever is in the way.
    pub fn open(address: &Address, timeout: Duration) -> Result<Connection, Fault> {
        // Logging in is done below: what a server says of it is then seen as it is.
        let bare = RedisConnectionInfo::default().set_skip_set_lib_name();
        let connect = || {
            let info = address.at.clone().into_connection_info()?.set_redis_settings(bare);
            let inner = Client::open(info)?.get_connection_with_timeout(timeout)?;
            inner.set_read_timeout(Some(timeout))?;
            inner.set_write_timeout(Some(timeout))?;
            Ok(inner)
        };
        let inner = connect().map_err(|error| Fault::of(&error, timeout))?;
        let mut connection = Connection { inner, timeout, id: None, version: "Redis".to_owned() };
        if let Some(password) = &address.password {
            let mut login = cmd("AUTH");
            if let Some(username) = &address.username {
                login.arg(username);
            }
            connection.ask::<Value>(login.arg(password))?;
        }
        if address.database != 0 {
            connection.ask::<Value>(cmd("SELECT").arg(address.database))?;
        }
        connection.id = connection.tell(cmd("CLIENT").arg("ID"))?;
        let about: Option<String> = connection.tell(cmd("INFO").arg("server"))?;
        let about = about.unwrap_or_default();
        let line =
            |name: &str| about.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if line("redis_mode:") == Some("cluster") {
            let sentence = "it belongs to a cluster; give the URL of a server that stands alone";
            return Err(Fault::new(sentence));
        }
        connection.version = match (line("valkey_version:"), line("redis_version:")) {
            (Some(version), _) => format!("Valkey {version}"),
            (None, Some(version)) => format!("Redis {version}"),
            (None, None) => connection.version,
        };
        Ok(connection)
    }

    /// Sends a command and reads its answer.
    ///
    /// # Errors
    /// Whatever is in the way, an error that the server replies included.
    pub fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T, Fault> {
        command.query(&mut self.inner).map_err(|error| Fault::of(&error, self.timeout))
    }

    /// The same for what is nice to know: `None` where this server or this user has no such command.
    pub(super) fn tell<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<Option<T>, Fault> {
        match self.ask(command) {
            Ok(answer) => Ok(Some(answer)),
            Err(fault) if matches!(fault.code.as_deref(), Some("ERR" | "NOPERM")) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Makes a script known and gives its digest.
    ///
    /// # Errors
    /// Whatever is in the way.
    pub fn load(&mut self, text: &str) -> Result<String, Fault> {
        self.ask(cmd("SCRIPT").arg("LOAD").arg(text))
    }

    /// Sends commands, already packed, in one go, and reads an answer to each; an error that the server replies
    /// is an answer.
    ///
    /// # Errors
    /// Whatever happens to the connection.
    pub fn ask_all<'a>(
        &mut self,
        packed: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Vec<Result<Value, Fault>>, Fault> {
        let mut bytes = Vec::new();
        let mut count = 0;
        for command in packed {
            bytes.extend_from_slice(command);
            count += 1;
        }
        let timeout = self.timeout;
        let lost = |error| Fault::of(&error, timeout);
        self.inner.send_packed_command(&bytes).map_err(lost)?;
        let mut answers = Vec::with_capacity(count);
        for _ in 0..count {
            answers.push(match self.inner.recv_response().map_err(lost)? {
                Value::ServerError(error) => Err(Fault::replied(&error)),
                value => Ok(value),
            });
        }
        Ok(answers)
    }
}
