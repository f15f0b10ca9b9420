//! How a run tells what it is doing, without knowing of terminals.

use std::sync::atomic::{AtomicBool, Ordering};

/// Told of a run's progress, from any thread.
pub trait Progress: Sync {
    /// A run of `total` attempts (at most) begins.
    fn begin(&self, what: &str, total: u64);

    /// So many more attempts were decided.
    fn advance(&self, attempts: u64);

    /// Something that the user should know before it happens.
    fn announce(&self, message: &str);

    /// The run is over.
    fn end(&self);

    /// Whether to stop. Whoever has asked once asks again before long, until it is done: an interrupt
    /// may then wait for the answer, and until then ends the program at once.
    fn stop(&self) -> bool;
}

/// Says nothing and never stops, unless told to.
#[derive(Debug, Default)]
pub struct Silent {
    /// Set to stop.
    pub stopped: AtomicBool,
}

impl Progress for Silent {
    fn begin(&self, _what: &str, _total: u64) {}
    fn advance(&self, _attempts: u64) {}
    fn announce(&self, _message: &str) {}
    fn end(&self) {}
    fn stop(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
