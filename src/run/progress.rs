//! How a run tells what it is doing, without knowing of terminals.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::scenario::Case;
use crate::time::Span;

/// What progress is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Attempts, where it is known how many there will be at most.
    Attempts,
    /// Simulated time in microseconds, where clients retry as they like.
    SimulatedTime,
    /// Charts drawn.
    Charts,
    /// Bytes of files read; a total of 0 is one that is not known.
    Bytes,
}

impl Unit {
    /// What the progress of a case's runs is measured in, and how much one over `span` with so many requests
    /// is at most.
    pub fn of(case: &Case, requests: u64, span: Span) -> (Unit, u64) {
        match case.is_closed_loop() {
            true => (Unit::SimulatedTime, micros(span)),
            false => (Unit::Attempts, requests),
        }
    }
}

/// Whole microseconds.
pub(super) fn micros(span: Span) -> u64 {
    span.nanos() / 1_000
}

/// Told of a run's progress, from any thread.
pub trait Progress: Sync {
    /// Work of `total` (at most) begins, measured in `unit`.
    fn begin(&self, what: &str, total: u64, unit: Unit);

    /// So much more is done.
    fn advance(&self, by: u64);

    /// Something that the user should know before it happens.
    fn announce(&self, message: &str);

    /// The run is over.
    fn end(&self);

    /// What must not be left half done begins, or is done: between the two no interrupt ends the program.
    fn hold(&self, begins: bool);

    /// Whether to stop. Whoever has asked once asks again before long, until it is done: an interrupt
    /// may then wait for the answer, and until then ends the program at once.
    fn stop(&self) -> bool;
}

/// Says nothing and never stops, unless told to.
#[derive(Debug, Default)]
pub struct Silent {
    /// Set to stop.
    pub stopped: AtomicBool,
}

impl Progress for Silent {
    fn begin(&self, _what: &str, _total: u64, _unit: Unit) {}
    fn advance(&self, _by: u64) {}
    fn announce(&self, _message: &str) {}
    fn end(&self) {}
    fn hold(&self, _begins: bool) {}
    fn stop(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Options, prepare, simulate};
    use crate::scenario::{Changes, Scenario};
    use std::path::Path;
    use std::sync::Mutex;

    /// What was told: how much there is in which unit, then how much was done, step by step.
    #[derive(Default)]
    struct Told {
        begun: Mutex<Vec<(u64, Unit)>>,
        steps: Mutex<Vec<u64>>,
    }

    impl Progress for Told {
        fn begin(&self, _what: &str, total: u64, unit: Unit) {
            self.begun.lock().unwrap().push((total, unit));
        }
        fn advance(&self, by: u64) {
            self.steps.lock().unwrap().push(by);
        }
        fn announce(&self, _message: &str) {}
        fn end(&self) {}
        fn hold(&self, _begins: bool) {}
        fn stop(&self) -> bool {
            false
        }
    }

    fn told(clients: &str) -> (Vec<(u64, Unit)>, Vec<u64>) {
        let text = format!(
            "name = \"t\"\nduration = \"10s\"\nlimit = \"0/1s\"\n{clients}\n\
             [[traffic]]\nkind = \"burst\"\nrequests = 50\n\
             [[algorithm]]\nkind = \"gcra\"\n[[algorithm]]\nkind = \"fixed-window\"\n"
        );
        let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default()).unwrap();
        let told = Told::default();
        simulate(&prepare(scenario, &[]).unwrap(), Options::default(), &told).unwrap();
        (told.begun.into_inner().unwrap(), told.steps.into_inner().unwrap())
    }

    #[test]
    fn progress_of_a_closed_loop_is_simulated_time_and_ends_with_all_of_it() {
        // 50 clients that ask each 10 ms for 10 s, under two algorithms: 16,384 attempts are reached three
        // times in each, after 3.27 s, 6.55 s and 9.83 s.
        let (begun, steps) = told("[clients]\nrtt = \"10ms\"\nretries = \"immediate\"");
        assert_eq!(begun, [(20_000_000, Unit::SimulatedTime)]);
        let of_one = [3_270_000, 3_280_000, 3_280_000, 170_000];
        assert_eq!(steps, [of_one, of_one].concat());
    }

    #[test]
    fn progress_of_an_open_loop_is_attempts() {
        // The reference and two algorithms, all at once.
        let (begun, steps) = told("");
        assert_eq!((begun, steps), (vec![(150, Unit::Attempts)], vec![150]));
    }
}
