//! Which hash slot, and which shard, a key belongs to, as in Redis Cluster.

/// Slots of a cluster.
pub const SLOTS: u16 = 16384;

/// The hash slot of a key: CRC16 (XMODEM) of the key modulo 16384. If the key has a `{`, a `}` after it, and
/// something between the first `{` and the first `}` after that, only what is between counts.
pub fn hash_slot(key: &[u8]) -> u16 {
    let _ = key;
    0
}

/// Which of so many shards a slot belongs to: each has a range of slots, as even as can be.
pub fn shard_of(slot: u16, shards: usize) -> usize {
    usize::from(slot) * shards / usize::from(SLOTS)
}
