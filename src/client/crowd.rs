//! The clients of one run.

use super::Clients;
use super::budget::Spending;
use super::jitter::Raw;
use super::retry::Retry;
use crate::seed::{Draws, Seed, Stream};
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
    /// Attempts made; what keeps it may stop counting at [`Memory::MOST_TRIES`].
    pub tries: u32,
}

impl Memory {
    /// So many attempts of one request are counted.
    pub const MOST_TRIES: u32 = (1 << 24) - 1;
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
///
/// All that is drawn is drawn by request and try, or by client, so that one attempt gets the same draw
/// under every algorithm and in every case.
#[derive(Debug)]
pub struct Crowd<'a> {
    clients: &'a Clients,
    spending: Option<Spending>,
    /// What jitter makes of delays, by request and try.
    delays: Draws,
    /// What is added to a header, by request and try.
    extras: Draws,
    /// How far clocks are off, by client.
    clocks: Draws,
}

impl<'a> Crowd<'a> {
    /// `count` clients that have sent nothing yet.
    pub fn new(clients: &'a Clients, seed: Seed, count: usize) -> Crowd<'a> {
        let budget = clients.retry.as_ref().and_then(|retry| retry.budget.as_ref());
        Crowd {
            clients,
            spending: budget.map(|budget| Spending::new(budget, count)),
            delays: seed.draws("retry-jitter"),
            extras: seed.draws("retry-after-jitter"),
            clocks: seed.draws("client-clock"),
        }
    }

    /// Whether answers must be told in time order, because one decides what another leads to (a budget
    /// that several requests share).
    pub fn needs_order(&self) -> bool {
        self.spending.is_some()
    }

    /// Whether it makes a difference to anybody what a rejection tells.
    pub fn heeds_headers(&self) -> bool {
        self.clients.retry.as_ref().is_some_and(|retry| retry.heed.heeds())
    }

    /// The instant at which a request's client leaves.
    pub fn leaves_at(&self, memory: &Memory) -> Option<Instant> {
        self.clients.patience.map(|patience| memory.first + patience)
    }

    /// The first attempt of a request is made.
    ///
    /// # Panics
    /// Here and below, if there are fewer clients than that.
    pub fn began(&mut self, client: u32, at: Instant) {
        if let Some(spending) = &mut self.spending {
            let (ledger, state) = spending.of(client);
            ledger.began(state, at);
        }
    }

    /// The attempt number `memory.tries` succeeded, as its client learns.
    pub fn succeeded(&mut self, client: u32, memory: &Memory) {
        if let Some(spending) = &mut self.spending {
            let (ledger, state) = spending.of(client);
            ledger.succeeded(state, memory.tries > 1);
            if memory.tries > 1 {
                ledger.ended(state);
            }
        }
    }

    /// The attempt number `memory.tries` of request number `request` was rejected, failed or timed out, as
    /// its client learns at `at`; or its client's patience ends while it is under way.
    ///
    /// A retry that attempts or waits forbid, or that the budget denies, gives the request up at once; one
    /// that would be made when the client has left is not made and not charged, and the client leaves when
    /// its patience ends.
    #[inline]
    pub fn failed(
        &mut self,
        client: u32,
        request: u64,
        at: Instant,
        memory: &mut Memory,
        header: Option<Header>,
    ) -> Next {
        let Some(retry) = &self.clients.retry else { return Next::GiveUp { at } };
        let mut books = self.spending.as_mut().map(|spending| spending.of(client));
        if let Some((ledger, state)) = &mut books {
            ledger.failed(*state);
            if memory.tries > 1 {
                ledger.ended(*state);
            }
        }
        if retry.attempts.is_some_and(|most| memory.tries >= most) {
            return Next::GiveUp { at };
        }
        let Memory { tries, delay, waited, first } = *memory;
        let mut own = delay;
        let (wait, obeys) = retry.heed.wait(
            header,
            at,
            || {
                let draws = || self.delays.part(request, u64::from(tries));
                own = retry.delay(tries, delay, draws);
                own
            },
            || self.extras.part(request, u64::from(tries)),
            || self.clocks.stream(u64::from(client)),
        );
        memory.delay = own;
        let waited = Span::saturating(u128::from(waited.nanos()) + u128::from(wait.nanos()));
        let denied = books.as_mut().is_some_and(|(ledger, state)| !ledger.allows(*state, at));
        if denied || retry.total_wait.is_some_and(|most| waited > most) {
            return Next::GiveUp { at };
        }
        let next = at + wait;
        if let Some(patience) = self.clients.patience
            && next >= first + patience
        {
            return Next::GiveUp { at: at.max(first + patience) };
        }
        if let Some((ledger, state)) = books {
            ledger.granted(state, at);
        }
        memory.waited = waited;
        Next::Retry { at: next, obeys }
    }
}

impl Retry {
    /// The client's own delay before retry `n`, its last one having been `previous` (zero before the
    /// first).
    fn delay(&self, n: u32, previous: Span, draws: impl FnOnce() -> Stream) -> Span {
        let base = self.schedule.base();
        let raw = Raw {
            delay: self.schedule.delay(n).nanos(),
            base: base.nanos(),
            previous: previous.max(base).nanos(),
            sides: self.sides,
        };
        self.jitter.draw(&raw, self.schedule.cap, draws)
    }
}
