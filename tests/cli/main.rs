//! The program from outside: arguments and files in; exit code, output, messages and folders out.
//!
//! Each test has a folder of its own, in which the program runs, so that no path of the machine
//! appears in what is compared. In this order:
//!
//! - [`support`]: the folder, running the program in it, and reading what came out.
//! - [`run`]: `ratesim run` and its options.
//! - [`folder`]: what a run writes, and what it leaves alone.
//! - [`sameness`]: same scenario, same bytes, however the work is divided.
//! - [`replicas`]: replicas, the cases of a matrix, and how they are compared.
//! - [`check`]: `ratesim check`.
//! - [`mistakes`]: wrong scenarios and arguments; [`unknown_keys`]: a misspelt key in every table.
//! - [`about`]: `list`, `new`, `schema`, `completions`, `man`, `--help`, `--version`.
//! - [`inspect`]: `ratesim inspect`, and [`replay`]: `ratesim replay`.
//! - [`schema`]: the JSON Schema describes what the program takes.
//! - [`streams`]: what goes to which stream; closed pipes, full disks, interrupts, colour.
//! - [`shipped`]: the scenarios of this repository, with their results as checked in.
//! - [`generated`]: what holds for every scenario, over generated ones ([`scenarios`]).
//! - [`loops`]: closed loops, generated ([`closed`]) and worked by hand.
//! - [`numbers`], [`recorded`]: known situations with their right numbers, made up and recorded.

mod about;
mod check;
#[path = "../support/loops.rs"]
mod closed;
mod closed_replicas;
mod folder;
mod generated;
mod inspect;
mod loops;
mod mistakes;
mod numbers;
mod recorded;
mod replay;
mod replicas;
mod run;
mod sameness;
mod scenarios;
mod schema;
mod shipped;
mod streams;
mod support;
mod unknown_keys;
