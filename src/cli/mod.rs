//! The command line: its grammar, and the only place that touches the terminal.

mod inspect;
mod logs;
mod progress;
mod replay;
mod verify;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::command::{self, Output};
use crate::error::{Error, Problem};
use crate::scenario::Changes;
use inspect::Inspect;
use progress::{Stop, Terminal};
use replay::Replay;
use verify::Verify;

/// Compare rate-limiting algorithms before one goes into production.
///
/// A scenario says who asks for what, when, and what limit was promised. ratesim sends its traffic
/// through every algorithm on a virtual clock and shows what each accepted, rejected and let over the
/// limit, as a table, CSV files and charts.
#[derive(Debug, Parser)]
#[command(name = "ratesim", version, max_term_width = 100, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate scenarios, print their tables, write `output/<name>/`.
    Run(Run),
    /// Run scenarios and judge every `[[expect]]`; exit 1 if one fails.
    Check(Check),
    Inspect(Inspect),
    Replay(Replay),
    /// Compare a scenario's decisions with those of a real Redis; exit 1 if one differs.
    Verify(Verify),
    /// List what there is.
    List(List),
    /// Write a scenario to start from.
    New(New),
    /// Print what a scenario file may hold, as a JSON Schema.
    Schema(Schema),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

#[derive(Debug, Args)]
struct Run {
    /// Scenario files.
    #[arg(required = true, value_name = "SCENARIO")]
    scenarios: Vec<PathBuf>,

    /// Run only these algorithms (by their names in the scenario).
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,

    /// Use another seed than the scenario's.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Run each case so many times, each time under another seed, instead of the scenario's `replicas`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    replicas: Option<u32>,

    /// Change a setting: a dotted path and a value, such as `limit.requests=50` or
    /// `traffic.0.rate=5/s` (positions count from 0).
    #[arg(long, value_name = "PATH=VALUE", value_parser = path_and_value)]
    set: Vec<(String, String)>,

    /// The folder in which each scenario's folder is written.
    #[arg(long, value_name = "FOLDER", default_value = "output")]
    out: PathBuf,

    /// Also write every single decision to `decisions.csv`.
    #[arg(long)]
    decisions: bool,

    /// Draw no charts and write no report page.
    #[arg(long)]
    no_charts: bool,

    /// Print the summary as JSON instead of a table.
    #[arg(long)]
    json: bool,

    /// Print nothing but errors, and the JSON of `--json`.
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    threads: Threads,
}

#[derive(Debug, Args)]
struct Check {
    /// Scenario files, and folders that are searched for them.
    #[arg(value_name = "FILE|FOLDER", default_value = "scenarios")]
    paths: Vec<PathBuf>,

    /// Run each case so many times, each time under another seed, instead of the scenarios' `replicas`;
    /// every run must show what is expected.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    replicas: Option<u32>,

    /// Print the judgements as JSON.
    #[arg(long)]
    json: bool,

    /// Print only what does not hold; the JSON of `--json` has all.
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    threads: Threads,
}

#[derive(Debug, Args)]
struct Threads {
    /// Make so many runs at a time; by default one a core. Changes no result.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
}

#[derive(Debug, Args)]
struct List {
    /// What to list.
    what: command::list::What,

    /// Of scripts, the one whose text is printed; of formats, the one that an example is printed of.
    name: Option<String>,

    /// The folder of scenarios, for `list scenarios`.
    #[arg(long, value_name = "FOLDER", default_value = "scenarios")]
    folder: PathBuf,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct New {
    /// Its name; the file is `NAME.toml`.
    name: String,

    /// The folder in which it is written.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
}

#[derive(Debug, Args)]
struct Schema {
    /// Print the reference for people, in Markdown.
    #[arg(long)]
    markdown: bool,
}

fn path_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => {
            Ok((path.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write PATH=VALUE, such as limit.requests=50".to_owned()),
    }
}

/// Runs the command line and says how it ended: 0 done, 1 an expectation failed, 2 the user's input
/// is wrong, 3 something else failed, 130 interrupted.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are results, and go to standard output. That nobody listens any
            // more is no error of this command.
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()) * 2);
        }
    };
    match cli.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    let stop = Arc::new(Stop::default());
    if let Err(error) = stop_on_interrupt(&stop, cli.command.leaves()) {
        return report(&error);
    }
    match dispatch(cli.command, &stop) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => report(&error),
    }
}

