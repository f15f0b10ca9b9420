//! Pieces of a text that can be parsed apart: whole lines. A text is cut in the same places whoever parses it.

use std::io;

use super::block::{Block, Nothing, Supply};
use super::lines::Lines;
use super::record::{Record, What};
use crate::log::entry::{Put, Shelf};
use crate::log::format::{Fault, Parser};
use crate::log::{Plain, Stamp};
use crate::time::Span;

/// Some whole lines of a text: the last one of the text may have no end, and of one that is too long only as much is
/// there as shows that it is.
#[derive(Debug, Default)]
pub struct Piece {
    block: Block,
    start: usize,
}

/// Cuts a text into pieces.
#[derive(Debug)]
pub struct Cutter<S> {
    supply: S,
    longest: usize,
    /// A block that was filled already, and where its text starts.
    first: Option<(Block, usize)>,
    /// The start of the line that the next block goes on with.
    begun: Vec<u8>,
    /// Whether the rest of a line that is too long is still to come.
    amid_cut: bool,
    ended: bool,
    /// How many pieces there were.
    count: u64,
}

impl<S: Supply> Cutter<S> {
    /// Cuts what the supply gives, after a first block whose text starts at `start`. Lines are too long from `longest`
    /// bytes on; the supply leaves so much room in its blocks.
    pub fn new(supply: S, longest: usize, first: Block, start: usize) -> Cutter<S> {
        Cutter {
            supply,
            longest,
            first: Some((first, start)),
            begun: Vec::new(),
            amid_cut: false,
            ended: false,
            count: 0,
        }
    }

    /// What it cuts.
    pub fn into_supply(self) -> S {
        self.supply
    }

    /// How many pieces it has given, one that could not be read included.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The next piece, given a block that is used up; `None` after the last.
    ///
    /// # Errors
    /// The file cannot be read any further; there are no more pieces then.
    pub fn next(&mut self, used: Block) -> io::Result<Option<Piece>> {
        if self.ended {
            return Ok(None);
        }
        let filled = match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.supply.next(used).map(|block| Some((block?, self.longest))),
        };
        self.ended = !matches!(filled, Ok(Some(_)));
        self.count += u64::from(!matches!(filled, Ok(None)));
        Ok(filled?.map(|(block, start)| self.cut(block, start)))
    }

    /// The lines of a block, whose new bytes start at `start`, that end in it.
    fn cut(&mut self, mut block: Block, start: usize) -> Piece {
        let mut from = start;
        if self.amid_cut {
            let feed = memchr::memchr(b'\n', &block.bytes[from..block.end]);
            self.amid_cut = feed.is_none();
            from = feed.map_or(block.end, |feed| from + feed + 1);
        }
        let new = from;
        from -= self.begun.len();
        block.bytes[from..new].copy_from_slice(&self.begun);
        self.begun.clear();
        let mut end = block.end;
        if !block.last {
            let feed = memchr::memrchr(b'\n', &block.bytes[new..end]);
            end = feed.map_or(from, |feed| new + feed + 1);
            let rest = &block.bytes[end..block.end];
            if rest.len() > self.longest {
                end += self.longest + 1;
                self.amid_cut = true;
            } else {
                self.begun.extend_from_slice(rest);
            }
        }
        Piece { start: from, block: Block { end, ..block } }
    }
}

/// A piece that was parsed. Its memory is used again.
#[derive(Debug, Default)]
pub struct Parsed {
    block: Block,
    rows: Vec<Row>,
    shelf: Shelf,
    plain: Vec<Plain>,
    /// Of the rows that have one.
    faults: Vec<Fault>,
    /// How many lines it has.
    pub lines: u64,
}

/// A record of a piece, or many of which little is to be known.
#[derive(Debug)]
struct Row {
    /// The number of its line in the piece, from 1.
    number: u32,
    /// Where in the block it lies.
    place: (u32, u32),
    open: bool,
    found: Found,
}

#[derive(Debug)]
enum Found {
    Blank,
    Heading,
    Entry(Stamp, Option<Span>, Put),
    Fault,
    /// So many are plain.
    Plain(usize),
}

impl Parsed {
    /// Its block, which can be filled again.
    pub fn block(&mut self) -> Block {
        std::mem::take(&mut self.block)
    }

    /// How many bytes of the file had been read for it.
    pub fn bytes_read(&self) -> u64 {
        self.block.read
    }

