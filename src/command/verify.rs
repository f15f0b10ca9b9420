//! `ratesim verify`: the decisions of a scenario, compared with those of a real Redis.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::{Output, load};
use crate::error::{Error, Problem};
use crate::redis::{
    self, Address, Answer, Attempt, Compared, Comparison, Decision, Difference, Skipped, Verified,
};
use crate::report::format;
use crate::report::grid::{Cell, Column, Grid};
use crate::report::words::{listed, printable, shorten, wrap};
use crate::run::{Prepared, Progress};
use crate::scenario::{Changes, Scenario};
use crate::time::{Instant, Span};

/// Arguments of `verify`.
#[derive(Debug)]
pub struct Options {
    /// The scenario file.
    pub scenario: PathBuf,
    /// The URL of the server.
    pub redis: String,
    /// Only algorithms of these names; none means all.
    pub only: Vec<String>,
    /// What the command line changes in the scenario.
    pub changes: Changes,
    /// How to verify.
    pub verify: redis::Options,
    /// Print JSON instead of a table.
    pub json: bool,
    /// Print only a difference.
    pub quiet: bool,
}

/// Compares a scenario with a server. Whether all decisions were the same.
///
/// # Errors
/// Every problem of the scenario and the URL; that nothing of the scenario can be compared; whatever is in the way of
/// the server.
pub fn verify(
    options: &Options,
    output: &mut Output,
    progress: &dyn Progress,
) -> Result<bool, Error> {
    let address = Address::parse(&options.redis);
    let Options { scenario, changes, only, .. } = options;
    let prepared = load::prepare(std::slice::from_ref(scenario), changes, only, progress, 1);
    let (address, prepared) = match (address, prepared) {
        (Ok(address), Ok(prepared)) => (address, prepared),
        (Err(problem), Err(Error::Input(others))) => {
            return Err(Error::Input(std::iter::once(problem).chain(others).collect()));
        }
        (Err(problem), _) => return Err(Error::input(problem)),
        (_, Err(error)) => return Err(error),
    };
    let mut same = true;
    for prepared in &prepared {
        let comparison = Comparison::of(prepared)?;
        if comparison.is_empty() {
            return Err(nothing_compared(prepared, comparison.skipped(), options));
        }
        let verified = redis::verify(&comparison, &address, &options.verify, progress)?;
        same &= verified.difference.is_none();
        if options.json {
            output.say(&format!("{:#}", document(prepared, &address, &verified)))?;
        } else {
            report(prepared, &address, &verified, options, output)?;
        }
        if let Some(left) = verified.left {
            return Err(Error::failed(format!("clean up at {address}"), left));
        }
    }
    Ok(same)
}

fn report(
    prepared: &Prepared,
    address: &Address,
    verified: &Verified,
    options: &Options,
    output: &mut Output,
) -> Result<(), Error> {
    let Verified { server, compared, skipped, difference, .. } = verified;
    let (scenario, width, quiet) = (&prepared.scenario, output.width, options.quiet);
    let say = |output: &mut Output, text: &str| {
        wrap(text, width).iter().try_for_each(|line| output.say(line))
    };
    if !quiet {
        let mut clocks: Vec<String> = compared.iter().map(|of| of.tick.to_string()).collect();
        clocks.sort();
        clocks.dedup();
        let clocks = listed(&clocks);
        let name = &scenario.name;
        say(output, &format!("{name} against {server} at {address}, on a clock of {clocks}"))?;
        output.say("")?;
        table(scenario, compared)
            .lines(output.styled)
            .iter()
            .try_for_each(|line| output.say(line))?;
        output.say("")?;
        for reason in reasons(skipped) {
            let names = names(scenario, &reason);
            let text = format!("- not compared, since {}: {names}", reason[0].why);
            let mut lines = hanging(&text, width, "");
            if let Some(hint) = hint(&reason, options) {
                lines.extend(hanging(&hint, width, "  "));
            }
            lines.iter().try_for_each(|line| output.say(line))?;
        }
    }
    if let Some(difference) = difference {
        let lines = compared.last().map(|of| told(scenario, of, difference, width));
        return lines.iter().flatten().try_for_each(|line| output.say(line));
    }
    if !quiet {
        let decisions: u64 = compared.iter().map(|compared| compared.decisions).sum();
        let decisions = format::count(decisions);
        say(output, &format!("all {decisions} decisions are the same, waits included"))?;
    }
    Ok(())
}

