//! Why a run was cut off by what it came to, in words for whoever wrote the scenario.

use crate::error::{Error, Problem};
use crate::scenario::Case;
use crate::time::Instant;
use crate::traffic::Traffic;

/// A run that was cut off because clients never stopped retrying.
pub(super) fn too_many_attempts(case: &Case, traffic: &Traffic, at: Instant) -> Error {
    let Case { max_attempts, place, name, .. } = case;
    let run = if name.is_empty() { "the run".to_owned() } else { format!("a run of `{name}`") };
    let reached = (at - traffic.window.start).as_secs_f64();
    let message = format!(
        "{run} was cut off {reached:.3} s after its start: clients had made more than \
         `max-attempts` = {max_attempts} attempts"
    );
    let help = "give clients a cap on `attempts`, a longer delay or `rtt`, or a budget, shorten `duration`, or raise \
                `max-attempts`";
    Error::input(Problem::at(place, message).help(help))
}

/// A script that a cluster would refuse to run.
pub(super) fn cross_slot(case: &Case, keys: &[(String, u16); 2]) -> Error {
    let [(one, slot), (other, other_slot)] = keys;
    let message = format!(
        "CROSSSLOT: the keys of one script lie in different hash slots: `{one}` in {slot}, `{other}` in \
         {other_slot}"
    );
    let help = "put into `{}` in `key-name` what all keys of an attempt share, such as \
                \"ratelimit:<limit>:<key>{all}\"; or let limits decide by themselves (`combine = \"independent\"`), or \
                keep to one shard";
    let place = case.fleet.as_ref().and_then(|fleet| fleet.shards_at.as_ref());
    Error::input(Problem::at(place.unwrap_or(&case.place), message).help(help))
}