    /// Parses a piece whose lines are too long from `longest` bytes on. `tell_plain` if whoever takes its records
    /// takes what is plain.
    pub fn parse(
        &mut self,
        piece: Piece,
        longest: usize,
        tell_plain: bool,
        parser: &mut dyn Parser,
    ) {
        let Parsed { rows, shelf, faults, plain, .. } = self;
        rows.clear();
        shelf.clear();
        faults.clear();
        plain.clear();
        let Piece { block, start } = piece;
        let base = block.bytes.as_ptr() as usize;
        let mut lines = Lines::new(Nothing, longest, Block { last: true, ..block }, start);
        loop {
            if tell_plain {
                let before = plain.len();
                let number = lines.pass(|text, longest| {
                    let bytes = parser.plain(text, longest, plain);
                    (bytes, (plain.len() - before) as u64)
                }) as u32;
                let count = plain.len() - before;
                if count > 0 {
                    let found = Found::Plain(count);
                    rows.push(Row { number, place: (0, 0), open: false, found });
                }
            }
            // Nothing is read, so nothing fails.
            let Ok(Some(line)) = lines.next(|bytes| parser.end(bytes)) else { break };
            let start = line.bytes.as_ptr() as usize - base;
            let Record { number, bytes, open, what } = Record::read(&line, parser);
            let found = match what {
                What::Blank => Found::Blank,
                What::Heading => Found::Heading,
                What::Entry(entry) => Found::Entry(entry.stamp, entry.took, shelf.put(&entry)),
                What::Plain(_) => unreachable!("a line that is parsed alone has an entry"),
                What::Fault(fault) => {
                    faults.push(fault);
                    Found::Fault
                }
            };
            let place = (start as u32, (start + bytes.len()) as u32);
            rows.push(Row { number: number as u32, place, open, found });
        }
        (self.block, self.lines) = lines.into_block();
    }

    /// Gives all records one after the other; `before` lines of the file stand before them.
    ///
    /// # Errors
    /// The first that `take` gives.
    pub fn take<E>(
        &mut self,
        before: u64,
        mut take: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        let Parsed { block, rows, shelf, faults, plain, .. } = self;
        let (mut faults, mut plain) = (faults.drain(..), &plain[..]);
        for &Row { number, place: (start, end), open, ref found } in &*rows {
            let bytes = &block.bytes[start as usize..end as usize];
            let what = match *found {
                Found::Blank => What::Blank,
                Found::Heading => What::Heading,
                Found::Entry(stamp, took, put) => What::Entry(shelf.entry(stamp, took, bytes, put)),
                Found::Plain(count) => {
                    let (first, rest) = plain.split_at(count);
                    plain = rest;
                    What::Plain(first)
                }
                Found::Fault => match faults.next() {
                    Some(fault) => What::Fault(fault),
                    None => unreachable!("there is one for each such row"),
                },
            };
            take(Record { number: before + u64::from(number), bytes, open, what })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::{Filler, Source};
    use super::*;
    use crate::log::format;
    use proptest::prelude::*;

    struct Bytes<'a>(&'a [u8]);

    impl Source for Bytes<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = buffer.len().min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }

        fn bytes_read(&self) -> u64 {
            0
        }
    }

    /// Finds nothing in lines but that they are there.
    struct Looks;

    impl Parser for Looks {
        fn parse<'a>(&'a mut self, record: &'a [u8]) -> Result<format::Parsed<'a>, Fault> {
            match record {
                [b'a', ..] => Err("it has an a".into()),
                _ => Ok(format::Parsed::Heading),
            }
        }

        fn has_durations(&self) -> bool {
            false
        }
    }

    fn shown(Record { number, bytes, open, what }: Record) -> String {
        let what = match what {
            What::Blank => "blank".to_owned(),
            What::Heading => "heading".to_owned(),
            What::Entry(_) | What::Plain(_) => unreachable!("no line has an entry"),
            What::Fault(fault) => format!("{fault:?}"),
        };
        format!("{number} {} {open} {what}", bytes.escape_ascii())
    }

    proptest! {
        /// Lines one after the other are the reference.
        #[test]
        fn pieces_have_the_lines_of_their_text(
            bytes in prop::collection::vec(prop::sample::select(b"ab\r\n".to_vec()), 0..80),
            longest in 1_usize..20,
            read in 1_usize..30,
            left_out in 0_usize..4,
        ) {
            let start = longest + left_out.min(read).min(bytes.len());
            let begin = || {
                let mut filler = Filler::new(Bytes(&bytes), longest, read);
                let first = filler.next(Block::default()).unwrap().unwrap();
                (filler, first)
            };
            let (filler, first) = begin();
            let mut lines = Lines::new(filler, longest, first, start);
            let mut expected = Vec::new();
            while let Some(line) = lines.next(|bytes| Looks.end(bytes)).unwrap() {
                expected.push(shown(Record::read(&line, &mut Looks)));
            }
            let (filler, first) = begin();
            let mut cutter = Cutter::new(filler, longest, first, start);
            let (mut found, mut before, mut parsed) = (Vec::new(), 0, Parsed::default());
            while let Some(piece) = cutter.next(parsed.block()).unwrap() {
                parsed.parse(piece, longest, false, &mut Looks);
                parsed
                    .take(before, |record| {
                        found.push(shown(record));
                        Ok::<(), ()>(())
                    })
                    .unwrap();
                before += parsed.lines;
            }
            prop_assert_eq!(found, expected);
        }
    }
}
