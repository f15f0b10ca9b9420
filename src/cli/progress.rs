//! Progress on standard error: a bar on a terminal, a plain line now and then elsewhere, and nothing
//! at all for runs that are over in half a second.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::report::format::bytes;
use crate::run::{Progress, Unit};

/// Runs shorter than this show nothing.
const QUIET_FOR: Duration = Duration::from_millis(500);
/// Without a terminal, a line this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Progress for whoever sits before the terminal.
pub(super) struct Terminal {
    quiet: bool,
    terminal: bool,
    stop: Arc<Stop>,
    done: AtomicU64,
    state: Mutex<State>,
}

/// Whether the user wants the program to stop, and whether anybody looks.
#[derive(Debug, Default)]
pub(super) struct Stop {
    wanted: AtomicBool,
    watched: AtomicBool,
    held: AtomicBool,
    /// Whether files are being read. Nothing is written yet then.
    reading: AtomicBool,
}

/// Whoever reads looks more often than that, unless nothing comes.
const LOOKS_WITHIN: Duration = Duration::from_millis(500);

impl Stop {
    /// The user wants it. Whether somebody looks who did not know yet and will see to it.
    pub(super) fn want(&self) -> bool {
        !self.wanted.swap(true, Ordering::SeqCst) && self.watched.load(Ordering::SeqCst)
    }

    /// Whether anybody has looked.
    pub(super) fn is_watched(&self) -> bool {
        self.watched.load(Ordering::SeqCst)
    }

    /// Whether the program must not end now.
    pub(super) fn is_held(&self) -> bool {
        self.held.load(Ordering::SeqCst)
    }

    /// Whether the program reads, and goes on doing so for longer than it would if there were anything to read.
    pub(super) fn waits_for_input(&self) -> bool {
        let step = LOOKS_WITHIN / 50;
        (0..50).all(|_| {
            let reads = self.reading.load(Ordering::SeqCst);
            if reads {
                std::thread::sleep(step);
            }
            reads
        })
    }

    fn is_wanted(&self) -> bool {
        self.watched.store(true, Ordering::SeqCst);
        self.wanted.load(Ordering::SeqCst)
    }
}

struct State {
    what: String,
    total: u64,
    unit: Unit,
    begun: Instant,
    line_due: Instant,
    bar: Option<ProgressBar>,
}

impl Terminal {
    /// `quiet` shows nothing; `stop` knows whether the run is to end.
    pub(super) fn new(quiet: bool, stop: Arc<Stop>) -> Terminal {
        let now = now();
        let state = State {
            what: String::new(),
            total: 0,
            unit: Unit::Attempts,
            begun: now,
            line_due: now + LINE_EVERY,
            bar: None,
        };
        let terminal = std::io::stderr().is_terminal();
        Terminal { quiet, terminal, stop, done: AtomicU64::new(0), state: Mutex::new(state) }
    }
}

/// Real time decides only when progress is shown, never what is computed.
#[expect(clippy::disallowed_methods, reason = "progress is for people and reaches no result")]
fn now() -> Instant {
    Instant::now()
}

impl State {
    fn bar(&self) -> ProgressBar {
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let bar = ProgressBar::with_draw_target(Some(self.total), target);
        // It is made when the work has gone on for a while.
        let bar = bar.with_elapsed(now() - self.begun);
        let style = match self.unit {
            Unit::Attempts => {
                "{msg} {wide_bar} {percent}% {human_pos} of at most {human_len} attempts, {eta} left"
            }
            Unit::SimulatedTime => "{msg} {wide_bar} {percent}% of the simulated time, {eta} left",
            Unit::Charts => "{msg} {wide_bar} {human_pos} of {human_len} charts, {eta} left",
            Unit::Bytes if self.total == 0 => "{msg}: {bytes}, {mean}",
            Unit::Bytes => "{msg} {wide_bar} {percent}% of {total_bytes}, {eta} left",
        };
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style.with_key("mean", mean));
        }
        bar.set_message(self.what.clone());
        bar
    }

    /// Where there is no bar.
    fn line(&self, done: u64) -> String {
        let State { what, total, .. } = self;
        match self.unit {
            Unit::Attempts => format!("{what}: {done} of at most {total} attempts"),
            Unit::SimulatedTime => {
                let percent = u128::from(done) * 100 / u128::from(*total).max(1);
                format!("{what}: {percent}% of the simulated time")
            }
            Unit::Charts => format!("{what}: {done} of {total} charts"),
            Unit::Bytes if *total == 0 => format!("{what}: {}", bytes(done)),
            Unit::Bytes => format!("{what}: {} of {}", bytes(done), bytes(*total)),
        }
    }
}

