//! The text of a file: its bytes as they are, or unpacked. Every byte of the file is digested on the way, as
//! it stands there.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use twox_hash::XxHash3_128;

use super::block::Source;

/// Bytes read of a compressed file at once.
const PACKED: usize = 64 << 10;

/// A file that is read, with all that is known of what went by.
pub struct Tap {
    source: Box<dyn Read + Send>,
    /// What was read to see what the file is, and not yet handed on.
    head: Vec<u8>,
    digest: Box<XxHash3_128>,
    bytes: u64,
    /// At most so many bytes more: what the file had when it was opened.
    left: u64,
    /// What kept the file from being read on.
    failure: Option<io::Error>,
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
        let mut rest = vec![0; PACKED];
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

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    None,
    /// By gzip, in one member or several.
    Gzip,
    /// By zstd, in one frame or several.
    Zstd,
}

impl Packing {
    /// How a file is packed that starts with these bytes.
    pub fn of(head: &[u8]) -> Packing {
        let skippable = matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
        match head {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ if skippable => Packing::Zstd,
            _ => Packing::None,
        }
    }

    /// Its name; `None` for a file that is not packed.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Packing::None => None,
            Packing::Gzip => Some("gzip"),
            Packing::Zstd => Some("zstd"),
        }
    }
}

/// The text of a file.
pub struct Text {
    unpacker: Unpacker,
    /// Why the text ends before the file does.
    pub broken: Option<String>,
}

enum Unpacker {
    None(Tap),
    Gzip(Box<MultiGzDecoder<BufReader<Tap>>>),
    Zstd(Box<Frames>),
}

/// The frames of a file that zstd has packed.
struct Frames {
    source: BufReader<Tap>,
    decoder: FrameDecoder,
    /// Whether a frame has begun.
    inside: bool,
}

impl Text {
    /// The text of a file that is packed in some way.
    pub fn new(tap: Tap, packing: Packing) -> Text {
        let buffered = |tap: Tap| BufReader::with_capacity(PACKED, tap);
        let unpacker = match packing {
            Packing::None => Unpacker::None(tap),
            Packing::Gzip => Unpacker::Gzip(Box::new(MultiGzDecoder::new(buffered(tap)))),
            Packing::Zstd => Unpacker::Zstd(Box::new(Frames {
                source: buffered(tap),
                decoder: FrameDecoder::new(),
                inside: false,
            })),
        };
        Text { unpacker, broken: None }
    }

    /// The file itself.
    pub fn into_tap(self) -> Tap {
        match self.unpacker {
            Unpacker::None(tap) => tap,
            Unpacker::Gzip(decoder) => decoder.into_inner().into_inner(),
            Unpacker::Zstd(frames) => frames.source.into_inner(),
        }
    }

    fn tap(&self) -> &Tap {
        match &self.unpacker {
            Unpacker::None(tap) => tap,
            Unpacker::Gzip(decoder) => decoder.get_ref().get_ref(),
            Unpacker::Zstd(frames) => frames.source.get_ref(),
        }
    }
}

impl Source for Text {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.broken.is_some() {
            return Ok(0);
        }
        let read = match &mut self.unpacker {
            Unpacker::None(tap) => return tap.read(into),
            Unpacker::Gzip(decoder) => decoder.read(into),
            Unpacker::Zstd(frames) => frames.read(into),
        };
        // What cannot be unpacked ends the text; what cannot be read is another matter.
        read.or_else(|cause| match self.tap().failure.is_some() {
            true => Err(cause),
            false => {
                self.broken = Some(match cause.kind() {
                    ErrorKind::UnexpectedEof => "it is cut short".to_owned(),
                    _ => format!("it cannot be unpacked any further: {cause}"),
                });
                Ok(0)
            }
        })
    }

    fn bytes_read(&self) -> u64 {
        self.tap().bytes
    }
}

impl Frames {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            while self.inside && self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                let decoded = self.decoder.decode_blocks(&mut self.source, one);
                decoded.map_err(|cause| self.failure(cause))?;
            }
            if self.inside && self.decoder.can_collect() > 0 {
                return self.decoder.read(into);
            }
            self.inside = false;
            if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => self.inside = true,
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut frame = self.source.by_ref().take(u64::from(length));
                    if io::copy(&mut frame, &mut io::sink())? < u64::from(length) {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(cause) => return Err(self.failure(cause)),
            }
        }
    }

    /// What went wrong: at the end of the file, that it is cut short.
    fn failure(&mut self, cause: FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => ErrorKind::UnexpectedEof.into(),
            _ => io::Error::other(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        ruzstd::encoding::compress_to_vec(text, level)
    }

    /// The text, why it ends early, how many bytes the file has, how it is packed.
    fn unpacked(file: &[u8]) -> (Vec<u8>, Option<String>, u64, Packing) {
        let mut tap = Tap::new(Box::new(io::Cursor::new(file.to_vec())), None);
        let packing = Packing::of(tap.peek(4).unwrap());
        let mut text = Text::new(tap, packing);
        let (mut all, mut part) = (Vec::new(), [0; 7]);
        loop {
            match text.read(&mut part).unwrap() {
                0 => break,
                count => all.extend_from_slice(&part[..count]),
            }
        }
        let broken = text.broken.take();
        (all, broken, text.into_tap().finish().unwrap().0, packing)
    }

    #[test]
    fn every_member_and_frame_is_unpacked() {
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        for (file, packing) in [
            (b"one two".to_vec(), Packing::None),
            ([gzip(b"one "), gzip(b"two")].concat(), Packing::Gzip),
            ([zstd(b"one "), skippable.clone(), zstd(b"two")].concat(), Packing::Zstd),
            ([skippable, zstd(b"one two")].concat(), Packing::Zstd),
        ] {
            let length = file.len() as u64;
            assert_eq!(unpacked(&file), (b"one two".to_vec(), None, length, packing));
        }
    }

    #[test]
    fn a_file_cut_short_gives_what_it_has_and_is_digested_whole() {
        let text: Vec<u8> =
            (0..100_000_u32).flat_map(|number| number.to_string().into_bytes()).collect();
        for file in [gzip(&text), zstd(&text)] {
            let cut = &file[..file.len() * 2 / 3];
            let (found, broken, bytes, _) = unpacked(cut);
            assert!(!found.is_empty() && text.starts_with(&found));
            assert_eq!((broken.as_deref(), bytes), (Some("it is cut short"), cut.len() as u64));
            let five = unpacked(&file[..5]);
            assert_eq!((five.0, five.1.as_deref(), five.2), (vec![], Some("it is cut short"), 5));
            // What follows the last member is no text.
            let more = [&file[..], b"and more that is none"].concat();
            let (found, broken, bytes, _) = unpacked(&more);
            assert_eq!((found, bytes), (text.clone(), more.len() as u64));
            assert!(broken.unwrap().starts_with("it cannot be unpacked any further: "));
        }
    }

    #[test]
    fn the_digest_is_that_of_the_file_as_far_as_it_may_be_read() {
        let mut tap = Tap::new(Box::new(io::Cursor::new(b"abcdef".to_vec())), Some(3));
        assert_eq!(tap.peek(2).unwrap(), b"ab");
        let digest = "06b05ab6733a618578af5f94892f3950";
        assert_eq!(tap.finish().unwrap(), (3, digest.to_owned()));
    }
}
