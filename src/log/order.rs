//! How far a record is out of order. Requests are sorted by time afterwards; this keeps what the
//! reader of the results must know about it, while the record is read.

use super::count;
use crate::time::{Instant, Span};

/// A request this much earlier than one before it suggests that the clock was set back.
const JUMP: Span = Span::from_secs(300);
/// So many of them one after the other make it certain; a few are lines that were written late.
const PERSISTS: u32 = 10;

/// What was seen of the order of times.
#[derive(Debug, Clone, Default)]
pub struct Order {
    latest: Option<Instant>,
    /// The latest but for one that may have strayed ahead.
    steady: Option<Instant>,
    late: u64,
    most: Span,
    run: Option<Jump>,
    jump: Option<Jump>,
}

#[derive(Debug, Clone, Copy)]
struct Jump {
    line: u64,
    by: Span,
    requests: u32,
}

impl Order {
    /// The next request of the record and its line.
    pub fn push(&mut self, at: Instant, line: u64) {
        let latest = match self.latest {
            Some(latest) if at < latest => latest,
            before => {
                (self.steady, self.latest, self.run) = (before, Some(at), None);
                return;
            }
        };
        let by = latest - at;
        self.late += 1;
        self.most = self.most.max(by);
        // Where it is in order but for the latest, that one has strayed.
        let strayed = self.steady.is_some_and(|steady| at + JUMP >= steady);
        if strayed {
            self.steady = self.steady.max(Some(at));
        }
        if by <= JUMP || strayed {
            self.run = None;
            return;
        }
        let run = self.run.get_or_insert(Jump { line, by, requests: 0 });
        run.requests = run.requests.saturating_add(1);
        if run.requests == PERSISTS && self.jump.is_none() {
            self.jump = self.run;
        }
    }

    /// Whether no request is earlier than one before it.
    pub fn is_sorted(&self) -> bool {
        self.late == 0
    }

    /// How many are earlier than one before them.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// By how much they are, at most.
    pub fn most(&self) -> Span {
        self.most
    }

    /// A sentence on what was out of order, if anything was, with what was `done` about it.
    pub fn late_note(&self, done: &str) -> Option<String> {
        let requests = count(self.late, "request stands", "requests stand");
        let most = self.most;
        (self.late > 0).then(|| format!("{requests} out of order, by {most} at most; {done}."))
    }

    /// A sentence on a clock that was set back, if it seems that one was.
    pub fn step_note(&self) -> Option<String> {
        let Jump { line, by, .. } = self.jump.or(self.run)?;
        Some(format!(
            "From line {line} the times go back by {by} and stay back: a clock was set back there, \
             or records were joined in the wrong order."
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(seconds: impl IntoIterator<Item = i64>) -> String {
        let mut order = Order::default();
        for (index, second) in seconds.into_iter().enumerate() {
            order.push(Instant(second * 1_000_000_000), index as u64 + 1);
        }
        let notes = order.late_note("sorted").into_iter().chain(order.step_note());
        notes.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_record_in_order_says_nothing() {
        assert_eq!(notes([1, 1, 2, 500]), "");
    }

    #[test]
    fn late_lines_are_counted_with_the_most_that_they_are_late_by() {
        let note = notes([0, 1400, 10, 1390, 20, 1500]);
        assert!(note.starts_with("3 requests stand out of order, by 1390s at most;"), "{note}");
        assert_eq!(note.lines().count(), 1, "single late lines are no step of the clock: {note}");
    }

    #[test]
    fn a_single_stamp_ahead_is_no_step_of_the_clock() {
        for after in [1, 20] {
            let times = (0..10).chain([7200]).chain(10..10 + after);
            let note = notes(times);
            assert_eq!(note.lines().count(), 1, "{after}: {note}");
        }
        // Where two are ahead, a clock may have been.
        let step = notes((0..10).chain([7200, 7201]).chain(10..30));
        assert!(step.contains("From line 13 the times go back by 7191s and stay back"), "{step}");
    }

    #[test]
    fn a_clock_that_was_set_back_is_told_from_late_lines() {
        // 12:48:50, then 12:39:12 to the end: 578 s earlier.
        let step = "From line 2 the times go back by 578s and stay back";
        assert!(notes([46_130, 45_552]).contains(step));
        let caught_up = (0..700).map(|second| 45_552 + second);
        assert!(notes(std::iter::once(46_130).chain(caught_up)).contains(step));
    }
}
