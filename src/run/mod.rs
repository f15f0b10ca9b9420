//! A whole run, from a scenario to findings: [`prepare`], then [`simulate`], then [`judge`].

mod bulk;
mod contender;
mod cut_off;
mod describe;
mod estimate;
mod expectations;
mod once;
mod pool;
mod prepare;
mod progress;
mod reference;
mod simulate;
mod spread;
mod stage;
mod watch;

pub use contender::{Contender, schema as contender_schema};
pub use estimate::Estimate;
pub use expectations::{Judgement, judge};
pub use prepare::{Prepared, prepare, prepare_with};
pub use progress::{Progress, Silent, Unit};
pub use simulate::{DecisionSink, Engine, Findings, Options, simulate};
