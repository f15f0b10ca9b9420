//! Poisson processes whose rate changes: candidates at the highest rate, of which each is kept with
//! the share of it that holds at its time (Lewis and Shedler 1979).

use super::draw::{Process, unit};

/// How a rate changes.
pub trait Shape: Send {
    /// The rate at an offset of the run, as a share of the highest: 0 to 1.
    fn share(&self, offset: u64) -> f64;
}

/// The times of one client.
pub struct Thinned<S> {
    candidates: Process,
    shape: S,
    end: u64,
}

impl<S: Shape> Thinned<S> {
    /// Those of the candidates that the shape lets stand, to before `end`.
    pub fn new(candidates: Process, shape: S, end: u64) -> Thinned<S> {
        Thinned { candidates, shape, end }
    }
}

impl<S: Shape> Iterator for Thinned<S> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            let at = self.candidates.step();
            if at >= self.end {
                return None;
            }
            if unit(self.candidates.stream()) <= self.shape.share(at) {
                return Some(at);
            }
        }
    }
}
