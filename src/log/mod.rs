//! Logs of real servers: how their records are found, read and understood.
//!
//! A [`mod@format`] knows how one record becomes an [`Entry`], or why it does not; everything else is the
//! same for all: opening files, compression, blocks and lines, time zones, counting what cannot be used.
//! Bytes stay bytes throughout: logs have what scanners send, which need not be text.

pub mod entry;
pub mod filter;
pub mod format;
pub mod key;
pub mod limited;
pub mod names;
pub mod number;
pub mod order;
pub mod plain;
pub mod read;
pub mod stamp;
pub mod times;
pub mod wanted;
pub mod word;
pub mod zone;

pub use entry::{Entry, Field};
pub use number::{Number, Unit};
pub use order::Order;
pub use plain::Plain;
pub use stamp::Stamp;
pub use times::{TimeUnit, Times};
pub use zone::Zone;

/// Bytes of a record as a text that can be shown: what is not UTF-8, and control characters, as
/// `\x16`. The backslash of what looks like that already is `\x5c`, so that no two are shown alike.
pub fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let escape = |byte: &u8| format!("\\x{byte:02x}");
    for chunk in bytes.utf8_chunks() {
        for (at, character) in chunk.valid().char_indices() {
            let rest = chunk.valid().as_bytes().get(at..).unwrap_or_default();
            match character.is_control() || looks_escaped(rest) {
                true => text.extend(character.to_string().as_bytes().iter().map(escape)),
                false => text.push(character),
            }
        }
        text.extend(chunk.invalid().iter().map(escape));
    }
    text
}

/// Whether a text starts with what [`readable`] may make of a byte.
fn looks_escaped(text: &[u8]) -> bool {
    let digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    matches!(text, [b'\\', b'x', high, low, ..] if digit(high) && digit(low))
}

/// A number with what it counts.
pub fn count(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::readable;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_shown_is_told_from_its_escape() {
        for (bytes, shown) in [
            (&b"a\x1b"[..], "a\\x1b"),
            (b"a\\x1b", "a\\x5cx1b"),
            (b"\xff", "\\xff"),
            (b"DOMAIN\\user", "DOMAIN\\user"),
            (b"\\x1", "\\x1"),
            ("\u{85}\u{e4}".as_bytes(), "\\xc2\\x85\u{e4}"),
        ] {
            assert_eq!(readable(bytes), shown);
        }
    }

    proptest! {
        #[test]
        fn no_two_are_shown_alike(
            one in prop::collection::vec(prop::sample::select(b"\\x1b5c\x1b\xff".to_vec()), 0..9),
            other in prop::collection::vec(prop::sample::select(b"\\x1b5c\x1b\xff".to_vec()), 0..9),
        ) {
            prop_assert_eq!(one == other, readable(&one) == readable(&other));
        }
    }
}
