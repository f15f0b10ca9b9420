//! A column of counts that takes four bytes a count as long as that is enough.

/// Counts by position. The first one above `u32::MAX` makes the whole column twice as wide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Column {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Default for Column {
    fn default() -> Column {
        Column::Narrow(Vec::new())
    }
}

impl Column {
    /// Empty, with room for so many counts.
    pub fn with_capacity(count: usize) -> Column {
        Column::Narrow(Vec::with_capacity(count))
    }

    pub fn push(&mut self, count: u64) {
        self.extend([count]);
    }

    /// Adds counts, which are told twice if they do not all fit.
    pub fn extend(&mut self, all: impl IntoIterator<Item = u64, IntoIter: Clone>) {
        let all = all.into_iter();
        match self {
            Column::Wide(counts) => counts.extend(all),
            Column::Narrow(counts) => {
                let before = counts.len();
                let mut together = 0;
                counts.extend(all.clone().map(|count| {
                    together |= count;
                    count as u32
                }));
                if together > u64::from(u32::MAX) {
                    let mut wide = Vec::with_capacity(counts.capacity());
                    wide.extend(counts[..before].iter().map(|&count| u64::from(count)));
                    wide.extend(all);
                    *self = Column::Wide(wide);
                }
            }
        }
    }

    /// The count at a position.
    ///
    /// # Panics
    /// If there is none.
    pub fn get(&self, position: usize) -> u64 {
        match self {
            Column::Narrow(counts) => u64::from(counts[position]),
            Column::Wide(counts) => counts[position],
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Column::Narrow(counts) => counts.len(),
            Column::Wide(counts) => counts.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_does_not_fit_widens_the_column_and_changes_none() {
        let most = u64::from(u32::MAX);
        let mut column = Column::default();
        let counts = [0, 7, most, most + 1, 3, u64::MAX];
        for (length, &count) in counts.iter().enumerate() {
            column.push(count);
            let wide = matches!(column, Column::Wide(_));
            assert_eq!((column.len(), wide), (length + 1, length >= 3), "after {count}");
        }
        assert_eq!(counts.map(|count| count), [0, 1, 2, 3, 4, 5].map(|at| column.get(at)));
    }
}
