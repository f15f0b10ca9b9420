//! A line into fields between spaces, where a field in quotes may have spaces too. Quotes may be escaped,
//! raw or missing; a field that is spoilt by them is joined again where its last quote shows it.

use std::ops::Range;

use super::request::closing_quote;

/// The fields of the text that was split last; memory is used again from text to text.
#[derive(Debug, Clone, Default)]
pub struct Words {
    fields: Vec<Range<usize>>,
}

impl Words {
    /// Splits a text into fields between spaces; spaces in quotes are part of theirs.
    pub fn split(&mut self, text: &[u8]) {
        self.fields.clear();
        let mut at = 0;
        // The last field that starts with a quote.
        let mut opened: Option<usize> = None;
        let mut ends = true;
        while let Some(start) = next(text, at) {
            let end = field_end(text, start, &mut ends);
            at = end;
            let field = &text[start..end];
            match opened {
                // The rest of a field that has a raw quote inside.
                Some(index) if index > 0 && closes(field) => {
                    self.fields.truncate(index + 1);
                    self.fields[index].end = end;
                }
                _ => {
                    if field[0] == b'"' {
                        opened = Some(self.fields.len());
                    }
                    self.fields.push(start..end);
                }
            }
        }
    }

    /// Finds the first field alone, which is cheaper.
    pub fn first_only(&mut self, text: &[u8]) {
        self.fields.clear();
        if let Some(start) = next(text, 0) {
            self.fields.push(start..field_end(text, start, &mut true));
        }
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field of `text`, which was split last, with its quotes.
    pub fn get<'a>(&self, index: usize, text: &'a [u8]) -> Option<&'a [u8]> {
        text.get(self.fields.get(index)?.clone())
    }
}

/// Where the next field starts.
fn next(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.iter().position(|byte| !byte.is_ascii_whitespace()).map(|blank| from + blank)
}

/// Whether a field that starts with no quote ends one that was opened before: its last quote has no other one in the
/// field that it belongs to, as that of `uct="0.001"` has.
fn closes(field: &[u8]) -> bool {
    field.last() == Some(&b'"')
        && field[0] != b'"'
        && memchr::memchr_iter(b'"', field).count() % 2 == 1
}

/// Where the field that starts at `from` ends; one whose quote is never closed goes to the end. `ends` becomes false
/// where no quote ends a field from there on, so that nobody looks for one again.
fn field_end(text: &[u8], from: usize, ends: &mut bool) -> usize {
    if text[from] == b'"' {
        return quoted_end(text, from + 1).unwrap_or(text.len());
    }
    let end = memchr::memchr2(b' ', b'\t', &text[from..]).map_or(text.len(), |space| from + space);
    // A name may stand before the quotes: `upstream="192.0.2.1:80, 192.0.2.2:80"`.
    let quotes = if *ends { memchr::memmem::find(&text[from..end], b"=\"") } else { None };
    let Some(equals) = quotes else { return end };
    let quoted_end = quoted_end(text, from + equals + 2);
    *ends = quoted_end.is_some();
    quoted_end.unwrap_or(end)
}

/// Where the quotes close within which `from` lies, if they do.
fn quoted_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    // A quote that no space follows is one that the client has sent.
    while let Some(quote) = text.get(at..).and_then(closing_quote) {
        at += quote + 1;
        if text.get(at).is_none_or(u8::is_ascii_whitespace) {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_between_spaces_and_quotes_hold_them_together() {
        let fields = |text: &str| {
            let mut words = Words::default();
            words.split(text.as_bytes());
            let all = (0..words.len()).filter_map(|index| words.get(index, text.as_bytes()));
            all.map(|field| String::from_utf8(field.to_vec()).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(fields("  a   b\tc"), ["a", "b", "c"]);
        assert_eq!(fields(r#"1 "a b" "c \" d" e"#), ["1", r#""a b""#, r#""c \" d""#, "e"]);
        assert_eq!(fields(r#"1 "raw "user" agent" e"#), ["1", r#""raw "user" agent""#, "e"]);
        assert_eq!(fields(r#"1 "cut off"#), ["1", r#""cut off"#]);
        assert_eq!(
            fields(r#"1 "a, b" rt=0.25 uct="0.001" ua="c, d" e="cut off"#),
            ["1", r#""a, b""#, "rt=0.25", r#"uct="0.001""#, r#"ua="c, d""#, r#"e="cut"#, "off"]
        );
        assert_eq!(fields(r#"1 "raw x="y z" agent" e"#), ["1", r#""raw x="y z" agent""#, "e"]);
        assert_eq!(fields(""), Vec::<String>::new());
    }

    /// Looking back over all fields for each of 2^19 would take 2^37 steps.
    #[test]
    fn many_fields_are_each_looked_at_once() {
        let text = "a ".repeat(1 << 19);
        let mut words = Words::default();
        words.split(text.as_bytes());
        assert_eq!(words.len(), 1 << 19);
        words.split(format!("a \"b {text}c\"").as_bytes());
        assert_eq!(words.len(), 2);
        words.split("a=\"b ".repeat(1 << 18).as_bytes());
        assert_eq!(words.len(), 1 << 18);
    }
}
