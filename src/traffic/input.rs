//! What is known of the files that recorded requests come from.

use std::ops::ControlFlow;

use serde::Serialize;

pub use crate::log::read::Skipped;

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Input {
    /// Its path as the scenario gives it.
    pub path: String,
    /// The name of its format, if it could be told.
    pub format: Option<String>,
    /// How it is packed, if it is.
    pub compression: Option<String>,
    /// How many of its bytes were read.
    pub bytes: u64,
    /// Their digest by XXH3 of 128 bits, in hexadecimal, as `xxh128sum` prints it: it tells files apart that
    /// nobody has forged.
    pub xxh128: String,
    /// Lines or records read.
    pub lines: u64,
    /// Of these, how many became requests.
    pub used: u64,
    /// Why others could not be used, with how many and the first of them, most frequent first.
    pub skipped: Vec<Skipped>,
    /// Why nothing, or nothing more, of it could be used, where other files could.
    pub unusable: Option<String>,
    /// What else a reader of the results must know (how stamps of whole seconds were spread, how
    /// far the file was out of order), one sentence each.
    pub notes: Vec<String>,
}

/// Told how many bytes of a record's files were read, and how many there are where that is known; says whether
/// to go on.
pub type Watch<'a> = &'a dyn Fn(u64, Option<u64>) -> ControlFlow<()>;
