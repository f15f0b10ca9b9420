//! A connection on which every answer is waited for only so long.

use std::time::Duration;

use redis::{Cmd, FromRedisValue, Value, cmd, from_redis_value};

use super::address::Address;
use super::fault::Fault;
use super::wire::Wire;

/// A connection to a server.
pub struct Connection {
    wire: Wire,
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
        let wire =
            Wire::connect(&address.at, timeout).map_err(|error| Fault::of(&error, timeout))?;
        let mut connection = Connection { wire, timeout, id: None, version: "Redis".to_owned() };
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
        let failed = |error| Fault::of(&error, self.timeout);
        let answers = self.wire.exchange(&command.get_packed_command(), 1).map_err(failed)?;
        match answers.into_iter().next().unwrap_or(Value::Nil) {
            Value::ServerError(error) => Err(Fault::replied(&error)),
            value => from_redis_value(value).map_err(|error| failed(error.into())),
        }
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

    /// Sends commands, already packed, in one go, and reads an answer to each, all of them within the timeout; an
    /// error that the server replies is an answer.
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
        let answers = self.wire.exchange(&bytes, count);
        let answers = answers.map_err(|error| Fault::of(&error, self.timeout))?;
        let told = answers.into_iter().map(|answer| match answer {
            Value::ServerError(error) => Err(Fault::replied(&error)),
            value => Ok(value),
        });
        Ok(told.collect())
    }
}
