//! `fixed`: the same delay before every retry. Clients that fail together stay together unless jitter
//! parts them, and the load they bring does not fall with time.

use super::{Policy, Schedule};
use crate::client::jitter::Jitter;
use crate::params::Params;
use crate::time::Span;

/// The entry of the registry.
pub const POLICY: Policy = Policy {
    name: "fixed",
    summary: "The same delay before every retry.",
    formula: "delay",
    source: "sleep in a loop; people who reload a page",
    jitters: &["none", "full", "equal", "proportional"],
    unjittered: "`decorrelated` grows from retry to retry up to a `cap`, and a fixed delay does not",
    delays: Some(delays),
};

fn delays(params: &mut Params, _jitter: Option<&Jitter>) -> Option<Schedule> {
    let delay = params.or("delay", Span::from_secs(1), "The delay before every retry.");
    let waits = params.require(
        "delay",
        delay != Span::ZERO,
        "a delay of no time at all",
        "write a span such as \"1s\", or `retries = \"immediate\"`",
    );
    waits.then(|| Schedule::always(delay))
}
