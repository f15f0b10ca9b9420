//! Renames that can be taken back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a commit has changed so far.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// Folders made, outer ones first.
    folders: Vec<PathBuf>,
    /// Each file with where it went, in order.
    done: Vec<(PathBuf, PathBuf)>,
}

impl Moves {
    /// Takes note of a file that has a copy elsewhere and is about to be moved over.
    pub(super) fn copied(&mut self, file: PathBuf, copy: PathBuf) {
        self.done.push((file, copy));
    }

    /// Moves a file, over another one if there is one, and makes the folders that it needs.
    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        if let Some(parent) = to.parent() {
            self.make_folders(parent)?;
        }
        fs::rename(from, to)?;
        self.done.push((from.to_owned(), to.to_owned()));
        Ok(())
    }

    /// Makes a folder and those around it.
    pub(super) fn make_folders(&mut self, folder: &Path) -> io::Result<()> {
        let missing = folder.ancestors().take_while(|path| !path.exists());
        let mut missing: Vec<PathBuf> =
            missing.filter(|path| !path.as_os_str().is_empty()).map(Path::to_owned).collect();
        missing.reverse();
        for folder in missing {
            match fs::create_dir(&folder) {
                Ok(()) => self.folders.push(folder),
                // Somebody else was faster, and it is theirs.
                Err(_) if folder.is_dir() => {}
                Err(cause) => return Err(cause),
            }
        }
        Ok(())
    }

    /// Takes everything back; goes on after a failure and reports the first.
    pub(super) fn undo(self) -> io::Result<()> {
        let mut result = Ok(());
        for (from, to) in self.done.into_iter().rev() {
            result = result.and(fs::rename(to, from));
        }
        for folder in self.folders.into_iter().rev() {
            // Fails where something else was put into it meanwhile, which then keeps it.
            let _ = fs::remove_dir(folder);
        }
        result
    }
}
