//! Blocks into lines of bounded length, so that memory does not grow with the file or with its longest line.

use std::io;

use super::block::{Block, Supply};
use crate::log::format::End;

/// The longest line that is kept whole.
pub const LONGEST: usize = 1 << 20;

/// A line, or a record of several lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The number of its first line in the file, from 1.
    pub number: u64,
    /// Its bytes without the line break.
    pub bytes: &'a [u8],
    /// Whether the end is missing because it is longer than [`LONGEST`].
    pub cut: bool,
    /// Whether the text ends before the line does.
    pub open: bool,
}

/// Reads lines.
pub struct Lines<S> {
    supply: S,
    longest: usize,
    block: Block,
    /// The bytes of the block that were not yet handed out.
    start: usize,
    ended: bool,
    /// Whether the rest of a line that was cut is still to come.
    amid_cut: bool,
    next_number: u64,
}

impl<S: Supply> Lines<S> {
    /// Lines of up to `longest` bytes; the supply leaves so much room in its blocks, and has already given the first one,
    /// of which the bytes before `start` are left out.
    pub fn new(supply: S, longest: usize, first: Block, start: usize) -> Lines<S> {
        Lines {
            supply,
            longest,
            start,
            ended: first.last,
            block: first,
            amid_cut: false,
            next_number: 1,
        }
    }

    /// The block it is at, which can be filled again, and how many lines were given.
    pub fn into_block(self) -> (Block, u64) {
        (self.block, self.next_number - 1)
    }

    /// How many bytes of the file were read for the lines up to the last one given.
    pub fn bytes_read(&self) -> u64 {
        self.block.read
    }

    /// What the blocks came from.
    pub fn into_supply(self) -> S {
        self.supply
    }

    /// The next line. `end` finds where the first record of some bytes ends; where it does not within the
    /// longest line or the rest of the text, the record ends with its first line.
    ///
    /// # Errors
    /// What the supply reports.
    #[inline]
    pub fn next(&mut self, end: impl Fn(&[u8]) -> Option<End>) -> io::Result<Option<Line<'_>>> {
        let (from, to, lines, cut, open) = loop {
            let pending = &self.block.bytes[self.start..self.block.end];
            if self.amid_cut {
                let feed = memchr::memchr(b'\n', pending);
                self.amid_cut = feed.is_none();
                self.start = feed.map_or(self.block.end, |feed| self.start + feed + 1);
                if self.amid_cut && self.ended {
                    return Ok(None);
                } else if self.amid_cut {
                    self.fill()?;
                }
                continue;
            }
            let full = pending.len() > self.longest;
            let window = if full { &pending[..self.longest] } else { pending };
            let first_line = || (full || self.ended).then(|| End::of_line(window)).flatten();
            let found = end(window).or_else(first_line);
            let from = self.start;
            if let Some(End { feed, lines }) = found {
                self.start += feed + 1;
                break (from, from + feed, lines, false, false);
            }
            if full || self.ended {
                if window.is_empty() {
                    return Ok(None);
                }
                self.start += window.len();
                self.amid_cut = full;
                break (from, self.start, 1, full, !full);
            }
            self.fill()?;
        };
        let bytes = &self.block.bytes[from..to];
        let number = self.next_number;
        self.next_number += lines;
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Ok(Some(Line { number, bytes, cut, open }))
    }

    /// Passes over lines at the start of what is left of the block, and gives the number of the first: `read` says how
    /// many bytes and lines they have, given that and how long a line may be.
    pub fn pass(&mut self, read: impl FnOnce(&[u8], usize) -> (usize, u64)) -> u64 {
        let first = self.next_number;
        if !self.amid_cut {
            let (bytes, lines) = read(&self.block.bytes[self.start..self.block.end], self.longest);
            self.start += bytes;
            self.next_number += lines;
        }
        first
    }

    /// Has the next block, with what is left of this one before it.
    fn fill(&mut self) -> io::Result<()> {
        let left = self.block.bytes[self.start..self.block.end].to_vec();
        let used = std::mem::take(&mut self.block);
        match self.supply.next(used)? {
            Some(block) => {
                self.block = block;
                self.start = self.longest - left.len();
                self.block.bytes[self.start..self.longest].copy_from_slice(&left);
                self.ended = self.block.last;
            }
            None => {
                self.block =
                    Block { end: left.len(), bytes: left, last: true, read: self.block.read };
                self.start = 0;
                self.ended = true;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::{Filler, Source};
    use super::*;
    use proptest::prelude::*;

    /// Gives at most so many bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Source for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }

        fn bytes_read(&self) -> u64 {
            0
        }
    }

    fn lines(bytes: &[u8], longest: usize, read: usize, step: usize) -> Vec<(u64, Vec<u8>, bool)> {
        let mut filler = Filler::new(Trickle(bytes, step), longest, read);
        let first = filler.next(Block::default()).unwrap().unwrap();
        let mut all = Lines::new(filler, longest, first, longest);
        let mut lines = Vec::new();
        while let Some(line) = all.next(End::of_line).unwrap() {
            lines.push((line.number, line.bytes.to_vec(), line.cut));
        }
        lines
    }

    #[test]
    fn line_breaks_of_both_kinds_end_lines_and_the_last_needs_none() {
        let found = lines(b"a\r\nb\n\nc", 64, 64, 64);
        let expected = [(1, "a"), (2, "b"), (3, ""), (4, "c")];
        assert_eq!(found, expected.map(|(n, text)| (n, text.as_bytes().to_vec(), false)));
        assert_eq!(lines(b"a\n", 64, 64, 64).len(), 1);
    }

    #[test]
    fn a_line_longer_than_may_be_is_cut_and_the_next_one_is_whole() {
        let found = lines(b"abcdefghij\nxy\nklmnopq", 4, 3, 2);
        let expected = [(1, "abcd", true), (2, "xy", false), (3, "klmn", true)];
        assert_eq!(found, expected.map(|(n, text, cut)| (n, text.as_bytes().to_vec(), cut)));
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_the_bytes_arrive(
            bytes in prop::collection::vec(prop::sample::select(b"ab\r\n".to_vec()), 0..60),
            longest in 1_usize..20,
            read in 1_usize..20,
            step in 1_usize..20,
        ) {
            let mut naive: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
            if naive.last().is_some_and(|last| last.is_empty()) {
                naive.pop();
            }
            let found = lines(&bytes, longest, read, step);
            prop_assert_eq!(found.len(), naive.len());
            for (index, ((number, line, cut), whole)) in found.iter().zip(naive).enumerate() {
                prop_assert_eq!(*number, index as u64 + 1);
                let end = if *cut { longest } else { whole.len() };
                let expected = &whole[..end];
                prop_assert_eq!(&line[..], expected.strip_suffix(b"\r").unwrap_or(expected));
                prop_assert!(whole.len() <= longest || line.len() <= longest);
            }
        }
    }
}
