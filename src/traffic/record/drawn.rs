//! The times of a record, made from its stamps: spread inside their seconds, durations taken off. Where
//! they are spread at random, what they are drawn from is kept, so that the record under another seed
//! needs no second reading.

use std::sync::Arc;

use super::column::Column;
use super::columns::Recorded;
use super::durations::Durations;
use super::sorting::sort;
use super::spread::Spread;
use crate::seed::Seed;
use crate::time::Instant;

/// The requests of a record before their times are known.
#[derive(Debug)]
pub struct Stamped {
    /// Sorted.
    pub stamps: Vec<Instant>,
    /// The clients, endpoints and costs.
    pub columns: [Column; 3],
    /// How long each request took, if that is still to be taken off.
    pub took: Option<Durations>,
    /// Whether all of them are whole seconds.
    pub seconds: bool,
    /// Where in its second a request falls.
    pub spread: Spread,
    /// Whether requests keep their order whatever their times are.
    pub in_order: bool,
    /// The position of the source, which names its random stream.
    pub position: u64,
}

impl Stamped {
    /// The requests with the times that they have under a seed. `keep` if it must be possible to spread them
    /// otherwise.
    pub fn under(self, seed: Seed, keep: bool) -> Recorded {
        // Without durations, a time lies within the second of its stamp.
        let told_apart = self.took.is_none();
        if self.spread == Spread::Random || keep && self.seconds && !told_apart {
            let spread = self.spread;
            return Arc::new(self).drawn(spread, seed);
        }
        let Stamped { mut stamps, mut columns, took, seconds, spread, in_order, position } = self;
        spread.apply(&mut stamps, &mut seed.stream("spread", position));
        if let Some(took) = &took {
            take_off(&mut stamps, &mut columns, took, in_order);
        }
        let seconds = seconds.then_some(spread);
        Recorded::new(stamps, columns).spread_by(seconds, told_apart.then_some(position))
    }

    /// The same for one that is drawn again later, spread as said.
    pub fn drawn(self: Arc<Self>, spread: Spread, seed: Seed) -> Recorded {
        let (mut times, mut columns) = (self.stamps.clone(), self.columns.clone());
        spread.apply(&mut times, &mut seed.stream("spread", self.position));
        if let Some(took) = &self.took {
            take_off(&mut times, &mut columns, took, self.in_order);
        }
        let seconds = self.seconds.then_some(spread);
        Recorded::new(times, columns).spread_by(seconds, None).drawn_from(self)
    }
}

/// Takes the durations off, and sorts again.
fn take_off(times: &mut Vec<Instant>, columns: &mut [Column; 3], took: &Durations, in_order: bool) {
    for (index, time) in times.iter_mut().enumerate() {
        *time = *time - took.get(index);
    }
    match in_order {
        true => raise(times),
        false => {
            let [client, endpoint, cost] = columns;
            sort(times, &mut [client, endpoint, cost]);
        }
    }
}

/// Has every time count as the one before it if that is later.
pub fn raise(times: &mut [Instant]) {
    let mut latest = None;
    for time in times {
        let raised = latest.map_or(*time, |latest| (*time).max(latest));
        (*time, latest) = (raised, Some(raised));
    }
}
