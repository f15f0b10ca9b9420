//! Rows of CSV into fields, with the quoting of RFC 4180: a field in double quotes may have
//! delimiters, line breaks and doubled quotes in it. Spaces around fields are no part of them. Where quotes are not
//! what holds a field together, as in TSV, those around a whole field are no part of it either.

use std::ops::Range;

use super::End;

/// The fields of the row that was read last; memory is used again from row to row.
#[derive(Default)]
pub struct Row {
    fields: Vec<Content>,
    /// Fields with doubled quotes, made single.
    unescaped: Vec<u8>,
}

/// Where the text of a field stands.
#[derive(Clone)]
enum Content {
    InRecord(Range<usize>),
    Unescaped(Range<usize>),
}

impl Row {
    /// Splits a record, without its line break.
    ///
    /// # Errors
    /// A reason for `Skipped`.
    pub fn split(&mut self, record: &[u8], delimiter: u8) -> Result<(), &'static str> {
        self.fields.clear();
        self.unescaped.clear();
        let mut at = 0;
        loop {
            let field = field(record, at, delimiter);
            match field.quotes {
                Quotes::Unclosed => return Err("a quote is never closed"),
                Quotes::Followed => return Err("text follows a closing quote"),
                Quotes::None | Quotes::Plain => {
                    self.fields.push(Content::InRecord(field.text));
                }
                Quotes::Doubled => self.push_quoted(record, field.text),
            }
            if field.end >= record.len() {
                return Ok(());
            }
            at = field.end + 1;
        }
    }

    /// Splits a record at every delimiter, whatever quotes there are.
    pub fn split_at_all(&mut self, record: &[u8], delimiter: u8) {
        self.fields.clear();
        self.unescaped.clear();
        let mut start = 0;
        for end in memchr::memchr_iter(delimiter, record).chain([record.len()]) {
            let text = &record[start..end];
            let from = start + text.iter().take_while(|&&byte| byte == b' ').count();
            let text = text.trim_ascii();
            let quoted = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
            match quoted {
                None => self.fields.push(Content::InRecord(from..from + text.len())),
                Some(inner) => self.push_quoted(record, from + 1..from + 1 + inner.len()),
            }
            start = end + 1;
        }
    }

    /// Adds a field that stood in quotes.
    fn push_quoted(&mut self, record: &[u8], text: Range<usize>) {
        let mut rest = &record[text.clone()];
        if memchr::memmem::find(rest, b"\"\"").is_none() {
            return self.fields.push(Content::InRecord(text));
        }
        let start = self.unescaped.len();
        while let Some(quote) = memchr::memchr(b'"', rest) {
            self.unescaped.extend_from_slice(&rest[..=quote]);
            rest = &rest[quote + 1..];
            rest = rest.strip_prefix(b"\"").unwrap_or(rest);
        }
        self.unescaped.extend_from_slice(rest);
        self.fields.push(Content::Unescaped(start..self.unescaped.len()));
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// The text of a field of `record`, which was split last.
    ///
    /// # Panics
    /// If there are not so many fields, or it was another record.
    pub fn field<'a>(&'a self, index: usize, record: &'a [u8]) -> &'a [u8] {
        match &self.fields[index] {
            Content::InRecord(range) => &record[range.clone()],
            Content::Unescaped(range) => &self.unescaped[range.clone()],
        }
    }
}

/// Where the first record of some bytes ends, if it does among them.
pub fn end_of_record(bytes: &[u8], delimiter: u8) -> Option<End> {
    let mut at = 0;
    let mut lines = 1;
    loop {
        let field = field(bytes, at, delimiter);
        if field.quotes != Quotes::None {
            let more = memchr::memchr_iter(b'\n', &bytes[field.text.clone()]).count() as u64;
            if more > 0 && field.quotes == Quotes::Followed {
                // A quote that was meant to be closed on its line met one of another line.
                return End::of_line(bytes);
            }
            lines += more;
        }
        match bytes.get(field.end)? {
            b'\n' => return Some(End { feed: field.end, lines }),
            _ => at = field.end + 1,
        }
    }
}

/// A field as it stands.
struct Field {
    /// Its text, without the quotes around it and the spaces around those.
    text: Range<usize>,
    quotes: Quotes,
    /// Where the delimiter or line feed after it stands, or the end of the bytes.
    end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Plain,
    Doubled,
    Unclosed,
    Followed,
}

