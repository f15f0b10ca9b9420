//! The requests of a record in memory: columns grouped by client, in time order within, so that a client's history
//! lies in one piece; and whose each request is in time order, which is enough to merge them again.

use std::ops::Range;

use super::column::Column;
use super::regroup::Regroup;
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
#[derive(Debug, Clone, Copy)]
pub struct Share {
    pub count: u32,
    pub first: u32,
}

impl Grouped {
    /// Groups requests in time order: their times, clients, endpoints and costs.
    pub fn new(at: Vec<Instant>, [client, endpoint, cost]: [Column; 3]) -> Grouped {
        debug_assert!(at.is_sorted());
        let range = at.first().copied().zip(at.last().copied());
        let parts = parts(&client, at.len());
        let clients = match &client {
            Column::Each(clients) => &clients[..],
            Column::Same(_) => &[],
        };
        let mut regroup = Regroup::new(clients, &parts);
        let mut column = |column| match column {
            Column::Each(values) => Column::Each(regroup.group(values)),
            same @ Column::Same(_) => same,
        };
        let (endpoint, cost) = (column(endpoint), column(cost));
        let at = regroup.group(at);
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

/// The parts of so many requests, by client.
pub fn parts(client: &Column, count: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (number, Share { count, first }) in (0..).zip(shares(client, 0..count)) {
        if count > 0 {
            parts.push(Part { client: number, first, places: start..start + count });
        }
        start += count;
    }
    parts.shrink_to_fit();
    parts
}

/// By client, which of the requests in a range of positions are its.
pub fn shares(client: &Column, range: Range<usize>) -> Vec<Share> {
    let (mut counts, mut firsts) = (Vec::new(), Vec::new());
    for position in range {
        let client = client.get(position) as usize;
        if client >= counts.len() {
            counts.resize(client + 1, 0);
            firsts.resize(client + 1, 0);
        }
        if counts[client] == 0 {
            firsts[client] = position as u32;
        }
        counts[client] += 1;
    }
    counts.into_iter().zip(firsts).map(|(count, first)| Share { count, first }).collect()
}

/// By client, where its first request lies.
fn starts(parts: &[Part]) -> Vec<u32> {
    let mut starts = vec![0; parts.last().map_or(0, |last| last.client as usize + 1)];
    parts.iter().for_each(|part| starts[part.client as usize] = part.places.start);
    starts
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
