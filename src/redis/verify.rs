//! A whole verification: every algorithm of every case, one after another, and the clean-up.

use std::collections::BTreeMap;
use std::time::Duration;

use super::address::Address;
use super::comparison::Comparison;
use super::difference::Difference;
use super::fault::Fault;
use super::leftover;
use super::refusal::Skipped;
use super::replay::{Ended, SLACK_MS};
use super::session::Session;
use crate::error::{Error, Problem};
use crate::report::format;
use crate::run::Progress;
use crate::time::Span;

/// How to verify.
#[derive(Debug, Clone)]
pub struct Options {
    /// Compare no more attempts of an algorithm than this.
    pub limit_attempts: Option<u64>,
    /// Go ahead although the database holds other keys.
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
    /// What was in the way of deleting the keys, which may be there still, and how to delete them.
    pub left: Option<String>,
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

/// Compares a scenario's decisions with those of a server. Keys are written under a prefix of their own and deleted
/// at the end, whatever the end is.
///
/// # Errors
/// A problem if the database holds other keys; what is in the way of the server; an interrupt.
pub fn verify(
    comparison: &Comparison,
    address: &Address,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Verified, Error> {
    let failed = |fault: Fault| Error::failed(format!("verify against {address}"), fault);
    let mut session = Session::open(address, options.timeout).map_err(failed)?;
    let size = session.size().map_err(failed)?;
    if size > 0 && !options.allow_other_keys {
        let leftovers = session.leftovers(size).map_err(failed)?;
        return Err(occupied(address, size, &leftovers));
    }
    session.check_clean_up().map_err(failed)?;
    let evicted = session.evicted().map_err(failed)?.unwrap_or(0);
    // Who has asked once asks again: from here on an interrupt waits until the keys are gone.
    if progress.stop() {
        return Err(Error::Interrupted);
    }
    let mut verified = Verified {
        server: session.version().to_owned(),
        compared: Vec::new(),
        skipped: comparison.skipped.clone(),
        difference: None,
        left: None,
    };
    let mut ended = None;
    for (run, job) in comparison.jobs.iter().enumerate() {
        ended = job.verify(run, &mut session, &mut verified, options, progress).err();
        if ended.is_some() || verified.difference.is_some() {
            break;
        }
    }
    if verified.difference.is_some() {
        ended = without_keys(&mut session, evicted).map(Ended::Fault);
    }
    progress.hold(true);
    if matches!(ended, Some(Ended::Error(Error::Interrupted))) {
        progress.announce("interrupted; deleting what was written to the server");
    }
    let cleared = session.clear(matches!(&ended, Some(Ended::Fault(fault)) if fault.lost));
    progress.hold(false);
    match (ended, cleared) {
        (Some(Ended::Fault(fault)), Ok(_)) => Err(failed(fault)),
        (Some(Ended::Error(Error::Interrupted)), Ok(deleted)) => {
            Err(Error::InterruptedThen(match deleted {
                0 => format!("no key was left at {address}"),
                keys => format!("{} deleted at {address}, and none is left", were(keys)),
            }))
        }
        (Some(Ended::Error(error)), Ok(_)) => Err(error),
        (Some(Ended::Fault(first)), Err(fault)) => {
            Err(failed(unclean(&session, Some(first), &fault)))
        }
        (Some(_), Err(fault)) => {
            Err(Error::failed(format!("clean up at {address}"), unclean(&session, None, &fault)))
        }
        (None, Err(fault)) => {
            verified.left = Some(unclean(&session, None, &fault).to_string());
            Ok(verified)
        }
        (_, Ok(_)) => Ok(verified),
    }
}

/// Why a difference says nothing of scripts: the server has forgotten keys since it had evicted so many, or does not say.
fn without_keys(session: &mut Session, before: u64) -> Option<Fault> {
    match session.evicted() {
        Ok(evicted) => evicted.and_then(|evicted| evicted.checked_sub(before)).filter(|&n| n > 0).map(|keys| {
            Fault::new(format!(
                "it has evicted {} meanwhile, as its memory was full: without them it decides otherwise; raise its \
                 `maxmemory`, or compare less with `--limit-attempts`",
                counted(keys)
            ))
        }),
        Err(fault) => Some(fault),
    }
}

/// What to say where the clean-up fails, perhaps after something else has.
fn unclean(session: &Session, first: Option<Fault>, fault: &Fault) -> Fault {
    let what = match first {
        Some(first) if first.to_string() != fault.to_string() => {
            format!("{first}; then its keys could not be deleted: {fault}")
        }
        _ => fault.to_string(),
    };
    Fault::new(format!(
        "{what}; keys {}* may be left there, which expire within {} h after they stop to matter; this deletes them: \
         {}",
        session.prefix(),
        SLACK_MS / 3_600_000,
        session.removal()
    ))
}

fn were(keys: u64) -> String {
    format!("{} {}", counted(keys), if keys == 1 { "was" } else { "were" })
}

fn counted(keys: u64) -> String {
    match keys {
        1 => "1 key".to_owned(),
        keys => format!("{} keys", format::count(keys)),
    }
}

/// Why a database of so many keys is not written to, some of which may be left from other verifications.
fn occupied(address: &Address, size: u64, leftovers: &BTreeMap<String, u64>) -> Error {
    let left: u64 = leftovers.values().sum();
    let others = size.saturating_sub(left);
    let mut holds = Vec::new();
    if others > 0 {
        holds.push(format!("{} of somebody else", counted(others)));
    }
    let mut help = String::new();
    if left > 0 {
        holds.push(format!("{} that an earlier `ratesim verify` left", counted(left)));
        let only = leftovers.keys().next().filter(|_| leftovers.len() == 1);
        let removal = leftover::removal(address, only.map(String::as_str), "UNLINK");
        help = format!(
            "if it was killed, and none is still at work there, this deletes them:\n  {removal}\n"
        );
    }
    help += "verify writes and deletes keys under a prefix of its own only; to let it do so beside others, say \
             `--allow-other-keys`, or give another database, as in redis://HOST:PORT/1";
    let message = format!("the database at {address} holds {}", holds.join(" and "));
    Error::input(Problem::new(message).help(help))
}
