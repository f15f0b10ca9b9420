//! Recorded requests as a source: compact columns, shared by all runs that replay them.

use std::ops::Range;
use std::sync::Arc;

use super::column::Column;
use super::drawn::Stamped;
use super::grouped::{Grouped, Part, shares};
use super::spread::Spread;
use crate::seed::Seed;
use crate::time::{Instant, SECOND, Window};
use crate::traffic::{Arrival, Chunk, Source, Times};

/// The requests of a record, at most 2^32 - 1, or those of them that fall into a run.
#[derive(Debug, Clone)]
pub struct Recorded {
    all: Arc<Grouped>,
    /// Which of them, by their positions in time order ...
    range: Range<usize>,
    /// ... and by client, where not all of them.
    parts: Option<Vec<Part>>,
    /// What the times are drawn from, if they depend on the seed or may have to be spread otherwise.
    drawn_from: Option<Arc<Stamped>>,
    /// How the requests of a second are spread, if stamps are whole seconds.
    spread: Option<Spread>,
    /// The position of the source, if every time lies in the second of its stamp.
    position: Option<u64>,
    /// Whether the times are those of `all` or the seconds that these lie in.
    as_stamped: bool,
}

impl Recorded {
    /// Requests in time order: their times, clients, endpoints and costs.
    pub fn new(at: Vec<Instant>, columns: [Column; 3]) -> Recorded {
        let range = 0..at.len();
        Recorded {
            all: Arc::new(Grouped::new(at, columns)),
            range,
            parts: None,
            drawn_from: None,
            spread: None,
            position: None,
            as_stamped: false,
        }
    }

    /// The same record, nothing clipped.
    fn whole(&self) -> Recorded {
        Recorded { range: 0..self.all.at.len(), parts: None, ..self.clone() }
    }

    /// The same, its stamps being whole seconds that were spread so, by a source at this position if every
    /// time lies in the second of its stamp.
    pub fn spread_by(self, spread: Option<Spread>, position: Option<u64>) -> Recorded {
        Recorded { spread, position, ..self }
    }

    /// The same, with what its times were drawn from.
    pub(super) fn drawn_from(self, stamped: Arc<Stamped>) -> Recorded {
        Recorded { drawn_from: Some(stamped), ..self }
    }

    /// A time of the columns as it counts.
    #[inline]
    fn time(&self, at: Instant) -> Instant {
        if self.as_stamped { second(at) } else { at }
    }

    fn parts(&self) -> &[Part] {
        self.parts.as_deref().unwrap_or(&self.all.parts)
    }

    fn arrival(&self, client: u32, place: usize) -> Arrival {
        Arrival {
            at: self.time(self.all.at[place]),
            client,
            endpoint: self.all.endpoint.get(place),
            cost: self.all.cost.get(place),
        }
    }

    fn times_of(&self, part: &Part) -> &[Instant] {
        &self.all.at[places(part)]
    }

    /// What it was made of, as far as the second goes, to be spread otherwise by the source at a position.
    fn stamped(&self, spread: Spread, position: u64) -> Stamped {
        let whole = self.whole();
        let mut columns = [self.all.client.clone(), Column::EMPTY, Column::EMPTY];
        let [_, endpoints, costs] = &mut columns;
        let mut stamps = Vec::with_capacity(self.all.at.len());
        for (index, Arrival { at, endpoint, cost, .. }) in whole.merged().enumerate() {
            stamps.push(second(at));
            endpoints.push(index, endpoint);
            costs.push(index, cost);
        }
        let (took, seconds, in_order) = (None, true, true);
        Stamped { stamps, columns, took, seconds, spread, in_order, position }
    }
}

/// The start of the second that a time lies in.
#[inline]
fn second(at: Instant) -> Instant {
    Instant(at.0 - at.0.rem_euclid(SECOND as i64))
}

fn places(part: &Part) -> Range<usize> {
    part.places.start as usize..part.places.end as usize
}

impl Source for Recorded {
    fn streams(&self) -> usize {
        self.parts().len()
    }

