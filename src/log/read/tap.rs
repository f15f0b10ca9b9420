//! The bytes of a file as they are read, all of them digested on the way.

use std::io::{self, ErrorKind, Read};

use twox_hash::XxHash3_128;

/// Bytes read at once where nobody asks for them.
const AT_ONCE: usize = 64 << 10;

/// A file that is read, with all that is known of what went by.
pub struct Tap {
    source: Box<dyn Read + Send>,
    /// What was read to see what the file is, and not yet handed on.
    head: Vec<u8>,
    digest: Box<XxHash3_128>,
    /// How many bytes were read.
    pub(super) bytes: u64,
    /// At most so many bytes more: what the file had when it was opened.
    left: u64,
    /// What kept the file from being read on.
    pub(super) failure: Option<io::Error>,
}

impl Tap {
    /// Reads at most `length` bytes of a file.
    pub fn new(source: Box<dyn Read + Send>, length: Option<u64>) -> Tap {
        Tap {
            source,
            head: Vec::new(),
            digest: Box::new(XxHash3_128::new()),
            bytes: 0,
            left: length.unwrap_or(u64::MAX),
            failure: None,
        }
    }

    /// The first bytes, up to `count`, which are read again afterwards.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        let mut head = vec![0; count];
        let mut length = 0;
        while length < count {
            match self.read(&mut head[length..])? {
                0 => break,
                read => length += read,
            }
        }
        head.truncate(length);
        self.head = head;
        Ok(&self.head)
    }

    /// Reads all that is left, for the digest, and gives the number of bytes and the digest, in hexadecimal.
    ///
    /// # Errors
    /// The file cannot be read to its end.
    pub fn finish(mut self) -> io::Result<(u64, String)> {
        let mut rest = vec![0; AT_ONCE];
        while self.read(&mut rest)? > 0 {}
        Ok((self.bytes, format!("{:032x}", self.digest.finish_128())))
    }
}

impl Read for Tap {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.head.is_empty() {
            let count = self.head.len().min(into.len());
            into[..count].copy_from_slice(&self.head[..count]);
            self.head.drain(..count);
            return Ok(count);
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(into.len());
        let count = loop {
            match self.source.read(&mut into[..most]) {
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(cause) => {
                    let again = io::Error::new(cause.kind(), cause.to_string());
                    self.failure = Some(cause);
                    return Err(again);
                }
                Ok(count) => break count,
            }
        };
        self.digest.write(&into[..count]);
        self.bytes += count as u64;
        self.left -= count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_file_as_far_as_it_may_be_read() {
        let mut tap = Tap::new(Box::new(io::Cursor::new(b"abcdef".to_vec())), Some(3));
        assert_eq!(tap.peek(2).unwrap(), b"ab");
        let digest = "06b05ab6733a618578af5f94892f3950";
        assert_eq!(tap.finish().unwrap(), (3, digest.to_owned()));
    }
}
