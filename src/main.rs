//! The command line of ratesim.

fn main() {}
