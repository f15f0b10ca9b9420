//! The keys that one run has met so far, in the order in which it met them.

use indexmap::IndexMap;

use super::keys::KeyPlan;
use crate::scenario::Counts;
use crate::traffic::{Arrival, Traffic};

/// A key of a limit, met in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Met {
    /// The limit.
    pub limit: usize,
    /// The key's number among those of the limit, in the order in which they were first met.
    pub key: usize,
    /// Whether this was the first time.
    pub first: bool,
    /// 0 for the limit itself, else 1 + the position of the tier.
    pub variant: usize,
    /// What the request is charged.
    pub cost: u32,
}

/// So many keys stay in the cache.
const FEW: usize = 64;

/// The keys that one run has met so far.
#[derive(Debug)]
pub struct Keyring<'a> {
    plan: &'a KeyPlan,
    met: Vec<MetKeys>,
}

#[derive(Debug)]
struct MetKeys {
    /// By group, the number of the key plus one, for keys without an endpoint.
    by_group: Vec<u32>,
    /// Keys with an endpoint.
    by_endpoint: IndexMap<(u32, u32), u32>,
    /// By number: group and endpoint.
    keys: Vec<(u32, u32)>,
}

impl<'a> Keyring<'a> {
    /// No key was met yet.
    pub fn new(plan: &'a KeyPlan) -> Keyring<'a> {
        let met = plan.limits.iter().map(|limit| MetKeys {
            by_group: vec![0; limit.count],
            by_endpoint: IndexMap::new(),
            keys: Vec::new(),
        });
        Keyring { plan, met: met.collect() }
    }

    /// The keys that a request is counted under, in the order of the limits that cover it.
    pub fn keys_of(&mut self, arrival: &Arrival, mut each: impl FnMut(Met)) {
        for (limit, plan) in self.plan.limits.iter().enumerate() {
            let met = &mut self.met[limit];
            if !plan.covers[arrival.endpoint as usize] {
                continue;
            }
            let (group, variant) = (plan.group(arrival.client), plan.variant.of(arrival.client));
            let by_endpoint = plan.by_endpoint.of(arrival.client);
            let next = met.keys.len() as u32;
            let key = if by_endpoint {
                *met.by_endpoint.entry((group, arrival.endpoint)).or_insert(next)
            } else {
                let slot = &mut met.by_group[group as usize];
                if *slot == 0 {
                    *slot = next + 1;
                }
                *slot - 1
            };
            if key == next {
                met.keys.push((group, arrival.endpoint));
            }
            let cost = match plan.counts {
                Counts::Cost => arrival.cost,
                Counts::Requests => 1,
            };
            let (key, first) = (key as usize, key == next);
            each(Met { limit, key, first, variant: variant as usize, cost });
        }
    }

    /// How many keys of a limit were met.
    pub fn count(&self, limit: usize) -> usize {
        self.met[limit].keys.len()
    }

    /// Looks up the keys of clients under a limit, as far as they were met before and no endpoint decides
    /// them. Limits of few keys are passed over, as those are at hand anyway.
    pub(super) fn known(&self, clients: &[u32], limit: usize) -> impl Iterator<Item = u32> {
        let (plan, met) = (&self.plan.limits[limit], &self.met[limit]);
        let clients = if met.keys.len() > FEW { clients } else { &[] };
        let key = |&client: &u32| match plan.by_endpoint.of(client) {
            true => None,
            false => met.by_group[plan.group(client) as usize].checked_sub(1),
        };
        clients.iter().filter_map(key)
    }

    /// A key that was met before, at no cost.
    pub(super) fn met(&self, limit: usize, key: usize) -> Met {
        let (group, _) = self.met[limit].keys[key];
        let plan = &self.plan.limits[limit];
        let variant = match plan.groups.get_index(group as usize) {
            Some(group) => group.variant,
            None => plan.variant.of(group) as usize,
        };
        Met { limit, key, first: false, variant, cost: 0 }
    }

    /// The name of a key for people.
    ///
    /// # Panics
    /// If it was not met.
    pub fn name(&self, traffic: &Traffic, limit: usize, key: usize) -> String {
        let (group, endpoint) = self.met[limit].keys[key];
        self.plan.limits[limit].name(traffic, group, Some(endpoint)).into_owned()
    }
}
