//! The temporary folder of a run, and those that killed runs have left behind.
//!
//! A run holds a lock on the file `lock` in its folder. The system releases it however the run ends,
//! so that a folder whose lock can be had is nobody's any more. That is true of every process that
//! sees the folder, in this container or another, which a process id would not tell.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

const PREFIX: &str = ".ratesim-";
const LOCK: &str = "lock";
/// What there can be in such a folder.
const PARTS: [&str; 4] = [LOCK, "new", "old", "unfinished"];

/// A temporary folder, removed when it is dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    /// Closed before the folder is removed.
    _lock: File,
    folder: TempDir,
}

impl Temporary {
    /// Makes one in `place`, with an empty folder `new` in it.
    pub(super) fn create(place: &Path) -> io::Result<Temporary> {
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(place)?;
        fs::create_dir(folder.path().join("new"))?;
        // Nobody may find the lock before it is held. Where a file system knows no locks, nobody
        // finds it ever, and the folder is never taken for an abandoned one.
        let free = folder.path().join("unlocked");
        let lock = File::create(&free)?;
        if lock.lock().is_ok() {
            fs::rename(&free, folder.path().join(LOCK))?;
        }
        Ok(Temporary { _lock: lock, folder })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves it where it is, for good.
    pub(super) fn keep(self) -> PathBuf {
        // Without a lock it is never taken for an abandoned one; where it cannot be removed, neither
        // can the folder.
        let _ = fs::remove_file(self.folder.path().join(LOCK));
        self.folder.keep()
    }
}

/// Removes what killed runs have left in `place`. Folders that hold files which a commit has moved
/// away go only if `old_too`. What cannot be removed stays.
pub(super) fn sweep(place: &Path, old_too: bool) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let folder = entry.path();
        let named = entry.file_name().to_str().is_some_and(is_ours);
        if named
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && (old_too || !folder.join("old").exists())
            && is_abandoned(&folder)
        {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

/// Whether a folder of such a name can be one of these.
fn is_ours(name: &str) -> bool {
    let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    process.is_some_and(|(id, _)| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()))
}

fn is_abandoned(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let known = names.all(|name| name.is_ok_and(|name| PARTS.iter().any(|part| name == *part)));
    let lock = || OpenOptions::new().write(true).open(folder.join(LOCK));
    known && lock().is_ok_and(|lock| lock.try_lock().is_ok())
}
