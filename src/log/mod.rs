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
pub mod read;
pub mod stamp;
pub mod times;
pub mod wanted;
pub mod word;
pub mod zone;

pub use entry::{Entry, Field};
pub use number::{Number, Unit};
pub use order::Order;
pub use stamp::Stamp;
pub use times::{TimeUnit, Times};
pub use zone::Zone;

/// Bytes of a record as a text that can be shown: what is not UTF-8, and control characters, as
/// `\x16`.
pub fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let escape = |byte: &u8| format!("\\x{byte:02x}");
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character.is_control() {
                true => text.extend(character.to_string().as_bytes().iter().map(escape)),
                false => text.push(character),
            }
        }
        text.extend(chunk.invalid().iter().map(escape));
    }
    text
}

/// A number with what it counts.
pub fn count(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}
