//! The folder of results, written whole or not at all.
//!
//! Files are made in a temporary folder beside the target and put in place by [`Folder::commit`];
//! until then the target is not touched, and dropping the [`Folder`] leaves nothing behind. The list
//! `files` in the target's `run.json` names what ratesim wrote. Those files are replaced, or removed
//! if they are no longer written; any other file stays as it is, and a run that would have to write
//! over one is refused. Folders of other scenarios inside the target are other files, too.
//!
//! A commit puts first a `run.json` in place that lists the old and the new files and is marked
//! `unfinished`, then moves each old file away and the new one in, and last replaces `run.json` by the
//! final one. An error on the way undoes all of it. If the process is killed between two renames, every
//! file is still whole: the new ones in place, or not yet, in `.ratesim-*/new` beside the target, the old
//! ones in place or in `.ratesim-*/old`; `run.json` says `unfinished`, and the next run writes over
//! all of them. A loss of power is not guarded against beyond what the file system does by itself.

mod moves;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value as Json, json};
use tempfile::TempDir;

use self::moves::Moves;
use crate::error::{Error, Problem};

/// The file that lists the others.
pub const RECORD: &str = "run.json";

/// A folder of results in the making.
#[derive(Debug)]
pub struct Folder {
    /// Where the results go.
    target: PathBuf,
    /// Holds `new` and, during a commit, `old`.
    temporary: TempDir,
    /// The files made, relative to the target, with `/` between folders.
    files: BTreeSet<String>,
    /// What ratesim wrote into the target before.
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
    /// Starts the folder `name` (which may be nested: `worked/token-bucket`) under `out`. Neither
    /// needs to exist.
    ///
    /// # Errors
    /// A path that is taken by something else, or a folder that cannot be written.
    pub fn create(out: &Path, name: &str) -> Result<Folder, Error> {
        let target = out.join(plain(name)?);
        let shown = target.display();
        let parent = target.parent().unwrap_or(out);
        let existing = parent.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
        let existing = if existing.as_os_str().is_empty() { Path::new(".") } else { existing };
        for path in [existing, &target] {
            if path.exists() && !path.is_dir() {
                let message = format!("`{}` is a file, where a folder must be", path.display());
                return Err(Error::input(Problem::new(message).help(ELSEWHERE)));
            }
        }
        let failed = |cause| Error::failed(format!("write results to `{shown}`"), cause);
        let temporary =
            tempfile::Builder::new().prefix(".ratesim-").tempdir_in(existing).map_err(failed)?;
        fs::create_dir(temporary.path().join("new")).map_err(failed)?;
        let owned = read_owned(&target);
        Ok(Folder { target, temporary, files: BTreeSet::new(), owned })
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
    /// A file of that name which ratesim did not write, or a disk that refuses.
    pub fn draft(&self, name: &str) -> Result<Draft, Error> {
        let path = self.temporary.path().join("new").join(plain(name)?);
        let shown = self.target.join(name).display().to_string();
        self.refuse_foreign([name])?;
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
        self.refuse_foreign(self.files.iter().map(String::as_str))?;
        let all: BTreeSet<String> = self.files.union(&self.owned).cloned().collect();
        self.stage_record("new", &record, &self.files, false)?;
        self.stage_record("unfinished", &record, &all, true)?;
        let mut moves = Moves::default();
        if let Err(error) = self.put_in_place(&all, &mut moves) {
            if let Err(cause) = moves.undo() {
                let kept = self.temporary.keep();
                let doing = format!("restore `{}`", self.target.display());
                let cause = format!("{cause}; the old files are in `{}`", kept.display());
                return Err(Error::failed(doing, cause));
            }
            return Err(error);
        }
        self.remove_emptied_folders();
        Ok(())
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
        moves.make_folders(&self.target).map_err(|cause| failed("", cause))?;
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

    /// Refuses if a file of the target, or a folder, is in the way that ratesim did not write.
    fn refuse_foreign<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        let mut problems: BTreeMap<PathBuf, &str> = BTreeMap::new();
        for name in names {
            let path = self.target.join(name);
            let Ok(found) = path.symlink_metadata() else {
                let inside = path.ancestors().skip(1).take_while(|up| *up != self.target);
                if let Some(file) = inside.filter(|up| up.exists()).find(|up| !up.is_dir()) {
                    problems.insert(file.to_owned(), "is a file, where a folder must be");
                }
                continue;
            };
            if found.is_dir() {
                problems.insert(path, "is a folder, where a file must be");
            } else if !self.owned.contains(name) {
                problems.insert(path, "is there and was not written by ratesim");
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        let problem = |(path, what): (PathBuf, &str)| {
            Problem::new(format!("`{}` {what}", path.display())).help(ELSEWHERE)
        };
        Err(Error::Input(problems.into_iter().map(problem).collect()))
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

const ELSEWHERE: &str = "move it away, or choose another folder with --out";

/// A relative path that stays inside the folder it is joined to.
fn plain(name: &str) -> Result<&Path, Error> {
    let inside = !name.is_empty()
        && !name.contains('\\')
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if inside {
        Ok(Path::new(name))
    } else {
        Err(Error::failed(format!("write `{name}`"), "it is no path inside the results' folder"))
    }
}

/// What ratesim wrote into `target`, as far as the `run.json` there tells; nothing without one.
fn read_owned(target: &Path) -> BTreeSet<String> {
    let text = fs::read(target.join(RECORD)).unwrap_or_default();
    let record: Json = serde_json::from_slice(&text).unwrap_or(Json::Null);
    if record.get("ratesim").is_none() {
        return BTreeSet::new();
    }
    let files = record.get("files").and_then(Json::as_array);
    let names = files.into_iter().flatten().filter_map(Json::as_str);
    let names = names.filter(|name| plain(name).is_ok()).map(str::to_owned);
    names.chain([RECORD.to_owned()]).collect()
}
