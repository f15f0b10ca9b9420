//! The escapes of texts in JSON.

/// Appends a text of JSON with its escapes resolved; an escape that is none stays as it is.
pub fn unescape(raw: &[u8], into: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        into.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let (character, length) = match rest.get(1) {
            Some(b'n') => ('\n', 2),
            Some(b't') => ('\t', 2),
            Some(b'r') => ('\r', 2),
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'u') => code_point(rest).unwrap_or(('\\', 1)),
            Some(&byte @ (b'"' | b'\\' | b'/')) => (char::from(byte), 2),
            _ => ('\\', 1),
        };
        into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[length..];
    }
    into.extend_from_slice(rest);
}

/// The character of `\u00e9`, or of two such escapes that make a pair, and their length.
fn code_point(text: &[u8]) -> Option<(char, usize)> {
    let unit = |from: usize| {
        let digits = text.get(from..from + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let first = unit(0)?;
    if let Some(character) = char::from_u32(u32::from(first)) {
        return Some((character, 6));
    }
    let pair = [first, unit(6)?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((character, 12))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved_and_what_is_none_stays() {
        for (raw, text) in [
            (r#"a\n\t\"\\\/b"#, "a\n\t\"\\/b"),
            (r"\u00e9\ud83d\ude00", "é😀"),
            (r"\ud83d\u0041", r"\ud83dA"),
            (r"\x41\u12", r"\x41\u12"),
            (r"\", r"\"),
        ] {
            let mut found = Vec::new();
            unescape(raw.as_bytes(), &mut found);
            assert_eq!(String::from_utf8(found).unwrap(), text, "{raw}");
        }
    }
}
