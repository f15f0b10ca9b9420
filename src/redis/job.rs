//! One run that is compared with a server.

use std::collections::BTreeSet;

use super::difference::{Difference, Lookback};
use super::fault::Fault;
use super::memory;
use super::replay::{Ended, Otherwise, Replay, Settings};
use super::script::Script;
use super::session::Session;
use super::verify::{Compared, Options, Verified};
use crate::algorithm::ALGORITHMS;
use crate::error::{Error, Problem};
use crate::judge::Tally;
use crate::run::{Contender, Progress, Unit};
use crate::scenario::Case;
use crate::time::Span;
use crate::traffic::Traffic;
use crate::world::{self, KeyPlan, Keyring, Observer, Plan, Stopped};

/// One run to be compared.
pub(super) struct Job<'a> {
    /// The position of the case.
    pub position: usize,
    pub case: Case,
    pub contender: Contender,
    /// The resolution of all clocks.
    pub tick: Span,
    pub traffic: &'a Traffic,
    pub keys: KeyPlan,
}

impl Job<'_> {
    /// Runs the model.
    fn run(&self, observer: &mut dyn Observer) -> Result<Tally, Stopped> {
        let Job { case, contender, traffic, keys, .. } = self;
        let plan = Plan::of(case, case.seed, traffic, None, keys);
        world::run(&plan, contender.rules(case), None, observer).map(|(tally, _)| tally)
    }

    /// Compares this run; what is found is added to `verified`.
    pub fn verify(
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
            (None, Ok(tally)) => Some(tally),
            // What the model keeps is that of a whole run, or more than was compared.
            (Some(Ended::Enough), _) => None,
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
