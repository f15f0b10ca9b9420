//! ratesim compares rate-limiting algorithms on simulated or recorded traffic, exactly and on a
//! virtual clock.
//!
//! ```text
//!  scenario --> traffic --> world ---------> judge --> metrics --> report
//!  (what to     (arrivals)  one algorithm,   (what     (numbers)   (table, csv,
//!   compare)                its keys,        happened)             charts, page)
//!                           a virtual clock
//!                              |  ^
//!                              v  | verdict
//!                           algorithm
//! ```
//!
//! Data flows from left to right, and a module imports from lower layers only, which
//! `tests/architecture.rs` enforces. Above these, [`run`] prepares and simulates a scenario,
//! `command` has one module a command, and `cli` alone touches the terminal; below them lie
//! [`time`], [`rate`], [`error`], [`seed`] and [`params`].
//!
//! ```
//! use ratesim::run::{self, Silent};
//! use ratesim::scenario::{Changes, Scenario};
//!
//! let text = r#"
//! name = "burst"
//! duration = "2m"
//! limit = "100/60s"
//! traffic = { kind = "burst", at = "59s", over = "2s", requests = 200 }
//! algorithm = { kind = "fixed-window" }
//! "#;
//! let scenario = Scenario::parse("burst.toml".as_ref(), text.to_owned(), &Changes::default())?;
//! let prepared = run::prepare(scenario, &[])?;
//! let findings = run::simulate(&prepared, run::Options::default(), &Silent::default())?;
//! let fixed_window = &findings.comparison.rows[0].tally;
//! assert_eq!(fixed_window.books.accepted, 200); // 100 in each of two minutes
//! assert_eq!(fixed_window.over_limit, 100);
//! # Ok::<(), ratesim::error::Error>(())
//! ```
//!
//! Three things are never mixed: a denial by a limiter is data, a mistake of the user is an
//! [`error::Problem`] with its place, and a panic is a bug.

pub mod algorithm;
pub mod cli;
pub mod client;
pub mod clock;
pub mod command;
pub mod error;
mod fetch;
pub mod inspect;
pub mod judge;
pub mod log;
pub mod metrics;
pub mod nodes;
pub mod params;
pub mod rate;
pub mod redis;
pub mod replay;
pub mod report;
pub mod run;
pub mod scenario;
pub mod seed;
pub mod server;
pub mod store;
pub mod time;
pub mod traffic;
pub mod world;
