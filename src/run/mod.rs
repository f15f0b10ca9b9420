//! A whole run: from scenario files to findings, and from findings to files.

mod contender;
mod estimate;
mod expectations;
mod progress;
mod simulate;
mod write;

use std::path::{Path, PathBuf};

use crate::error::{Error, Problem, Problems};
use crate::scenario::{Changes, Scenario};

pub use contender::Contender;
pub use estimate::Estimate;
pub use expectations::{Judgement, judge};
pub use progress::Progress;
pub use simulate::{Findings, simulate};
pub use write::write;
