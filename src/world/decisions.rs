//! The decisions of a run, one bit each, in the order of the attempts.

/// One bit an attempt: whether it was let through (or queued).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions {
    words: Vec<u64>,
    length: usize,
}

impl Decisions {
    /// Appends a decision.
    pub fn push(&mut self, allowed: bool) {
        let bit = self.length % 64;
        if bit == 0 {
            self.words.push(0);
        }
        if let Some(word) = self.words.last_mut() {
            *word |= u64::from(allowed) << bit;
        }
        self.length += 1;
    }

    /// The decision on attempt `index`, counted from 0.
    ///
    /// # Panics
    /// If there was no such attempt.
    pub fn get(&self, index: usize) -> bool {
        assert!(index < self.length, "attempt {index} of {}", self.length);
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back_across_words() {
        let mut decisions = Decisions::default();
        (0..200).for_each(|n| decisions.push(n % 3 == 0));
        assert!((0..200).all(|n| decisions.get(n) == (n % 3 == 0)));
        assert_eq!(decisions.len(), 200);
    }
}
