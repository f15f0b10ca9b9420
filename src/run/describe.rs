//! A case in words, for whoever reads its results.

use crate::metrics::CaseInfo;
use crate::params::Choice;
use crate::scenario::{Case, Counts, Key, LimitSpec};
use crate::traffic::{Skipped, Traffic};

/// What a reader must know of a case.
pub(super) fn case(case: &Case, traffic: &Traffic) -> CaseInfo {
    let mut notes: Vec<String> = Vec::new();
    for input in &traffic.inputs {
        notes.push(format!("{}: {} of {} lines used", input.path, input.used, input.lines));
        // Which input is meant needs saying only where there are several.
        let of = match traffic.inputs.len() {
            1 => String::new(),
            _ => format!("{}: ", input.path),
        };
        notes.extend(input.skipped.iter().map(|Skipped { reason, lines, first }| {
            format!("{of}not used: {lines} (line {first} first): {reason}")
        }));
        notes.extend(input.notes.iter().map(|note| format!("{of}{note}")));
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
