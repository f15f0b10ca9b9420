//! Recorded requests in memory: one compact column a property, in time order, with an index by
//! client made when it is first asked for.

use std::ops::Range;
use std::sync::OnceLock;

use crate::time::Instant;
use crate::time::Window;
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

    fn reorder(&mut self, order: &[u32]) {
        if let Column::Each(values) = self {
            *values = reordered(values, order);
        }
    }

    fn keep(&mut self, range: &Range<usize>) {
        if let Column::Each(values) = self {
            values.truncate(range.end);
            values.drain(..range.start);
        }
    }
}

/// The values in another order: the i-th is what was at `order[i]`.
pub fn reordered<T: Copy>(values: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|&index| values[index as usize]).collect()
}

/// The order that sorts by time and leaves requests of one instant as they are.
pub fn sorting(times: &[Instant]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..times.len() as u32).collect();
    order.sort_by_key(|&index| times[index as usize]);
    order
}

/// The requests of a record, at most 2^32 - 1.
#[derive(Debug)]
pub struct Recorded {
    at: Vec<Instant>,
    client: Column,
    endpoint: Column,
    cost: Column,
    by_client: OnceLock<ByClient>,
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
    /// Requests in the order of `at`, the other columns being in the order of the record: `order`
    /// says which of the record comes where, `None` if both orders are the same.
    pub fn new(at: Vec<Instant>, mut columns: [Column; 3], order: Option<&[u32]>) -> Recorded {
        if let Some(order) = order {
            columns.iter_mut().for_each(|column| column.reorder(order));
        }
        debug_assert!(at.is_sorted());
        let [client, endpoint, cost] = columns;
        Recorded { at, client, endpoint, cost, by_client: OnceLock::new() }
    }

    fn arrival(&self, index: usize) -> Arrival {
        Arrival {
            at: self.at[index],
            client: self.client.get(index),
            endpoint: self.endpoint.get(index),
            cost: self.cost.get(index),
        }
    }

    fn by_client(&self) -> &ByClient {
        self.by_client.get_or_init(|| {
            let clients = (0..self.at.len()).map(|index| self.client.get(index) as usize);
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
            let mut positions = vec![0_u32; self.at.len()];
            for (index, client) in clients.enumerate() {
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
        Box::new((0..self.at.len()).map(|index| self.arrival(index)))
    }

    fn bound(&self) -> u64 {
        self.at.len() as u64
    }

    fn range(&self) -> Option<(Instant, Instant)> {
        Some((*self.at.first()?, *self.at.last()?))
    }

    fn clip(&mut self, window: Window) -> u64 {
        let start = self.at.partition_point(|&at| at < window.start);
        let end = self.at.partition_point(|&at| at < window.end).max(start);
        let before = self.at.len();
        let range = start..end;
        self.at.truncate(range.end);
        self.at.drain(..range.start);
        for column in [&mut self.client, &mut self.endpoint, &mut self.cost] {
            column.keep(&range);
        }
        self.by_client = OnceLock::new();
        (before - range.len()) as u64
    }
}

#[cfg(test)]
mod tests {
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
        let times: Vec<Instant> = requests.iter().map(|&(at, _)| Instant(at)).collect();
        let clients: Vec<u32> = requests.iter().map(|&(_, client)| client).collect();
        let numbers: Vec<u32> = (0..requests.len() as u32).collect();
        let order = sorting(&times);
        let columns = [column(&clients), column(&numbers), Column::Same(1)];
        Recorded::new(reordered(&times, &order), columns, Some(&order))
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
