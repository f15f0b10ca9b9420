//! Bytes into lines: a file is read in large blocks, digested on the way and cut into lines of
//! bounded length, so that memory does not grow with the file or with its longest line.

use std::io::{self, ErrorKind, Read};

use sha2::{Digest, Sha256};

use crate::log::format::End;

/// Bytes of a block, and the longest line that is kept whole.
pub const BLOCK: usize = 1 << 20;

/// A line, or a record of several lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The number of its first line in the file, from 1.
    pub number: u64,
    /// Its bytes without the line break.
    pub bytes: &'a [u8],
    /// Whether the end is missing because it is longer than a block.
    pub cut: bool,
}

/// Reads lines.
pub struct Reader<R> {
    source: R,
    buffer: Box<[u8]>,
    /// The bytes of `buffer` that were read and not yet handed out.
    start: usize,
    end: usize,
    ended: bool,
    /// Whether the rest of a line that was cut is still to come.
    amid_cut: bool,
    next_number: u64,
    bytes: u64,
    digest: Sha256,
}

impl<R: Read> Reader<R> {
    /// Reads from `source` in blocks of `block` bytes, at least one.
    pub fn new(source: R, block: usize) -> Reader<R> {
        Reader {
            source,
            buffer: vec![0; block.max(1)].into_boxed_slice(),
            start: 0,
            end: 0,
            ended: false,
            amid_cut: false,
            next_number: 1,
            bytes: 0,
            digest: Sha256::new(),
        }
    }

    /// The first bytes of the file: a block, or all of a smaller file.
    ///
    /// # Errors
    /// What the source reports.
    pub fn head(&mut self) -> io::Result<&[u8]> {
        while !self.ended && self.end < self.buffer.len() {
            self.fill()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Leaves out so many of the first bytes; for a byte order mark.
    pub fn skip(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
    }

    /// The next line. `end` finds where the first record of some bytes ends; where it does not in a
    /// whole block or in the rest of the file, the record ends with its first line.
    ///
    /// # Errors
    /// What the source reports.
    pub fn next(&mut self, end: impl Fn(&[u8]) -> Option<End>) -> io::Result<Option<Line<'_>>> {
        let (from, to, lines, cut) = loop {
            let pending = &self.buffer[self.start..self.end];
            let full = pending.len() == self.buffer.len();
            if self.amid_cut {
                let feed = memchr::memchr(b'\n', pending);
                self.amid_cut = feed.is_none();
                self.start = feed.map_or(self.end, |feed| self.start + feed + 1);
                if self.amid_cut && self.ended {
                    return Ok(None);
                } else if self.amid_cut {
                    self.fill()?;
                }
                continue;
            }
            let first_line = || (full || self.ended).then(|| End::of_line(pending)).flatten();
            let found = end(pending).or_else(first_line);
            let from = self.start;
            if let Some(End { feed, lines }) = found {
                self.start += feed + 1;
                break (from, from + feed, lines, false);
            }
            if full || self.ended {
                if pending.is_empty() {
                    return Ok(None);
                }
                self.start = self.end;
                self.amid_cut = !self.ended;
                break (from, self.end, 1, self.amid_cut);
            }
            self.fill()?;
        };
        let bytes = &self.buffer[from..to];
        let number = self.next_number;
        self.next_number += lines;
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Ok(Some(Line { number, bytes, cut }))
    }

    /// How many bytes were read, and their SHA-256 digest in hexadecimal: of the whole file once
    /// [`Reader::next`] has given `None`.
    pub fn finish(self) -> (u64, String) {
        let digest = self.digest.finalize();
        (self.bytes, digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Makes room and reads once.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let read = loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.digest.update(&self.buffer[self.end..self.end + read]);
        self.bytes += read as u64;
        self.ended = read == 0;
        self.end += read;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives at most so many bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn lines(bytes: &[u8], block: usize, step: usize) -> Vec<(u64, Vec<u8>, bool)> {
        let mut reader = Reader::new(Trickle(bytes, step), block);
        let mut lines = Vec::new();
        while let Some(line) = reader.next(End::of_line).unwrap() {
            lines.push((line.number, line.bytes.to_vec(), line.cut));
        }
        assert_eq!(reader.finish().0, bytes.len() as u64);
        lines
    }

    #[test]
    fn line_breaks_of_both_kinds_end_lines_and_the_last_needs_none() {
        let found = lines(b"a\r\nb\n\nc", 64, 64);
        let expected = [(1, "a"), (2, "b"), (3, ""), (4, "c")];
        assert_eq!(found, expected.map(|(n, text)| (n, text.as_bytes().to_vec(), false)));
        assert_eq!(lines(b"a\n", 64, 64).len(), 1);
    }

    #[test]
    fn a_line_longer_than_a_block_is_cut_and_the_next_one_is_whole() {
        let found = lines(b"abcdefghij\nxy\nklmnopq", 4, 3);
        let expected = [(1, "abcd", true), (2, "xy", false), (3, "klmn", true)];
        assert_eq!(found, expected.map(|(n, text, cut)| (n, text.as_bytes().to_vec(), cut)));
    }

    #[test]
    fn the_digest_is_that_of_all_bytes() {
        let mut reader = Reader::new(&b"abc"[..], 2);
        while reader.next(|_| None).unwrap().is_some() {}
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(reader.finish(), (3, digest.to_owned()));
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_the_bytes_arrive(
            bytes in prop::collection::vec(prop::sample::select(b"ab\r\n".to_vec()), 0..60),
            block in 1_usize..20,
            step in 1_usize..20,
        ) {
            let mut naive: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
            if naive.last().is_some_and(|last| last.is_empty()) {
                naive.pop();
            }
            let found = lines(&bytes, block, step);
            prop_assert_eq!(found.len(), naive.len());
            for (index, ((number, line, cut), whole)) in found.iter().zip(naive).enumerate() {
                prop_assert_eq!(*number, index as u64 + 1);
                let end = if *cut { block } else { whole.len() };
                let expected = &whole[..end];
                prop_assert_eq!(&line[..], expected.strip_suffix(b"\r").unwrap_or(expected));
                prop_assert!(whole.len() <= block || line.len() <= block);
            }
        }
    }
}
