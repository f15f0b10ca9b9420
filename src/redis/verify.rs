//! A whole verification: every algorithm of every case, one after another.

use std::collections::BTreeSet;
use std::time::Duration;

use super::address::Address;
use super::difference::{Difference, Lookback};
use super::fault::Fault;
use super::memory;
use super::refusal::{self, Skipped};
use super::replay::{Ended, Otherwise, Replay, SLACK_MS, Settings};
use super::script::Script;
use super::session::Session;
use crate::algorithm::ALGORITHMS;
use crate::error::{Error, Problem};
use crate::judge::Tally;
use crate::report::format;
use crate::run::{Contender, Prepared, Progress, Unit};
use crate::scenario::Case;
use crate::time::Span;
use crate::traffic::Traffic;
use crate::world::{self, KeyPlan, Keyring, Observer, Plan, Stopped};

/// How to verify.
#[derive(Debug, Clone)]
pub struct Options {
    /// Compare no more attempts of an algorithm than this.
    pub limit_attempts: Option<u64>,
    /// Go ahead although the database holds keys of somebody else.
    pub allow_other_keys: bool,
    /// How long each answer of the server is waited for.
    pub timeout: Duration,
    /// Scripts that take the place of those of algorithms of these names, for tests that must fail.
    #[doc(hidden)]
    pub instead: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            limit_attempts: None,
            allow_other_keys: false,
            timeout: Duration::from_secs(5),
            instead: Vec::new(),
        }
    }
}

/// What a verification showed.
#[derive(Debug)]
pub struct Verified {
    /// What runs there: "Redis 7.0.15".
    pub server: String,
    /// The algorithms that were compared, that with the difference included.
    pub compared: Vec<Compared>,
    /// Those that no script decides as.
    pub skipped: Vec<Skipped>,
    /// The first decision that was not the same; nothing after it was compared.
    pub difference: Option<Difference>,
}

/// An algorithm that was compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The position of its case.
    pub case: usize,
    /// The name it goes by.
    pub algorithm: String,
    /// The resolution of the clock on which it was compared.
    pub tick: Span,
    /// Decisions that were the same, waits included.
    pub decisions: u64,
    /// Decisions a second while the server was at work; `None` if it was asked nothing.
    pub per_second: Option<f64>,
    /// Keys in the server at the end.
    pub keys: u64,
    /// Mean bytes of a key there, its name included; `None` where there are none or it does not tell.
    pub server_bytes: Option<f64>,
    /// Bytes of a key in the model, where most are kept; `None` where there are none.
    pub model_bytes: Option<f64>,
}

/// One run to be compared.
struct Job<'a> {
    position: usize,
    case: Case,
    contender: Contender,
    tick: Span,
    traffic: &'a Traffic,
    keys: KeyPlan,
}

