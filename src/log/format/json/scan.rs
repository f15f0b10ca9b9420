//! Finds the values of some paths in a text of JSON, without building anything. A text that is cut short
//! or goes wrong gives what stands before.

use std::ops::Range;

use super::escape::unescape;
use crate::log::format::request::closing_quote;

/// Deeper than this, nothing is looked for, and what is there ends the text.
const DEEPEST: usize = 64;

/// Paths that are looked for, with what was found at each in the text that was scanned last.
#[derive(Debug, Default)]
pub struct Paths {
    paths: Vec<Vec<Box<[u8]>>>,
    found: Vec<Option<Content>>,
    /// What does not stand in the text as it is meant.
    scratch: Vec<u8>,
    /// The paths that lead into what is being scanned, and whether they end there.
    leading: Vec<(usize, bool)>,
}

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Text(Range<usize>),
    Scratch(Range<usize>),
}

impl Paths {
    /// Adds a path, such as `request.headers.Host`, unless it is there, and says its number. A key with a dot in it is
    /// found by a path that has the dot too.
    pub fn add(&mut self, path: &str) -> usize {
        let path: Vec<Box<[u8]>> = path.split('.').map(|part| part.as_bytes().into()).collect();
        if let Some(number) = self.paths.iter().position(|known| *known == path) {
            return number;
        }
        self.paths.push(path);
        self.found.push(None);
        self.paths.len() - 1
    }

    /// What was found at a path in `text`, which was scanned last: a text without its quotes and escapes,
    /// a number or a truth value as it stands, a list with commas between. `None` for null, for an object, and
    /// where there is nothing.
    pub fn get<'a>(&'a self, number: usize, text: &'a [u8]) -> Option<&'a [u8]> {
        match self.found.get(number)?.as_ref()? {
            Content::Text(range) => text.get(range.clone()),
            Content::Scratch(range) => self.scratch.get(range.clone()),
        }
    }

    /// Scans an object. False if the text is none, or is not one to its end.
    pub fn scan(&mut self, text: &[u8]) -> bool {
        self.found.fill(None);
        self.scratch.clear();
        self.leading.clear();
        let all = 0..self.paths.len();
        self.leading.extend(all.clone().map(|path| (path, false)));
        let mut scan = Scan { text, at: 0 };
        scan.blanks();
        scan.text.get(scan.at) == Some(&b'{') && self.object(&mut scan, all, 0).is_some()
    }

