//! Files without a name, which are gone when the process ends however it ends.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// A file for the bytes of one input after the other.
#[derive(Debug)]
pub struct Scratch(File);

impl Scratch {
    /// An empty one.
    pub fn new() -> Scratch {
        Scratch(tempfile::tempfile().expect("there is room for files"))
    }

    /// It has these bytes now.
    pub fn write(&self, bytes: &[u8]) {
        self.0.set_len(0).expect("a file can be emptied");
        self.0.write_all_at(bytes, 0).expect("there is room for an input");
    }

    /// A path under which it can be opened.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

thread_local! {
    static SCRATCH: Scratch = Scratch::new();
}

/// The path of a file that has these bytes until the next call in this thread.
pub fn with(bytes: &[u8]) -> PathBuf {
    SCRATCH.with(|scratch| {
        scratch.write(bytes);
        scratch.path()
    })
}
