//! A case in words, for whoever reads its results.

use crate::metrics::CaseInfo;
use crate::params::Choice;
use crate::scenario::{Case, Counts, Key, LimitSpec};
use crate::traffic::Traffic;

/// What a reader must know of a case.
pub(super) fn case(case: &Case, traffic: &Traffic) -> CaseInfo {
    let mut notes: Vec<String> = Vec::new();
    for input in &traffic.inputs {
        notes.push(format!("{}: {} of {} lines used", input.path, input.used, input.lines));
        let skipped = input.skipped.iter().map(|skipped| {
            format!(
                "{}: {} lines not used, the first in line {}: {}",
                input.path, skipped.lines, skipped.first, skipped.reason
            )
        });
        notes.extend(skipped);
        notes.extend(input.notes.iter().map(|note| format!("{}: {note}", input.path)));
    }
    if traffic.outside > 0 {
        notes.push(format!("{} recorded requests lie outside the run", traffic.outside));
    }
    CaseInfo {
        name: case.name.clone(),
        limits: case.limits.iter().map(|spec| (spec.name.clone(), words(spec))).collect(),
        window: traffic.window,
        notes,
    }
}

/// A limit in words: "100 per 60s for each client".
fn words(spec: &LimitSpec) -> String {
    let key = match &spec.key {
        Key::Everything => "for everything together".to_owned(),
        key => format!("for each {key}"),
    };
    let mut words = format!("{} {key}", spec.limit);
    if !spec.endpoints.is_empty() {
        words += &format!(" at {}", spec.endpoints.join(", "));
    }
    if spec.counts != Counts::Cost {
        words += &format!(", counting {}", spec.counts.name());
    }
    for tier in &spec.tiers {
        words += &format!("; {}: {}", tier.name, tier.limit);
    }
    words
}