/// What was compared, a row an algorithm.
fn table(scenario: &Scenario, compared: &[Compared]) -> Grid {
    /// Longer names are cut in their middle.
    const NAME: usize = 26;
    let or_dash = |text: Option<String>| text.unwrap_or("-".to_owned());
    let column = |group, head, text: &dyn Fn(&Compared) -> String| Column {
        group,
        head,
        cells: compared.iter().map(|of| Cell { text: text(of), worst: false }).collect(),
    };
    let bytes = |bytes: Option<f64>| or_dash(bytes.map(|b| format::bytes(libm::round(b) as u64)));
    let mut headings: Vec<(usize, Vec<String>)> = Vec::new();
    for (row, of) in compared.iter().enumerate() {
        let name = &scenario.cases[of.case].name;
        let first = row == 0 || compared[row - 1].case != of.case;
        if first && !name.is_empty() {
            headings.push((row, vec![printable(name)]));
        }
    }
    Grid {
        head: "algorithm",
        names: compared.iter().map(|of| shorten(&printable(&of.algorithm), NAME)).collect(),
        columns: vec![
            column("decisions", "the same", &|of| format::short_count(of.decisions)),
            column("decisions", "a second", &|of| {
                or_dash(of.per_second.map(|rate| format::short_count(libm::round(rate) as u64)))
            }),
            column("keys", "there", &|of| format::short_count(of.keys)),
            column("a key", "there", &|of| bytes(of.server_bytes)),
            column("a key", "model", &|of| bytes(of.model_bytes)),
        ],
        headings,
    }
}

/// What is left out, reason by reason; none of the lists is empty.
fn reasons(skipped: &[Skipped]) -> Vec<Vec<&Skipped>> {
    let mut reasons: Vec<Vec<&Skipped>> = Vec::new();
    for skipped in skipped {
        match reasons.iter_mut().find(|reason| reason[0].why == skipped.why) {
            Some(reason) => reason.push(skipped),
            None => reasons.push(vec![skipped]),
        }
    }
    reasons
}

