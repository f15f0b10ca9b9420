//! Retry budgets: whether a retry is made at all, by what other requests of a client, or of all clients,
//! came to. [`BUDGETS`] lists the kinds.
//!
//! A budget is asked when a failure is known. One that is denied gives the request up at once; one that
//! is granted is charged then, and not when the retry is sent.
//!
//! # Adding one
//! A new file here with a `pub const KIND: Kind`, one `mod` line below, one line in [`BUDGETS`]. Its `read`
//! asks the [`Params`] for the budget's own options and gives a [`Rule`], of which each run opens a
//! [`Ledger`].

mod in_flight;
mod share;
mod tokens;

use std::fmt::Debug;
use std::sync::Arc;

use crate::params::{Choice, Named, Params};
use crate::time::Instant;

/// An entry of the registry.
#[derive(Debug)]
pub struct Kind {
    /// As written in a scenario.
    pub name: &'static str,
    /// One line for `ratesim list`.
    pub summary: &'static str,
    /// Where it is found.
    pub source: &'static str,
    /// Reads its options; `None` for the kind that is no budget.
    pub read: Option<Options>,
}

/// Reads the options of a kind. `None` after a problem was reported.
pub type Options = fn(&mut Params) -> Option<Arc<dyn Rule>>;

/// The registry, in the order in which kinds are listed.
pub const BUDGETS: &[Kind] = &[NONE, tokens::KIND, share::KIND, in_flight::KIND];

/// For scenarios and cases that take the budget from a profile.
const NONE: Kind = Kind {
    name: "none",
    summary: "Every retry that the policy makes is made.",
    source: "clients without a budget",
    read: None,
};

impl Named for Kind {
    const WHAT: &'static str = "kind of budget";

    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }
}

/// A budget as configured.
pub trait Rule: Debug + Send + Sync {
    /// The books of `count` states of this budget, none of which was charged yet.
    fn open(&self, count: usize) -> Box<dyn Ledger>;
}

/// The states of one budget in one run. Told in time order.
pub trait Ledger: Debug + Send {
    /// The first attempt of a request is made.
    fn began(&mut self, _state: usize, _at: Instant) {}

    /// An attempt failed.
    fn failed(&mut self, _state: usize) {}

    /// An attempt succeeded, a retry or not.
    fn succeeded(&mut self, _state: usize, _retry: bool) {}

    /// A retry ended, however it did.
    fn ended(&mut self, _state: usize) {}

    /// Whether a retry may be made. Charges nothing.
    fn allows(&mut self, state: usize, at: Instant) -> bool;

    /// A retry is granted that was allowed at the same instant.
    fn granted(&mut self, state: usize, at: Instant);
}

/// Whose requests share a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Client,
    All,
}

impl Choice for Scope {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("client", Scope::Client, "each client has one of its own"),
        ("all", Scope::All, "all clients share one, as behind one proxy"),
    ];
}

/// A budget of a scenario.
#[derive(Debug, Clone)]
pub struct Budget {
    scope: Scope,
    rule: Arc<dyn Rule>,
}

/// What the table is for.
pub const MEANING: &str =
    "What retries are paid from; a retry that is not granted gives the request up at once.";

/// Reads the table. `None` for no budget, or after a problem was reported.
pub fn read(params: &mut Params) -> Option<Budget> {
    let kind = params.pick(
        "kind",
        BUDGETS,
        Some("none"),
        "What a retry is paid from; see `ratesim list budgets`.",
    );
    let charges = kind.map(|kind| kind.read.is_some());
    let scope = params.only(charges, "a `kind` other than \"none\"", |params| {
        params.or("scope", Scope::Client, "Whose requests share a budget.")
    });
    let mut rule = None;
    for entry in BUDGETS {
        let Some(read) = entry.read else { continue };
        let chosen = kind.map(|kind| kind.name == entry.name);
        if let Some(found) = params.only(chosen, &format!("`kind = \"{}\"`", entry.name), read) {
            rule = found;
        }
    }
    Some(Budget { scope: scope?, rule: rule? })
}

/// What the clients of one run have spent.
#[derive(Debug)]
pub struct Spending {
    ledger: Box<dyn Ledger>,
    shared: bool,
}

impl Spending {
    /// `count` clients that have spent nothing.
    pub fn new(budget: &Budget, count: usize) -> Spending {
        let shared = budget.scope == Scope::All;
        Spending { ledger: budget.rule.open(if shared { 1 } else { count }), shared }
    }

    /// The books, and the state in them of a client.
    pub fn of(&mut self, client: u32) -> (&mut dyn Ledger, usize) {
        (self.ledger.as_mut(), if self.shared { 0 } else { client as usize })
    }
}
