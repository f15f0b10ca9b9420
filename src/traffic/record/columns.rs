//! Recorded requests in memory: one compact column a property, in time order, shared by all runs that
//! replay them, with an index by client made when it is first asked for.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::drawn::Stamped;
use super::sorting::Rows;
use super::spread::Spread;
use crate::seed::Seed;
use crate::time::{Instant, SECOND, Window};
use crate::traffic::{Arrival, Source};

/// A property of all requests; takes no memory while all have the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// All requests have this.
    Same(u32),
    /// Each has its own.
    Each(Vec<u32>),
}

impl Column {
    /// A column of no requests.
    pub const EMPTY: Column = Column::Same(0);

    /// Adds the value of the request at `index`, which is the number of those before it.
    pub fn push(&mut self, index: usize, value: u32) {
        match self {
            Column::Each(values) => values.push(value),
            Column::Same(same) if index == 0 => *same = value,
            Column::Same(same) if *same == value => {}
            Column::Same(same) => {
                let mut values = vec![*same; index];
                values.push(value);
                *self = Column::Each(values);
            }
        }
    }

    fn get(&self, index: usize) -> u32 {
        match self {
            Column::Same(value) => *value,
            Column::Each(values) => values[index],
        }
    }
}

impl Rows for Column {
    fn swap(&mut self, one: usize, other: usize) {
        if let Column::Each(values) = self {
            values.swap(one, other);
        }
    }
}

/// The requests of a record, at most 2^32 - 1, or those of them that fall into a run.
#[derive(Debug)]
pub struct Recorded {
    all: Arc<Columns>,
    /// Which of them.
    range: Range<usize>,
    by_client: OnceLock<ByClient>,
    /// What the times are drawn from, if they depend on the seed or may have to be spread otherwise.
    drawn_from: Option<Arc<Stamped>>,
    /// How the requests of a second are spread, if stamps are whole seconds.
    spread: Option<Spread>,
    /// The position of the source, if every time lies in the second of its stamp.
    position: Option<u64>,
    /// Whether the times are those of `all` or the seconds that these lie in.
    as_stamped: bool,
}

/// The columns of all requests of a record.
#[derive(Debug)]
struct Columns {
    at: Vec<Instant>,
    client: Column,
    endpoint: Column,
    cost: Column,
}

/// Which requests are whose: a counting sort by client.
#[derive(Debug)]
struct ByClient {
    /// The positions of all requests, grouped by client, in time order within.
    positions: Vec<u32>,
    /// The part of `positions` of each client that has any, by the client's number.
    parts: Vec<Range<usize>>,
}

impl Recorded {
    /// Requests in time order: their times, clients, endpoints and costs.
    pub fn new(at: Vec<Instant>, columns: [Column; 3]) -> Recorded {
        debug_assert!(at.is_sorted());
        let [client, endpoint, cost] = columns;
        let range = 0..at.len();
        Recorded {
            all: Arc::new(Columns { at, client, endpoint, cost }),
            range,
            by_client: OnceLock::new(),
            drawn_from: None,
            spread: None,
            position: None,
            as_stamped: false,
        }
    }

    /// The same record, nothing clipped.
    fn whole(&self) -> Recorded {
        Recorded {
            all: Arc::clone(&self.all),
            range: 0..self.all.at.len(),
            by_client: OnceLock::new(),
            drawn_from: self.drawn_from.clone(),
            ..*self
        }
    }

    /// The same, its stamps being whole seconds that were spread so, by a source at this position if every
    /// time lies in the second of its stamp.
    pub fn spread_by(self, spread: Option<Spread>, position: Option<u64>) -> Recorded {
        Recorded { spread, position, ..self }
    }

    /// The same, with what its times were drawn from.
    pub fn drawn_from(self, stamped: Arc<Stamped>) -> Recorded {
        Recorded { drawn_from: Some(stamped), ..self }
    }

    /// A time of the columns as it counts.
    #[inline]
    fn time(&self, at: Instant) -> Instant {
        match self.as_stamped {
            true => Instant(at.0 - at.0.rem_euclid(SECOND as i64)),
            false => at,
        }
    }

