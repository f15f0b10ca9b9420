//! The grammar of `ratesim verify`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::path_and_value;
use crate::command;
use crate::redis;
use crate::scenario::Changes;
use crate::time::Span;

/// Compare a scenario's decisions with those of a real Redis; exit 1 if one differs.
///
/// The model decides every attempt on a clock of 1 us; Lua scripts decide the same attempts on the server, and the
/// answers are compared one by one, waits included. Only keys under a prefix of its own are written, and they are
/// deleted at the end, also after Ctrl-C. `ratesim list scripts` has the scripts.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// The scenario file.
    scenario: PathBuf,

    /// The server: redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], or
    /// unix:PATH[?db=DATABASE&user=USER&pass=PASSWORD].
    #[arg(long, value_name = "URL")]
    redis: String,

    /// Compare only these algorithms (by their names in the scenario).
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,

    /// Use another seed than the scenario's.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Change a setting: a dotted path and a value, such as `limit.requests=50`.
    #[arg(long, value_name = "PATH=VALUE", value_parser = path_and_value)]
    set: Vec<(String, String)>,

    /// Compare no more than the first N attempts of each algorithm.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit_attempts: Option<u64>,

    /// Go ahead although the database holds other keys; those are left alone.
    #[arg(long)]
    allow_other_keys: bool,

    /// How long the server is waited for: to connect, the look-up of its name included, and for each answer.
    #[arg(long, value_name = "SPAN", default_value = "5s", value_parser = timeout)]
    timeout: Duration,

    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,

    /// Print nothing but a difference, errors, and the JSON of `--json`.
    #[arg(long, short)]
    pub quiet: bool,
}

impl Verify {
    /// As the command takes it.
    pub fn options(self) -> command::verify::Options {
        command::verify::Options {
            scenario: self.scenario,
            redis: self.redis,
            only: self.only,
            changes: Changes { set: self.set, seed: self.seed, replicas: None },
            verify: redis::Options {
                limit_attempts: self.limit_attempts,
                allow_other_keys: self.allow_other_keys,
                timeout: self.timeout,
                ..redis::Options::default()
            },
            json: self.json,
            quiet: self.quiet,
        }
    }
}

/// A timeout from 1 ms to an hour: what an operating system takes, and what a person waits for.
fn timeout(text: &str) -> Result<Duration, String> {
    let span = Span::parse(text).map_err(|wrong| format!("{wrong}; write {}", Span::GRAMMAR))?;
    let timeout = Duration::from_nanos(span.nanos());
    let range = Duration::from_millis(1)..=Duration::from_secs(3600);
    range
        .contains(&timeout)
        .then_some(timeout)
        .ok_or_else(|| "write a span from 1ms to 1h".to_owned())
}
