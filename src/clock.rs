//! Clocks that are not quite right: ahead or behind, fast or slow, set anew, of limited resolution.

mod settings;

use crate::time::{Instant, Offset, Reading, Span};

/// One clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    /// How far it is ahead at the start of the run.
    pub offset: Offset,
    /// By how many billionths it runs fast; negative where it runs slow.
    pub drift_ppb: i64,
    /// When it is set anew, from the start of the run, and by how much forwards; in time order.
    pub steps: Vec<(Span, Offset)>,
    /// Readings are cut down to this; at least 1 ns.
    pub resolution: Span,
}

impl Default for Clock {
    /// A clock that is right.
    fn default() -> Clock {
        let resolution = Span::from_nanos(1);
        Clock { offset: Offset::ZERO, drift_ppb: 0, steps: Vec::new(), resolution }
    }
}

impl Clock {
    /// What it shows at `at` in a run that started at `start`. A step counts from its instant on. Saturates at
    /// both ends of time.
    pub fn reading(&self, start: Instant, at: Instant) -> Reading {
        let since = i128::from(at.0) - i128::from(start.0);
        let drifted = (since * i128::from(self.drift_ppb)).div_euclid(1_000_000_000);
        let stepped = self.steps.iter().filter(|(when, _)| i128::from(when.nanos()) <= since);
        let stepped: i128 = stepped.map(|(_, by)| i128::from(by.nanos())).sum();
        let shown = i128::from(at.0) + i128::from(self.offset.nanos()) + drifted + stepped;
        let resolution = i128::from(self.resolution.nanos().max(1));
        let cut = shown.div_euclid(resolution) * resolution;
        Reading(cut.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }
}
