//! What is found, shown and written: the table on the terminal, the CSV files, `run.json`, and the
//! folder that holds them.
//!
//! Nothing here prints, and nothing reaches the results' folder before all of it is made: tables
//! are strings, files are bytes, and a [`folder::Folder`] puts them in place at the end.

pub mod affected;
pub mod chart;
mod columns;
pub mod compared;
pub mod csv;
pub mod decisions;
pub mod folder;
pub mod format;
pub mod grid;
mod heading;
pub mod html;
pub mod inspection;
mod intervals;
pub mod json;
mod plain;
mod reading;
pub mod record;
pub mod store;
pub mod table;
pub mod words;

#[cfg(test)]
mod fleet_samples;
#[cfg(test)]
mod samples;
