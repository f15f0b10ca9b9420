//! The grammar of `ratesim inspect`.

use clap::Args;

use super::Threads;
use super::logs::{Logs, Reading};
use crate::command;

/// Tell what is in logs.
///
/// How many requests of how many keys, when they peaked and for whom, how unevenly they are spread, what
/// their stamps are worth, which lines cannot be used and why, and what had already been refused.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Inspect {
    #[command(flatten)]
    logs: Logs,

    /// List so many keys.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    top: u32,

    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,

    /// Print nothing but errors, and the JSON of `--json`.
    #[arg(long, short)]
    pub quiet: bool,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    reading: Reading,
}

const EXAMPLES: &str = "\
Examples:
  ratesim inspect access.log
  ratesim inspect access.log* --key address/24/56 --where 'path=/api/*'
  ratesim inspect events.csv --column time=at --column user=account --key user
  kubectl logs deploy/api | ratesim inspect - --format json --column time=ts";

impl Inspect {
    /// As the command takes it.
    pub fn options(self) -> command::inspect::Options {
        command::inspect::Options {
            logs: self.logs.read(self.reading),
            top: self.top as usize,
            json: self.json,
            quiet: self.quiet,
            threads: self.threads.number(),
        }
    }
}
