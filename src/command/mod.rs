//! The commands, one module each. They take typed arguments and write to what they are given;
//! nothing here knows of terminals.

pub mod check;
pub mod inspect;
pub mod list;
pub mod load;
pub mod logs;
pub mod new;
pub mod replay;
pub mod run;
pub mod schema;
pub mod verify;

use std::io::Write;

use crate::error::Error;

/// Where a command writes its results, and how.
pub struct Output<'a> {
    /// Results.
    pub out: &'a mut dyn Write,
    /// Columns of the terminal.
    pub width: usize,
    /// Whether colour is welcome.
    pub styled: bool,
}

impl Output<'_> {
    /// Writes a text and ends its line.
    ///
    /// # Errors
    /// If it cannot be written. A reader that went away is [`Error::ClosedPipe`].
    pub fn say(&mut self, text: &str) -> Result<(), Error> {
        let text = text.trim_end_matches('\n');
        writeln!(self.out, "{text}").map_err(Error::output)
    }
}