/// The field that starts at `from`.
fn field(bytes: &[u8], from: usize, delimiter: u8) -> Field {
    let blank = |byte: &u8| *byte == b' ' && delimiter != b' ';
    let spaces = bytes[from..].iter().take_while(|byte| blank(byte)).count();
    let start = from + spaces;
    let ending = |from: usize| {
        let found = memchr::memchr2(delimiter, b'\n', &bytes[from..]);
        found.map_or(bytes.len(), |length| from + length)
    };
    let trimmed_end = |end: usize| {
        end - bytes[start.min(end)..end].iter().rev().take_while(|byte| blank(byte)).count()
    };
    if bytes.get(start) != Some(&b'"') {
        let end = ending(start);
        return Field { text: start..trimmed_end(end), quotes: Quotes::None, end };
    }
    let mut quotes = Quotes::Plain;
    let mut at = start + 1;
    let close = loop {
        let Some(length) = memchr::memchr(b'"', &bytes[at..]) else {
            let text = start + 1..bytes.len();
            return Field { text, quotes: Quotes::Unclosed, end: bytes.len() };
        };
        let quote = at + length;
        if bytes.get(quote + 1) != Some(&b'"') {
            break quote;
        }
        quotes = Quotes::Doubled;
        at = quote + 2;
    };
    let end = ending(close + 1);
    // A carriage return before the line feed is part of the line break.
    let rest = bytes[close + 1..end].strip_suffix(b"\r").unwrap_or(&bytes[close + 1..end]);
    if !rest.iter().all(blank) {
        quotes = Quotes::Followed;
    }
    Field { text: start + 1..close, quotes, end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::readable;
    use proptest::prelude::*;

    fn split(record: &str, delimiter: u8) -> Result<Vec<String>, &'static str> {
        let mut row = Row::default();
        row.split(record.as_bytes(), delimiter)?;
        let fields = 0..row.len();
        Ok(fields.map(|index| readable(row.field(index, record.as_bytes()))).collect())
    }

    #[test]
    fn fields_are_plain_or_quoted() {
        for (record, delimiter, fields) in [
            ("a,b", b',', vec!["a", "b"]),
            ("a,,", b',', vec!["a", "", ""]),
            (" a , \"b\" ,c", b',', vec!["a", "b", "c"]),
            ("\"a,b\",\"say \"\"x\"\"\"", b',', vec!["a,b", "say \"x\""]),
            ("\"\"\"\",\"\"", b',', vec!["\"", ""]),
            ("5\" pipe,b", b',', vec!["5\" pipe", "b"]),
            ("a\tb c\t", b'\t', vec!["a", "b c", ""]),
            ("\"two\nlines\";x", b';', vec!["two\\x0alines", "x"]),
        ] {
            assert_eq!(
                split(record, delimiter),
                Ok(fields.iter().map(|&f| f.to_owned()).collect()),
                "{record}"
            );
        }
        assert_eq!(split("a,\"b", b','), Err("a quote is never closed"));
        assert_eq!(split("\"a\"b,c", b','), Err("text follows a closing quote"));
    }

    #[test]
    fn quotes_may_hold_nothing_together() {
        let mut row = Row::default();
        for (record, fields) in [
            ("a\t\"b\tc", vec!["a", "\"b", "c"]),
            ("\"a\"\t b \t\"say \"\"x\"\"\"", vec!["a", "b", "say \"x\""]),
            ("\"\t\"\"\t", vec!["\"", "", ""]),
        ] {
            row.split_at_all(record.as_bytes(), b'\t');
            let found = (0..row.len()).map(|index| readable(row.field(index, record.as_bytes())));
            assert_eq!(found.collect::<Vec<_>>(), fields, "{record}");
        }
    }

    proptest! {
        /// The csv crate is the reference: what it writes is read back.
        #[test]
        fn what_the_csv_crate_writes_is_read_back(
            fields in prop::collection::vec("[a ,\"\n]{0,6}", 2..6),
        ) {
            let mut writer = csv::WriterBuilder::new().quote_style(csv::QuoteStyle::Always).from_writer(Vec::new());
            writer.write_record(&fields).unwrap();
            let bytes = writer.into_inner().unwrap();
            let record = std::str::from_utf8(&bytes).unwrap().strip_suffix('\n').unwrap();
            let expected: Vec<String> = fields.iter().map(|f| readable(f.as_bytes())).collect();
            prop_assert_eq!(split(record, b','), Ok(expected));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(prop::sample::select(b"a ,\"\n\r".to_vec()), 0..30)) {
            let _ = Row::default().split(&bytes, b',');
        }
    }
}
