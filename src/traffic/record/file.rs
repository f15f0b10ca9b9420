//! Opens the file of a record and refuses what cannot be one: what is not there, a folder, an empty
//! file, a compressed one, one in another encoding.

use std::fs::File;
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
    if whole.metadata().map_err(failed)?.is_dir() {
        return Err(Problem::at(place, format!("`{path}` is a folder")).help("name one file"));
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
    if marked {
        reader.skip(MARK.len());
    }
    Ok(Opened { reader, binary })
}
