//! What happened, judged by true time against what was promised.
//!
//! A [`Judge`] is told what becomes of every attempt of one run and folds it into a [`Tally`]. It
//! knows nothing of algorithms or clocks: it sees keys, costs, true instants and outcomes. What it
//! finds for one set of keys adds up with what it finds for another.

mod bulk;
#[cfg(test)]
mod calls;
mod closed;
mod closing;
mod column;
mod course;
mod distribution;
mod evenness;
mod fleet;
mod fold;
mod holding;
mod ledger;
mod load;
mod maxima;
mod merge;
#[cfg(test)]
mod naive;
mod peak;
mod roll;
mod seconds;
mod subjects;
mod tally;
mod timeline;
mod trailing;

pub use bulk::{Bins, BulkJudge, Findings, Whole};
pub use closed::{Closed, Trial};
pub use distribution::Distribution;
pub use evenness::{Evenness, share};
pub use fleet::{FleetTally, InOutages, StoreKeys};
pub use fold::{Judge, Touch};
pub use load::{Herd, Load, Recovery};
pub use peak::{Peak, Worst};
pub use roll::Roll;
pub use subjects::{Met, SubjectTally, Subjects};
pub use tally::{Books, Kept, LimitTally, Tally, Wrong};
pub use timeline::{Bin, Timeline};
