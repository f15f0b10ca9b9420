//! The `ratesim` program; see the library for everything it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    ratesim::cli::main(std::env::args_os())
}