    /// Scans the object at hand, into which some of `leading` lead, `depth` parts having been used.
    fn object(&mut self, scan: &mut Scan, into: Range<usize>, depth: usize) -> Option<()> {
        scan.take(b'{')?;
        scan.blanks();
        if scan.take(b'}').is_some() {
            return Some(());
        }
        loop {
            scan.blanks();
            let key = scan.string()?;
            scan.blanks();
            scan.take(b':')?;
            scan.blanks();
            self.member(scan, key, into.clone(), depth)?;
            scan.blanks();
            match scan.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Scans the value of a key.
    fn member(
        &mut self,
        scan: &mut Scan,
        key: Range<usize>,
        into: Range<usize>,
        depth: usize,
    ) -> Option<()> {
        let start = self.leading.len();
        for index in into {
            let (path, ended) = self.leading[index];
            let parts = &self.paths[path][depth.min(self.paths[path].len())..];
            if ended || self.found[path].is_some() {
                continue;
            }
            match parts_of_key(parts, &scan.text[key.clone()]) {
                Some(used) if used == parts.len() => self.leading.push((path, true)),
                Some(1) => self.leading.push((path, false)),
                _ => {}
            }
        }
        let into = start..self.leading.len();
        let result = match scan.text.get(scan.at)? {
            _ if into.is_empty() => scan.skip_value(),
            b'{' if depth + 1 < DEEPEST => self.object(scan, into, depth + 1),
            _ => self.value(scan, into),
        };
        self.leading.truncate(start);
        result
    }

    /// Scans a value that is no object and keeps it for the paths that end there.
    fn value(&mut self, scan: &mut Scan, into: Range<usize>) -> Option<()> {
        let content = match scan.text.get(scan.at)? {
            b'[' => self.list(scan)?,
            _ => self.scalar(scan)?,
        };
        for &(path, ended) in &self.leading[into] {
            if ended {
                self.found[path].clone_from(&content);
            }
        }
        Some(())
    }

    /// A text, number or truth value; `None` inside for null.
    fn scalar(&mut self, scan: &mut Scan) -> Option<Option<Content>> {
        if scan.text.get(scan.at) != Some(&b'"') {
            let word = scan.word()?;
            return Some((&scan.text[word.clone()] != b"null").then_some(Content::Text(word)));
        }
        let range = scan.string()?;
        let raw = &scan.text[range.clone()];
        if memchr::memchr(b'\\', raw).is_none() {
            return Some(Some(Content::Text(range)));
        }
        let start = self.scratch.len();
        unescape(raw, &mut self.scratch);
        Some(Some(Content::Scratch(start..self.scratch.len())))
    }

    /// A list: its only element, or all of its texts and numbers with commas between.
    fn list(&mut self, scan: &mut Scan) -> Option<Option<Content>> {
        scan.take(b'[')?;
        scan.blanks();
        let mut list = None;
        if scan.take(b']').is_some() {
            return Some(None);
        }
        loop {
            scan.blanks();
            match scan.text.get(scan.at)? {
                b'{' | b'[' => scan.skip_value()?,
                _ => list = self.element(scan, list)?,
            }
            scan.blanks();
            match scan.next()? {
                b',' => {}
                b']' => return Some(list),
                _ => return None,
            }
        }
    }

    /// A list with one more element.
    fn element(&mut self, scan: &mut Scan, list: Option<Content>) -> Option<Option<Content>> {
        let Some(list) = list else { return self.scalar(scan) };
        let start = match list {
            // What was joined before stands last, and grows.
            Content::Scratch(range) if range.end == self.scratch.len() => range.start,
            Content::Scratch(range) => {
                let start = self.scratch.len();
                self.scratch.extend_from_within(range);
                start
            }
            Content::Text(range) => {
                let start = self.scratch.len();
                self.scratch.extend_from_slice(&scan.text[range]);
                start
            }
        };
        self.scratch.extend_from_slice(b", ");
        if let Some(Content::Text(range)) = self.scalar(scan)? {
            self.scratch.extend_from_slice(&scan.text[range]);
        }
        Some(Some(Content::Scratch(start..self.scratch.len())))
    }
}

/// How many parts of a path a key is, letters of either case being the same; a key may have dots itself.
fn parts_of_key(parts: &[Box<[u8]>], key: &[u8]) -> Option<usize> {
    let mut rest = key;
    for (index, part) in parts.iter().enumerate() {
        let (head, tail) = rest.split_at_checked(part.len())?;
        if !head.eq_ignore_ascii_case(part) {
            return None;
        }
        match tail {
            [] => return Some(index + 1),
            [b'.', tail @ ..] => rest = tail,
            _ => return None,
        }
    }
    None
}

/// A text that is being scanned.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.text.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// A text in quotes: what stands between them.
    fn string(&mut self) -> Option<Range<usize>> {
        self.take(b'"')?;
        let length = closing_quote(&self.text[self.at..])?;
        let range = self.at..self.at + length;
        self.at = range.end + 1;
        Some(range)
    }

    /// A number or a word; one that the text ends with may have been cut.
    fn word(&mut self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
        let length = rest.iter().position(ends).filter(|&length| length > 0)?;
        let range = self.at..self.at + length;
        self.at = range.end;
        Some(range)
    }

    /// Passes over a value of any kind.
    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.text.get(self.at)? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\t' if depth > 0 => self.at += 1,
                _ => self.word_or_key()?,
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn word_or_key(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let ends = |byte: &u8| {
            matches!(byte, b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[')
                || byte.is_ascii_whitespace()
        };
        let length = rest.iter().position(ends)?;
        self.at += length.max(1);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str, paths: &[&str]) -> String {
        let mut all = Paths::default();
        let numbers: Vec<usize> = paths.iter().map(|path| all.add(path)).collect();
        let whole = all.scan(text.as_bytes());
        let values = numbers.into_iter().map(|number| {
            let value = all.get(number, text.as_bytes());
            value.map_or("none".to_owned(), |value| value.escape_ascii().to_string())
        });
        let values: Vec<String> = values.collect();
        format!("{} {whole}", values.join(" | "))
    }

    #[test]
    fn values_are_found_by_their_paths() {
        let text = r#"{"ts": 1.5, "skip": [1, {"ts": 2}], "request": {"uri": "/a\"b\u00e9\ud83d\ude00\n",
            "headers": {"X-Api-Key": ["k"], "Via": ["a", "b"]}}, "ok": true, "no": null, "a.b": "dot"}"#;
        for (path, value) in [
            ("ts", "1.5"),
            ("request.uri", "/a\\\"b\\xc3\\xa9\\xf0\\x9f\\x98\\x80\\n"),
            ("request.headers.x-api-key", "k"),
            ("request.headers.via", "a, b"),
            ("ok", "true"),
            ("no", "none"),
            ("a.b", "dot"),
            ("request", "none"),
            ("uri", "none"),
            ("ts.x", "none"),
        ] {
            assert_eq!(found(text, &[path]), format!("{value} true"), "{path}");
        }
        let both = found(text, &["request.headers.via", "ts", "a.b"]);
        assert_eq!(both, "a, b | 1.5 | dot true");
    }

    #[test]
    fn what_stands_before_a_cut_is_found_and_what_may_have_been_cut_is_not() {
        let text = r#"{"ts":12345,"status":200,"uri":"/a"}"#;
        let paths = ["ts", "status", "uri"];
        for (length, values) in [
            (text.len(), "12345 | 200 | /a true"),
            (text.len() - 1, "12345 | 200 | /a false"),
            (text.len() - 2, "12345 | 200 | none false"),
            (24, "12345 | none | none false"),
            (9, "none | none | none false"),
            (0, "none | none | none false"),
        ] {
            assert_eq!(found(&text[..length], &paths), values, "{length}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "[".repeat(100_000);
        assert_eq!(found(&format!("{{\"a\":{deep}"), &["a", "b"]), "none | none false");
        let deep = "{\"a\":".repeat(100_000);
        assert_eq!(found(&deep, &["a.a.a"]), "none false");
    }

    proptest! {
        /// serde_json is the reference for what is valid.
        #[test]
        fn values_are_those_of_another_parser(
            key in "[a-c\"\\\\é\n]{0,4}",
            value in "[ -~é😀\n\t\"\\\\]{0,12}",
            number in any::<i64>(),
        ) {
            prop_assume!(key != "n");
            let text = serde_json::json!({ "x": { key: value.clone() }, "n": number, "t": value }).to_string();
            let mut paths = Paths::default();
            let (n, t) = (paths.add("n"), paths.add("t"));
            prop_assert!(paths.scan(text.as_bytes()));
            let number = number.to_string();
            prop_assert_eq!(paths.get(n, text.as_bytes()), Some(number.as_bytes()));
            prop_assert_eq!(paths.get(t, text.as_bytes()), Some(value.as_bytes()));
        }

        #[test]
        fn no_bytes_make_it_panic(
            pieces in prop::collection::vec(prop::sample::select(vec![
                &b"{"[..], b"}", b"[", b"]", b"\"", b"\\", b":", b",", b"\"a\"", b"1", b"null", b" ", b"\\u12", b"\xff",
            ]), 0..40),
        ) {
            let text = pieces.concat();
            let mut paths = Paths::default();
            let number = paths.add("a.a");
            paths.add("a");
            paths.scan(&text);
            paths.get(number, &text);
        }
    }
}
