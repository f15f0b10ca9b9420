//! The times of a record, made from its stamps: spread inside their seconds, durations taken off. Where
//! they are spread at random, what they are drawn from is kept, so that the record under another seed
//! needs no second reading.

use std::sync::Arc;

use super::columns::{Column, Recorded, reordered, sorting};
use super::spread::Spread;
use crate::seed::Seed;
use crate::time::{Instant, Span};

/// The requests of a record before their times are known.
#[derive(Debug)]
pub struct Stamped {
    /// Sorted.
    pub stamps: Vec<Instant>,
    /// Which request of the record each stamp is of; `None` if the record is sorted.
    pub order: Option<Vec<u32>>,
    /// The clients, endpoints and costs in the order of the record.
    pub columns: [Column; 3],
    /// How long each request of the record took, if that is to be taken off.
    pub took: Option<Vec<Span>>,
    /// Where in its second a request falls.
    pub spread: Spread,
    /// The position of the source, which names its random stream.
    pub position: u64,
}

impl Stamped {
    /// The requests with the times that they have under a seed.
    pub fn under(self, seed: Seed) -> Recorded {
        if self.spread == Spread::Random {
            return Arc::new(self).drawn(seed);
        }
        let Stamped { stamps, order, columns, took, spread, position } = self;
        let (times, order) = times(stamps, order, took.as_deref(), spread, (seed, position));
        Recorded::new(times, columns, order.as_deref())
    }

    /// The same for one that is drawn again later.
    pub fn drawn(self: Arc<Self>, seed: Seed) -> Recorded {
        let (stamps, order) = (self.stamps.clone(), self.order.clone());
        let drawn = (seed, self.position);
        let (times, order) = times(stamps, order, self.took.as_deref(), self.spread, drawn);
        Recorded::new(times, self.columns.clone(), order.as_deref()).drawn_from(self)
    }
}

/// The times, sorted, and which request of the record each is of.
fn times(
    mut stamps: Vec<Instant>,
    order: Option<Vec<u32>>,
    took: Option<&[Span]>,
    spread: Spread,
    (seed, position): (Seed, u64),
) -> (Vec<Instant>, Option<Vec<u32>>) {
    spread.apply(&mut stamps, &mut seed.stream("spread", position));
    let Some(took) = took else { return (stamps, order) };
    let at = |index: usize| order.as_ref().map_or(index, |order| order[index] as usize);
    for (index, time) in stamps.iter_mut().enumerate() {
        *time = *time - took[at(index)];
    }
    let sorting = sorting(&stamps);
    let times = reordered(&stamps, &sorting);
    let order = match order {
        Some(order) => reordered(&order, &sorting),
        None => sorting,
    };
    (times, Some(order))
}
