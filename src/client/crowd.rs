//! The clients of one run.

use super::Clients;
use crate::seed::Seed;
use crate::server::Header;
use crate::time::{Instant, Span};

/// What a client remembers of a request between its attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// When the client first meant to send it.
    pub first: Instant,
    /// How long it has waited between attempts so far.
    pub waited: Span,
    /// Its own last delay, as drawn; zero before the first.
    pub delay: Span,
    /// Attempts made.
    pub tries: u32,
}

/// What a client does after an attempt of its failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Makes another.
    Retry {
        /// When.
        at: Instant,
        /// Whether it comes no sooner than a Retry-After told it to, because it was told so.
        obeys: bool,
    },
    /// Gives the request up.
    GiveUp {
        /// When: at once, or when its patience ends.
        at: Instant,
    },
}

/// The clients of one run.
#[derive(Debug)]
pub struct Crowd<'a> {
    clients: &'a Clients,
}

impl<'a> Crowd<'a> {
    /// `count` clients that have sent nothing yet.
    pub fn new(clients: &'a Clients, _seed: Seed, _count: usize) -> Crowd<'a> {
        Crowd { clients }
    }

    /// Whether answers must be told in time order, because one decides what another leads to (a budget
    /// that several requests share).
    pub fn needs_order(&self) -> bool {
        false
    }

    /// The instant at which a request's client leaves.
    pub fn leaves_at(&self, memory: &Memory) -> Option<Instant> {
        self.clients.patience.map(|patience| memory.first + patience)
    }

    /// The first attempt of a request is made.
    pub fn began(&mut self, _client: u32, _at: Instant) {}

    /// The attempt number `memory.tries` succeeded, as its client learns at `at`.
    pub fn succeeded(&mut self, _client: u32, _at: Instant, _memory: &Memory) {}

    /// The attempt number `memory.tries` of request number `request` was rejected, failed or timed out, as
    /// its client learns at `at`.
    pub fn failed(
        &mut self,
        _client: u32,
        _request: u64,
        at: Instant,
        _memory: &mut Memory,
        _header: Option<Header>,
    ) -> Next {
        Next::GiveUp { at }
    }
}
