//! The keys of one verification: under a prefix of its own, and gone when it is over.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use redis::cmd;

use super::address::Address;
use super::connection::Connection;
use super::fault::Fault;

/// A server that is written to, and the prefix under which that is done.
pub struct Session {
    address: Address,
    timeout: Duration,
    pub(super) connection: Connection,
    prefix: String,
}

/// Keys looked at in one call while they are searched for.
const SCANNED: u32 = 1_000;

impl Session {
    /// Connects. Nothing is written yet.
    ///
    /// # Errors
    /// Whatever is in the way.
    pub fn open(address: &Address, timeout: Duration) -> Result<Session, Fault> {
        let connection = Connection::open(address, timeout)?;
        // The standard library's only source of random bits; they name keys and decide nothing.
        let random = RandomState::new().build_hasher().finish();
        let prefix = format!("ratesim:{{{random:016x}:");
        Ok(Session { address: address.clone(), timeout, connection, prefix })
    }

    /// Where the server is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// What runs there.
    pub fn version(&self) -> &str {
        &self.connection.version
    }

    /// The connection to it.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// How many keys the database holds.
    ///
    /// # Errors
    /// Whatever is in the way.
    pub fn size(&mut self) -> Result<u64, Fault> {
        self.connection.ask(&cmd("DBSIZE"))
    }

    /// What all keys of the session start with.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The key of a limit's key at a node (`None` for all), in one of the session's runs. Those of a run have one
    /// hash tag.
    pub fn key(&self, run: usize, node: Option<u32>, limit: usize, key: usize) -> String {
        let node = node.map_or("all".to_owned(), |node| node.to_string());
        format!("{}{run}}}:{node}:{limit}:{key}", self.prefix)
    }

    /// Deletes all keys of the session and says how many there were. Where the connection is lost it is made anew,
    /// and what the server may not have read from the old one yet is dropped.
    ///
    /// # Errors
    /// Whatever is in the way.
    pub fn clear(&mut self, lost: bool) -> Result<u64, Fault> {
        if lost {
            let old = self.connection.id;
            self.connection = Connection::open(&self.address, self.timeout)?;
            if let Some(old) = old {
                self.connection
                    .tell::<redis::Value>(cmd("CLIENT").arg("KILL").arg("ID").arg(old))?;
            }
        }
        let pattern = format!("{}*", self.prefix);
        let (mut cursor, mut deleted) = (0_u64, 0);
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(SCANNED);
            let (next, keys): (u64, Vec<Vec<u8>>) = self.connection.ask(&scan)?;
            if !keys.is_empty() {
                deleted += self.connection.ask::<u64>(cmd("UNLINK").arg(keys))?;
            }
            cursor = next;
            if cursor == 0 {
                return Ok(deleted);
            }
        }
    }
}
