//! What a call takes on the wire.

/// What is sent, by the commands of Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// A script by its digest, which reads, decides and writes.
    Script,
    /// States are read.
    Read,
    /// Charges are added.
    Increment,
    /// States are written.
    Write,
}

/// Bytes of a call and its answer in the protocol of Redis (RESP), for keys with names of these lengths and states
/// of so many bytes.
pub fn bytes(exchange: Exchange, keys: impl Iterator<Item = (usize, u64)>) -> u64 {
    let _ = exchange;
    keys.map(|(name, state)| name as u64 + state).sum()
}
