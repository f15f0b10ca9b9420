//! The attempts of one run, sent to a server as the model decides them, and the answers compared.

use std::collections::BTreeSet;
use std::time::Duration;

use super::fault::Fault;
use super::invocation::{Answer, Invocation, KeyArgs, micros};
use super::refusal::at_node;
use super::session::Session;
use super::wire::now;
use crate::error::Error;
use crate::rate::Limit;
use crate::run::Progress;
use crate::scenario::{Case, LimitSpec};
use crate::time::Span;
use crate::world::{Decided, Keyring, Met, Observer};

/// Calls sent in one go; their answers fit into the buffers on the way back.
const CHUNK: usize = 256;

/// How long keys live longer than they matter: simulated time may pass much faster than true time, or slower.
pub(super) const SLACK_MS: u64 = 24 * 3600 * 1_000;

/// How often a server may forget a script that it was just told.
const RELOADS: usize = 3;

/// What a run was replayed with.
pub(super) struct Settings<'a> {
    pub case: &'a Case,
    /// The number of the run, which its keys have in their names.
    pub run: usize,
    /// The text of the script.
    pub script: &'a str,
    /// The resolution of all clocks.
    pub tick: Span,
    /// No more attempts than this are compared.
    pub most: Option<u64>,
    /// Progress is told in microseconds of simulated time instead of attempts.
    pub by_time: bool,
}

/// Why a replay ended early.
pub(super) enum Ended {
    /// As many attempts were compared as were wanted.
    Enough,
    /// The server decided an attempt otherwise.
    Differs(Otherwise),
    /// The server failed.
    Fault(Fault),
    /// It cannot go on for another reason.
    Error(Error),
}

/// What the server decided otherwise.
pub(super) struct Otherwise {
    /// The number of the attempt, from 1.
    pub number: u64,
    pub node: Option<u32>,
    /// Limit and number of each key.
    pub keys: Vec<(usize, usize)>,
    pub server: Answer,
}

struct Pending {
    number: u64,
    node: Option<u32>,
    keys: Vec<(usize, usize)>,
    model: Answer,
    packed: Vec<u8>,
}

/// Replays the attempts of one run.
pub(super) struct Replay<'a> {
    session: &'a mut Session,
    settings: Settings<'a>,
    progress: &'a dyn Progress,
    sha: String,
    pub ring: Keyring<'a>,
    /// Whose states were asked.
    pub nodes: BTreeSet<Option<u32>>,
    pending: Vec<Pending>,
    met: Vec<Met>,
    number: u64,
    /// Decisions compared.
    pub compared: u64,
    /// How long the server was waited for.
    pub waited: Duration,
    pub ended: Option<Ended>,
    told: u64,
}