/// The rate since the work began: what a bar is told first is more than it saw being done.
fn mean(state: &ProgressState, to: &mut dyn std::fmt::Write) {
    // A bar is written into memory.
    let _ = write!(to, "{}", rate(state.pos(), state.elapsed()));
}

fn rate(done: u64, elapsed: Duration) -> String {
    let nanos = elapsed.as_nanos().max(1);
    let a_second = u128::from(done) * 1_000_000_000 / nanos;
    format!("{}/s", bytes(u64::try_from(a_second).unwrap_or(u64::MAX)))
}

impl Progress for Terminal {
    fn begin(&self, what: &str, total: u64, unit: Unit) {
        self.stop.reading.store(unit == Unit::Bytes, Ordering::SeqCst);
        self.done.store(0, Ordering::Relaxed);
        if let Ok(mut state) = self.state.lock() {
            if let Some(bar) = state.bar.take() {
                bar.finish_and_clear();
            }
            let now = now();
            *state = State {
                what: what.to_owned(),
                total,
                unit,
                begun: now,
                line_due: now + LINE_EVERY,
                bar: None,
            };
        }
    }

    fn advance(&self, by: u64) {
        let done = self.done.fetch_add(by, Ordering::Relaxed) + by;
        if self.quiet {
            return;
        }
        // A thread that finds another at it has nothing to add.
        let Ok(mut state) = self.state.try_lock() else { return };
        let now = now();
        if now - state.begun < QUIET_FOR {
            return;
        }
        if self.terminal {
            let bar = state.bar.take().unwrap_or_else(|| state.bar());
            bar.set_position(done);
            state.bar = Some(bar);
        } else if now >= state.line_due {
            state.line_due = now + LINE_EVERY;
            // Progress that cannot be shown is no reason to stop.
            let _ = writeln!(std::io::stderr(), "{}", state.line(done));
        }
    }

    fn end(&self) {
        self.stop.reading.store(false, Ordering::SeqCst);
        if let Ok(mut state) = self.state.lock()
            && let Some(bar) = state.bar.take()
        {
            bar.finish_and_clear();
        }
    }

    fn announce(&self, message: &str) {
        if self.quiet {
            return;
        }
        let bar = self.state.lock().ok().and_then(|state| state.bar.clone());
        let print = || {
            // As above.
            let _ = writeln!(std::io::stderr(), "{message}");
        };
        match bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn hold(&self, begins: bool) {
        self.stop.held.store(begins, Ordering::SeqCst);
    }

    fn stop(&self) -> bool {
        self.stop.is_wanted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_waits_for_whoever_looks_and_the_second_for_nobody() {
        let stop = Stop::default();
        assert!(!stop.is_wanted());
        assert!(stop.want());
        assert!(stop.is_wanted());
        assert!(!stop.want());
    }

    #[test]
    fn a_line_tells_how_much_is_done_in_the_unit_of_the_work() {
        let line = |unit, done, total| {
            let what = "storm".to_owned();
            let (begun, bar) = (now(), None);
            State { what, total, unit, begun, line_due: begun, bar }.line(done)
        };
        assert_eq!(line(Unit::Attempts, 5, 9), "storm: 5 of at most 9 attempts");
        assert_eq!(line(Unit::SimulatedTime, 5, 9), "storm: 55% of the simulated time");
        assert_eq!(line(Unit::Charts, 5, 9), "storm: 5 of 9 charts");
        assert_eq!(line(Unit::Bytes, 5_000_000, 9_000_000_000), "storm: 5.0 MB of 9.0 GB");
        assert_eq!(line(Unit::Bytes, 5_000_000, 0), "storm: 5.0 MB");
    }

    #[test]
    fn the_rate_is_that_since_the_work_began() {
        assert_eq!(rate(300_000_000, Duration::from_millis(500)), "600 MB/s");
        assert_eq!(rate(1, Duration::ZERO), "1.0 GB/s");
        let state = State {
            what: String::new(),
            total: 0,
            unit: Unit::Bytes,
            begun: now() - Duration::from_secs(8),
            line_due: now(),
            bar: None,
        };
        assert!(state.bar().elapsed() >= Duration::from_secs(8));
    }

    #[test]
    fn an_interrupt_waits_for_nobody_before_anybody_looks() {
        let stop = Stop::default();
        assert!(!stop.want());
        assert!(!stop.is_watched());
        assert!(stop.is_wanted());
    }
}
