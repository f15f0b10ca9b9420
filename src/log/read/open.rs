//! Opens the files of a log and refuses what cannot be one: what is not there, a folder, a device, what is
//! packed or encoded in a way that is not read, the same file twice.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::tap::Tap;
use super::text::{Packing, Text};
use crate::error::Problem;

/// A file that was opened.
pub struct Opened {
    /// Its text.
    pub text: Text,
    /// How it is packed.
    pub packing: Packing,
    /// Whether it ends: a file does, a pipe need not.
    pub is_file: bool,
    /// Its length when it was opened; `None` where that is not known.
    pub length: Option<u64>,
    /// The file, to see what became of it.
    file: Option<File>,
}

/// What tells a file from every other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The standard input.
    Input,
    /// The device and the number of the file there.
    Numbers(u64, u64),
    /// Its path without links, where files have no numbers.
    Path(PathBuf),
}

/// What files start with that are not read, what they are, and what to do.
const FOREIGN: &[(&[u8], &str, &str)] = &[
    (b"BZh", "compressed (bzip2)", "unpack it first: `bzip2 -dk FILE`"),
    (b"\xfd7zXZ\0", "compressed (xz)", "unpack it first: `xz -dk FILE`"),
    (b"PK\x03\x04", "an archive (zip)", "unpack it first: `unzip FILE`"),
    (b"\x1f\x9d", "compressed (compress)", "unpack it first: `uncompress FILE`"),
    (b"\xff\xfe", "text in UTF-16", "convert it first: `iconv -f UTF-16 -t UTF-8 FILE`"),
    (b"\xfe\xff", "text in UTF-16", "convert it first: `iconv -f UTF-16 -t UTF-8 FILE`"),
];

/// A byte order mark.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// Says what `name` is if it starts like something that is not read.
pub fn foreign(name: &str, head: &[u8]) -> Option<Problem> {
    let (_, what, help) = FOREIGN.iter().find(|(magic, ..)| head.starts_with(magic))?;
    Some(Problem::new(format!("`{name}` is {what}")).help(*help))
}

/// Which file a path leads to; `None` if it leads to none.
pub fn identity(path: &Path) -> Option<Identity> {
    if path == Path::new("-") {
        return Some(input().unwrap_or(Identity::Input));
    }
    numbers(&path.metadata().ok()?).or_else(|| path.canonicalize().ok().map(Identity::Path))
}

/// Which file the standard input is, where that can be told.
#[cfg(unix)]
fn input() -> Option<Identity> {
    use std::os::fd::AsFd;
    let input = io::stdin().as_fd().try_clone_to_owned().ok()?;
    numbers(&File::from(input).metadata().ok()?)
}

#[cfg(not(unix))]
fn input() -> Option<Identity> {
    None
}