impl<'a> Replay<'a> {
    /// Makes the script known to the server.
    pub fn new(
        session: &'a mut Session,
        settings: Settings<'a>,
        ring: Keyring<'a>,
        progress: &'a dyn Progress,
    ) -> Result<Replay<'a>, Fault> {
        let sha = session.connection.load(settings.script)?;
        Ok(Replay {
            session,
            settings,
            progress,
            sha,
            ring,
            nodes: BTreeSet::new(),
            pending: Vec::new(),
            met: Vec::new(),
            number: 0,
            compared: 0,
            waited: Duration::ZERO,
            ended: None,
            told: 0,
        })
    }

    /// An attempt was decided by the limits.
    fn replay(&mut self, decided: Decided) {
        self.number += 1;
        if self.ended.is_some() {
            return;
        }
        if self.settings.most.is_some_and(|most| self.number > most) {
            self.flush();
            self.ended.get_or_insert(Ended::Enough);
            return;
        }
        let mut met = std::mem::take(&mut self.met);
        met.clear();
        self.ring.keys_of(decided.arrival, |key| met.push(key));
        // What no limit covers, or what was decided without the limits, no script is asked about.
        let asked = decided.by.asked().filter(|_| !met.is_empty());
        if let (Some(asked), Some(model)) = (asked, Answer::of(decided.fate)) {
            let Settings { case, run, tick, .. } = self.settings;
            let keys = met.iter().map(|met| KeyArgs {
                key: self.session.key(run, asked.node, met.limit, met.key),
                limit: at_node(case, limit(&case.limits[met.limit], met), asked.node.unwrap_or(0)),
                cost: met.cost,
            });
            let now = micros(asked.reading, tick);
            let (slack, combine) = (SLACK_MS, case.combine);
            let call = Invocation { now, slack, combine, keys: keys.collect() };
            self.nodes.insert(asked.node);
            self.pending.push(Pending {
                number: self.number,
                node: asked.node,
                keys: met.iter().map(|met| (met.limit, met.key)).collect(),
                model,
                packed: call.command(&self.sha).get_packed_command(),
            });
            if self.pending.len() == CHUNK {
                self.flush();
            }
        }
        self.met = met;
    }

    /// Sends what is pending and compares the answers.
    pub fn flush(&mut self) {
        if self.ended.is_some() {
            return;
        }
        if self.progress.stop() {
            self.ended = Some(Ended::Error(Error::Interrupted));
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        let mut rest = &pending[..];
        let mut reloads = 0;
        while !rest.is_empty() {
            match self.send(rest) {
                Ok(done) if done == rest.len() => break,
                Ok(done) => rest = &rest[done..],
                Err(ended) => {
                    self.ended = Some(ended);
                    break;
                }
            }
            reloads += 1;
            if reloads > RELOADS {
                let sentence = "it forgets scripts as soon as they are loaded";
                self.ended = Some(Ended::Fault(Fault::new(sentence)));
                break;
            }
            match self.session.connection.load(self.settings.script) {
                Ok(sha) => self.sha = sha,
                Err(fault) => {
                    self.ended = Some(Ended::Fault(fault));
                    break;
                }
            }
        }
    }

    /// Sends calls and compares the answers up to the first that found no script; how many there were.
    fn send(&mut self, calls: &[Pending]) -> Result<usize, Ended> {
        let begun = now();
        let packed = calls.iter().map(|call| &call.packed[..]);
        let answers = self.session.connection.ask_all(packed).map_err(Ended::Fault)?;
        self.waited += now() - begun;
        let mut without_script = None;
        for (index, (call, answer)) in calls.iter().zip(answers).enumerate() {
            let answer = match answer {
                Err(fault) if fault.code.as_deref() == Some("NOSCRIPT") => {
                    without_script.get_or_insert(index);
                    continue;
                }
                Err(fault) => return Err(Ended::Fault(fault)),
                Ok(value) => Answer::read(&value),
            };
            if without_script.is_some() {
                let sentence = "its scripts were forgotten and loaded again by somebody else meanwhile, so that \
                                attempts were decided out of order; verify again";
                return Err(Ended::Fault(Fault::new(sentence)));
            }
            let Some(server) = answer else {
                let sentence = "its script answers with something else than numbers";
                return Err(Ended::Fault(Fault::new(sentence)));
            };
            if server.on_clock(self.settings.tick) != call.model {
                return Err(Ended::Differs(Otherwise {
                    number: call.number,
                    node: call.node,
                    keys: call.keys.clone(),
                    server,
                }));
            }
            self.compared += 1;
        }
        Ok(without_script.unwrap_or(calls.len()))
    }
}

/// The limit of a key.
fn limit(spec: &LimitSpec, met: &Met) -> Limit {
    met.variant.checked_sub(1).map_or(spec.limit, |position| spec.tiers[position].limit)
}

impl Observer for Replay<'_> {
    fn decided(&mut self, decided: Decided) {
        self.replay(decided);
    }

    fn decided_in_vain(&mut self, decided: Decided) {
        self.replay(decided);
    }

    fn progressed(&mut self, reached: Span, attempts: u64) -> bool {
        let new = match self.settings.by_time {
            true => {
                let reached = reached.nanos() / 1_000;
                reached - std::mem::replace(&mut self.told, reached)
            }
            false => attempts,
        };
        self.progress.advance(new);
        if self.progress.stop() {
            self.ended.get_or_insert(Ended::Error(Error::Interrupted));
        }
        self.ended.is_none()
    }
}