    fn arrival(&self, index: usize) -> Arrival {
        Arrival {
            at: self.time(self.all.at[index]),
            client: self.all.client.get(index),
            endpoint: self.all.endpoint.get(index),
            cost: self.all.cost.get(index),
        }
    }

    fn by_client(&self) -> &ByClient {
        self.by_client.get_or_init(|| {
            let clients = self.range.clone().map(|index| self.all.client.get(index) as usize);
            let most = clients.clone().max().map_or(0, |most| most + 1);
            // First how many each client has, then where its next request goes.
            let mut next = vec![0_usize; most];
            clients.clone().for_each(|client| next[client] += 1);
            let mut parts = Vec::new();
            let mut start = 0;
            for slot in &mut next {
                let count = std::mem::replace(slot, start);
                if count > 0 {
                    parts.push(start..start + count);
                }
                start += count;
            }
            let mut positions = vec![0_u32; self.range.len()];
            for (index, client) in self.range.clone().zip(clients) {
                positions[next[client]] = index as u32;
                next[client] += 1;
            }
            ByClient { positions, parts }
        })
    }
}

impl Source for Recorded {
    fn streams(&self) -> usize {
        self.by_client().parts.len()
    }

    fn stream(&self, index: usize) -> Box<dyn Iterator<Item = Arrival> + Send + '_> {
        let groups = self.by_client();
        let positions = &groups.positions[groups.parts[index].clone()];
        Box::new(positions.iter().map(|&position| self.arrival(position as usize)))
    }

    fn merged(&self) -> Box<dyn Iterator<Item = Arrival> + Send + '_> {
        Box::new(self.range.clone().map(|index| self.arrival(index)))
    }

    fn bound(&self) -> u64 {
        self.range.len() as u64
    }

    fn range(&self) -> Option<(Instant, Instant)> {
        let times = &self.all.at[self.range.clone()];
        Some((self.time(*times.first()?), self.time(*times.last()?)))
    }

    fn clip(&mut self, window: Window) -> u64 {
        let times = &self.all.at[self.range.clone()];
        let start = times.partition_point(|&at| self.time(at) < window.start);
        let end = times.partition_point(|&at| self.time(at) < window.end).max(start);
        let outside = times.len() - (end - start);
        self.range = self.range.start + start..self.range.start + end;
        self.by_client = OnceLock::new();
        outside as u64
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
        let second = |at: &Instant| Instant(at.0 - at.0.rem_euclid(SECOND as i64));
        let Columns { at, client, endpoint, cost } = &*self.all;
        let stamped = Stamped {
            stamps: at.iter().map(second).collect(),
            columns: [client.clone(), endpoint.clone(), cost.clone()],
            took: None,
            seconds: true,
            spread,
            in_order: true,
            position,
        };
        Some(Box::new(stamped.under(seed, false)))
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
    fn a_column_of_equal_values_takes_no_memory() {
        assert_eq!(column(&[7, 7, 7]), Column::Same(7));
        assert_eq!(column(&[7, 7, 8]), Column::Each(vec![7, 7, 8]));
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
        ) {
            let recorded = recorded(&requests);
            let merged: Vec<Arrival> = recorded.merged().collect();
            prop_assert_eq!(merged.len(), requests.len());
            let key = |arrival: &Arrival| (arrival.at, arrival.endpoint);
            prop_assert!(merged.is_sorted_by_key(key));
            let mut clients: Vec<u32> = requests.iter().map(|&(_, client)| client).collect();
            clients.sort_unstable();
            clients.dedup();
            prop_assert_eq!(recorded.streams(), clients.len());
            for (index, client) in clients.into_iter().enumerate() {
                let expected: Vec<Arrival> =
                    merged.iter().copied().filter(|arrival| arrival.client == client).collect();
                prop_assert_eq!(recorded.stream(index).collect::<Vec<_>>(), expected);
            }
        }
    }
}
