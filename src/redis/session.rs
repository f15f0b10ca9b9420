//! The keys of one verification: under a prefix of its own, and gone when it is over.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::Duration;

use redis::{Cmd, Value, cmd};

use super::address::Address;
use super::connection::Connection;
use super::fault::Fault;
use super::leftover::{self, OURS};
use super::wire::now;

/// A server that is written to, and the prefix under which that is done.
pub struct Session {
    address: Address,
    timeout: Duration,
    pub(super) connection: Connection,
    prefix: String,
    /// The command that deletes.
    delete: &'static str,
    /// Connections that were given up, from which the server may not have read everything yet.
    stale: Vec<i64>,
}

/// Keys looked at in one call while they are searched for.
const SCANNED: u32 = 1_000;

/// A database with more keys than this is not searched for leftovers.
const SEARCHED: u64 = 1_000_000;

/// Deleting is tried anew for so long after it began, with longer and longer pauses, and so often at least: one that is
/// not answered takes the whole timeout.
const RETRIED_FOR: Duration = Duration::from_secs(3);
const TRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(50);

impl Session {
    /// Connects. Nothing is written yet.
    ///
    /// # Errors
    /// Whatever is in the way.
    pub fn open(address: &Address, timeout: Duration) -> Result<Session, Fault> {
        Ok(Session {
            connection: Connection::open(address, timeout)?,
            address: address.clone(),
            timeout,
            prefix: leftover::new_prefix(),
            delete: "UNLINK",
            stale: Vec::new(),
        })
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

    /// How many keys the server has evicted since it started; `None` where it does not tell.
    ///
    /// # Errors
    /// Whatever is in the way.
    pub fn evicted(&mut self) -> Result<Option<u64>, Fault> {
        let about: Option<String> = self.connection.tell(cmd("INFO").arg("stats"))?;
        let about = about.unwrap_or_default();
        let line = about.lines().find_map(|line| line.strip_prefix("evicted_keys:"));
        Ok(line.and_then(|number| number.trim().parse().ok()))
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

    /// Keys that other verifications left in a database of so many keys, by what they start with. Nothing is found
    /// where this user may not search, or where there are too many keys for that.
    ///
    /// # Errors
    /// Whatever is in the way.
    pub fn leftovers(&mut self, size: u64) -> Result<BTreeMap<String, u64>, Fault> {
        let mut found = BTreeMap::new();
        if size > SEARCHED {
            return Ok(found);
        }
        let mut seen = BTreeSet::new();
        let mut cursor = 0;
        loop {
            let scan = scan(cursor, OURS);
            let answer: Option<(u64, Vec<Vec<u8>>)> = self.connection.tell(&scan)?;
            let Some((next, keys)) = answer else { return Ok(found) };
            for key in keys {
                if let Some(prefix) = leftover::prefix_of(&key).map(str::to_owned)
                    && seen.insert(key)
                {
                    *found.entry(prefix).or_default() += 1;
                }
            }
            cursor = next;
            if cursor == 0 {
                return Ok(found);
            }
        }
    }

    /// Tries whether what is written could be deleted again, on a key that is not there; to be called before
    /// anything is written.
    ///
    /// # Errors
    /// That it could not, or whatever else is in the way.
    pub fn check_clean_up(&mut self) -> Result<(), Fault> {
        let key = self.key(0, None, 0, 0);
        let refused = |fault: Fault| match fault.code.as_deref() {
            Some("ERR" | "NOPERM") => Fault::new(format!(
                "nothing was written, because it could not be deleted again: {fault}; verify needs SCAN, and UNLINK \
                 or DEL, for keys {OURS}*"
            )),
            _ => fault,
        };
        self.connection.ask::<Value>(&scan(0, &self.prefix)).map_err(refused)?;
        if self.connection.tell::<u64>(cmd("UNLINK").arg(&key))?.is_none() {
            self.connection.ask::<u64>(cmd("DEL").arg(&key)).map_err(refused)?;
            self.delete = "DEL";
        }
        Ok(())
    }

    /// Deletes all keys of the session and says how many there were. What fails is tried anew for a while. Where
    /// the connection is lost it is made anew, and what the server may not have read from the old one yet is
    /// dropped.
    ///
    /// # Errors
    /// What was in the way at last.
    pub fn clear(&mut self, mut lost: bool) -> Result<u64, Fault> {
        let begun = now();
        let (mut pause, mut tries, mut deleted) = (FIRST_PAUSE, 0, 0);
        loop {
            tries += 1;
            let result = self.try_to_clear(&mut lost, &mut deleted);
            match result {
                Err(fault) if tries < TRIES || now() - begun < RETRIED_FOR => lost |= fault.lost,
                result => return result.map(|()| deleted),
            }
            sleep(pause);
            pause *= 2;
        }
    }

    fn try_to_clear(&mut self, lost: &mut bool, deleted: &mut u64) -> Result<(), Fault> {
        if *lost {
            let connection = Connection::open(&self.address, self.timeout)?;
            self.stale.extend(std::mem::replace(&mut self.connection, connection).id);
            *lost = false;
        }
        while let Some(&stale) = self.stale.last() {
            self.connection.tell::<Value>(cmd("CLIENT").arg("KILL").arg("ID").arg(stale))?;
            self.stale.pop();
        }
        let mut cursor = 0;
        loop {
            let scan = scan(cursor, &self.prefix);
            let (next, keys): (u64, Vec<Vec<u8>>) = self.connection.ask(&scan)?;
            if !keys.is_empty() {
                *deleted += self.connection.ask::<u64>(cmd(self.delete).arg(keys))?;
            }
            cursor = next;
            if cursor == 0 {
                return Ok(());
            }
        }
    }

    /// The command that deletes the keys of the session by hand.
    pub fn removal(&self) -> String {
        leftover::removal(&self.address, Some(&self.prefix), self.delete)
    }
}

/// Looks on for keys that start so.
fn scan(cursor: u64, prefix: &str) -> Cmd {
    let mut scan = cmd("SCAN");
    scan.arg(cursor).arg("MATCH").arg(format!("{prefix}*")).arg("COUNT").arg(SCANNED);
    scan
}
