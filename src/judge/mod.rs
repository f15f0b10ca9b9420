//! What happened, judged by true time against what was promised.
//!
//! A [`Judge`] is told what becomes of every attempt of one run and folds it into a [`Tally`]. It
//! knows nothing of algorithms or clocks: it sees keys, costs, true instants and outcomes. What it
//! finds for one set of keys adds up with what it finds for another.

#[cfg(test)]
mod calls;
mod closed;
mod closing;
mod course;
mod distribution;
mod fleet;
mod fold;
mod holding;
mod ledger;
mod load;
mod maxima;
mod merge;
#[cfg(test)]
mod naive;
mod seconds;
mod tally;
mod timeline;
mod trailing;

pub use closed::{Closed, Trial};
pub use distribution::Distribution;
pub use fleet::{FleetTally, InOutages, StoreKeys};
pub use fold::{Judge, Touch};
pub use load::{Herd, Load, Recovery};
pub use tally::{Books, Kept, LimitTally, Peak, SubjectTally, Tally, Wrong};
pub use timeline::{Bin, Timeline};
