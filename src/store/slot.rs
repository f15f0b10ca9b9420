//! Which hash slot, and which shard, a key belongs to, as in Redis Cluster.

/// Slots of a cluster.
pub const SLOTS: u16 = 16384;

/// The hash slot of a key: CRC16 (XMODEM) of the key modulo 16384. If the key has a `{`, a `}` after it, and
/// something between the first `{` and the first `}` after that, only what is between counts.
pub fn hash_slot(key: &[u8]) -> u16 {
    crc16(hashed(key)) % SLOTS
}

/// Which of `shards` shards, counted from 0, has a slot: each has as many in a row, to within one, divided as
/// `redis-cli --cluster create` does. With more shards than slots some have none.
///
/// # Panics
/// If there is no shard.
pub fn shard_of(slot: u16, shards: usize) -> usize {
    assert!(shards > 0, "a store has a shard at least");
    // There the i-th shard of n, counted from 1, ends with slot round(16384 i / n - 1). So the middle of a slot tells
    // its shard; on an edge, the one before.
    let middle = (2 * u128::from(slot) + 1) * shards as u128;
    ((middle - 1) / (2 * u128::from(SLOTS))) as usize
}

/// What of a key is hashed.
fn hashed(key: &[u8]) -> &[u8] {
    let find = |bytes: &[u8], byte: u8| bytes.iter().position(|&other| other == byte);
    let tag = find(key, b'{').and_then(|open| {
        let after = &key[open + 1..];
        find(after, b'}').map(|close| &after[..close])
    });
    tag.filter(|tag| !tag.is_empty()).unwrap_or(key)
}

/// CRC-16/XMODEM: polynomial 0x1021, starting with 0, most significant bit first.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &byte| (crc << 8) ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

/// What each leading byte comes to.
static TABLE: [u16; 256] = table();

const fn table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_check_value_of_the_specification() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        assert_eq!(hash_slot(b"123456789"), 12739);
        assert_eq!((crc16(b""), hash_slot(b"")), (0, 0));
    }

    #[test]
    fn slots_of_keys_as_cluster_keyslot_tells_them() {
        for (key, slot) in [("foo", 12182), ("bar", 5061), ("hello", 866), ("somekey", 11058)] {
            assert_eq!(hash_slot(key.as_bytes()), slot, "{key}");
        }
    }

    #[test]
    fn only_what_is_in_the_first_braces_counts_if_anything_is() {
        for (key, part) in [
            ("{user1000}.following", "user1000"),
            ("foo{}{bar}", "foo{}{bar}"),
            ("foo{{bar}}zap", "{bar"),
            ("foo{bar}{zap}", "bar"),
            ("foo{bar", "foo{bar"),
            ("foo}bar{", "foo}bar{"),
            ("}{a}", "a"),
            ("{}", "{}"),
        ] {
            assert_eq!(hashed(key.as_bytes()), part.as_bytes(), "{key}");
        }
        assert_eq!(hash_slot(b"ratelimit:a:{ann}"), hash_slot(b"ratelimit:b:{ann}"));
        assert_ne!(hash_slot(b"ratelimit:a:ann"), hash_slot(b"ratelimit:b:ann"));
    }

    /// The first and the last slot of each shard.
    fn ranges(shards: usize) -> Vec<(u16, u16)> {
        let mut ranges: Vec<(u16, u16)> = Vec::new();
        for slot in 0..SLOTS {
            match ranges.get_mut(shard_of(slot, shards)) {
                Some((_, last)) => *last = slot,
                None => ranges.push((slot, slot)),
            }
        }
        ranges
    }

    #[test]
    fn three_masters_get_the_slots_that_redis_cli_gives_them() {
        assert_eq!(ranges(1), [(0, 16383)]);
        assert_eq!(ranges(2), [(0, 8191), (8192, 16383)]);
        assert_eq!(ranges(3), [(0, 5460), (5461, 10922), (10923, 16383)]);
    }

    proptest! {
        #[test]
        fn shards_have_ranges_of_one_length_to_within_one(shards in 1..=1000_usize) {
            let ranges = ranges(shards);
            prop_assert_eq!(ranges.len(), shards);
            let lengths = ranges.iter().map(|(first, last)| usize::from(last - first) + 1);
            let least = 16384 / shards;
            for length in lengths {
                prop_assert!(length == least || length == least + 1, "{} of {}", length, least);
            }
        }
    }
}
