//! The first bytes of an input choose the settings under which the rest is read.

/// An input of which some bytes were used up.
#[derive(Debug, Clone, Copy)]
pub struct Choices<'a>(pub &'a [u8]);

impl<'a> Choices<'a> {
    /// One of several, by the next byte; the first where there is none.
    pub fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[usize::from(self.byte()) % all.len()].clone()
    }

    /// What stands before the next line feed, if that is text; else nothing.
    pub fn line(&mut self) -> &'a str {
        let end = self.0.iter().position(|&byte| byte == b'\n').unwrap_or(self.0.len());
        let (line, rest) = self.0.split_at(end);
        self.0 = rest.strip_prefix(b"\n").unwrap_or(rest);
        std::str::from_utf8(line).unwrap_or("")
    }

    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&byte, rest)) => {
                self.0 = rest;
                byte
            }
            None => 0,
        }
    }
}