/// The cases and algorithms that are left out for one reason: an algorithm once where it is so in all cases.
fn names(scenario: &Scenario, reason: &[&Skipped]) -> String {
    /// More are only counted.
    const TOLD: usize = 8;
    let mut names: Vec<String> = Vec::new();
    for skipped in reason {
        let everywhere = reason.iter().filter(|other| other.algorithm == skipped.algorithm).count()
            == scenario.cases.len();
        let name = match &skipped.algorithm {
            Some(algorithm) if everywhere => printable(algorithm),
            Some(algorithm) => format!("{} ({})", printable(algorithm), printable(&skipped.case)),
            None => printable(&skipped.case),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(TOLD);
    names.truncate(TOLD);
    if more > 0 {
        names.push(format!("and {more} more, which `--json` names"));
    }
    names.join("; ")
}

/// How what is left out for a reason is compared all the same, without what happens to the store.
fn hint(reason: &[&Skipped], options: &Options) -> Option<String> {
    let without = &reason[0].without;
    if without.is_empty() {
        return None;
    }
    let mut changes = options.changes.clone();
    let settings = without.iter().filter_map(|setting| setting.split_once('='));
    changes.set.extend(settings.map(|(path, value)| (path.to_owned(), value.to_owned())));
    // A case may change what the settings take away, or set it itself.
    let frees = Scenario::load(&options.scenario, &changes).is_ok_and(|scenario| {
        let cases = scenario.cases.iter().filter(|case| redis::is_comparable(case));
        cases.into_iter().any(|case| reason.iter().any(|skipped| skipped.case == case.name))
    });
    Some(if frees {
        let settings: Vec<String> = without.iter().map(|set| format!("--set '{set}'")).collect();
        format!("to compare without: {}", settings.join(" "))
    } else {
        "to compare without, take it and what cases change of it out of a copy of the scenario"
            .to_owned()
    })
}

/// Why a scenario has nothing to compare.
fn nothing_compared(prepared: &Prepared, skipped: &[Skipped], options: &Options) -> Error {
    let reasons = reasons(skipped).into_iter().map(|reason| match hint(&reason, options) {
        Some(hint) => format!("{}\n  {hint}", reason[0].why),
        None => reason[0].why.clone(),
    });
    let reasons: Vec<String> = reasons.collect();
    let message = format!("no script decides anything in `{}`", prepared.scenario.name);
    Error::input(Problem::new(message).help(reasons.join("\n")))
}

/// A difference with what came before it.
fn told(scenario: &Scenario, of: &Compared, difference: &Difference, width: usize) -> Vec<String> {
    let Difference { attempt, server, before } = difference;
    let case = &scenario.cases[of.case];
    let names: Vec<String> = [&case.name, &of.algorithm]
        .into_iter()
        .filter(|name| !name.is_empty())
        .map(|name| printable(name))
        .collect();
    let number = format::count(attempt.number);
    let mut lines = wrap(&format!("DIFFERENT: {}, attempt {number}", names.join(", ")), width);
    lines.push(format!("  model   {}", answer(&attempt.model)));
    lines.push(format!("  server  {}", answer(server)));
    let mut about = line(attempt);
    for counted in &attempt.keys {
        let limit = printable(&case.limits[counted.limit].name);
        about += &format!("; key {} of {limit}, cost {}", printable(&counted.key), counted.cost);
    }
    lines.extend(hanging(&about, width, "  "));
    match before.len() {
        0 => lines.push("no attempt came before it for the same keys".to_owned()),
        count => lines.push(format!("the {count} before it for the same keys, as both decided:")),
    }
    for attempt in before {
        let costs: Vec<String> = attempt.keys.iter().map(|key| key.cost.to_string()).collect();
        let costs = costs.join("+");
        let text = format!("{}; cost {costs}: {}", line(attempt), answer(&attempt.model));
        lines.extend(hanging(&text, width, "  "));
    }
    lines
}

/// A text in lines, of which all but the first stand further to the right.
fn hanging(text: &str, width: usize, before: &str) -> Vec<String> {
    let lines = wrap(text, width.saturating_sub(before.len() + 2)).into_iter().enumerate();
    let further = |index| if index == 0 { "" } else { "  " };
    lines.map(|(index, line)| format!("{before}{}{line}", further(index))).collect()
}

/// When an attempt was made, and by whom.
fn line(attempt: &Attempt) -> String {
    let node = attempt.node.map_or(String::new(), |node| format!(", node {}", node + 1));
    let at = Instant(attempt.reading.0);
    let number = format::count(attempt.number);
    let (client, endpoint) = (printable(&attempt.client), printable(&attempt.endpoint));
    format!("{number} at {at}{node}: {client} {endpoint}")
}

/// An answer in words.
fn answer(answer: &Answer) -> String {
    let span = |micros: u64| Span::saturating(u128::from(micros) * 1_000);
    match (answer.decision, answer.micros) {
        (Decision::Admitted, _) => "admitted".to_owned(),
        (Decision::Queued, micros) => format!("queued for {}", span(micros.unwrap_or(0))),
        (Decision::Denied, Some(micros)) => format!("denied, wait {}", span(micros)),
        (Decision::Denied, None) => "denied for ever".to_owned(),
    }
}

fn document(prepared: &Prepared, address: &Address, verified: &Verified) -> Json {
    let scenario = &prepared.scenario;
    let compared = verified.compared.iter().map(|of| {
        json!({
            "case": scenario.cases[of.case].name,
            "algorithm": of.algorithm,
            "clock": of.tick.to_string(),
            "decisions": of.decisions,
            "decisions_per_s": of.per_second,
            "keys": of.keys,
            "server_bytes_per_key": of.server_bytes,
            "model_bytes_per_key": of.model_bytes,
        })
    });
    let skipped = verified.skipped.iter().map(|skipped| {
        json!({ "case": skipped.case, "algorithm": skipped.algorithm, "why": skipped.why })
    });
    json!({
        "scenario": scenario.name,
        "server": { "address": address.to_string(), "version": verified.server },
        "same": verified.difference.is_none(),
        "compared": compared.collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
        "difference": verified.difference.as_ref().map(|difference| json!({
            "attempt": attempt(&difference.attempt),
            "server": json_of(&difference.server),
            "before": difference.before.iter().map(attempt).collect::<Vec<_>>(),
        })),
    })
}

fn attempt(attempt: &Attempt) -> Json {
    let keys = attempt
        .keys
        .iter()
        .map(|counted| json!({ "limit": counted.limit, "key": counted.key, "cost": counted.cost }));
    json!({
        "number": attempt.number,
        "at": Instant(attempt.reading.0).to_string(),
        "node": attempt.node,
        "client": attempt.client,
        "endpoint": attempt.endpoint,
        "keys": keys.collect::<Vec<_>>(),
        "model": json_of(&attempt.model),
    })
}

fn json_of(answer: &Answer) -> Json {
    let decision = match answer.decision {
        Decision::Denied => "denied",
        Decision::Admitted => "admitted",
        Decision::Queued => "queued",
    };
    json!({ "decision": decision, "wait_us": answer.micros })
}
