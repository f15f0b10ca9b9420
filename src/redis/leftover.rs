//! Keys of this program that are still in a database: which they are, and the command that deletes them.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use super::address::Address;

/// What the keys of all verifications start with.
pub(super) const OURS: &str = "ratesim:{";

/// Hexadecimal digits by which a verification is told from the others.
const DIGITS: usize = 16;

/// What the keys of a new verification start with.
pub(super) fn new_prefix() -> String {
    // The standard library's only source of random bits; they name keys and decide nothing.
    let random = RandomState::new().build_hasher().finish();
    format!("{OURS}{random:0DIGITS$x}:")
}

/// What the keys of the verification start with to which this one belongs; `None` for a key of somebody else.
pub(super) fn prefix_of(key: &[u8]) -> Option<&str> {
    let end = OURS.len() + DIGITS + 1;
    let prefix = str::from_utf8(key.get(..end)?).ok()?;
    let digits = prefix.strip_prefix(OURS)?.strip_suffix(':')?;
    digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).then_some(prefix)
}

/// The command that deletes the keys of one verification, or of all (`None`), and no others; `delete` is the
/// server's command for it. Names of keys have nothing in them that `xargs` would change.
pub(super) fn removal(address: &Address, prefix: Option<&str>, delete: &str) -> String {
    let cli = address.command_line();
    let found = match prefix {
        Some(prefix) => format!("{cli} --scan --pattern '{prefix}*'"),
        None => format!(
            "{cli} --scan --pattern '{OURS}*' | grep -aE '^ratesim:[{{][0-9a-f]{{{DIGITS}}}:'"
        ),
    };
    let password = match address.password {
        Some(_) => " (with the password in the variable REDISCLI_AUTH)",
        None => "",
    };
    format!("{found} | xargs -r {cli} {delete}{password}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_of_the_very_form_are_ours() {
        let prefix = new_prefix();
        assert_eq!(prefix_of(format!("{prefix}0}}:all:0:1").as_bytes()), Some(&*prefix));
        let ours = "ratesim:{0123456789abcdef:";
        assert_eq!(prefix_of(ours.as_bytes()), Some(ours));
        for other in [
            "",
            "ratesim:mine",
            "ratesim:{mine}",
            "ratesim:{0123456789abcdef",
            "ratesim:{0123456789abcdef}",
            "ratesim:{0123456789ABCDEF:0}",
            "ratesim:{0123456789abcde:0}",
            "xratesim:{0123456789abcdef:0}",
        ] {
            assert_eq!(prefix_of(other.as_bytes()), None, "{other}");
        }
        assert_eq!(prefix_of(b"ratesim:{0123456789abcde\xff:"), None);
    }

    #[test]
    fn the_command_finds_keys_by_their_prefix_and_deletes_them() {
        let address = Address::parse("redis://:secret@db:7000/2").unwrap();
        let shown = removal(&address, Some("ratesim:{0123456789abcdef:"), "DEL");
        let expected = "redis-cli -h db -p 7000 -n 2 --scan --pattern 'ratesim:{0123456789abcdef:*' | xargs -r \
                        redis-cli -h db -p 7000 -n 2 DEL (with the password in the variable REDISCLI_AUTH)";
        assert_eq!(shown, expected);
        let address = Address::parse("redis://db").unwrap();
        let shown = removal(&address, None, "UNLINK");
        let expected = "redis-cli -h db -p 6379 --scan --pattern 'ratesim:{*' | grep -aE \
                        '^ratesim:[{][0-9a-f]{16}:' | xargs -r redis-cli -h db -p 6379 UNLINK";
        assert_eq!(shown, expected);
    }
}
