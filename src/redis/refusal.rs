//! What cannot be verified, and why: no script decides so.

use serde_json::Value as Json;

use super::script::{MICRO, Script};
use crate::algorithm::ALGORITHMS;
use crate::error::Problems;
use crate::nodes::Placement;
use crate::rate::Limit;
use crate::report::words::listed;
use crate::run::Contender;
use crate::scenario::{Case, Fleet};
use crate::store::{Atomicity, Expiry, StoreSpec};
use crate::time::{Reading, Span, Window};

/// An algorithm that is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its case; empty where the scenario has only one.
    pub case: String,
    /// The name it goes by; `None` for all of the case.
    pub algorithm: Option<String>,
    /// Why.
    pub why: String,
    /// Settings, as for `--set`, that leave out what is in the way, where that is something that happens to the
    /// store.
    pub without: Vec<&'static str>,
}

/// Whether any algorithm of a case may be verified.
pub fn is_comparable(case: &Case) -> bool {
    of_case(case).is_none()
}

/// Why nothing of a case can be verified, with the settings without which it can; `None` if it can.
pub(super) fn of_case(case: &Case) -> Option<(String, Vec<&'static str>)> {
    let Fleet { nodes, store, .. } = case.fleet.as_ref()?;
    let StoreSpec { atomicity, expiry, .. } = store;
    let shared = nodes.placement == Placement::Shared;
    let for_good = |why: String| Some((why, Vec::new()));
    let no_script = |setting: &str| for_good(format!("with {setting} no one script decides"));
    match nodes.placement {
        Placement::Synced { .. } => return no_script("`nodes.placement = \"synced\"`"),
        Placement::Leased { .. } => return no_script("`nodes.placement = \"leased\"`"),
        Placement::Local | Placement::Split | Placement::Shared => {}
    }
    if nodes.sweep.is_some() {
        return no_script("`nodes.sweep`");
    }
    if !shared {
        return None;
    }
    if *atomicity != Atomicity::Script {
        return no_script("`store.atomicity` other than \"script\"");
    }
    if !matches!(expiry, Expiry::Right { .. }) {
        let why = "with `store.expiry` other than \"right\" keys live differently";
        return for_good(why.to_owned());
    }
    let undecided = |settings: &[String]| {
        format!("with {} the store does not decide all attempts", listed(settings))
    };
    if store.memory.is_some() {
        return for_good(undecided(&["`store.max-memory-bytes`".to_owned()]));
    }
    let events = [
        ("`store.outage`", "store.outage=[]", !store.outages.is_empty()),
        ("`store.fail-over`", "store.fail-over=[]", !store.fail_overs.is_empty()),
    ];
    let happen = events.into_iter().filter(|(_, _, happens)| *happens);
    let (settings, without): (Vec<String>, Vec<_>) =
        happen.map(|(setting, without, _)| (setting.to_owned(), without)).unzip();
    (!without.is_empty()).then(|| (undecided(&settings), without))
}

/// The clock on which an algorithm is verified, at least 1 us.
///
/// # Errors
/// Why the algorithm cannot be verified over a run.
pub(super) fn clock(contender: &Contender, case: &Case, run: Window) -> Result<Span, String> {
    let kind = &ALGORITHMS[contender.kind];
    let script = Script::of(kind).ok_or_else(|| format!("`{}` has no script", kind.name))?;
    let plain = Contender::plain(contender.kind, &case.limits, &Problems::new());
    let plain = plain.map_or(Json::Null, |plain| plain.resolved);
    for (option, value) in contender.resolved.as_object().into_iter().flatten() {
        if !matches!(option.as_str(), "kind" | "name" | "tick") && plain[option] != *value {
            return Err(format!("`{option} = {value}` has no script"));
        }
    }
    let tick = contender.resolved["tick"].as_str().and_then(|text| Span::parse(text).ok());
    let tick = tick.unwrap_or(Span::ZERO).max(Span::from_nanos(MICRO));
    if !tick.nanos().is_multiple_of(MICRO) {
        return Err(format!("`tick = \"{tick}\"` is not in whole microseconds"));
    }
    let latest = latest(case, run);
    for spec in &case.limits {
        let tiers = spec.tiers.iter().map(|tier| tier.limit);
        for limit in std::iter::once(spec.limit).chain(tiers) {
            for node in 0..places(case) {
                script.suits(&at_node(case, limit, node as u32), latest)?;
            }
        }
    }
    Ok(tick)
}

/// How many nodes have a limit of their own.
fn places(case: &Case) -> usize {
    match &case.fleet {
        Some(Fleet { nodes, .. }) if nodes.placement == Placement::Split => nodes.count,
        _ => 1,
    }
}

/// What a limit is for a node: its share, where each has one.
pub(super) fn at_node(case: &Case, limit: Limit, node: u32) -> Limit {
    match places(case) {
        1 => limit,
        nodes => limit.share(node.into(), nodes as u64),
    }
}

/// No clock shows a later time during a run: a year for those that are ahead.
fn latest(case: &Case, run: Window) -> Reading {
    let ahead = if case.fleet.is_some() { Span::from_secs(365 * 86_400) } else { Span::ZERO };
    run.end.exact() + ahead
}

/// The case as it is verified: no key is forgotten while anybody may still ask for it, in the model as in the server.
pub(super) fn keeping(case: &Case) -> Case {
    let mut case = case.clone();
    if let Some(fleet) = &mut case.fleet {
        fleet.store.expiry = Expiry::Right { margin: Span::MAX };
    }
    case
}
