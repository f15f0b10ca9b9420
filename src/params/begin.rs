//! Things that begin at a stated time of the run.

use super::Params;
use crate::error::{Place, Problem, Problems};
use crate::time::Span;

/// Something that begins at a stated time of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begin {
    /// What it is, for messages: "outage".
    pub what: &'static str,
    /// When, from the start of the run.
    pub at: Span,
    /// Where that stands.
    pub place: Place,
}

impl Begin {
    /// What begins at `at`, which is the value of `at` in this table.
    pub fn new(what: &'static str, at: Span, params: &Params) -> Begin {
        Begin { what, at, place: params.place_of("at") }
    }

    /// Reports that it does not begin within a run of this length.
    pub fn check_within(&self, duration: Span, problems: &Problems) {
        if self.at >= duration {
            let message = format!("this {} begins when the run is over", self.what);
            let help = format!("the run lasts {duration}, and `at` counts from its start");
            problems.add(Problem::at(&self.place, message).help(help));
        }
    }
}
