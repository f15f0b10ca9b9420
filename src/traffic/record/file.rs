//! Opens the file of a record and refuses what cannot be one: what is not there, a folder, an empty
//! file, a compressed one, one in another encoding, a device.

use std::fs::{File, FileType};
use std::io;
use std::path::Path;

use super::reader::{BLOCK, Reader};
use crate::error::{Place, Problem};

/// A file that may be a record.
pub struct Opened {
    /// Its lines.
    pub reader: Reader<File>,
    /// Whether it has bytes that no text has. Logs may have some: zeros where a file was cut while
    /// it was written. So this is a mistake only if no line can be used.
    pub binary: bool,
}

/// What files start with that are not plain text in UTF-8 or ASCII, what they are, and what to do.
const FOREIGN: &[(&[u8], &str, &str)] = &[
    (b"\x1f\x8b", "compressed (gzip)", "unpack it first: `gzip -dk FILE`"),
    (b"\x28\xb5\x2f\xfd", "compressed (zstd)", "unpack it first: `zstd -d FILE`"),
    (b"BZh", "compressed (bzip2)", "unpack it first: `bzip2 -dk FILE`"),
    (b"\xfd7zXZ\0", "compressed (xz)", "unpack it first: `xz -dk FILE`"),
    (b"PK\x03\x04", "an archive (zip)", "unpack it first: `unzip FILE`"),
    (b"\xff\xfe", "text in UTF-16", "convert it first: `iconv -f UTF-16 -t UTF-8 FILE`"),
    (b"\xfe\xff", "text in UTF-16", "convert it first: `iconv -f UTF-16 -t UTF-8 FILE`"),
];

const MARK: &[u8] = b"\xef\xbb\xbf";

/// Opens `path`, as seen from `folder`, past a byte order mark.
///
/// # Errors
/// A problem at `place`.
pub fn open(folder: &Path, path: &str, place: &Place) -> Result<Opened, Problem> {
    let whole = folder.join(path);
    let failed = |cause: io::Error| {
        let problem = Problem::at(place, format!("cannot read `{path}`: {cause}"));
        match cause.kind() {
            io::ErrorKind::NotFound => problem.help(format!("looked for {}", whole.display())),
            _ => problem,
        }
    };
    let kind = whole.metadata().map_err(failed)?.file_type();
    if kind.is_dir() {
        return Err(Problem::at(place, format!("`{path}` is a folder")).help("name one file"));
    }
    if !kind.is_file() && !is_pipe(kind) {
        let message = format!("`{path}` is neither a file nor a pipe");
        return Err(Problem::at(place, message).help("a record is a text file"));
    }
    let mut reader = Reader::new(File::open(&whole).map_err(failed)?, BLOCK);
    let head = reader.head().map_err(failed)?;
    if let Some((_, what, help)) = FOREIGN.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(Problem::at(place, format!("`{path}` is {what}")).help(*help));
    }
    let marked = head.starts_with(MARK);
    let text = if marked { &head[MARK.len()..] } else { head };
    if text.is_empty() {
        let help = "a record has at least one request";
        return Err(Problem::at(place, format!("`{path}` is empty")).help(help));
    }
    let binary = text.contains(&0);
    // A file ends; what comes through a pipe need not, and no line of it may ever do.
    if !kind.is_file() && head.len() == BLOCK && memchr::memchr(b'\n', text).is_none() {
        let what = if binary { "is a binary file" } else { "has no line end in its first MiB" };
        let help = "a record has a line for each request";
        return Err(Problem::at(place, format!("`{path}` {what}")).help(help));
    }
    if marked {
        reader.skip(MARK.len());
    }
    Ok(Opened { reader, binary })
}

/// Whether it is a named pipe, or one that a shell gave a name to.
#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_kind: FileType) -> bool {
    false
}