    fn stream(&self, index: usize) -> Box<dyn Iterator<Item = Arrival> + Send + '_> {
        let part = &self.parts()[index];
        Box::new(places(part).map(|place| self.arrival(part.client, place)))
    }

    fn client(&self, index: usize) -> u32 {
        self.parts()[index].client
    }

    fn first(&self, index: usize) -> Option<(Instant, u64)> {
        let part = &self.parts()[index];
        Some((self.time(*self.times_of(part).first()?), u64::from(part.first)))
    }

    fn times(&self, index: usize) -> Box<dyn Times + Send + '_> {
        Box::new(Piece { record: self, places: places(&self.parts()[index]) })
    }

    fn has_costs(&self) -> bool {
        self.all.cost != Column::Same(1)
    }

    fn merged(&self) -> Box<dyn Iterator<Item = Arrival> + Send + '_> {
        let places = self.all.in_time_order(self.range.clone(), self.parts());
        Box::new(places.map(|(client, place)| self.arrival(client, place)))
    }

    fn bound(&self) -> u64 {
        self.range.len() as u64
    }

    fn range(&self) -> Option<(Instant, Instant)> {
        if self.parts.is_none() {
            return self.all.range.map(|(first, last)| (self.time(first), self.time(last)));
        }
        let times = || self.parts().iter().map(|part| self.times_of(part));
        let first = times().filter_map(|times| times.first()).min()?;
        let last = times().filter_map(|times| times.last()).max()?;
        Some((self.time(*first), self.time(*last)))
    }

    fn clip(&mut self, window: Window) -> u64 {
        let within = |(first, last)| window.start <= first && last < window.end;
        if Source::range(self).is_none_or(within) {
            return 0;
        }
        let (mut before, mut after) = (0, 0);
        let mut inside = Vec::with_capacity(self.parts().len());
        for part in self.parts() {
            let times = self.times_of(part);
            let start = times.partition_point(|&at| self.time(at) < window.start);
            let end = times.partition_point(|&at| self.time(at) < window.end).max(start);
            before += start;
            after += times.len() - end;
            inside.push(part.places.start + start as u32..part.places.start + end as u32);
        }
        if before + after == 0 {
            return 0;
        }
        let range = self.range.start + before..self.range.end - after;
        let shares = shares(&self.all.client, range.clone());
        let parts = self.parts().iter().zip(inside).filter(|(_, places)| !places.is_empty());
        let parts = parts.map(|(part, places)| {
            let first = shares[part.client as usize].first;
            Part { client: part.client, first, places }
        });
        self.parts = Some(parts.collect());
        self.range = range;
        (before + after) as u64
    }

    fn again(&self, seed: Seed) -> Option<Box<dyn Source>> {
        Some(Box::new(match (&self.drawn_from, self.spread) {
            (Some(stamped), Some(Spread::Random)) => {
                Arc::clone(stamped).drawn(Spread::Random, seed)
            }
            _ => self.whole(),
        }))
    }

    fn spread(&self) -> Option<Spread> {
        self.spread
    }

    fn respread(&self, spread: Spread, seed: Seed) -> Option<Box<dyn Source>> {
        let Some(before) = self.spread else { return Some(Box::new(self.whole())) };
        if spread == before {
            return self.again(seed);
        }
        if let Some(stamped) = &self.drawn_from {
            return Some(Box::new(Arc::clone(stamped).drawn(spread, seed)));
        }
        let position = self.position?;
        if spread == Spread::None {
            let stamped = Recorded { spread: Some(spread), as_stamped: true, ..self.whole() };
            return Some(Box::new(stamped));
        }
        Some(Box::new(self.stamped(spread, position).under(seed, false)))
    }
}

/// The requests of one client that are still to come.
struct Piece<'a> {
    record: &'a Recorded,
    places: Range<usize>,
}

