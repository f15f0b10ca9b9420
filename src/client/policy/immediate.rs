//! `immediate`: a loop around a call, without a pause. All clients that fail together come again
//! together, one round trip later, for as long as they fail: the load of an overload is multiplied by
//! what a round trip has room for.

use super::{Policy, Schedule};
use crate::time::Span;

/// The entry of the registry.
pub const POLICY: Policy = Policy {
    name: "immediate",
    summary: "Every retry is made as soon as the failure is known.",
    formula: "0",
    source: "a loop around a call; Finagle's requeues by default",
    jitters: &["none"],
    unjittered: "its delay is zero, and a share of nothing is nothing",
    delays: Some(|_, _| Some(Schedule::always(Span::ZERO))),
};
