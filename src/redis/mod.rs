//! The same decisions from a real Redis: scripts that decide as the algorithms do, and a replay of a
//! scenario's attempts that compares the two.
//!
//! [`SCRIPTS`] has one Lua script for each algorithm. Their semantics are those of the model on a clock of
//! 1 us with the options left at their defaults; what each state holds and while what numbers a script is exact
//! stands at its head. [`verify`] runs the model, sends every attempt to the server in the order in which the
//! model decided them, and stops at the first that the server decides otherwise.
//!
//! Nothing here reaches a result of a simulation. How fast the server answers is measured by the wall clock,
//! printed, and compared with nothing.

mod address;
mod comparison;
mod connection;
mod difference;
mod fault;
mod invocation;
mod job;
mod leftover;
mod memory;
mod refusal;
mod replay;
mod script;
mod session;
mod verify;
mod wire;

pub use address::Address;
pub use comparison::Comparison;
pub use connection::Connection;
pub use difference::{Attempt, Counted, Difference};
pub use fault::Fault;
pub use invocation::{Answer, Decision, Invocation, KeyArgs};
pub use refusal::{Skipped, is_comparable};
pub use script::{SCRIPTS, Script};
pub use session::Session;
pub use verify::{Compared, Options, Verified, verify};
