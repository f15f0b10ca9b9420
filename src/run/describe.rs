//! A case in words, for whoever reads its results.

mod fleet;

use crate::metrics::CaseInfo;
use crate::params::Choice;
use crate::report::format::count;
use crate::scenario::{Case, Counts, Key, LimitSpec, Tier};
use crate::traffic::{Skipped, Traffic};

/// What a reader must know of a case; `reacts` tells whether clients react to answers in any case of the
/// scenario.
pub(super) fn case(case: &Case, traffic: &Traffic, reacts: bool) -> CaseInfo {
    let mut notes: Vec<String> = case.notes.clone();
    for input in &traffic.inputs {
        let lines = if input.lines == 1 { "line" } else { "lines" };
        let [used, all] = [input.used, input.lines].map(count);
        notes.push(format!("{}: {used} of {all} {lines} used", input.path));
        // Which input is meant needs saying only where there are several.
        let of = match traffic.inputs.len() {
            1 => String::new(),
            _ => format!("{}: ", input.path),
        };
        notes.extend(input.skipped.iter().map(|Skipped { reason, lines, first, .. }| {
            format!("{of}not used: {lines} (line {first} first): {reason}")
        }));
        notes.extend(input.unusable.iter().map(|why| format!("{of}not used: {why}")));
        notes.extend(input.notes.iter().map(|note| format!("{of}{note}")));
    }
    match traffic.outside {
        0 => {}
        1 => notes.push("1 recorded request lies outside the run".to_owned()),
        some => notes.push(format!("{some} recorded requests lie outside the run")),
    }
    notes.extend(case.limits.iter().flat_map(|spec| idle(spec, traffic)));
    CaseInfo {
        name: case.name.clone(),
        limits: case.limits.iter().map(|spec| (spec.name.clone(), words(spec))).collect(),
        sending: reacts.then(|| sending(case)),
        fleet: case.fleet.as_ref().map(|fleet| fleet::info(fleet, traffic.window)),
        window: traffic.window,
        notes,
    }
}

/// Whether clients wait for answers before they send more.
fn sending(case: &Case) -> String {
    match case.clients.in_flight {
        // Where some are tried again, what comes on schedule is not all that comes: no open loop.
        None => "new requests come on schedule, whatever is under way".to_owned(),
        Some(1) => {
            "one request at a time each; the next waits for its end (closed loop)".to_owned()
        }
        Some(most) => {
            format!(
                "at most {most} requests at a time each; the next wait for an end (closed loop)"
            )
        }
    }
}

/// Names in a limit that nothing in the traffic has. A misspelt one would leave requests without the
/// limit that was meant for them; one that a log happens not to have is no mistake.
fn idle(spec: &LimitSpec, traffic: &Traffic) -> Vec<String> {
    let asked_for = |endpoint: &String| traffic.endpoints.contains(endpoint);
    let belongs = |tier: &&Tier| traffic.clients.iter().any(|c| c.tier() == Some(&tier.name));
    let endpoints = spec.endpoints.iter().filter(|endpoint| !asked_for(endpoint)).map(|endpoint| {
        format!("limit {}: no request is for its endpoint `{endpoint}`", spec.name)
    });
    let tiers =
        spec.tiers.iter().filter(|tier| !belongs(tier)).map(|tier| {
            format!("limit {}: no client belongs to its tier `{}`", spec.name, tier.name)
        });
    endpoints.chain(tiers).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Changes, Scenario};
    use crate::traffic;
    use std::path::Path;

    fn described(limits: &str) -> CaseInfo {
        let text = format!(
            "name = \"t\"\nduration = \"1s\"\n{limits}\n\
             [[traffic]]\nkind = \"burst\"\nrequests = 1\ntier = \"pro\"\nendpoint = \"/search\"\n"
        );
        let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default()).unwrap();
        let (traffic, _) = traffic::build(&scenario.cases[0], Path::new("")).unwrap();
        super::case(&scenario.cases[0], &traffic, false)
    }

    #[test]
    fn a_limit_is_told_with_all_that_it_depends_on() {
        let info = described(
            "[[limit]]\nname = \"a\"\nrequests = 5\nper = \"1s\"\nburst = 2\nendpoints = [\"/search\"]\n\
             counts = \"requests\"\nkey = \"everything\"\ntiers.pro.requests = 9\n\
             [[limit]]\nrequests = 1\nper = \"1h\"\nkey = { first-of = [\"api-key\", \"client\"] }\n",
        );
        let expected = [
            (
                "a",
                "5 per 1s, burst 2 for everything together at /search, counting requests; pro: 9 per 1s",
            ),
            ("1 per 1h", "1 per 1h for each api-key, else client"),
        ];
        let limits: Vec<_> = info.limits.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(limits, expected);
        assert_eq!(info.notes, Vec::<String>::new());
    }

    #[test]
    fn a_name_that_nothing_has_is_noted() {
        let info = described(
            "[[limit]]\nname = \"a\"\nrequests = 5\nper = \"1s\"\n\
             endpoints = [\"/serach\", \"/search\"]\ntiers.por.requests = 9\n",
        );
        let expected = [
            "limit a: no request is for its endpoint `/serach`",
            "limit a: no client belongs to its tier `por`",
        ];
        assert_eq!(info.notes, expected);
    }
}