/// Whether what was asked holds (all but `check` and `verify` always do).
fn dispatch(command: Command, stop: &Arc<Stop>) -> Result<bool, Error> {
    let styled = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let mut stdout = std::io::BufWriter::new(anstream::stdout());
    let width = width();
    let mut output = Output { out: &mut stdout, width, styled };
    let holds = match command {
        Command::Run(run) => {
            let progress = Terminal::new(run.quiet, Arc::clone(stop));
            let options = command::run::Options {
                scenarios: run.scenarios,
                changes: Changes { set: run.set, seed: run.seed, replicas: run.replicas },
                only: run.only,
                out: run.out,
                decisions: run.decisions,
                charts: !run.no_charts,
                json: run.json,
                quiet: run.quiet,
                threads: run.threads.number(),
            };
            command::run::run(&options, &mut output, &progress).map(|()| true)
        }
        Command::Check(check) => {
            let progress = Terminal::new(check.quiet, Arc::clone(stop));
            let options = command::check::Options {
                paths: check.paths,
                changes: Changes { replicas: check.replicas, ..Changes::default() },
                threads: check.threads.number(),
                quiet: check.quiet,
                json: check.json,
            };
            command::check::check(&options, &mut output, &progress)
        }
        Command::Inspect(inspect) => {
            let progress = Terminal::new(inspect.quiet, Arc::clone(stop));
            command::inspect::inspect(&inspect.options(), &mut output, &progress).map(|()| true)
        }
        Command::Replay(replay) => {
            let progress = Terminal::new(replay.quiet, Arc::clone(stop));
            command::replay::replay(&replay.options(), &mut output, &progress).map(|()| true)
        }
        Command::Verify(verify) => {
            let progress = Terminal::new(verify.quiet, Arc::clone(stop));
            command::verify::verify(&verify.options(), &mut output, &progress)
        }
        Command::List(List { what, name, folder, json }) => {
            command::list::list(what, name.as_deref(), &folder, json, &mut output).map(|()| true)
        }
        Command::New(new) => {
            let path = command::new::new(&new.name, &new.folder)?;
            let shown = path.display();
            output.say(&format!("wrote {shown}; next: ratesim run {shown}")).map(|()| true)
        }
        Command::Schema(Schema { markdown: true }) => {
            output.say(&command::schema::reference()).map(|()| true)
        }
        Command::Schema(Schema { markdown: false }) => {
            output.say(&format!("{:#}", command::schema::schema())).map(|()| true)
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "ratesim", &mut script);
            output.out.write_all(&script).map_err(Error::output).map(|()| true)
        }
        Command::Man => man(output.out).map(|()| true),
    }?;
    stdout.flush().map_err(Error::output)?;
    Ok(holds)
}

/// The manual pages of the program and of every command, one after another.
fn man(out: &mut dyn Write) -> Result<(), Error> {
    let mut cli = Cli::command();
    cli.build();
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(cli.clone()).render(&mut page);
    rendered.map_err(Error::output)?;
    for command in cli.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("ratesim-{}", command.get_name());
        let command = command.clone().name(&name).bin_name(name.replacen('-', " ", 1));
        clap_mangen::Man::new(command).render(&mut page).map_err(Error::output)?;
    }
    out.write_all(&page).map_err(Error::output)
}

/// Prints an error to standard error and gives its exit code.
fn report(error: &Error) -> ExitCode {
    let code = error.exit_code();
    if code != 0 {
        let styled =
            anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
        // Where standard error is gone, the exit code still tells.
        let _ = writeln!(anstream::stderr(), "{}", error.render(styled));
    }
    ExitCode::from(code)
}

impl Command {
    /// What may be left behind where it is ended before it has cleaned up.
    fn leaves(&self) -> &'static str {
        match self {
            Command::Verify(_) => {
                "keys `ratesim:{...` may be left in the server; they expire within 24 h after they stop to matter, \
                 and the next `ratesim verify` there says how to delete them"
            }
            _ => {
                "a folder `.ratesim-...` may be left beside the results, which the next run there removes"
            }
        }
    }
}

/// Ctrl-C asks a run to stop, so that it can clean up. A second one ends the program at once, and so
/// does the first before there is anything to clean up, which it also does soon while input is waited for; but none while results are put in place, or keys
/// deleted. `leaves` says what may be left then.
fn stop_on_interrupt(stop: &Arc<Stop>, leaves: &'static str) -> Result<(), Error> {
    let stop = Arc::clone(stop);
    ctrlc::set_handler(move || {
        if stop.want() {
            if stop.waits_for_input() {
                report(&Error::Interrupted);
                std::process::exit(130);
            }
        } else if !stop.is_held() {
            let unclean = Problem::new("interrupted before everything was cleaned up").help(leaves);
            report(&match stop.is_watched() {
                true => Error::input(unclean),
                false => Error::Interrupted,
            });
            std::process::exit(130);
        }
    })
    .map_err(|cause| Error::failed("watch for Ctrl-C", cause))
}

impl Threads {
    fn number(&self) -> usize {
        match self.threads {
            Some(threads) => threads as usize,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The columns of the terminal; where there is none those that `COLUMNS` says, or 80.
#[expect(clippy::disallowed_methods, reason = "how wide a table is printed reaches no file")]
fn width() -> usize {
    let (terminal, width) = (std::io::stdout().is_terminal(), terminal_size::terminal_size());
    let columns = match width {
        Some((terminal_size::Width(width), _)) if terminal => Some(usize::from(width)),
        _ => std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()),
    };
    columns.map_or(80, |columns| columns.clamp(40, 240))
}
