//! ratesim compares rate-limiting algorithms on a virtual clock.
#![cfg_attr(test, allow(missing_docs))]

pub mod algorithm;
pub mod error;
pub mod judge;
pub mod metrics;
pub mod params;
pub mod rate;
pub mod report;
pub mod scenario;
pub mod seed;
pub mod time;
pub mod traffic;
