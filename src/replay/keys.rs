//! The keys of a run in the order in which they are first seen, each with its streams.

use crate::time::Instant;
use crate::traffic::Traffic;
use crate::world::KeyPlan;

/// The keys that are asked for at all.
pub(super) struct Keys {
    keys: Vec<Key>,
    /// The streams of all keys, those of each together.
    streams: Vec<(u32, u32)>,
}

/// A key and its client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub client: u32,
    /// 0 for the limit itself, else 1 + the position of the tier.
    pub variant: u32,
    /// How many keys of this variant come before it.
    pub ordinal: u32,
    /// The first of its streams.
    first: u32,
}

/// When a stream begins; of one instant in the order of the sources, and within a source of its requests.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Begin {
    at: Instant,
    source: u32,
    rank: u64,
    stream: u32,
    client: u32,
}

impl Keys {
    pub fn of(plan: &KeyPlan, traffic: &Traffic) -> Keys {
        let mut begins = Vec::new();
        for (source, streams) in traffic.sources.iter().enumerate() {
            for stream in 0..streams.streams() {
                if let Some((at, rank)) = streams.first(stream) {
                    let (source, client) = (source as u32, streams.client(stream));
                    begins.push(Begin { at, source, rank, stream: stream as u32, client });
                }
            }
        }
        begins.sort_unstable();
        let mut number = vec![u32::MAX; traffic.clients.len()];
        let mut keys: Vec<Key> = Vec::new();
        let mut ordinals: Vec<u32> = Vec::new();
        for &Begin { client, .. } in &begins {
            let slot = &mut number[client as usize];
            if *slot == u32::MAX {
                *slot = keys.len() as u32;
                let variant = plan.variant(0, client);
                let all = ordinals.len().max(variant as usize + 1);
                ordinals.resize(all, 0);
                let ordinal = ordinals[variant as usize];
                ordinals[variant as usize] += 1;
                keys.push(Key { client, variant, ordinal, first: 0 });
            }
        }
        // Streams by key, those of one key in the order of the sources.
        begins.sort_unstable_by_key(|begin| {
            (number[begin.client as usize], begin.source, begin.stream)
        });
        let mut streams = Vec::with_capacity(begins.len());
        let mut last = u32::MAX;
        for Begin { client, source, stream, .. } in begins {
            let key = number[client as usize];
            if key != last {
                keys[key as usize].first = streams.len() as u32;
                last = key;
            }
            streams.push((source, stream));
        }
        Keys { keys, streams }
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn get(&self, index: usize) -> Key {
        self.keys[index]
    }

    /// The source and the number of each stream of a key.
    pub fn streams(&self, index: usize) -> &[(u32, u32)] {
        let end = self.keys.get(index + 1).map_or(self.streams.len(), |next| next.first as usize);
        &self.streams[self.keys[index].first as usize..end]
    }
}
