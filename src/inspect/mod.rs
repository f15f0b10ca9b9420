//! What is in a log, counted: how many requests of how many keys, their peaks, how unevenly they are
//! spread, what their stamps are worth, and what was answered.
//!
//! A [`Census`] takes requests in one by one, in any order, and gives [`Figures`] of them all. Everything
//! is counted; nothing is sampled or estimated.

mod census;
mod columns;
mod figures;
mod keys;
mod peaks;

pub use census::{Census, Rules};
pub use figures::{Figures, Resolution, Silence, Statuses};
pub use keys::{KeyFigures, KeyTable, Share, Threshold};
pub use peaks::{MINUTE, Peak, WINDOWS};
