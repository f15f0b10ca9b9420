//! Times and costs of requests in columns, a chunk at a time, for who needs nothing else of them.

use super::Arrival;

/// Some of the requests of a stream, in time order.
#[derive(Debug, Clone, Default)]
pub struct Chunk {
    /// When each is made, in nanoseconds since 1970.
    pub times: Vec<i64>,
    /// What each costs.
    pub costs: Vec<u32>,
}

impl Chunk {
    /// A chunk has at most so many requests: few enough that it stays in the nearest caches.
    pub const MOST: usize = 1 << 11;

    /// Empties it.
    pub fn clear(&mut self) {
        self.times.clear();
        self.costs.clear();
    }

    /// Whether no more fit in.
    pub fn is_full(&self) -> bool {
        self.times.len() >= Chunk::MOST
    }

    /// How many more fit in.
    pub fn room(&self) -> usize {
        Chunk::MOST.saturating_sub(self.times.len())
    }
}

/// The requests of one stream.
pub trait Times {
    /// Adds the next requests to a chunk until it is full; there are no more if it is not full then.
    fn fill(&mut self, chunk: &mut Chunk);
}

impl<I: Iterator<Item = Arrival>> Times for I {
    fn fill(&mut self, chunk: &mut Chunk) {
        for Arrival { at, cost, .. } in self.take(chunk.room()) {
            chunk.times.push(at.0);
            chunk.costs.push(cost);
        }
    }
}
