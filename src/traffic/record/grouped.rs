//! The requests of a record in memory: columns grouped by client, in time order within, so that a client's history
//! lies in one piece; and whose each request is in time order, which is enough to merge them again.

use std::ops::Range;

use super::column::Column;
use crate::time::Instant;

/// All requests of a record, at most 2^32 - 1.
#[derive(Debug)]
pub struct Grouped {
    /// Whose each request is, in time order.
    pub client: Column,
    /// When each is made, by client.
    pub at: Vec<Instant>,
    /// By client.
    pub endpoint: Column,
    /// By client.
    pub cost: Column,
    /// The clients that have any, by their numbers.
    pub parts: Vec<Part>,
    /// When the first and the last is made.
    pub range: Option<(Instant, Instant)>,
}

/// The requests of one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Whose they are.
    pub client: u32,
    /// The position of the first in time order.
    pub first: u32,
    /// Where they lie in columns that are grouped by client.
    pub places: Range<u32>,
}

/// How many requests a client has, and the position of the first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Share {
    pub count: u32,
    pub first: u32,
}

impl Grouped {
    /// Groups requests in time order: their times, clients, endpoints and costs.
    pub fn new(at: Vec<Instant>, [client, endpoint, cost]: [Column; 3]) -> Grouped {
        debug_assert!(at.is_sorted());
        let range = at.first().copied().zip(at.last().copied());
        let mut parts = Vec::new();
        let mut start = 0;
        for (number, Share { count, first }) in (0..).zip(shares(&client, 0..at.len())) {
            if count > 0 {
                parts.push(Part { client: number, first, places: start..start + count });
            }
            start += count;
        }
        parts.shrink_to_fit();
        let column = |column| match column {
            Column::Each(values) => Column::Each(grouped(values, &client, &parts)),
            same @ Column::Same(_) => same,
        };
        let (endpoint, cost) = (column(endpoint), column(cost));
        let at = grouped(at, &client, &parts);
        Grouped { client, at, endpoint, cost, parts, range }
    }

    /// Where in the grouped columns the requests lie whose positions in time order are in `range`, one after the
    /// other, and whose they are; `parts` are the requests in that range.
    pub fn in_time_order(
        &self,
        range: Range<usize>,
        parts: &[Part],
    ) -> impl Iterator<Item = (u32, usize)> {
        let mut next = starts(parts);
        range.map(move |position| {
            let client = self.client.get(position);
            let place = next[client as usize];
            next[client as usize] += 1;
            (client, place as usize)
        })
    }
}

/// By client, which of the requests in a range of positions are its.
pub fn shares(client: &Column, range: Range<usize>) -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    for position in range {
        let client = client.get(position) as usize;
        if client >= shares.len() {
            shares.resize(client + 1, Share::default());
        }
        let share = &mut shares[client];
        if share.count == 0 {
            share.first = position as u32;
        }
        share.count += 1;
    }
    shares
}

/// By client, where its first request lies.
fn starts(parts: &[Part]) -> Vec<u32> {
    let mut starts = vec![0; parts.last().map_or(0, |last| last.client as usize + 1)];
    parts.iter().for_each(|part| starts[part.client as usize] = part.places.start);
    starts
}

/// Clients whose numbers differ in no more than so many low bits are a family.
const FAMILY: u32 = 10;

/// Values in time order, grouped by client: first by families of clients, then within each, so that what is written to
/// stays near. It needs ten bytes a value more than it takes and gives, if a value has eight.
fn grouped<T: Copy>(mut values: Vec<T>, client: &Column, parts: &[Part]) -> Vec<T> {
    let mut next = starts(parts);
    let families = next.len().div_ceil(1 << FAMILY);
    // Where each family begins, and where the last ends.
    let mut begin = vec![values.len() as u32; families + 1];
    for part in parts.iter().rev() {
        begin[(part.client >> FAMILY) as usize] = part.places.start;
    }
    for family in (0..families).rev() {
        begin[family] = begin[family].min(begin[family + 1]);
    }
    let mut by_family = values.clone();
    let mut members = vec![0_u16; values.len()];
    let mut place_in = begin.clone();
    for (position, &value) in values.iter().enumerate() {
        let client = client.get(position);
        let place = &mut place_in[(client >> FAMILY) as usize];
        by_family[*place as usize] = value;
        members[*place as usize] = (client & ((1 << FAMILY) - 1)) as u16;
        *place += 1;
    }
    for (next, bounds) in next.chunks_mut(1 << FAMILY).zip(begin.windows(2)) {
        let range = bounds[0] as usize..bounds[1] as usize;
        for (&value, &member) in by_family[range.clone()].iter().zip(&members[range]) {
            let place = &mut next[usize::from(member)];
            values[*place as usize] = value;
            *place += 1;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_client_has_its_requests_in_time_order(
            requests in prop::collection::vec((0_u32..50, 0_u32..100), 0..400),
            stretch in 1_u32..200,
        ) {
            let clients: Vec<u32> = requests.iter().map(|(client, _)| client * stretch).collect();
            let costs: Vec<u32> = requests.iter().map(|(_, cost)| *cost).collect();
            let times: Vec<Instant> = (0..requests.len()).map(|n| Instant(n as i64)).collect();
            let mut order: Vec<usize> = (0..requests.len()).collect();
            order.sort_by_key(|&position| clients[position]);
            let columns = [Column::Each(clients.clone()), Column::Same(7), Column::Each(costs.clone())];
            let all = Grouped::new(times, columns);
            prop_assert_eq!(all.at, order.iter().map(|&at| Instant(at as i64)).collect::<Vec<_>>());
            prop_assert_eq!(all.cost, Column::Each(order.iter().map(|&at| costs[at]).collect()));
            for part in all.parts {
                let theirs = &order[part.places.start as usize..part.places.end as usize];
                prop_assert!(theirs.iter().all(|&at| clients[at] == part.client));
                prop_assert_eq!(theirs[0], part.first as usize);
            }
        }
    }
}