/// Compares a scenario's decisions with those of a server. Keys are written under a prefix of their own and deleted
/// at the end, whatever the end is.
///
/// # Errors
/// A problem if no algorithm of the scenario can be verified, or the database is somebody else's; what is in the
/// way of the server; an interrupt.
pub fn verify(
    prepared: &Prepared,
    address: &Address,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Verified, Error> {
    let (jobs, skipped) = jobs(prepared)?;
    let failed = |fault: &Fault| Error::failed(format!("verify against {address}"), fault);
    let mut session = Session::open(address, options.timeout).map_err(|fault| failed(&fault))?;
    let others = session.size().map_err(|fault| failed(&fault))?;
    if others > 0 && !options.allow_other_keys {
        return Err(occupied(address, others));
    }
    // Who has asked once asks again: from here on an interrupt waits until the keys are gone.
    if progress.stop() {
        return Err(Error::Interrupted);
    }
    let mut verified = Verified {
        server: session.version().to_owned(),
        compared: Vec::new(),
        skipped,
        difference: None,
    };
    let mut ended = None;
    for (run, job) in jobs.iter().enumerate() {
        ended = job.verify(run, &mut session, &mut verified, options, progress).err();
        if ended.is_some() || verified.difference.is_some() {
            break;
        }
    }
    let lost = matches!(&ended, Some(Ended::Fault(fault)) if fault.lost);
    progress.hold(true);
    let cleared = session.clear(lost);
    progress.hold(false);
    let left = |fault: &Fault| {
        format!(
            "keys {}* may be left there ({fault}); they expire within {} h after they stop to matter",
            session.prefix(),
            SLACK_MS / 3_600_000
        )
    };
    match (ended, cleared) {
        (Some(Ended::Fault(fault)), Ok(_)) => Err(failed(&fault)),
        (Some(Ended::Fault(fault)), Err(other)) => Err(Error::failed(
            format!("verify against {address}"),
            format!("{fault}; {}", left(&other)),
        )),
        (Some(Ended::Error(error)), Ok(_)) => Err(error),
        (_, Err(fault)) => Err(Error::failed(format!("clean up at {address}"), left(&fault))),
        (_, Ok(_)) => Ok(verified),
    }
}

fn occupied(address: &Address, keys: u64) -> Error {
    let keys = match keys {
        1 => "1 key".to_owned(),
        keys => format!("{} keys", format::count(keys)),
    };
    let help = "verify writes and deletes keys under a prefix of its own only; to let it do so there, say \
                `--allow-other-keys`, or give another database, as in redis://HOST:PORT/1";
    Error::input(
        Problem::new(format!("the database at {address} holds {keys} of somebody else")).help(help),
    )
}

/// What is to be compared, and what cannot be.
fn jobs(prepared: &Prepared) -> Result<(Vec<Job<'_>>, Vec<Skipped>), Error> {
    let (mut jobs, mut skipped) = (Vec::new(), Vec::new());
    for (position, case) in prepared.scenario.cases.iter().enumerate() {
        if let Some(why) = refusal::of_case(case) {
            skipped.push(Skipped { case: case.name.clone(), algorithm: None, why });
            continue;
        }
        let traffic = prepared.traffic(position);
        for contender in prepared.contenders(position) {
            match refusal::clock(contender, case, traffic.window) {
                Ok(tick) => jobs.push(Job {
                    position,
                    case: refusal::keeping(case),
                    contender: contender.on_clock(tick, &case.limits)?,
                    tick,
                    traffic,
                    keys: KeyPlan::new(&case.limits, traffic),
                }),
                Err(why) => skipped.push(Skipped {
                    case: case.name.clone(),
                    algorithm: Some(contender.name.clone()),
                    why,
                }),
            }
        }
    }
    if jobs.is_empty() {
        let mut reasons: Vec<&str> = Vec::new();
        for Skipped { why, .. } in &skipped {
            if !reasons.contains(&why.as_str()) {
                reasons.push(why);
            }
        }
        let message = format!("no script decides anything in `{}`", prepared.scenario.name);
        return Err(Error::input(Problem::new(message).help(reasons.join("\n"))));
    }
    Ok((jobs, skipped))
}

impl Job<'_> {
    /// Runs the model.
    fn run(&self, observer: &mut dyn Observer) -> Result<Tally, Stopped> {
        let Job { case, contender, traffic, keys, .. } = self;
        let plan = Plan::of(case, case.seed, traffic, None, keys);
        world::run(&plan, contender.rules(case), None, observer).map(|(tally, _)| tally)
    }

    /// Compares this run; what is found is added to `verified`.
    fn verify(
        &self,
        run: usize,
        session: &mut Session,
        verified: &mut Verified,
        options: &Options,
        progress: &dyn Progress,
    ) -> Result<(), Ended> {
        let Job { case, contender, traffic, .. } = self;
        let (unit, whole) = Unit::of(case, traffic.bound(), traffic.window.span());
        let settings = Settings {
            case,
            run,
            script: self.script(options),
            tick: self.tick,
            most: options.limit_attempts,
            by_time: unit == Unit::SimulatedTime,
        };
        let ring = Keyring::new(&self.keys);
        let mut replay = Replay::new(session, settings, ring, progress).map_err(Ended::Fault)?;
        let what = format!("{} {}", case.name, contender.name);
        progress.begin(what.trim_start(), whole, unit);
        let result = self.run(&mut replay);
        if result.is_ok() {
            replay.flush();
        }
        progress.end();
        let tally = match (replay.ended.take(), result) {
            (None | Some(Ended::Enough), Ok(tally)) => Some(tally),
            (Some(Ended::Enough), Err(_)) => None,
            (None, Err(stopped)) => return Err(Ended::Error(self.cut_off(stopped))),
            (Some(Ended::Differs(otherwise)), _) => {
                verified.difference = Some(self.look_back(&otherwise));
                None
            }
            (Some(ended), _) => return Err(ended),
        };
        let seconds = replay.waited.as_secs_f64();
        let compared = replay.compared;
        let keys: Vec<usize> =
            (0..case.limits.len()).map(|limit| replay.ring.count(limit)).collect();
        let nodes = std::mem::take(&mut replay.nodes);
        let server_bytes = self.server_bytes(run, session, &nodes, &keys).map_err(Ended::Fault)?;
        verified.compared.push(Compared {
            case: self.position,
            algorithm: contender.name.clone(),
            tick: self.tick,
            decisions: compared,
            per_second: (compared > 0 && seconds > 0.0).then(|| compared as f64 / seconds),
            keys: session.clear(false).map_err(Ended::Fault)?,
            server_bytes,
            model_bytes: tally.and_then(|tally| {
                let kept = tally.kept;
                (kept.keys_max > 0).then(|| kept.bytes_max as f64 / kept.keys_max as f64)
            }),
        });
        Ok(())
    }

    fn script<'a>(&self, options: &'a Options) -> &'a str {
        let kind = &ALGORITHMS[self.contender.kind];
        let instead = options.instead.iter().find(|(name, _)| name == kind.name);
        instead.map_or_else(
            || Script::of(kind).map_or("", |script| script.text),
            |(_, text)| text.as_str(),
        )
    }

    /// The mean of the keys that the run may have written.
    fn server_bytes(
        &self,
        run: usize,
        session: &mut Session,
        nodes: &BTreeSet<Option<u32>>,
        keys: &[usize],
    ) -> Result<Option<f64>, Fault> {
        let nodes: Vec<Option<u32>> = nodes.iter().copied().collect();
        let of_a_node: usize = keys.iter().sum();
        memory::mean(session, nodes.len() * of_a_node, |session, index| {
            let (node, mut key) = (nodes[index / of_a_node], index % of_a_node);
            let mut limit = 0;
            while key >= keys[limit] {
                key -= keys[limit];
                limit += 1;
            }
            session.key(run, node, limit, key)
        })
    }

    /// Runs the model once more, to tell what came before a difference.
    fn look_back(&self, otherwise: &Otherwise) -> Difference {
        let Otherwise { number, node, keys, server } = otherwise;
        let ring = Keyring::new(&self.keys);
        let mut lookback = Lookback::new(ring, self.traffic, self.tick, *number, (*node, keys));
        // That it is stopped once it has seen enough is no failure.
        let _ = self.run(&mut lookback);
        let difference = lookback.difference(server.clone());
        difference.unwrap_or_else(|| unreachable!("the same run makes the same attempts"))
    }

    fn cut_off(&self, stopped: Stopped) -> Error {
        match stopped {
            Stopped::ByObserver => Error::Interrupted,
            Stopped::TooManyAttempts { .. } => {
                let message = "clients made more than `max-attempts` attempts";
                let help = "give them a cap, a budget or a longer delay, or say `--limit-attempts`";
                Error::input(Problem::at(&self.case.place, message).help(help))
            }
            Stopped::CrossSlot { keys: [(one, _), (other, _)] } => {
                let message = format!(
                    "keys `{one}` and `{other}` of one script would lie in different slots"
                );
                let help = "put into `key-name` what all keys of an attempt share, in braces";
                Error::input(Problem::at(&self.case.place, message).help(help))
            }
        }
    }
}
