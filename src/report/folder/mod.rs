//! The folder of results, written whole or not at all.
//!
//! Files are made in a temporary folder in the target, or beside it while there is none, and put in
//! place by [`Folder::commit`]; until then the target is not touched, and dropping the [`Folder`] leaves
//! nothing behind. The list `files` in the target's `run.json` names what ratesim wrote. Those files are
//! replaced, or removed if they are no longer written; any other file stays as it is, and a run that
//! would have to write over one is refused. Folders of other scenarios inside the target are other
//! files, too.
//!
//! A commit puts first a `run.json` in place that lists the old and the new files and is marked
//! `unfinished`, then moves each old file away and the new one in, and last replaces `run.json` by the
//! final one. An error on the way undoes all of it. If the process is killed between two renames, every
//! file is still whole: the new ones in place, or not yet, in `.ratesim-*/new`, the old ones in place or
//! in `.ratesim-*/old`; `run.json` says `unfinished`, and the next run writes over all of them and
//! removes the temporary folder. A loss of power is not guarded against beyond what the file system does
//! by itself. Runs that commit into the same target do so one after the other, where the system can lock
//! a folder.

mod moves;
mod place;
mod temporary;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use self::moves::Moves;
use self::place::{existing, is_own, plain, read_owned, refuse_foreign};
use self::temporary::{Temporary, sweep};
use crate::error::Error;

/// The file that lists the others.
pub const RECORD: &str = "run.json";

/// A folder of results in the making.
#[derive(Debug)]
pub struct Folder {
    /// Where the results go.
    target: PathBuf,
    /// Holds `new` and, during a commit, `old`.
    temporary: Temporary,
    /// Other places in which a run into the target may have left its temporary folder.
    beside: Vec<PathBuf>,
    /// The files made, relative to the target, with `/` between folders.
    files: BTreeSet<String>,
    /// What ratesim wrote into the target before; known from the commit on.
    owned: BTreeSet<String>,
}

/// A file of the folder in the making. It becomes part of the results by [`Folder::finish`].
#[derive(Debug)]
pub struct Draft {
    name: String,
    shown: String,
    writer: BufWriter<File>,
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Draft {
    /// What to report when writing to it failed.
    pub fn failed(&self, cause: &io::Error) -> Error {
        Error::failed(format!("write `{}`", self.shown), cause)
    }
}

impl Folder {
    /// Whether a run could put files of these names into the folder `name` under `out`, so that one
    /// that could not need not begin.
    ///
    /// # Errors
    /// Everything that is in the way.
    pub fn check(out: &Path, name: &str, files: &[String]) -> Result<(), Error> {
        let target = out.join(plain(name)?);
        existing(&target)?;
        let owned = read_owned(&target);
        let names = owned.iter().chain(files).map(String::as_str).chain([RECORD]);
        refuse_foreign(&target, &owned, names)
    }

    /// Starts the folder `name` (which may be nested: `worked/token-bucket`) under `out`. Neither
    /// needs to exist.
    ///
    /// # Errors
    /// A path that is taken by something else, or a folder that cannot be written.
    pub fn create(out: &Path, name: &str) -> Result<Folder, Error> {
        let inside = plain(name)?;
        let target = out.join(inside);
        let place = existing(&target)?;
        let temporary = Temporary::create(&place).map_err(|cause| {
            Error::failed(format!("write results to `{}`", target.display()), cause)
        })?;
        let around = target.ancestors().skip(1).take(inside.components().count() + 1);
        let beside = around.chain([place.as_path()]).filter(|path| **path != target);
        let beside = beside.map(|path| Path::new(".").join(path)).collect();
        let (files, owned) = (BTreeSet::new(), BTreeSet::new());
        Ok(Folder { target, temporary, beside, files, owned })
    }

    /// Where the results go.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Makes a whole file.
    ///
    /// # Errors
    /// As [`Folder::draft`] and [`Folder::finish`].
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let mut draft = self.draft(name)?;
        draft.write_all(bytes).map_err(|cause| draft.failed(&cause))?;
        self.finish(draft)
    }

    /// Starts a file to be written bit by bit.
    ///
    /// # Errors
    /// A name that results do not have, or a disk that refuses.
    pub fn draft(&self, name: &str) -> Result<Draft, Error> {
        if !is_own(name) {
            return Err(Error::failed(format!("write `{name}`"), "results have no such file"));
        }
        let path = self.temporary.path().join("new").join(name);
        let shown = self.target.join(name).display().to_string();
        let failed = |cause| Error::failed(format!("write `{shown}`"), cause);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let file = File::create(&path).map_err(failed)?;
        Ok(Draft { name: name.to_owned(), shown, writer: BufWriter::new(file) })
    }

