//! The attempts of one key, a chunk at a time.

use crate::traffic::{Chunk, Times, Traffic};

/// Fills chunks with the attempts of one key in time order; of one instant in the order of the sources.
pub(super) enum Stream<'a> {
    /// From the one stream that it has.
    Alone(Box<dyn Times + Send + 'a>),
    /// From several.
    Merged(Vec<Head<'a>>),
}

/// The next requests of a stream.
pub(super) struct Head<'a> {
    stream: Box<dyn Times + Send + 'a>,
    chunk: Chunk,
    at: usize,
}

impl<'a> Stream<'a> {
    /// Of the streams with these sources and numbers.
    pub fn of(traffic: &'a Traffic, streams: &[(u32, u32)]) -> Stream<'a> {
        let open = |&(source, stream): &(u32, u32)| {
            traffic.sources[source as usize].times(stream as usize)
        };
        match streams {
            [one] => Stream::Alone(open(one)),
            several => Stream::Merged(several.iter().map(|one| Head::of(open(one))).collect()),
        }
    }

    /// Fills up a chunk with the next attempts; there are no more if it is not full then.
    pub fn fill(&mut self, chunk: &mut Chunk) {
        let heads = match self {
            Stream::Alone(stream) => return stream.fill(chunk),
            Stream::Merged(heads) => heads,
        };
        while !chunk.is_full() {
            let earliest = heads.iter_mut().filter(|head| head.time().is_some());
            let Some(head) = earliest.min_by_key(|head| head.time()) else { return };
            let (at, cost) = head.take();
            chunk.times.push(at);
            chunk.costs.push(cost);
        }
    }
}

impl<'a> Head<'a> {
    fn of(mut stream: Box<dyn Times + Send + 'a>) -> Head<'a> {
        let mut chunk = Chunk::default();
        stream.fill(&mut chunk);
        Head { stream, chunk, at: 0 }
    }

    fn time(&self) -> Option<i64> {
        self.chunk.times.get(self.at).copied()
    }

    fn take(&mut self) -> (i64, u32) {
        let taken =
            (self.chunk.times[self.at], self.chunk.costs.get(self.at).copied().unwrap_or(1));
        self.at += 1;
        if self.at == self.chunk.times.len() {
            self.chunk.clear();
            self.stream.fill(&mut self.chunk);
            self.at = 0;
        }
        taken
    }
}
