//! The text of a file: its bytes as they are, or unpacked.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::block::Source;
use super::tap::Tap;

/// Bytes read of a compressed file at once.
const PACKED: usize = 64 << 10;

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
    pub broken: Option<Broken>,
}

/// Why a text ends before its file does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// A sentence without its full stop, such as "it is cut short".
    pub why: String,
    /// What can be done, where something can.
    pub help: Option<&'static str>,
}

enum Unpacker {
    None(Tap),
    Gzip(Box<Members>),
    Zstd(Box<Frames>),
}

/// The members of a file that gzip has packed.
struct Members {
    /// `None` while the next one is made.
    decoder: Option<GzDecoder<BufReader<Tap>>>,
}

/// The frames of a file that zstd has packed.
struct Frames {
    source: BufReader<Tap>,
    decoder: FrameDecoder,
    /// Whether a frame has begun.
    inside: bool,
    /// What has ended the last frame before its end; what stands before it is still to be given.
    failure: Option<io::Error>,
}

/// A block that is the last and has nothing in it, and a checksum, which is not looked at.
const LAST_BLOCK: &[u8] = &[1, 0, 0, 0, 0, 0, 0];

/// The largest window of zstd that is unpacked, as by `zstd -d`: memory that a file may ask for.
const MOST_WINDOW: u64 = 128 << 20;

impl Text {
    /// The text of a file that is packed in some way.
    pub fn new(tap: Tap, packing: Packing) -> Text {
        let buffered = |tap: Tap| BufReader::with_capacity(PACKED, tap);
        let unpacker = match packing {
            Packing::None => Unpacker::None(tap),
            Packing::Gzip => {
                let decoder = Some(GzDecoder::new(buffered(tap)));
                Unpacker::Gzip(Box::new(Members { decoder }))
            }
            Packing::Zstd => {
                let mut decoder = FrameDecoder::new();
                decoder.set_max_window_size(MOST_WINDOW);
                let source = buffered(tap);
                Unpacker::Zstd(Box::new(Frames { source, decoder, inside: false, failure: None }))
            }
        };
        Text { unpacker, broken: None }
    }

    /// The file itself.
    pub fn into_tap(self) -> Tap {
        match self.unpacker {
            Unpacker::None(tap) => tap,
            Unpacker::Gzip(mut members) => members.take().into_inner(),
            Unpacker::Zstd(frames) => frames.source.into_inner(),
        }
    }

    fn tap(&self) -> &Tap {
        match &self.unpacker {
            Unpacker::None(tap) => tap,
            Unpacker::Gzip(members) => members.tap(),
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
            Unpacker::Gzip(members) => members.read(into),
            Unpacker::Zstd(frames) => frames.read(into),
        };
        // What cannot be unpacked ends the text; what cannot be read is another matter.
        read.or_else(|cause| match self.tap().failure.is_some() {
            true => Err(cause),
            false => {
                self.broken = Some(Broken::by(&cause));
                Ok(0)
            }
        })
    }

    fn bytes_read(&self) -> u64 {
        self.tap().bytes
    }
}

impl Broken {
    /// The reason, where it has to be said how the file is packed: `as gzip, it is cut short`.
    pub fn of(&self, packing: Packing) -> String {
        format!("as {}, {}", packing.name().unwrap_or("text"), self.why)
    }

    /// What has ended a text, given what cannot be unpacked.
    fn by(cause: &io::Error) -> Broken {
        let inner = cause.get_ref().and_then(|inner| inner.downcast_ref());
        if let Some(FrameDecoderError::WindowSizeTooBig { requested, max }) = inner {
            let [requested, max] = [requested, max].map(|bytes| bytes.div_ceil(1 << 20));
            let why =
                format!("it asks for a window of {requested} MiB, which is more than {max} MiB");
            return Broken { why, help: Some("unpack it first: `zstd -d --long=31 FILE`") };
        }
        let why = match cause.kind() {
            ErrorKind::UnexpectedEof => "it is cut short".to_owned(),
            _ => format!("it cannot be unpacked any further: {cause}"),
        };
        Broken { why, help: None }
    }
}