impl Times for Piece<'_> {
    fn fill(&mut self, chunk: &mut Chunk) {
        let count = self.places.len().min(chunk.room());
        let next = self.places.start..self.places.start + count;
        self.places.start += count;
        let Grouped { at, cost, .. } = &*self.record.all;
        let at = &at[next.clone()];
        match self.record.as_stamped {
            true => chunk.times.extend(at.iter().map(|&at| second(at).0)),
            false => chunk.times.extend(at.iter().map(|at| at.0)),
        }
        if self.record.has_costs() {
            chunk.costs.extend(next.map(|place| cost.get(place)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sorting::sort;
    use super::*;
    use proptest::prelude::*;

    fn column(values: &[u32]) -> Column {
        let mut column = Column::EMPTY;
        for (index, &value) in values.iter().enumerate() {
            column.push(index, value);
        }
        column
    }

    fn recorded(requests: &[(i64, u32)]) -> Recorded {
        let mut times: Vec<Instant> = requests.iter().map(|&(at, _)| Instant(at)).collect();
        let clients: Vec<u32> = requests.iter().map(|&(_, client)| client).collect();
        let numbers: Vec<u32> = (0..requests.len() as u32).collect();
        let (mut clients, mut numbers) = (column(&clients), column(&numbers));
        sort(&mut times, &mut [&mut clients, &mut numbers]);
        Recorded::new(times, [clients, numbers, Column::Same(1)])
    }

    #[test]
    fn clipping_keeps_what_is_in_the_half_open_window() {
        let mut recorded = recorded(&[(3, 1), (1, 0), (2, 5), (4, 1)]);
        assert_eq!(recorded.range(), Some((Instant(1), Instant(4))));
        assert_eq!(recorded.streams(), 3);
        let window = Window { start: Instant(2), end: Instant(4) };
        assert_eq!(recorded.clip(window), 2);
        let left: Vec<_> = recorded.merged().map(|a| (a.at.0, a.client, a.endpoint)).collect();
        assert_eq!(left, [(2, 5, 2), (3, 1, 0)]);
        assert_eq!((recorded.streams(), recorded.bound()), (2, 2));
        assert_eq!(recorded.clip(Window { start: Instant(9), end: Instant(9) }), 2);
        assert_eq!((recorded.range(), recorded.streams()), (None, 0));
    }

    proptest! {
        #[test]
        fn streams_are_the_merged_requests_by_client_and_ties_keep_the_order_of_the_record(
            requests in prop::collection::vec((0_i64..8, 0_u32..6), 0..60),
            clipped in prop::option::of((0_i64..8, 0_i64..8)),
        ) {
            let mut recorded = recorded(&requests);
            let mut left = requests.clone();
            if let Some((start, end)) = clipped {
                left.retain(|(at, _)| (start..end).contains(at));
                let window = Window { start: Instant(start), end: Instant(end) };
                prop_assert_eq!(recorded.clip(window), (requests.len() - left.len()) as u64);
            }
            let merged: Vec<Arrival> = recorded.merged().collect();
            prop_assert_eq!(merged.len(), left.len());
            prop_assert_eq!(recorded.bound(), left.len() as u64);
            let range = merged.first().zip(merged.last()).map(|(first, last)| (first.at, last.at));
            prop_assert_eq!(recorded.range(), range);
            let key = |arrival: &Arrival| (arrival.at, arrival.endpoint);
            prop_assert!(merged.is_sorted_by_key(key));
            let mut clients: Vec<u32> = left.iter().map(|&(_, client)| client).collect();
            clients.sort_unstable();
            clients.dedup();
            prop_assert_eq!(recorded.streams(), clients.len());
            for (index, client) in clients.into_iter().enumerate() {
                let expected: Vec<Arrival> =
                    merged.iter().copied().filter(|arrival| arrival.client == client).collect();
                prop_assert_eq!(recorded.stream(index).collect::<Vec<_>>(), &expected[..]);
                let mut chunk = Chunk::default();
                recorded.times(index).fill(&mut chunk);
                prop_assert_eq!(chunk.times, expected.iter().map(|one| one.at.0).collect::<Vec<_>>());
                // Ranks order the first requests as they are merged.
                let (at, rank) = recorded.first(index).unwrap();
                prop_assert_eq!(at, expected[0].at);
                let place = |client| merged.iter().position(|one| one.client == client);
                for other in (0..recorded.streams()).filter(|&other| other != index) {
                    let sooner = (at, rank) < recorded.first(other).unwrap();
                    prop_assert_eq!(sooner, place(client) < place(recorded.client(other)));
                }
            }
        }
    }
}
