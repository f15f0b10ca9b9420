//! The fields that are wanted of a log: each once, so that what keys, filters and costs are made of is
//! parsed once, and nothing else at all.

use super::entry::Field;

/// Fields by their positions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    fields: Vec<Field>,
}

impl Wanted {
    /// The position of a field, which is wanted from here on.
    pub fn position(&mut self, field: Field) -> usize {
        self.fields.iter().position(|known| *known == field).unwrap_or_else(|| {
            self.fields.push(field);
            self.fields.len() - 1
        })
    }

    /// All fields in the order of their positions.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }
}
