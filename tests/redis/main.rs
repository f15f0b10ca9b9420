//! The same decisions from a real Redis.
//!
//! Tests that need a server use the one whose URL is in `RATESIM_REDIS_URL`, each in a database of its own or under
//! a prefix of its own; tests that stop, freeze or lock a server start their own `redis-server`. Where there is none
//! they are listed as ignored; `RATESIM_REQUIRE_REDIS=1` makes that a failure. In this order:
//!
//! - [`support`]: servers to start, servers that only pretend, a scenario to verify, and the program.
//! - [`scripts`]: what each script decides, writes and lets expire, by hand.
//! - [`traffic`]: random traffic, decision by decision against the algorithms.
//! - [`program`]: `ratesim verify` and `ratesim list scripts` from outside.
//! - [`left_out`]: what `ratesim verify` cannot compare.
//! - [`faults`]: what a server may do wrong, and what is left behind then.

mod faults;
mod left_out;
mod program;
mod scripts;
mod support;
mod traffic;

use libtest_mimic::{Arguments, Conclusion, Trial};

/// What a test needs.
enum Needs {
    /// Nothing.
    Nothing,
    /// The server of `RATESIM_REDIS_URL`.
    Server,
    /// The program `redis-server`.
    Program,
}

/// A test.
struct Test {
    name: &'static str,
    needs: Needs,
    run: fn(),
}

/// Names a test after its function.
macro_rules! test {
    ($needs:ident, $module:ident::$name:ident) => {
        $crate::Test {
            name: concat!(stringify!($module), "::", stringify!($name)),
            needs: $crate::Needs::$needs,
            run: $crate::$module::$name,
        }
    };
}
use test;

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let required = support::variable("RATESIM_REQUIRE_REDIS").is_some_and(|value| value != "0");
    let (server, program) = (support::url().is_some(), support::has_program());
    let tests =
        [scripts::tests(), traffic::tests(), program::tests(), left_out::tests(), faults::tests()];
    let trials = tests.into_iter().flatten().map(|test| {
        let there = match test.needs {
            Needs::Nothing => true,
            Needs::Server => server,
            Needs::Program => program,
        };
        // Required but not there: it runs, and says what is missing.
        let trial = Trial::test(test.name, move || {
            assert!(there, "no Redis: set RATESIM_REDIS_URL, and have redis-server on the PATH");
            (test.run)();
            Ok(())
        });
        trial.with_ignored_flag(!there && !required)
    });
    let conclusion: Conclusion = libtest_mimic::run(&arguments, trials.collect());
    conclusion.exit_code()
}
