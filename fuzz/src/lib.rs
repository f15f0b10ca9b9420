//! Arbitrary bytes against everything in ratesim that reads: logs in every format, packed or not, times and
//! numbers, keys and filters, tables, scenarios; and recorded traffic through both engines.
//!
//! A module here is a target: what it does with the bytes of an input ([`Target::run`]), and inputs to start
//! from ([`Target::seeds`]), which are made from the registries, so that a new format needs nothing here; words for the
//! dictionary of libFuzzer ([`Target::words`]) come from there, too.

pub mod keys;
pub mod log;
pub mod replay;
pub mod rows;
pub mod scenario;
pub mod texts;

mod choices;
mod file;

use std::collections::BTreeSet;
use std::path::Path;

/// A target of `cargo fuzz`.
#[derive(Debug)]
pub struct Target {
    /// Its name, which is also that of its corpus.
    pub name: &'static str,
    /// Inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words that inputs may have, for `-dict`.
    pub words: fn() -> BTreeSet<String>,
    /// Panics if an input shows a fault.
    pub run: fn(&[u8]),
}

impl Target {
    /// Writes the seeds into the corpus, if `cargo fuzz` has made a folder for it, and the words into a
    /// dictionary beside it. This comes before libFuzzer looks for either.
    ///
    /// # Panics
    /// If they cannot be written.
    pub fn begin(&self) {
        let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let corpus = corpora.join(self.name);
        if !corpus.is_dir() {
            return;
        }
        for (index, seed) in (self.seeds)().into_iter().enumerate() {
            std::fs::write(corpus.join(format!("seed-{index}")), seed).expect("a seed is written");
        }
        let plain = |word: &&String| word.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let line =
            |word: &String| format!("\"{}\"\n", word.replace('\\', "\\\\").replace('"', "\\\""));
        let words: String = (self.words)().iter().filter(plain).map(line).collect();
        // libFuzzer refuses a dictionary that is empty.
        let words = format!("# Words of {}.\n{words}", self.name);
        std::fs::write(corpora.join(self.name).with_extension("dict"), words)
            .expect("a dictionary is written");
    }
}