impl Members {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let read = decoder.read(into)?;
            if read > 0 || into.is_empty() || !next_member(decoder.get_mut())? {
                return Ok(read);
            }
            let source = self.take();
            self.decoder = Some(GzDecoder::new(source));
        }
        Ok(0)
    }

    /// What it reads from; nothing more is read until there is another decoder.
    fn take(&mut self) -> BufReader<Tap> {
        match self.decoder.take() {
            Some(decoder) => decoder.into_inner(),
            None => unreachable!("a decoder is taken only to make the next or at the end"),
        }
    }

    fn tap(&self) -> &Tap {
        match &self.decoder {
            Some(decoder) => decoder.get_ref().get_ref(),
            None => unreachable!("as above"),
        }
    }
}

/// Passes over the zeros that tapes and archives put after a member; whether another follows.
fn next_member(source: &mut BufReader<Tap>) -> io::Result<bool> {
    loop {
        let rest = source.fill_buf()?;
        if rest.is_empty() {
            return Ok(false);
        }
        let zeros = rest.iter().take_while(|&&byte| byte == 0).count();
        let all = zeros == rest.len();
        source.consume(zeros);
        if !all {
            return Ok(true);
        }
    }
}

impl Frames {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            while self.inside && self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = || BlockDecodingStrategy::UptoBlocks(1);
                if let Err(cause) = self.decoder.decode_blocks(&mut self.source, one()) {
                    self.failure = Some(self.failed(cause));
                    // The decoder keeps what later blocks may refer to until it has seen the last one.
                    let ended = self.decoder.decode_blocks(LAST_BLOCK, one());
                    self.inside = ended.is_ok();
                }
            }
            if self.inside && self.decoder.can_collect() > 0 {
                return self.decoder.read(into);
            }
            self.inside = false;
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
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
                Err(cause) => return Err(self.failed(cause)),
            }
        }
    }

    /// What went wrong: at the end of the file, that it is cut short.
    fn failed(&mut self, cause: FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            _ if matches!(cause, FrameDecoderError::WindowSizeTooBig { .. }) => {
                io::Error::other(cause)
            }
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
        let broken = text.broken.take().map(|broken| broken.why);
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
    fn a_frame_cut_short_gives_all_blocks_before_the_cut() {
        // Blocks of 128 KiB at most, in a window that holds them all.
        let text: Vec<u8> =
            (0..60_000_u32).flat_map(|number| number.to_string().into_bytes()).collect();
        let file = zstd(&text);
        let (found, broken, ..) = unpacked(&file[..file.len() - 1]);
        assert!(
            found.len() > text.len() - (128 << 10) && text.starts_with(&found),
            "{}",
            found.len()
        );
        assert_eq!(broken.as_deref(), Some("it is cut short"));
    }

    #[test]
    fn a_window_larger_than_is_read_is_told_with_what_to_do() {
        // Magic, no checksum and no size, and a window of 2^(10 + 18) bytes.
        let file = [0x28, 0xb5, 0x2f, 0xfd, 0, 18 << 3, 1, 0, 0];
        let tap = Tap::new(Box::new(io::Cursor::new(file.to_vec())), None);
        let mut text = Text::new(tap, Packing::Zstd);
        assert_eq!(text.read(&mut [0; 7]).unwrap(), 0);
        let Broken { why, help } = text.broken.unwrap();
        assert_eq!(why, "it asks for a window of 256 MiB, which is more than 128 MiB");
        assert_eq!(help, Some("unpack it first: `zstd -d --long=31 FILE`"));
    }

    #[test]
    fn zeros_after_a_member_are_passed_over() {
        let padded = [gzip(b"one "), vec![0; 3 * PACKED], gzip(b"two"), vec![0; 512]].concat();
        let length = padded.len() as u64;
        assert_eq!(unpacked(&padded), (b"one two".to_vec(), None, length, Packing::Gzip));
    }
}