#[cfg(unix)]
fn numbers(metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some(Identity::Numbers(metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn numbers(_metadata: &Metadata) -> Option<Identity> {
    None
}

/// Opens a file that the user knows as `name`; `-` is the standard input.
///
/// # Errors
/// Why it cannot be read.
pub fn open(path: &Path, name: &str) -> Result<Opened, Problem> {
    let failed = |cause: io::Error| failed(path, name, &cause);
    let (source, file, is_file): (Box<dyn Read + Send>, _, _) = if path == Path::new("-") {
        (Box::new(io::stdin()), None, false)
    } else {
        let kind = path.metadata().map_err(failed)?.file_type();
        if kind.is_dir() {
            let help = "name the files in it";
            return Err(Problem::new(format!("`{name}` is a folder")).help(help));
        }
        if !kind.is_file() && !is_pipe(kind) {
            let message = format!("`{name}` is neither a file nor a pipe");
            return Err(Problem::new(message).help("a log is a text file"));
        }
        let file = File::open(path).map_err(failed)?;
        let kept = if kind.is_file() { Some(file.try_clone().map_err(failed)?) } else { None };
        (Box::new(file), kept, kind.is_file())
    };
    // Some files of the system have a text and say that they have no length.
    let length = match &file {
        Some(file) => Some(file.metadata().map_err(failed)?.len()).filter(|&length| length > 0),
        None => None,
    };
    let mut tap = Tap::new(source, length);
    let head = tap.peek(8).map_err(failed)?;
    if let Some(problem) = foreign(name, head) {
        return Err(problem);
    }
    let packing = Packing::of(head);
    Ok(Opened { text: Text::new(tap, packing), packing, is_file, length, file })
}

/// The problem that a file cannot be read.
pub fn failed(path: &Path, name: &str, cause: &io::Error) -> Problem {
    let problem = Problem::new(format!("cannot read `{name}`: {cause}"));
    match cause.kind() {
        io::ErrorKind::NotFound => problem.help(format!("looked for {}", path.display())),
        _ => problem,
    }
}

/// Sees what becomes of a file while it is read.
pub struct Witness {
    file: Option<File>,
    length: Option<u64>,
    path: PathBuf,
}

impl Opened {
    /// Takes what is needed to see what becomes of the file.
    pub fn witness(&mut self, path: &Path) -> Witness {
        Witness { file: self.file.take(), length: self.length, path: path.to_owned() }
    }
}

impl Witness {
    /// That the file shrank, so that only `read` of its bytes were read; without a full stop.
    pub fn shrank(&self, read: u64) -> Option<String> {
        let length = self.length.filter(|&length| read < length)?;
        Some(format!("shrank while it was read: {read} of the {length} bytes that it had are used"))
    }

    /// Sentences on what became of the file of which `read` bytes were read.
    pub fn notes(&self, read: u64) -> Vec<String> {
        let (Some(file), Some(length)) = (&self.file, self.length) else { return Vec::new() };
        let mut notes: Vec<String> =
            self.shrank(read).map(|what| format!("The file {what}.")).into_iter().collect();
        let Ok(now) = file.metadata() else { return notes };
        if now.len() > length {
            let more = now.len() - length;
            notes.push(format!(
                "The file grew while it was read: what it had when it was opened is used, {more} bytes \
                 more are not."
            ));
        }
        let same = self.path.metadata().ok().map(|other| numbers(&other) == numbers(&now));
        let gone = match same {
            Some(true) => return notes,
            Some(false) => "Another file has its name by now",
            None => "No file has its name any more",
        };
        notes.push(format!("{gone}; the one that was opened is used, to its end."));
        notes
    }
}

/// Whether it is a named pipe, or one that a shell gave a name to.
#[cfg(unix)]
fn is_pipe(kind: std::fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_kind: std::fs::FileType) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_becomes_of_a_file_while_it_is_read_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, b"one\ntwo\n").unwrap();
        let witness = open(&path, "log").unwrap().witness(&path);
        assert_eq!(witness.notes(8), Vec::<String>::new());
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"three\n").unwrap();
        let grown = witness.notes(8).join("\n");
        assert!(
            grown.contains("grew while it was read") && grown.contains(" 6 bytes more"),
            "{grown}"
        );
        file.set_len(4).unwrap();
        let shrunk = witness.notes(4).join("\n");
        assert!(shrunk.contains("shrank while it was read: 4 of the 8 bytes"), "{shrunk}");
        std::fs::rename(&path, folder.path().join("log.1")).unwrap();
        assert!(witness.notes(8).join("\n").contains("No file has its name any more"));
        std::fs::write(&path, b"new\n").unwrap();
        assert!(witness.notes(8).join("\n").contains("Another file has its name by now"));
    }

    #[test]
    fn a_file_is_itself_by_whatever_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, b"x").unwrap();
        std::fs::write(folder.path().join("other"), b"x").unwrap();
        assert_eq!(identity(&path), identity(&folder.path().join(".").join("log")));
        assert_ne!(identity(&path), identity(&folder.path().join("other")));
        assert_eq!(identity(&folder.path().join("none")), None);
        assert!(identity(Path::new("-")).is_some());
    }
}
