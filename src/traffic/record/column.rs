//! A property of all requests of a record.

use super::sorting::Rows;

/// A property of all requests; takes no memory while all have the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// All requests have this.
    Same(u32),
    /// Each has its own.
    Each(Vec<u32>),
}

impl Column {
    /// A column of no requests.
    pub const EMPTY: Column = Column::Same(0);

    /// Adds the value of the request at `index`, which is the number of those before it.
    pub fn push(&mut self, index: usize, value: u32) {
        match self {
            Column::Each(values) => values.push(value),
            Column::Same(same) if index == 0 => *same = value,
            Column::Same(same) if *same == value => {}
            Column::Same(same) => {
                let mut values = vec![*same; index];
                values.push(value);
                *self = Column::Each(values);
            }
        }
    }

    /// Adds the same value for so many requests, the first of them at `index`.
    pub fn push_all(&mut self, index: usize, value: u32, count: usize) {
        match self {
            Column::Same(same) if *same == value || index == 0 => *same = value,
            _ => (index..index + count).for_each(|index| self.push(index, value)),
        }
    }

    /// The value of the request at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn get(&self, index: usize) -> u32 {
        match self {
            Column::Same(value) => *value,
            Column::Each(values) => values[index],
        }
    }
}

impl Rows for Column {
    fn swap(&mut self, one: usize, other: usize) {
        if let Column::Each(values) = self {
            values.swap(one, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_equal_values_takes_no_memory() {
        let column = |values: &[u32]| {
            let mut column = Column::EMPTY;
            for (index, &value) in values.iter().enumerate() {
                column.push(index, value);
            }
            column
        };
        assert_eq!(column(&[7, 7, 7]), Column::Same(7));
        assert_eq!(column(&[7, 7, 8]), Column::Each(vec![7, 7, 8]));
        let mut many = Column::EMPTY;
        many.push_all(0, 7, 2);
        many.push_all(2, 7, 3);
        assert_eq!(many, Column::Same(7));
        many.push_all(5, 8, 2);
        assert_eq!(many, Column::Each(vec![7, 7, 7, 7, 7, 8, 8]));
    }
}
