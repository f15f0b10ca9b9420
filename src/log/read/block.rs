//! Blocks of a file's text, filled where they are needed or by a thread of their own while the block before
//! is being parsed. What is read does not depend on which.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use super::text::Text;

/// Bytes that are read at once; what is parsed of them is still near by.
pub const READ: usize = 256 << 10;

/// Blocks that one thread may be ahead of the other.
const AHEAD: usize = 4;

/// A part of a text.
#[derive(Debug, Default)]
pub struct Block {
    /// Room for what was left of the block before, then the bytes that were read.
    pub bytes: Vec<u8>,
    /// Where the bytes that were read end.
    pub end: usize,
    /// Whether it is the last.
    pub last: bool,
    /// How many bytes of the file had been read when it was filled.
    pub read: u64,
}

/// Gives the blocks of a text one after the other.
pub trait Supply {
    /// The next block, given one that is used up; `None` after the last.
    ///
    /// # Errors
    /// The file cannot be read any further.
    fn next(&mut self, used: Block) -> io::Result<Option<Block>>;
}

/// Has no more blocks.
#[derive(Debug)]
pub struct Nothing;

impl Supply for Nothing {
    fn next(&mut self, _used: Block) -> io::Result<Option<Block>> {
        Ok(None)
    }
}

/// Fills blocks when they are asked for.
#[derive(Debug)]
pub struct Filler<T> {
    text: T,
    room: usize,
    read: usize,
    ended: bool,
}

/// A text that says how much of its file was read.
pub trait Source {
    /// Reads some bytes; none at the end.
    ///
    /// # Errors
    /// The file cannot be read any further.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize>;

    /// How many bytes of the file were read.
    fn bytes_read(&self) -> u64;
}

impl<T: Source> Filler<T> {
    /// Blocks of `read` bytes with so much room before them.
    pub fn new(text: T, room: usize, read: usize) -> Filler<T> {
        Filler { text, room, read, ended: false }
    }

    /// What it reads from.
    pub fn text(&self) -> &T {
        &self.text
    }

    /// The same, once nothing more is read.
    pub fn into_text(self) -> T {
        self.text
    }
}

impl<T: Source> Supply for Filler<T> {
    fn next(&mut self, used: Block) -> io::Result<Option<Block>> {
        if self.ended {
            return Ok(None);
        }
        let whole = self.room + self.read;
        // The system gives zeros without writing them: most of the room is never used, and so not touched.
        let mut bytes = if used.bytes.len() == whole { used.bytes } else { vec![0; whole] };
        let mut end = self.room;
        // A block is filled whatever portions a pipe gives, so that they make no difference.
        while !self.ended && end < bytes.len() {
            let count = self.text.read(&mut bytes[end..])?;
            self.ended = count == 0;
            end += count;
        }
        Ok(Some(Block { bytes, end, last: self.ended, read: self.text.bytes_read() }))
    }
}

/// Blocks from a thread that fills them.
pub struct Ahead<'scope> {
    filled: Receiver<io::Result<Block>>,
    used: SyncSender<Block>,
    thread: ScopedJoinHandle<'scope, Filler<Text>>,
}

impl<'scope> Ahead<'scope> {
    /// Starts the thread.
    pub fn start(scope: &'scope Scope<'scope, '_>, mut filler: Filler<Text>) -> Ahead<'scope> {
        let (give, filled) = sync_channel(AHEAD);
        // As many as there may be at once, so that neither thread waits to give one back.
        let (used, take) = sync_channel::<Block>(AHEAD + 2);
        let thread = scope.spawn(move || {
            loop {
                let block = match filler.next(take.try_recv().unwrap_or_default()) {
                    Ok(Some(block)) => Ok(block),
                    Ok(None) => return filler,
                    Err(cause) => Err(cause),
                };
                let failed = block.is_err();
                if give.send(block).is_err() || failed {
                    return filler;
                }
            }
        });
        Ahead { filled, used, thread }
    }

    /// What the thread has read from, once it has ended, which it does now if it has not.
    ///
    /// # Panics
    /// If it did.
    pub fn finish(self) -> Text {
        drop((self.filled, self.used));
        match self.thread.join() {
            Ok(filler) => filler.into_text(),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Supply for Ahead<'_> {
    fn next(&mut self, used: Block) -> io::Result<Option<Block>> {
        if !used.bytes.is_empty() {
            // Where there is no room any more there are blocks enough.
            let _ = self.used.try_send(used);
        }
        self.filled.recv().ok().transpose()
    }
}