    /// Makes a file that was written part of the results.
    ///
    /// # Errors
    /// What was not yet written cannot be.
    pub fn finish(&mut self, mut draft: Draft) -> Result<(), Error> {
        draft.flush().map_err(|cause| draft.failed(&cause))?;
        self.files.insert(draft.name);
        Ok(())
    }

    /// Adds `run.json`, which is `record` and the list of all files, and puts everything in place.
    ///
    /// # Errors
    /// A file in the way which ratesim did not write, or a rename that was refused. The target is
    /// then as it was.
    pub fn commit(mut self, record: Map<String, Json>) -> Result<(), Error> {
        self.files.insert(RECORD.to_owned());
        let mut moves = Moves::default();
        let made = moves
            .make_folders(&self.target)
            .map_err(|cause| Error::failed(format!("write `{}`", self.target.display()), cause));
        // Other commits wait until this is dropped. Where a folder cannot be locked, they do not.
        let alone = File::open(&self.target).and_then(|folder| folder.lock().map(|()| folder)).ok();
        if let Err(error) = made.and_then(|()| self.replace(&record, &mut moves)) {
            if let Err(cause) = moves.undo() {
                let kept = self.temporary.keep();
                let doing = format!("restore `{}`", self.target.display());
                let cause = format!("{cause}; the old files are in `{}`", kept.display());
                return Err(Error::failed(doing, cause));
            }
            return Err(error);
        }
        self.remove_emptied_folders();
        drop(alone);
        sweep(&self.target, true);
        self.beside.iter().for_each(|place| sweep(place, false));
        Ok(())
    }

    /// What another run wrote meanwhile is replaced as what was there before.
    fn replace(&mut self, record: &Map<String, Json>, moves: &mut Moves) -> Result<(), Error> {
        self.owned = read_owned(&self.target);
        let all: BTreeSet<String> = self.files.union(&self.owned).cloned().collect();
        refuse_foreign(&self.target, &self.owned, all.iter().map(String::as_str))?;
        self.stage_record("new", record, &self.files, false)?;
        self.stage_record("unfinished", record, &all, true)?;
        self.put_in_place(&all, moves)
    }

    fn stage_record(
        &self,
        part: &str,
        record: &Map<String, Json>,
        files: &BTreeSet<String>,
        unfinished: bool,
    ) -> Result<(), Error> {
        let mut record = record.clone();
        record.insert("files".to_owned(), json!(files));
        if unfinished {
            record.insert("unfinished".to_owned(), json!(true));
        }
        let path = self.temporary.path().join(part).join(RECORD);
        let text = format!("{:#}\n", Json::Object(record));
        let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
        parent.and_then(|()| fs::write(&path, text)).map_err(|cause| {
            let shown = self.target.join(RECORD);
            Error::failed(format!("write `{}`", shown.display()), cause)
        })
    }

    fn put_in_place(&self, all: &BTreeSet<String>, moves: &mut Moves) -> Result<(), Error> {
        let part = |part: &str, name: &str| self.temporary.path().join(part).join(name);
        let place = |name: &str| self.target.join(name);
        let failed = |name: &str, cause: io::Error| {
            Error::failed(format!("write `{}`", place(name).display()), cause)
        };
        if self.owned.contains(RECORD) {
            let kept = part("old", RECORD);
            let parent = kept.parent().map_or(Ok(()), fs::create_dir_all);
            parent
                .and_then(|()| fs::copy(place(RECORD), &kept).map(|_| ()))
                .map_err(|cause| failed(RECORD, cause))?;
            moves.copied(place(RECORD), kept);
        }
        let unfinished = part("unfinished", RECORD);
        moves.rename(&unfinished, &place(RECORD)).map_err(|cause| failed(RECORD, cause))?;
        for name in all.iter().filter(|name| *name != RECORD) {
            let old = place(name);
            if self.owned.contains(name) && old.symlink_metadata().is_ok() {
                moves.rename(&old, &part("old", name)).map_err(|cause| failed(name, cause))?;
            }
            if self.files.contains(name) {
                moves.rename(&part("new", name), &old).map_err(|cause| failed(name, cause))?;
            }
        }
        moves.rename(&part("new", RECORD), &place(RECORD)).map_err(|cause| failed(RECORD, cause))
    }

    /// Removes the folders inside the target that have lost their last file.
    fn remove_emptied_folders(&self) {
        let gone = self.owned.difference(&self.files);
        for name in gone {
            let folders = Path::new(name).ancestors().skip(1);
            for folder in folders.filter(|folder| !folder.as_os_str().is_empty()) {
                // Fails, as it should, where a file is left.
                let _ = fs::remove_dir(self.target.join(folder));
            }
        }
    }
}
