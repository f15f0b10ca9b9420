//! The grammar of `ratesim replay`.

use std::path::PathBuf;

use clap::Args;

use super::Threads;
use super::logs::{Logs, Reading, choice};
use crate::command;
use crate::rate::Rate;
use crate::scenario::Changes;
use crate::traffic::Spread;

/// Replay logs against a limit; write `output/<name>/`.
///
/// No scenario is needed: the flags say what is promised to whom, and every algorithm decides the recorded
/// requests. The table is followed by who would have been hit.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Replay {
    #[command(flatten)]
    logs: Logs,

    /// What is promised for each key: so many requests per span.
    #[arg(long, value_name = "N/SPAN", value_parser = rate)]
    limit: Rate,

    /// What may pass at once from rest, for algorithms that have a burst; by default as much as the limit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=Rate::MAX_COUNT))]
    burst: Option<u64>,

    /// The field that says what a request costs; by default each costs 1.
    #[arg(long, value_name = "FIELD")]
    cost: Option<String>,

    /// How requests with the same stamp in whole seconds are spread over their second; by default both
    /// evenly and not at all, where that makes a difference.
    #[arg(long, value_name = "HOW", value_parser = choice::<Spread>())]
    spread: Option<Spread>,

    /// Replay only through these algorithms.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,

    /// The name of the results; by default that of the first log.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The folder in which the folder of results is written.
    #[arg(long, value_name = "FOLDER", default_value = "output")]
    out: PathBuf,

    /// Print the scenario that the flags stand for, and run nothing. Logs are read for whether their stamps are
    /// whole seconds.
    #[arg(long)]
    print_scenario: bool,

    /// The seed of what is random: `--spread random`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MOST))]
    seed: Option<u64>,

    /// Also write every single decision to `decisions.csv`.
    #[arg(long)]
    decisions: bool,

    /// Draw no charts and write no report page.
    #[arg(long)]
    no_charts: bool,

    /// Print JSON instead of tables.
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

/// The largest whole number that a scenario can hold.
const MOST: u64 = i64::MAX as u64;

const EXAMPLES: &str = "\
Examples:
  ratesim replay access.log --limit 100/1m
  ratesim replay access.log* --limit 600/1m --burst 50 --key address/24/56
  ratesim replay api.json --limit 10/s --key header:x-api-key --where 'path=/api/*'
  zcat old.gz | ratesim replay - --limit 1000/1h --key user --only gcra,token-bucket";

impl Replay {
    /// As the command takes it.
    pub fn options(self) -> command::replay::Options {
        command::replay::Options {
            logs: self.logs.read(self.reading),
            limit: self.limit,
            burst: self.burst,
            cost: self.cost,
            spread: self.spread,
            name: self.name,
            print_scenario: self.print_scenario,
            run: command::run::Options {
                scenarios: Vec::new(),
                changes: Changes { seed: self.seed, ..Changes::default() },
                only: self.only,
                out: self.out,
                decisions: self.decisions,
                charts: !self.no_charts,
                json: self.json,
                quiet: self.quiet,
                threads: self.threads.number(),
            },
        }
    }
}

fn rate(text: &str) -> Result<Rate, String> {
    Rate::parse(text).map_err(|wrong| format!("{wrong}; write {}", Rate::GRAMMAR))
}
